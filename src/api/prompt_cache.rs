//! What a provider's prompt cache reads and writes, for requests that follow one another within its lifetime.
//!
//! Anthropic, and OpenAI from gpt-5.6 on, cache the prefixes that a request marks, and find the longest one that an
//! earlier request has written. Other providers find the common prefix by themselves.

use std::collections::HashSet;

use super::choices::FormatName;
use super::providers::{PromptContent, takes_breakpoints};
use crate::model::{BodyOptions, ContentHash, Document};
use crate::render;

/// Prefixes that are found without marks have at least so many tokens, unless the model is listed with another minimum.
const AUTOMATIC_MIN_TOKENS: u64 = 1024;

/// The tokens of one request's document, by what the provider's cache did with them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PromptCacheUse {
    pub tokens: u64,
    /// Read from the cache.
    pub read: u64,
    /// Written to the cache.
    pub written: u64,
    /// The share of the document's bytes that begin like the document before it; `None` for the first one.
    pub kept: Option<f64>,
}

impl PromptCacheUse {
    /// Returns the tokens that were neither read nor written.
    pub const fn uncached(&self) -> u64 {
        self.tokens.saturating_sub(self.read).saturating_sub(self.written)
    }
}

/// The prompt cache of one provider.
#[derive(Debug, Default)]
pub struct PromptCache {
    /// The prefixes that were written, by the hash of their text.
    written: HashSet<ContentHash>,
    last: Option<String>,
}

impl PromptCache {
    /// Sends the part of a document that a provider can cache. `count` counts the tokens of a text.
    pub fn send(
        &mut self,
        document: &Document,
        format: FormatName,
        body: &BodyOptions,
        count: &dyn Fn(&str) -> u64,
    ) -> PromptCacheUse {
        let text = render::render_markdown(document).text().into_owned();
        let common = self.last.as_deref().map(|last| common_prefix(last, &text));
        let is_marked = match format {
            FormatName::Anthropic => true,
            FormatName::Openai => takes_breakpoints(&body.model),
            FormatName::Gemini | FormatName::Markdown | FormatName::Json => false,
        };
        let mut sent = if is_marked {
            self.send_marked(document, body, count)
        } else {
            let least = AUTOMATIC_MIN_TOKENS.max(body.caching.min_tokens.into());
            let read = common.map_or(0, |common| count(&text[..common]));
            PromptCacheUse {
                tokens: count(&text),
                read: if least <= read { read } else { 0 },
                ..Default::default()
            }
        };
        // Both are as long as a document: the difference of a rounding does not matter.
        #[expect(clippy::cast_precision_loss, reason = "a share is shown with a few digits")]
        let share = |common: usize| if text.is_empty() { 1.0 } else { common as f64 / text.len() as f64 };
        sent.kept = common.map(share);
        self.last = Some(text);
        sent
    }

    fn send_marked(
        &mut self,
        document: &Document,
        body: &BodyOptions,
        count: &dyn Fn(&str) -> u64,
    ) -> PromptCacheUse {
        let Some(content) = PromptContent::from_document(document, body.caching) else {
            return PromptCacheUse::default();
        };
        let mut sent = PromptCacheUse::default();
        let (mut prefix, mut last_mark) = (String::new(), 0);
        let mut new = Vec::new();
        for (text, is_mark) in content.prefix_texts() {
            prefix.push_str(text);
            sent.tokens += count(text);
            let hash = ContentHash::digest(prefix.as_bytes());
            // What was written at a block that is not marked this time is found as well.
            if self.written.contains(&hash) {
                sent.read = sent.tokens;
            }
            if is_mark && u64::from(body.caching.min_tokens) <= sent.tokens {
                last_mark = sent.tokens;
                new.push(hash);
            }
        }
        self.written.extend(new);
        sent.written = last_mark.saturating_sub(sent.read);
        sent
    }
}

/// Returns how many bytes two texts have in common at their beginnings, up to a boundary of characters.
fn common_prefix(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    (0..=same).rev().find(|at| b.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_prefix_ends_between_two_characters() {
        assert_eq!(common_prefix("abc", "abd"), 2);
        assert_eq!(common_prefix("aé", "aè"), 1);
        assert_eq!(common_prefix("", "a"), 0);
    }
}
