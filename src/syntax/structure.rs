//! All that is derived from one text's structure, in one pass.
//!
//! The key of an outline and of a skeleton:
//!
//! | enters | why |
//! |---|---|
//! | SHA-256 of the file's bytes | what is derived from |
//! | id of the language | the same bytes read as C and as C++ differ |
//! | [`OUTLINE_VERSION`] / [`SKELETON_VERSION`] | raised whenever the code here would give other results |
//! | name and version of the grammar | another grammar gives another tree |
//!
//! | must not enter | why |
//! |---|---|
//! | path, time, size, budget | a renamed or touched file costs nothing |
//! | the limits of the parse | a fallback says itself that it is one |

use super::forward::remove_defined_prototypes;
use super::health::error_count;
use super::health::parse_health;
use super::language::CompiledLanguage;
use super::language::compiled_language;
use super::language::grammar_version;
use super::notebook;
use super::parse::parse;
use super::recover::recover_lost_symbols;
use super::skeleton::CutMode;
use super::skeleton::SkeletonCut;
use super::skeleton::apply_cuts;
use super::skeleton::sort_cuts;
use super::source::SourceText;
use super::walk::OutlineWalk;
use crate::model::ArtifactKind;
use crate::model::Outline;
use crate::model::ParseFallback;
use crate::model::ParseHealth;
use crate::model::Producer;
use crate::model::Skeleton;

/// Version of the code that makes outlines.
const OUTLINE_VERSION: u32 = 3;
/// Version of the code that makes skeletons.
const SKELETON_VERSION: u32 = 4;

/// Where the cuts of a skeleton cannot all be made, so many groups of them are tried one by one.
const CUT_GROUPS: usize = 8;
/// They are tried in texts up to this size, for each try is a parse.
const MAX_TRIED_BYTES: usize = 256 << 10;

/// What a text's structure gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStructure {
    /// The symbols.
    pub outline: Outline,
    /// The text with the bodies taken out.
    pub skeleton: Skeleton,
}

/// Returns the producer of outlines of that language, if it has structure.
pub fn outline_producer(language: &'static str) -> Option<Producer> {
    producer(ArtifactKind::Outline, OUTLINE_VERSION, language)
}

/// Returns the producer of skeletons of that language, if it has structure.
pub fn skeleton_producer(language: &'static str) -> Option<Producer> {
    producer(ArtifactKind::Skeleton, SKELETON_VERSION, language)
}

fn producer(artifact: ArtifactKind, version: u32, language: &'static str) -> Option<Producer> {
    let grammar = grammar_version(language)?;
    Some(Producer { artifact, language, version: format!("{}/{version} {grammar}", artifact.name()) })
}

/// When a skeleton is held against its source, where the grammar may have guessed: that costs more than all the rest, and
/// matters to those who see the skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkeletonCheck {
    /// Before it is shown, by [`checked_skeleton()`].
    Deferred,
    Immediate,
}

/// Returns the structure of `text`; `None` where the language has none. `give_up` is asked every now and then, and
/// once it says yes the text falls back to no symbols and an empty skeleton. The skeleton may have more errors than its
/// source where it is not said to be checked.
pub fn derive(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<FileStructure> {
    derive_with_check(language, text, SkeletonCheck::Deferred, give_up)
}

/// Returns the skeleton of `text` as it may be shown: with no more errors than its source, as far as both can be
/// parsed. `None` where the language has none.
pub fn checked_skeleton(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<Skeleton> {
    derive_with_check(language, text, SkeletonCheck::Immediate, give_up).map(|structure| structure.skeleton)
}

fn derive_with_check(
    language: &str,
    text: &str,
    check: SkeletonCheck,
    give_up: &mut dyn FnMut() -> bool,
) -> Option<FileStructure> {
    if language == notebook::ID {
        return Some(notebook::derive(text, give_up));
    }
    let compiled = compiled_language(language)?;
    let mut source = SourceText::new(text);
    if let Some(reduced) = compiled.language.preprocess.and_then(|reduce| reduce(text)) {
        source = source.with_preprocessed(reduced);
    }
    Some(derive_from(compiled, &source, check, give_up))
}

/// Returns the structure of `text` as [`derive()`] does, but by a parse of all of it: what the scanners are held
/// against.
pub fn derive_without_preprocessing(
    language: &str,
    text: &str,
    give_up: &mut dyn FnMut() -> bool,
) -> Option<FileStructure> {
    Some(derive_from(compiled_language(language)?, &SourceText::new(text), SkeletonCheck::Deferred, give_up))
}

/// Returns what the scanner of `language` leaves of `text` for the parser; `None` where it has none, or is not sure.
pub fn preprocessed_text(language: &str, text: &str) -> Option<String> {
    let reduce = compiled_language(language)?.language.preprocess?;
    Some(reduce(text)?.text)
}

/// Returns the structure of a text, whatever of it is parsed.
pub(super) fn derive_from(
    compiled: &CompiledLanguage,
    source: &SourceText<'_>,
    check: SkeletonCheck,
    give_up: &mut dyn FnMut() -> bool,
) -> FileStructure {
    match parse(compiled, source.parsed_text(), give_up) {
        Ok(tree) => structure_from_tree(compiled, source, &tree, check, give_up),
        Err(fallback) => fall_back(source.original_text().len(), fallback),
    }
}

/// Returns how many error nodes and missing tokens the grammar of `language` finds in `text`; `None` where there is
/// no such grammar, or it gave up.
pub fn count_errors(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<usize> {
    let tree = parse(compiled_language(language)?, text, give_up).ok()?;
    Some(error_count(tree.root_node()))
}

fn structure_from_tree(
    compiled: &CompiledLanguage,
    source: &SourceText<'_>,
    tree: &tree_sitter::Tree,
    check: SkeletonCheck,
    give_up: &mut dyn FnMut() -> bool,
) -> FileStructure {
    let root = tree.root_node();
    let mut walk = OutlineWalk::new(source, compiled);
    if let Some(read) = compiled.language.read_root {
        read(&mut walk, root);
    }
    walk.visit_children(root);
    let OutlineWalk { mut symbols, imports, doc, mut cuts, .. } = walk;
    let recovered = recover_lost_symbols(source, compiled.language.separator, &mut symbols);
    let health = parse_health(root, source, recovered);
    remove_defined_prototypes(&mut symbols, compiled.language.has_overloads);
    sort_cuts(&mut cuts);
    // A text that was understood in full is cut where the grammar says; only where it guessed can a cut mislead it.
    let is_guess =
        root.has_error() || 0 < recovered || source.preprocessed().is_some_and(|reduced| 0 < reduced.repairs);
    let is_doubtful = compiled.language.checks_skeleton && is_guess;
    let skeleton = if is_doubtful && check == SkeletonCheck::Immediate {
        let errors = source.preprocessed().is_none().then(|| error_count(root));
        checked_skeleton_text(compiled, source.original_text(), &cuts, errors, give_up)
    } else {
        apply_cuts(source.original_text(), &cuts, CutMode::Plain)
    };
    let skeleton =
        Skeleton { health, text: skeleton, is_checked: !is_doubtful || check == SkeletonCheck::Immediate };
    FileStructure { outline: Outline { health, doc, imports, symbols }, skeleton }
}

/// Returns a skeleton that has no more errors than its source. Where the grammar guessed, taking a body away can make
/// it guess worse; then less is taken away, and in the end nothing. `errors` is how many the source has, if that is known:
/// one whose reduced copy was parsed is parsed in full for that, but only where its skeleton has some, which few have.
fn checked_skeleton_text(
    compiled: &CompiledLanguage,
    text: &str,
    cuts: &[SkeletonCut],
    errors: Option<usize>,
    give_up: &mut dyn FnMut() -> bool,
) -> String {
    let mut errors = errors;
    for care in [CutMode::Plain, CutMode::Conservative] {
        let skeleton = apply_cuts(text, cuts, care);
        let Ok(tree) = parse(compiled, &skeleton, give_up) else { continue };
        let now = error_count(tree.root_node());
        if now == 0 {
            return skeleton;
        }
        if errors.is_none() {
            errors = parse(compiled, text, give_up).ok().map(|tree| error_count(tree.root_node()));
        }
        // A source that cannot be parsed in time is nothing to be held against.
        if errors.is_none_or(|errors| now <= errors) {
            return skeleton;
        }
    }
    match errors {
        Some(errors) if text.len() <= MAX_TRIED_BYTES => cut_in_groups(compiled, text, cuts, errors, give_up),
        Some(_) | None => text.to_owned(),
    }
}

/// Makes as many of the cuts as the grammar bears, tried in groups: one place where it guesses worse does not cost all
/// others.
fn cut_in_groups(
    compiled: &CompiledLanguage,
    text: &str,
    cuts: &[SkeletonCut],
    errors: usize,
    give_up: &mut dyn FnMut() -> bool,
) -> String {
    let (mut kept, mut best) = (Vec::new(), text.to_owned());
    for group in cuts.chunks(cuts.len().div_ceil(CUT_GROUPS).max(1)) {
        let before = kept.len();
        kept.extend_from_slice(group);
        let tried = apply_cuts(text, &kept, CutMode::Conservative);
        let now = parse(compiled, &tried, give_up).map(|tree| error_count(tree.root_node()));
        if now.is_ok_and(|now| now <= errors) {
            best = tried;
        } else {
            kept.truncate(before);
        }
    }
    best
}

fn fall_back(bytes: usize, fallback: ParseFallback) -> FileStructure {
    let health = ParseHealth::fallen_back(bytes as u64, fallback);
    let outline = Outline { health, doc: None, imports: Vec::new(), symbols: Vec::new() };
    FileStructure { outline, skeleton: Skeleton { health, text: String::new(), is_checked: true } }
}
