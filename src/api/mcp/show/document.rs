//! A document for an agent.

use std::fmt::Write;

use super::ToolOutput;
use crate::api::mcp::cut::shorten;
use crate::api::wire::{ComposedDocument, DocumentReceipt};
use crate::model::printable;

/// The most paths without a file that are listed.
const MAX_MISSING: usize = 10;

/// Returns the document, and behind it what an agent should know of how it was made. It is not cut: its budget is what
/// the agent asked for.
pub(in crate::api::mcp) fn document(document: ComposedDocument) -> ToolOutput {
    let ComposedDocument { text, receipt } = document;
    let mut text = text.unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push('\n');
    text.push_str(&summary(&receipt));
    ToolOutput { text, structured: None }
}

fn summary(receipt: &DocumentReceipt) -> String {
    let smaller = receipt.files.iter().filter(|entry| entry.view != entry.wanted).count();
    let budget = receipt.budget_tokens.map_or(String::new(), |budget| format!(" of {budget}"));
    let (tokens, counter) = (receipt.tokens, &receipt.tokens_counted_by);
    let mut words = format!(
        "[{tokens} tokens{budget}, by {counter}; {} files shown, {smaller} of them smaller than wanted; {} left out]",
        receipt.files.len(),
        receipt.left_out.len(),
    );
    for missing in receipt.missing.iter().take(MAX_MISSING) {
        let missing = shorten(format!("{}: {}", printable(&missing.word), printable(&missing.why)));
        write!(words, "\n[{missing}]").expect("a String takes all");
    }
    if MAX_MISSING < receipt.missing.len() {
        write!(words, "\n[{} more words mean no file]", receipt.missing.len() - MAX_MISSING)
            .expect("a String takes all");
    }
    words
}
