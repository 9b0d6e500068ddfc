//! The checked settings.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::aggregate::{HydrationLimits, TokenCounter};
use crate::model::{
    AggregationStrategy, CacheLifetime, DocsDetail, FileOrder, ModelName, Money, RelPath, SummaryDetail,
    Tier, ViewMode,
};
use crate::share::{EngineOptions, S3Server, ShareUrl, Writer};

/// All settings, checked; `config/default.toml` documents each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Settings of aggregation.
    pub aggregation: AggregationSettings,
    /// The project as a whole.
    pub project: ProjectSettings,
    /// Which folders are left out.
    pub discover: DiscoverSettings,
    /// The documents that aggregations write.
    pub output: OutputSettings,
    /// Limits of single files.
    pub limits: LimitSettings,
    /// Where hydration places files.
    pub hydration: HydrationLimits,
    /// The web page.
    pub ui: PageSettings,
    /// Request bodies for providers.
    pub formats: FormatSettings,
    /// Files that are never shown.
    pub secrets: SecretSettings,
    /// The sub-agent.
    pub agent: AgentSettings,
    /// The cache of summaries that a team shares.
    pub share: ShareSettings,
    /// The folders of projects that may write outside of themselves, and whose prompts are sent on the user's behalf.
    pub trusted_projects: Vec<PathBuf>,
    /// The folders of clones that share the cache of the first of them.
    pub cache_clones: Vec<PathBuf>,
    /// The tiers, from 1 to 4; [`Settings::tier`] picks one.
    pub tiers: [TierSettings; 4],
}

impl Settings {
    /// Returns whether the user trusts the project in a folder.
    pub fn trusts(&self, root: &Path) -> bool {
        self.trusted_projects.iter().any(|folder| root.starts_with(folder))
    }

    /// Returns the settings of a tier.
    pub fn tier(&self, tier: Tier) -> &TierSettings {
        &self.tiers[usize::from(tier.number()) - 1]
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AggregationSettings {
    pub default_mode: ViewMode,
    /// Whether documents about the whole project begin with an overview of it.
    pub overview: bool,
    pub cache_enabled: bool,
    pub cache_dir: RelPath,
    pub order: FileOrder,
    /// The number of lines on each side of a window's focused line.
    pub window_lines: u32,
    /// How much of the docs is shown by skeletons in documents.
    pub docs: DocsDetail,
    pub tokens: TokenCounter,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectSettings {
    /// The beginning of the names of output files; empty for the name of the project's folder.
    pub name: String,
    /// The folder of output files: absolute, or relative to the project's root; never the root itself.
    pub output_dir: PathBuf,
    /// How views are chosen. If `summary_only` is set, this is [`AggregationStrategy::Summarize`].
    pub aggregation_strategy: AggregationStrategy,
    pub execution_mode: ExecutionMode,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoverSettings {
    /// Names of folders.
    pub skip: Vec<String>,
    /// The most files of a folder that is not a git checkout and that the user did not name.
    pub max_files: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputSettings {
    /// How many of the newest numbered documents are kept; 0 for all of them.
    pub keep: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitSettings {
    /// A larger file is not shown in full.
    pub max_bytes: u64,
    /// A larger file is not read.
    pub structure_max_bytes: u64,
    pub parse_timeout: Duration,
    /// A larger image is not included in a document.
    pub screenshot_bytes: u64,
    /// A larger file of discussion or of issues is not read.
    pub section_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSettings {
    /// The loopback address on which the page is served.
    pub listen: SocketAddr,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatSettings {
    pub anthropic_model: String,
    pub openai_model: String,
    pub gemini_model: String,
    pub max_output_tokens: u32,
    /// The most prefixes of the prompt that a request body asks its provider to cache.
    pub cache_marks: u8,
    pub cache_lifetime: CacheLifetime,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretSettings {
    /// Whether the full view of a file shows the secrets in it.
    pub in_full_views: bool,
    /// Patterns of what is not sent to a model: the user's, and those that a project adds.
    pub never_sent: Vec<String>,
    /// The user's patterns of what may be sent nevertheless, which a project cannot change.
    pub may_be_sent: Vec<String>,
    pub names: Vec<String>,
    /// Patterns of names or paths that are harmless exceptions.
    pub allow: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierSettings {
    pub role: String,
    pub view: ViewMode,
    pub focus_view: ViewMode,
    pub summary: SummarySource,
    pub summary_detail: SummaryDetail,
    pub tree: bool,
    pub budget_tokens: u64,
    /// How much of a budget does not depend on the task.
    pub stable_thousandths: u32,
    pub history: bool,
    /// Different views, by the id of the file type. Unknown ids are allowed.
    pub languages: BTreeMap<String, ViewMode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExecutionMode {
    Native,
    Beads,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SummarySource {
    Heuristic,
    /// The sub-agent's summary if it is cached, else the heuristic one.
    Agent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettings {
    pub models: Vec<ModelName>,
    /// The persona whose preferred models are called if `models` is empty.
    pub persona: Option<String>,
    pub is_background: bool,
    pub tiers: Vec<Tier>,
    pub concurrency: u32,
    pub requests_per_minute: u32,
    pub tokens_per_minute: u32,
    pub timeout: Duration,
    /// How long a file must have been unchanged.
    pub quiet_period: Duration,
    pub material_bytes: usize,
    pub answer_tokens: u32,
    /// Smaller files are not sent.
    pub min_bytes: u64,
    /// Whether secrets are redacted; otherwise, a file with secrets is not sent.
    pub redacts: bool,
    pub exclude: Vec<String>,
    /// Whether a changed file shows its outdated summary.
    pub shows_outdated: bool,
    pub day_cap: Money,
    pub total_cap: Money,
    pub calls_per_day: u64,
    /// Where a project's file moves the cache, and with it the ledger of the caps.
    pub ledger_moved: Option<String>,
    pub proxy: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareSettings {
    /// The address of the team's cache; `None` if nothing is shared.
    pub url: Option<ShareUrl>,
    pub mode: ShareMode,
    /// An absolute path, or one relative to the folder of the user's settings file.
    pub team_key_file: Option<PathBuf>,
    pub signing_key_file: Option<PathBuf>,
    pub writers: Vec<Writer>,
    pub engine: EngineOptions,
    /// The S3 server of a bucket.
    pub server: S3Server,
}

impl ShareSettings {
    /// Returns whether there is a team's cache, and it is enabled.
    pub fn is_on(&self) -> bool {
        self.url.is_some() && self.mode != ShareMode::Off
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShareMode {
    Off,
    Read,
    ReadWrite,
}

impl ShareMode {
    /// The modes by their names in the settings.
    pub const NAMES: [(&str, Self); 3] =
        [("off", Self::Off), ("read", Self::Read), ("read-write", Self::ReadWrite)];

    /// Returns its name in the settings.
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, mode)| *mode == self);
        found.map(|(name, _)| *name).expect("every mode has a name")
    }
}
