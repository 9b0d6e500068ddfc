//! Scans a whole text, and redacts what was found.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem;

use super::assigned::AssignedSearch;
use super::expressions::is_definition;
use super::generated::{is_generated, is_ordinary_name};
use super::joined::{JoinedText, pieces};
use super::rules;
use super::rules::KeywordHint;
use super::runs::{bot_token, decode_run, is_random_word, long_runs};
use super::structures::find_structures;
use crate::model::redaction_mark;

/// Replaces a text that cannot be scanned.
const UNSCANNABLE: &str = "unscannable";
/// The rule of values under names that indicate secrets.
const ASSIGNED: &str = "assigned-secret";
/// Replaces bytes that could not be decoded.
const REPLACEMENT: &str = "\u{fffd}";
/// The maximum number of bytes that are scanned: ten times the size of the longest files written by hand.
const LONGEST: usize = 8 << 20;
/// A secret that begins within this many bytes of a window's start is found in it; later ones are left to the next
/// window.
const STEP: usize = 2048;
/// How many places in a text may be candidates for rules: a fixed number, plus a fraction of its size.
const FEW_PLACES: usize = 2000;
const BYTES_A_PLACE: usize = 12;
/// How many bytes of values may be examined: a fixed number, plus a multiple of the text's size.
const FEW_VALUE_BYTES: usize = 1 << 20;
const VALUES_A_TEXT: usize = 8;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretScan {
    /// The secrets, ordered by start. They may overlap.
    pub matches: Vec<SecretMatch>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretMatch {
    pub rule: &'static str,
    pub span: Range<usize>,
    /// Whether the text must not leave the machine, not even redacted.
    pub blocks_file: bool,
}

/// Why a text cannot be scanned. It is then treated as if it contained secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScanError {
    #[error("text is longer than {} MiB", LONGEST >> 20)]
    TooLong,
    /// It is not text, or was not fully decoded.
    #[error("not entirely text")]
    NotText,
    /// It has more places to examine than a text that was not constructed for that.
    #[error("text has too many candidates for secrets")]
    TooDense,
}

impl SecretScan {
    pub fn is_clean(&self) -> bool {
        self.matches.is_empty()
    }
}

/// Returns the version of the rules: it enters the key of everything made from a scanned text.
pub fn version() -> &'static str {
    rules::version()
}

/// Scans a text for secrets.
pub fn scan(text: &str) -> Result<SecretScan, ScanError> {
    if LONGEST < text.len() {
        return Err(ScanError::TooLong);
    }
    let is_text = memchr::memchr(0, text.as_bytes()).is_none()
        && memmem::find(text.as_bytes(), REPLACEMENT.as_bytes()).is_none();
    if is_text { find_all(text) } else { Err(ScanError::NotText) }
}

/// Replaces the secrets of a text, of any length, by marks. The lines keep their numbers.
///
/// A text that is constructed so that a search would not finish is replaced as a whole.
pub fn redacted(text: &str) -> Cow<'_, str> {
    match find_all(text) {
        Ok(scan) if scan.is_clean() => Cow::Borrowed(text),
        Ok(scan) => Cow::Owned(redact(text, &scan)),
        Err(_) => {
            let all = SecretMatch { rule: UNSCANNABLE, span: 0..text.len(), blocks_file: true };
            Cow::Owned(redact(text, &SecretScan { matches: vec![all] }))
        }
    }
}

fn find_all(text: &str) -> Result<SecretScan, ScanError> {
    let mut found = scan_plain(text)?;
    // Secrets that are assembled at run time or encoded are visible only in these views of the text.
    if let Some(joined) = JoinedText::new(text) {
        let hidden = scan_plain(&joined.text)?.into_iter();
        found.extend(
            hidden.filter_map(|one| Some(SecretMatch { span: joined.original_span(&one.span)?, ..one })),
        );
    }
    for span in long_runs(text) {
        let run = &text[span.clone()];
        if let Some(token) = bot_token(text, &span) {
            found.push(SecretMatch { rule: "discord-token", span: token, blocks_file: false });
        }
        if is_random_word(text, &span) {
            found.push(SecretMatch { rule: "random-word", span: span.clone(), blocks_file: false });
        }
        if let Some(inner) = decode_run(run) {
            found
                .extend(scan_plain(&inner)?.into_iter().map(|one| SecretMatch { span: span.clone(), ..one }));
        }
    }
    drop_defined_names(text, &mut found);
    found.sort_by(|a, b| (a.span.start, b.span.end, a.rule).cmp(&(b.span.start, a.span.end, b.rule)));
    found.dedup();
    Ok(SecretScan { matches: found })
}

/// Drops values that the text itself defines or imports as classes: `token: "AccessTokenV2"` above
/// `class AccessTokenV2:`.
fn drop_defined_names(text: &str, found: &mut Vec<SecretMatch>) {
    let is_class = |value: &str| {
        value.trim_start_matches('_').starts_with(|first: char| first.is_ascii_uppercase())
            && value.bytes().any(|b| b.is_ascii_lowercase())
            && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !is_generated(value)
    };
    let names = found.iter().filter(|found| found.rule == ASSIGNED).map(|found| &text[found.span.clone()]);
    let names: BTreeSet<&str> = names.filter(|value| is_class(value)).collect();
    if names.is_empty() {
        return;
    }
    let mut builder = AhoCorasick::builder();
    builder.match_kind(MatchKind::LeftmostLongest);
    let words = builder.build(&names).expect("they are parts of a text of limited size");
    let hits = words.find_iter(text).map(|hit| hit.range());
    let defined: BTreeSet<&str> = hits.filter(|hit| is_definition(text, hit)).map(|hit| &text[hit]).collect();
    found.retain(|found| found.rule != ASSIGNED || !defined.contains(&text[found.span.clone()]));
}

/// Scans a text as written, without joining or decoding.
fn scan_plain(text: &str) -> Result<Vec<SecretMatch>, ScanError> {
    let rules = rules::rules();
    let mut found = find_structures(text);
    // How far each rule, or the search for keys, has already covered the text.
    let mut seen = vec![0; rules.len()];
    let (mut assigned, mut places) = (AssignedSearch::default(), 0);
    for (word, hint) in rules.hints(text) {
        match hint {
            KeywordHint::Rules(indices) => {
                for index in indices {
                    if word.start < seen[*index] {
                        continue;
                    }
                    let rule = rules.rule(*index);
                    let Some(secrets) = rule.find_near(text, &word) else { continue };
                    // A rule of this kind has searched a whole window, which must not be searched again for each
                    // keyword in it; any other is anchored at its keyword.
                    seen[*index] = if rule.is_anywhere() { word.start + STEP } else { 0 };
                    places += 1;
                    let of_rule = |span| SecretMatch { rule: rule.id, span, blocks_file: rule.blocks_file };
                    found.extend(secrets.into_iter().map(of_rule));
                }
            }
            KeywordHint::Key => {
                let secrets = assigned.find(text, &word).into_iter();
                found.extend(secrets.map(|span| SecretMatch { rule: ASSIGNED, span, blocks_file: false }));
            }
        }
        if FEW_PLACES + text.len() / BYTES_A_PLACE < places
            || FEW_VALUE_BYTES + text.len() * VALUES_A_TEXT < assigned.value_bytes()
        {
            return Err(ScanError::TooDense);
        }
    }
    Ok(found)
}

/// Replaces each secret by a mark, including other occurrences of the same value.
pub fn redact(text: &str, scan: &SecretScan) -> String {
    let again = find_repeats(text, &scan.matches);
    let mut all: Vec<&SecretMatch> = scan.matches.iter().chain(&again).collect();
    all.sort_by_key(|found| (found.span.start, Reverse(found.span.end)));
    let mut safe = String::with_capacity(text.len());
    let mut done = 0;
    let parts = all.iter().flat_map(|found| {
        let spans = pieces(text, &found.span).into_iter();
        spans.map(|span| (found.rule, span))
    });
    for (rule, span) in parts {
        if done <= span.start {
            safe.push_str(&text[done..span.start]);
            safe.push_str(&redaction_mark(rule));
        }
        // The ends of its lines are kept, so that what follows keeps the numbers of its lines.
        let rest = done.max(span.start)..span.end;
        safe.extend(text.get(rest).unwrap_or_default().bytes().filter(|b| *b == b'\n').map(char::from));
        // A match that begins within another one is covered by it.
        done = done.max(span.end);
    }
    safe.push_str(&text[done..]);
    safe
}

/// Returns other occurrences of the values, whatever their context: a comment, a test, an address.
fn find_repeats(text: &str, found: &[SecretMatch]) -> Vec<SecretMatch> {
    // Shorter values are parts of words; longer ones are blocks that nobody repeats.
    const LENGTHS: RangeInclusive<usize> = 6..=2048;
    let values = found.iter().map(|found| (&text[found.span.clone()], found.rule));
    // A word that a text has for other reasons is a secret only in its place.
    let values: BTreeMap<&str, &'static str> =
        values.filter(|(value, _)| LENGTHS.contains(&value.len()) && !is_ordinary_name(value)).collect();
    let rules: Vec<&'static str> = values.values().copied().collect();
    let mut builder = AhoCorasick::builder();
    builder.match_kind(MatchKind::LeftmostLongest);
    let words = builder.build(values.keys()).expect("they are parts of a text of limited size");
    let hits = words.find_iter(text).filter(|hit| !is_within_name(text, &hit.range()));
    hits.map(|hit| SecretMatch {
        rule: rules[hit.pattern().as_usize()],
        span: hit.range(),
        blocks_file: false,
    })
    .collect()
}

/// Returns whether an occurrence of a value is a part of a longer name, as `base65` in `encode_base65`. A value that
/// must have been generated is none by chance, nor is one with other signs than names have.
fn is_within_name(text: &str, span: &Range<usize>) -> bool {
    let value = &text[span.clone()];
    let is_name = value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let continues = |next: Option<&u8>| next.is_some_and(|next| next.is_ascii_alphabetic() || *next == b'_');
    let bytes = text.as_bytes();
    is_name
        && !is_generated(value)
        && (continues(bytes[..span.start].last()) || continues(bytes.get(span.end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fake secret, assembled here so that other scanners do not report this file.
    fn token() -> String {
        ["gh", "p_", "q8Zt3Lw0pXv7Rk2Nf5Yb9Hc4Jd6Gs1MaQ8Zt3Lw0"].concat()
    }

    fn found(text: &str) -> Vec<&'static str> {
        scan(text).unwrap().matches.into_iter().map(|found| found.rule).collect()
    }

    #[test]
    fn a_secret_is_redacted_and_the_rest_is_kept() {
        let text = format!("a = '{}'\nb = 1\n", token());
        let scan = scan(&text).unwrap();
        assert_eq!(redact(&text, &scan), "a = '(redacted:github-token)'\nb = 1\n");
        assert!(!scan.matches.iter().any(|found| found.blocks_file));
    }

    #[test]
    fn a_text_without_secrets_is_clean_and_unchanged() {
        let text = "def login(user, password):\n    token = make_token(user)\n    return token\n";
        let scan = scan(text).unwrap();
        assert_eq!(scan.matches, []);
        assert!(scan.is_clean());
        assert_eq!(redact(text, &scan), text);
    }

    #[test]
    fn a_secret_in_pieces_is_found_and_redacted_between_its_joints() {
        let token = token();
        let (head, tail) = token.split_at(12);
        for joint in ["' + '", "' '", "'\n    '", "' \\\n  '", "' . '", "\\\n"] {
            let text = format!("x = f('{head}{joint}{tail}')\n");
            let scan = scan(&text).unwrap();
            let mark = "(redacted:github-token)";
            let expected = format!("x = f('{mark}{joint}{mark}')\n");
            assert_eq!(redact(&text, &scan), expected, "{joint:?}");
        }
    }

    #[test]
    fn the_address_after_a_password_is_no_part_of_it() {
        let text = "curl -u 'me:s3cretword' 'https://example.com/orders/7'\n";
        let expected = "curl -u 'me:(redacted:curl-user)' 'https://example.com/orders/7'\n";
        assert_eq!(redact(text, &scan(text).unwrap()), expected);
    }

    #[test]
    fn a_secret_in_base64_is_found() {
        let hidden = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, format!("t: {}", token()));
        let text = format!("blob {hidden}\n");
        assert_eq!(redact(&text, &scan(&text).unwrap()), "blob (redacted:github-token)\n");
    }

    #[test]
    fn a_private_key_withholds_the_whole_text() {
        let key = [
            "-----BEGIN RSA PRIV",
            "ATE KEY-----\nMIIEpAIBAAKCAQEAq8Zt3Lw0pXv7\n-----END RSA PRIVATE KEY-----",
        ];
        let text = format!("a\n{}\nb", key.concat());
        let scan = scan(&text).unwrap();
        assert_eq!(scan.matches.iter().find(|found| found.blocks_file).unwrap().rule, "private-key");
        assert_eq!(redact(&text, &scan), "a\n(redacted:private-key)\n\n\nb", "lines keep their numbers");
        // A program that only mentions such keys contains none.
        assert_eq!(found("if line == '-----BEGIN PRIVATE KEY-----':\n    return key\n"), [""; 0]);
    }

    #[test]
    fn a_text_that_cannot_be_scanned_is_an_error() {
        assert_eq!(scan("a\0b"), Err(ScanError::NotText));
        assert_eq!(scan("a\u{fffd}b"), Err(ScanError::NotText));
        assert_eq!(scan(&"x".repeat(LONGEST + 1)), Err(ScanError::TooLong));
    }

    #[test]
    fn a_text_constructed_to_take_forever_is_given_up() {
        for hostile in ["-eyJ", "password="] {
            assert_eq!(scan(&hostile.repeat(20_000)), Err(ScanError::TooDense));
        }
        for hostile in ["authorization: ", "\" \"", "://", "AKIA", "cookie", "a/b+", "'\\\n'"] {
            let _ = scan(&hostile.repeat(20_000));
        }
    }

    #[test]
    fn a_public_key_is_not_a_secret() {
        let line = "mQENBFOrMNcBCACgLI4s3bUkobS5NpOQbWfjWXbqC0Ixpc5bZYDOvsmfstmswna1";
        let armor = |indent: &str| {
            let label = "PGP PUBLIC KEY BLOCK-----";
            format!(
                "{indent}-----BEGIN {label}\n\n{indent}{line}\n{indent}{line}\n{indent}=abcd\n{indent}-----END {label}\n"
            )
        };
        for text in [armor(""), format!("key: |\n{}", armor("  "))] {
            assert_eq!(found(&text), [""; 0], "{text}");
        }
    }

    #[test]
    fn passwords_are_found_in_many_notations() {
        for text in [
            "#define WIFI_PASSWORD \"Tr0ub4dor3\"\n",
            "const p = process.env.DB_PASSWORD || \"Tr0ub4dor3\";\n",
            "PGPASSWORD=Tr0ub4dor3 psql -h db\n",
            "get(address, auth=(\"bob\",\"Tr0ub4dor3\"))\n",
            "setenv DB_PASSWORD Tr0ub4dor3\n",
            "Password: Tr0ub4dor3 (of the test machine)\n",
            "Passwort: Tr0ub4dor3\n",
            "  contrase\u{f1}a: Tr0ub4dor3\n",
            "- Mot de passe : Tr0ub4dor3\n",
            "\u{41f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}: Tr0ub4dor3\n",
        ] {
            let safe = redact(text, &scan(text).unwrap());
            assert!(!safe.contains("Tr0ub4dor3"), "{safe}");
        }
        for text in ["Passwort: erforderlich\n", "setenv DB_PASSWORD $1\n", "auth=('user', 'password1')\n"] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_key_is_found_next_to_its_service_and_by_itself_in_quotes() {
        let key = "S1vAf8FVzS8g52avAG78sANc01XaHWIx";
        let padded = "I6FwzQZFL9l-44nviI1F04OTmorMaVQf9GS4Oe07qxL_vNkW6CRas4Lo42vqJMT0M6riJfma_f=";
        for text in [
            format!("liveagent {key} and more\n"),
            format!("loggly: {key}\n"),
            format!("check(x, \"{key}\")\n"),
            format!("x = '{padded}'\n"),
            format!("<id>{{loggly {key}}}</id>\n"),
            format!("token = '{0}' | '{0}'\n", key.repeat(20)),
            "bannerToken := \"Bearer yvxpthLIcYpZweFpPOVeCOtt\"\n".to_owned(),
            "parse_token = 'vZrEclFwOqeA'\n".to_owned(),
        ] {
            let safe = redact(&text, &scan(&text).unwrap());
            assert!([key, padded, "yvxpth", "vZrEcl"].iter().all(|part| !safe.contains(part)), "{safe}");
        }
    }

    #[test]
    fn expressions_and_templates_under_secret_names_are_kept() {
        for text in [
            "if (pwd_stat.st_ino == cwd_stat.st_ino)\n",
            "token_data->client_ref_count++;\n",
            "a;\n\tpassword = CFDataCreateCopy(x);\n",
            "token = \"\\\"$last_update_token\\\"\";\n",
            "can pass '<commit>{caret}-' to it\n",
            "credential_opts=\n\tcredential_cmd=$1\n",
            "\"bytes\": \"L2hvbWUvdWJ1bnR1L2xpYv8ucnM=\"\n",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn other_occurrences_of_a_value_are_redacted_too() {
        let text = "password = \"hunter2!x\"\n# hunter2!x is what bob typed: xhunter2!xx\nuse hunter2\n";
        assert_eq!(
            redact(text, &scan(text).unwrap()),
            "password = \"(redacted:assigned-secret)\"\n# (redacted:assigned-secret) is what bob typed: \
             x(redacted:assigned-secret)x\nuse hunter2\n"
        );
    }

    #[test]
    fn a_value_like_a_name_is_not_redacted_within_longer_names() {
        let text = "password = \"blue42sky\"\nencode_blue42sky(x)  # blue42sky, %20blue42sky\n";
        assert_eq!(
            redact(text, &scan(text).unwrap()),
            "password = \"(redacted:assigned-secret)\"\nencode_blue42sky(x)  # (redacted:assigned-secret), \
             %20(redacted:assigned-secret)\n"
        );
    }

    #[test]
    fn overlapping_secrets_are_both_redacted() {
        let one = |rule, span| SecretMatch { rule, span, blocks_file: false };
        let scan = SecretScan { matches: vec![one("a", 1..6), one("b", 2..4), one("c", 5..8)] };
        assert_eq!(redact("0123456789", &scan), "0(redacted:a)89");
    }

    #[test]
    fn only_base64_of_text_is_decoded() {
        let text = "KEY=cGFzc3dvcmQ9aHVudGVyMiE= SGVsbG8 AAECAwQFBgcICQoLDA0ODxAREhM=";
        let texts: Vec<String> = long_runs(text).filter_map(|span| decode_run(&text[span])).collect();
        assert_eq!(texts, ["password=hunter2!"]);
    }
}
