//! Every command and flag, declared. Help, completions and the man page come from here.

#![expect(clippy::doc_markdown, reason = "these comments are help texts, and read as they stand")]

use std::path::Path;
use std::path::PathBuf;

use clap::Args as Arguments;
use clap::CommandFactory;
use clap::Parser;
use clap::Subcommand;
use clap::ValueEnum;
use clap::error::ErrorKind;
use clap_complete::Shell;

use super::agent_args::AgentArgs;
use super::agent_args::SummarizeArgs;
use super::curation_args::MaskArgs;
use super::curation_args::PersonaArgs;
use super::curation_args::PresetArgs;
use super::curation_args::SliceArgs;
use super::daemon_args::DaemonArgs;
use super::daemon_args::WatchArgs;
use super::document_args::AggregateArgs;
use super::document_args::ExplainArgs;
use super::values::line_range;
use super::values::mask;
use super::values::mode;
use crate::model::MaskMode;
use crate::model::ViewMode;

const FIRST_STEP: &str =
    "First: `slop aggregate --tier 1` composes a context, `slop watch` keeps everything fresh";

const FIRST_STEPS: &str = "First steps:
  slop aggregate --tier 1            compose a context for an orchestrator
  slop watch                         keep everything fresh: leave it running";

const FURTHER_STEPS: &str = "  slop index                         derive everything once
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
#[command(after_help = FIRST_STEP, after_long_help = format!("{FIRST_STEPS}\n{FURTHER_STEPS}\n\n{EXIT_CODES}"))]
pub struct CliArgs {
    /// Flags of every command.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// The command.
    #[command(subcommand)]
    pub command: CliCommand,
}

impl CliArgs {
    /// Refuses flags that contradict each other in a way that their declarations cannot say.
    pub fn checked(self) -> Result<Self, clap::Error> {
        if let CliCommand::View(view) = &self.command
            && view.mode.is_some()
            && view.mode != view.chosen_mode()
        {
            let words = "--mask is for --mode masked, --lines for custom, --against for diff";
            let mut command = Self::command();
            command.build();
            let view = command.find_subcommand_mut("view").expect("`view` is declared above");
            return Err(view.error(ErrorKind::ArgumentConflict, words));
        }
        if let CliCommand::Aggregate(aggregate) = &self.command
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
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Arguments)]
#[command(next_help_heading = "Options of every command")]
pub struct GlobalArgs {
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
    /// Answer without a running daemon
    #[arg(long, global = true, hide_short_help = true)]
    pub no_daemon: bool,
    /// Fail where an answer cannot be vouched for
    ///
    /// As where a file is written to all the time, so that it can never be read whole.
    #[arg(long, global = true, hide_short_help = true)]
    pub require_fresh: bool,
    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
}

/// Returns the way to a file without links, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let in_folder = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

/// When to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
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
    /// Show files: their text, skeleton, outline or summary, symbols, lines, changes
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
    Aggregate(Box<AggregateArgs>),
    /// Have a language model write summaries, at a price that is told first
    ///
    /// Says what would leave the machine, to whom, and what it may cost; asks on a terminal; and then asks the models of
    /// agent.models, files first, then the folders that hold them. What they write is kept for the contents, and shown
    /// by tiers whose setting `summary` is "agent". Without a model in your own settings file nobody is ever asked.
    #[command(after_help = "Examples:
  slop summarize --estimate
  slop summarize src --tier 1")]
    Summarize(SummarizeArgs),
    /// Say what the sub-agent sends, has written and has cost
    Agent(AgentArgs),
    /// Say why files get the view that they get
    ///
    /// With --budget or --max-bytes also what the limit makes of them, in the document as a whole.
    Explain(ExplainArgs),
    /// List every file of the project, with what is known of it
    ///
    /// States: fresh (the cache holds this content), stale (the file may have changed since), new (never read), and
    /// left out, with the reason. Reads none of the files, and derives nothing.
    Status,
    /// Watch the project and keep the cache fresh: leave it running
    ///
    /// Writes a line for each refresh. Every other command is answered by it, and orchestrators ask it by a socket in
    /// the cache folder, as docs/openapi.json describes.
    Watch(WatchArgs),
    /// Run the same in the background
    Daemon(DaemonArgs),
    /// Compare the index with the files themselves
    ///
    /// Lists the project anew, reads and hashes every file, and tells each one of which the cache says something else. A
    /// file that has changed since the last index run is one of them. Nothing is written. Exits with 1 on any difference.
    #[command(after_help = "Example:
  slop index && slop audit")]
    Audit,
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
    /// Serve an agent by the Model Context Protocol, on the standard input and output
    ///
    /// To be started by the agent's program, in the project's folder or with --project. Offers tools (slop_aggregate,
    /// slop_view, slop_outline, slop_symbol, slop_status) and every file as a resource, each in any view. Ends when the
    /// standard input does.
    #[command(after_help = "Example:
  claude mcp add slop -- slop mcp --project /path/to/project")]
    Mcp,
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
    ///
    /// What models wrote was paid for. It is deleted only after a question on the terminal, or where --yes or --agent
    /// says so. What has been spent stays written down, and counts.
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
        /// Delete the summaries that models wrote, of all files or of the given ones
        #[arg(long)]
        agent: bool,
        /// Empty the cache of what models wrote too, without a question
        #[arg(long, conflicts_with_all = ["files", "summaries", "structure", "agent"])]
        yes: bool,
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
