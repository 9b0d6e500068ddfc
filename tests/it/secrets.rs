//! Secrets in the text of files are shown in no view and no answer.
//!
//! This file contains no secret: each one is assembled from parts, and none is valid.

use super::sandbox::Sandbox;

/// A token of a known form, and a password that only its name makes a secret.
fn token() -> String {
    ["gh", "p_", "q8Zt3Lw0pXv7Rk2Nf5Yb9Hc4Jd6Gs1MaQ8Zt3Lw0"].concat()
}

const PASSWORD: &str = "vK7-tulip-92x";

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    let old = ["gl", "pat-", "Zk3Lw0pXv7Rk2Nf5Yb9H"].concat();
    let module = |token: &str| {
        format!(
            "\"\"\"Logs in with {token}.\"\"\"\nTOKEN = \"{token}\"\n\n\ndef login(user, password=\"{PASSWORD}\"):\n    \
             \"\"\"Uses {token}.\"\"\"\n    return user, \"{token}\"\n\n\nKEY = (\"{}\"\n       \"{}\")\n\n\ndef last():\n    \
             return 1\n",
            &token[..12],
            &token[12..]
        )
    };
    sandbox.write("src/login.py", module(&old));
    sandbox.write("conf.yaml", format!("db:\n  password: {PASSWORD}\n  host: h\n"));
    sandbox.commit_all("first");
    let token = token();
    sandbox.write("src/login.py", module(&token));
    sandbox.write("notes.md", format!("# Use {token}\n\nThen run it.\n"));
    let key = [
        "-----BEGIN RSA PRIV",
        "ATE KEY-----\nMIIEpAIBAAKCAQEAq8Zt3Lw0pXv7\n-----END RSA PRIV",
        "ATE KEY-----\n",
    ];
    sandbox.write("key.txt", format!("before\n{}after\n", key.concat()));
    sandbox
}

#[track_caller]
fn assert_hidden(shown: &str, what: &[&str]) {
    for secret in
        [token().as_str(), &token()[..12], &token()[12..], PASSWORD, "MIIEpAIBAAKCAQEAq8", "Zk3Lw0pXv7Rk2Nf5"]
    {
        assert!(!shown.contains(secret), "{what:?}: {shown}");
    }
}

#[test]
fn no_document_view_or_answer_shows_a_secret() {
    let sandbox = project();
    let commands: [&[&str]; 14] = [
        &["aggregate", "--stdout", "--strategy", "full"],
        &["aggregate", "--stdout", "--tier", "1"],
        &["aggregate", "--stdout", "--tier", "3", "--focus", "src"],
        &["aggregate", "--stdout", "--tier", "3", "--budget", "600", "--task", "why does login fail"],
        &["aggregate", "--stdout", "--format", "anthropic", "--strategy", "full"],
        &["view", "src", "conf.yaml", "notes.md", "key.txt"],
        &["view", "src", "conf.yaml", "notes.md", "--mode", "skeleton"],
        &["view", "src", "conf.yaml", "notes.md", "key.txt", "--mode", "summary"],
        &["view", "src", "--mode", "diff"],
        &["view", "src/login.py", "--bare", "--lines", "1-12"],
        &["outline", "--json"],
        &["symbol", "login"],
        &["symbol", "TOKEN", "--definition"],
        &["search", "login token"],
    ];
    for command in commands {
        let shown = sandbox.stdout_of(command);
        assert!(!shown.is_empty(), "{command:?}");
        assert_hidden(&shown, command);
    }
    let full = sandbox.stdout_of(&["view", "--bare", "src/login.py"]);
    assert!(full.starts_with("\"\"\"Logs in with (redacted:github-token).\"\"\"\n"), "{full}");
    assert_eq!(full.lines().position(|line| line.starts_with("def last")), Some(13), "{full}");
    let key = sandbox.stdout_of(&["view", "--bare", "key.txt"]);
    assert_eq!(key.lines().position(|line| line == "after"), Some(4), "{key}");
}

#[test]
fn a_receipt_counts_redactions_and_a_header_line_reports_them() {
    let sandbox = project();
    let document = sandbox.aggregate_json(&["--strategy", "full"]);
    let files = document["receipt"]["files"].as_array().unwrap();
    let redacted = |path: &str| files.iter().find(|file| file["path"] == path).unwrap()["redacted"].clone();
    assert_eq!(redacted("notes.md"), serde_json::json!({"github-token": 1}));
    assert_eq!(redacted("conf.yaml"), serde_json::json!({"assigned-secret": 1}));
    assert_eq!(redacted("key.txt"), serde_json::json!({"private-key": 1}));
    let head = sandbox.stdout_of(&["view", "notes.md"]);
    assert!(head.contains("secrets redacted: 1, so this is not the file's text"), "{head}");
}

#[test]
fn only_the_user_can_have_secrets_shown_and_only_in_full_views() {
    let sandbox = project();
    let view = |mode: &str| sandbox.stdout_of(&["view", "--bare", "--mode", mode, "src/login.py"]);
    let settings = "[secrets]\nshow = 'full-only'\nallow = ['*']\n";
    sandbox.write("slop.toml", settings);
    let ran = sandbox.slop(&["view", "--bare", "src/login.py"]);
    assert_hidden(&ran.out, &["a project's settings"]);
    assert!(ran.err.contains("`secrets.show`"), "{}", ran.err);
    sandbox.write("slop.toml", "");
    sandbox.write_user_settings(settings);
    assert!(view("full").contains(&token()));
    assert_hidden(&view("skeleton"), &["skeleton"]);
    assert_hidden(&sandbox.stdout_of(&["outline", "--json"]), &["outline"]);
}
