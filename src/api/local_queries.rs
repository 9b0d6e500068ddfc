//! Questions that only the process which opened the project answers: their answers have no JSON, or files are written.

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

/// Asks for lines of a file, with what it takes to find them again. Nothing is written.
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

/// Asks where slices are in one file now. The file is read once for all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolveSlicesQuery {
    pub file: String,
    pub slices: Vec<Slice>,
}

/// Asks which symbols names denote in the files that a path or pattern selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchSymbolsQuery {
    /// A file, a folder or a pattern.
    pub file: String,
    /// The names, as masks give them.
    pub symbols: Vec<String>,
}

/// What was found under one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolMatches {
    /// How many symbols have the name.
    pub found: usize,
    /// Names of other symbols that are like it.
    pub nearest: Vec<String>,
}

/// Asks for the texts of files, or of an editor's buffers. What is no file of the project, or is not shown, has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTextsQuery {
    pub files: Vec<SourceRequest>,
    /// Whether their outlines are wanted, too.
    pub outlines: bool,
}

/// Asks for the references of the whole project. They are written one by one, so they are never all in JSON at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllReferencesQuery;

/// Asks for a document before it is written in any format.
#[derive(Debug, Clone, PartialEq)]
pub struct ComposeQuery(pub AggregateQuery);

/// Asks for a document in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteDocumentQuery {
    pub document: AggregateQuery,
    pub target: OutputTarget,
    /// The file that its receipt is written to, if any.
    pub receipt: Option<PathBuf>,
}

/// A document in a file.
#[derive(Debug)]
pub struct WrittenDocument {
    pub path: PathBuf,
    pub receipt: DocumentReceipt,
}

impl LocalQuery {
    /// Returns whether the cache is of use for the answer. If not, none is opened, and none is created.
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
