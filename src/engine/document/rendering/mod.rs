//! Renders a view of one file, from the store or from its text. Imports no other part of `document`.

mod parsed_texts;
mod renderer;
mod view;
mod view_cache;

pub(in crate::engine::document) use parsed_texts::{PartsCache, parsed_parts};
pub(in crate::engine::document) use renderer::{
    NameList, RenderCaches, Renderer, encoding_remark, type_or_unknown,
};
pub(in crate::engine::document) use view::{
    BaseText, BaseTexts, CONTENTS_AT_ONCE, FoundSlice, HEAD, ViewOverrides, ViewParams, base_text,
    base_texts, find_slices, slice_warnings, without_old_lines,
};
pub use view::{UNKNOWN_SYMBOLS, ViewAnswer};
pub(in crate::engine::document) use view_cache::{CachedView, ViewCache, ViewKey, view_fingerprint};
