//! What clients ask, in words: the JSON of the local API, the arguments of MCP's tools, the flags of the command line.
//!
//! An [`Ask`] says what a client wants and leaves the rest to the project's settings. The `service` room makes a
//! [`super::Request`] of it, in which nothing is left open.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

/// What can be asked by any client, with a daemon or without one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum AnyQuery {
    /// Bring the cache up to date.
    Index(IndexAsk),
    /// The state of every file of the project.
    Files,
    /// The symbols of files.
    Outline(OutlineAsk),
    /// Views of files.
    View(ViewAsk),
    /// Where a name is defined.
    Symbols(SymbolsAsk),
    /// One document made for one agent.
    Aggregate(Box<AggregateAsk>),
    /// Why files get the views that they get.
    Explain(Box<ExplainAsk>),
    /// How much is cached.
    CacheStatus,
    /// Delete what is cached.
    CacheClear(CacheClearAsk),
    /// Check every byte that is cached.
    CacheVerify,
    /// Delete what no file has held for long.
    CacheCollect(CacheCollectAsk),
    /// Compare the index with the files themselves.
    Audit,
}

/// What is asked of an index run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IndexAsk {
    /// Read and hash every file, whatever its stamp says.
    pub verify: bool,
}

/// Which outlines are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OutlineAsk {
    /// Files, folders or patterns, from the project's folder; every file that has an outline, where there is none.
    pub files: Vec<String>,
    /// Read and hash the files, whatever their stamps say.
    pub verify: bool,
}

/// Which views are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ViewAsk {
    /// Files, folders or patterns, from the project's folder.
    pub files: Vec<String>,
    /// How to show them; without it in full, or as large as `limits.max_bytes` allows.
    pub mode: Option<ModeName>,
    /// What to show of single symbols, for the mode `masked`.
    pub mask: Vec<MaskEntry>,
    /// Lines to show, for the mode `custom`.
    pub lines: Vec<LineRange>,
    /// The commit, branch or tag that the mode `diff` compares with; without it, the last commit.
    pub against: Option<String>,
    /// Read and hash the files, whatever their stamps say.
    pub verify: bool,
}

/// What to show of one symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaskEntry {
    /// The symbol's name, as outlines give it.
    pub symbol: String,
    /// How to show it.
    pub show: MaskName,
}

/// Some lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineRange {
    /// The first line, from 1.
    pub start: u32,
    /// The last line, inclusive.
    pub end: u32,
}

/// Which symbols are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SymbolsAsk {
    /// The name, qualified or not: `run`, `Engine.run`, `ns::Engine::run`.
    pub name: String,
    /// Whether the definitions' texts are wanted.
    #[serde(default)]
    pub definition: bool,
}

/// What decides about views.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChoiceAsk {
    /// Compose for this tier: 1 orchestrator, 2 tech lead, 3 worker, 4 QA.
    #[schemars(range(min = 1, max = 4))]
    pub tier: Option<u8>,
    /// Compose for this persona; not together with a tier.
    pub persona: Option<String>,
    /// Aggregate the files of this preset, and show them as it says.
    pub preset: Option<String>,
    /// Pick the views this way.
    pub strategy: Option<StrategyName>,
    /// Files in focus: a path, a name, a part of a path, a pattern, or `path:line`.
    pub focus: Vec<String>,
    /// The revision that diffs are against; without it, the last commit.
    pub against: Option<String>,
    /// Keep within so many tokens: the least important files are shown smaller.
    #[schemars(range(min = 1))]
    pub budget: Option<u64>,
    /// Keep within so many tokens where neither `budget` nor the settings say how many.
    #[schemars(range(min = 1))]
    pub default_budget: Option<u64>,
    /// Keep the document within so many bytes, in the same way.
    #[schemars(range(min = 1))]
    pub max_bytes: Option<u64>,
}

/// Which document is wanted.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own in JSON")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AggregateAsk {
    /// Files, folders or patterns to aggregate; the whole project where there is none.
    pub files: Vec<String>,
    /// What decides about views.
    pub choice: ChoiceAsk,
    /// The order of the files.
    pub order: Option<OrderName>,
    /// How the document is written.
    pub format: FormatName,
    /// Show what has changed since the last aggregation of the same name.
    pub since_last: bool,
    /// The name that the document is remembered by.
    pub name: Option<String>,
    /// What stands beside the files.
    pub beside: BesideAsk,
    /// Whether the receipt is to tell exact counts of tokens, which costs time.
    pub measured: bool,
    /// Whether the receipt of what would be composed is all that is wanted.
    pub dry_run: bool,
    /// Read and hash every file, whatever its stamp says.
    pub verify: bool,
}

/// What stands beside the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BesideAsk {
    /// A file with the discussion that the document ends with.
    pub history: Option<String>,
    /// Of the takes of a discussion, this one.
    pub take: Option<String>,
    /// Which part of the document is wanted.
    pub part: PartName,
    /// Images to show, as links.
    pub screenshots: Vec<String>,
    /// Whether the images themselves are to be in the document.
    pub screenshots_inline: bool,
    /// The model that a provider's body names.
    pub model: Option<String>,
}

/// Which files' views are to be explained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainAsk {
    /// A file, a folder or a pattern.
    pub file: String,
    /// What decides about views.
    #[serde(default)]
    pub choice: ChoiceAsk,
}

/// What is to be deleted from the cache; everything but what models wrote where nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "these are the flags of a command, each by itself")]
pub struct CacheClearAsk {
    /// What is known of these files alone.
    pub files: Vec<String>,
    /// The summaries.
    pub summaries: bool,
    /// The outlines, skeletons and references.
    pub structure: bool,
    /// The summaries that models wrote, of all files or of the given ones. To have them again costs money.
    pub agent: bool,
    /// Everything, and the summaries that models wrote.
    pub all: bool,
}

/// How long what no file holds is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheCollectAsk {
    /// So many days.
    pub days: u32,
}

/// A view mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModeName {
    /// The text.
    Full,
    /// Some words about the file.
    Summary,
    /// The symbols, one a line.
    Outline,
    /// Signatures, docs and types; bodies taken out.
    Skeleton,
    /// Single symbols, by the mask.
    Masked,
    /// Some lines.
    Custom,
    /// What has changed.
    Diff,
    /// Nothing but that the file is excluded.
    None,
    /// The signatures of all symbols.
    AstSignatures,
    /// The definitions of all symbols.
    AstDefinitions,
}

/// How a symbol is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaskName {
    /// Its definition.
    Def,
    /// Its signature.
    Sig,
    /// Not at all.
    Hide,
}

/// How views are picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StrategyName {
    /// By the tier, the focus and what is said of each file.
    Auto,
    /// Summaries.
    Summarize,
    /// Texts.
    Full,
}

/// The order of a document's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderName {
    /// What seldom changes first.
    Stable,
    /// By path.
    Path,
    /// As they were named.
    Given,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormatName {
    /// Markdown.
    #[default]
    Markdown,
    /// JSON: sections, files and the receipt.
    Json,
    /// The body of a request to Anthropic's Messages API.
    Anthropic,
    /// The body of a request to OpenAI's Chat Completions API.
    Openai,
    /// The body of a request to Gemini's generateContent.
    Gemini,
}

/// A part of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartName {
    /// All of it.
    #[default]
    Whole,
    /// What a provider caches: all but the discussion.
    Prefix,
    /// The discussion alone.
    Suffix,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn full_selection() -> ChoiceAsk {
        ChoiceAsk {
            tier: Some(3),
            persona: Some("reviewer".to_owned()),
            preset: Some("core".to_owned()),
            strategy: Some(StrategyName::Summarize),
            focus: vec!["a.py:12".to_owned()],
            against: Some("HEAD~1".to_owned()),
            budget: Some(1),
            default_budget: Some(2),
            max_bytes: Some(u64::MAX),
        }
    }

    fn all_queries() -> Vec<AnyQuery> {
        let mask = vec![MaskEntry { symbol: "Engine.run".to_owned(), show: MaskName::Def }];
        let beside = BesideAsk {
            history: Some("said.toml".to_owned()),
            part: PartName::Suffix,
            screenshots: vec!["\u{0}/../x.png".to_owned()],
            ..BesideAsk::default()
        };
        vec![
            AnyQuery::Index(IndexAsk { verify: true }),
            AnyQuery::Files,
            AnyQuery::Outline(OutlineAsk::default()),
            AnyQuery::View(ViewAsk {
                files: vec!["src".to_owned()],
                mode: Some(ModeName::AstSignatures),
                mask,
                lines: vec![LineRange { start: 1, end: 2 }],
                ..ViewAsk::default()
            }),
            AnyQuery::Symbols(SymbolsAsk { name: "run".to_owned(), definition: true }),
            AnyQuery::Aggregate(Box::new(AggregateAsk {
                choice: full_selection(),
                order: Some(OrderName::Given),
                format: FormatName::Openai,
                beside,
                ..AggregateAsk::default()
            })),
            AnyQuery::Explain(Box::new(ExplainAsk { file: "a.py".to_owned(), choice: full_selection() })),
            AnyQuery::CacheStatus,
            AnyQuery::CacheClear(CacheClearAsk { summaries: true, ..CacheClearAsk::default() }),
            AnyQuery::CacheVerify,
            AnyQuery::CacheCollect(CacheCollectAsk { days: 30 }),
            AnyQuery::Audit,
        ]
    }

    #[test]
    fn an_ask_is_the_same_after_the_wire() {
        for ask in all_queries() {
            let wire = serde_json::to_string(&ask).unwrap();
            assert_eq!(serde_json::from_str::<AnyQuery>(&wire).unwrap(), ask, "{wire}");
        }
    }

    #[test]
    fn what_is_left_out_is_left_to_the_settings() {
        assert_eq!(serde_json::from_value::<AggregateAsk>(json!({})).unwrap(), AggregateAsk::default());
        let short = json!({"ask": "explain", "file": "a.py"});
        let AnyQuery::Explain(ask) = serde_json::from_value(short).unwrap() else { panic!("no explain ask") };
        assert_eq!(ask.choice, ChoiceAsk::default());
    }

    #[test]
    fn a_key_that_means_nothing_is_named() {
        let wrong = [
            (json!({"ask": "outline", "fils": []}), "fils"),
            (json!({"ask": "aggregate", "choice": {"budgt": 3}}), "budgt"),
            (json!({"ask": "view", "files": ["a"], "mode": "windw"}), "windw"),
            (json!({"ask": "view", "lines": [{"start": 1}]}), "end"),
            (json!({"ask": "symbols"}), "name"),
            (json!({"ask": "erase"}), "erase"),
        ];
        for (ask, word) in wrong {
            let error = serde_json::from_value::<AnyQuery>(ask.clone()).unwrap_err().to_string();
            assert!(error.contains(word), "{ask}: {error}");
        }
    }
}
