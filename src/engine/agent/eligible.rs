//! Which files a model is asked about at all.

use super::errand::Wish;
use crate::aggregate::Exclusions;
use crate::aggregate::Items;
use crate::discover;
use crate::discover::Names;
use crate::engine::Error;
use crate::engine::Project;
use crate::engine::artifacts::Subject;
use crate::engine::scan::KnownFile;
use crate::engine::scan::KnownState;
use crate::model::FileItem;
use crate::model::LeftOut;
use crate::model::RelPath;
use crate::model::ViewMode;
use crate::summarize::agent::Strategy;

/// Why no model is asked about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotAsked {
    /// It has no text, or none that may be shown.
    LeftOut(LeftOut),
    /// A pattern of `agent.exclude` matches it.
    Excluded,
    /// A person keeps it out of documents.
    Curated,
    /// It holds rows, or a program wrote it.
    Data,
    /// It is so small that the heuristic says all there is to say.
    Small,
}

/// The rules by which files are asked about.
pub(in crate::engine) struct Eligibility {
    exclude: Exclusions,
    secrets: Names,
    items: Items,
    least_bytes: u64,
}

impl Eligibility {
    /// Reads the names.
    pub(in crate::engine) fn new(
        (exclude, secrets): (Exclusions, &discover::Options),
        items: Vec<FileItem>,
        least_bytes: u64,
    ) -> Result<Self, Error> {
        let secrets = Names::new(secrets)?;
        Ok(Self { exclude, secrets, items: Items::new(items), least_bytes })
    }

    /// Returns the content to ask about, and how.
    pub(in crate::engine) fn judge<'a>(
        &self,
        file: &'a KnownFile,
    ) -> Result<(Subject<'a>, Strategy), NotAsked> {
        if let KnownState::LeftOut(reason) = file.state {
            return Err(NotAsked::LeftOut(reason));
        }
        if let Some(reason) = self.secrets.left_out(&file.path) {
            return Err(NotAsked::LeftOut(reason));
        }
        if self.exclude.excludes(&file.path) {
            return Err(NotAsked::Excluded);
        }
        if self.is_curated_away(&file.path) {
            return Err(NotAsked::Curated);
        }
        let subject = Subject::of(file).ok_or(NotAsked::Data)?;
        let strategy = Strategy::of_type(subject.file_type).ok_or(NotAsked::Data)?;
        if subject.facts.size < self.least_bytes.max(1) {
            return Err(NotAsked::Small);
        }
        Ok((subject, strategy))
    }

    /// Says whether a person picked the file out.
    pub(super) fn is_curated(&self, path: &RelPath) -> bool {
        self.items.of(path).is_some()
    }

    fn is_curated_away(&self, path: &RelPath) -> bool {
        self.items.of(path).is_some_and(|item| {
            // What is to be shown in full is shown, whatever else is said of it.
            let is_hidden = !item.auto_aggregate || item.view_mode == Some(ViewMode::None);
            is_hidden && !(item.auto_aggregate && item.force_full)
        })
    }
}

impl Project<'_> {
    /// Returns the rules that a wish asks for.
    pub(super) fn eligibility(&self, wish: &Wish) -> Result<Eligibility, Error> {
        let exclude = Exclusions::new(&wish.exclude, &self.root)?;
        Eligibility::new((exclude, &wish.secrets), self.items_within(&wish.items), wish.least_bytes)
    }
}
