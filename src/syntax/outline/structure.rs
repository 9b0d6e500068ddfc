//! Derives the outline and the skeleton of a text in one pass.

use std::cmp::Reverse;

use super::docs::{SourceDoc, comment_docs, skeleton_text};
use super::elided::{lost_symbols, recover_lost_symbols, remove_defined_prototypes};
use super::language::CompiledLanguage;
use super::parse::{error_count, parse, parse_health};
use super::skeleton::{CutMode, CutText, SkeletonCut, apply_cuts, apply_cuts_around, sort_cuts};
use super::walk::OutlineWalk;
use crate::model::{DocsDetail, Outline, ParseFallback, ParseHealth, Skeleton, Symbol};
use crate::syntax::text::SourceText;

/// Where the cuts of a skeleton cannot all be made, they are tried in this many groups.
const CUT_GROUPS: usize = 8;
/// They are tried in texts up to this size, for each try is a parse.
const MAX_TRIED_BYTES: usize = 256 << 10;

/// The outline and the skeleton of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStructure {
    /// The symbols.
    pub outline: Outline,
    /// The text with the bodies cut.
    pub skeleton: Skeleton,
}

/// When a skeleton is compared with its source, where the grammar may have guessed: that costs more than everything
/// else, and matters only to those who see the skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax) enum SkeletonCheck {
    /// Before it is shown, by `syntax::checked_skeleton`.
    Deferred,
    Immediate,
}

/// Returns the structure of `text`, preprocessed where its language has a scanner that supports it.
pub(in crate::syntax) fn derive_text(
    compiled: &CompiledLanguage,
    text: &str,
    check: SkeletonCheck,
    give_up: &mut dyn FnMut() -> bool,
) -> FileStructure {
    let mut source = SourceText::new(text);
    // A scanner may give up on any text, which is then parsed as it is: slower, but never wrong for that
    // reason.
    if let Some(preprocessed) = compiled.language.preprocess.and_then(|preprocess| preprocess(text)) {
        source = source.with_preprocessed(preprocessed);
    }
    let structure = derive_from(compiled, &source, check, give_up);
    let is_broken = !structure.outline.health.is_perfect();
    let again = compiled.language.preprocess_broken.filter(|_| is_broken);
    let Some(preprocessed) = again.and_then(|preprocess| preprocess(text)) else { return structure };
    let source = SourceText::new(text).with_preprocessed(preprocessed);
    let mut other = derive_from(compiled, &source, check, give_up);
    // An error of a few bytes may lose all functions after it, and one around a whole text none.
    let rank = |structure: &FileStructure| {
        let Outline { symbols, health, .. } = &structure.outline;
        let lost = lost_symbols(&source, compiled.language.separator, symbols).len();
        (lost, health.broken_bytes, Reverse(symbols.len()))
    };
    if rank(&structure) <= rank(&other) {
        return structure;
    }
    // The documentation of the whole file is before anything that a grammar may fail at.
    other.outline.doc = other.outline.doc.or(structure.outline.doc);
    other
}

/// Returns the structure of a text, of which all or a preprocessed copy is parsed.
pub(in crate::syntax) fn derive_from(
    compiled: &CompiledLanguage,
    source: &SourceText<'_>,
    check: SkeletonCheck,
    give_up: &mut dyn FnMut() -> bool,
) -> FileStructure {
    match parse(compiled, source.parsed_text(), give_up) {
        Ok(tree) => structure_from_tree(compiled, source, tree, check, give_up),
        Err(fallback) => fall_back(source.original_text().len(), fallback),
    }
}

fn structure_from_tree(
    compiled: &CompiledLanguage,
    source: &SourceText<'_>,
    tree: tree_sitter::Tree,
    check: SkeletonCheck,
    give_up: &mut dyn FnMut() -> bool,
) -> FileStructure {
    let root = tree.root_node();
    let mut walk = OutlineWalk::new(source, compiled);
    if let Some(read) = compiled.language.read_root {
        read(&mut walk, root);
    }
    walk.visit_children(root);
    let OutlineWalk { mut symbols, imports, doc, mut cuts, mut docs, comments, .. } = walk;
    let recovered = recover_lost_symbols(source, compiled.language.separator, &mut symbols);
    let health = parse_health(root, source, recovered);
    // After the recovery, because the function that a prototype announces may be one of those that the grammar lost.
    remove_defined_prototypes(&mut symbols, compiled.language.has_overloads);
    sort_cuts(&mut cuts);
    docs.extend(comment_docs(source, comments));
    docs.sort_by_key(|doc| doc.range.start);
    // A text that was understood in full is cut where the grammar reports bodies; only where it guessed can a cut
    // mislead it.
    let is_guess = root.has_error()
        || 0 < recovered
        || source.preprocessed().is_some_and(|preprocessed| 0 < preprocessed.repairs);
    let is_doubtful = compiled.language.checks_skeleton && is_guess;
    let is_checked = !is_doubtful || check == SkeletonCheck::Immediate;
    // The errors of a preprocessed copy are not those of the source, of which parts were elided or repaired.
    let errors = (is_doubtful && is_checked && source.preprocessed().is_none()).then(|| error_count(root));
    // The skeleton is parsed next: two trees of a hostile text take twice the memory.
    drop(tree);
    let skeleton = if is_doubtful && is_checked {
        let mut check = SkeletonChecker { compiled, text: source.original_text(), errors, give_up };
        let cut = check.cut_text(&cuts, &docs);
        let skeleton = Skeleton { health, text: cut.text, docs: cut.docs, is_checked };
        check.keep_harmless_docs(skeleton)
    } else {
        let cut = apply_cuts_around(source.original_text(), &cuts, &docs, CutMode::Plain);
        Skeleton { health, text: cut.text, docs: cut.docs, is_checked }
    };
    FileStructure { outline: Outline { health, doc, imports, symbols }, skeleton }
}

/// Returns the symbols of a text of which all was parsed.
pub(in crate::syntax) fn outline_symbols(
    compiled: &'static CompiledLanguage,
    text: &str,
    root: tree_sitter::Node<'_>,
) -> Vec<Symbol> {
    let source = SourceText::new(text);
    let mut walk = OutlineWalk::new(&source, compiled);
    if let Some(read) = compiled.language.read_root {
        read(&mut walk, root);
    }
    walk.visit_children(root);
    walk.symbols
}

/// Makes skeletons that have no more errors than their source. Where the grammar guessed, cutting a body can make it
/// guess worse; then less is cut, and in the end nothing.
struct SkeletonChecker<'c> {
    compiled: &'c CompiledLanguage,
    text: &'c str,
    /// How many errors the source has, if that is known: a source whose preprocessed copy was parsed is parsed in full
    /// for that, but only where its skeleton has some, which is rare.
    errors: Option<usize>,
    give_up: &'c mut dyn FnMut() -> bool,
}

impl SkeletonChecker<'_> {
    fn cut_text(&mut self, cuts: &[SkeletonCut], docs: &[SourceDoc]) -> CutText {
        for mode in [CutMode::Plain, CutMode::Conservative] {
            let skeleton = apply_cuts_around(self.text, cuts, docs, mode);
            if self.is_as_sound(&skeleton.text) {
                return skeleton;
            }
        }
        let cuts = match self.errors {
            Some(errors) if self.text.len() <= MAX_TRIED_BYTES => self.cut_in_groups(cuts, errors),
            Some(_) | None => Vec::new(),
        };
        apply_cuts_around(self.text, &cuts, docs, CutMode::Conservative)
    }

    /// Returns whether a text has no more errors than the source. One that is not parsed in time is not proved to be
    /// harmless.
    fn is_as_sound(&mut self, skeleton: &str) -> bool {
        if skeleton == self.text {
            return true;
        }
        let Ok(tree) = parse(self.compiled, skeleton, self.give_up) else { return false };
        let now = error_count(tree.root_node());
        if now == 0 {
            return true;
        }
        if self.errors.is_none() {
            self.errors =
                parse(self.compiled, self.text, self.give_up).ok().map(|tree| error_count(tree.root_node()));
        }
        // A source that cannot be parsed in time cannot be compared with.
        self.errors.is_none_or(|errors| now <= errors)
    }

    /// Returns as many of the cuts as the grammar tolerates, tried in groups: one place where it guesses worse does not
    /// cost all others.
    fn cut_in_groups(&mut self, cuts: &[SkeletonCut], errors: usize) -> Vec<SkeletonCut> {
        let mut kept = Vec::new();
        // Groups and not single cuts, because each try is a parse of the whole text.
        for group in cuts.chunks(cuts.len().div_ceil(CUT_GROUPS).max(1)) {
            let before = kept.len();
            kept.extend_from_slice(group);
            let tried = apply_cuts(self.text, &kept, CutMode::Conservative);
            let now = parse(self.compiled, &tried, self.give_up).map(|tree| error_count(tree.root_node()));
            if !now.is_ok_and(|now| now <= errors) {
                kept.truncate(before);
            }
        }
        kept
    }

    /// Returns a skeleton whose docs can be left out: where the grammar guessed, a comment may be none.
    fn keep_harmless_docs(&mut self, skeleton: Skeleton) -> Skeleton {
        let less = [DocsDetail::Brief, DocsDetail::None];
        let is_harmless = less.into_iter().all(|detail| match skeleton_text(&skeleton, detail) {
            text if text.len() == skeleton.text.len() => true,
            text => self.is_as_sound(&text),
        });
        if is_harmless { skeleton } else { Skeleton { docs: Vec::new(), ..skeleton } }
    }
}

/// Returns what is known of a text that cannot be parsed.
pub(in crate::syntax) fn fall_back(bytes: usize, fallback: ParseFallback) -> FileStructure {
    let health = ParseHealth::fallen_back(bytes as u64, fallback);
    let outline = Outline { health, doc: None, imports: Vec::new(), symbols: Vec::new() };
    FileStructure {
        outline,
        skeleton: Skeleton { health, text: String::new(), docs: Vec::new(), is_checked: true },
    }
}
