//! Prompt strategies: the wording of the instructions, one strategy for each kind of subject; and the keys of
//! summaries.

use std::fmt::Write as _;

use crate::model::{ContentHash, FileRole, FileType, SummaryKey, SummaryModel, SummaryScope, Tier};

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

/// Version of everything besides the prompts that affects a summary: how material is selected, how answers are
/// cleaned.
const KEY_VERSION: u32 = 2;

/// Everything that a model's summary depends on.
///
/// | | enters the key | because |
/// |---|---|---|
/// | `KEY_VERSION` | yes | this program selects the material and cleans the answer |
/// | subject | yes, its hash | it is what the summary describes |
/// | scope | yes | a folder and its only content have different prompts |
/// | language | yes, the file type's id | the same text is described differently as C and as C++ |
/// | strategy | yes, with its version | another prompt gives another summary |
/// | instructions | yes, the hash of the whole text, which includes the requested tiers | likewise, even if somebody forgot to raise the version |
/// | most bytes of material | yes | a shortened file is described in less detail |
/// | secrets: the policy and the version of the rules | yes | what was redacted cannot be described |
/// | provider, model, temperature, top-p, most tokens of the answer | yes | another model gives another summary |
/// | fields that the provider is sent for the model | yes, as their text | reasoning settings change the summary |
/// | tier | yes | one call returns the summaries for several |
/// | path, name, time, machine, budget | never | a file that is moved or touched keeps its summary |
#[derive(Debug, Clone, Copy)]
pub struct KeyParts<'a> {
    pub scope: SummaryScope,
    pub subject: &'a ContentHash,
    /// Id of the file type; empty for a folder.
    pub language: &'a str,
    pub strategy: PromptStrategy,
    pub by: &'a SummaryModel,
    pub tier: Tier,
}

#[derive(Debug, Clone, Copy)]
pub struct PromptLimits {
    pub material_bytes: usize,
    /// The most tokens of an answer, if the model has no limit of its own.
    pub answer_tokens: u32,
}

/// Builds keys from the parts that are the same for all subjects.
#[derive(Debug, Clone)]
pub struct SummaryKeyBuilder {
    instructions: [ContentHash; PromptStrategy::ALL.len()],
    versioned: [String; PromptStrategy::ALL.len()],
    material_bytes: u64,
    secrets: String,
    answer_tokens: u32,
}

impl SummaryKeyBuilder {
    /// Returns a builder for prompts about these tiers.
    pub fn new(tiers: &[Tier], limits: &PromptLimits, redacts: bool, rules: &str) -> Self {
        let mode = if redacts { "redact" } else { "withhold" };
        Self {
            // Hashed once, because keys are computed for every file and tier of a project.
            instructions: PromptStrategy::ALL
                .map(|strategy| ContentHash::digest(instructions(strategy, tiers).as_bytes())),
            versioned: PromptStrategy::ALL.map(PromptStrategy::versioned),
            material_bytes: limits.material_bytes as u64,
            secrets: format!("{mode}/{rules}"),
            answer_tokens: limits.answer_tokens,
        }
    }

    pub fn key(&self, parts: &KeyParts<'_>) -> SummaryKey {
        // `ALL` has the variants in the order of their declaration, so the discriminant is the index.
        let at = parts.strategy as usize;
        let mut bytes = Vec::with_capacity(320);
        let mut field = |field: &[u8]| {
            // Length-prefixed, so that no two lists of fields give the same bytes.
            bytes.extend_from_slice(&(field.len() as u64).to_le_bytes());
            bytes.extend_from_slice(field);
        };
        field(&KEY_VERSION.to_le_bytes());
        field(parts.scope.name().as_bytes());
        field(parts.subject.as_bytes());
        field(parts.language.as_bytes());
        field(self.versioned[at].as_bytes());
        field(self.instructions[at].as_bytes());
        field(&self.material_bytes.to_le_bytes());
        field(self.secrets.as_bytes());
        field(parts.by.name.provider.as_bytes());
        field(parts.by.name.model.as_bytes());
        for share in [parts.by.temperature, parts.by.top_p] {
            field(share.map(|share| share.to_bits().to_le_bytes()).as_ref().map_or(&[], |bits| &bits[..]));
        }
        field(&parts.by.max_output_tokens.unwrap_or(self.answer_tokens).to_le_bytes());
        field(parts.by.fields.as_bytes());
        field(&[parts.tier.number()]);
        SummaryKey(ContentHash::digest(&bytes))
    }
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

#[cfg(test)]
mod key_tests {
    use std::collections::HashSet;

    use super::*;
    use crate::model::ModelName;

    fn writer(provider: &str, model: &str) -> SummaryModel {
        SummaryModel::plain(ModelName { provider: provider.to_owned(), model: model.to_owned() })
    }

    #[test]
    fn every_input_of_a_summary_changes_its_key() {
        let limits = PromptLimits { material_bytes: 1_000, answer_tokens: 100 };
        let both = [Tier::Orchestrator, Tier::TechLead];
        let subject = ContentHash::digest(b"x");
        let by = writer("a", "bc");
        let parts = KeyParts {
            scope: SummaryScope::File,
            subject: &subject,
            language: "c",
            strategy: PromptStrategy::Code,
            by: &by,
            tier: Tier::Orchestrator,
        };
        let ring = SummaryKeyBuilder::new(&both, &limits, false, "1");
        let writers = [
            writer("ab", "c"),
            SummaryModel { temperature: Some(0.0), ..by.clone() },
            SummaryModel { top_p: Some(0.0), ..by.clone() },
            SummaryModel { max_output_tokens: Some(101), ..by.clone() },
            SummaryModel { fields: "{\"think\":false}".to_owned(), ..by.clone() },
        ];
        let mut keys = vec![
            ring.key(&parts),
            ring.key(&KeyParts { scope: SummaryScope::Folder, ..parts }),
            ring.key(&KeyParts { subject: &ContentHash::digest(b"y"), ..parts }),
            ring.key(&KeyParts { language: "cpp", ..parts }),
            ring.key(&KeyParts { strategy: PromptStrategy::Prose, ..parts }),
            ring.key(&KeyParts { tier: Tier::TechLead, ..parts }),
            SummaryKeyBuilder::new(&both[..1], &limits, false, "1").key(&parts),
            SummaryKeyBuilder::new(&both, &PromptLimits { material_bytes: 1_001, ..limits }, false, "1")
                .key(&parts),
            SummaryKeyBuilder::new(&both, &PromptLimits { answer_tokens: 99, ..limits }, false, "1")
                .key(&parts),
            SummaryKeyBuilder::new(&both, &limits, true, "1").key(&parts),
            SummaryKeyBuilder::new(&both, &limits, false, "2").key(&parts),
        ];
        keys.extend(writers.iter().map(|by| ring.key(&KeyParts { by, ..parts })));
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
    }

    #[test]
    fn an_explicit_limit_equal_to_the_default_gives_the_same_key() {
        let ring = SummaryKeyBuilder::new(
            &[Tier::TechLead],
            &PromptLimits { material_bytes: 1, answer_tokens: 7 },
            false,
            "",
        );
        let subject = ContentHash::digest(b"x");
        let key = |by: &SummaryModel| {
            ring.key(&KeyParts {
                scope: SummaryScope::File,
                subject: &subject,
                language: "c",
                strategy: PromptStrategy::Code,
                by,
                tier: Tier::TechLead,
            })
        };
        let by = writer("a", "b");
        assert_eq!(key(&by), key(&SummaryModel { max_output_tokens: Some(7), ..by.clone() }));
    }
}
