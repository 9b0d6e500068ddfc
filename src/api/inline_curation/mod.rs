//! Curation within a question: entries, presets and personas with the keys of `slop.toml`.
//!
//! It applies to one answer. Entries that would be left out with a note in the settings are rejected here, because the
//! client can fix them: the error has the position and the key.

mod entries;
mod profiles;
mod sources;
mod views;

pub(super) use entries::nonempty_text;
pub use entries::{ItemEntry, SliceEntry};
pub use profiles::{InlinePersona, InlinePreset};
pub use sources::{HistorySource, HistoryText, NameOrInline};
pub use views::ViewName;
pub(super) use views::{ITEM_VIEWS, item_view, tier_number};
