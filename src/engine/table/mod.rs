//! The table of all files: the state of each, and how the document of a choice shows it.
//!
//! `rows` makes a table, `versions` caches the last ones and knows which rows have changed since, `answer` decides how
//! much is computed for an answer, and `update` updates the rows of changed files. Imports all other folders.

mod answer;
mod basis;
mod rows;
mod update;
mod versions;

pub use answer::TableAnswer;
pub use rows::{TableNames, TableRow, TableTotals};
pub use versions::{TableClock, TableRequest};

pub(in crate::engine) use answer::{file_table, table_files};
pub(in crate::engine) use versions::TableCache;
