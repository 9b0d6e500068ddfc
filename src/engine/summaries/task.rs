//! The subjects of summaries, the policy for asking about them, and the known state of each.
//!
//! A folder's subject is a hash of its children's subjects, without names and paths. So renamed or moved folders need
//! no new summary, and a changed file only affects the folders that contain it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::time::Duration;

use crate::discover;
use crate::engine::error::Error;
use crate::engine::workspace::Workspace;
use crate::model::{
    ContentHash, FileItem, ModelName, ModelPrompt, RelPath, SummaryKey, SummaryModel, SummaryScope, Tier,
    parent_folder,
};
use crate::store::agent::{AGENT_DATABASE, AgentDb, RefusalRow};
use crate::summarize::prompt::{FolderChild, KeyParts, PromptLimits, PromptStrategy, SummaryKeyBuilder};
use crate::summarize::secrets;

#[derive(Debug, Clone, PartialEq)]
pub struct SummaryPolicy {
    /// The tiers; one response contains the summaries for all of them.
    pub tiers: Vec<Tier>,
    /// The models that may write them, in order. A summary by any of these suffices.
    pub models: Vec<SummaryModel>,
    /// An opaque name of the chain of providers: another chain may answer what this one could not.
    pub provider_chain: String,
    /// The files as arguments of the command line; empty for all.
    pub paths: Vec<String>,
    /// Additional patterns of files that no model may see, besides those with names of secrets.
    pub exclude: Vec<String>,
    /// Curated items. Files excluded from documents are not paid for.
    pub items: Vec<FileItem>,
    /// Only contents whose files have not been written for this long.
    pub min_age: Duration,
    /// The maximum bytes of material per call.
    pub material_bytes: usize,
    /// The maximum tokens of an answer, if the model has no limit of its own.
    pub answer_tokens: u32,
    /// Whether secrets are redacted; if not, a file that contains one is left out.
    pub redacts: bool,
    /// Smaller files are not worth a call: the heuristic summary is enough.
    pub min_bytes: u64,
    /// Names of secrets, regardless of the project's settings: such files may be shown to people, but not sent.
    pub secret_names: discover::Options,
    /// Whether failed attempts for the selected files are repeated.
    pub retries: bool,
}

impl SummaryPolicy {
    /// Returns the builder of the keys for these summaries.
    pub(super) fn keyring(&self) -> SummaryKeyBuilder {
        let limits = PromptLimits { material_bytes: self.material_bytes, answer_tokens: self.answer_tokens };
        SummaryKeyBuilder::new(&self.tiers, &limits, self.redacts, secrets::version())
    }

    /// Returns the key of a task's refusal: another chain of providers is asked again.
    pub fn refusal_key(&self, question: &SummaryKey) -> SummaryKey {
        let words = format!("refusal/2 {} {}", question.0, self.provider_chain);
        SummaryKey(ContentHash::digest(words.as_bytes()))
    }
}

/// Returns the keys of the summaries of a task by this model, for each wanted tier.
pub fn summary_keys(
    task: &SummaryTask,
    policy: &SummaryPolicy,
    by_name: &ModelName,
) -> Vec<(Tier, SummaryKey)> {
    let by = policy.models.iter().find(|writer| writer.name == *by_name).cloned();
    let by = by.unwrap_or_else(|| SummaryModel::plain(by_name.clone()));
    let (ring, strategy) = (policy.keyring(), task.strategy);
    let key = |tier: &Tier| {
        let (subject, language) = (&task.subject, task.language);
        ring.key(&KeyParts { scope: task.scope, subject, language, strategy, by: &by, tier: *tier })
    };
    task.tiers.iter().map(|tier| (*tier, key(tier))).collect()
}

/// A question for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryTask {
    /// The id under which it is claimed: the key of the first tier's summary by the first model.
    pub id: SummaryKey,
    pub subject: ContentHash,
    /// Id of the file type; empty for a folder.
    pub language: &'static str,
    pub scope: SummaryScope,
    /// The prompt strategy.
    pub strategy: PromptStrategy,
    /// Its location: the first of the files with this content, or the folder.
    pub location: SubjectLocation,
    /// All files with this content; empty for a folder.
    pub paths: Vec<RelPath>,
    pub tiers: Vec<Tier>,
    /// The approximate bytes to be sent; an estimate for folders.
    pub estimated_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SubjectLocation {
    File(RelPath),
    Folder(RelPath),
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

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SummaryTasks {
    /// Files, and folders whose files are all done; most important first.
    pub ready: Vec<SummaryTask>,
    /// The number of folders that wait for files, including the project.
    pub waiting_folders: u64,
    /// The approximate bytes to be sent about these folders.
    pub waiting_bytes: u64,
    /// The number of subjects that have their summaries.
    pub done: u64,
    /// The number of subjects whose last attempt failed, and that are not to be tried again yet.
    pub refused: u64,
    /// The keys of refusals that have to be deleted before these tasks can be run.
    pub retried_refusals: Vec<SummaryKey>,
    /// The number of files that were changed too recently.
    pub too_recent: u64,
    /// The time until the first of those is old enough.
    pub next_ready_in: Option<Duration>,
    /// The number of files that no model is asked about: secret by name, excluded, too small, data.
    pub ineligible: u64,
    /// The known data about the contents of each ready folder, by its task.
    pub children: BTreeMap<SummaryKey, Vec<FolderChild>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithheldReason {
    /// It contains something that looks like a secret.
    Secret { rules: Vec<String> },
    /// It could not be scanned for secrets.
    Unscanned(String),
    /// The file has changed or no longer exists: there will be another task.
    Changed,
}

impl fmt::Display for WithheldReason {
    /// Writes the reason, without any text of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret { rules } => write!(f, "something in it looks like a secret ({})", rules.join(", ")),
            Self::Unscanned(reason) => write!(f, "it cannot be looked through for secrets: {reason}"),
            Self::Changed => f.write_str("it is being written, or gone"),
        }
    }
}

/// A prompt, and how it was modified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedPrompt {
    pub prompt: ModelPrompt,
    /// The prompt strategy with its version: `code/1`.
    pub strategy: String,
    /// The number of redacted secrets.
    pub redacted: u64,
    /// Whether a part of the file was omitted because of its length.
    pub is_cut: bool,
}

/// A possible subject of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubjectKey {
    pub scope: SummaryScope,
    pub subject: ContentHash,
    /// The file type id that a content is read as; empty for a folder.
    pub language: &'static str,
}

/// A file of the tree of subjects.
#[derive(Debug, Clone, Copy)]
pub struct SubjectFile<'a> {
    pub path: &'a RelPath,
    /// Its subject: its content, read as a file type.
    pub key: SubjectKey,
    pub bytes: u64,
}

/// A missing summary, and what it would be stored as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedSummary {
    pub key: SummaryKey,
    pub node: SubjectKey,
    pub tier: Tier,
    /// The prompt strategy with its version.
    pub prompt: String,
    /// The model that should write it.
    pub model: ModelName,
    /// The files with the content; empty for a folder.
    pub paths: Vec<RelPath>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectFolder {
    /// Its path; `None` for the root.
    pub path: Option<RelPath>,
    /// Its subject; a folder that contains a single distinct subject has that subject's key.
    pub key: SubjectKey,
    /// Its distinct subjects with their sizes in bytes; empty if it has the key of its only one.
    pub children: BTreeMap<SubjectKey, u64>,
    /// The total bytes of its files.
    pub bytes: u64,
}

/// Returns the folders that contain any of these files, subfolders first; the root is last.
pub(super) fn subject_folders(leaves: &[SubjectFile<'_>]) -> Vec<SubjectFolder> {
    let mut inside: BTreeMap<&[u8], BTreeMap<SubjectKey, u64>> = BTreeMap::new();
    for leaf in leaves {
        inside.entry(leaf.path.parent()).or_default().insert(leaf.key, leaf.bytes);
    }
    let paths: BTreeSet<&[u8]> = inside.keys().flat_map(|path| with_ancestors(path)).collect();
    let mut folders = Vec::with_capacity(paths.len());
    // A folder's path is a prefix of the paths of everything in it, and so sorts before them.
    for path in paths.into_iter().rev() {
        let children = inside.remove(path).unwrap_or_default();
        let folder = folder(path, children);
        if !path.is_empty() {
            inside.entry(parent_folder(path)).or_default().insert(folder.key, folder.bytes);
        }
        folders.push(folder);
    }
    folders
}

fn folder(path: &[u8], children: BTreeMap<SubjectKey, u64>) -> SubjectFolder {
    let path = RelPath::new(path).ok();
    let bytes = children.values().sum();
    if let (Some(node), 1) = (children.keys().next().copied(), children.len()) {
        return SubjectFolder { path, key: node, children: BTreeMap::new(), bytes };
    }
    let scope = if path.is_some() { SummaryScope::Folder } else { SummaryScope::Project };
    let mut text = format!("{}/1\n", scope.name());
    for child in children.keys() {
        text.extend([child.scope.name(), " ", &child.subject.to_string(), " ", child.language, "\n"]);
    }
    let node = SubjectKey { scope, subject: ContentHash::digest(text.as_bytes()), language: "" };
    SubjectFolder { path, key: node, children, bytes }
}

fn with_ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(path), |path| (!path.is_empty()).then(|| parent_folder(path)))
}

/// The keys of a policy, and which of them have no summary.
pub(super) struct KnownSummaries {
    ring: SummaryKeyBuilder,
    policy: SummaryPolicy,
    missing: HashSet<SummaryKey>,
    /// Each with the reason.
    refused: HashMap<SummaryKey, String>,
    /// Refused keys that will never be retried.
    withheld: HashSet<SummaryKey>,
    /// `None` if no summary has been paid for yet.
    db: Option<AgentDb>,
}

impl KnownSummaries {
    fn new(policy: &SummaryPolicy) -> Self {
        Self {
            ring: policy.keyring(),
            policy: policy.clone(),
            missing: HashSet::new(),
            refused: HashMap::new(),
            withheld: HashSet::new(),
            db: None,
        }
    }

    fn key(&self, node: &SubjectKey, strategy: PromptStrategy, by: &SummaryModel, tier: Tier) -> SummaryKey {
        let (scope, subject, language) = (node.scope, &node.subject, node.language);
        self.ring.key(&KeyParts { scope, subject, language, strategy, by, tier })
    }

    /// Returns the id under which a task is claimed: the key of the first tier's summary by the first model.
    pub(super) fn task_id(&self, node: &SubjectKey, strategy: PromptStrategy) -> Option<SummaryKey> {
        Some(self.key(node, strategy, self.policy.models.first()?, *self.policy.tiers.first()?))
    }

    /// Returns whether there is a summary for every tier, by any model.
    pub(super) fn is_done(&self, node: &SubjectKey, strategy: PromptStrategy) -> bool {
        let has = |tier: &Tier| {
            self.policy.models.iter().any(|by| !self.missing.contains(&self.key(node, strategy, by, *tier)))
        };
        self.policy.tiers.iter().all(has)
    }

    /// Returns whether the last attempt of a task failed, and it is not to be tried again yet.
    pub(super) fn is_refused(&self, id: &SummaryKey) -> bool {
        self.refused.contains_key(&self.policy.refusal_key(id))
    }

    /// Returns why a task is not to be tried again yet.
    pub(super) fn refusal(&self, id: &SummaryKey) -> Option<&str> {
        self.refused.get(&self.policy.refusal_key(id)).map(String::as_str)
    }

    /// Returns whether a subject must never be sent: it may contain a secret, or a model declined to read it.
    pub(super) fn is_withheld(&self, node: &SubjectKey, strategy: PromptStrategy) -> bool {
        self.task_id(node, strategy).is_some_and(|id| self.withheld.contains(&self.policy.refusal_key(&id)))
    }

    /// Returns the summary of a subject for the first wanted tier, by the first model that has written one.
    pub(super) fn summary_text(&self, node: &SubjectKey, strategy: PromptStrategy) -> Option<String> {
        let (db, tier) = (self.db.as_ref()?, *self.policy.tiers.first()?);
        let mut found = self.policy.models.iter().filter_map(|by| {
            let summary = db.summary(&self.key(node, strategy, by, tier)).ok()??;
            Some(summary.text)
        });
        found.next()
    }

    /// Returns the missing summaries of a subject, by each model for each tier.
    pub(super) fn wanted(&self, node: &SubjectKey, strategy: PromptStrategy) -> Vec<WantedSummary> {
        if self.is_done(node, strategy) {
            return Vec::new();
        }
        let wanted = |by: &SummaryModel, tier: Tier| {
            let key = self.key(node, strategy, by, tier);
            self.missing.contains(&key).then(|| WantedSummary {
                key,
                node: *node,
                tier,
                prompt: strategy.versioned(),
                model: by.name.clone(),
                paths: Vec::new(),
            })
        };
        let of_model = |by| self.policy.tiers.iter().filter_map(move |tier| wanted(by, *tier));
        self.policy.models.iter().flat_map(of_model).collect()
    }

    fn all_keys(&self, nodes: &[(SubjectKey, PromptStrategy)]) -> Vec<SummaryKey> {
        let mut keys = Vec::with_capacity(nodes.len() * self.policy.models.len() * self.policy.tiers.len());
        for (node, strategy) in nodes {
            for by in &self.policy.models {
                keys.extend(self.policy.tiers.iter().map(|tier| self.key(node, *strategy, by, *tier)));
            }
        }
        keys
    }
}

/// Looks up the state of these subjects. A database that cannot be read is an error, not an empty one: otherwise, all
/// of its contents would be paid for again.
pub(super) fn known_summaries(
    workspace: &Workspace<'_>,
    policy: &SummaryPolicy,
    nodes: &[(SubjectKey, PromptStrategy)],
) -> Result<KnownSummaries, Error> {
    let mut known = KnownSummaries::new(policy);
    let keys = known.all_keys(nodes);
    let opened = AgentDb::open_reader(&workspace.cache_folder().join(AGENT_DATABASE)).map_err(Error::Paid)?;
    let Some(mut db) = opened else {
        known.missing = keys.into_iter().collect();
        return Ok(known);
    };
    db.trust_writers(&workspace.options.summary_lookup.writers);
    known.missing = db.missing_keys(&keys).map_err(Error::Paid)?.into_iter().collect();
    let now_ms = workspace.world.clock.now_ms();
    let holds = |refused: &RefusalRow| refused.until_ms.is_none_or(|until| now_ms < until);
    for refused in db.refusals().map_err(Error::Paid)?.into_iter().filter(holds) {
        if refused.until_ms.is_none() {
            known.withheld.insert(refused.task_key);
        }
        known.refused.insert(refused.task_key, refused.reason);
    }
    known.db = Some(db);
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the subject of each folder, by its path, given files as their paths and texts.
    fn folders(files: &[(&str, &str)]) -> BTreeMap<String, SubjectFolder> {
        let paths: Vec<RelPath> =
            files.iter().map(|(path, _)| RelPath::new(path.as_bytes()).unwrap()).collect();
        let leaf = |(path, (_, text)): (_, &(&str, &str))| {
            let node = SubjectKey {
                scope: SummaryScope::File,
                subject: ContentHash::digest(text.as_bytes()),
                language: "python",
            };
            SubjectFile { path, key: node, bytes: text.len() as u64 }
        };
        let leaves: Vec<SubjectFile<'_>> = paths.iter().zip(files).map(leaf).collect();
        let name = |folder: &SubjectFolder| folder.path.as_ref().map_or(".".to_owned(), ToString::to_string);
        subject_folders(&leaves).into_iter().map(|folder| (name(&folder), folder)).collect()
    }

    const FILES: &[(&str, &str)] = &[
        ("src/a.py", "a"),
        ("src/b.py", "b"),
        ("src/deep/c.py", "c"),
        ("src/deep/d.py", "d"),
        ("e.py", "e"),
    ];

    #[test]
    fn a_folder_is_identified_by_its_contents() {
        let folders = folders(FILES);
        let names: Vec<&str> = folders.keys().map(String::as_str).collect();
        assert_eq!(names, [".", "src", "src/deep"]);
        assert_eq!(folders["src"].children.len(), 3);
        assert!(folders["src"].children.contains_key(&folders["src/deep"].key));
        assert_eq!((folders["."].key.scope, folders["."].bytes), (SummaryScope::Project, 5));
    }

    #[test]
    fn names_do_not_matter() {
        let moved =
            &[("lib/x.py", "b"), ("lib/y.py", "a"), ("lib/z/d.py", "c"), ("lib/z/c.py", "d"), ("f.py", "e")];
        let (before, after) = (folders(FILES), folders(moved));
        assert_eq!(before["src"].key, after["lib"].key);
        assert_eq!(before["."].key, after["."].key);
    }

    #[test]
    fn a_change_reaches_the_folders_above_and_no_others() {
        let mut changed = FILES.to_vec();
        changed[0].1 = "A";
        let (before, after) = (folders(FILES), folders(&changed));
        assert_eq!(before["src/deep"].key, after["src/deep"].key);
        assert_ne!(before["src"].key, after["src"].key);
        assert_ne!(before["."].key, after["."].key);
    }

    #[test]
    fn a_folder_with_one_subject_is_that_subject() {
        let folders = folders(&[("a/b/c/x.py", "x"), ("a/b/c/copy.py", "x")]);
        for folder in folders.values() {
            assert_eq!(folder.key.scope, SummaryScope::File);
            assert!(folder.children.is_empty());
        }
        assert_eq!(folders.len(), 4);
    }

    #[test]
    fn a_folder_whose_name_has_another_as_prefix_is_not_inside_it() {
        let folders = folders(&[("a/x.py", "x"), ("a/y.py", "y"), ("a-b/z.py", "z"), ("a-b/w.py", "w")]);
        assert_eq!(folders["a"].children.len(), 2);
        assert_eq!(folders["a-b"].children.len(), 2);
        assert_eq!(folders["."].children.len(), 2);
    }
}
