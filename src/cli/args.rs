//! Every command and flag, declared. Help, completions and the man page come from here.

#![expect(clippy::doc_markdown, reason = "these comments are help texts, and read as they stand")]

use std::path::Path;
use std::path::PathBuf;

use clap::Args as Arguments;
use clap::CommandFactory;
use clap::Parser;
use clap::Subcommand;
use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap_complete::Shell;

use super::curation_args::MaskArgs;
use super::curation_args::PersonaArgs;
use super::curation_args::PresetArgs;
use crate::model::MaskMode;
use crate::model::Order;
use crate::model::Strategy;
use crate::model::ViewMode;

const FIRST_STEPS: &str = "First steps:
  slop index                         derive everything once
  slop aggregate --tier 1            compose a context for an orchestrator
  slop view src/main.c -m skeleton   one file, its bodies taken out
  slop explain src/main.c --tier 3   why a file is shown as it is";

const EXIT_CODES: &str =
    "Exit codes: 0 done, 1 the user must act, 2 wrong usage, 3 the environment failed, 4 done with
files left out by an error, 70 a bug in slop";

/// Keep, for every file of a project, what a language model needs to know of it
///
/// slop derives an outline, a skeleton and a summary of every file, once per content, and keeps them in .slop_cache.
/// From these it composes a context for an agent, always from the files as they are now.
#[derive(Debug, Parser)]
#[command(name = "slop", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = FIRST_STEPS, after_long_help = format!("{FIRST_STEPS}\n\n{EXIT_CODES}"))]
pub struct Args {
    /// Flags of every command.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

impl Args {
    /// Refuses flags that contradict each other in a way that their declarations cannot say.
    pub fn checked(self) -> Result<Self, clap::Error> {
        if let Command::View(view) = &self.command
            && view.mode.is_some()
            && view.mode != view.chosen_mode()
        {
            let words = "--mask is for --mode masked, --lines for custom, --against for diff";
            let mut command = Self::command();
            command.build();
            let view = command.find_subcommand_mut("view").expect("`view` is declared above");
            return Err(view.error(ErrorKind::ArgumentConflict, words));
        }
        if let Command::Aggregate(aggregate) = &self.command
            && let (Some(output), Some(receipt)) = (&aggregate.output, &aggregate.receipt)
            && resolved(output) == resolved(receipt)
        {
            let words = "--output and --receipt name the same file; give each its own";
            let mut command = Self::command();
            command.build();
            let aggregate = command.find_subcommand_mut("aggregate").expect("`aggregate` is declared above");
            return Err(aggregate.error(ErrorKind::ArgumentConflict, words));
        }
        Ok(self)
    }
}

/// Flags of every command; under a heading of their own, or they would hide those of the command itself.
#[derive(Debug, Arguments)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Work on the project in this folder
    ///
    /// Without it, the nearest folder above that holds a slop.toml or a .slop_cache, else the current one.
    #[arg(long, global = true, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Answer in JSON
    ///
    /// One object {schema_version, command, data}, or {schema_version, command, error} where there is no answer.
    /// `outline` and `cache export` write a line of JSON for each file instead.
    #[arg(long, global = true)]
    pub json: bool,
    /// Tell nothing but results and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Tell what was read and derived for the answer
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: When,
}

/// Returns the way to a file without links, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let in_folder = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

/// When to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a commented slop.toml
    ///
    /// Every setting stands in it with its default, commented out: a fresh file changes nothing.
    Init,
    /// Bring the cache up to date
    ///
    /// Reads what has changed, derives what was never seen before, forgets what is gone. Nothing else needs this
    /// command: every answer is made from the files as they are. It only makes the next answers quick.
    Index(IndexArgs),
    /// Show the symbols of files
    #[command(after_help = "Examples:
  slop outline src/engine.py
  slop outline --json | jq -r 'select(.health < 1) | .path'")]
    Outline(OutlineArgs),
    /// Show files: their text, skeleton, outline or summary, some symbols or lines, what has changed
    #[command(after_help = "Examples:
  slop view src/engine.py                      the text
  slop view src/engine.py --mode skeleton      signatures and docs, bodies taken out
  slop view src --mode summary                 each file of a folder in some words
  slop view src/engine.py --mask Engine=sig --mask Engine.run=def
                                               the head of a class with one of its methods
  slop view src/engine.py --lines 10-25        some lines
  slop view src --mode diff                    what has changed since the last commit
  slop view src/engine.py --mode skeleton --bare > engine_skeleton.py")]
    View(ViewArgs),
    /// Show where a name is defined
    #[command(after_help = "Examples:
  slop symbol Engine.run
  slop symbol parse_header --definition")]
    Symbol(SymbolArgs),
    /// Compose one document for an agent
    ///
    /// Tier 1 (orchestrator) gets a summary of each file and the tree; tier 2 (tech lead) summaries with signatures;
    /// tier 3 (worker) the files in focus in full and skeletons of the rest; tier 4 (QA) outlines, and lines around
    /// those in focus. The document is written to the next numbered file of project.output_dir, and its path printed.
    #[command(after_help = "Examples:
  slop aggregate --tier 1
  slop aggregate --tier 3 --focus src/engine.py --stdout
  slop aggregate --tier 4 --focus src/engine.py:120 src tests -o context.md
  slop aggregate --tier 2 --format json --stdout | jq .receipt.tokens")]
    Aggregate(AggregateArgs),
    /// Say why files get the view that they get
    ///
    /// With --budget or --max-bytes also what the limit makes of them, in the document as a whole.
    Explain(ExplainArgs),
    /// List every file of the project, with what is known of it
    ///
    /// States: fresh (the cache holds this content), stale (the file may have changed since), new (never read), and
    /// left out, with the reason. Reads none of the files, and derives nothing.
    Status,
    /// Look after the cache
    Cache(CacheArgs),
    /// Show the settings
    Config(ConfigArgs),
    /// Mark lines of files that are found again after edits
    Slice(SliceArgs),
    /// Say symbol by symbol what is shown of files
    Mask(MaskArgs),
    /// Save sets of files with what is said of each, and bring them back
    Preset(PresetArgs),
    /// Show the agent profiles
    Persona(PersonaArgs),
    /// Print the completions for a shell
    #[command(after_help = "Example:
  slop completions bash > ~/.local/share/bash-completion/completions/slop")]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the man page, of slop or of one of its commands
    Man {
        /// Print the page of this command
        command: Option<String>,
    },
}

/// Arguments of `index`.
#[derive(Debug, Arguments)]
pub struct IndexArgs {
    /// Read and hash every file, whatever its stamp says
    #[arg(long)]
    pub verify: bool,
}

/// Arguments of `outline`.
#[derive(Debug, Arguments)]
pub struct OutlineArgs {
    /// Files, folders or patterns; without any, every file that has an outline
    #[arg(value_name = "PATH")]
    pub files: Vec<String>,
    /// Read and hash the files, whatever their stamps say
    #[arg(long)]
    pub verify: bool,
}

/// Arguments of `view`.
#[derive(Debug, Arguments)]
pub struct ViewArgs {
    /// Files, folders or patterns
    #[arg(value_name = "PATH", required = true)]
    pub files: Vec<String>,
    /// How to show them; without it in full, or as large as limits.max_bytes allows
    ///
    /// ast_signatures and ast_definitions show the signatures, or the definitions, of all symbols.
    #[arg(long, short, value_name = "MODE", value_parser = mode())]
    pub mode: Option<ViewMode>,
    /// Show of this symbol its definition, its signature or nothing: def, sig or hide
    ///
    /// The symbol is named as `slop outline --json` names it (Engine.run, ns::Engine::run), and one overload as
    /// run(int speed), with the parameters as they are written, or as run#2, the second of its name. Symbols that no
    /// --mask names are not shown, but within a definition that is.
    #[arg(long, value_name = "SYMBOL=HOW", value_parser = mask, conflicts_with_all = ["lines", "against"])]
    pub mask: Vec<(String, MaskMode)>,
    /// Show these lines, from 1 and inclusive
    #[arg(long, value_name = "A-B", value_parser = line_range, conflicts_with = "against")]
    pub lines: Vec<(u32, u32)>,
    /// Show what has changed since this commit, branch or tag; --mode diff alone means HEAD
    #[arg(long, value_name = "REV")]
    pub against: Option<String>,
    /// Print the text alone, without the line that says what it is
    #[arg(long)]
    pub bare: bool,
    /// Read and hash the files, whatever their stamps say
    #[arg(long)]
    pub verify: bool,
}

impl ViewArgs {
    /// Returns the mode that is asked for, in words or by what the mode is for.
    pub fn chosen_mode(&self) -> Option<ViewMode> {
        let implied = match (self.mask.is_empty(), self.lines.is_empty(), &self.against) {
            (false, _, _) => Some(ViewMode::Masked),
            (true, false, _) => Some(ViewMode::Custom),
            (true, true, Some(_)) => Some(ViewMode::Diff),
            (true, true, None) => None,
        };
        implied.or(self.mode)
    }
}

/// Arguments of `symbol`.
#[derive(Debug, Arguments)]
pub struct SymbolArgs {
    /// The symbol's name, or the end of its qualified name: `run`, `Engine.run`, `ns::Engine::run`
    pub name: String,
    /// Print the text of each definition
    #[arg(long, conflicts_with = "signature")]
    pub definition: bool,
    /// Print the signatures alone
    #[arg(long)]
    pub signature: bool,
}

/// What decides about views.
#[derive(Debug, Arguments)]
pub struct Choice {
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
    pub strategy: Option<Strategy>,
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
    pub choice: Choice,
    /// Put the files in this order; the setting is aggregation.order
    #[arg(long, value_name = "ORDER", value_parser = order(), hide_short_help = true)]
    pub order: Option<Order>,
    /// Write the document in this format
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    pub format: Format,
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
    pub memory: Remembering,
    /// Say what would become of each file, and write nothing
    #[arg(long, conflicts_with_all = ["output", "receipt"])]
    pub dry_run: bool,
    /// What stands beside the files.
    #[command(flatten)]
    pub beside: Beside,
    /// Read and hash every file, whatever its stamp says
    #[arg(long, hide_short_help = true)]
    pub verify: bool,
}

/// How a document is remembered.
#[derive(Debug, Arguments)]
pub struct Remembering {
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
pub struct Beside {
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
pub enum Format {
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
    pub choice: Choice,
}

/// Arguments of `cache`.
#[derive(Debug, Arguments)]
pub struct CacheArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: CacheCommand,
}

/// What can be done with the cache.
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// Say how much is cached
    Status,
    /// Empty the cache, or a part of it
    ///
    /// What is deleted is derived again when it is needed. Nothing that a person wrote is in the cache. What the last
    /// aggregations gave is forgotten, so that the next --since-last shows everything.
    Clear {
        /// Delete what is known of these files alone
        #[arg(value_name = "PATH", conflicts_with_all = ["summaries", "structure"])]
        files: Vec<String>,
        /// Delete the summaries
        #[arg(long)]
        summaries: bool,
        /// Delete the outlines, skeletons and references
        #[arg(long)]
        structure: bool,
    },
    /// Check every byte that is cached, and delete what is damaged
    Verify,
    /// Delete what no file has held for some time, and what older versions of slop made
    ///
    /// Names of aggregations that were not used for as long are forgotten with what they gave.
    Gc {
        /// Keep what a file has held within so many days
        #[arg(long, value_name = "N", default_value_t = 30)]
        days: u32,
    },
    /// Print everything that is cached, a line of JSON for each file
    Export,
}

/// Arguments of `config`.
#[derive(Debug, Arguments)]
pub struct ConfigArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// What can be done with the settings.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print every setting with its value
    Show {
        /// Say for each where its value comes from
        #[arg(long)]
        origin: bool,
    },
}

/// Arguments of `slice`.
#[derive(Debug, Arguments)]
pub struct SliceArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: SliceCommand,
}

/// What can be done with slices.
#[derive(Debug, Subcommand)]
pub enum SliceCommand {
    /// Mark lines of a file in slop.toml
    ///
    /// An entry for the file is made under `[[files]]` where there is none. All else in slop.toml stays as it is.
    #[command(after_help = "Example:
  slop slice add src/engine.py 10-25 --tag 'hot loop' --comment 'why it matters'")]
    Add {
        /// A file
        #[arg(value_name = "PATH")]
        file: String,
        /// The first and the last line, from 1
        #[arg(value_name = "A-B", value_parser = line_range)]
        lines: (u32, u32),
        /// Name the slice
        #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
        tag: String,
        /// Say why it matters
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        comment: String,
    },
    /// List the slices in slop.toml, and where each is now
    List {
        /// List those of this file alone, as it is spelled in slop.toml
        #[arg(value_name = "PATH")]
        file: Option<String>,
    },
    /// Remove slices of a file from slop.toml
    Remove {
        /// The file, as it is spelled in slop.toml
        #[arg(value_name = "PATH")]
        file: String,
        /// The lines that the slice is at now, or those that it was marked at, or a tag
        #[arg(value_name = "A-B|TAG")]
        slice: String,
    },
    /// Print a slice as JSON: the lines, and what it takes to find them again
    ///
    /// Nothing is written. What is printed can be given to `slop slice resolve`.
    #[command(after_help = "Example:
  slop slice make src/engine.py 10-25 --tag 'hot loop' > slice.json")]
    Make {
        /// A file
        #[arg(value_name = "PATH")]
        file: String,
        /// The first and the last line, from 1
        #[arg(value_name = "A-B", value_parser = line_range)]
        lines: (u32, u32),
        /// Name the slice
        #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
        tag: String,
        /// Say why it matters
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        comment: String,
    },
    /// Say where a slice is now
    ///
    /// Reads the slice as JSON from the standard input and prints {status, start_line, end_line, reason}. The status is
    /// exact (the same text at the same lines), moved (the same text at others), changed (what became of it), or stale
    /// (not found, or at several places that are equally good): then the lines are a guess, and the exit code is 1.
    #[command(after_help = "Example:
  slop slice resolve src/engine.py < slice.json")]
    Resolve {
        /// The file that the slice was made of
        #[arg(value_name = "PATH")]
        file: String,
    },
}

/// Reads `A-B`, or `A` for one line.
pub(super) fn line_range(word: &str) -> Result<(u32, u32), String> {
    let (start, end) = word.split_once('-').unwrap_or((word, word));
    let number = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse::<u32>().ok().filter(|_| is_number);
        number.ok_or_else(|| format!("`{digits}` is no line's number; write A-B, as in 10-25"))
    };
    let (start, end) = (number(start)?, number(end)?);
    match (start, end) {
        (0, _) => Err("lines are counted from 1".to_owned()),
        _ if end < start => Err(format!("the range ends at {end}, before it begins at {start}")),
        range => Ok(range),
    }
}

/// A window is about a line, which a view has no way to name; a path alone is no answer to who named it.
fn mode() -> impl TypedValueParser<Value = ViewMode> {
    let modes = ViewMode::ALL.into_iter().filter(|mode| !matches!(mode, ViewMode::Window | ViewMode::Path));
    named(modes.map(ViewMode::name), ViewMode::from_name)
}

/// Reads `SYMBOL=HOW`. The last `=` counts: `operator==` is a symbol.
fn mask(word: &str) -> Result<(String, MaskMode), String> {
    let (symbol, how) = word.rsplit_once('=').ok_or("it needs a symbol and how to show it: SYMBOL=def")?;
    let mode = MaskMode::from_name(how).ok_or("a symbol is shown as def, sig or hide")?;
    if symbol.trim().is_empty() {
        return Err("there is no symbol before the `=`".to_owned());
    }
    Ok((symbol.to_owned(), mode))
}

fn strategy() -> impl TypedValueParser<Value = Strategy> {
    named(Strategy::ALL.into_iter().map(Strategy::name), Strategy::from_name)
}

fn order() -> impl TypedValueParser<Value = Order> {
    named(Order::ALL.into_iter().map(Order::name), Order::from_name)
}

/// Returns a parser of the words `names`, which help and completions list.
fn named<T: Clone + Send + Sync + 'static>(
    names: impl Iterator<Item = &'static str>,
    from_name: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    let parser = PossibleValuesParser::new(names.collect::<Vec<_>>());
    parser.try_map(move |word| from_name(&word).ok_or("it is not one of the names"))
}
