//! What documents are asked for with, declared: the flags of `aggregate` and `explain`.

#![expect(clippy::doc_markdown, reason = "these comments are help texts, and read as they stand")]

use std::path::PathBuf;

use clap::Args as Arguments;
use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;

use super::values::order;
use super::values::strategy;
use crate::model::AggregationStrategy;
use crate::model::FileOrder;

/// What decides about views.
#[derive(Debug, Arguments)]
pub struct ViewSelectionArgs {
    /// Compose for this tier: 1 orchestrator, 2 tech lead, 3 worker, 4 QA
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=4))]
    pub tier: Option<u8>,
    /// Compose for this persona, as slop.toml describes it
    #[arg(long, value_name = "NAME", conflicts_with = "tier")]
    pub persona: Option<String>,
    /// Aggregate the files of this preset, and show them as it says
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Pick the views this way; the setting is project.aggregation_strategy
    #[arg(long, value_name = "STRATEGY", value_parser = strategy())]
    pub strategy: Option<AggregationStrategy>,
    /// Put these files in focus: a path, a name, a part of a path, a pattern, or path:line
    #[arg(long, value_name = "PATH")]
    pub focus: Vec<String>,
    /// Show against this revision what is shown as a diff; without it, against the last commit
    #[arg(long, value_name = "REVISION", hide_short_help = true)]
    pub against: Option<String>,
    /// Keep within so many tokens: the least important files are shown smaller
    ///
    /// The setting is tiers.N.budget_tokens. Tokens are counted in the document as Markdown, whatever the format. So they are the text that a request body
    /// gives to a model, without its system prompt and the images that are sent as such; what JSON adds to it is limited
    /// by --max-bytes.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// Keep the document within so many bytes as it is written in its format, in the same way
    #[arg(long, value_name = "BYTES", hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_bytes: Option<u64>,
}

/// Arguments of `aggregate`.
#[derive(Debug, Arguments)]
pub struct AggregateArgs {
    /// Files, folders or patterns to aggregate; without any, the whole project
    #[arg(value_name = "FILES")]
    pub files: Vec<String>,
    /// What decides about views.
    #[command(flatten)]
    pub choice: ViewSelectionArgs,
    /// Put the files in this order; the setting is aggregation.order
    #[arg(long, value_name = "ORDER", value_parser = order(), hide_short_help = true)]
    pub order: Option<FileOrder>,
    /// Write the document in this format
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    pub format: FormatArg,
    /// Print the document instead of writing it to a file
    #[arg(long, conflicts_with = "output")]
    pub stdout: bool,
    /// Write the document to this file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the receipt, which says what became of each file, to this file
    #[arg(long, value_name = "FILE")]
    pub receipt: Option<PathBuf>,
    /// How the document is remembered.
    #[command(flatten)]
    pub memory: RememberArgs,
    /// Say what would become of each file, and write nothing
    #[arg(long, conflicts_with_all = ["output", "receipt"])]
    pub dry_run: bool,
    /// What stands beside the files.
    #[command(flatten)]
    pub beside: AttachmentArgs,
    /// Before that, have models write the summaries that are missing, for at most so many seconds
    ///
    /// As `slop summarize` does, without a question; or a daemon that asks of its own accord is waited for. What has not
    /// come by then is shown as it is without.
    #[arg(long, value_name = "SECONDS", hide_short_help = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub wait_agent: Option<u64>,
    /// Read and hash every file, whatever its stamp says
    #[arg(long, hide_short_help = true)]
    pub verify: bool,
}

/// How a document is remembered.
#[derive(Debug, Arguments)]
pub struct RememberArgs {
    /// Show what has changed since the last aggregation of the same name
    ///
    /// Files that would be shown as they were then are left out; those that have changed are shown as diffs, new ones
    /// as they are, and the names of those that are gone. A diff is of what was shown: of two skeletons, say.
    #[arg(long)]
    pub since_last: bool,
    /// Remember the document by this name
    ///
    /// Without it, by tier or persona and preset, as in tier-3 or persona-reviewer/preset-core; by `project` where
    /// there is none of them. Agents that are given different files or focus need names of their own for --since-last.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), hide_short_help = true)]
    pub name: Option<String>,
}

/// What stands beside the files.
#[derive(Debug, Default, Arguments)]
pub struct AttachmentArgs {
    /// End with the discussion in this file: JSON, JSONL or TOML
    ///
    /// Without it, with the discussion in history.toml, if there is one and the tier's setting `history` is on.
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Of the takes of a discussion, use this one
    #[arg(long, value_name = "NAME", conflicts_with = "no_history", hide_short_help = true)]
    pub take: Option<String>,
    /// Leave out the discussion: what is left is the part that a provider caches
    #[arg(long, conflicts_with = "history_only", hide_short_help = true)]
    pub no_history: bool,
    /// Write the discussion alone
    #[arg(long, hide_short_help = true)]
    pub history_only: bool,
    /// Show this image, as a link or with --screenshots-inline
    #[arg(long = "screenshot", value_name = "FILE", hide_short_help = true)]
    pub screenshots: Vec<PathBuf>,
    /// Put the images themselves into the document
    #[arg(long, hide_short_help = true)]
    pub screenshots_inline: bool,
    /// Ask this model, in a provider's format; the settings are below formats
    #[arg(long, value_name = "MODEL", hide_short_help = true)]
    pub model: Option<String>,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// Markdown.
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

/// Arguments of `explain`.
#[derive(Debug, Arguments)]
pub struct ExplainArgs {
    /// A file, a folder or a pattern
    #[arg(value_name = "PATH")]
    pub file: String,
    /// What decides about views.
    #[command(flatten)]
    pub choice: ViewSelectionArgs,
}
