//! Counts tokens, for clients that display their cost.

use super::mcp;
use crate::engine::TokenCounter;

/// Returns the number of tokens of a text in `o200k_base`.
pub fn count_tokens(text: &str) -> u64 {
    TokenCounter::O200kBase.count(text)
}

/// Returns how many tokens the list of MCP tools adds to every prompt: their names, descriptions and arguments.
pub fn tool_list_tokens() -> u64 {
    mcp::tool_texts().iter().map(|text| count_tokens(text)).sum()
}
