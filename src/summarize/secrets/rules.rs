//! The rules in `config/secrets.toml`, compiled on demand.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::assigned::name_around;
use super::expressions::{is_called, is_expression, is_nested_class};
use super::generated::is_compound_name;
use super::keywords::KeywordIndex;
use super::notation::value_after;
use super::values::{entropy, is_filler, is_placeholder, is_thoroughly_mixed};

/// Bytes before and after a keyword in which a secret is searched. A longer secret is extended to its end afterwards.
const BEFORE: usize = 256;
const AFTER: usize = 4096;
/// How many bytes of states a pattern may keep while it searches.
const STATES_BYTES: usize = 64 << 10;
/// Names of at most this many bytes may be parts of other words, such as `mite` in `limiter`.
const SHORT_NAME: usize = 5;
/// Default bits per character of a secret that is recognized by the name near it.
const NAMED_ENTROPY: f64 = 3.0;
/// Bits per character from which on a rule expects a generated value.
const RANDOM_ENTROPY: f64 = 3.2;
/// The dashes around the first and the last line of a PEM key.
const DASHES: &str = "-----";
/// Words in a key that may make its value a secret: the prefilter of
/// [`AssignedSearch`](super::assigned::AssignedSearch).
const KEY_WORDS: [&str; 16] = [
    "pass", "pwd", "secret", "token", "key", "credential", "auth", "cookie", "dsn", "jwt", "otp", "session",
    "signature", "connectionstring", "connection_string", "pw",
];

static FILE: LazyLock<RuleFile> = LazyLock::new(|| {
    let text = include_str!("../../../config/secrets.toml");
    toml::from_str(text).expect("the built-in rules are tested")
});
static RULES: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::from_file(&FILE));

static DISPLAY_PREFIXES: LazyLock<Vec<(&str, usize)>> = LazyLock::new(|| {
    let displayed = FILE.tokens.iter().filter_map(|token| token.display.as_ref());
    let prefixes =
        |rule: &'static DisplayPrefixes| rule.prefixes.iter().map(|prefix| (prefix.as_str(), rule.least));
    displayed.flat_map(prefixes).collect()
});

pub(crate) fn rules() -> &'static RuleSet {
    &RULES
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    version: String,
    tokens: Vec<TokenRule>,
    places: Vec<PlaceRule>,
    names: Vec<NamedRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenRule {
    id: String,
    #[expect(dead_code, reason = "it is for who reads the file")]
    what: String,
    regex: String,
    keywords: Vec<String>,
    entropy: Option<f64>,
    withholds: Option<bool>,
    until: Option<String>,
    is_anywhere: Option<bool>,
    display: Option<DisplayPrefixes>,
}

/// How a word is recognized as such a token in what is displayed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DisplayPrefixes {
    prefixes: Vec<String>,
    /// The fewest characters after a prefix.
    least: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceRule {
    id: String,
    #[expect(dead_code, reason = "it is for who reads the file")]
    what: String,
    regex: String,
    keywords: Vec<String>,
    entropy: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedRule {
    id: String,
    near: Vec<String>,
    shape: String,
    entropy: Option<f64>,
}

/// The position of a secret relative to its keyword.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RuleAnchor {
    Begins,
    /// The keyword is somewhere in or before it.
    Anywhere,
    /// The keyword is part of the name before it.
    Named,
}

pub(crate) struct SecretRule {
    pub(crate) id: &'static str,
    /// Whether a file that contains one must not leave the machine at all.
    pub(crate) blocks_file: bool,
    pattern: String,
    compiled: OnceLock<Regex>,
    anchor: RuleAnchor,
    entropy: f64,
    allows_placeholders: bool,
    until: Option<&'static str>,
}

/// All kinds of secrets, and their keywords.
pub(crate) struct RuleSet {
    all: Vec<SecretRule>,
    words: KeywordIndex,
    /// The rules of each keyword; none for the words of keys.
    of_word: Vec<Vec<usize>>,
}

/// What a keyword in a text hints at.
pub(crate) enum KeywordHint {
    /// These rules may match here.
    Rules(&'static [usize]),
    /// A key that may name a secret.
    Key,
}

impl RuleSet {
    fn from_file(file: &'static RuleFile) -> Self {
        let mut rules = Vec::new();
        let mut words: Vec<String> = Vec::new();
        let mut of_word: Vec<Vec<usize>> = Vec::new();
        let mut add = |keywords: &[String], rule: SecretRule| {
            for keyword in keywords {
                let keyword = keyword.to_ascii_lowercase();
                let at = words.iter().position(|word| *word == keyword).unwrap_or_else(|| {
                    words.push(keyword);
                    of_word.push(Vec::new());
                    words.len() - 1
                });
                of_word[at].push(rules.len());
            }
            rules.push(rule);
        };
        for token in &file.tokens {
            add(&token.keywords, SecretRule::from_token(token));
        }
        for place in &file.places {
            add(&place.keywords, SecretRule::from_place(place));
        }
        for named in &file.names {
            add(&named.near, SecretRule::from_named(named));
        }
        // Last, so that their numbers are beyond the end of `of_word`, by which `hints` recognizes them.
        words.extend(KEY_WORDS.map(str::to_owned));
        let words = KeywordIndex::new(&words);
        Self { all: rules, words, of_word }
    }

    /// Returns the keywords in a text, in the order of their starts.
    pub(crate) fn hints<'t>(
        &'static self,
        text: &'t str,
    ) -> impl Iterator<Item = (Range<usize>, KeywordHint)> + 't {
        self.words.find(text).map(|(span, word)| {
            let hint = self.of_word.get(word);
            (span, hint.map_or(KeywordHint::Key, |rules| KeywordHint::Rules(rules)))
        })
    }

    pub(crate) fn rule(&self, index: usize) -> &SecretRule {
        &self.all[index]
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}

pub(crate) fn version() -> &'static str {
    &FILE.version
}

/// Returns whether a word has a prefix and the length of a known issuer's tokens, by the policy for what is displayed.
pub(crate) fn has_display_prefix(word: &str) -> bool {
    let has_digit = word.bytes().any(|b| b.is_ascii_digit());
    // AWS keys may happen to contain no digit; words that merely begin like the others contain none either.
    DISPLAY_PREFIXES.iter().any(|(prefix, least)| {
        word.strip_prefix(prefix).is_some_and(|tail| {
            *least <= tail.len() && (has_digit || tail.bytes().all(|b| b.is_ascii_uppercase()))
        })
    })
}

impl SecretRule {
    fn from_token(token: &'static TokenRule) -> Self {
        let anchor = if token.is_anywhere == Some(true) { RuleAnchor::Anywhere } else { RuleAnchor::Begins };
        let entropy = token.entropy.unwrap_or(0.0);
        Self {
            blocks_file: token.withholds == Some(true),
            until: token.until.as_deref(),
            ..Self::new(&token.id, token.regex.clone(), anchor, entropy)
        }
    }

    fn from_place(place: &'static PlaceRule) -> Self {
        let entropy = place.entropy.unwrap_or(0.0);
        let rule = Self::new(&place.id, place.regex.clone(), RuleAnchor::Anywhere, entropy);
        Self { allows_placeholders: true, ..rule }
    }

    fn from_named(named: &'static NamedRule) -> Self {
        let pattern = format!("((?i:{}))(?:[^A-Za-z0-9_+/=-]|$)", named.shape);
        let entropy = named.entropy.unwrap_or(NAMED_ENTROPY);
        let rule = Self::new(&named.id, pattern, RuleAnchor::Named, entropy);
        Self { allows_placeholders: true, ..rule }
    }

    fn new(id: &'static str, pattern: String, anchor: RuleAnchor, entropy: f64) -> Self {
        Self {
            id,
            blocks_file: false,
            // Anchored, so that the match fails at once where the keyword begins no secret, instead of searching the
            // window.
            pattern: if anchor == RuleAnchor::Anywhere { pattern } else { format!("^(?:{pattern})") },
            compiled: OnceLock::new(),
            anchor,
            entropy,
            allows_placeholders: false,
            until: None,
        }
    }

    fn regex(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            // Without the tables of Unicode, and with little room for states that are built while searching: there are
            // hundreds of patterns, and each thread has its own.
            let mut builder = RegexBuilder::new(&self.pattern);
            builder.unicode(false).dfa_size_limit(STATES_BYTES);
            builder.build().expect("each built-in rule is compiled by a test")
        })
    }

    /// Returns whether a secret of this kind may be at some distance from its keyword.
    pub(crate) fn is_anywhere(&self) -> bool {
        self.anchor == RuleAnchor::Anywhere
    }

    /// Returns the secrets of this kind near a keyword; `None` if the keyword cannot begin one.
    pub(crate) fn find_near(&self, text: &str, word: &Range<usize>) -> Option<Vec<Range<usize>>> {
        let start = match self.anchor {
            RuleAnchor::Begins => word.start,
            RuleAnchor::Anywhere => text.floor_char_boundary(word.start.saturating_sub(BEFORE)),
            RuleAnchor::Named => start_of_named(text, name_around(text, word).end)?,
        };
        if self.anchor == RuleAnchor::Named && word.len() <= SHORT_NAME && !is_word_of_name(text, word) {
            return None;
        }
        if self.anchor == RuleAnchor::Begins && !begins_a_word(text, start) {
            return None;
        }
        let end = text.floor_char_boundary(start.max(word.end).saturating_add(AFTER).min(text.len()));
        let window = &text.as_bytes()[start..end];
        let found = self.regex().captures_iter(window).filter_map(|captures| {
            let whole = captures.get(0)?;
            // A capture group marks where the secret begins: `-phunter2`.
            let secret = captures.get(1).unwrap_or(whole);
            // Patterns match bytes, so that a match may end within a character.
            let span = text.floor_char_boundary(start + secret.start())
                ..text.ceil_char_boundary(start + secret.end());
            let is_one = captures.get(1).is_some() || begins_a_word(text, span.start);
            let is_one = is_one
                && self.is_secret(&text[span.clone()])
                && !is_nested_class(text, &span)
                && !(self.anchor == RuleAnchor::Named && is_called(text, &span))
                && !(self.allows_placeholders && self.is_anywhere() && is_expression(text, &span));
            is_one.then(|| self.extend_to_end(text, span))
        });
        Some(found.collect())
    }

    fn is_secret(&self, value: &str) -> bool {
        // Letters alone are usually a name in a program.
        let is_name = RANDOM_ENTROPY <= self.entropy
            && !value.bytes().any(|b| b.is_ascii_digit())
            && !is_thoroughly_mixed(value);
        let is_compound = self.anchor == RuleAnchor::Named && is_compound_name(value);
        if self.allows_placeholders && (is_name || is_compound || is_placeholder(value)) {
            return false;
        }
        self.until.is_some() || (self.entropy <= entropy(value) && !is_filler(value))
    }

    /// Extends a secret to its end, which is a mark or lies beyond the searched window.
    fn extend_to_end(&self, text: &str, span: Range<usize>) -> Range<usize> {
        if let Some(mark) = self.until {
            let end = text[span.start..].find(mark).map_or(text.len(), |at| span.start + at);
            let line = text[end..].find('\n').map_or(text.len(), |at| end + at);
            // Whatever follows the dashes closes the string that contains the key.
            let label = text.get(end + mark.len()..line).filter(|_| mark.starts_with(DASHES));
            let dashes = label.and_then(|label| label.find(DASHES));
            return span.start..dashes.map_or(line, |at| end + mark.len() + at + DASHES.len());
        }
        let more = text[span.end..].bytes().take_while(|b| b.is_ascii_alphanumeric() || b"+/=_-".contains(b));
        span.start..span.end + more.count()
    }
}

/// Returns where the value after a name starts: after an operator, or as the next word of a sentence, a table or a log.
fn start_of_named(text: &str, end: usize) -> Option<usize> {
    let spaces = || text[end..].bytes().take_while(|b| b" \t".contains(b)).count();
    let value = value_after(text, end).map(|value| value.span.start);
    value.or_else(|| Some(spaces()).filter(|spaces| 0 < *spaces).map(|spaces| end + spaces))
}

/// Returns whether a word stands alone in the name that it is part of: `mite` in `MITE_KEY` and in `myMiteKey`.
fn is_word_of_name(text: &str, word: &Range<usize>) -> bool {
    let byte = |at: usize| text.as_bytes().get(at).copied().unwrap_or(b' ');
    let (first, last) = (byte(word.start), byte(word.end - 1));
    let (before, after) = (word.start.checked_sub(1).map_or(b' ', byte), byte(word.end));
    let begins = !before.is_ascii_alphabetic() || before.is_ascii_lowercase() && first.is_ascii_uppercase();
    let ends = !after.is_ascii_lowercase()
        || last.is_ascii_uppercase() && 1 < word.len() && byte(word.end - 2).is_ascii_uppercase();
    begins && ends
}

/// Returns whether a word begins here: `ghp_` in `highp_` is not a token. A backslash begins an escape.
fn begins_a_word(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    match before {
        [.., b'\\', _] => true,
        [.., last] if last.is_ascii_alphanumeric() => {
            !text[at..].starts_with(|first: char| first.is_ascii_alphanumeric())
        }
        [..] => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles_and_has_a_unique_id() {
        let rules = rules();
        for index in 0..rules.len() {
            let rule = rules.rule(index);
            rule.regex();
            let same = (0..rules.len()).filter(|other| rules.rule(*other).id == rule.id).count();
            assert_eq!(same, 1, "{}", rule.id);
        }
        assert!(200 < rules.len());
    }

    #[test]
    fn a_short_name_is_a_word_of_its_own() {
        let check = |name: &str| {
            let at = name.to_ascii_lowercase().find("mite").unwrap();
            is_word_of_name(name, &(at..at + 4))
        };
        for name in ["mite", "MITE_KEY", "myMiteKey", "x-mite", "mite2"] {
            assert!(check(name), "{name}");
        }
        for name in ["limiter", "delimiter", "RateLimiter", "SMITE", "mites"] {
            assert!(!check(name), "{name}");
        }
    }

    #[test]
    fn a_word_continues_after_letters_but_not_after_an_escape() {
        assert!(!begins_a_word("xghp_", 1));
        assert!(begins_a_word("x ghp_", 2));
        assert!(begins_a_word("\\nghp_", 2));
        assert!(begins_a_word("ghp_", 0));
    }
}
