//! All that is cached, a line of JSON for each file.

use serde::Serialize;

use super::path::wire_path;
use super::structure::SymbolNode;
use crate::engine::ExportedArtifacts;

#[derive(Serialize)]
struct ExportedJson {
    file_path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path_hex: Option<String>,
    file_hash: String,
    summary: Option<String>,
    outline: Option<Vec<SymbolNode>>,
    generated_at: Option<i64>,
    generator_tier: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generator: Option<String>,
}

/// Returns what is cached of one file, ready to be written as JSON.
pub fn exported_json(row: ExportedArtifacts) -> impl Serialize {
    let (file_path, file_path_hex) = wire_path(&row.path);
    let symbols = row.outline.map(|outline| outline.symbols);
    ExportedJson {
        file_path,
        file_path_hex,
        file_hash: row.hash.to_string(),
        summary: row.summary,
        outline: symbols.map(|symbols| symbols.into_iter().map(Into::into).collect()),
        generated_at: row.made_at_s,
        generator_tier: row.by.as_ref().map(|(_, tier)| tier.number()),
        generator: row.by.map(|(model, _)| model.to_string()),
    }
}
