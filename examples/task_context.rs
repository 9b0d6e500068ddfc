//! Composes the context for a question to a language model: the lines of a project that matter for a task.
//!
//! ```text
//! cargo run --example task_context -- PROJECT "the text of an issue" [TOKENS] > context.md
//! ```
//!
//! The document goes to standard output. What it shows of each file, and why, goes to standard error.

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use slop::{AggregateQuery, Project, ViewSelection};

/// Enough for the files that one change affects, and cheap enough to send with every question.
const DEFAULT_TOKENS: u64 = 15_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (Some(folder), Some(task)) = (args.next(), args.next()) else {
        return Err("usage: task_context PROJECT TASK [TOKENS]".into());
    };
    let tokens = args.next().map_or(Ok(DEFAULT_TOKENS), |tokens| tokens.parse())?;
    write_context(Path::new(&folder), task, tokens, &mut io::stdout(), &mut io::stderr())
}

/// Writes the document for `task`, of at most `tokens` tokens, and a line about each of its files to `report`.
pub fn write_context(
    folder: &Path,
    task: String,
    tokens: u64,
    document: &mut dyn Write,
    report: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let project = Project::open(folder)?;
    let choice =
        ViewSelection { tier: Some(3), task: Some(task), budget: Some(tokens), ..ViewSelection::default() };
    let composed = project.ask(AggregateQuery { choice, ..AggregateQuery::default() })?;

    if let Some(text) = &composed.text {
        document.write_all(text.text().as_bytes())?;
    }
    let receipt = &composed.receipt;
    for file in &receipt.files {
        writeln!(report, "{:>6} tokens  {:<9} {}", file.tokens, file.view, file.path)?;
    }
    writeln!(report, "{} of {tokens} tokens, {} files left out", receipt.tokens, receipt.left_out.len())?;
    // An unreadable file does not affect the others; its error is in the receipt.
    for problem in &receipt.problems {
        writeln!(report, "{}: {}", problem.path.as_deref().unwrap_or("the project"), problem.why)?;
    }
    Ok(())
}
