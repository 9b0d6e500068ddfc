//! Summaries of single files.
//!
//! Knows: how to describe a file in at most 600 bytes from its text and outline, how to prompt a language model for a
//! better description, and what must never leave a file (secrets, escapes, fences). Does not know: where the file is,
//! how old it is, how its outline was made, who reads the summary. Every function here is pure, and the same content
//! always gives the same summary.
//!
//! | folder | purpose | may import |
//! |---|---|---|
//! | `heuristic` | the summary of every file, without a model | `secrets` |
//! | `prompt` | what a model is sent, and the checks of its answer | `heuristic`, `secrets` |
//! | `secrets` | what must not be shown, and what must not be sent | – |
//!
//! All of them may import `words` (budgets and rounding). Start with [`heuristic()`].

mod heuristic;
pub mod prompt;
pub mod secrets;
mod words;

pub use heuristic::{
    Introduction, SummaryInput, heuristic, introduction, is_machine_written, is_marked_as_generated,
    names_without_outline, producer,
};
pub use words::safe_signature;
