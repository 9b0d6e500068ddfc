//! Declarations of the commands that show files and symbols: `outline`, `view`, `symbol`, `search` and `find`.

#![expect(clippy::doc_markdown, reason = "these comments are shown as plain help texts")]

use std::path::PathBuf;

use clap::Args as Arguments;

use super::values::{docs, file_word, line_range, mask, mode, whole_number};
use crate::model::{DocsDetail, MaskMode, ViewMode};

/// Arguments of `outline`.
#[derive(Debug, Arguments)]
pub struct OutlineArgs {
    /// Files, folders or patterns [default: every file that has an outline]
    #[arg(value_name = "PATH", value_parser = file_word())]
    pub files: Vec<String>,
    /// Read and hash the files, even if their size and timestamps are unchanged
    #[arg(long)]
    pub verify: bool,
}

/// Arguments of `view`.
#[derive(Debug, Arguments)]
pub struct ViewArgs {
    /// Files, folders or patterns
    #[arg(value_name = "PATH", required = true, value_parser = file_word())]
    pub files: Vec<String>,
    /// How to show the files [default: full, or a smaller view for files above limits.max_bytes]
    ///
    /// ast_signatures and ast_definitions show the signatures or the definitions of all symbols.
    #[arg(long, short, value_name = "MODE", value_parser = mode())]
    pub mode: Option<ViewMode>,
    /// How much of the comments and docstrings a skeleton shows [default: full]
    #[arg(long, value_name = "DETAIL", value_parser = docs())]
    pub docs: Option<DocsDetail>,
    /// Show this symbol's definition (def), its signature (sig), that with the first paragraph of its doc (agg), or
    /// nothing of it (hide)
    ///
    /// Symbols are named as in `slop outline --json` (Engine.run, ns::Engine::run). To select one overload, write its
    /// parameters as they appear in the source, as in run(int speed), or its position among symbols of that name, as in
    /// run#2. Symbols that no --mask names are hidden, unless they are part of a definition that is shown.
    #[arg(long, value_name = "SYMBOL=HOW", value_parser = mask, conflicts_with_all = ["lines", "base", "against"])]
    pub mask: Vec<(String, MaskMode)>,
    /// Show these lines, counted from 1, including both ends
    #[arg(long, value_name = "A-B", value_parser = line_range, conflicts_with_all = ["base", "against"])]
    pub lines: Vec<(u32, u32)>,
    /// Show the changes since this commit, branch or tag [default with --mode diff: HEAD]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// The name of --base in earlier releases
    #[arg(long, value_name = "REV", hide = true, conflicts_with = "base")]
    pub against: Option<String>,
    /// Show the files as these entries specify; - is standard input
    ///
    /// A JSON list of entries with the same keys as in slop.toml: path, view_mode, ast_mask and so on. The entry that
    /// applies to a file replaces that in slop.toml. Paths are relative to the project's folder.
    #[arg(long, value_name = "FILE")]
    pub items: Option<PathBuf>,
    /// Print only the text, without the header line
    #[arg(long)]
    pub bare: bool,
    /// Read and hash the files, even if their size and timestamps are unchanged
    #[arg(long)]
    pub verify: bool,
}

impl ViewArgs {
    /// Returns the base revision of the diff.
    pub fn base(&self) -> Option<&String> {
        self.base.as_ref().or(self.against.as_ref())
    }

    /// Returns the mode that is given by `--mode` or implied by another flag.
    pub fn chosen_mode(&self) -> Option<ViewMode> {
        let implied = match (self.mask.is_empty(), self.lines.is_empty(), self.base()) {
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
    /// The symbol's name, the end of its qualified name, or a pattern: `run`, `Engine.run`, `get_*`
    ///
    /// A qualified name is written as in its language (Engine.run, ns::Engine::run), and may be prefixed with the name
    /// of its module (app.core.Engine). Code is listed before headings and settings, and the program before its tests.
    pub name: String,
    /// Ignore case
    #[arg(long, short)]
    pub ignore_case: bool,
    /// Show only symbols of this kind: function, method, class, struct and so on
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// Print the source of each definition
    #[arg(long, conflicts_with = "signature")]
    pub definition: bool,
    /// Print only the signatures
    #[arg(long)]
    pub signature: bool,
}

/// Arguments of `search`.
#[derive(Debug, Arguments)]
pub struct SearchArgs {
    /// What to search for
    #[arg(value_name = "QUERY", allow_hyphen_values = true, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub query: String,
    /// Show at most this many hits
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole_number::<u32>(1..=1000))]
    pub limit: u32,
    /// Show only hits of this kind: file, function, method, class, struct and so on
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
}

/// Arguments of `find`.
#[derive(Debug, Arguments)]
pub struct FindArgs {
    /// Characters of the name, in order; an uppercase one must match exactly
    #[arg(value_name = "CHARACTERS", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub query: String,
    /// Find files only
    #[arg(long, conflicts_with = "symbols")]
    pub files: bool,
    /// Find symbols only
    #[arg(long)]
    pub symbols: bool,
    /// Show at most this many hits
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole_number::<u32>(1..=1000))]
    pub limit: u32,
}
