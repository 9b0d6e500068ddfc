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

use super::forward::drop_announced;
use super::health::error_count;
use super::health::health;
use super::language::Compiled;
use super::language::compiled;
use super::language::grammar_version;
use super::notebook;
use super::parse::parse;
use super::recover::recover;
use super::skeleton::Care;
use super::skeleton::Cut;
use super::skeleton::skeleton;
use super::skeleton::sort;
use super::source::Source;
use super::walk::Walk;
use crate::model::Artifact;
use crate::model::Fallback;
use crate::model::Health;
use crate::model::Outline;
use crate::model::Producer;
use crate::model::Skeleton;

/// Version of the code that makes outlines.
const OUTLINE_VERSION: u32 = 3;
/// Version of the code that makes skeletons.
const SKELETON_VERSION: u32 = 4;

/// Where the cuts of a skeleton cannot all be made, so many groups of them are tried one by one.
const GROUPS: usize = 8;
/// They are tried in texts up to this size, for each try is a parse.
const MOST_TRIED: usize = 256 << 10;

/// What a text's structure gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structure {
    /// The symbols.
    pub outline: Outline,
    /// The text with the bodies taken out.
    pub skeleton: Skeleton,
}

/// Returns the producer of outlines of that language, if it has structure.
pub fn outline_producer(language: &'static str) -> Option<Producer> {
    producer(Artifact::Outline, OUTLINE_VERSION, language)
}

/// Returns the producer of skeletons of that language, if it has structure.
pub fn skeleton_producer(language: &'static str) -> Option<Producer> {
    producer(Artifact::Skeleton, SKELETON_VERSION, language)
}

fn producer(artifact: Artifact, version: u32, language: &'static str) -> Option<Producer> {
    let grammar = grammar_version(language)?;
    Some(Producer { artifact, language, version: format!("{}/{version} {grammar}", artifact.name()) })
}

/// When a skeleton is held against its source, where the grammar may have guessed: that costs more than all the rest, and
/// matters to those who see the skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Before it is shown, by [`checked_skeleton()`].
    Later,
    Now,
}

/// Returns the structure of `text`; `None` where the language has none. `give_up` is asked every now and then, and
/// once it says yes the text falls back to no symbols and an empty skeleton. The skeleton may have more errors than its
/// source where it is not said to be checked.
pub fn derive(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<Structure> {
    derive_or_check(language, text, Check::Later, give_up)
}

/// Returns the skeleton of `text` as it may be shown: with no more errors than its source, as far as both can be
/// parsed. `None` where the language has none.
pub fn checked_skeleton(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<Skeleton> {
    derive_or_check(language, text, Check::Now, give_up).map(|structure| structure.skeleton)
}

fn derive_or_check(
    language: &str,
    text: &str,
    check: Check,
    give_up: &mut dyn FnMut() -> bool,
) -> Option<Structure> {
    if language == notebook::ID {
        return Some(notebook::derive(text, give_up));
    }
    let compiled = compiled(language)?;
    let mut source = Source::new(text);
    if let Some(reduced) = compiled.language.reduce.and_then(|reduce| reduce(text)) {
        source = source.with_reduced(reduced);
    }
    Some(derive_from(compiled, &source, check, give_up))
}

/// Returns the structure of `text` as [`derive()`] does, but by a parse of all of it: what the scanners are held
/// against.
pub fn derive_in_full(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<Structure> {
    Some(derive_from(compiled(language)?, &Source::new(text), Check::Later, give_up))
}

/// Returns what the scanner of `language` leaves of `text` for the parser; `None` where it has none, or is not sure.
pub fn reduced_text(language: &str, text: &str) -> Option<String> {
    let reduce = compiled(language)?.language.reduce?;
    Some(reduce(text)?.text)
}

/// Returns the structure of a text, whatever of it is parsed.
pub(super) fn derive_from(
    compiled: &Compiled,
    source: &Source<'_>,
    check: Check,
    give_up: &mut dyn FnMut() -> bool,
) -> Structure {
    match parse(compiled, source.parsed(), give_up) {
        Ok(tree) => understand(compiled, source, &tree, check, give_up),
        Err(fallback) => fall_back(source.whole().len(), fallback),
    }
}

/// Returns how many error nodes and missing tokens the grammar of `language` finds in `text`; `None` where there is
/// no such grammar, or it gave up.
pub fn count_errors(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<usize> {
    let tree = parse(compiled(language)?, text, give_up).ok()?;
    Some(error_count(tree.root_node()))
}

fn understand(
    compiled: &Compiled,
    source: &Source<'_>,
    tree: &tree_sitter::Tree,
    check: Check,
    give_up: &mut dyn FnMut() -> bool,
) -> Structure {
    let root = tree.root_node();
    let mut walk = Walk::new(source, compiled);
    if let Some(read) = compiled.language.root {
        read(&mut walk, root);
    }
    walk.enter(root);
    let Walk { mut symbols, imports, doc, mut cuts, .. } = walk;
    let recovered = recover(source, compiled.language.separator, &mut symbols);
    let health = health(root, source, recovered);
    drop_announced(&mut symbols, compiled.language.has_overloads);
    sort(&mut cuts);
    // A text that was understood in full is cut where the grammar says; only where it guessed can a cut mislead it.
    let is_guess =
        root.has_error() || 0 < recovered || source.reduced().is_some_and(|reduced| 0 < reduced.repairs);
    let is_doubtful = compiled.language.checks_skeleton && is_guess;
    let skeleton = if is_doubtful && check == Check::Now {
        let errors = source.reduced().is_none().then(|| error_count(root));
        checked(compiled, source.whole(), &cuts, errors, give_up)
    } else {
        skeleton(source.whole(), &cuts, Care::Plain)
    };
    let skeleton = Skeleton { health, text: skeleton, is_checked: !is_doubtful || check == Check::Now };
    Structure { outline: Outline { health, doc, imports, symbols }, skeleton }
}

/// Returns a skeleton that has no more errors than its source. Where the grammar guessed, taking a body away can make
/// it guess worse; then less is taken away, and in the end nothing. `errors` is how many the source has, if that is known:
/// one whose reduced copy was parsed is parsed in full for that, but only where its skeleton has some, which few have.
fn checked(
    compiled: &Compiled,
    text: &str,
    cuts: &[Cut],
    errors: Option<usize>,
    give_up: &mut dyn FnMut() -> bool,
) -> String {
    let mut errors = errors;
    for care in [Care::Plain, Care::Careful] {
        let skeleton = skeleton(text, cuts, care);
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
        Some(errors) if text.len() <= MOST_TRIED => partly_cut(compiled, text, cuts, errors, give_up),
        Some(_) | None => text.to_owned(),
    }
}

/// Makes as many of the cuts as the grammar bears, tried in groups: one place where it guesses worse does not cost all
/// others.
fn partly_cut(
    compiled: &Compiled,
    text: &str,
    cuts: &[Cut],
    errors: usize,
    give_up: &mut dyn FnMut() -> bool,
) -> String {
    let (mut kept, mut best) = (Vec::new(), text.to_owned());
    for group in cuts.chunks(cuts.len().div_ceil(GROUPS).max(1)) {
        let before = kept.len();
        kept.extend_from_slice(group);
        let tried = skeleton(text, &kept, Care::Careful);
        let now = parse(compiled, &tried, give_up).map(|tree| error_count(tree.root_node()));
        if now.is_ok_and(|now| now <= errors) {
            best = tried;
        } else {
            kept.truncate(before);
        }
    }
    best
}

fn fall_back(bytes: usize, fallback: Fallback) -> Structure {
    let health = Health::fallen_back(bytes as u64, fallback);
    let outline = Outline { health, doc: None, imports: Vec::new(), symbols: Vec::new() };
    Structure { outline, skeleton: Skeleton { health, text: String::new(), is_checked: true } }
}
