//! Composes the context of two agents for several turns. Each has its own view of the project, and receives a file
//! again only after it has changed.
//!
//! ```text
//! cargo run --example agent_turns -- PROJECT FILE SYMBOL
//! ```
//!
//! The planner gets an outline of the project; the worker gets FILE in full, but without SYMBOL. These views are part
//! of the requests, and are not written to `slop.toml`. Edit a file, then press Enter for the next turn.

use std::env;
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::path::Path;

use slop::{AggregateQuery, ItemEntry, MaskName, Project, ViewSelection};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [folder, file, symbol] = args.as_slice() else {
        return Err("usage: agent_turns PROJECT FILE SYMBOL".into());
    };
    let project = Project::open(Path::new(folder))?;
    write_turn(&project, file, symbol, &mut io::stdout())?;
    for line in io::stdin().lock().lines() {
        line?;
        write_turn(&project, file, symbol, &mut io::stdout())?;
    }
    Ok(())
}

/// Composes what each agent has not received yet, and writes a line about it.
pub fn write_turn(
    project: &Project,
    file: &str,
    symbol: &str,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    for (name, query) in [("planner", planner()), ("worker", worker(file, symbol))] {
        // A document is recorded under its name, and `since_last` requests the changes since then. The first document
        // is complete.
        let query = AggregateQuery { name: Some(name.to_owned()), since_last: true, ..query };
        let document = project.ask(query)?;
        let paths: Vec<&str> = document.receipt.files.iter().map(|file| file.path.as_str()).collect();
        writeln!(out, "{name}: {} tokens, {}", document.receipt.tokens, paths.join(" "))?;
    }
    Ok(())
}

/// Returns a query for the whole project at tier 1.
fn planner() -> AggregateQuery {
    let choice = ViewSelection { tier: Some(1), ..ViewSelection::default() };
    AggregateQuery { choice, ..AggregateQuery::default() }
}

/// Returns a query for one file in full, without one symbol.
fn worker(file: &str, symbol: &str) -> AggregateQuery {
    // A mask that only hides symbols shows everything else.
    let mask = [(symbol.to_owned(), MaskName::Hide)].into();
    let item = ItemEntry { ast_mask: mask, ..ItemEntry::new(file) };
    let choice = ViewSelection { tier: Some(3), items: vec![item], ..ViewSelection::default() };
    AggregateQuery { files: vec![file.to_owned()], choice, ..AggregateQuery::default() }
}
