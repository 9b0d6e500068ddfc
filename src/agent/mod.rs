//! The sub-agent: who is asked what, when, and for how much.
//!
//! Knows: the order of work, single flight, retries and escalation, rates, the ledger and its caps. Does not know: how
//! a question is worded (`engine`, `summarize`), how it is written for a provider (`llm`), where settings come from.
//!
//! Start with [`Options`].

mod options;

pub use crate::store::paid::Caps;
pub use options::Options;
