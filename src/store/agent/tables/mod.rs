//! The tables of `agent.db`, as functions on a connection.
//!
//! Each file holds the SQL of the tables that change together and the conversion between rows and values. Transactions
//! are begun by the caller. Imports `sqlite` and the values in `rows.rs`, and nothing of what is above.

pub(super) mod catalog;
pub(super) mod spend;
pub(super) mod summary;
pub(super) mod work;
