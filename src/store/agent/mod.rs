//! Summaries by models and their cost: the only database that is worth money.
//!
//! `agent.db` is stored next to `index.db`, with its own migrations (`migrations/agent/`). It is written with
//! `synchronous = FULL`: what was acknowledged survives a power failure. It is never deleted automatically; a damaged
//! one is set aside and restored from its backup and from the rows that can still be read.
//!
//! The ledger fails safe: a row that is open or damaged counts as the most that it may have cost, and if calls may have
//! been lost with a damaged file, nothing more may be spent on the day of the last one.
//!
//! Layers, each of which imports only those before it: `rows` (the values), `spend`, `summary` and `work` (their SQL
//! and conversions), `shared` (the same for what a team shares), `totals` (the sums of the ledger), `wal` and
//! `recovery` (backup and restore), `db` (the connection), and on top of it `calls`, `sharing`, `team_memory` and
//! `upkeep`. Start with [`AgentDb::open`].

mod calls;
mod db;
mod recovery;
#[cfg(test)]
mod recovery_tests;
mod rows;
mod shared;
mod sharing;
mod spend;
mod summary;
mod team_memory;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod totals;
mod upkeep;
mod wal;
mod work;

pub use db::{AgentDb, OpenedAgentDb};
#[cfg(test)]
pub use rows::BatchState;
pub use rows::{
    AgentDbRecovery, AgentDbSize, BatchId, BatchItem, BatchQuestion, CallBatch, CapExceeded, ClaimStatus,
    FetchedSummary, NewBatch, RefusalRow, SpendCaps, SpendId, SpendOutcome, SpendReservation,
    SpendSettlement, SpendTotals, StoredSummary, TaskKeys, UsageRow,
};
pub use team_memory::TeamState;

/// The name of the database in the cache folder.
pub const AGENT_DATABASE: &str = "agent.db";
