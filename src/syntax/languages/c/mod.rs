//! C and C++.

mod declarations;
mod declarators;
mod table;

pub(super) use table::{C, CPP};
