//! Slices as JSON, under the keys that they have in `slop.toml`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::fault::ApiError;
use crate::model::{Slice, SliceAnchors, SliceResolution};

/// Returns a slice as JSON.
pub fn to_json(slice: &Slice) -> Value {
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

/// Reads a slice. All but the lines may be missing, and keys that mean nothing to slop are passed over.
pub fn from_json(text: &str) -> Result<Slice, ApiError> {
    let written: SliceJson =
        serde_json::from_str(text).map_err(|error| ApiError::bad_slice(&error.to_string()))?;
    let SliceJson { start_line, end_line, .. } = written;
    if start_line < 1 || end_line < start_line {
        let why = format!("{start_line}-{end_line} is not a range of lines counted from 1");
        return Err(ApiError::bad_slice(&why));
    }
    let hash = written.content_hash.filter(|hash| !hash.is_empty());
    let content_hash = hash.map(|hash| hash.parse()).transpose();
    let content_hash =
        content_hash.map_err(|_| ApiError::bad_slice("content_hash is not a SHA-256 of 64 hex digits"))?;
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

/// Returns where a slice is, as JSON.
pub fn resolution(resolution: &SliceResolution) -> Value {
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

#[derive(Deserialize, Default)]
struct ContextSides {
    // A side that is missing is no error: the file may begin or end there.
    before: Option<Vec<String>>,
    after: Option<Vec<String>>,
}

/// How systems before slop wrote contexts: the lines before the slice alone, or both sides.
#[derive(Deserialize)]
#[serde(untagged)]
enum AnchorLines {
    Before(Vec<String>),
    Sides(ContextSides),
}

impl AnchorLines {
    fn into_sides(self) -> ContextSides {
        match self {
            Self::Before(before) => ContextSides { before: Some(before), after: None },
            Self::Sides(sides) => sides,
        }
    }
}
