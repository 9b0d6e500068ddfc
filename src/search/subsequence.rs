//! Fuzzy matching: finds names by some of their characters in order, as typed to go to a file or a symbol.

use std::cmp::Reverse;

/// The score of each matching character: more at the beginning of a word, and after another matching character.
const MATCHED: u32 = 8;
const BEHIND_ANOTHER: u32 = 20;
const WORD_START: u32 = 10;
/// A match at the start of the name counts more, one of the whole name even more.
const NAME_START: u32 = 12;
const WHOLE_NAME: u32 = 60;
/// A match in a name counts more than any match in the folders before it.
const IN_NAME: u32 = 1_000;
/// The maximum number of start positions that are tried in one text.
const MAX_STARTS: usize = 16;

/// Characters that must occur in a text in this order.
#[derive(Debug, Clone)]
pub struct Subsequence {
    chars: Vec<char>,
    /// Whether matching is case-sensitive.
    is_exact: bool,
    /// The characters as bytes, if they are ASCII: most texts are rejected by these.
    ascii: Option<Vec<u8>>,
}

/// How well a text matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubsequenceMatch {
    pub score: u32,
    /// The matching runs of characters, as the first position and the one after the last.
    pub ranges: Vec<(usize, usize)>,
}

impl Subsequence {
    /// Parses a query. Spaces only separate its parts; if it contains a capital letter, matching is case-sensitive.
    pub fn new(query: &str) -> Self {
        let chars: Vec<char> = query.chars().filter(|c| !c.is_whitespace()).collect();
        let is_exact = chars.iter().any(|c| c.is_uppercase());
        let ascii = chars.iter().map(|c| u8::try_from(*c).ok().filter(u8::is_ascii)).collect();
        Self { chars, is_exact, ascii }
    }

    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// Returns whether a text may match: a quick test without false negatives.
    fn may_match(&self, text: &str) -> bool {
        let Some(wanted) = &self.ascii else { return true };
        let mut wanted = wanted.iter().copied();
        let Some(mut next) = wanted.next() else { return true };
        for byte in text.bytes() {
            let is_same = if self.is_exact { byte == next } else { byte.eq_ignore_ascii_case(&next) };
            if is_same {
                match wanted.next() {
                    Some(byte) => next = byte,
                    None => return true,
                }
            }
        }
        false
    }

    /// Returns how well a text matches, given that its name begins at the byte `name_start`; `None` if it does not
    /// match.
    pub fn find(&self, text: &str, name_start: usize) -> Option<SubsequenceMatch> {
        if self.is_empty() || !self.may_match(text) {
            return None;
        }
        let chars: Vec<char> = text.chars().collect();
        let name = text[..name_start].chars().count();
        let in_name = self.best(&chars, name, name).map(|(score, at)| (score + IN_NAME, at));
        let (score, at) = in_name.or_else(|| self.best(&chars, 0, name))?;
        Some(SubsequenceMatch { score, ranges: runs(&at) })
    }

    /// Returns the best match that begins at `from` or later.
    fn best(&self, chars: &[char], from: usize, name: usize) -> Option<(u32, Vec<usize>)> {
        let starts = (from..chars.len()).filter(|at| self.is_same(chars[*at], self.chars[0]));
        let matches = starts.take(MAX_STARTS).filter_map(|start| self.positions(chars, start));
        // The first of equal matches, so that results are deterministic.
        matches.map(|at| (score(chars, &at, name), at)).max_by_key(|(score, at)| (*score, Reverse(at[0])))
    }

    /// Returns the positions of the characters, the first at `start`: each as near to the previous one as possible, but
    /// preferably where a word begins, if the rest is still found after it.
    fn positions(&self, chars: &[char], start: usize) -> Option<Vec<usize>> {
        let mut at = vec![start];
        for (number, wanted) in self.chars.iter().enumerate().skip(1) {
            let last = *at.last()?;
            let places = (last + 1..chars.len()).filter(|place| self.is_same(chars[*place], *wanted));
            let first = places.clone().next()?;
            let is_good = |place: &usize| *place == last + 1 || is_word_start(chars, *place);
            let good =
                places.clone().find(is_good).filter(|place| self.is_found(&chars[*place + 1..], number + 1));
            at.push(good.unwrap_or(first));
        }
        Some(at)
    }

    /// Returns whether the characters from a position on are found.
    fn is_found(&self, chars: &[char], number: usize) -> bool {
        let mut rest = chars.iter();
        self.chars[number..].iter().all(|wanted| rest.any(|c| self.is_same(*c, *wanted)))
    }

    fn is_same(&self, c: char, wanted: char) -> bool {
        c == wanted || !self.is_exact && c.to_lowercase().eq(wanted.to_lowercase())
    }
}

fn is_word_start(chars: &[char], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| chars[before]) else { return true };
    !before.is_alphanumeric() || before.is_lowercase() && chars[at].is_uppercase()
}

fn score(chars: &[char], at: &[usize], name: usize) -> u32 {
    let mut score = 0;
    for (number, place) in at.iter().enumerate() {
        score += MATCHED;
        if number.checked_sub(1).is_some_and(|before| at[before] + 1 == *place) {
            score += BEHIND_ANOTHER;
        }
        if is_word_start(chars, *place) {
            score += WORD_START;
        }
    }
    if at[0] == name {
        score += NAME_START;
    }
    if at[0] == name && at.len() == chars.len() - name {
        score += WHOLE_NAME;
    }
    // Of equal matches, the one in the shorter name wins.
    let length = u32::try_from(chars.len() - name.min(at[0])).unwrap_or(u32::MAX);
    score.saturating_sub(length.min(score / 4))
}

/// Returns the runs of consecutive positions.
fn runs(at: &[usize]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for place in at {
        match runs.last_mut() {
            Some((_, end)) if *end == *place => *end += 1,
            Some(_) | None => runs.push((*place, *place + 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn ranks(query: &str, expected: &[&str], none: &[&str]) {
        let query = Subsequence::new(query);
        let score = |text: &str| {
            query.find(text, text.rfind('/').map_or(0, |slash| slash + 1)).map(|found| found.score)
        };
        let scores: Vec<u32> = expected.iter().map(|text| score(text).expect("it matches")).collect();
        assert!(scores.is_sorted_by(|a, b| a > b), "{expected:?} {scores:?}");
        for text in none {
            assert_eq!(score(text), None, "{text}");
        }
    }

    #[test]
    fn names_come_before_folders_and_words_before_single_letters() {
        ranks(
            "app",
            &["src/app", "src/app.py", "src/flask_app.py", "src/a_pxp.py", "app/x.py"],
            &["src/pa.py"],
        );
        ranks("tcpin", &["net/tcp_in.c", "net/tcp_input.c", "net/tcp/main.c"], &["net/tcp.c"]);
        ranks("RB", &["RingBuffer", "XRxBase"], &["ring_buffer", "rB"]);
        ranks("gelém", &["dir/Gelém"], &["gele\u{301}"]);
    }

    #[test]
    fn ranges_count_characters() {
        let found = |query: &str, text: &str| Subsequence::new(query).find(text, 0).unwrap().ranges;
        assert_eq!(found("abc", "ab_c"), [(0, 2), (3, 4)]);
        assert_eq!(found("ö c", "äöü_c"), [(1, 2), (4, 5)]);
        // The second `b` begins a word, and the rest follows it.
        assert_eq!(found("abc", "abx_bc"), [(0, 2), (5, 6)]);
        assert_eq!(found("rb", "Ring_barb"), [(0, 1), (5, 6)]);
    }
}
