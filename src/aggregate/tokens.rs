//! Counts the tokens of a text.

use std::sync::Once;

use super::vocabulary::{RememberedCounts, Vocabulary};
use crate::model::ContentHash;

/// The name of the estimate: bytes divided by three. Measured on code, `o200k_base` takes 4.1 bytes a token and the
/// tokenizers of 2026 up to 30 % more tokens; three bytes a token errs on the safe side of both.
pub const ESTIMATE: &str = "estimate: bytes/3";

/// The approximate bytes per token of source code, for rough estimates.
pub const BYTES_PER_TOKEN: u64 = 4;

/// The longest text that is counted at once, in bytes. Counting a run of a million letters would take fifty times its
/// size in memory.
const MAX_PIECE_BYTES: usize = 64 << 10;
/// Counts of shorter texts are not cached: looking them up would take as long.
const MIN_REMEMBERED: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenCounter {
    /// Exact for OpenAI models since GPT-4o. Other providers' counts are higher, sometimes by a third.
    O200kBase,
    /// Estimated from the number of bytes.
    Estimate,
}

impl TokenCounter {
    /// All counters.
    pub const ALL: [Self; 2] = [Self::O200kBase, Self::Estimate];

    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Estimate => ESTIMATE,
        }
    }

    /// Returns its name in the settings.
    pub const fn setting_name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Estimate => "estimate",
        }
    }

    /// Returns the cache key of its counts; `None` if counting again is faster than a lookup. The number in it
    /// increases when counts of the same text change.
    pub const fn key(self) -> Option<&'static str> {
        match self {
            Self::O200kBase => Some("o200k_base/1"),
            Self::Estimate => None,
        }
    }

    /// Loads the vocabulary on a thread of its own, if exact counts need one that is not loaded yet.
    pub fn prepare(self) {
        static LOADING: Once = Once::new();
        if self == Self::O200kBase {
            LOADING.call_once(|| {
                // If no thread can be started, the first count loads it.
                let load = || {
                    Vocabulary::get();
                };
                let _ = std::thread::Builder::new().name("vocabulary".to_owned()).spawn(load);
            });
        }
    }

    /// Counts the tokens of a text. What looks like a special token (`<|endoftext|>`) is ordinary text.
    ///
    /// The first exact count of a process compiles the pattern that splits texts. Counting takes linear time for any
    /// text: runs of more than 64 KiB of only letters, punctuation or white space are counted in pieces. Each cut may
    /// add a token or two.
    pub fn count(self, text: &str) -> u64 {
        match self {
            Self::O200kBase if text.len() < MIN_REMEMBERED => count_exactly(text),
            Self::O200kBase => {
                let hash = ContentHash::digest(text.as_bytes());
                self.remembered(&hash).unwrap_or_else(|| {
                    let tokens = count_exactly(text);
                    self.remember(hash, tokens);
                    tokens
                })
            }
            Self::Estimate => estimate_tokens(text.len() as u64),
        }
    }

    /// Returns the cached tokens of the text with that hash.
    pub fn remembered(self, hash: &ContentHash) -> Option<u64> {
        (self == Self::O200kBase).then(|| RememberedCounts::get().count(hash)).flatten()
    }

    /// Caches the tokens of the text with that hash.
    pub fn remember(self, hash: ContentHash, tokens: u64) {
        if self == Self::O200kBase {
            RememberedCounts::get().insert(hash, tokens);
        }
    }
}

/// Returns an estimate that is more likely too high than too low.
pub const fn estimate_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(3)
}

/// Returns a rough estimate of the tokens of source code, from its runs of letters, of digits and of other characters;
/// white space belongs to the token that follows it. On a thousand excerpts of code in nine languages, half of the
/// estimates are within 6 % of `o200k_base`, and one in two hundred is off by more than 40 %; with bytes divided by four,
/// these are 11 % and one in 35.
pub fn rough_tokens(text: &str) -> u64 {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' => RunKind::Letters,
        b'0'..=b'9' => RunKind::Digits,
        _ if byte.is_ascii_whitespace() => RunKind::Space,
        _ => RunKind::Others,
    };
    let tokens = |run: &[u8]| match kind(run[0]) {
        RunKind::Letters => run.len().div_ceil(7),
        RunKind::Digits | RunKind::Others => run.len().div_ceil(3),
        RunKind::Space => 0,
    };
    text.as_bytes().chunk_by(|a, b| kind(*a) == kind(*b)).map(|run| tokens(run) as u64).sum()
}

#[derive(PartialEq, Eq)]
enum RunKind {
    Letters,
    Digits,
    Space,
    Others,
}

fn count_exactly(text: &str) -> u64 {
    count_in_pieces(Vocabulary::get(), text, MAX_PIECE_BYTES)
}

fn count_in_pieces(vocabulary: &Vocabulary, mut text: &str, most_bytes: usize) -> u64 {
    let mut tokens = 0;
    while !text.is_empty() {
        let (piece, rest) = text.split_at(end_of_piece(text, most_bytes));
        tokens += vocabulary.count(piece);
        text = rest;
    }
    tokens
}

/// Returns where the first piece of at most `most_bytes` ends: at the last place that no token can span, or else after
/// the last whole character.
fn end_of_piece(text: &str, most_bytes: usize) -> usize {
    if text.len() <= most_bytes {
        return text.len();
    }
    let most = text.floor_char_boundary(most_bytes);
    let mut next = text[most..].chars().next();
    // From the end: pieces are then as long as possible, and most texts have such a place within a few characters.
    for (at, before) in text[..most].char_indices().rev() {
        if next.is_some_and(|after| is_between_tokens(before, after)) {
            return at + before.len_utf8();
        }
        next = Some(before);
    }
    // A limit smaller than the first character would never advance.
    if most == 0 { text.ceil_char_boundary(1) } else { most }
}

/// Returns whether a text is always split between these two characters before its pieces are looked up in the
/// vocabulary, whatever surrounds them. This follows from the pattern of `o200k_base`:
///
/// ```text
/// [^\r\n\p{L}\p{N}]? letters ('s|'t|'re|'ve|'m|'ll|'d)?  |  \p{N}{1,3}
///  ?[^\s\p{L}\p{N}]+[\r\n/]*  |  \s*[\r\n]+  |  \s+(?!\S)  |  \s+
/// ```
///
/// - After a line break, a match can only continue with white space, or with a slash after punctuation.
/// - White space other than line breaks begins a match, or follows other white space.
/// - After a letter, a match can only continue with letters, marks and `'`; after a digit only with digits.
///
/// The pattern has a lookahead at what follows white space, so there is no such place between white space and a word.
fn is_between_tokens(before: char, after: char) -> bool {
    let is_line_end = |c: char| c == '\n' || c == '\r';
    if is_line_end(before) {
        return !after.is_whitespace() && after != '/';
    }
    if before.is_whitespace() {
        return false;
    }
    if after.is_whitespace() && !is_line_end(after) {
        return true;
    }
    // Only in ASCII: elsewhere a combining mark may follow, which belongs to the letter's match.
    let is_end_of_word = before.is_ascii_alphanumeric() && after.is_ascii();
    let is_end_of_number = before.is_ascii_digit() && after.is_ascii_alphabetic();
    is_end_of_word && (is_end_of_number || !after.is_ascii_alphanumeric() && after != '\'')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    fn exact(text: &str) -> u64 {
        tiktoken_rs::o200k_base_singleton().count_ordinary(text) as u64
    }

    /// Characters and strings that are difficult to split.
    const HOSTILE: &[&str] = &[
        "", " ", "  ", "\t", "\n", "\r\n", "\r", "\n\n", " \n", "/", "//", "/\n", "\n/", ";", "}", "...",
        "'", "'s", "'S", "\u{a0}", "\u{2028}", "\u{85}", "\u{3000}", "é", "e\u{301}", "\u{301}", "日本", "ß",
        "ǅ", "ʰ", "١", "½", "²", "1234", "9", "a", "Z", "aB", "don't", "_", "#", "##", "```", "🦀",
        "\u{200d}", "\u{200b}", "\u{feff}", "\0", "<|endoftext|>", "word", "HTTPServer", "\u{17f}",
        "'\u{17f}", "\u{212a}",
    ];

    fn hostile_text(most: usize) -> impl Strategy<Value = String> {
        let part = prop_oneof![4 => prop::sample::select(HOSTILE).prop_map(str::to_owned), 1 => ".{0,4}"];
        prop::collection::vec(part, 0..most).prop_map(|parts| parts.concat())
    }

    #[test]
    fn a_rough_estimate_counts_runs_and_is_near_the_exact_count() {
        for (text, tokens) in [("", 0), ("  \n\t\n", 0), ("fn main() {}", 4), ("abcdefgh = 1234;", 6)] {
            assert_eq!(rough_tokens(text), tokens, "{text:?}");
        }
        for text in [include_str!("tokens.rs"), include_str!("compose.rs"), include_str!("mod.rs")] {
            let (rough, exact) = (rough_tokens(text), TokenCounter::O200kBase.count(text));
            assert!(rough.abs_diff(exact) * 5 < exact, "{rough} {exact}");
        }
    }

    #[test]
    fn counts_are_those_of_the_vocabulary() {
        assert_eq!(TokenCounter::O200kBase.count(""), 0);
        assert_eq!(TokenCounter::O200kBase.count("hello world"), 2);
        assert_eq!(
            TokenCounter::O200kBase.count("def run(self):\n    return 1\n"),
            exact("def run(self):\n    return 1\n")
        );
        assert_eq!(TokenCounter::Estimate.count("four"), 2);
    }

    #[test]
    fn sources_in_any_language_have_the_tokens_that_the_library_counts() {
        let texts = [
            include_str!("tokens.rs"),
            include_str!("../../README.md"),
            include_str!("../../docs/openapi.json"),
            include_str!("../../config/default.toml"),
            "Größe Ｗｉｄｅ ŁÓDŹ 数据结构 данные मानक 🇩🇪 x\u{302} ǅ ʰ\u{a0}\u{3000} 1٢½²\r\n\r\n\t x",
        ];
        for text in texts {
            assert_eq!(Vocabulary::get().count(text), exact(text));
        }
        let run = "GATTACA".repeat(3_000) + &"=-".repeat(2_000);
        assert_eq!(Vocabulary::get().count(&run), exact(&run));
    }

    #[test]
    fn a_special_token_in_a_text_is_text() {
        assert_eq!(TokenCounter::O200kBase.count("<|endoftext|>"), 7);
    }

    #[test]
    fn a_run_that_the_library_panics_on_is_counted() {
        for text in [" ".repeat(1_000_000) + "x", "\t\u{a0}".repeat(600_000) + "x", "\n ".repeat(500_000)] {
            let tokens = TokenCounter::O200kBase.count(&text);
            assert!(0 < tokens && tokens <= text.len() as u64);
        }
    }

    #[test]
    fn a_run_without_an_end_is_counted_in_pieces_that_cost_little() {
        // The library counts 125,000 for a million.
        let tokens = TokenCounter::O200kBase.count(&"a".repeat(250_000));
        assert!((31_250..31_260).contains(&tokens), "{tokens}");
    }

    #[test]
    fn counting_terminates_with_a_limit_within_a_character() {
        let vocabulary = Vocabulary::get();
        for most_bytes in 0..5 {
            assert!(0 < count_in_pieces(vocabulary, "🦀日本🦀", most_bytes));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(500) })]

        #[test]
        fn any_text_has_the_tokens_that_the_library_counts(text in hostile_text(24)) {
            prop_assert_eq!(Vocabulary::get().count(&text), exact(&text), "{:?}", text);
        }

        #[test]
        fn no_token_spans_a_place_that_is_between_tokens(text in hostile_text(24)) {
            let whole = exact(&text);
            let mut before = None;
            for (at, after) in text.char_indices() {
                if before.is_some_and(|before| is_between_tokens(before, after)) {
                    prop_assert_eq!(exact(&text[..at]) + exact(&text[at..]), whole, "cut at {} of {:?}", at, text);
                }
                before = Some(after);
            }
        }

        #[test]
        fn a_document_is_the_sum_of_its_parts_that_begin_with_a_head(
            parts in prop::collection::vec((1_usize..4, hostile_text(8), "\n|\r\n|\r|\n\n"), 1..6)
        ) {
            let parts: Vec<String> =
                parts.into_iter().map(|(level, text, end)| "#".repeat(level) + " " + &text + &end).collect();
            let sum: u64 = parts.iter().map(|part| exact(part)).sum();
            prop_assert_eq!(sum, exact(&parts.concat()));
        }
    }
}
