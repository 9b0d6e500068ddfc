//! Which files a model is asked about at all.

use super::errand::SummaryPolicy;
use crate::aggregate::CuratedItems;
use crate::aggregate::ExclusionPatterns;
use crate::discover;
use crate::discover::NameRules;
use crate::engine::artifacts::ContentRef;
use crate::engine::error::Error;
use crate::engine::workspace::{KnownFile, KnownState, Workspace};
use crate::model::FileItem;
use crate::model::RelPath;
use crate::model::SkipReason;
use crate::model::ViewMode;
use crate::summarize::prompt::PromptStrategy;

/// Why no model is asked about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IneligibleReason {
    /// It has no text, or none that may be shown.
    LeftOut(SkipReason),
    /// A pattern of `agent.exclude` matches it.
    Excluded,
    /// A person keeps it out of documents.
    Hidden,
    /// It holds rows, or a program wrote it.
    Data,
    /// It is so small that the heuristic says all there is to say.
    Small,
}

/// The rules by which files are asked about.
pub(in crate::engine) struct EligibilityRules {
    exclude: ExclusionPatterns,
    secrets: NameRules,
    items: CuratedItems,
    min_bytes: u64,
}

impl EligibilityRules {
    /// Reads the names.
    pub(in crate::engine) fn new(
        (exclude, secrets): (ExclusionPatterns, &discover::Options),
        items: Vec<FileItem>,
        least_bytes: u64,
    ) -> Result<Self, Error> {
        let secrets = NameRules::new(secrets)?;
        Ok(Self { exclude, secrets, items: CuratedItems::new(items), min_bytes: least_bytes })
    }

    /// Returns the content to ask about, and how.
    pub(in crate::engine) fn check<'a>(
        &self,
        file: &'a KnownFile,
    ) -> Result<(ContentRef<'a>, PromptStrategy), IneligibleReason> {
        if let KnownState::LeftOut(reason) = file.state {
            return Err(IneligibleReason::LeftOut(reason));
        }
        if let Some(reason) = self.secrets.skip_reason(&file.path) {
            return Err(IneligibleReason::LeftOut(reason));
        }
        if self.exclude.excludes(&file.path) {
            return Err(IneligibleReason::Excluded);
        }
        if self.is_hidden(&file.path) {
            return Err(IneligibleReason::Hidden);
        }
        let subject = ContentRef::from_file(file).ok_or(IneligibleReason::Data)?;
        let strategy = PromptStrategy::for_type(subject.file_type).ok_or(IneligibleReason::Data)?;
        if subject.facts.size < self.min_bytes.max(1) {
            return Err(IneligibleReason::Small);
        }
        Ok((subject, strategy))
    }

    /// Says whether a person picked the file out.
    pub(in crate::engine) fn is_curated(&self, path: &RelPath) -> bool {
        self.items.find(path).is_some()
    }

    fn is_hidden(&self, path: &RelPath) -> bool {
        self.items.find(path).is_some_and(|item| {
            // What is to be shown in full is shown, whatever else is said of it.
            let is_hidden = !item.auto_aggregate || item.view_mode == Some(ViewMode::None);
            is_hidden && !(item.auto_aggregate && item.force_full)
        })
    }
}

/// Returns the rules that a wish asks for.
pub(in crate::engine) fn eligibility(
    workspace: &Workspace<'_>,
    wish: &SummaryPolicy,
) -> Result<EligibilityRules, Error> {
    let exclude = ExclusionPatterns::new(&wish.exclude, &workspace.root)?;
    EligibilityRules::new(
        (exclude, &wish.secret_names),
        workspace.relative_items(&wish.items),
        wish.min_bytes,
    )
}
