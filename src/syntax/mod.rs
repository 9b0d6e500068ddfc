//! Derives structure from text: outline, skeleton, signatures, docs and parse health. Never fails.
//!
//! Knows: tree-sitter, and what each language's nodes mean. Does not know: files, paths, the cache, the clock (the
//! caller decides when to give up). What cannot be understood lowers the health; it is never an error.
//!
//! | part | what it does | may import |
//! |---|---|---|
//! | `text` | The text of a file, positions in it, and what its comments document | – |
//! | `preprocess` | Scanners that make a text smaller and fitter for its grammar | `text` |
//! | `outline` | One text parsed, walked, corrected and cut | `text` |
//! | `languages` | A table of nodes for each language, and the registry of all of them | `text`, `preprocess`, `outline` |
//! | `notebook` | Jupyter notebooks, read cell by cell | `text`, `outline`, `languages` |
//! | `derive` | What other rooms call, and the versions in the cache keys | all of the above |
//! | `facts` | What a file says about its names: definitions, bindings, imports, uses | `text`, `outline`, `languages` |
//! | `references` | The names that a file defines, uses and imports, without a parse |  `text`, `derive` |
//!
//! Start with [`derive()`].

mod derive;
mod facts;
mod languages;
mod notebook;
mod outline;
mod preprocess;
mod references;
mod text;

#[cfg(test)]
mod tests;

pub use derive::{
    checked_skeleton, count_errors, derive, derive_without_preprocessing, has_structure, outline_producer,
    preprocessed_text, skeleton_producer,
};
pub use derive::{excerpt, excerpt_parts, notebook_excerpt, notebook_language};
pub use facts::{facts_producer, has_facts, source_facts};
pub use languages::{LANGUAGE_COUNT, missing_feature};
pub use outline::FileStructure;
pub use outline::skeleton_text;
pub use outline::{ExcerptParts, ExcerptRequest, SourceErrors};
pub use references::{import_number, references, references_producer};
