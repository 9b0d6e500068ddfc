//! The receipt of a document as a table for people.

use std::collections::BTreeMap;

use crate::api::{DocumentReceipt, ReceiptFile, display_path};
use crate::cli::failure::CommandError;
use crate::cli::output::CommandOutput;
use crate::render::format_grouped;

/// A longer path exceeds its column.
const MOST_PATH: usize = 60;
/// So many names are listed of those that are left out for one reason; all of them are in the JSON.
const MOST_NAMES: usize = 10;

/// Writes what would become of each file, what would be left out and why, and what it comes to.
pub(super) fn write_plan(receipt: &DocumentReceipt, output: &mut CommandOutput) -> Result<(), CommandError> {
    write_files(&receipt.files, output)?;
    for ((_, why), paths) in &omissions_by_reason(receipt) {
        let count = format_grouped(paths.len() as u64);
        output.write_line(&format!("left out, {why}: {count}"))?;
        for path in paths.iter().take(MOST_NAMES) {
            output.write_line(&format!("  {path}"))?;
        }
        if MOST_NAMES < paths.len() {
            output
                .write_line(&format!("  and {} more", format_grouped((paths.len() - MOST_NAMES) as u64)))?;
        }
    }
    if receipt.without_tree {
        output.write_line("left out, no room within the budget: the tree of names")?;
    }
    let (tokens, bytes) = (format_grouped(receipt.tokens), format_grouped(receipt.bytes));
    let files = format_grouped(receipt.files.len() as u64);
    output.write_line(&format!(
        "total   {tokens} tokens ({}), {bytes} bytes, {files} files",
        receipt.tokens_counted_by
    ))?;
    let limits = [(receipt.budget_tokens, "tokens"), (receipt.max_bytes, "bytes")];
    let limits =
        limits.iter().filter_map(|(limit, unit)| Some(format!("{} {unit}", format_grouped((*limit)?))));
    let limits: Vec<String> = limits.collect();
    let limits = if limits.is_empty() { "none".to_owned() } else { limits.join(", ") };
    Ok(output.write_line(&format!("budget  {limits}"))?)
}

fn write_files(files: &[ReceiptFile], output: &mut CommandOutput) -> Result<(), CommandError> {
    let rows = files.iter().map(|entry| {
        let why = entry.why.clone().unwrap_or_else(|| format!("rule {}", entry.rule));
        [
            display_path(&entry.path, entry.path_hex.as_deref()),
            view_change(entry),
            format_grouped(entry.tokens),
            why,
        ]
    });
    let head = ["PATH", "VIEW", "TOKENS", "WHY"].map(str::to_owned);
    let rows: Vec<[String; 4]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (path, view, tokens) = (width(0).min(MOST_PATH), width(1), width(2));
    for [name, shown, count, why] in &rows {
        output.write_line(&format!("{name:<path$}  {shown:<view$}  {count:>tokens$}  {why}"))?;
    }
    Ok(())
}

/// Returns the view, and the one that was wanted where it is another.
fn view_change(entry: &ReceiptFile) -> String {
    if entry.view == entry.wanted {
        return entry.view.clone();
    }
    format!("{} <- {}", entry.view, entry.wanted)
}

/// Returns the files that are left out by reason: its name and its words.
fn omissions_by_reason(receipt: &DocumentReceipt) -> BTreeMap<(&str, &str), Vec<String>> {
    let mut reasons: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for omitted in &receipt.left_out {
        let key = (omitted.reason.as_str(), omitted.why.as_str());
        reasons.entry(key).or_default().push(display_path(&omitted.path, omitted.path_hex.as_deref()));
    }
    reasons
}
