//! The cache key of a model's summary.

use super::strategy::{PromptStrategy, instructions};
use crate::model::{ContentHash, SummaryKey, SummaryModel, SummaryScope, Tier};

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
    /// The kind of the subject.
    pub scope: SummaryScope,
    /// The hash of the subject.
    pub subject: &'a ContentHash,
    /// Id of the file type; empty for a folder.
    pub language: &'a str,
    /// The prompt strategy.
    pub strategy: PromptStrategy,
    /// The model and its parameters.
    pub by: &'a SummaryModel,
    /// The tier of the summary.
    pub tier: Tier,
}

/// Limits of a prompt and its answer.
#[derive(Debug, Clone, Copy)]
pub struct PromptLimits {
    /// The most bytes of material.
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

    /// Returns the key of a summary.
    pub fn key(&self, parts: &KeyParts<'_>) -> SummaryKey {
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
    use std::collections::HashSet;

    use super::*;
    use crate::model::ModelName;

    fn writer(provider: &str, model: &str) -> SummaryModel {
        SummaryModel::plain(ModelName { provider: provider.to_owned(), model: model.to_owned() })
    }

    #[test]
    fn everything_that_affects_the_summary_changes_the_key() {
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
