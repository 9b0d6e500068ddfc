//! What a scanner took out of a text, met where it stood: between the nodes of the tree that is left.

use std::ops::Range;

use super::comments::documentation;
use super::heads::head;
use super::reduced::ReadSymbol;
use super::reduced::Supplied;
use super::source::Source;
use super::walk::Scope;
use super::walk::Walk;
use crate::model::Symbol;
use crate::model::SymbolKind;

/// How far a visit has come through what was taken out.
pub(super) struct Place {
    /// The number of the next comment.
    comment: usize,
    /// The number of the next thing that the scanner supplies.
    supplied: usize,
    /// The line on which the last code before it ends; 0 where none is.
    pub(super) last_line: u32,
}

impl Place {
    /// Returns the place at an offset of the original.
    pub(super) fn new(source: &Source<'_>, at: usize) -> Self {
        let mut place = Self { comment: 0, supplied: 0, last_line: 0 };
        place.skip(source, at);
        place
    }

    /// Goes on behind some code that ends at `end`, with all that was taken out within it.
    pub(super) fn pass(&mut self, source: &Source<'_>, end: usize) {
        self.skip(source, end);
        self.last_line = source.line(end.saturating_sub(1));
    }

    fn skip(&mut self, source: &Source<'_>, to: usize) {
        let Some(reduced) = source.reduced() else { return };
        self.comment = self.comment.max(reduced.comments.partition_point(|comment| comment.start < to));
        self.supplied = self.supplied.max(reduced.supplied.partition_point(|one| one.range().start < to));
    }
}

impl<'t> Walk<'t> {
    /// Meets what was taken out up to `until`, in the order of the text.
    pub(super) fn meet_taken(&mut self, place: &mut Place, until: usize) {
        let Some(reduced) = self.source.reduced() else { return };
        loop {
            let comment = reduced.comments.get(place.comment).filter(|comment| comment.start < until);
            let supplied = reduced.supplied.get(place.supplied).filter(|one| one.range().start < until);
            match (comment, supplied) {
                (Some(comment), next) if next.is_none_or(|next| comment.start < next.range().start) => {
                    place.comment += 1;
                    self.meet_comment(comment.clone(), place.last_line);
                }
                (_, Some(supplied)) => self.meet_supplied(supplied, place),
                (_, None) => return,
            }
        }
    }

    fn meet_supplied(&mut self, supplied: &'t Supplied, place: &mut Place) {
        place.supplied += 1;
        let range = supplied.range();
        let is_condition =
            matches!(supplied, Supplied::Nothing(_)) && self.source.text(range.clone()).starts_with('#');
        let draws_in = is_condition || matches!(supplied, Supplied::Import(..));
        self.leave_comments_unless_above(draws_in, range.start);
        match supplied {
            Supplied::Symbol(symbol) => self.add_read(symbol, place),
            Supplied::Import(_, name) => self.import(self.source.text(name.clone()).trim_matches('"')),
            Supplied::MacroValue(_) | Supplied::Nothing(_) => {}
        }
        if let Some(cut) = self.compiled.language.cut_supplied {
            cut(self, supplied);
        }
        self.forget_comments();
        place.pass(self.source, range.end);
    }

    /// Adds a symbol that the scanner has read, with those that it has read within it.
    fn add_read(&mut self, read: &ReadSymbol, place: &mut Place) {
        let (name, scope) = (read.name.clone(), &read.scope);
        let separator = self.compiled.language.separator;
        let full = if scope.is_empty() { name.clone() } else { format!("{scope}{separator}{name}") };
        let mut symbol = Symbol {
            kind: read.kind,
            // Macros know no scopes.
            qualified_name: if read.kind == SymbolKind::Macro { full.clone() } else { self.qualified(&full) },
            span: self.source.span(read.range.clone()),
            signature: signature(self.source, read.head.clone()),
            doc: self.doc_above(),
            name,
            recovered: false,
            children: Vec::new(),
        };
        if read.kind.is_type() || read.kind.is_namespace() {
            place.last_line = self.source.line(read.head.end.saturating_sub(1));
            let scope = Scope { name: full, kind: read.kind };
            symbol.children = self.collect(scope, |walk| walk.enter_taken(place, read.range.end));
        }
        self.add(symbol);
    }
}

/// Returns a head that no node stands for, as a signature.
pub(super) fn signature(source: &Source<'_>, range: Range<usize>) -> String {
    head(source, None, range).trim_end_matches([';', ' ']).to_owned()
}

/// Returns what the comments say that were taken out directly above `start`.
pub(super) fn documentation_above(source: &Source<'_>, start: usize) -> Option<String> {
    let mut line = source.line(start);
    let mut run: Option<Range<usize>> = None;
    for comment in source.comments_within(&(0..start)).iter().rev() {
        let span = source.span(comment.clone());
        let is_alone = source.before_on_line(comment.start).trim().is_empty();
        if span.end_line + 1 < line || !is_alone {
            break;
        }
        line = span.start_line;
        run = Some(comment.start..run.map_or(comment.end, |run| run.end));
    }
    documentation(source.text(run?))
}
