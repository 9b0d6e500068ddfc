//! Secrets never leave this machine.
//!
//! This file contains no secret: each one is assembled from parts, and none is valid.

use std::fmt::Write;

use serde_json::Value;

use super::server::{ModelServer, ServerAction};
use super::{AgentProject, module_source, ok_response};

/// Returns pseudo-random characters of an alphabet, which depend on the seed.
fn random_text(seed: u64, alphabet: &str, length: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % letters.len()
    };
    (0..length).map(|_| letters[next()]).collect()
}

const ANY: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";

/// Returns secrets of many kinds, each with a text that contains it.
fn secret_canaries() -> Vec<(String, String)> {
    // The prefixes are split, so that scanners find no secret in this repository.
    let tokens: [(&[&str], &str, usize); 20] = [
        (&["AK", "IA"], UPPER, 16),
        (&["gh", "p_"], ANY, 36),
        (&["gh", "s_"], ANY, 36),
        (&["github", "_pat_"], ANY, 82),
        (&["gl", "pat-"], ANY, 20),
        (&["AI", "za"], ANY, 35),
        (&["GOC", "SPX-"], ANY, 28),
        (&["sk-", "ant-api03-"], ANY, 95),
        (&["xo", "xb-"], "0123456789", 40),
        (&["npm", "_"], ANY, 36),
        (&["pypi", "-"], ANY, 90),
        (&["do", "p_v1_"], HEX, 64),
        (&["da", "pi"], HEX, 32),
        (&["sk_", "live_"], ANY, 32),
        (&["sq", "p_"], HEX, 40),
        (&["pul", "-"], HEX, 40),
        (&["rubygems", "_"], HEX, 48),
        (&["dckr", "_pat_"], ANY, 27),
        (&["hv", "s."], ANY, 90),
        (&["AK", "Cp"], ANY, 69),
    ];
    let mut all = Vec::new();
    for (number, (head, alphabet, length)) in tokens.into_iter().enumerate() {
        let token = format!("{}{}", head.concat(), random_text(number as u64 + 7, alphabet, length));
        for text in [
            format!("TOKEN = \"{token}\"\n"),
            format!("# was {token} until May\n"),
            format!("def connect(token=\"{token}\"):\n    \"\"\"Uses {token}.\"\"\"\n    return token\n"),
        ] {
            all.push((token.clone(), text));
        }
    }
    for number in 0..12 {
        let word = random_text(number + 900, ANY, 24);
        let text = match number % 4 {
            0 => format!("DATABASE = \"postgres://app:{word}@db.internal:5432/app\"\n"),
            1 => format!("password = \"{word}\"\n"),
            2 => format!("headers = {{\"Authorization\": \"Bearer {word}\"}}\n"),
            _ => format!("client_secret: str = '{word}'\n"),
        };
        all.push((word, text));
    }
    for number in 0..4 {
        let lines: String = (0..6).map(|line| random_text(number * 100 + line, ANY, 64) + "\n").collect();
        let dashes = "-----";
        let kind = ["RSA ", "", "OPENSSH ", "EC "][usize::try_from(number).unwrap()];
        let text = format!(
            "KEY = \"\"\"\n{dashes}BEGIN {kind}PRIVATE KEY{dashes}\n{lines}{dashes}END {kind}PRIVATE KEY{dashes}\n\"\"\"\n"
        );
        all.push((lines.lines().nth(2).unwrap().to_owned(), text));
    }
    all
}

/// Writes a file for each canary, in folders that are summarized too.
fn write_canaries(project: &AgentProject) -> Vec<String> {
    let mut all = Vec::new();
    for (number, (canary, text)) in secret_canaries().into_iter().enumerate() {
        let ending = ["py", "md", "toml", "js"][number % 4];
        let other = module_source(&format!("n{number}"));
        // Before, between and after harmless text.
        let text = match number % 3 {
            0 => format!("{text}{other}"),
            1 => format!("{other}{text}{other}"),
            _ => format!("{other}{text}"),
        };
        project.sandbox.write(format!("folder_{}/file_{number}.{ending}", number % 5), text);
        all.push(canary);
    }
    all
}

#[track_caller]
fn assert_none_sent(project: &AgentProject, canaries: &[String]) {
    let sent: String = project.server.requests().iter().fold(String::new(), |mut sent, seen| {
        writeln!(sent, "{}", seen.text()).unwrap();
        sent
    });
    let left: Vec<&String> = canaries.iter().filter(|canary| sent.contains(canary.as_str())).collect();
    assert!(left.is_empty(), "{} of {} left, such as {}…", left.len(), canaries.len(), &left[0][..8]);
}

#[test]
fn no_file_with_a_secret_in_it_is_sent() {
    let project = AgentProject::new(ModelServer::with_responses([ok_response()]));
    let canaries = write_canaries(&project);
    assert!(60 <= canaries.len());
    for number in 0..5 {
        project
            .sandbox
            .write(format!("folder_{number}/harmless.py"), module_source(&format!("harmless_{number}")));
        project
            .sandbox
            .write(format!("folder_{number}/harmless_too.py"), module_source(&format!("too_{number}")));
    }
    project.write_agent_settings("concurrency = 8", "");
    let ran = project.slop(&["summarize", "--yes", "--json"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    let outcome = &crate::sandbox::data(&ran.out)["outcome"];
    let withheld = outcome["withheld"].as_array().unwrap();
    assert_eq!(withheld.len(), canaries.len(), "{withheld:#?}");
    for (number, seen) in project.server.requests().iter().enumerate() {
        assert!(!seen.text().contains("count_n"), "not even its outline: {number} {}", seen.text());
    }
    assert_none_sent(&project, &canaries);
    let told = format!("{}{}", ran.out, ran.err);
    assert!(canaries.iter().all(|canary| !told.contains(canary)), "withheld text is not shown either");
    assert!(10 <= project.server.request_count(), "the others are sent");
    let count = project.server.request_count();
    project.summarize();
    assert_eq!(project.server.request_count(), count);
}

#[test]
fn secrets_are_redacted_if_configured() {
    let project = AgentProject::new(ModelServer::with_responses([ok_response()]));
    let canaries = write_canaries(&project);
    project.write_agent_settings("concurrency = 8\nsecrets = \"redact\"", "");
    project.summarize();
    assert!(canaries.len() / 2 < project.server.request_count(), "{}", project.server.request_count());
    assert_none_sent(&project, &canaries);
    for number in [0, 1, 2, 3] {
        let ran = project.slop(&[
            "agent",
            "preview",
            &format!("folder_{number}/file_{number}.{}", ["py", "md", "toml", "js"][number]),
        ]);
        assert!(canaries.iter().all(|canary| !ran.out.contains(canary) && !ran.err.contains(canary)));
    }
}

#[test]
fn files_with_secret_names_are_not_sent() {
    let project = AgentProject::new(ModelServer::with_responses([ok_response()]));
    let canary = "harmless-by-its-looks-and-yet-not-to-be-sent";
    let names = [
        ".env",
        ".env.production",
        "prod.env",
        "server.pem",
        "id_rsa",
        ".netrc",
        ".npmrc",
        ".pypirc",
        "credentials.json",
        "terraform.tfstate",
        "prod.tfvars",
        "secrets.yaml",
        "deploy/.git-credentials",
        "keys/app.p12",
        "a/.htpasswd",
    ];
    for name in names {
        project.sandbox.write(name, format!("{{\"note\": \"{canary}\"}}\n# {canary}\n").repeat(9));
    }
    project.sandbox.write("excluded/plans.md", format!("# Plans\n\n{canary}\n").repeat(9));
    project.sandbox.write("one.py", module_source("one"));
    project.sandbox.write("two.py", module_source("two"));
    project.write_agent_settings("exclude = [\"excluded\"]", "");
    project.summarize_json();
    assert_none_sent(&project, &[canary.to_owned()]);
    for name in names.iter().chain(&["excluded/plans.md"]) {
        let ran = project.slop(&["agent", "preview", name]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{name}");
        assert!(!ran.err.contains(canary));
    }
}

#[test]
fn files_that_cannot_be_scanned_are_not_sent() {
    let project = AgentProject::new(ModelServer::with_responses([ok_response()]));
    let wide: Vec<u8> = std::iter::once(0xfeff_u16)
        .chain(module_source("wide").encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    project.sandbox.write("wide.py", wide);
    project.sandbox.write("one.py", module_source("one"));
    project.summarize();
    for seen in project.server.requests() {
        assert!(!seen.text().contains("count_wide"), "{}", seen.text());
    }
    assert!(project.server.requests().iter().any(|seen| seen.text().contains("count_one")));
}

#[test]
fn a_secret_in_an_answer_is_neither_stored_nor_sent_on() {
    let token = format!("{}{}", ["gh", "p_"].concat(), random_text(77, ANY, 36));
    let said = token.clone();
    let project = AgentProject::new(ModelServer::start(move |_, _| {
        ServerAction::both(&format!("Uses {said} for all."), &format!("The token {said} is it."))
    }));
    for name in ["a/one", "a/two", "b/three", "b/four"] {
        project.sandbox.write(format!("{name}.py"), module_source(&name[2..]));
    }
    project.summarize_json();
    assert!(4 < project.server.request_count(), "requests for folders contain the summaries of their files");
    assert_none_sent(&project, std::slice::from_ref(&token));
    let shown = project.json(&["agent", "show", "--all"]).to_string();
    let document = project.slop(&["aggregate", "--stdout", "--tier", "2"]).out;
    assert!(!shown.contains(&token) && !document.contains(&token));
    let database = std::fs::read(project.sandbox.path(".slop_cache/agent.db")).unwrap();
    assert!(!database.windows(token.len()).any(|bytes| bytes == token.as_bytes()));
    assert_ne!(Value::from(shown), Value::Null);
}
