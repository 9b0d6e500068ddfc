//! What stands beside the files, as JSON.

use serde_json::Value;
use serde_json::json;

use crate::model::Bead;
use crate::model::Beads;
use crate::model::Document;
use crate::model::Picture;
use crate::model::Problem;
use crate::model::Screenshot;
use crate::render;

/// Returns the sections beside the files and their tree, in the order of the document.
pub(super) fn sections(document: &Document) -> Vec<Value> {
    let mut sections = Vec::new();
    if !document.screenshots.is_empty() {
        let screenshots: Value = document.screenshots.iter().map(screenshot).collect();
        sections.push(json!({"heading": "Screenshots", "holds": "screenshots", "screenshots": screenshots}));
    }
    if let Some(beads) = &document.beads {
        sections.push(tracked(beads));
    }
    if !document.discussion.is_empty() {
        let entries = document.discussion.iter();
        let entries: Value =
            entries.map(|said| json!({"role": said.role, "content": said.content})).collect();
        sections.push(json!({"heading": "Discussion History", "holds": "discussion", "entries": entries}));
    }
    sections
}

/// Returns what could not be had beside the files.
pub(super) fn problem(problem: &Problem) -> Value {
    json!({"section": problem.section, "why": problem.why, "is_error": problem.is_error})
}

fn screenshot(screenshot: &Screenshot) -> Value {
    let mut value = json!({"path": screenshot.path});
    match &screenshot.picture {
        Picture::Link => {}
        Picture::Inline { media_type, bytes } => {
            value["media_type"] = json!(media_type);
            value["base64"] = json!(render::base64(bytes));
        }
        Picture::Failed(why) => value["error"] = json!(why),
    }
    value
}

fn tracked(beads: &Beads) -> Value {
    let list = |beads: &[Bead]| beads.iter().map(bead).collect::<Value>();
    json!({
        "heading": "Beads Mode: Progress Track",
        "holds": "beads",
        "completed": list(&beads.completed),
        "active": list(&beads.active),
        "skipped": beads.skipped,
        "error": beads.failure,
    })
}

fn bead(bead: &Bead) -> Value {
    json!({
        "id": bead.id,
        "title": bead.title,
        "status": bead.status,
        "description": bead.description,
    })
}
