//! Selects what a limited document shows of each file, renders it, and measures the result.
//!
//! Start with `packer`. `fit` searches for the largest selection that fits the limit; `stable` first packs the part
//! that stays the same. Both call `pack`, which gets the costs of pieces from `costs` and the blocks from `excerpts`.
//! May import `draft`, `gather`, `rendering` and `request`.

mod costs;
mod excerpts;
mod fit;
mod measure;
mod named_files;
mod pack;
mod packer;
mod placed_files;
mod stable;
mod step_down;

pub(in crate::engine::document) use costs::BudgetUnit;
pub(in crate::engine::document) use fit::{assemble, limit_of};
pub(in crate::engine::document) use measure::measure;
pub(in crate::engine::document) use pack::{PackMemos, is_ranked};
pub(in crate::engine::document) use packer::{DraftPacker, StableRanking};
pub(in crate::engine::document) use stable::StableShare;
pub(in crate::engine::document) use step_down::step_down;
