//! The masked view: definitions verbatim, signatures, and nothing else.
//!
//! A definition is the verbatim text of its lines, so that an agent can search for it. A symbol inside a definition
//! that is shown by its signature, or hidden, is cut out and replaced by a note. A container that the mask does not
//! name is only mentioned in a comment above its members.

use std::collections::HashSet;
use std::ops::Range;

use super::heads::symbol_head;
use super::hidden::{HiddenLines, hide_symbols, hides_symbols, only_hides};
use super::masks::{SymbolsByName, nearest_keys};
use super::page::{BlockLayout, SourcePage};
use super::regions::{SymbolModes, SymbolRegion, is_head, nest_symbols};
use super::repeated::{distinct_heads, remove_parameters};
use crate::model::{MaskMode, Outline, Symbol, SymbolKind};

/// Put before a symbol that began on the same line as the head of its container.
const INDENT_STEP: &str = "    ";

/// The maximum number of missing names for which the nearest existing ones are suggested.
const MAX_SUGGESTED: usize = 10;

/// The result of applying a mask to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskedView {
    /// The visible text; empty if the mask shows nothing.
    pub body: String,
    /// The names of the mask that match no symbol, each with the nearest existing names.
    pub missing: Vec<(String, Vec<String>)>,
}

/// Returns what `mask` shows of a text: the definition or signature of each symbol that it names, in the order of the
/// text. Other symbols are only visible inside a definition that is shown. A mask that only hides shows the whole text
/// without the hidden symbols.
pub fn render_masked(
    text: &str,
    outline: &Outline,
    mask: &[(String, MaskMode)],
    language: &str,
) -> MaskedView {
    let symbols = SymbolsByName::new(outline);
    let gone = mask.iter().filter(|(key, _)| symbols.has_none(key));
    // Finding the nearest names is expensive, and nobody reads them for hundreds of keys.
    let near =
        |at: usize, key: &str| if at < MAX_SUGGESTED { nearest_keys(outline, key) } else { Vec::new() };
    let mut missing: Vec<(String, Vec<String>)> =
        gone.enumerate().map(|(at, (key, _))| (key.clone(), near(at, key))).collect();
    if hides_symbols(mask) {
        let hidden = hidden_names(outline, mask);
        for (_, near) in &mut missing {
            near.retain(|key| !names_hidden(key, &hidden));
        }
    }
    if only_hides(mask) {
        let body = hide_symbols(text, outline, mask, language, HiddenLines::Removed);
        return MaskedView { body, missing };
    }
    let body = render_modes(text, outline, &SymbolModes::from_mask(outline, mask), language);
    MaskedView { body, missing }
}

/// Returns the qualified names of the symbols that a mask hides, including nested ones.
pub(super) fn hidden_names<'o>(outline: &'o Outline, mask: &[(String, MaskMode)]) -> HashSet<&'o str> {
    let (mut names, symbols) = (HashSet::new(), SymbolsByName::new(outline));
    for (key, _) in mask.iter().filter(|(_, mode)| *mode == MaskMode::Hide) {
        let mut stack = symbols.select(key);
        while let Some(symbol) = stack.pop() {
            names.insert(symbol.qualified_name.as_str());
            stack.extend(&symbol.children);
        }
    }
    names
}

/// Returns whether a suggested key, perhaps with parameters or a number, names a hidden symbol.
pub(super) fn names_hidden(key: &str, hidden: &HashSet<&str>) -> bool {
    hidden.contains(key) || key.match_indices(['(', '#']).any(|(at, _)| hidden.contains(&key[..at]))
}

/// Returns the signatures of all symbols and of their members, one per line where possible.
pub fn render_signatures(text: &str, outline: &Outline, language: &str) -> String {
    render_modes(text, outline, &SymbolModes::uniform(outline, MaskMode::Signature, usize::MAX), language)
}

/// Returns the definitions of all symbols: the text without imports, and without code and comments that belong to no
/// symbol.
pub fn render_definitions(text: &str, outline: &Outline, language: &str) -> String {
    render_modes(text, outline, &SymbolModes::uniform(outline, MaskMode::Definition, 0), language)
}

fn render_modes(text: &str, outline: &Outline, modes: &SymbolModes, language: &str) -> String {
    let page = SourcePage::new(text, language);
    let around = EnclosingContext { owner: None, line: usize::MAX, indent: String::new() };
    let mut regions = nest_symbols(outline, text, modes);
    remove_parameters(&mut regions, text);
    let mut body = page.join_pieces(&page.render_regions(&regions, &around));
    if !body.is_empty() {
        body.push_str(page.line_end);
    }
    body
}

/// The text of an entry, without its last line break.
struct MaskedPiece {
    text: String,
    /// Whether it is a single line, and may follow another directly.
    is_line: bool,
    /// Whether it is an enumeration constant.
    is_constant: bool,
    has_owner_comment: bool,
}

/// The context of the pieces being rendered.
struct EnclosingContext<'o> {
    /// The container that they belong to, if its head is not shown.
    owner: Option<&'o Symbol>,
    /// Where the line of the visible head begins.
    line: usize,
    indent: String,
}

/// A part of a definition that is not shown verbatim.
pub(in crate::aggregate) struct DefinitionCut {
    pub(in crate::aggregate) range: Range<usize>,
    /// What replaces it; `None` if it is hidden.
    pub(super) replacement: Option<String>,
}

impl SourcePage<'_> {
    /// Returns the text of entries whose surroundings are not shown, or show only a head.
    fn render_regions(
        &self,
        entries: &[SymbolRegion<'_>],
        around: &EnclosingContext<'_>,
    ) -> Vec<MaskedPiece> {
        let mut pieces = Vec::new();
        let mut is_owner_named = around.owner.is_none();
        // An entry that is indented deeper than its siblings is inside a block without a symbol, such as an `if`.
        let indents = entries.iter().map(|entry| self.indent_within(entry.span.start, around));
        let least = indents.min_by_key(String::len).unwrap_or_default();
        for entry in entries {
            let indent = self.indent_within(entry.span.start, around);
            let text = if entry.has_mode(Some(MaskMode::Definition)) {
                let block = self.block_around(entry, &indent, &least);
                block.unwrap_or_default() + &self.render_definition(entry, &indent)
            } else if entry.has_head() {
                // Indented code would seem to belong to the line above it. Where indentation has no meaning, the
                // members of a type keep theirs.
                let is_aligned = self.style.layout == BlockLayout::Indented || entry.inside.is_empty();
                self.render_signature(entry, if is_aligned { least.clone() } else { indent.clone() })
            } else {
                let within = self.render_regions(&entry.inside, &context_within(entry, around));
                // The pieces after them belong to this owner again, and a comment has to say so.
                is_owner_named = around.owner.is_none() || (is_owner_named && within.is_empty());
                pieces.extend(within);
                continue;
            };
            let (is_line, is_led) = (!text.contains('\n'), !is_owner_named);
            let place = around.owner.filter(|_| is_led).map(|owner| self.owner_comment(owner, &indent));
            let is_constant = entry.symbols.iter().all(|(symbol, _)| symbol.kind == SymbolKind::EnumMember);
            if !is_constant && self.style.type_end.is_empty() {
                end_constants(&mut pieces);
            }
            pieces.push(MaskedPiece {
                text: place.unwrap_or_default() + &text,
                is_line,
                is_constant,
                has_owner_comment: is_led,
            });
            is_owner_named = true;
        }
        pieces
    }

    /// Joins pieces, with a blank line between any two unless both are single lines.
    fn join_pieces(&self, pieces: &[MaskedPiece]) -> String {
        let mut text = String::new();
        let mut is_after_line = true;
        for piece in pieces {
            if !text.is_empty() {
                text.push_str(self.line_end);
                let is_next = is_after_line && piece.is_line && !piece.has_owner_comment;
                text.push_str(if is_next { "" } else { self.line_end });
            }
            text.push_str(&piece.text);
            is_after_line = piece.is_line;
        }
        text
    }

    fn render_definition(&self, entry: &SymbolRegion<'_>, indent: &str) -> String {
        let mut range = self.extended_span(&entry.span);
        if entry.symbols.iter().any(|(symbol, _)| self.has_doc_above(symbol)) {
            range.start = self.with_comment_above(range.start);
        }
        let text = self.text_with_cuts(&range, &entry.inside);
        let text = text.trim_end();
        if range.start == self.line_start(range.start) { text.to_owned() } else { format!("{indent}{text}") }
    }

    /// Returns the signatures of an entry's symbols, with the visible members inside the braces of the first that has
    /// any.
    fn render_signature(&self, entry: &SymbolRegion<'_>, indent: String) -> String {
        let wanted = entry.symbols.iter().filter(|(_, mode)| is_head(*mode));
        let symbols: Vec<&Symbol> = wanted.map(|(symbol, _)| *symbol).collect();
        let holder = symbols.iter().position(|symbol| has_members(symbol)).unwrap_or(0);
        // Nested namespaces that begin on one line count as one.
        let is_namespace = symbols.get(holder).is_some_and(|symbol| symbol.kind.is_namespace());
        let line = if is_namespace { usize::MAX } else { self.line_start(entry.span.start) };
        let around = EnclosingContext { owner: None, line, indent };
        let inside = self.join_pieces(&self.render_regions(&entry.inside, &around));
        let text = &self.text[entry.span.clone()];
        let heads = distinct_heads(&symbols, holder).into_iter().map(|(at, symbol)| {
            let inside = if at == holder { inside.as_str() } else { "" };
            let head = symbol_head(self, symbol, text, &around.indent, inside);
            let is_summary = entry.symbols.contains(&(symbol, Some(MaskMode::Summary)));
            if is_summary { self.doc_comment(symbol, &around.indent) + &head } else { head }
        });
        heads.collect::<Vec<_>>().join(self.line_end)
    }

    /// Returns the first paragraph of a symbol's documentation as comments above its head; empty if it has none.
    fn doc_comment(&self, symbol: &Symbol, indent: &str) -> String {
        let doc = symbol.doc.as_deref().unwrap_or_default().trim();
        let lines = doc.lines().map(str::trim).take_while(|line| !line.is_empty());
        let comments = lines.map(|line| self.style.comment(line, true)).filter(|comment| !comment.is_empty());
        comments.flat_map(|comment| [indent.to_owned(), comment, self.line_end.to_owned()]).collect()
    }

    /// Returns the comment that names the container of the piece below it.
    fn owner_comment(&self, owner: &Symbol, indent: &str) -> String {
        let comment = self.style.comment(&format!("in {}", owner.qualified_name), true);
        if comment.is_empty() { comment } else { format!("{indent}{comment}{}", self.line_end) }
    }

    /// Returns the comment above a definition inside an `if` or another block that is not shown: its indentation would
    /// suggest that it belongs to what is shown above it.
    fn block_around(&self, entry: &SymbolRegion<'_>, indent: &str, least: &str) -> Option<String> {
        let is_deeper = self.style.layout == BlockLayout::Indented && least.len() < indent.len();
        let head = is_deeper.then(|| self.block_head(entry.span.start, indent.len()))?;
        Some(format!("{indent}# in a block: {}{}", head.unwrap_or("…"), self.line_end))
    }

    /// Returns whether comments above a symbol document it. Python's docstrings are inside the definitions.
    fn has_doc_above(&self, symbol: &Symbol) -> bool {
        let is_within = self.style.layout == BlockLayout::Indented && symbol.kind != SymbolKind::Constant;
        symbol.doc.is_some() && !is_within
    }

    /// Returns the indentation at `at`: that of its line, or one step more than a head on the same line.
    fn indent_within(&self, at: usize, around: &EnclosingContext<'_>) -> String {
        if self.line_start(at) == around.line {
            return format!("{}{INDENT_STEP}", around.indent);
        }
        self.indent(at).to_owned()
    }

    /// Returns the text of `range`, with the entries that are shown differently replaced.
    fn text_with_cuts(&self, range: &Range<usize>, entries: &[SymbolRegion<'_>]) -> String {
        let mut cuts = Vec::new();
        self.collect_cuts(entries, &mut cuts);
        let (mut out, mut at) = (String::new(), range.start);
        for cut in &cuts {
            // A cut inside the previous one was replaced together with it.
            let Some(kept) = self.text.get(at..cut.range.start) else { continue };
            out.push_str(kept);
            match &cut.replacement {
                Some(text) => out.push_str(text),
                None => out.push_str(&self.hidden_marker(&cut.range)),
            }
            at = cut.range.end;
        }
        out.push_str(self.text.get(at..range.end).unwrap_or_default());
        out
    }

    fn collect_cuts(&self, entries: &[SymbolRegion<'_>], cuts: &mut Vec<DefinitionCut>) {
        for entry in entries {
            if entry.has_mode(Some(MaskMode::Definition)) || entry.has_mode(None) {
                self.collect_cuts(&entry.inside, cuts);
                continue;
            }
            let range = self.extended_span(&entry.span);
            let instead = if entry.has_head() {
                self.render_signature(entry, self.indent(entry.span.start).to_owned())
            } else {
                let around = EnclosingContext { owner: None, line: usize::MAX, indent: String::new() };
                self.join_pieces(&self.render_regions(&entry.inside, &context_within(entry, &around)))
            };
            if instead.is_empty() {
                // Its comments are hidden with it.
                self.hide_range(self.commented_span(&entry.span), cuts);
            } else {
                let is_first = range.start == self.line_start(range.start);
                let instead = if is_first { instead } else { instead.trim_start().to_owned() };
                cuts.push(DefinitionCut { range, replacement: Some(instead) });
            }
        }
    }

    /// Hides a part. Adjacent hidden parts are merged; what an earlier cut covers is left to that.
    pub(super) fn hide_range(&self, range: Range<usize>, cuts: &mut Vec<DefinitionCut>) {
        let before = cuts.last().map_or(0, |last| last.range.end);
        let range = range.start.max(before)..range.end.max(before);
        let is_next = |last: &&mut DefinitionCut| {
            last.replacement.is_none() && self.text[last.range.end..range.start].trim().is_empty()
        };
        match cuts.last_mut().filter(is_next) {
            Some(last) => last.range.end = range.end,
            None if range.is_empty() => {}
            None => cuts.push(DefinitionCut { range, replacement: None }),
        }
    }

    /// Returns the replacement of hidden text; in Python a statement, because a class body needs at least one.
    pub(super) fn hidden_marker(&self, range: &Range<usize>) -> String {
        let lines = self.text[range.clone()].trim().lines().count();
        let size = if lines == 1 { "1 line hidden".to_owned() } else { format!("{lines} lines hidden") };
        let is_first = range.start == self.line_start(range.start);
        let text = &self.text[range.clone()];
        let blank = text.len() - text.trim_start().len();
        let indent = if is_first { self.indent(range.start + blank) } else { "" };
        let is_last = self.rest_of_line(range.end).trim().is_empty();
        match (self.style.layout, is_last) {
            (BlockLayout::Indented, true) => format!("{indent}...  # {size}"),
            // Code follows on the same line, and would become part of a comment.
            (BlockLayout::Indented, false) => format!("{indent}...;"),
            (BlockLayout::Braced | BlockLayout::Worded(_) | BlockLayout::Listed, _) => {
                format!("{indent}{}", self.style.comment(&size, is_last))
            }
        }
    }
}

/// Terminates the enumeration constants if other members follow, as Java and Kotlin require.
fn end_constants(pieces: &mut [MaskedPiece]) {
    let last = pieces.last_mut().filter(|piece| piece.is_constant && piece.text.ends_with(','));
    if let Some(last) = last {
        last.text.pop();
        last.text.push(';');
    }
}

/// Returns the context for the members of an entry that is not shown itself.
fn context_within<'o>(entry: &SymbolRegion<'o>, around: &EnclosingContext<'o>) -> EnclosingContext<'o> {
    let own = entry.symbols.iter().map(|(symbol, _)| *symbol).find(|symbol| has_members(symbol));
    // The comment above the members must not name what is hidden.
    let own = own.filter(|_| !entry.is_hidden());
    EnclosingContext { owner: own.or(around.owner), line: around.line, indent: around.indent.clone() }
}

fn has_members(symbol: &Symbol) -> bool {
    symbol.kind.is_namespace() || !symbol.children.is_empty()
}
