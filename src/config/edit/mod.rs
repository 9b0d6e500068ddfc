//! Edits of what people curate, in a file that they write by hand: all that an edit is not about stays as it is.
//!
//! Knows: how items, slices, masks and presets are written in TOML, in each of the forms that TOML has for them, and
//! where comments belong. Does not know: which symbols or lines a file has. Every function here is a whole edit: it
//! reads the file, changes it and writes it.
//!
//! Start with [`add_slice`]; `page.rs` reads and writes, `tables.rs` keeps comments where they belong.

mod arrays;
mod items;
mod masks;
mod page;
mod presets;
mod slices;
mod tables;
#[cfg(test)]
mod tests;
mod written;

pub use items::plain_path;
pub use masks::remove_masks;
pub use masks::set_masks;
pub use page::saved_text;
pub use presets::AppliedPreset;
pub use presets::PresetDraft;
pub use presets::apply_preset;
pub use presets::delete_preset;
pub use presets::save_preset;
pub use slices::SliceKey;
pub use slices::add_slice;
pub use slices::remove_slices;
