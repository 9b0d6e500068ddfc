//! The sections of a document, as JSON.

use serde::Serialize;

use crate::model::{BeadIssue, BeadsList, DiscussionEntry, Document, Screenshot, ScreenshotImage};
use crate::render;

/// A section, and what it holds.
#[derive(Serialize)]
#[serde(tag = "holds", rename_all = "snake_case")]
pub(super) enum SectionJson<'a> {
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
        completed: Vec<TrackedItemJson<'a>>,
        active: Vec<TrackedItemJson<'a>>,
        skipped: u64,
        error: Option<&'a str>,
    },
    Discussion {
        heading: &'a str,
        entries: Vec<DiscussionEntryJson<'a>>,
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
pub(super) struct TrackedItemJson<'a> {
    id: &'a str,
    title: &'a str,
    status: &'a str,
    description: &'a str,
}

#[derive(Serialize)]
pub(super) struct DiscussionEntryJson<'a> {
    role: Option<&'a str>,
    content: &'a str,
}

/// Returns the sections, in the order of the document.
pub(super) fn sections(document: &Document) -> Vec<SectionJson<'_>> {
    let mut sections = Vec::new();
    if document.part.has_prefix() {
        sections.push(SectionJson::Files { heading: document.files_heading });
    }
    if let Some(tree) = &document.tree {
        sections.push(SectionJson::Text { heading: "File Tree", text: tree });
    }
    if !document.screenshots.is_empty() {
        let screenshots = document.screenshots.iter().map(screenshot).collect();
        sections.push(SectionJson::Screenshots { heading: "Screenshots", screenshots });
    }
    sections.extend(document.beads.as_ref().map(tracked));
    if !document.discussion.is_empty() {
        let entries = document.discussion.iter().map(entry).collect();
        sections.push(SectionJson::Discussion { heading: "Discussion History", entries });
    }
    sections
}

fn screenshot(screenshot: &Screenshot) -> ScreenshotJson<'_> {
    let mut json = ScreenshotJson { path: &screenshot.path, media_type: None, base64: None, error: None };
    match &screenshot.image {
        ScreenshotImage::Link => {}
        ScreenshotImage::Inline { media_type, bytes } => {
            json.media_type = Some(media_type);
            json.base64 = Some(render::base64(bytes));
        }
        ScreenshotImage::Failed(why) => json.error = Some(why),
    }
    json
}

fn tracked(beads: &BeadsList) -> SectionJson<'_> {
    SectionJson::Beads {
        heading: "Beads Mode: Progress Track",
        completed: beads.completed.iter().map(bead).collect(),
        active: beads.active.iter().map(bead).collect(),
        skipped: beads.skipped,
        error: beads.failure.as_deref(),
    }
}

fn bead(bead: &BeadIssue) -> TrackedItemJson<'_> {
    TrackedItemJson { id: &bead.id, title: &bead.title, status: &bead.status, description: &bead.description }
}

fn entry(said: &DiscussionEntry) -> DiscussionEntryJson<'_> {
    DiscussionEntryJson { role: said.role.as_deref(), content: &said.content }
}
