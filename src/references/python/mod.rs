//! What only Python has: requests of pytest fixtures by parameters (`fixture_uses`), types of inherited members by
//! their receiver (`receivers`), and the contents of module variables (`variables`).

mod fixture_uses;
mod receivers;
mod variables;

pub(in crate::references) use variables::{Variables, uses_in_variables};
