//! Which words a model is asked with: one strategy for each kind of subject.

use std::fmt::Write as _;

use crate::model::FileType;
use crate::model::Role;
use crate::model::Scope;
use crate::model::Tier;

use super::super::heuristic::Source;
use super::super::opening;

/// Each begins with a line `version N`, which is not sent.
const CODE: &str = include_str!("../../../config/prompts/code.md");
const PROSE: &str = include_str!("../../../config/prompts/prose.md");
const CONFIG: &str = include_str!("../../../config/prompts/config.md");
const FOLDER: &str = include_str!("../../../config/prompts/folder.md");
const PROJECT: &str = include_str!("../../../config/prompts/project.md");
/// What the answer is to look like, by what is wanted.
const BRIEF: &str = include_str!("../../../config/prompts/answer-brief.md");
const DETAIL: &str = include_str!("../../../config/prompts/answer-detail.md");
const BOTH: &str = include_str!("../../../config/prompts/answer-both.md");
/// What is true of every question: the material is data.
const RULES: &str = include_str!("../../../config/prompts/rules.md");

/// How a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Its outline and its text.
    Code,
    /// Its text.
    Prose,
    /// Its keys.
    Config,
    /// What is known of what lies in it.
    Folder,
    /// Likewise.
    Project,
}

impl Strategy {
    /// Every strategy there is.
    pub const ALL: [Self; 5] = [Self::Code, Self::Prose, Self::Config, Self::Folder, Self::Project];

    /// Returns how a content of such a file is asked about; `None` where no model is: rows and records say nothing that
    /// the heuristic does not.
    pub const fn of_type(file_type: &FileType) -> Option<Self> {
        match file_type.role {
            Role::Code => Some(Self::Code),
            Role::Prose => Some(Self::Prose),
            Role::Config(_) => Some(Self::Config),
            Role::Data => None,
        }
    }

    /// Returns how this text is asked about; `None` where a program wrote it, or squeezed it.
    pub fn of(source: &Source<'_>) -> Option<Self> {
        let is_written = !opening::is_minified(source) && !opening::is_generated(source);
        Self::of_type(source.file_type).filter(|_| is_written)
    }

    /// Returns how a folder, or the whole of a project, is asked about; `None` for a file.
    pub const fn of_scope(scope: Scope) -> Option<Self> {
        match scope {
            Scope::File => None,
            Scope::Folder => Some(Self::Folder),
            Scope::Project => Some(Self::Project),
        }
    }

    /// Returns the stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Prose => "prose",
            Self::Config => "config",
            Self::Folder => "folder",
            Self::Project => "project",
        }
    }

    /// Returns the name with the version of its words: `code/1`.
    pub fn versioned(self) -> String {
        format!("{}/{}", self.name(), parted(self.page()).0)
    }

    const fn page(self) -> &'static str {
        match self {
            Self::Code => CODE,
            Self::Prose => PROSE,
            Self::Config => CONFIG,
            Self::Folder => FOLDER,
            Self::Project => PROJECT,
        }
    }
}

/// Returns what a model is told to do: the same bytes for all subjects of a kind, so that a provider can keep them.
pub fn instructions(strategy: Strategy, tiers: &[Tier]) -> String {
    let shape = match (tiers.iter().any(is_brief), tiers.iter().any(|tier| !is_brief(tier))) {
        (true, true) => BOTH,
        (true, false) => BRIEF,
        (false, _) => DETAIL,
    };
    let mut text = String::new();
    for page in [strategy.page(), RULES, shape] {
        let between = if text.is_empty() { "" } else { "\n\n" };
        // Writing to a string cannot go wrong.
        let _ = write!(text, "{between}{}", parted(page).1);
    }
    text
}

/// Says whether a tier wants to know where to look rather than how it works.
pub(super) const fn is_brief(tier: &Tier) -> bool {
    matches!(tier, Tier::Orchestrator)
}

/// Returns the version of a page and its words.
fn parted(page: &'static str) -> (&'static str, &'static str) {
    let (first, words) = page.split_once('\n').expect("a page has a first line");
    (first.strip_prefix("version ").expect("the first line is the version").trim(), words.trim())
}
