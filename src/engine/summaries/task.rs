//! One summary that a model is to be asked for, and the policy by which such tasks are made.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::discover;
use crate::model::{
    ContentHash, FileItem, ModelName, ModelPrompt, RelPath, SummaryKey, SummaryModel, SummaryScope, Tier,
};
use crate::summarize::prompt::{FolderChild, KeyParts, PromptLimits, PromptStrategy, SummaryKeyBuilder};
use crate::summarize::secrets;

/// Which summaries are wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryPolicy {
    /// The tiers; one response holds the summaries for all of them.
    pub tiers: Vec<Tier>,
    /// Who may write them, the first one first. A summary by any of these will do.
    pub models: Vec<SummaryModel>,
    /// An opaque name of the chain of providers: what this chain could not answer, another may.
    pub provider_chain: String,
    /// The files, as the command line names them; empty for all.
    pub paths: Vec<String>,
    /// Patterns of files that no model is to see, besides those that hold secrets by their names.
    pub exclude: Vec<String>,
    /// Curated items. Files that are kept out of documents are not paid for.
    pub items: Vec<FileItem>,
    /// Only contents whose files have not been written for so long.
    pub min_age: Duration,
    /// The most bytes of material that one call may send.
    pub material_bytes: usize,
    /// The most tokens of an answer, where the model has no limit of its own.
    pub answer_tokens: u32,
    /// What is done where a secret is found: the file is left out, or what was found is.
    pub redacts: bool,
    /// Smaller files are not worth a call: the heuristic's summary is enough.
    pub min_bytes: u64,
    /// Names that hold secrets, whatever a project allows: files with such names may be shown to people, but not sent.
    pub secret_names: discover::Options,
    /// Whether what was tried without success among the files that are picked is to be tried again.
    pub retries: bool,
}

impl SummaryPolicy {
    /// Returns what makes the keys of these summaries.
    pub(in crate::engine) fn keyring(&self) -> SummaryKeyBuilder {
        let limits = PromptLimits { material_bytes: self.material_bytes, answer_tokens: self.answer_tokens };
        SummaryKeyBuilder::new(&self.tiers, &limits, self.redacts, secrets::version())
    }

    /// Returns the key of a task's refusal: another chain of providers is asked again.
    pub fn refusal_key(&self, question: &SummaryKey) -> SummaryKey {
        let words = format!("refusal/2 {} {}", question.0, self.provider_chain);
        SummaryKey(ContentHash::digest(words.as_bytes()))
    }
}

/// Returns the keys of the summaries that a task brings where this model writes them, for each tier that is wanted.
pub fn summary_keys(
    errand: &SummaryTask,
    policy: &SummaryPolicy,
    by_name: &ModelName,
) -> Vec<(Tier, SummaryKey)> {
    let by = policy.models.iter().find(|writer| writer.name == *by_name).cloned();
    let by = by.unwrap_or_else(|| SummaryModel::plain(by_name.clone()));
    let (ring, strategy) = (policy.keyring(), errand.strategy);
    let key = |tier: &Tier| {
        let (subject, language) = (&errand.subject, errand.language);
        ring.key(&KeyParts { scope: errand.scope, subject, language, strategy, by: &by, tier: *tier })
    };
    errand.tiers.iter().map(|tier| (*tier, key(tier))).collect()
}

/// One question that is to be asked of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryTask {
    /// The id under which it is claimed: the key of the first tier's summary by the first model.
    pub id: SummaryKey,
    /// What it is about.
    pub subject: ContentHash,
    /// Id of the file type; empty for a folder.
    pub language: &'static str,
    /// What kind of subject it is.
    pub scope: SummaryScope,
    /// How it is asked about.
    pub strategy: PromptStrategy,
    /// Where that is: the first of the files with this content, or the folder.
    pub location: SubjectLocation,
    /// All files with this content; none for a folder.
    pub paths: Vec<RelPath>,
    /// The tiers for which summaries are wanted.
    pub tiers: Vec<Tier>,
    /// About how many bytes will be sent; an estimate for folders.
    pub estimated_bytes: u64,
}

/// Where a subject is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SubjectLocation {
    /// A file.
    File(RelPath),
    /// A folder.
    Folder(RelPath),
    /// The project's root.
    Root,
}

impl fmt::Display for SubjectLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{path}"),
            Self::Folder(path) => write!(f, "{path}/"),
            Self::Root => f.write_str("the project"),
        }
    }
}

/// What there is to ask.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SummaryTasks {
    /// Files and, where all files that they need are done, folders; what matters most first.
    pub ready: Vec<SummaryTask>,
    /// How many folders wait for files, and the project with them.
    pub waiting_folders: u64,
    /// About how many bytes will be sent about these folders.
    pub waiting_bytes: u64,
    /// How many subjects have their summaries.
    pub done: u64,
    /// How many subjects were tried without success, and are not to be tried again yet.
    pub refused: u64,
    /// By what the refusals are kept that are to be forgotten first, so that all of this can be asked.
    pub retried_refusals: Vec<SummaryKey>,
    /// How many files are too young.
    pub too_recent: u64,
    /// When the first of those is old enough, from now.
    pub next_ready_in: Option<Duration>,
    /// How many files no model is asked about: secret by their names, excluded, too small, data.
    pub ineligible: u64,
    /// What is known of what lies in each folder that is ready, by its task.
    pub children: BTreeMap<SummaryKey, Vec<FolderChild>>,
}

/// A question that is not asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithheldReason {
    /// Something in it looks like a secret.
    Secret {
        /// Names of the rules that found some.
        rules: Vec<String>,
    },
    /// It could not be looked through for secrets.
    Unscanned(String),
    /// The file is not what it was, or not there any more: there will be another task.
    Changed,
}

impl fmt::Display for WithheldReason {
    /// Writes the reason, without any text of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret { rules } => write!(f, "something in it looks like a secret ({})", rules.join(", ")),
            Self::Unscanned(why) => write!(f, "it cannot be looked through for secrets: {why}"),
            Self::Changed => f.write_str("it is being written, or gone"),
        }
    }
}

/// A prompt, and what was done to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedPrompt {
    /// What is sent.
    pub prompt: ModelPrompt,
    /// The strategy by which it was made, with its version: `code/1`.
    pub strategy: String,
    /// How many secrets were taken out.
    pub redacted: u64,
    /// Whether something of the file was left out for its length.
    pub is_cut: bool,
}
