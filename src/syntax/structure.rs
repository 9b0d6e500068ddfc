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
const OUTLINE_VERSION: u32 = 2;
/// Version of the code that makes skeletons.
const SKELETON_VERSION: u32 = 2;

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

/// Returns the structure of `text`; `None` where the language has none. `give_up` is asked every now and then, and
/// once it says yes the text falls back to no symbols and an empty skeleton.
pub fn derive(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<Structure> {
    if language == notebook::ID {
        return Some(notebook::derive(text, give_up));
    }
    let compiled = compiled(language)?;
    let mut source = Source::new(text);
    if let Some(reduced) = compiled.language.reduce.and_then(|reduce| reduce(text)) {
        source = source.with_reduced(reduced);
    }
    let structure = match parse(compiled, source.parsed(), give_up) {
        Ok(tree) => understand(compiled, &source, &tree, give_up),
        Err(fallback) => fall_back(text.len(), fallback),
    };
    Some(structure)
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
    give_up: &mut dyn FnMut() -> bool,
) -> Structure {
    let root = tree.root_node();
    let mut walk = Walk::new(source, compiled);
    if let Some(read) = compiled.language.root {
        read(&mut walk, root);
    }
    walk.enter(root);
    let Walk { mut symbols, imports, doc, mut cuts, .. } = walk;
    let health = health(root, source.parsed().len());
    drop_announced(&mut symbols, compiled.language.has_overloads);
    sort(&mut cuts);
    // A text that was understood in full is cut where the grammar says; only where it guessed can a cut mislead it.
    let skeleton = if compiled.language.checks_skeleton && root.has_error() {
        checked_skeleton(compiled, source.whole(), &cuts, error_count(root), give_up)
    } else {
        skeleton(source.whole(), &cuts, Care::Plain)
    };
    let skeleton = Skeleton { health, text: skeleton };
    Structure { outline: Outline { health, doc, imports, symbols }, skeleton }
}

/// Returns a skeleton that has no more errors than its source. Where the grammar guessed, taking a body away can make
/// it guess worse; then less is taken away, and in the end nothing.
fn checked_skeleton(
    compiled: &Compiled,
    text: &str,
    cuts: &[Cut],
    errors: usize,
    give_up: &mut dyn FnMut() -> bool,
) -> String {
    for care in [Care::Plain, Care::Careful] {
        let skeleton = skeleton(text, cuts, care);
        let now = parse(compiled, &skeleton, give_up).map(|tree| error_count(tree.root_node()));
        if now.is_ok_and(|now| now <= errors) {
            return skeleton;
        }
    }
    text.to_owned()
}

fn fall_back(bytes: usize, fallback: Fallback) -> Structure {
    let health = Health::fallen_back(bytes as u64, fallback);
    let outline = Outline { health, doc: None, imports: Vec::new(), symbols: Vec::new() };
    Structure { outline, skeleton: Skeleton { health, text: String::new() } }
}
