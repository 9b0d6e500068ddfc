//! Declarations of every command and flag. Help, completions and the man page are generated from them.

#![expect(clippy::doc_markdown, reason = "these comments are shown as plain help texts")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anstyle::AnsiColor;
use clap::builder::Styles;
use clap::error::ErrorKind;
use clap::{Args as Arguments, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::background_args::{AgentArgs, SummarizeArgs, UiArgs};
use super::background_args::{DaemonArgs, WatchArgs};
use super::cache_args::{CacheArgs, IndexArgs, StatusArgs};
use super::curation_args::{
    CurationArgs, HistoryArgs, ItemArgs, JumpArgs, MaskArgs, PersonaArgs, PresetArgs, SliceArgs, TakeArgs,
};
use super::document_args::{AggregateArgs, CacheReplayArgs, ExplainArgs, GivenArgs};
use super::file_args::{FindArgs, OutlineArgs, SearchArgs, SymbolArgs, ViewArgs};
use super::first_page::with_groups;
use super::hydration_args::{FragmentsArgs, HydrateArgs};
use super::install_args::{HookArgs, InstallArgs, UninstallArgs};
use super::link_args::LinkArgs;
use super::reference_args::{CallsArgs, ImpactArgs, RefsArgs};
use super::share_args::ShareArgs;
use super::version::build_description;
use crate::model::printable;

// `-h` has to fit on a screen, so it has one line where `--help` has a list.
const FIRST_STEP: &str =
    "To get started: `slop aggregate --tier 1` composes a context, `slop watch` keeps the cache fresh";

const FIRST_STEPS: &str = "Getting started:
  slop aggregate --tier 1            compose a context for an orchestrator
  slop watch                         keep the cache fresh until stopped";

const FURTHER_STEPS: &str = "  slop index                         index the whole project
  slop view src/main.c -m skeleton   show a file without function bodies
  slop explain src/main.c --tier 3   explain why a file is shown the way it is";

const EXIT_CODES: &str =
    "Exit codes: 0 success, 1 action required, 2 usage error, 3 environment failure (a retry may help),
4 success, but errors left some files out, 70 internal error";

/// The colors of help on a terminal.
const HELP_STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Green.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Build prompt-ready context from a project: outlines, skeletons and summaries of its files
///
/// slop derives an outline, a skeleton and a summary of every file, once per content, and caches them in .slop_cache.
/// From these it composes context documents for agents, always from the current files.
#[derive(Debug, Parser)]
#[command(name = "slop", version, long_version = build_description(), max_term_width = 100, styles = HELP_STYLES)]
#[command(after_help = FIRST_STEP, after_long_help = format!("{FIRST_STEPS}\n{FURTHER_STEPS}\n\n{EXIT_CODES}"))]
pub struct CliArgs {
    /// Flags that every command accepts.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// The command.
    #[command(subcommand)]
    pub command: CliCommand,
}

impl CliArgs {
    /// Parses the arguments of the process; returns them with the name of the command, which its JSON contains.
    pub(super) fn parse_with_name(words: &[OsString]) -> Result<(Self, String), clap::Error> {
        Self::parse_words(words).map_err(|error| {
            // The error quotes an argument, which `slop view *` takes from the name of a file. Once the control
            // characters of all arguments are escaped, the same one is wrong for the same reason.
            let escaped: Vec<_> =
                words.iter().map(|word| printable(&word.to_string_lossy()).into()).collect();
            Self::parse_words(&escaped).err().unwrap_or(error)
        })
    }

    fn parse_words(words: &[OsString]) -> Result<(Self, String), clap::Error> {
        let matches = with_groups(with_negative_values(Self::command())).try_get_matches_from(words)?;
        let name = matches.subcommand_name().unwrap_or_default().to_owned();
        // Errors of the conversion have no usage line; formatting them with the command adds it.
        let args = Self::from_arg_matches(&matches).map_err(|error| error.format(&mut Self::command()))?;
        args.check_conflicts()?;
        Ok((args, name))
    }

    /// Rejects conflicting flags that clap's declarations cannot express.
    fn check_conflicts(&self) -> Result<(), clap::Error> {
        if let CliCommand::View(view) = &self.command
            && view.mode.is_some()
            && view.mode != view.chosen_mode()
        {
            let words = "--mask is for --mode masked, --lines for custom, --base for diff";
            return Err(conflict("view", words));
        }
        if let CliCommand::Aggregate(aggregate) = &self.command
            && let (Some(output), Some(receipt)) = (&aggregate.output, &aggregate.receipt)
            // Compared with links resolved, because two different paths may lead to the same file.
            && resolved(output) == resolved(receipt)
        {
            return Err(conflict("aggregate", "--output and --receipt name the same file"));
        }
        Ok(())
    }
}

/// Lets flags take values that look like negative numbers, so that the value's own parser reports what is expected.
fn with_negative_values(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let is_flag_with_value = argument.get_long().is_some() && argument.get_action().takes_values();
        argument.allow_negative_numbers(is_flag_with_value)
    });
    command.mut_subcommands(with_negative_values)
}

fn conflict(command: &str, message: &str) -> clap::Error {
    let mut all = CliArgs::command();
    // Global flags reach the commands, whose usage the error shows, only once the root command is built.
    all.build();
    let command = all.find_subcommand_mut(command).expect("the command is declared below");
    command.error(ErrorKind::ArgumentConflict, message)
}

/// Flags that every command accepts, under their own heading so that they do not hide those of the command itself.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Arguments)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Use the project in this folder
    ///
    /// Defaults to the nearest parent folder with a slop.toml, or else to the top level of the git checkout, the
    /// nearest parent folder with a .slop_cache, or the current folder. The home folder, `/`, and folders with more
    /// than discover.max_files files that are not git checkouts have to be named.
    #[arg(long, global = true, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Print JSON
    ///
    /// Prints one object: {schema_version, command, data}, or {schema_version, command, error} if the command failed.
    /// `outline`, `fragments` and `cache export` print a line of JSON per file instead, and `refs --all` one per use.
    #[arg(long, global = true)]
    pub json: bool,
    /// Suppress everything except results and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Show what was read and derived
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Do not use a running daemon
    #[arg(long, global = true, hide_short_help = true)]
    pub no_daemon: bool,
    /// Fail if the answer cannot be guaranteed to be fresh
    ///
    /// For example, because a file is being written continuously and can never be read as a whole.
    #[arg(long, global = true, hide_short_help = true)]
    pub require_fresh: bool,
    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
}

/// Returns `path` with symbolic links resolved, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Neither file has to exist yet, but their folders are likely to.
    let in_folder = || Some(dunce::canonicalize(folder).ok()?.join(path.file_name()?));
    dunce::canonicalize(path).ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
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

/// Arguments of `init`.
#[derive(Debug, Arguments)]
pub struct InitArgs {
    /// Take over the settings and files of this older project file
    ///
    /// Files under `[files] paths` become `[[files]]`. What a slop.toml cannot express is left out, with a note.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Create a commented slop.toml
    ///
    /// It lists every setting with its default, commented out, so a new file changes nothing. It is written to the
    /// project's folder; --project makes another folder a project of its own.
    #[command(after_help = "Examples:
  slop init && slop config show --origin
  slop init --from old_project.toml")]
    Init(InitArgs),
    /// Update the cache
    ///
    /// Reads files that have changed, derives what is missing, and drops files that are gone. No other command depends
    /// on it, because every answer is made from the current files. It only makes the next answers faster.
    #[command(after_help = "Examples:
  slop index
  slop index --verify --json | jq .data.files")]
    Index(IndexArgs),
    /// Show the symbols of files
    #[command(after_help = "Examples:
  slop outline src/engine.py
  slop outline --json | jq -r 'select(.health < 1) | .path'")]
    Outline(OutlineArgs),
    /// Show files: text, skeleton, outline, summary, single symbols, lines or a diff
    #[command(after_help = "Examples:
  slop view src/engine.py                      the full text
  slop view src/engine.py --mode skeleton      signatures and docs, without bodies
  slop view src --mode summary                 a short summary of each file in a folder
  slop view src/engine.py --mask Engine=sig --mask Engine.run=def
                                               a class header with one of its methods
  slop view src/engine.py --lines 10-25        a range of lines
  slop view src --mode diff                    the changes since the last commit
  slop view src/engine.py --mode skeleton --bare > engine_skeleton.py")]
    View(ViewArgs),
    /// Show where a name is defined
    #[command(after_help = "Examples:
  slop symbol Engine.run
  slop symbol parse_header --definition
  slop symbol -i 'get*' --kind method")]
    Symbol(SymbolArgs),
    /// Find the files and symbols that match a text, best first
    ///
    /// Reads any text: words, a question, an issue, a stack trace, a compiler error. `slop aggregate --task` selects
    /// from the same ranking. Each hit shows the parts of its score.
    #[command(after_help = "Examples:
  slop search \"parse the content-type header\"
  slop search NullPointerException --kind method
  slop search --limit 5 \"$(cat trace.txt)\"")]
    Search(SearchArgs),
    /// Fuzzy-find files and symbols by name, best match first
    ///
    /// `slop find rdbload` finds src/rdb_loader.c and rdbLoadObject. A match in the name ranks above one in the
    /// folders, and consecutive characters above scattered ones.
    #[command(after_help = "Examples:
  slop find prshdr
  slop find --files Makefile --limit 5")]
    Find(FindArgs),
    /// Show who uses a symbol
    ///
    /// Each use has a grade: sure (the rules of the language admit no other reading), likely (the best reading, without
    /// a rival of the same rank), or maybe (one of several). The last line counts the uses of the name that could not
    /// be resolved. A name that several symbols share selects all of them. References are read in the languages that
    /// docs/references.md lists; neither a compiler nor a build is needed.
    #[command(after_help = "Examples:
  slop refs Engine.run
  slop refs src/engine.py:run
  slop refs --all --json | jq -c 'select(.grade == \"sure\")'")]
    Refs(RefsArgs),
    /// Show who calls a function
    #[command(after_help = "Example:
  slop callers Engine.run --depth 2")]
    Callers(CallsArgs),
    /// Show what a function calls
    #[command(after_help = "Example:
  slop callees main --depth 3")]
    Callees(CallsArgs),
    /// Show what a change may affect, or which tests to run
    ///
    /// Follows references from the changed symbols to their users, to the users of those, and so on; the nearest and
    /// most certain ones come first. With --diff, only symbols whose own lines differ from the revision count as
    /// changed.
    #[command(after_help = "Examples:
  slop impact src/engine.py
  slop impact Engine.run --depth 1
  slop impact --diff HEAD --tests")]
    Impact(ImpactArgs),
    /// Compose one context document for an agent
    ///
    /// Tier 1 (orchestrator) gets a summary of each file and the file tree; tier 2 (tech lead) gets summaries with
    /// signatures; tier 3 (worker) gets the focused files in full and skeletons of the others; tier 4 (QA) gets
    /// outlines, and the lines around each focused line. The document is written to the next numbered file in
    /// project.output_dir, and its path is printed.
    #[command(after_help = "Examples:
  slop aggregate --tier 1
  slop aggregate --tier 3 --focus src/engine.py --stdout
  slop aggregate --tier 4 --focus src/engine.py:120 src tests -o context.md
  slop aggregate --tier 2 --format json --stdout | jq .receipt.tokens")]
    Aggregate(Box<AggregateArgs>),
    /// Simulate a provider's prompt cache while a document changes from commit to commit
    ///
    /// Composes the document at the first commit of the range and after each that follows it, as successive requests to
    /// a provider within the lifetime of its cache. Tokens are counted as set by aggregation.tokens; a
    /// provider's own counts differ. The commits are checked out in a clone within the cache folder, without hooks,
    /// large files and submodules, and composed with the current settings.
    #[command(after_help = "Examples:
  slop cache-replay HEAD~20..HEAD --tier 2
  slop cache-replay v1.0..v1.1 --tier 3 --focus src/engine.py --cache-ttl 1h
  slop cache-replay HEAD~20..HEAD --tier 1 --json | jq .data.mean_kept")]
    CacheReplay(Box<CacheReplayArgs>),
    /// Place files by relevance: HOT, WARM or COLD
    ///
    /// HOT files are in the context of `slop aggregate --hydrated`, WARM ones are prepared and listed in its map, COLD
    /// ones are only known by name. Each file has a depth from 0 (its path) to 9 (its text), which is lowered before
    /// its tier is. Files are ranked as for a document, by --task and --focus or by git's history; --budget limits the
    /// tokens of HOT files, instead of hydration.hot_tokens. Placements are stable: a HOT file stays HOT until another
    /// one is clearly better, so that a provider's prompt cache stays warm.
    #[command(after_help = "Examples:
  slop hydrate
  slop hydrate --task 'Cookies are lost on redirects' --budget 16000
  slop hydrate --focus src/engine.py --json")]
    Hydrate(Box<HydrateArgs>),
    /// Show where `hydrate` would place files, without saving it
    #[command(after_help = "Examples:
  slop simulate --focus src/engine.py
  slop simulate --budget 8000 --json")]
    Simulate(Box<HydrateArgs>),
    /// List the placements of files, or pin files
    ///
    /// Each line has the tier, the depth, the score from 0 to 1, the path and the tokens of a file. With --json, each
    /// line is an object that includes the deciding rules.
    #[command(after_help = "Examples:
  slop fragments --tier HOT
  slop fragments --json | jq -r 'select(.pinned) | .path'
  slop fragments pin src/engine.py --depth 9
  slop fragments unpin src/engine.py")]
    Fragments(FragmentsArgs),
    /// Show what was delivered to agents, and what has changed since
    ///
    /// Without a name, lists the names under which documents were delivered (see `aggregate --name`). With one, lists
    /// the files of its last document that have changed, and its last documents, each with the part that a provider's
    /// prompt cache can reuse from the previous one, and the first difference. --diff shows how the delivered view of
    /// each changed file differs from the same view now. What a mask hides now is not shown, even if it was delivered
    /// before.
    #[command(after_help = "Examples:
  slop given
  slop given tier-3
  slop given tier-3 --file src/engine.py")]
    Given(GivenArgs),
    /// Summarize files with a language model (shows the cost first)
    ///
    /// Shows what would leave the machine, where it would be sent, and what it may cost; on a terminal, asks for
    /// confirmation. Then asks the models in agent.models about files first, then about the folders that contain them.
    /// Answers are cached by content and shown by tiers whose `summary` setting is "agent". Unless your own settings
    /// file names a model, nothing is ever sent.
    #[command(after_help = "Examples:
  slop summarize --estimate
  slop summarize src --tier 1")]
    Summarize(SummarizeArgs),
    /// Share summaries by language models with a team
    ///
    /// A summary of a content is valid for everyone who has the same content. With share.url in your own settings file,
    /// `slop summarize` first fetches summaries that other members of the team have paid for. Entries are encrypted and
    /// signed: only summaries by the writers in share.writers are trusted.
    #[command(after_help = "Examples:
  slop share status
  slop share pull")]
    Share(ShareArgs),
    /// Show what the sub-agent sends, has written and has cost
    #[command(after_help = "Examples:
  slop agent usage
  slop agent preview src/engine.py")]
    Agent(AgentArgs),
    /// Explain why each file is shown the way it is
    ///
    /// With --budget or --max-bytes, also shows the effect of the limit on each file in the document as a whole.
    #[command(after_help = "Examples:
  slop explain src/engine.py --tier 3
  slop explain src/engine.py --tier 1 --budget 8000")]
    Explain(ExplainArgs),
    /// Show how many files are cached, and which are not
    ///
    /// The states are fresh (the cache has this content), stale (the file may have changed since it was cached), new
    /// (never read), and left out, with the reason. A folder that is left out as a whole takes one line. No file is
    /// read and nothing is derived.
    #[command(after_help = "Examples:
  slop status
  slop status --all
  slop status --by folder")]
    Status(StatusArgs),
    /// Watch the project and keep the cache fresh
    ///
    /// Runs until stopped and prints a line for each refresh. While it runs, it answers all other commands, and
    /// programs can query it through a socket in the cache folder; see docs/openapi.json.
    #[command(after_help = "Examples:
  slop watch
  slop watch --listen 127.0.0.1:0")]
    Watch(WatchArgs),
    /// Run the watcher in the background
    #[command(after_help = "Example:
  slop daemon start && slop daemon status")]
    Daemon(DaemonArgs),
    /// Open the web page: see every file as agents see it, and choose what they get
    ///
    /// Starts the daemon if none runs. The page is served on a local port to browsers with a ticket; the printed
    /// address contains one, which is valid once and for a minute. Without a desktop, or over SSH, the address is only
    /// printed.
    #[command(after_help = "Examples:
  slop ui
  slop ui --print")]
    Ui(UiArgs),
    /// Compare the index with the files on disk
    ///
    /// Lists the project again, reads and hashes every file, and reports each file that differs from the cache. That
    /// includes files that have changed since the last `slop index`. For a different sample of 100 files each time,
    /// outline, skeleton and summary are derived again and compared with what is stored. Nothing is written. The exit
    /// code is 1 if there are differences; `slop cache clear` removes what is stored.
    #[command(after_help = "Example:
  slop index && slop audit")]
    Audit,
    /// Inspect, verify or clear the cache
    #[command(after_help = "Example:
  slop cache status")]
    Cache(CacheArgs),
    /// Show the settings
    #[command(after_help = "Example:
  slop config show --origin")]
    Config(ConfigArgs),
    /// Link other folders to the project
    ///
    /// A linked folder belongs to the project: its file src/a.py is @NAME/src/a.py in every command and document. Links
    /// are stored in your own settings folder (links.toml). A project's slop.toml can propose links as `resources`; one
    /// that leads outside of the project has no effect until you consent to it with `slop link trust`.
    #[command(after_help = "Examples:
  slop link add ../lib
  slop link list")]
    Link(LinkArgs),
    /// Set how files are shown in every document
    #[command(after_help = "Example:
  slop item set src/engine.py --force-full")]
    Item(ItemArgs),
    /// Manage slices: marked lines that are tracked across edits
    #[command(after_help = "Example:
  slop slice add src/engine.py 10-25 --tag 'hot loop'")]
    Slice(SliceArgs),
    /// Choose which symbols of a file to show
    #[command(after_help = "Example:
  slop mask set src/engine.py Engine=sig Engine.run=def")]
    Mask(MaskArgs),
    /// Save and restore sets of curated files
    #[command(after_help = "Example:
  slop preset save review src tests")]
    Preset(PresetArgs),
    /// Keep several versions of the curation, one of which is in slop.toml
    #[command(after_help = "Examples:
  slop take create review
  slop take switch review")]
    Take(TakeArgs),
    /// Show all curation in slop.toml, or apply several edits atomically
    #[command(after_help = "Example:
  slop curation edit edits.json --dry-run")]
    Curation(CurationArgs),
    /// List the earlier states of slop.toml
    ///
    /// Every edit is recorded, whichever program makes it: edits by slop's commands immediately, others when a daemon
    /// notices them, or at the latest before the next edit or undo. `*` marks the current state.
    #[command(after_help = "Example:
  slop history")]
    History(HistoryArgs),
    /// Restore slop.toml to its state before the last edit
    #[command(after_help = "Example:
  slop undo")]
    Undo,
    /// Restore slop.toml to the newest state after the current one
    #[command(after_help = "Example:
  slop redo")]
    Redo,
    /// Restore slop.toml to any earlier state
    #[command(after_help = "Example:
  slop jump 12")]
    Jump(JumpArgs),
    /// Show the personas (agent profiles)
    #[command(after_help = "Example:
  slop persona list")]
    Persona(PersonaArgs),
    /// Run a Model Context Protocol server on standard input and output
    ///
    /// Meant to be started by an agent's client, in the project's folder or with --project. Offers tools
    /// (slop_aggregate, slop_view, slop_outline, slop_symbol, slop_search, slop_refs, slop_status) and every file as a
    /// resource in any view, and, while a daemon runs, notifies a client of changes that it subscribed to. Exits when
    /// standard input is closed.
    #[command(after_help = "Example:
  claude mcp add slop -- slop mcp --project /path/to/project")]
    Mcp,
    /// Run a Language Server Protocol server on standard input and output
    ///
    /// Meant to be started by an editor, or by an agent that speaks the protocol. Answers documentSymbol,
    /// workspace/symbol, definition, references, hover and foldingRange without a build, in every language that has
    /// outlines; and uses the editor's text for open files. References come with a grade, as in `slop refs`. Uses the
    /// daemon if one is running.
    #[command(after_help = "Example, for Neovim:
  vim.lsp.config('slop', { cmd = { 'slop', 'lsp' }, root_markers = { '.git' } })
  vim.lsp.enable('slop')")]
    Lsp {
        /// Accepted because many clients pass it; standard input and output are always used
        #[arg(long)]
        stdio: bool,
    },
    /// Set up agents to use slop
    ///
    /// Adds slop's MCP server to the settings of each agent, an Agent Skill, and hooks. Every change is shown first; on
    /// a terminal, slop asks for confirmation. The rest of each file is left unchanged, and `slop uninstall` removes
    /// everything again. Without names, the agents are those that have been used on this machine.
    #[command(after_help = "Examples:
  slop install --dry-run
  slop install claude-code codex
  slop install cursor --user --yes")]
    Install(InstallArgs),
    /// Remove what `slop install` wrote
    ///
    /// A file that has not been edited since is restored byte for byte. From any other, only slop's own entries are
    /// removed.
    #[command(after_help = "Examples:
  slop uninstall
  slop uninstall codex --user")]
    Uninstall(UninstallArgs),
    /// Check the installation: agents, daemon, cache, and the tokens that slop adds to a session
    ///
    /// Lists the agents that slop is installed for, and whether the program in their files exists; the tokens that
    /// agents get at the start of a session; the running daemon; and how many files have changed since they were
    /// cached. The exit code is 1 if something has to be repaired.
    #[command(after_help = "Example:
  slop doctor")]
    Doctor,
    /// Answer a hook of an agent
    ///
    /// Run by agents that `slop install` has set up, with JSON on standard input. Prints nothing and exits with 0 if
    /// there is nothing to say, or if anything fails.
    #[command(
        hide = true,
        after_help = "Example:
  echo '{}' | slop hook session-start --agent claude-code"
    )]
    Hook(HookArgs),
    /// Print shell completions
    #[command(after_help = "Example:
  slop completions bash > ~/.local/share/bash-completion/completions/slop")]
    Completions {
        /// The shell to print completions for
        shell: Shell,
    },
    /// Print the man page of slop or of one of its commands
    #[command(after_help = "Example:
  slop man aggregate | man -l -")]
    Man {
        /// The command to print the man page of
        command: Option<String>,
    },
}

/// Arguments of `config`.
#[derive(Debug, Arguments)]
pub struct ConfigArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// The subcommands of `config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print every setting with its value
    #[command(after_help = "Example:
  slop config show --origin")]
    Show {
        /// Show where each value comes from
        #[arg(long)]
        origin: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::SKILL;

    #[test]
    fn an_error_in_the_arguments_quotes_no_control_characters() {
        let words = ["slop", "view", "--x\u{1b}]0;owned\u{7}"].map(OsString::from);
        let error = CliArgs::parse_with_name(&words).unwrap_err().to_string();
        assert!(error.contains("'--x\\u{1b}]0;owned\\u{7}'"), "{error}");
    }

    #[test]
    fn every_command_of_the_skill_has_all_its_arguments() {
        let commands: Vec<&str> = SKILL.split('`').filter(|text| text.starts_with("slop ")).collect();
        assert!(5 < commands.len(), "{commands:?}");
        for command in commands {
            let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
            let parsed = CliArgs::parse_with_name(&words);
            assert!(parsed.is_ok(), "{command}: {}", parsed.unwrap_err());
        }
    }
}
