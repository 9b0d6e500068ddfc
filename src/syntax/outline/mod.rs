//! One text parsed, walked, corrected and cut: everything that is the same for all languages.
//!
//! `language` has the types of which a language's table is made; `parse` makes a tree within limits; `walk` visits the
//! nodes that the table names; `define` turns a node into a symbol; `elided` adds what a scanner elided and what the
//! grammar lost; `skeleton` applies the cuts; `docs` shortens the docs in what is left; `excerpt` applies some of the
//! cuts, and drops what else is not wanted, by the parts that all excerpts of a text have in common (`excerpt_parts`).
//! `structure` is the whole way from a text to its outline and skeleton.
//!
//! Imports `text` alone. The functions in a table take the walk, so that `language` and `walk` know each other; no
//! other two files here do.

mod define;
mod docs;
mod elided;
mod excerpt;
mod excerpt_parts;
mod gap_style;
mod language;
mod nodes;
mod parse;
mod skeleton;
mod structure;
mod walk;

pub(in crate::syntax) use define::{SymbolBody, SymbolDefinition, ValueTrimmer};
pub(in crate::syntax) use docs::SourceDoc;
pub use docs::skeleton_text;
pub(in crate::syntax) use excerpt::excerpt_text;
pub use excerpt::{ExcerptRequest, SourceErrors};
pub use excerpt_parts::ExcerptParts;
#[cfg(test)]
pub(in crate::syntax) use language::unknown_steps;
pub(in crate::syntax) use language::{CompiledLanguage, GrammarField, Language, NodeTable, Visit};
pub(in crate::syntax) use nodes::{
    child_of_kind, children, end_without_comments, find, find_all, is_trivia, named_children,
    visit_descendants,
};
pub(in crate::syntax) use parse::{error_count, parse, parse_part};
pub(in crate::syntax) use skeleton::{ElisionMarks, SkeletonCut};
pub use structure::FileStructure;
pub(in crate::syntax) use structure::{SkeletonCheck, derive_from, derive_text, fall_back, outline_symbols};
pub(in crate::syntax) use walk::{NamedScope, OutlineWalk};
