//! The sub-agent: who is asked what, when, and for how much.
//!
//! Knows: the order of work, single flight, retries and escalation, rates, the ledger and its caps. Does not know: how
//! a question is worded (`engine`, `summarize`), how it is written for a provider (`llm`), where settings come from.
//!
//! Start with [`Office::run`]; then read `course.rs`, the way of one question.

mod batch;
mod books;
mod claims;
mod collect;
mod course;
mod door;
mod error;
mod estimate;
mod hush;
mod office;
mod options;
mod outcome;
mod post;
mod questions;
mod report;
mod run;
mod sending;
mod status;
#[cfg(test)]
mod testing;
mod till;
mod warm;

pub use crate::llm::Class;
pub use crate::llm::Soft;
pub use crate::store::paid::Caps;
pub use crate::store::paid::OverCap;
pub use crate::store::paid::Spent;
pub use crate::store::paid::Summary;
pub use crate::store::paid::UsageRow;
pub use batch::batch_model;
pub use books::Books;
pub use books::forgive;
pub use collect::Collected;
pub use error::Error;
pub use estimate::Estimate;
pub use estimate::estimate;
pub use office::Office;
pub use office::Windows;
pub use options::Options;
pub use outcome::End;
pub use outcome::Outcome;
pub use outcome::Why;
pub use questions::Questions;
pub use questions::Worded;
pub use report::Note;
pub use report::Report;
pub use report::Silent;
pub use sending::preview;
pub use status::State;
pub use status::Status;
