//! What a scanner took out of a text, met where it stood: between the nodes of the tree that is left.

use std::ops::Range;

use super::comments::documentation;
use super::heads::signature_line;
use super::reduced::SynthesizedItem;
use super::reduced::SynthesizedSymbol;
use super::source::SourceText;
use super::walk::NamedScope;
use super::walk::OutlineWalk;
use crate::model::Symbol;
use crate::model::SymbolKind;

/// How far a visit has come through what was taken out.
pub(super) struct ElisionCursor {
    /// The number of the next comment.
    next_comment: usize,
    /// The number of the next thing that the scanner supplies.
    next_synthesized: usize,
    /// The line on which the last code before it ends; 0 where none is.
    pub(super) last_code_line: u32,
}

impl ElisionCursor {
    /// Returns the place at an offset of the original.
    pub(super) fn new(source: &SourceText<'_>, at: usize) -> Self {
        let mut place = Self { next_comment: 0, next_synthesized: 0, last_code_line: 0 };
        place.skip_to(source, at);
        place
    }

    /// Goes on behind some code that ends at `end`, with all that was taken out within it.
    pub(super) fn advance_past(&mut self, source: &SourceText<'_>, end: usize) {
        self.skip_to(source, end);
        self.last_code_line = source.line(end.saturating_sub(1));
    }

    fn skip_to(&mut self, source: &SourceText<'_>, to: usize) {
        let Some(reduced) = source.preprocessed() else { return };
        self.next_comment =
            self.next_comment.max(reduced.elided_comments.partition_point(|comment| comment.start < to));
        self.next_synthesized =
            self.next_synthesized.max(reduced.synthesized.partition_point(|one| one.range().start < to));
    }
}

impl<'t> OutlineWalk<'t> {
    /// Meets what was taken out up to `until`, in the order of the text.
    pub(super) fn visit_elided_until(&mut self, place: &mut ElisionCursor, until: usize) {
        let Some(reduced) = self.source.preprocessed() else { return };
        loop {
            let comment =
                reduced.elided_comments.get(place.next_comment).filter(|comment| comment.start < until);
            let supplied =
                reduced.synthesized.get(place.next_synthesized).filter(|one| one.range().start < until);
            match (comment, supplied) {
                (Some(comment), next) if next.is_none_or(|next| comment.start < next.range().start) => {
                    place.next_comment += 1;
                    self.record_comment(comment.clone(), place.last_code_line);
                }
                (_, Some(supplied)) => self.add_synthesized(supplied, place),
                (_, None) => return,
            }
        }
    }

    fn add_synthesized(&mut self, supplied: &'t SynthesizedItem, place: &mut ElisionCursor) {
        place.next_synthesized += 1;
        let range = supplied.range();
        let is_condition = matches!(supplied, SynthesizedItem::Ignored(_))
            && self.source.text(range.clone()).starts_with('#');
        let draws_in = is_condition || matches!(supplied, SynthesizedItem::Import(..));
        self.detach_distant_comments(draws_in, range.start);
        match supplied {
            SynthesizedItem::Symbol(symbol) => self.add_synthesized_symbol(symbol, place),
            SynthesizedItem::Import(_, name) => {
                self.add_import(self.source.text(name.clone()).trim_matches('"'))
            }
            SynthesizedItem::MacroValue(_) | SynthesizedItem::Ignored(_) => {}
        }
        if let Some(cut) = self.compiled.language.cut_synthesized {
            cut(self, supplied);
        }
        self.clear_comments();
        place.advance_past(self.source, range.end);
    }

    /// Adds a symbol that the scanner has read, with those that it has read within it.
    fn add_synthesized_symbol(&mut self, read: &SynthesizedSymbol, place: &mut ElisionCursor) {
        let (name, scope) = (read.name.clone(), &read.scope);
        let separator = self.compiled.language.separator;
        let full = if scope.is_empty() { name.clone() } else { format!("{scope}{separator}{name}") };
        let mut symbol = Symbol {
            kind: read.kind,
            // Macros know no scopes.
            qualified_name: if read.kind == SymbolKind::Macro { full.clone() } else { self.qualified(&full) },
            span: self.source.span(read.range.clone()),
            signature: elided_signature(self.source, read.signature.clone()),
            doc: self.preceding_doc(),
            name,
            recovered: false,
            children: Vec::new(),
        };
        if read.kind.is_type() || read.kind.is_namespace() {
            place.last_code_line = self.source.line(read.signature.end.saturating_sub(1));
            let scope = NamedScope { name: full, kind: read.kind };
            symbol.children = self.collect_symbols(scope, |walk| walk.visit_elided(place, read.range.end));
        }
        self.add_symbol(symbol);
    }
}

/// Returns a head that no node stands for, as a signature.
pub(super) fn elided_signature(source: &SourceText<'_>, range: Range<usize>) -> String {
    signature_line(source, None, range).trim_end_matches([';', ' ']).to_owned()
}

/// Returns what the comments say that were taken out directly above `start`.
pub(super) fn elided_doc_above(source: &SourceText<'_>, start: usize) -> Option<String> {
    let mut line = source.line(start);
    let mut run: Option<Range<usize>> = None;
    for comment in source.elided_comments_in(&(0..start)).iter().rev() {
        let span = source.span(comment.clone());
        let is_alone = source.line_prefix(comment.start).trim().is_empty();
        if span.end_line + 1 < line || !is_alone {
            break;
        }
        line = span.start_line;
        run = Some(comment.start..run.map_or(comment.end, |run| run.end));
    }
    documentation(source.text(run?))
}
