//! The sections of a document, as JSON.

use serde::Serialize;

use crate::model::Bead;
use crate::model::Beads;
use crate::model::Document;
use crate::model::Picture;
use crate::model::Screenshot;
use crate::model::Utterance;
use crate::render;

/// A section, and what it holds.
#[derive(Serialize)]
#[serde(tag = "holds", rename_all = "snake_case")]
pub(super) enum Section<'a> {
    Files {
        heading: &'a str,
    },
    Text {
        heading: &'a str,
        text: &'a str,
    },
    Screenshots {
        heading: &'a str,
        screenshots: Vec<ScreenshotJson<'a>>,
    },
    Beads {
        heading: &'a str,
        completed: Vec<BeadJson<'a>>,
        active: Vec<BeadJson<'a>>,
        skipped: u64,
        error: Option<&'a str>,
    },
    Discussion {
        heading: &'a str,
        entries: Vec<EntryJson<'a>>,
    },
}

#[derive(Serialize)]
pub(super) struct ScreenshotJson<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct BeadJson<'a> {
    id: &'a str,
    title: &'a str,
    status: &'a str,
    description: &'a str,
}

#[derive(Serialize)]
pub(super) struct EntryJson<'a> {
    role: Option<&'a str>,
    content: &'a str,
}

/// Returns the sections, in the order of the document.
pub(super) fn sections(document: &Document) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    if document.part.has_prefix() {
        sections.push(Section::Files { heading: document.files_heading });
    }
    if let Some(tree) = &document.tree {
        sections.push(Section::Text { heading: "File Tree", text: tree });
    }
    if !document.screenshots.is_empty() {
        let screenshots = document.screenshots.iter().map(screenshot).collect();
        sections.push(Section::Screenshots { heading: "Screenshots", screenshots });
    }
    sections.extend(document.beads.as_ref().map(tracked));
    if !document.discussion.is_empty() {
        let entries = document.discussion.iter().map(entry).collect();
        sections.push(Section::Discussion { heading: "Discussion History", entries });
    }
    sections
}

fn screenshot(screenshot: &Screenshot) -> ScreenshotJson<'_> {
    let mut json = ScreenshotJson { path: &screenshot.path, media_type: None, base64: None, error: None };
    match &screenshot.picture {
        Picture::Link => {}
        Picture::Inline { media_type, bytes } => {
            json.media_type = Some(media_type);
            json.base64 = Some(render::base64(bytes));
        }
        Picture::Failed(why) => json.error = Some(why),
    }
    json
}

fn tracked(beads: &Beads) -> Section<'_> {
    Section::Beads {
        heading: "Beads Mode: Progress Track",
        completed: beads.completed.iter().map(bead).collect(),
        active: beads.active.iter().map(bead).collect(),
        skipped: beads.skipped,
        error: beads.failure.as_deref(),
    }
}

fn bead(bead: &Bead) -> BeadJson<'_> {
    BeadJson { id: &bead.id, title: &bead.title, status: &bead.status, description: &bead.description }
}

fn entry(said: &Utterance) -> EntryJson<'_> {
    EntryJson { role: said.role.as_deref(), content: &said.content }
}
