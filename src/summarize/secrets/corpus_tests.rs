//! Measures how many secrets are found: each kind, planted in files of many notations.
//!
//! Two measures. The samples of known rules are planted as they are. Those that no rule knows are generated here:
//! values of shapes that programs and people choose, under names that indicate a secret. A secret counts as found if
//! it is not in the redacted text.

use super::samples_tests::samples;
use super::scan::{redact, scan};
use crate::model::testing::TestNumbers;

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
const HEX: &str = "0123456789abcdef";
const ALL: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const BASE64: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";
const MARKS: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789!@#%^&*-_+?";

/// Names that people give to secrets.
const NAMES: [&str; 24] = [
    "db_password", "clientSecret", "SMTP_PASS", "jwt_secret", "api_token", "encryptionKey", "ADMIN_PASSWORD",
    "accessToken", "signing-secret", "PGPASSWORD", "rootPassword", "X_API_KEY", "privateKey",
    "refresh_token", "ldap.bind.password", "REDIS_PASSWORD", "oauth_token_secret", "secret_key",
    "deployToken", "passphrase", "webhookSecret", "APP_SECRET", "userCredentials", "vault_pass",
];

/// Makes a file that contains a value under a name.
type SampleCarrier = fn(name: &str, value: &str) -> String;

const CARRIERS: [(&str, SampleCarrier); 14] = [
    ("python", |name, value| {
        format!("import os\n\n{} = '{value}'\n\n\ndef f():\n    return 1\n", word(name))
    }),
    ("call", |name, value| format!("client = connect(host='h', {}=\"{value}\", retries=3)\n", word(name))),
    ("yaml", |name, value| format!("service:\n  host: db.local\n  {name}: {value}\n  port: 5432\n")),
    ("yaml, quoted", |name, value| format!("env:\n  - name: {name}\n    value: \"{value}\"\n")),
    ("json", |name, value| format!("{{\n  \"host\": \"h\",\n  \"{name}\": \"{value}\",\n  \"n\": 1\n}}\n")),
    ("env", |name, value| format!("DEBUG=1\n{}={value}\nHOST=h\n", word(name).to_uppercase())),
    ("ini", |name, value| format!("[server]\nhost = h\n{name} = {value}\n; end\n")),
    ("shell", |name, value| {
        format!("#!/bin/sh\nset -e\nexport {}=\"{value}\"\nrun\n", word(name).to_uppercase())
    }),
    ("c", |name, value| format!("#include <x.h>\nstatic const char *{} = \"{value}\";\n", word(name))),
    ("javascript", |name, value| {
        format!("const config = {{\n  {}: '{value}',\n  port: 1,\n}};\n", word(name))
    }),
    ("php", |name, value| format!("<?php\ndefine('{}', '{value}');\n", word(name).to_uppercase())),
    ("xml", |name, value| format!("<x>\n  <add key=\"{name}\" value=\"{value}\"/>\n</x>\n")),
    ("markdown", |name, value| format!("# Setup\n\nSet it up:\n\n    {name}: \"{value}\"\n\nThen run it.\n")),
    ("two pieces", |name, value| {
        let (head, tail) = value.split_at(value.len() / 2);
        format!("{} = ('{head}'\n    '{tail}')\n", word(name))
    }),
];

fn word(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

/// Shapes of values that no rule knows.
fn unknown(chance: &mut TestNumbers) -> Vec<String> {
    let year = 1950 + chance.below(90);
    let word = chance.characters(LETTERS, 7);
    vec![
        chance.characters(HEX, 32),
        chance.characters(HEX, 64),
        chance.characters(ALL, 20),
        chance.characters(ALL, 32),
        chance.characters(ALL, 44),
        chance.characters(BASE64, 43) + "=",
        format!(
            "{}-{}-{}-{}",
            chance.characters(HEX, 8),
            chance.characters(HEX, 4),
            chance.characters(HEX, 4),
            chance.characters(HEX, 12)
        ),
        chance.characters(MARKS, 12) + "7k",
        chance.characters(MARKS, 16) + "4Q",
        format!("{}{}{year}!", word[..1].to_uppercase(), &word[1..]),
        format!("{word}{}", 10 + chance.below(90)),
        format!("{word}-{}-{}", chance.characters(LETTERS, 6), chance.below(1000) + 1000),
    ]
}

/// Plants values and returns how many there were, and in which carriers how many were missed.
fn measure(kinds: &[(String, String)], mut missed: impl FnMut(&str, &str)) -> (usize, usize) {
    let (mut all, mut lost) = (0, 0);
    for (name, value) in kinds {
        for (carrier, file) in CARRIERS {
            let text = file(name, value);
            let scan = scan(&text).unwrap();
            let left = redact(&text, &scan);
            all += 1;
            let half = &value[..value.len() / 2];
            if !scan.matches.iter().any(|found| found.blocks_file)
                && (left.contains(value) || carrier == "two pieces" && left.contains(half))
            {
                lost += 1;
                missed(carrier, &text);
            }
        }
    }
    (all, lost)
}

fn share(all: usize, lost: usize) -> f64 {
    let found = f64::from(u32::try_from(all - lost).unwrap());
    found / f64::from(u32::try_from(all).unwrap())
}

#[test]
fn secrets_that_a_rule_knows_are_found_in_all_notations() {
    let mut kinds = Vec::new();
    for sample in samples() {
        let value = sample.secret(&mut TestNumbers(sample.seed() + 1000));
        // Samples that are a line or a file of their own are covered by the test of the samples.
        let is_line = matches!(sample.rule, "pgpass-password" | "htpasswd-sha");
        if !is_line && !value.contains(['\n', ' ', '"', '\'']) {
            kinds.push((if sample.name.is_empty() { "value" } else { sample.name }.to_owned(), value));
        }
    }
    assert!(200 < kinds.len());
    let mut of_carrier = std::collections::BTreeMap::new();
    let (all, lost) = measure(&kinds, |carrier, text| {
        *of_carrier.entry(carrier.to_owned()).or_insert(0) += 1;
        println!("missed in {carrier}: {text}");
    });
    println!("{} kinds, {all} planted, {lost} missed: {:.4}; {of_carrier:?}", kinds.len(), share(all, lost));
    assert!(0.98 <= share(all, lost));
}

#[test]
fn secrets_that_no_rule_knows_are_mostly_found_by_their_names() {
    let mut kinds = Vec::new();
    let mut chance = TestNumbers(7);
    for name in NAMES {
        kinds.extend(unknown(&mut chance).into_iter().map(|value| (name.to_owned(), value)));
    }
    assert!(200 < kinds.len());
    let mut of_carrier = std::collections::BTreeMap::new();
    let (all, lost) = measure(&kinds, |carrier, text| {
        *of_carrier.entry(carrier.to_owned()).or_insert(0) += 1;
        println!("missed in {carrier}: {text}");
    });
    println!("{} kinds, {all} planted, {lost} missed: {:.4}; {of_carrier:?}", kinds.len(), share(all, lost));
    assert!(0.95 <= share(all, lost));
}

#[test]
fn the_same_files_without_secrets_are_clean() {
    for name in NAMES {
        for (carrier, file) in CARRIERS {
            for value in ["${SECRET_VALUE}", "changeme", "<your-secret>", "get_value"] {
                let text = file(name, value);
                assert_eq!(scan(&text).unwrap().matches, [], "{carrier}: {text}");
            }
        }
    }
}
