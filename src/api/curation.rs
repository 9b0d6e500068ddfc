//! What people curate, as JSON under the keys that it has in `slop.toml`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::fault::ApiError;
use super::inline_curation::{AnchorLines, ContextSides};
use crate::model::{
    AggregationStrategy, FileItem, MaskMode, Persona, Preset, Slice, SliceAnchors, SliceResolution, Tier,
    ViewMode,
};

/// Returns an item with every key, those that are not written with their defaults.
pub fn item_to_json(item: &FileItem) -> Value {
    json!({
        "path": item.path,
        "auto_aggregate": item.auto_aggregate,
        "force_full": item.force_full,
        "view_mode": item.view_mode.map(ViewMode::name),
        "selected": item.selected,
        "ast_signatures": item.ast_signatures,
        "ast_definitions": item.ast_definitions,
        "ast_mask": mask_to_json(&item.ast_mask),
        "tier": item.tier.map(Tier::number),
        "injected_at": item.injected_at,
        "custom_slices": item.custom_slices.iter().map(slice_to_json).collect::<Value>(),
    })
}

pub fn mask_to_json(mask: &[(String, MaskMode)]) -> Value {
    mask.iter().map(|(symbol, mode)| (symbol.clone(), Value::from(mode.name()))).collect()
}

pub fn preset_to_json(preset: &Preset) -> Value {
    json!({
        "name": preset.name,
        "description": preset.description,
        "files": preset.files.iter().map(item_to_json).collect::<Value>(),
        "screenshots": preset.screenshots,
    })
}

pub fn persona_to_json(persona: &Persona) -> Value {
    let models = persona.preferred_models.iter().map(|model| {
        json!({
            "provider": model.provider,
            "model": model.model,
            "temperature": model.temperature,
            "top_p": model.top_p,
            "max_output_tokens": model.max_output_tokens,
        })
    });
    let languages = persona.views.languages.iter();
    let languages = languages.map(|(id, view)| (id.clone(), json!({"view": view.name()})));
    json!({
        "name": persona.name,
        "tier": persona.tier.map(Tier::number),
        "aggregation_strategy": persona.aggregation_strategy.map(AggregationStrategy::name),
        "preferred_models": models.collect::<Value>(),
        "context_preset": persona.context_preset,
        "budget_tokens": persona.budget_tokens,
        "focus": persona.focus,
        "view": persona.views.view.map(ViewMode::name),
        "focus_view": persona.views.focus_view.map(ViewMode::name),
        "languages": languages.collect::<Value>(),
        "system_prompt": persona.system_prompt,
    })
}

pub fn slice_to_json(slice: &Slice) -> Value {
    let anchors = &slice.anchors;
    json!({
        "start_line": slice.start_line,
        "end_line": slice.end_line,
        "tag": slice.tag,
        "comment": slice.comment,
        "content_hash": anchors.content_hash.map(|hash| hash.to_string()),
        "start_context": anchors.before,
        "end_context": anchors.after,
        "line_hashes": anchors.line_hashes,
        "unique_lines": {"before": anchors.unique_before, "after": anchors.unique_after},
        "copies": anchors.copies,
    })
}

/// Reads a slice. Everything except the lines may be missing.
pub fn slice_from_json(text: &str) -> Result<Slice, ApiError> {
    let written: SliceJson =
        serde_json::from_str(text).map_err(|error| ApiError::bad_slice(&error.to_string()))?;
    let SliceJson { start_line, end_line, .. } = written;
    if start_line < 1 || end_line < start_line {
        let reason = format!("{start_line}-{end_line} is not a range of lines counted from 1");
        return Err(ApiError::bad_slice(&reason));
    }
    let hash = written.content_hash.filter(|hash| !hash.is_empty());
    let content_hash = hash.map(|hash| hash.parse()).transpose();
    let content_hash =
        content_hash.map_err(|_| ApiError::bad_slice("content_hash is not a SHA-256 of 64 hex digits"))?;
    // Only slices of earlier systems have these; where both spellings are present, the new one is the more exact.
    let old = written.anchor_lines.map_or_else(ContextSides::default, AnchorLines::into_sides);
    let unique = written.unique_lines.unwrap_or_default();
    Ok(Slice {
        start_line,
        end_line,
        tag: written.tag.unwrap_or_default(),
        comment: written.comment.unwrap_or_default(),
        anchors: SliceAnchors {
            content_hash,
            before: written.start_context.or(old.before).unwrap_or_default(),
            after: written.end_context.or(old.after).unwrap_or_default(),
            line_hashes: written.line_hashes.unwrap_or_default(),
            unique_before: unique.before.unwrap_or_default(),
            unique_after: unique.after.unwrap_or_default(),
            copies: written.copies.unwrap_or_default(),
        },
    })
}

pub fn resolution_to_json(resolution: &SliceResolution) -> Value {
    json!({
        "status": resolution.status.name(),
        "start_line": resolution.start_line,
        "end_line": resolution.end_line,
        "reason": resolution.reason,
    })
}

#[derive(Deserialize)]
struct SliceJson {
    start_line: u32,
    end_line: u32,
    tag: Option<String>,
    comment: Option<String>,
    content_hash: Option<String>,
    start_context: Option<Vec<String>>,
    end_context: Option<Vec<String>>,
    line_hashes: Option<Vec<String>>,
    unique_lines: Option<ContextSides>,
    copies: Option<u32>,
    anchor_lines: Option<AnchorLines>,
}
