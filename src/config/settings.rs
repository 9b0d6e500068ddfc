//! The checked settings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::aggregate::TokenCounter;
use crate::model::{
    AggregationStrategy, FileOrder, ModelName, Money, RelPath, SummaryDetail, Tier, ViewMode,
};

/// Every setting, checked; `config/default.toml` documents each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How files become one document.
    pub aggregation: AggregationSettings,
    /// The project as a whole.
    pub project: ProjectSettings,
    /// The documents that aggregations write.
    pub output: OutputSettings,
    /// What one file may cost.
    pub limits: LimitSettings,
    /// Request bodies for providers.
    pub formats: FormatSettings,
    /// Files that are never shown.
    pub secrets: SecretSettings,
    /// The sub-agent.
    pub agent: AgentSettings,
    /// The tiers, from 1 to 4; [`Settings::tier`] picks one.
    pub tiers: [TierSettings; 4],
}

impl Settings {
    /// Returns the settings of a tier.
    pub fn tier(&self, tier: Tier) -> &TierSettings {
        &self.tiers[usize::from(tier.number()) - 1]
    }
}

/// How files become one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AggregationSettings {
    /// How a file is shown where nothing else decides.
    pub default_mode: ViewMode,
    /// Whether what is derived is kept.
    pub cache_enabled: bool,
    /// The cache's folder, from the project's root.
    pub cache_dir: RelPath,
    /// The order of files.
    pub order: FileOrder,
    /// Lines on each side of the one that a window is about.
    pub window_lines: u32,
    /// How tokens are counted.
    pub tokens: TokenCounter,
}

/// The project as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectSettings {
    /// What output files' names begin with; empty for the name of the project's folder.
    pub name: String,
    /// The folder of output files: absolute, or from the project's root; never the root itself.
    pub output_dir: PathBuf,
    /// How views are picked. Where `summary_only` is set, this is [`AggregationStrategy::Summarize`] already.
    pub aggregation_strategy: AggregationStrategy,
    /// Where the work to be done is tracked.
    pub execution_mode: ExecutionMode,
}

/// The documents that aggregations write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputSettings {
    /// How many of the newest numbered documents are kept; 0 for all of them.
    pub keep: u32,
}

/// What one file may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitSettings {
    /// A larger file is not shown in full.
    pub max_bytes: u64,
    /// A larger file is not read.
    pub structure_max_bytes: u64,
    /// How long the parse of one file may take.
    pub parse_timeout: Duration,
    /// A larger image is not put into a document.
    pub screenshot_bytes: u64,
    /// A larger file of discussion or of issues is not read.
    pub section_bytes: u64,
}

/// Request bodies for providers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatSettings {
    /// The model of Anthropic that is asked.
    pub anthropic_model: String,
    /// The model of OpenAI that is asked.
    pub openai_model: String,
    /// The model of Gemini that is asked.
    pub gemini_model: String,
    /// The most tokens of an answer.
    pub max_output_tokens: u32,
}

/// Files that are never shown, by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretSettings {
    /// Patterns of what is not sent to a model: those of the user, and what a project adds.
    pub never_sent: Vec<String>,
    /// The user's patterns of what may be sent nevertheless: a project has no say in it.
    pub may_be_sent: Vec<String>,
    /// Patterns of names or paths that hold secrets.
    pub names: Vec<String>,
    /// Patterns of names or paths that are harmless all the same.
    pub allow: Vec<String>,
}

/// What an agent of one tier is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierSettings {
    /// Its role in words.
    pub role: String,
    /// How a file is shown that nothing else decides on.
    pub view: ViewMode,
    /// How a file in focus is shown.
    pub focus_view: ViewMode,
    /// Who writes the summaries.
    pub summary: SummarySource,
    /// What is shown below a summary.
    pub summary_detail: SummaryDetail,
    /// Whether the tree of all files is included.
    pub tree: bool,
    /// The most tokens that a document may have; 0 for no limit.
    pub budget_tokens: u64,
    /// Whether discussion is included.
    pub history: bool,
    /// Other views, by the id of the file type. That there is such a type is not checked.
    pub languages: BTreeMap<String, ViewMode>,
}

/// Where the work to be done is tracked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExecutionMode {
    /// Nowhere that slop knows of.
    Native,
    /// By the issue tracker Beads.
    Beads,
}

/// Who writes summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SummarySource {
    /// The heuristic.
    Heuristic,
    /// The sub-agent where its summary is cached, else the heuristic.
    Agent,
}

/// How the sub-agent works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// Who may be asked, the first one first.
    pub models: Vec<ModelName>,
    /// The persona whose preferred models are asked where `models` is empty.
    pub persona: Option<String>,
    /// Whether the daemon asks of its own accord.
    pub is_background: bool,
    /// The tiers that summaries are written for.
    pub tiers: Vec<Tier>,
    /// The most calls at once.
    pub concurrency: u32,
    /// The most calls a minute.
    pub requests_per_minute: u32,
    /// The most tokens a minute.
    pub tokens_per_minute: u32,
    /// How long one call may take.
    pub timeout: Duration,
    /// How long a file must not have been written.
    pub quiet_period: Duration,
    /// The most bytes of a file that one call sends.
    pub material_bytes: usize,
    /// The most tokens of an answer.
    pub answer_tokens: u32,
    /// Smaller files are not asked about.
    pub min_bytes: u64,
    /// Whether secrets are taken out of what is sent; else a file with secrets is not sent.
    pub redacts: bool,
    /// Patterns of files that are not asked about.
    pub exclude: Vec<String>,
    /// Whether a changed file shows what was written of it earlier.
    pub shows_outdated: bool,
    /// The most that a day may cost.
    pub day_cap: Money,
    /// The most that all may cost.
    pub total_cap: Money,
    /// The most calls a day.
    pub calls_per_day: u64,
    /// Where a project's file moves the cache, and with it the ledger that the caps are counted in.
    pub ledger_moved: Option<String>,
    /// The proxy for https.
    pub proxy: Option<String>,
}
