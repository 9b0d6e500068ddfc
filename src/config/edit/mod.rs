//! Edits the curation in a file that is also written by hand, leaving everything else unchanged.
//!
//! Knows: how items, slices, masks and presets are written in TOML, in each syntax that TOML has for them, and to what
//! comments belong. Does not know: which symbols or lines a file has. Every public function is a complete edit: it
//! reads, changes and writes the file. [`edit_curation`] makes several at once.
//!
//! The curation of takes that are not current is in a file of its own (`takes.rs`).
//!
//! Start with [`add_slice`] or [`edit_curation`]; `page.rs` reads and writes, `format.rs` keeps comments where they
//! belong.

mod batch;
mod document;
mod format;
mod items;
mod keys;
mod modes;
mod older;
mod page;
mod presets;
mod screenshots;
mod takes;
#[cfg(test)]
mod tests;

pub use batch::{CurationEdit, EditOutcome, edit_curation};
pub use items::{
    SliceChange, SliceKey, add_slice, notes_of_carried_hides, plain_path, remove_masks, remove_slices,
    set_masks,
};
pub use modes::{ItemChange, ItemMode, ItemSetting, clear_item_mode, remove_items, set_item_mode};
pub use older::{ConvertedProject, convert_older};
pub use page::{check_revision, replace_text, saved_text};
pub use presets::{PresetDraft, apply_preset, delete_preset, save_preset};
pub use screenshots::ScreenshotChange;
pub use takes::{
    TakeChange, TakeFiles, TakeSummary, TakesOutcome, TakesSummary, change_takes, read_takes, settle_takes,
};
