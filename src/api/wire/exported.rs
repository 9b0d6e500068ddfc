//! The cached artifacts of files: their outlines, and their summaries with the author of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalars::{iso_time_of_s, spelled_path, wire_path};
use super::structure::SymbolNode;
use crate::engine::{ExportedArtifacts, render_outline};

/// The author of a summary that no model wrote.
const HEURISTIC: &str = "heuristic";

/// Why nothing is shown of a file with a mask: its cached artifacts contain what the mask hides.
const MASKED: &str = "a mask hides symbols of the file";

/// A page of cached artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheExport {
    /// The entries of some files, by path.
    pub entries: Vec<ExportedFile>,
    /// What to give as `after` for the next page; null on the last page.
    pub next: Option<String>,
}

/// A cached artifact of a file: its outline with the summary by the heuristic, or the summary that a model wrote for a
/// tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportedFile {
    /// The file, relative to the project's folder.
    pub file_path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path_hex: Option<String>,
    /// SHA-256 of the content.
    pub file_hash: String,
    /// The file's type, such as `python`.
    pub language: Option<String>,
    /// The summary.
    pub summary: Option<String>,
    /// The outline as text, one symbol per line; null in the entry of a summary by a model, and if there is no outline.
    pub outline: Option<String>,
    /// The outline as a tree.
    pub symbols: Option<Vec<SymbolNode>>,
    /// When the entry was made, as in `2026-11-23T06:28:27Z`.
    pub generated_at: Option<String>,
    /// `heuristic`, or the model that wrote the summary, such as `anthropic/claude-haiku-4-5`.
    pub generator: String,
    /// The tier that a model wrote the summary for; null for the heuristic, which is the same for all tiers.
    pub generator_tier: Option<u8>,
    /// Why the artifacts of the file are withheld; null if they are not.
    pub withheld: Option<String>,
}

impl CacheExport {
    /// Returns a page of at most `limit` files. If there is one more, another page follows.
    pub fn page(mut files: Vec<ExportedArtifacts>, limit: usize) -> Self {
        let has_more = limit < files.len();
        files.truncate(limit);
        let last = files.last().filter(|_| has_more).map(|file| wire_path(&file.path));
        Self {
            next: last.map(|(path, hex)| spelled_path(&path, hex.as_deref())),
            entries: files.into_iter().flat_map(exported_entries).collect(),
        }
    }
}

fn exported_entries(file: ExportedArtifacts) -> Vec<ExportedFile> {
    let (file_path, file_path_hex) = wire_path(&file.path);
    let outline = file.outline.as_ref().filter(|outline| !outline.symbols.is_empty()).map(render_outline);
    let symbols = file.outline.map(|outline| outline.symbols.into_iter().map(Into::into).collect());
    let shared = ExportedFile {
        file_path,
        file_path_hex,
        file_hash: file.hash.to_string(),
        language: file.file_type.map(|file_type| file_type.id.to_owned()),
        summary: None,
        outline: None,
        symbols: None,
        generated_at: None,
        generator: HEURISTIC.to_owned(),
        generator_tier: None,
        withheld: file.is_masked.then(|| MASKED.to_owned()),
    };
    let by_models = file.by_models.into_iter().map(|summary| ExportedFile {
        summary: Some(summary.text),
        generated_at: iso_time_of_s(summary.at_ms.div_euclid(1_000)),
        generator: summary.model.to_string(),
        generator_tier: Some(summary.tier.number()),
        ..shared.clone()
    });
    let by_models: Vec<ExportedFile> = by_models.collect();
    let of_file = ExportedFile {
        summary: file.summary,
        outline,
        symbols,
        generated_at: file.made_at_s.and_then(iso_time_of_s),
        ..shared
    };
    std::iter::once(of_file).chain(by_models).collect()
}
