//! The entry points for other rooms: outlines, skeletons, and the versions that enter their keys.
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
//! | the limits of the parse | a fallback is marked as one |

use std::ops::RangeInclusive;

use crate::model::{ArtifactKind, Producer, Skeleton};
use crate::syntax::languages::compiled_language;
use crate::syntax::notebook;
use crate::syntax::outline::{
    ExcerptParts, ExcerptRequest, FileStructure, SkeletonCheck, derive_from, derive_text, error_count,
    excerpt_text, parse,
};
use crate::syntax::text::SourceText;

/// Version of the code that makes outlines.
const OUTLINE_VERSION: u32 = 21;
/// Version of the code that makes skeletons.
const SKELETON_VERSION: u32 = 21;

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

/// Returns the structure of `text`; `None` if the language has none. `give_up` is polled during the parse; once it
/// returns true, the result has no symbols and an empty skeleton. A skeleton that is not marked as checked may have
/// more errors than its source.
pub fn derive(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<FileStructure> {
    derive_with_check(language, text, SkeletonCheck::Deferred, give_up)
}

/// Returns the skeleton of `text` for display: it has no more errors than its source, as far as both can be parsed.
/// `None` if the language has none.
pub fn checked_skeleton(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<Skeleton> {
    derive_with_check(language, text, SkeletonCheck::Immediate, give_up).map(|structure| structure.skeleton)
}

/// Parses a text for all its excerpts. `None` if the language has no structure, for notebooks, whose skeleton is a
/// different text, and if the parse was abandoned.
pub fn excerpt_parts(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<ExcerptParts> {
    ExcerptParts::new(compiled_language(language)?, text, give_up)
}

/// Returns the text with some bodies in full and some signatures, with no more errors than the source. `parts` are
/// those of the text. `None` if the language has no structure.
pub fn excerpt(
    language: &str,
    text: &str,
    parts: &ExcerptParts,
    request: &ExcerptRequest<'_>,
    give_up: &mut dyn FnMut() -> bool,
) -> Option<String> {
    Some(excerpt_text(compiled_language(language)?, text, parts, request, give_up))
}

/// Returns the language of a notebook's kernel, in lower case; `python` if it is not declared, and `None` if the text
/// is not a notebook.
pub fn notebook_language(text: &str) -> Option<String> {
    notebook::language(text)
}

/// Returns the lines of cells that are on some lines of a notebook, as its skeleton shows them. `None` if the text is
/// not a notebook.
pub fn notebook_excerpt(text: &str, lines: &[RangeInclusive<u32>]) -> Option<String> {
    notebook::excerpt(text, lines)
}

fn derive_with_check(
    language: &str,
    text: &str,
    check: SkeletonCheck,
    give_up: &mut dyn FnMut() -> bool,
) -> Option<FileStructure> {
    // A notebook has no grammar of its own: it is JSON around cells in another language.
    if language == notebook::ID {
        return Some(notebook::derive(text, give_up));
    }
    Some(derive_text(compiled_language(language)?, text, check, give_up))
}

/// Returns the structure of `text` as [`derive()`] does, but from a full parse: the reference for tests of the
/// scanners.
pub fn derive_without_preprocessing(
    language: &str,
    text: &str,
    give_up: &mut dyn FnMut() -> bool,
) -> Option<FileStructure> {
    Some(derive_from(compiled_language(language)?, &SourceText::new(text), SkeletonCheck::Deferred, give_up))
}

/// Returns what the scanner of `language` leaves of `text` for the parser; `None` if there is no scanner, or it gave
/// up.
pub fn preprocessed_text(language: &str, text: &str) -> Option<String> {
    let preprocess = compiled_language(language)?.language.preprocess?;
    Some(preprocess(text)?.text)
}

/// Returns how many error nodes and missing tokens the grammar of `language` finds in `text`; `None` if there is no
/// such grammar, or the parse was abandoned.
pub fn count_errors(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<usize> {
    let tree = parse(compiled_language(language)?, text, give_up).ok()?;
    Some(error_count(tree.root_node()))
}

/// Returns whether files of this type have an outline and a skeleton.
pub fn has_structure(language: &str) -> bool {
    language == notebook::ID || compiled_language(language).is_some()
}

/// Returns the name and version of the grammar of this type, if it has one.
pub fn grammar_version(language: &str) -> Option<&'static str> {
    if language == notebook::ID {
        return Some(notebook::READER);
    }
    compiled_language(language).map(|compiled| compiled.language.grammar_version)
}
