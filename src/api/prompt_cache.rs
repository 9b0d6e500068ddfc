//! Simulates what a provider's prompt cache reads and writes, for successive requests within its lifetime.
//!
//! Anthropic, and OpenAI from gpt-5.6 on, cache the prefixes that a request marks, and find the longest one that an
//! earlier request has written. Other providers find the common prefix automatically. Sizes and hashes of the pieces of
//! documents suffice to determine it; with their texts, it is exact even within a piece.

use std::collections::HashSet;
use std::sync::Arc;

use memchr::memchr_iter;

use super::choices::FormatName;
use super::providers::{PrefixCuts, takes_breakpoints};
use crate::model::{BodyOptions, ContentHash, Document, DocumentLayout, DocumentText, PrefixCaching};
use crate::render;

/// The minimum number of tokens of a prefix that is found without marks, unless the price list has a different one for
/// the model.
const AUTOMATIC_MIN_TOKENS: u64 = 1024;

/// Returns how the provider of a format caches prefixes.
pub fn prefix_caching(format: FormatName, body: &BodyOptions) -> PrefixCaching {
    let is_marked = match format {
        FormatName::Anthropic => true,
        FormatName::Openai => takes_breakpoints(&body.model),
        FormatName::Gemini | FormatName::Markdown | FormatName::Json => false,
    };
    let min_tokens = u64::from(body.caching.min_tokens);
    if is_marked {
        PrefixCaching { marks: Some(body.caching.marks), min_tokens }
    } else {
        PrefixCaching { marks: None, min_tokens: min_tokens.max(AUTOMATIC_MIN_TOKENS) }
    }
}

/// A document as sent to a provider.
#[derive(Debug, Clone)]
pub struct SentDocument {
    pub layout: Arc<DocumentLayout>,
    /// Its text, if it is kept, with which common prefixes are exact within a piece.
    pub text: Option<DocumentText>,
}

impl SentDocument {
    /// Returns a document as a provider's model reads it.
    pub fn new(document: &Document) -> Self {
        let layout = Arc::new(render::document_layout(document, false));
        Self { layout, text: Some(render::render_markdown(document)) }
    }
}

/// The prefix of a document, in bytes and approximate tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DocumentPrefix {
    pub bytes: u64,
    pub tokens: u64,
}

/// The common prefix of two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommonPrefix {
    /// The number of whole pieces.
    pub pieces: usize,
    pub prefix: DocumentPrefix,
    /// The position in the first piece that differs; `None` if one of the texts is not kept.
    pub within: Option<DifferingLine>,
}

/// The position within a piece at which it differs from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DifferingLine {
    /// How many newlines of the piece precede it.
    pub newlines: u64,
    /// In a block, the first differing line of the file's shown text, counted from 1. The header line of the block may
    /// also differ, because it contains the hash of the content.
    pub shown_line: Option<u64>,
}

/// The tokens of one request's document, by how the provider's cache handles them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PromptCacheUse {
    pub tokens: u64,
    /// Read from the cache.
    pub read: DocumentPrefix,
    /// Written to the cache.
    pub written: u64,
    /// The common prefix with the previous document; `None` for the first one.
    pub common: Option<CommonPrefix>,
    /// The share of the document that is a common prefix with the previous one; `None` for the first one.
    pub kept: Option<f64>,
}

impl PromptCacheUse {
    /// Returns the tokens that were neither read nor written.
    pub const fn uncached(&self) -> u64 {
        self.tokens.saturating_sub(self.read.tokens).saturating_sub(self.written)
    }
}

/// The prompt cache of one provider.
#[derive(Debug, Default)]
pub struct PromptCache {
    /// The prefixes that were written, by the hash of their pieces.
    written: HashSet<ContentHash>,
    last: Option<SentDocument>,
}

impl PromptCache {
    /// Sends a document.
    pub fn send(&mut self, document: SentDocument, caching: PrefixCaching) -> PromptCacheUse {
        let common = self.last.as_ref().map(|last| common_prefix(last, &document));
        let mut sent = if let Some(marks) = caching.marks {
            self.send_marked(&document.layout, marks, caching.min_tokens)
        } else {
            let found = common.map_or(DocumentPrefix::default(), |common| common.prefix);
            let is_cached = caching.min_tokens <= found.tokens;
            PromptCacheUse {
                tokens: document.layout.tokens(),
                read: if is_cached { found } else { DocumentPrefix::default() },
                ..PromptCacheUse::default()
            }
        };
        // Both are as long as a document, so rounding does not matter.
        #[expect(clippy::cast_precision_loss, reason = "a share is shown with a few digits")]
        let share = |common: u64, bytes: u64| if bytes == 0 { 1.0 } else { common as f64 / bytes as f64 };
        sent.kept = common.map(|common| share(common.prefix.bytes, document.layout.bytes()));
        sent.common = common;
        self.last = Some(document);
        sent
    }

    fn send_marked(&mut self, layout: &DocumentLayout, marks: u8, min_tokens: u64) -> PromptCacheUse {
        let (cuts, end) = PrefixCuts::of_layout(layout);
        let marked: Vec<usize> =
            cuts.best_marks(end, marks, min_tokens).iter().map(|end| end.block).collect();
        let cut: HashSet<usize> = cuts.ends().chain(end).map(|end| end.block).collect();
        let mut sent = PromptCacheUse::default();
        let (mut prefix, mut last_mark, mut new) = (DocumentPrefix::default(), 0, Vec::new());
        let mut hash = ContentHash::digest(b"");
        for (at, piece) in layout.pieces[..layout.prefix].iter().enumerate() {
            prefix.bytes += piece.bytes;
            prefix.tokens += piece.tokens;
            hash = ContentHash::digest(&[*hash.as_bytes(), *piece.hash.as_bytes()].concat());
            // Prefixes written at positions that are not marked this time are found as well.
            if cut.contains(&at) && self.written.contains(&hash) {
                sent.read = prefix;
            }
            if marked.contains(&at) && min_tokens <= prefix.tokens {
                last_mark = prefix.tokens;
                new.push(hash);
            }
        }
        self.written.extend(new);
        sent.tokens = prefix.tokens;
        sent.written = last_mark.saturating_sub(sent.read.tokens);
        sent
    }
}

/// Returns the common prefix of two documents, with its tokens in the second one.
fn common_prefix(before: &SentDocument, after: &SentDocument) -> CommonPrefix {
    let pairs = before.layout.pieces.iter().zip(&after.layout.pieces);
    let pieces = pairs.take_while(|(a, b)| a.hash == b.hash && a.bytes == b.bytes).count();
    let mut prefix = DocumentPrefix::default();
    for piece in &after.layout.pieces[..pieces] {
        prefix.bytes += piece.bytes;
        prefix.tokens += piece.tokens;
    }
    let texts = before.text.as_ref().zip(after.text.as_ref());
    let (Some((old, new)), Some(first), Some(next)) =
        (texts, before.layout.pieces.get(pieces), after.layout.pieces.get(pieces))
    else {
        return CommonPrefix { pieces, prefix, within: None };
    };
    let start = prefix.bytes;
    let text_of = |text: &DocumentText, bytes: u64| {
        let offset = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        text.slice(offset(start), offset(start + bytes)).into_owned()
    };
    let (old, new) = (text_of(old, first.bytes), text_of(new, next.bytes));
    let same = common_bytes(&old, &new);
    prefix.bytes += same as u64;
    // In proportion, because counting the tokens of a part needs a vocabulary and is hardly more accurate.
    let share = u128::from(next.tokens) * same as u128 / u128::from(next.bytes.max(1));
    prefix.tokens += u64::try_from(share).unwrap_or(next.tokens);
    let newlines = memchr_iter(b'\n', &new.as_bytes()[..same]).count() as u64;
    let is_same_file = next.subject.file().is_some() && first.subject.file() == next.subject.file();
    let shown_line = is_same_file.then(|| differing_line(&old, &new)).flatten();
    CommonPrefix { pieces, prefix, within: Some(DifferingLine { newlines, shown_line }) }
}

/// The lines of a block before the shown text: an empty one, the heading, the header line, an empty one and the fence.
const LINES_BEFORE_TEXT: usize = 5;

/// Returns the first differing line, counted from 1, of the texts shown by two blocks.
fn differing_line(old: &str, new: &str) -> Option<u64> {
    let shown = |block| str::lines(block).skip(LINES_BEFORE_TEXT);
    let (mut old, mut new, mut line) = (shown(old), shown(new), 1);
    loop {
        match (old.next(), new.next()) {
            (None, None) => return None,
            (before, after) if before == after => line += 1,
            (_, _) => return Some(line),
        }
    }
}

/// Returns the length of the common prefix of two texts, at a character boundary.
fn common_bytes(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    (0..=same).rev().find(|at| b.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_prefix_ends_between_two_characters() {
        assert_eq!(common_bytes("abc", "abd"), 2);
        assert_eq!(common_bytes("aé", "aè"), 1);
        assert_eq!(common_bytes("", "a"), 0);
    }

    #[test]
    fn a_header_line_is_not_a_line_of_the_file() {
        let block =
            |hash: &str, lines: &str| format!("\n### a.c\nC · skeleton of {hash}\n\n```c\n{lines}```\n");
        let line = |before: &str, after: &str| differing_line(&block("1", before), &block("2", after));
        assert_eq!(line("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(line("a\n", "a\nb\n"), Some(2));
        assert_eq!(line("a\n", "a\n"), None);
    }
}
