//! Curation that a question brings along: entries, presets and personas under the keys that they have in `slop.toml`.
//!
//! They hold for one answer. What the settings would leave out with a note is refused here, because whoever asked can
//! correct it: the error names the position and the key.

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
