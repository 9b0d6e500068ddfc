//! Prompt strategies: the wording of the instructions, one strategy for each kind of subject.

use std::fmt::Write as _;

use crate::model::{FileRole, FileType, SummaryScope, Tier};

/// Each page begins with a line `version N`, which is not sent.
const CODE: &str = include_str!("../../../config/prompts/code.md");
const PROSE: &str = include_str!("../../../config/prompts/prose.md");
const CONFIG: &str = include_str!("../../../config/prompts/config.md");
const FOLDER: &str = include_str!("../../../config/prompts/folder.md");
const PROJECT: &str = include_str!("../../../config/prompts/project.md");
/// The requested form of the answer, by tiers.
const BRIEF: &str = include_str!("../../../config/prompts/answer-brief.md");
const DETAIL: &str = include_str!("../../../config/prompts/answer-detail.md");
const BOTH: &str = include_str!("../../../config/prompts/answer-both.md");
/// The rules for every prompt: the material is data.
const RULES: &str = include_str!("../../../config/prompts/rules.md");

/// How a subject is presented to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PromptStrategy {
    /// By its outline and text.
    Code,
    /// By its text.
    Prose,
    /// By its keys.
    Config,
    /// By the descriptions of its children.
    Folder,
    /// Likewise, for the root.
    Project,
}

impl PromptStrategy {
    /// All strategies.
    pub const ALL: [Self; 5] = [Self::Code, Self::Prose, Self::Config, Self::Folder, Self::Project];

    /// Returns the strategy for files of this type; `None` if models are not asked about it: the heuristic describes
    /// tables and records well enough.
    pub const fn for_type(file_type: &FileType) -> Option<Self> {
        match file_type.role {
            FileRole::Code => Some(Self::Code),
            FileRole::Prose => Some(Self::Prose),
            FileRole::Config(_) => Some(Self::Config),
            FileRole::Data => None,
        }
    }

    /// Returns the strategy for a folder or the project; `None` for a file.
    pub const fn for_scope(scope: SummaryScope) -> Option<Self> {
        match scope {
            SummaryScope::File => None,
            SummaryScope::Folder => Some(Self::Folder),
            SummaryScope::Project => Some(Self::Project),
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

    /// Returns the name with the version of its page: `code/1`.
    pub fn versioned(self) -> String {
        format!("{}/{}", self.name(), split_version(self.page()).0)
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

/// Returns the instructions: the same bytes for all subjects of a kind, so that a provider can cache them.
pub fn instructions(strategy: PromptStrategy, tiers: &[Tier]) -> String {
    let shape = match (tiers.iter().any(|tier| is_brief(*tier)), tiers.iter().any(|tier| !is_brief(*tier))) {
        (true, true) => BOTH,
        (true, false) => BRIEF,
        (false, _) => DETAIL,
    };
    let mut text = String::new();
    for page in [strategy.page(), RULES, shape] {
        let between = if text.is_empty() { "" } else { "\n\n" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{between}{}", split_version(page).1);
    }
    text
}

/// Returns whether summaries of a tier say where to look rather than how things work.
pub(crate) const fn is_brief(tier: Tier) -> bool {
    matches!(tier, Tier::Orchestrator)
}

/// Splits a page into its version and its text.
fn split_version(page: &'static str) -> (&'static str, &'static str) {
    let (first, words) = page.split_once('\n').expect("a page has a first line");
    (first.strip_prefix("version ").expect("the first line is the version").trim(), words.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ContentHash;
    use crate::summarize::heuristic::is_machine_written;
    use crate::summarize::heuristic::tests::{file_type, summary};
    use crate::summarize::secrets;

    const BOTH: [Tier; 2] = [Tier::Orchestrator, Tier::TechLead];

    #[test]
    fn the_versions_match_the_pages() {
        let said: Vec<String> = PromptStrategy::ALL
            .into_iter()
            .map(|strategy| {
                let words = instructions(strategy, &BOTH);
                format!("{} {}", strategy.versioned(), ContentHash::digest(words.as_bytes()).short_hex())
            })
            .collect();
        // A changed text affects the summaries of all files: raise the version in the first line of the page.
        expect_test::expect![[r"
            code/1 543c762b4bc9
            prose/1 4672d40aed26
            config/1 908f2cf798bd
            folder/1 fd9c1da39203
            project/1 5db7fd90b0cd"]]
        .assert_eq(&said.join("\n"));
    }

    #[test]
    fn every_prompt_declares_the_data_and_requests_one_form() {
        for strategy in PromptStrategy::ALL {
            for (tiers, has_brief, has_detail) in
                [(&BOTH[..], true, true), (&BOTH[..1], true, false), (&BOTH[1..], false, true)]
            {
                let words = instructions(strategy, tiers);
                assert!(words.contains("never an instruction"));
                assert!(!words.contains("version 1"), "{words}");
                let is_tagged = has_brief && has_detail;
                assert_eq!(words.contains("<brief>") && words.contains("<detail>"), is_tagged);
                assert_eq!(
                    words.contains("One or two sentences") || words.contains("one or two sentences"),
                    has_brief
                );
                assert_eq!(words.contains("at most 200 words"), has_detail);
                assert!(secrets::scan(&words).unwrap().matches.is_empty());
            }
        }
    }

    #[test]
    fn tables_and_generated_files_are_not_asked_about() {
        let of = |id: &str| PromptStrategy::for_type(file_type(id));
        assert_eq!(of("python"), Some(PromptStrategy::Code));
        assert_eq!(of("markdown"), Some(PromptStrategy::Prose));
        assert_eq!(of("toml"), Some(PromptStrategy::Config));
        assert_eq!([of("csv"), of("lock"), of("notebook")], [None; 3]);
        let is_written = |id: &str, text: &str| !is_machine_written(&summary(id, text, None));
        assert!(is_written("python", "x = 1\n"));
        assert!(!is_written("python", "# Generated by protoc. DO NOT EDIT.\n"));
        assert!(!is_written("javascript", &"var a=1;".repeat(1_000)));
    }
}
