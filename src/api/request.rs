//! What can be asked.

use std::path::PathBuf;

use crate::engine::AggregationRequest;
use crate::engine::Trust;
use crate::engine::ViewRequest;
use crate::model::ArtifactKind;
use crate::model::BodyOptions;
use crate::model::Slice;

/// What can be asked of a project.
#[derive(Debug, Clone)]
pub enum ResolvedQuery {
    /// Bring the cache up to date.
    Index {
        /// Whether stamps may save a reading.
        trust: Trust,
    },
    /// The outlines of files; of all, where none is named.
    Outline {
        /// Words for the files.
        files: Vec<String>,
        /// Whether stamps may save a reading.
        trust: Trust,
    },
    /// A view of files.
    View(ViewRequest),
    /// Where a name is defined.
    Symbol {
        /// The name, qualified or not.
        name: String,
        /// Whether the definitions' texts are wanted.
        with_text: bool,
        /// Whether stamps may save a reading.
        trust: Trust,
    },
    /// One document made for one agent.
    Aggregate(DocumentRequest),
    /// Why files get the views that they get.
    Explain {
        /// A word for the files.
        file: String,
        /// What would be aggregated.
        aggregation: AggregationRequest,
    },
    /// What is known of each file.
    Status,
    /// Something about the cache itself.
    Cache(CacheOperation),
    /// What the index says, compared with the files themselves.
    Audit,
    /// Lines of a file, with what it takes to find them again; nothing is written.
    MakeSlice {
        /// A word for the file.
        file: String,
        /// The first line, from 1.
        start_line: u32,
        /// The last line, inclusive.
        end_line: u32,
        /// A short name; may be empty.
        tag: String,
        /// Why the lines matter; may be empty.
        comment: String,
    },
    /// Where a slice is in a file now.
    ResolveSlice {
        /// A word for the file.
        file: String,
        /// The slice.
        slice: Box<Slice>,
    },
    /// Where several slices are in one file now, which is read once for all.
    ResolveSlices {
        /// A word for the file.
        file: String,
        /// The slices.
        slices: Vec<Slice>,
    },
}

impl ResolvedQuery {
    /// Says whether the cache can be of any use for the answer. If not, none is opened, and none is made.
    pub const fn uses_cache(&self) -> bool {
        match self {
            Self::MakeSlice { .. } | Self::ResolveSlice { .. } | Self::ResolveSlices { .. } => false,
            Self::Index { .. }
            | Self::Outline { .. }
            | Self::View { .. }
            | Self::Symbol { .. }
            | Self::Aggregate(_)
            | Self::Explain { .. }
            | Self::Status
            | Self::Cache(_)
            | Self::Audit => true,
        }
    }
}

/// A document that is asked for.
#[derive(Debug, Clone)]
pub struct DocumentRequest {
    /// What is aggregated.
    pub request: AggregationRequest,
    /// How it is written.
    pub format: DocumentFormat,
    /// How a model is asked, where the format is a provider's.
    pub body: BodyOptions,
    /// Name of the project; documents of one project and tier are cached together.
    pub project_name: String,
    /// Whether nothing is wanted but the receipt of what would be written.
    pub is_dry_run: bool,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentFormat {
    /// As Markdown.
    Markdown,
    /// As JSON, with its receipt.
    Json,
    /// As the body of a request to Anthropic.
    Anthropic,
    /// As the body of a request to OpenAI.
    OpenAi,
    /// As the body of a request to Gemini.
    Gemini,
}

impl DocumentFormat {
    /// Returns the extension of files that hold it.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json | Self::Anthropic | Self::OpenAi | Self::Gemini => "json",
        }
    }
}

/// The file that a document goes into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputTarget {
    /// This file.
    File(PathBuf),
    /// The next numbered file of a folder.
    Numbered {
        /// The folder.
        folder: PathBuf,
        /// What the name begins with.
        name: String,
        /// How many of these files are kept; 0 for all.
        keep: u32,
    },
}

/// What can be asked of the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheOperation {
    /// How much there is.
    Status,
    /// Delete everything.
    Clear {
        /// What models wrote, too.
        with_agent: bool,
    },
    /// Delete what was derived, of these kinds.
    ClearArtifacts {
        /// Which.
        kinds: Vec<ArtifactKind>,
        /// What models wrote, too.
        with_agent: bool,
    },
    /// Delete what is known of these files.
    ClearFiles {
        /// Which, as they are named.
        words: Vec<String>,
        /// What models wrote of them, alone.
        agent_alone: bool,
    },
    /// Check every byte.
    Verify,
    /// Delete what no file has held for so many days.
    Collect {
        /// How many days.
        days: u32,
    },
    /// Everything.
    Export,
}
