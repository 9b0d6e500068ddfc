//! One sample of each rule, generated from a pattern in `samples.txt`, so that nothing in the repository looks like a
//! secret to other scanners.
//!
//! A line of that file is a rule, the name before its secret (`-` for none), and the pattern. In a pattern `{h40}` is
//! forty random hexadecimal digits, `{}` is nothing, and `{{` is a brace.

use super::rules::rules;
use super::scan::{redact, scan};
use crate::model::testing::TestNumbers;

const SAMPLES: &str = include_str!("samples.txt");

/// The pattern of a sample.
pub(crate) struct SecretSample {
    pub(crate) rule: &'static str,
    /// The name before it; empty if it needs none.
    pub(crate) name: &'static str,
    pattern: &'static str,
}

/// Returns the samples, in the order of their rules.
pub(crate) fn samples() -> Vec<SecretSample> {
    let samples = SAMPLES.lines().map(|line| {
        let [rule, name, pattern] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        SecretSample { rule, name: name.trim_start_matches('-'), pattern }
    });
    samples.collect()
}

fn alphabet(name: char) -> &'static str {
    match name {
        'a' => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        'l' => "abcdefghijklmnopqrstuvwxyz0123456789",
        'A' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        'B' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        'Q' => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        '5' => "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
        'g' => "abcdefgh0123456789",
        'h' => "0123456789abcdef",
        'z' => "abcdefghijklmnopqrstuvwxyz",
        'Z' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        'd' => "0123456789",
        other => panic!("{other}"),
    }
}

impl SecretSample {
    /// Expands the pattern; `fill` returns the characters for an alphabet and a length.
    fn make(&self, mut fill: impl FnMut(&str, usize) -> String) -> String {
        let (mut made, mut rest) = (String::new(), self.pattern);
        while let Some((before, after)) = rest.split_once('{') {
            made.push_str(before);
            if let Some(after) = after.strip_prefix('{') {
                made.push('{');
                rest = after;
                continue;
            }
            let (hole, after) = after.split_once('}').unwrap();
            if let Some(name) = hole.chars().next() {
                made.push_str(&fill(alphabet(name), hole[1..].parse().unwrap()));
            }
            rest = after;
        }
        (made + rest).replace("\\n", "\n")
    }

    pub(crate) fn secret(&self, chance: &mut TestNumbers) -> String {
        self.make(|alphabet, count| chance.characters(alphabet, count))
    }

    /// Returns the seed of its own numbers, which does not change when there are other samples.
    pub(crate) fn seed(&self) -> u64 {
        self.rule.bytes().fold(0, |seed, byte| seed * 31 % 1_000_003 + u64::from(byte))
    }

    /// Returns a placeholder that only shows the form.
    fn stand_in(&self) -> String {
        self.make(|_, count| "x".repeat(count))
    }

    fn line(&self, value: &str) -> String {
        if self.name.is_empty() { format!("{value}\n") } else { format!("{} = \"{value}\"\n", self.name) }
    }
}

fn ids() -> Vec<&'static str> {
    (0..rules().len()).map(|index| rules().rule(index).id).collect()
}

#[test]
fn every_rule_has_a_sample() {
    assert_eq!(samples().iter().map(|sample| sample.rule).collect::<Vec<_>>(), ids());
}

#[test]
fn every_rule_finds_its_sample() {
    let mut missed = Vec::new();
    for sample in samples() {
        let text = sample.line(&sample.secret(&mut TestNumbers(sample.seed())));
        let scan = scan(&text).unwrap();
        if !scan.matches.iter().any(|found| found.rule == sample.rule) {
            missed.push(format!("{}: {text}", sample.rule));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join(""));
}

#[test]
fn no_rule_finds_a_placeholder_of_its_sample() {
    let mut wrong = Vec::new();
    for sample in samples() {
        let text = sample.line(&sample.stand_in());
        let scan = scan(&text).unwrap();
        // A private key file is recognized by its form, whatever its content.
        let is_file = scan
            .matches
            .iter()
            .any(|found| found.blocks_file && matches!(found.rule, "private-key" | "putty-key"));
        if !scan.is_clean() && !is_file {
            wrong.push(redact(&text, &scan));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join(""));
}
