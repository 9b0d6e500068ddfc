//! The summaries: structure → words.
//!
//! Knows: how to say in at most 600 bytes what a file is, from its text and its outline, and which words must never
//! leave a file (secrets, escapes, fences). Does not know: where the file lies, how old it is, how its outline was
//! made, who reads the summary. Every function here is pure, and the same content always gives the same words.
//!
//! What a language model is asked, and what of its answer is kept, stands in [`agent`].
//!
//! Start with [`heuristic()`]; it hands the file to `code`, `prose`, `config` or `data`. What all of them use stands in
//! `words` (budgets and rounding) and `redact` (secrets).

pub mod agent;
mod code;
mod comments;
mod config;
mod data;
mod declarations;
mod heuristic;
mod key;
mod markup;
mod notebook;
mod opening;
mod page;
mod prose;
mod redact;
pub mod secrets;
mod words;

pub use heuristic::SummaryInput;
pub use heuristic::heuristic;
pub use key::VERSION;
pub use key::producer;
pub use opening::is_machine_written;
pub use words::one_line;
pub use words::safe_signature;
