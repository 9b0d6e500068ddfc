//! Items that are understood at sight: one function, variable, field or name for a type.
//!
//! What is not plain beyond doubt is left to the grammar.

mod declarator;
mod function;
mod item;

pub(super) use item::ItemEnding;
pub(super) use item::ItemReading;
