//! Declarations of the flags of `aggregate` and `explain`.

#![expect(clippy::doc_markdown, reason = "these comments are shown as plain help texts")]

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args as Arguments, ValueEnum};

use super::values::{cache_lifetime, docs, file_word, order, strategy, whole_number};
use crate::model::{AggregationStrategy, CacheLifetime, DocsDetail, FileOrder};

/// The flags that select views.
#[derive(Debug, Arguments)]
pub struct ViewSelectionArgs {
    /// Compose for this tier: 1 orchestrator, 2 tech lead, 3 worker, 4 QA
    #[arg(long, value_name = "N", value_parser = whole_number::<u8>(1..=4))]
    pub tier: Option<u8>,
    /// Compose for this persona, as defined in slop.toml
    #[arg(long, value_name = "NAME", conflicts_with = "tier")]
    pub persona: Option<String>,
    /// Aggregate the files of this preset, shown as the preset specifies
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Show files as these entries specify, for this document only; - is standard input
    ///
    /// A JSON list of entries with the same keys as in slop.toml: path, view_mode, ast_mask and so on. The entry that
    /// applies to a file replaces all others. Paths are relative to the project's folder.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub items: Option<PathBuf>,
    /// How to choose views [setting: project.aggregation_strategy]
    #[arg(long, value_name = "STRATEGY", value_parser = strategy())]
    pub strategy: Option<AggregationStrategy>,
    /// Focus on these files: a path, part of one, a pattern, or path:4-9
    #[arg(long, value_name = "PATH", value_parser = file_word())]
    pub focus: Vec<String>,
    /// How much of the comments and docstrings skeletons show [setting: aggregation.docs]
    #[arg(long, value_name = "DETAIL", value_parser = docs(), hide_short_help = true)]
    pub docs: Option<DocsDetail>,
    /// Select files and symbols for this task, such as the text of an issue
    ///
    /// Understands paths, names of symbols, stack traces, compiler errors, test failures, quoted strings and plain
    /// words. The document then shows what is most likely relevant, within --budget or the tier's budget, or else
    /// within 20000 tokens.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = NonEmptyStringValueParser::new())]
    pub task: Option<String>,
    /// Read the task from this file, or from standard input if it is -
    #[arg(long, value_name = "FILE", conflicts_with = "task", hide_short_help = true)]
    pub task_file: Option<PathBuf>,
    /// The base revision of diffs [default: the last commit]
    #[arg(long, value_name = "REVISION", hide_short_help = true)]
    pub base: Option<String>,
    /// The name of --base in earlier releases
    #[arg(long, value_name = "REVISION", hide = true, conflicts_with = "base")]
    pub against: Option<String>,
    /// Limit the document to this many tokens, spent on what matters most
    ///
    /// Requested files (focus, curated files) come first. Of the others, the best symbols are shown with their bodies,
    /// the next ones with their signatures, and further files with the names of their symbols or only their paths.
    /// Relevance is determined by --task and --focus, or else by git's history. The corresponding setting is
    /// tiers.N.budget_tokens; by default, the limits for tiers 1 to 4 are 20,000, 40,000, 80,000 and 40,000 tokens,
    /// without a tier that of tier 2; `none` lifts any limit. Tokens are counted in the document as Markdown, whatever
    /// the format. For a request body, that is the text given to the model, without the system prompt and without
    /// inline images; to limit what JSON adds, use --max-bytes.
    #[arg(long, value_name = "TOKENS|none", value_parser = parse_budget)]
    pub budget: Option<u64>,
    /// Limit the document to this many bytes in its output format, in the same way
    #[arg(long, value_name = "BYTES", hide_short_help = true, value_parser = whole_number::<u64>(1..))]
    pub max_bytes: Option<u64>,
}

/// Arguments of `aggregate`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Arguments)]
pub struct AggregateArgs {
    /// Files, folders or patterns to aggregate [default: the whole project]
    #[arg(value_name = "FILES", value_parser = file_word())]
    pub files: Vec<String>,
    /// Aggregate only files that match one of these patterns
    #[arg(long, value_name = "GLOB", value_parser = file_word())]
    pub include: Vec<String>,
    /// Leave out files that match this pattern, as in a .gitignore file
    #[arg(long, value_name = "GLOB", value_parser = file_word())]
    pub exclude: Vec<String>,
    /// The flags that select views.
    #[command(flatten)]
    pub choice: ViewSelectionArgs,
    /// The order of the files [setting: aggregation.order]
    #[arg(long, value_name = "ORDER", value_parser = order(), hide_short_help = true)]
    pub order: Option<FileOrder>,
    /// The format of the document
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    pub format: FormatArg,
    /// Print the document instead of writing it to a file
    #[arg(long, conflicts_with = "output")]
    pub stdout: bool,
    /// Write the document to this file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the receipt, a JSON report of what is shown, to this file
    #[arg(long, value_name = "FILE")]
    pub receipt: Option<PathBuf>,
    /// Which files the receipt lists; totals always cover all files [default: all]
    #[arg(long, value_name = "FILES", value_enum, hide_short_help = true)]
    pub receipt_scope: Option<ReceiptScopeArg>,
    /// The flags for incremental aggregation.
    #[command(flatten)]
    pub memory: RememberArgs,
    /// Aggregate the files that `slop hydrate` has placed as HOT, with a map of the WARM ones
    #[arg(long, conflicts_with_all = ["files", "preset", "history_only"], hide_short_help = true)]
    pub hydrated: bool,
    /// Report which view each file would get, without writing anything
    #[arg(long, conflicts_with_all = ["output", "receipt"])]
    pub dry_run: bool,
    /// The flags for content besides the files.
    #[command(flatten)]
    pub attachments: AttachmentArgs,
    /// Wait up to this many seconds for missing summaries by models
    ///
    /// Runs `slop summarize` first, without confirmation; if a daemon is already writing summaries in the background,
    /// waits for it instead. Files that are not finished in time are shown without a model's summary.
    #[arg(long, value_name = "SECONDS", hide_short_help = true)]
    #[arg(value_parser = whole_number::<u64>(1..=86_400))]
    pub wait_agent: Option<u64>,
    /// Read and hash every file, even if its size and timestamps are unchanged
    #[arg(long, hide_short_help = true)]
    pub verify: bool,
}

/// The flags for incremental aggregation.
#[derive(Debug, Arguments)]
pub struct RememberArgs {
    /// Show only what has changed since the last aggregation of the same name
    ///
    /// Unchanged files are left out, changed files are shown by their changes, symbol by symbol, new files in their
    /// usual view, and deleted files by name. A change is one of what was shown: of a skeleton, for example.
    #[arg(long)]
    pub since_last: bool,
    /// Record the document under this name for --since-last
    ///
    /// Defaults to a name made from the tier or persona and the preset, such as tier-3 or persona-reviewer/preset-core,
    /// or to `project` if none of them is given. Agents that get different files or a different focus need separate
    /// names.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), hide_short_help = true)]
    pub name: Option<String>,
}

/// The flags for content besides the files.
#[derive(Debug, Default, Arguments)]
pub struct AttachmentArgs {
    /// Append the discussion in this file: JSON, JSONL or TOML
    ///
    /// Defaults to history.toml in the project's folder, if the tier's `history` setting is on and the file did not
    /// come with the project: git does not track it, or your own settings ask for it.
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Use the take of this name from the discussion
    #[arg(long, value_name = "NAME", conflicts_with = "no_history", hide_short_help = true)]
    pub take: Option<String>,
    /// Omit the discussion, leaving only the part that a provider can cache
    #[arg(long, conflicts_with = "history_only", hide_short_help = true)]
    pub no_history: bool,
    /// Write only the discussion
    #[arg(long, hide_short_help = true)]
    pub history_only: bool,
    /// Add this image, or those that match a pattern, as a link or with --screenshots-inline
    #[arg(long = "screenshot", value_name = "FILE", hide_short_help = true)]
    pub screenshots: Vec<PathBuf>,
    /// Embed images in the document
    #[arg(long, hide_short_help = true)]
    pub screenshots_inline: bool,
    /// The flags of a provider's request body.
    #[command(flatten)]
    pub body: RequestBodyArgs,
}

/// The flags of a provider's request body.
#[derive(Debug, Default, Arguments)]
pub struct RequestBodyArgs {
    /// The model named in a provider's request body [settings: formats.*]
    #[arg(long, value_name = "MODEL", hide_short_help = true)]
    pub model: Option<String>,
    /// How many prefixes of the prompt a provider's request body asks to cache [setting: formats.cache_marks]
    ///
    /// From 0 to 3: providers support four, and one is left for the caller's own prompt. The first mark is at the end
    /// of what a provider can cache; the second one before the part for a task, or after the largest half, quarter or
    /// eighth of the document that ends with a file. Text shorter than the model's minimum gets none.
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = whole_number::<u8>(0..=3))]
    pub cache_marks: Option<u8>,
    /// How long Anthropic keeps what it caches [setting: formats.cache_ttl]
    #[arg(long, value_name = "TTL", hide_short_help = true, value_parser = cache_lifetime())]
    pub cache_ttl: Option<CacheLifetime>,
}

/// Arguments of `cache-replay`.
#[derive(Debug, Arguments)]
pub struct CacheReplayArgs {
    /// The commits: the first one, and those that follow it along first parents
    #[arg(value_name = "REV..REV")]
    pub range: String,
    /// The flags that select views.
    #[command(flatten)]
    pub choice: ViewSelectionArgs,
    /// The provider that the requests are for: anthropic, openai or gemini
    #[arg(long, value_name = "FORMAT", default_value = "anthropic", hide_possible_values = true)]
    pub format: FormatArg,
    /// The flags of a provider's request body.
    #[command(flatten)]
    pub body: RequestBodyArgs,
}

/// Arguments of `given`.
#[derive(Debug, Arguments)]
pub struct GivenArgs {
    /// The name of documents, as `slop given` lists it
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Show how this file differs from what was delivered
    #[arg(long, value_name = "PATH", requires = "name")]
    pub file: Option<String>,
    /// Show how each file differs from what was delivered
    #[arg(long, requires = "name", conflicts_with = "file")]
    pub diff: bool,
    /// The curation of the name, if `slop given` lists one
    #[arg(long, value_name = "HASH", requires = "name")]
    pub curation: Option<String>,
}

/// The files that a receipt lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReceiptScopeArg {
    /// Every file, in the document or not.
    All,
    /// The files of which the document shows more than the name, and those omitted because of an error or an entry.
    Shown,
    /// No file.
    None,
}

/// The format of a document.
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
    #[arg(value_name = "PATH", value_parser = file_word())]
    pub file: String,
    /// The flags that select views.
    #[command(flatten)]
    pub choice: ViewSelectionArgs,
}

/// Parses a limit in tokens; `none` becomes 0.
fn parse_budget(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        _ if text == "none" => Ok(0),
        Ok(0) => Err("0 tokens have room for nothing; `none` lifts the limit".to_owned()),
        Ok(tokens) => Ok(tokens),
        Err(_) => Err("expected a number of tokens from 1 up, or `none`".to_owned()),
    }
}
