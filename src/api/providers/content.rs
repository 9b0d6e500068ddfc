//! What every provider is sent, before it is put into a provider's words.

use crate::model::Document;
use crate::render;
use crate::render::PrefixPiece;

/// Anthropic and OpenAI allow four places up to which a prompt is cached; the end of the prefix is always one.
const INNER_BREAKPOINTS: usize = 3;
/// The first position where a long prefix may be split, in bytes; each further one is at twice the previous.
const FIRST_CUT: usize = 32 << 10;

/// A document as a sequence of blocks.
#[derive(Debug)]
pub(in crate::api) struct PromptContent {
    /// The blocks of the prefix; a provider caches up to the end of each that is a breakpoint.
    pub(super) prefix: Vec<PromptBlock>,
    /// The discussion; empty where there is none.
    pub(super) suffix: String,
}

/// One block of the prefix.
#[derive(Debug)]
pub(super) struct PromptBlock {
    pub(super) holds: PromptPart,
    pub(super) is_breakpoint: bool,
}

/// What a block holds.
#[derive(Debug)]
pub(super) enum PromptPart {
    Text(String),
    Image { media_type: &'static str, base64: String },
}

impl PromptContent {
    /// Returns a document as blocks; `None` where there is nothing in it.
    ///
    /// A provider finds what it has cached by the end of a block alone. So a long prefix is cut where files end, behind
    /// 32 KiB, 64 KiB and so on: what follows a cut may change, and what precedes it is still found. The places
    /// depend on
    /// the text before them, and not on the length of the whole, which every edit changes.
    pub(in crate::api) fn from_document(document: &Document) -> Option<Self> {
        let (mut prefix, mut text, mut cuts) = (Vec::new(), String::new(), Vec::new());
        let (mut length, mut next_cut) = (0, FIRST_CUT);
        for piece in render::prefix_pieces(document) {
            if next_cut <= length {
                push_text(&mut prefix, &mut text);
                cuts.push(prefix.len() - 1);
                while next_cut <= length {
                    next_cut *= 2;
                }
            }
            match piece {
                PrefixPiece::Text(words) => {
                    length += words.len();
                    text.push_str(&words);
                }
                PrefixPiece::Image { media_type, bytes, caption, .. } => {
                    text.push_str(&caption);
                    push_text(&mut prefix, &mut text);
                    let holds = PromptPart::Image { media_type, base64: render::base64(bytes) };
                    prefix.push(PromptBlock { holds, is_breakpoint: false });
                }
            }
        }
        push_text(&mut prefix, &mut text);
        // Of several cuts the last save most: they are behind half, a quarter and an eighth of the whole, or more.
        for cut in cuts.into_iter().rev().take(INNER_BREAKPOINTS) {
            prefix[cut].is_breakpoint = true;
        }
        if let Some(last) = prefix.last_mut() {
            last.is_breakpoint = true;
        }
        let suffix = render::suffix_text(document);
        (!prefix.is_empty() || !suffix.is_empty()).then_some(Self { prefix, suffix })
    }
}

/// Puts the text that was gathered at the end of the blocks; providers refuse a block without any.
fn push_text(blocks: &mut Vec<PromptBlock>, text: &mut String) {
    if !text.is_empty() {
        blocks.push(PromptBlock { holds: PromptPart::Text(std::mem::take(text)), is_breakpoint: false });
    }
}
