//! What can be asked.

use std::path::PathBuf;

use crate::engine::AggregationRequest;
use crate::engine::Trust;
use crate::model::Artifact;
use crate::model::BodyOptions;
use crate::model::ViewMode;

/// What can be asked of a project.
#[derive(Debug, Clone)]
pub enum Request {
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
    View {
        /// Words for the files.
        files: Vec<String>,
        /// The view; `None` for the text, or the largest view that the limits allow.
        mode: Option<ViewMode>,
        /// Whether stamps may save a reading.
        trust: Trust,
    },
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
    Aggregate(Aggregation),
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
    Cache(CacheRequest),
}

/// A document that is asked for.
#[derive(Debug, Clone)]
pub struct Aggregation {
    /// What is aggregated.
    pub request: AggregationRequest,
    /// How it is written.
    pub format: DocumentFormat,
    /// How a model is asked, where the format is a provider's.
    pub body: BodyOptions,
    /// Name of the project; documents of one project and tier are cached together.
    pub project_name: String,
    /// The most tokens that it may have as written; 0 for no limit.
    pub budget_tokens: u64,
    /// Where it is written to.
    pub target: Target,
    /// Where the receipt is written to, beside the document.
    pub receipt: Option<PathBuf>,
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

/// Where a document goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Back to whoever asks.
    Answer,
    /// Into this file.
    File(PathBuf),
    /// Into the next numbered file of a folder.
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
pub enum CacheRequest {
    /// How much there is.
    Status,
    /// Delete everything.
    Clear,
    /// Delete what was derived, of these kinds.
    ClearArtifacts(Vec<Artifact>),
    /// Delete what is known of these files.
    ClearFiles(Vec<String>),
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
