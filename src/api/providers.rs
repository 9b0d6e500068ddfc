//! Builds request bodies for providers: first the prefix, which a provider can cache, then the discussion.
//!
//! Knows: each provider's field names, and how it marks what to cache. Does not know: addresses, keys, or how a body is
//! sent.
//!
//! Start with [`anthropic()`]; the other functions differ only in names.

use serde_json::{Value, json};

use crate::model::{BodyOptions, CacheLifetime, Document, DocumentLayout, PromptCaching};
use crate::render;
use crate::render::PrefixPiece;

/// The minimum average of bytes per token, over all tokenizers and kinds of text that are worth caching.
const MIN_BYTES_PER_TOKEN: u64 = 2;
/// The first position where a long prefix may be split, in bytes; each further one is at twice the previous.
const FIRST_CUT: usize = 32 << 10;

/// A document as a sequence of blocks.
#[derive(Debug)]
pub(super) struct PromptContent {
    /// The blocks of the prefix; a provider caches up to the end of each block with a breakpoint.
    prefix: Vec<PromptBlock>,
    /// The discussion; empty if there is none.
    suffix: String,
}

#[derive(Debug)]
pub(super) struct PromptBlock {
    holds: PromptPart,
    is_breakpoint: bool,
}

#[derive(Debug)]
pub(super) enum PromptPart {
    Text(String),
    Image { media_type: &'static str, base64: String },
}

impl PromptContent {
    /// Splits a document into blocks; `None` if it is empty.
    ///
    /// A provider finds cached prefixes only at the ends of blocks. So a long prefix is cut after the stable part, and
    /// at the ends of files after 32 KiB, 64 KiB and so on: the text after a cut may change without affecting the
    /// prefix before it. The positions depend only on the preceding text, not on the total length, which changes with
    /// every edit.
    pub(super) fn from_document(document: &Document, caching: PromptCaching) -> Option<Self> {
        let mut blocks = BlockBuilder::default();
        let mut cuts = PrefixCuts::default();
        for piece in render::prefix_pieces(document) {
            cuts.before_piece(blocks.bytes, || blocks.end_block());
            match piece {
                PrefixPiece::StableEnd => cuts.at_stable_end(blocks.end_block()),
                PrefixPiece::Text(words) => blocks.push_text(&words),
                PrefixPiece::Image { media_type, bytes, caption, .. } => {
                    blocks.push_text(&caption);
                    blocks.push_image(media_type, bytes);
                }
            }
        }
        let end = blocks.end_block();
        let mut prefix = blocks.blocks;
        for end in cuts.best_marks(end, caching.marks, caching.min_tokens.into()) {
            prefix[end.block].is_breakpoint = true;
        }
        let suffix = render::suffix_text(document);
        (!prefix.is_empty() || !suffix.is_empty()).then_some(Self { prefix, suffix })
    }
}

/// The reason for a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CutKind {
    /// The text before it is stable across tasks or commits.
    Stable,
    Size,
}

/// The end of a block: the block's number, and the number of bytes before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockEnd {
    pub(super) block: usize,
    pub(super) bytes: usize,
}

/// The positions at which a prefix is cut into blocks.
pub(super) struct PrefixCuts {
    cuts: Vec<(CutKind, BlockEnd)>,
    next_cut: usize,
}

impl Default for PrefixCuts {
    fn default() -> Self {
        Self { cuts: Vec::new(), next_cut: FIRST_CUT }
    }
}

impl PrefixCuts {
    /// Cuts before a piece if the `bytes` before it suffice. `end_block` ends the block there.
    fn before_piece(&mut self, bytes: usize, end_block: impl FnOnce() -> Option<BlockEnd>) {
        if bytes < self.next_cut {
            return;
        }
        self.cuts.extend(end_block().map(|end| (CutKind::Size, end)));
        while self.next_cut <= bytes {
            self.next_cut *= 2;
        }
    }

    /// Cuts after the stable part.
    fn at_stable_end(&mut self, end: Option<BlockEnd>) {
        self.cuts.extend(end.map(|end| (CutKind::Stable, end)));
    }

    /// Returns the cuts and the end of a document of which only the layout is known. The blocks are its pieces.
    pub(super) fn of_layout(layout: &DocumentLayout) -> (Self, Option<BlockEnd>) {
        let (mut cuts, mut end) = (Self::default(), None);
        for (at, piece) in layout.pieces[..layout.prefix].iter().enumerate() {
            let bytes = end.map_or(0, |end: BlockEnd| end.bytes);
            cuts.before_piece(bytes, || end);
            if layout.stable == Some(at) {
                cuts.at_stable_end(end);
            }
            end = Some(BlockEnd {
                block: at,
                bytes: bytes + usize::try_from(piece.bytes).unwrap_or(usize::MAX),
            });
        }
        if layout.stable == Some(layout.prefix) {
            cuts.at_stable_end(end);
        }
        (cuts, end)
    }

    /// Returns all cuts.
    pub(super) fn ends(&self) -> impl Iterator<Item = BlockEnd> {
        self.cuts.iter().map(|(_, end)| *end)
    }

    /// Returns the ends of the prefixes to cache, most valuable first.
    pub(super) fn best_marks(&self, end: Option<BlockEnd>, marks: u8, min_tokens: u64) -> Vec<BlockEnd> {
        let of_kind =
            |wanted| self.cuts.iter().rev().filter(move |(kind, _)| *kind == wanted).map(|(_, end)| *end);
        // The whole prefix serves repeated requests; the stable part serves all tasks; of the others, the last ones
        // save most: they are after at least half, a quarter and an eighth of the whole.
        let all = end.into_iter().chain(of_kind(CutKind::Stable)).chain(of_kind(CutKind::Size));
        let least = MIN_BYTES_PER_TOKEN * min_tokens;
        let mut chosen: Vec<BlockEnd> = Vec::new();
        for end in all.filter(|end| least <= end.bytes as u64) {
            // The stable part may end at another cut, or at the end of the whole.
            if !chosen.iter().any(|known| known.block == end.block) {
                chosen.push(end);
            }
        }
        chosen.truncate(marks.into());
        chosen
    }
}

/// Builds the blocks of a prompt.
#[derive(Default)]
struct BlockBuilder {
    blocks: Vec<PromptBlock>,
    text: String,
    bytes: usize,
}

impl BlockBuilder {
    fn push_text(&mut self, words: &str) {
        self.bytes += words.len();
        self.text.push_str(words);
    }

    fn push_image(&mut self, media_type: &'static str, bytes: &[u8]) {
        self.end_block();
        let holds = PromptPart::Image { media_type, base64: render::base64(bytes) };
        self.blocks.push(PromptBlock { holds, is_breakpoint: false });
    }

    /// Appends the collected text as a block, and returns the end of the last block; `None` if there is no block.
    /// Providers reject an empty block.
    fn end_block(&mut self) -> Option<BlockEnd> {
        if !self.text.is_empty() {
            let holds = PromptPart::Text(std::mem::take(&mut self.text));
            self.blocks.push(PromptBlock { holds, is_breakpoint: false });
        }
        Some(BlockEnd { block: self.blocks.len().checked_sub(1)?, bytes: self.bytes })
    }
}

pub(super) fn anthropic(content: &PromptContent, options: &BodyOptions) -> Value {
    let mut blocks: Vec<Value> = Vec::with_capacity(content.prefix.len() + 1);
    for block in &content.prefix {
        let mut value = match &block.holds {
            PromptPart::Text(text) => json!({"type": "text", "text": text}),
            PromptPart::Image { media_type, base64 } => {
                let source = json!({"type": "base64", "media_type": media_type, "data": base64});
                json!({"type": "image", "source": source})
            }
        };
        if block.is_breakpoint {
            value["cache_control"] = match options.caching.lifetime {
                CacheLifetime::FiveMinutes => json!({"type": "ephemeral"}),
                CacheLifetime::OneHour => json!({"type": "ephemeral", "ttl": "1h"}),
            };
        }
        blocks.push(value);
    }
    if !content.suffix.is_empty() {
        blocks.push(json!({"type": "text", "text": content.suffix}));
    }
    // Anthropic requires `max_tokens`; there is no default to leave it to.
    let mut body = json!({
        "model": options.model,
        "max_tokens": options.max_output_tokens,
        "messages": [{"role": "user", "content": blocks}],
    });
    // What is not configured is not sent: some models reject the parameter.
    if let Some(system) = &options.system {
        body["system"] = json!(system);
    }
    if let Some(temperature) = options.temperature {
        body["temperature"] = json!(temperature);
    }
    if let Some(top_p) = options.top_p {
        body["top_p"] = json!(top_p);
    }
    body
}

/// The prefixes of OpenAI's own models. Servers of other vendors may reject unknown fields.
const FAMILIES: [&str; 5] = ["gpt-", "chatgpt", "o1", "o3", "o4"];
/// The first version that supports breakpoints; others may reject them.
const FIRST_WITH_BREAKPOINTS: (u32, u32) = (5, 6);

/// Returns whether an OpenAI model caches marked prefixes; others find the common prefix automatically.
pub(super) fn takes_breakpoints(model: &str) -> bool {
    version(model).is_some_and(|found| FIRST_WITH_BREAKPOINTS <= found)
}

/// Returns the body of a request. Requests with the same `cache_key` are routed to the same cache.
pub(super) fn openai(content: &PromptContent, options: &BodyOptions, cache_key: &str) -> Value {
    let has_breakpoints = takes_breakpoints(&options.model);
    let mut messages = vec![json!({"role": "user", "content": parts(content, has_breakpoints)})];
    if let Some(system) = &options.system {
        messages.insert(0, json!({"role": "system", "content": system}));
    }
    let mut body = json!({
        "model": options.model,
        // OpenAI's reasoning models reject the older `max_tokens`.
        "max_completion_tokens": options.max_output_tokens,
        "messages": messages,
    });
    if is_of_openai(&options.model) {
        body["prompt_cache_key"] = json!(cache_key);
    }
    if has_breakpoints && !content.prefix.is_empty() {
        // Otherwise an additional breakpoint would be written after the discussion, and charged.
        body["prompt_cache_options"] = json!({"mode": "explicit"});
    }
    if let Some(temperature) = options.temperature {
        body["temperature"] = json!(temperature);
    }
    if let Some(top_p) = options.top_p {
        body["top_p"] = json!(top_p);
    }
    body
}

fn parts(content: &PromptContent, has_breakpoints: bool) -> Vec<Value> {
    let mut parts: Vec<Value> = Vec::with_capacity(content.prefix.len() + 1);
    for block in &content.prefix {
        let mut value = match &block.holds {
            PromptPart::Text(text) => json!({"type": "text", "text": text}),
            PromptPart::Image { media_type, base64 } => {
                let url = format!("data:{media_type};base64,{base64}");
                json!({"type": "image_url", "image_url": {"url": url}})
            }
        };
        if has_breakpoints && block.is_breakpoint {
            value["prompt_cache_breakpoint"] = json!({"mode": "explicit"});
        }
        parts.push(value);
    }
    if !content.suffix.is_empty() {
        parts.push(json!({"type": "text", "text": content.suffix}));
    }
    parts
}

fn is_of_openai(model: &str) -> bool {
    // `gpt-oss` is also from OpenAI, but runs on other servers.
    !model.starts_with("gpt-oss") && FAMILIES.iter().any(|family| model.starts_with(family))
}

/// Returns the version in a model's name: 5.6 for `gpt-5.6-luna`, 6.0 for `gpt-6`; `None` for `gpt-4o` and other
/// models.
fn version(model: &str) -> Option<(u32, u32)> {
    let number = model.strip_prefix("gpt-")?.split('-').next()?;
    // Compared as numbers: as text, 5.10 would come before 5.6.
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Returns the body of a request. Gemini caches common prefixes automatically.
pub(super) fn gemini(content: &PromptContent, options: &BodyOptions) -> Value {
    let part = |holds: &PromptPart| match holds {
        PromptPart::Text(text) => json!({"text": text}),
        PromptPart::Image { media_type, base64 } => {
            json!({"inlineData": {"mimeType": media_type, "data": base64}})
        }
    };
    let mut parts: Vec<Value> = content.prefix.iter().map(|block| part(&block.holds)).collect();
    if !content.suffix.is_empty() {
        parts.push(json!({"text": content.suffix}));
    }
    let mut generation = json!({"maxOutputTokens": options.max_output_tokens});
    if let Some(temperature) = options.temperature {
        generation["temperature"] = json!(temperature);
    }
    if let Some(top_p) = options.top_p {
        generation["topP"] = json!(top_p);
    }
    let mut body = json!({
        "contents": [{"role": "user", "parts": parts}],
        "generationConfig": generation,
    });
    if let Some(system) = &options.system {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        ContentHash, DiscussionEntry, DocumentBlock, DocumentPart, FileRole, FileType, OVERVIEW,
        PieceSubject, Receipt, RelPath, StableFiles, ViewMode,
    };

    #[test]
    fn other_models_get_no_cache_key() {
        assert!(["gpt-4o", "gpt-6-luna", "chatgpt-4o-latest", "o3", "o4-mini"].into_iter().all(is_of_openai));
        assert!(!["llama3", "my/gpt-6", "gpt-oss-20b", "m", ""].into_iter().any(is_of_openai));
    }

    #[test]
    fn the_version_is_parsed_from_the_name() {
        assert_eq!(version("gpt-5.6-luna"), Some((5, 6)));
        assert_eq!(version("gpt-5.10"), Some((5, 10)));
        assert_eq!(version("gpt-6-luna"), Some((6, 0)));
        assert_eq!(version("gpt-4o"), None);
        assert_eq!(version("o3"), None);
        assert_eq!(version("my/gpt-6"), None);
    }

    fn options() -> BodyOptions {
        BodyOptions {
            model: "m".to_owned(),
            system: Some("Be brief.".to_owned()),
            temperature: Some(0.5),
            top_p: Some(0.25),
            max_output_tokens: 9,
            caching: PromptCaching { marks: 2, lifetime: CacheLifetime::FiveMinutes, min_tokens: 0 },
        }
    }

    static PLAIN: FileType = FileType { id: "text", name: "Text", fence: "", role: FileRole::Prose };

    /// A document of 30 files of some kilobytes, of which the first 17 are stable.
    fn long_document() -> Document {
        let block = |at: usize| DocumentBlock {
            path: RelPath::new(format!("{at}.txt").as_bytes()).unwrap(),
            file_type: &PLAIN,
            view: ViewMode::Full,
            content: None,
            remarks: Vec::new(),
            body: format!("line of {at}\n").repeat(100 + 77 * at).into(),
            summary: None,
        };
        let rows = Some("x.txt: names\n".to_owned());
        Document {
            part: DocumentPart::Whole,
            overview: "- Project: x".to_owned(),
            files_heading: "Files",
            blocks: (0..30).map(block).collect(),
            stable: Some(StableFiles { blocks: 17, rows, next_heading: "For this task" }),
            more_files: None,
            files_of_rows: Vec::new(),
            is_cut: true,
            tree: Some("x/\n".to_owned()),
            screenshots: Vec::new(),
            beads: None,
            discussion: vec![DiscussionEntry { role: None, content: "Fix it.".to_owned() }],
            receipt: Receipt { tokens: 1_000, ..Receipt::default() },
        }
    }

    #[test]
    fn two_reasons_for_one_cut_are_one_mark() {
        let end = |block| BlockEnd { block, bytes: 40_000 * (block + 1) };
        let mut cuts = PrefixCuts::default();
        cuts.before_piece(40_000, || Some(end(0)));
        cuts.before_piece(80_000, || Some(end(1)));
        cuts.at_stable_end(Some(end(1)));
        let blocks =
            |marks| cuts.best_marks(Some(end(2)), marks, 0).iter().map(|end| end.block).collect::<Vec<_>>();
        assert_eq!((blocks(2), blocks(3)), (vec![2, 1], vec![2, 1, 0]));
    }

    #[test]
    fn marks_can_be_determined_from_the_layout() {
        let document = long_document();
        let layout = render::document_layout(&document, true);
        for marks in 0..=3 {
            let caching = PromptCaching { marks, ..options().caching };
            let content = PromptContent::from_document(&document, caching).unwrap();
            let (mut bytes, mut sent) = (0, Vec::new());
            for block in &content.prefix {
                let PromptPart::Text(text) = &block.holds else { continue };
                bytes += text.len();
                if block.is_breakpoint {
                    sent.push(bytes);
                }
            }
            let (cuts, end) = PrefixCuts::of_layout(&layout);
            let mut known: Vec<usize> = cuts.best_marks(end, marks, 0).iter().map(|end| end.bytes).collect();
            known.sort_unstable();
            assert_eq!((known.len(), known), (usize::from(marks), sent));
        }
    }

    #[test]
    fn the_pieces_of_a_layout_are_the_text() {
        let mut document = long_document();
        let layout = render::document_layout(&document, false);
        let (text, taken) = render::take_markdown(&mut document);
        assert_eq!((layout.bytes(), layout.tokens()), (text.len() as u64, 1_000));
        assert!(taken == layout);
        let text = text.text();
        let (mut rest, lines) = (&*text, text.lines().collect::<Vec<_>>());
        for (piece, first) in layout.pieces.iter().zip(layout.first_lines()) {
            let (own, behind) = rest.split_at(usize::try_from(piece.bytes).unwrap());
            assert_eq!(piece.hash, ContentHash::digest(own.as_bytes()));
            let heading = lines[usize::try_from(first).unwrap() - 1];
            let is_heading = match &piece.subject {
                PieceSubject::File { path, .. } => heading == format!("### {path}"),
                PieceSubject::Section(name) if name == OVERVIEW => heading == "- Project: x",
                PieceSubject::Section(name) => heading.to_lowercase().contains(&name.to_lowercase()),
            };
            assert!(is_heading, "{:?}: {heading}", piece.subject);
            rest = behind;
        }
        assert_eq!((rest, layout.prefix + 1, layout.stable), ("", layout.pieces.len(), Some(20)));
    }

    fn content() -> PromptContent {
        PromptContent { prefix: Vec::new(), suffix: "hello".to_owned() }
    }

    #[test]
    fn anthropic_gets_each_option_in_its_own_field() {
        let expected = json!({
            "model": "m",
            "max_tokens": 9,
            "system": "Be brief.",
            "temperature": 0.5,
            "top_p": 0.25,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
        });
        assert_eq!(anthropic(&content(), &options()), expected);
    }

    #[test]
    fn openai_gets_each_option_in_its_own_field() {
        let expected = json!({
            "model": "m",
            "max_completion_tokens": 9,
            "temperature": 0.5,
            "top_p": 0.25,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "hello"}]},
            ],
        });
        assert_eq!(openai(&content(), &options(), "k"), expected);
    }

    #[test]
    fn a_model_of_openai_gets_the_key_of_its_cached_prefix() {
        let own = BodyOptions { model: "o3".to_owned(), ..options() };
        assert_eq!(openai(&content(), &own, "k")["prompt_cache_key"], "k");
        assert!(openai(&content(), &options(), "k").get("prompt_cache_key").is_none());
    }

    #[test]
    fn gemini_gets_each_option_in_its_own_field() {
        let expected: Value = json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
            "generationConfig": {"maxOutputTokens": 9, "temperature": 0.5, "topP": 0.25},
        });
        assert_eq!(gemini(&content(), &options()), expected);
    }
}
