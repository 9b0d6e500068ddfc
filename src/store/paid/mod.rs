//! What a model wrote and what it cost: the one database that is worth money.
//!
//! `agent.db` stands beside `index.db`, with its own migrations (`migrations/agent/`). It is written with
//! `synchronous = FULL`: what was acknowledged is there after a power failure. It is never deleted of slop's own accord;
//! a damaged one is put aside and every row whose checksum holds is carried over.
//!
//! The ledger fails safe: a row that is open or damaged counts as the most that it may stand for, and where calls were
//! lost with a damaged file, nothing more may be spent on the day of the last one.
//!
//! Start with [`Paid::open`].

mod batch;
mod carve;
mod columns;
mod counter;
mod latest;
mod ledger;
mod log;
mod open;
mod rows;
mod salvage;
#[cfg(test)]
mod salvage_tests;
#[cfg(test)]
mod samples;
mod spend;
mod summary;
#[cfg(test)]
mod tests;
mod upkeep;
mod work;

pub use open::AgentDb;
pub use open::OpenedAgentDb;
pub use rows::AgentDbRecovery;
pub use rows::AgentDbSize;
pub use rows::BatchId;
pub use rows::BatchItem;
pub use rows::BatchQuestion;
pub use rows::BatchState;
pub use rows::CallBatch;
pub use rows::CapExceeded;
pub use rows::ClaimStatus;
pub use rows::DeletedSummaries;
pub use rows::NewBatch;
pub use rows::RefusalRow;
pub use rows::SpendCaps;
pub use rows::SpendId;
pub use rows::SpendOutcome;
pub use rows::SpendReservation;
pub use rows::SpendSettlement;
pub use rows::SpendTotals;
pub use rows::StoredSummary;
pub use rows::UsageRow;

/// Name of the database in the cache's folder.
pub const AGENT_DATABASE: &str = "agent.db";
