//! Questions that are never sent to a daemon, because their answers have no JSON or write files.

use std::path::PathBuf;

use super::document::OutputTarget;
use super::queries::AggregateQuery;
use super::wire::DocumentReceipt;
use crate::engine::SourceRequest;
use crate::model::Slice;

/// Any of the questions that are not sent to a daemon.
#[derive(Debug, Clone, PartialEq)]
pub enum LocalQuery {
    MakeSlice(MakeSliceQuery),
    ResolveSlices(ResolveSlicesQuery),
    MatchSymbols(MatchSymbolsQuery),
    SourceTexts(SourceTextsQuery),
    AllReferences(AllReferencesQuery),
    Compose(Box<ComposeQuery>),
    WriteDocument(Box<WriteDocumentQuery>),
}

/// Asks for a slice of a file, with the anchors to find it again. Writes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MakeSliceQuery {
    pub file: String,
    /// The first line, counted from 1.
    pub start_line: u32,
    /// The last line, inclusive.
    pub end_line: u32,
    /// A short name; may be empty.
    pub tag: String,
    /// Why the lines matter; may be empty.
    pub comment: String,
}

/// Asks for the current lines of slices in one file, which is read once for all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolveSlicesQuery {
    pub file: String,
    pub slices: Vec<Slice>,
}

/// Asks for the symbols with these names in the files that a path or pattern selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchSymbolsQuery {
    /// A file, a folder or a pattern.
    pub file: String,
    /// The names, as masks give them.
    pub symbols: Vec<String>,
}

/// The symbols with one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolMatches {
    /// How many symbols have the name.
    pub found: usize,
    /// Names of similar symbols.
    pub nearest: Vec<String>,
}

impl SymbolMatches {
    /// Returns the end of a message that suggests similar symbols; empty if there are none.
    pub fn suggestion(&self) -> String {
        let quoted: Vec<String> = self.nearest.iter().map(|name| format!("`{name}`")).collect();
        match quoted.as_slice() {
            [] => String::new(),
            [only] => format!(", the nearest is {only}"),
            several => format!(", the nearest are {}", several.join(", ")),
        }
    }
}

/// Asks for the texts of files, or of an editor's buffers. A path outside of the project, or that is not shown, has
/// none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTextsQuery {
    pub files: Vec<SourceRequest>,
    /// Whether their outlines are wanted, too.
    pub outlines: bool,
}

/// Asks for the references of the whole project. They are written one by one, so that they are never encoded as JSON
/// all at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllReferencesQuery;

/// Asks for an unformatted document.
#[derive(Debug, Clone, PartialEq)]
pub struct ComposeQuery(pub AggregateQuery);

/// Asks for a document to be written to a file.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteDocumentQuery {
    pub document: AggregateQuery,
    pub target: OutputTarget,
    /// The file that its receipt is written to, if any.
    pub receipt: Option<PathBuf>,
}

/// A document that was written to a file.
#[derive(Debug)]
pub struct WrittenDocument {
    pub path: PathBuf,
    pub receipt: DocumentReceipt,
}

impl LocalQuery {
    /// Returns whether the answer uses the cache. If not, it is neither opened nor created.
    pub const fn uses_cache(&self) -> bool {
        match self {
            // Slices are found in the text of one file, and opening the cache would create its folder.
            Self::MakeSlice(_) | Self::ResolveSlices(_) => false,
            Self::MatchSymbols(_)
            | Self::SourceTexts(_)
            | Self::AllReferences(_)
            | Self::Compose(_)
            | Self::WriteDocument(_) => true,
        }
    }
}
