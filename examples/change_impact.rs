//! Finds a symbol by words, then its uses, and the tests to run after changing it.
//!
//! ```text
//! cargo run --example change_impact -- PROJECT "words about the symbol"
//! ```

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use slop::{CallDirectionName, CallsQuery, ImpactQuery, Project, RefsQuery, SearchQuery};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [folder, words] = args.as_slice() else {
        return Err("usage: change_impact PROJECT WORDS".into());
    };
    report_impact(Path::new(folder), words, &mut io::stdout())
}

/// Writes what depends on the function that best matches `words`.
pub fn report_impact(folder: &Path, words: &str, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let project = Project::open(folder)?;

    let query = SearchQuery { query: words.to_owned(), limit: Some(1), kind: Some("function".to_owned()) };
    let found = project.ask(query)?;
    let Some(hit) = found.hits.first() else {
        return Err(format!("no function of {} matches {words:?}", folder.display()).into());
    };
    // A name may have several definitions. With the path of a file before it, it means the definition in that file.
    let symbol = format!("{}:{}", hit.path, hit.name.as_deref().unwrap_or_default());
    writeln!(out, "{symbol}, line {}", hit.start_line.unwrap_or(1))?;

    let uses = project.ask(RefsQuery { symbol: Some(symbol.clone()) })?;
    for edge in &uses.references {
        writeln!(out, "  used at {}:{} ({})", edge.from.path, edge.from.line, edge.grade)?;
    }

    let direction = CallDirectionName::Callers;
    let callers = project.ask(CallsQuery { symbol: symbol.clone(), direction, depth: Some(2) })?;
    for caller in &callers.calls {
        let name = caller.symbol.as_deref().unwrap_or("(outside of all symbols)");
        writeln!(out, "  called by {}:{name}, {} away", caller.path, caller.distance)?;
    }

    let target = Some(symbol);
    let impact = project.ask(ImpactQuery { target, tests: true, ..ImpactQuery::default() })?;
    for test in &impact.affected {
        writeln!(out, "  test with {}:{}", test.path, test.symbol.as_deref().unwrap_or_default())?;
    }
    Ok(())
}
