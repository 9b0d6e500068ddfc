//! Declarations of the commands about references: `refs`, `callers`, `callees` and `impact`.

use clap::Args as Arguments;

use super::values::whole_number;

/// Arguments of `refs`.
#[derive(Debug, Arguments)]
pub struct RefsArgs {
    /// The symbol: `run`, `Engine.run`, or `src/engine.py:run` for that of one file
    #[arg(required_unless_present = "all")]
    pub symbol: Option<String>,
    /// Show every use of any symbol
    ///
    /// With --json, prints one line of JSON per use and definition: {"from": {"path", "line", "symbol"}, "to": {"path",
    /// "line", "symbol"}, "grade", "call"}.
    #[arg(long, conflicts_with = "symbol")]
    pub all: bool,
}

/// Arguments of `callers` and of `callees`.
#[derive(Debug, Arguments)]
pub struct CallsArgs {
    /// The symbol: `run`, `Engine.run`, or `src/engine.py:run` for that of one file
    pub symbol: String,
    /// Follow up to N calls in a row
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole_number::<u32>(1..))]
    pub depth: u32,
}

/// Arguments of `impact`.
#[derive(Debug, Arguments)]
pub struct ImpactArgs {
    /// What changes: a file, a folder, or a symbol
    #[arg(value_name = "PATH|SYMBOL", required_unless_present = "diff")]
    pub target: Option<String>,
    /// Start from the symbols that have changed since this commit, branch or tag
    #[arg(long, value_name = "REV", conflicts_with = "target")]
    pub diff: Option<String>,
    /// Follow up to N references in a row [default: 3, or any number with --tests]
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(1..))]
    pub depth: Option<u32>,
    /// Show only tests, the most likely first
    ///
    /// Tests are ordered by the number of references from the change and by their grades. Tests that ran a changed
    /// function according to a coverage file with contexts (`pytest --cov-context=test`) come first.
    #[arg(long)]
    pub tests: bool,
}
