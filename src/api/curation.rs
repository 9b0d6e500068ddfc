//! What people curate, as JSON under the keys that it has in `slop.toml`.

use serde_json::{Value, json};

use super::slice;
use crate::model::{AggregationStrategy, FileItem, MaskMode, Persona, Preset, Tier, ViewMode};

/// Returns an item.
fn item_to_json(item: &FileItem) -> Value {
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
        "custom_slices": item.custom_slices.iter().map(slice::to_json).collect::<Value>(),
    })
}

/// Returns a mask.
pub fn mask_to_json(mask: &[(String, MaskMode)]) -> Value {
    mask.iter().map(|(symbol, mode)| (symbol.clone(), Value::from(mode.name()))).collect()
}

/// Returns a preset.
pub fn preset_to_json(preset: &Preset) -> Value {
    json!({
        "name": preset.name,
        "description": preset.description,
        "files": preset.files.iter().map(item_to_json).collect::<Value>(),
        "screenshots": preset.screenshots,
    })
}

/// Returns a persona.
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
    json!({
        "name": persona.name,
        "tier": persona.tier.map(Tier::number),
        "aggregation_strategy": persona.aggregation_strategy.map(AggregationStrategy::name),
        "preferred_models": models.collect::<Value>(),
        "context_preset": persona.context_preset,
        "system_prompt": persona.system_prompt,
    })
}
