//! The table of all files: what each is, and how the document of a choice shows it.
//!
//! `rows` makes a table, `versions` keeps the last ones and knows which rows have changed since, `answer` decides how much
//! is found out for an answer, and `update` finds out what has become of the files that have changed. Imports all other
//! folders.

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
