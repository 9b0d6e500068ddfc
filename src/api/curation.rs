//! The curation as JSON, with the keys of `slop.toml`.

use serde::Serialize;
use serde_json::{Value, json};

use super::body_schema::read_json_input;
use super::fault::ApiError;
use super::inline_curation::{InlinePersona, InlinePreset, ItemEntry, SliceEntry};
use crate::model::{FileItem, MaskMode, Persona, Preset, Slice, SliceResolution};

/// Returns an item with all keys, including defaults.
pub fn item_to_json(item: &FileItem) -> Value {
    to_json(ItemEntry::from(item))
}

pub fn mask_to_json(mask: &[(String, MaskMode)]) -> Value {
    mask.iter().map(|(symbol, mode)| (symbol.clone(), Value::from(mode.name()))).collect()
}

pub fn preset_to_json(preset: &Preset) -> Value {
    to_json(InlinePreset::from(preset))
}

pub fn persona_to_json(persona: &Persona) -> Value {
    to_json(InlinePersona::from(persona))
}

pub fn slice_to_json(slice: &Slice) -> Value {
    to_json(SliceEntry::from(slice))
}

fn to_json(entry: impl Serialize) -> Value {
    serde_json::to_value(entry).expect("entries with string keys always become JSON")
}

/// Parses a slice in the form of requests. Everything except the lines is optional.
pub fn slice_from_json(text: &str) -> Result<Slice, ApiError> {
    let slice: SliceEntry =
        read_json_input(text.as_bytes()).map_err(|reason| ApiError::bad_slice(&reason))?;
    Ok(slice.into())
}

pub fn resolution_to_json(resolution: &SliceResolution) -> Value {
    json!({
        "status": resolution.status.name(),
        "start_line": resolution.start_line,
        "end_line": resolution.end_line,
        "reason": resolution.reason,
    })
}
