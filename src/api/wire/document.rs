//! A document: the answer to an aggregation, and the document with its sections written as JSON.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::envelope::SCHEMA_VERSION;
use super::receipt::DocumentReceipt;
use super::scalars::wire_path;
use crate::api::choices::ReceiptScope;
use crate::engine::CachedDocument as Written;
use crate::model::{
    BeadIssue, BeadsList, DiscussionEntry, Document, DocumentBlock, DocumentText, Screenshot, ScreenshotImage,
};
use crate::render;

/// A composed document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComposedDocument {
    /// The document in the requested format; absent if its parts or only the receipt were requested.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "whole_text")]
    #[schemars(with = "Option<String>")]
    pub text: Option<DocumentText>,
    /// The document in two parts, if they were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<DocumentParts>,
    /// How each file was shown.
    pub receipt: DocumentReceipt,
}

/// The text of a document as one string.
mod whole_text {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use crate::model::DocumentText;

    #[expect(clippy::ref_option, reason = "the signature that serde requires")]
    pub(super) fn serialize<S: Serializer>(text: &Option<DocumentText>, to: S) -> Result<S::Ok, S::Error> {
        text.as_ref().map(DocumentText::text).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<DocumentText>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(DocumentText::from))
    }
}

impl ComposedDocument {
    /// Returns a document that was written. Its text is moved if nothing else refers to it.
    pub(in crate::api) fn from_written(written: Arc<Written>, shape: AnswerShape) -> Self {
        let receipt = DocumentReceipt::new(&written.receipt, shape.scope);
        if shape.in_parts {
            let text = written.text.text();
            let (prefix, suffix) = split_text(&text, written.boundary);
            let (boundary, prefix) = (prefix.len() as u64, prefix.to_owned());
            let parts = DocumentParts { prefix, suffix: suffix.to_owned(), boundary };
            return Self { text: None, parts: Some(parts), receipt };
        }
        // The cache may hold the document too; only then is its text copied.
        let text = Arc::try_unwrap(written).map_or_else(|kept| kept.text.clone(), |written| written.text);
        Self { text: Some(text), parts: None, receipt }
    }
}

/// A document in two parts: one followed by the other is the document, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentParts {
    /// Everything before the discussion: what a provider is asked to cache.
    pub prefix: String,
    /// The discussion, which is new with every question; empty if there is none.
    pub suffix: String,
    /// The length of the prefix in bytes, which is where the cache mark belongs.
    pub boundary: u64,
}

/// How a document is put into an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerShape {
    /// The files that the receipt lists.
    pub scope: ReceiptScope,
    /// Whether the text is given in two parts.
    pub in_parts: bool,
}

/// A [`ComposedDocument`] whose text need not be copied.
#[derive(Serialize)]
struct ComposedDocumentRef<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<DocumentPartsRef<'a>>,
    receipt: &'a RawValue,
}

#[derive(Serialize)]
struct DocumentPartsRef<'a> {
    prefix: &'a str,
    suffix: &'a str,
    boundary: usize,
}

/// Returns the text before and after the boundary.
fn split_text(text: &str, boundary: usize) -> (&str, &str) {
    text.split_at_checked(boundary).unwrap_or((text, ""))
}

/// The maximum size of an encoded document that is kept. A larger one would double the memory of its text, and is
/// seldom requested again.
const MAX_KEPT_BYTES: usize = 4 << 20;

/// The maximum size of the keys of an encoded document.
const FRAME_BYTES: usize = 100;
/// At most about 1/`ESCAPED_PART` of the characters of a text take another byte in JSON: newlines, quotes and tabs.
const ESCAPED_PART: usize = 4;

/// Returns the encoded document. It is encoded once, however often it is sent: the shape is part of its key in the
/// cache.
pub(in crate::api) fn encode_document(written: &Written, shape: AnswerShape) -> Bytes {
    // Encoding megabytes of text takes longer than finding out that the document is still current.
    if let Some(encoded) = written.encoded.get() {
        return encoded.clone();
    }
    // The text is one JSON string, so all of it is needed, however long it is.
    let text = written.text.text();
    let (prefix, suffix) = split_text(&text, written.boundary);
    let parts = DocumentPartsRef { prefix, suffix, boundary: prefix.len() };
    let receipt = DocumentReceipt::new(&written.receipt, shape.scope);
    let receipt = to_raw_value(&receipt).expect("strings and numbers can always be serialized");
    let room = text.len() + text.len() / ESCAPED_PART + receipt.get().len() + FRAME_BYTES;
    let json = ComposedDocumentRef {
        text: (!shape.in_parts).then_some(&text),
        parts: shape.in_parts.then_some(parts),
        receipt: &receipt,
    };
    // A growing buffer would be copied many times.
    let mut encoded = Vec::with_capacity(room);
    serde_json::to_writer(&mut encoded, &json).expect("strings and numbers can always be serialized");
    let encoded = Bytes::from(encoded);
    if encoded.len() <= MAX_KEPT_BYTES { written.encoded.get_or_init(|| encoded).clone() } else { encoded }
}

/// A document in the format `json`. It is only serialized, so it borrows its texts.
#[derive(Serialize)]
struct DocumentJson<'a> {
    schema_version: u32,
    sections: Vec<SectionJson<'a>>,
    files: Vec<BlockJson<'a>>,
    receipt: DocumentReceipt,
}

#[derive(Serialize)]
struct BlockJson<'a> {
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    language: &'a str,
    view: &'a str,
    sha256: Option<String>,
    head: String,
    remarks: &'a [String],
    text: Cow<'a, str>,
}

/// Returns a document with a receipt of it, ready to be written as JSON.
pub fn document_json(document: &Document, receipt: DocumentReceipt) -> impl Serialize {
    DocumentJson {
        schema_version: SCHEMA_VERSION,
        sections: sections(document),
        files: document.blocks.iter().map(block_json).collect(),
        receipt,
    }
}

fn block_json(block: &DocumentBlock) -> BlockJson<'_> {
    let (_, path_hex) = wire_path(&block.path);
    BlockJson {
        path: String::from_utf8_lossy(block.path.as_bytes()),
        path_hex,
        language: block.file_type.id,
        view: block.view.name(),
        sha256: block.content.map(|content| content.to_string()),
        head: render::head_line(block),
        remarks: &block.remarks,
        text: block.body.text(),
    }
}

/// A section with its content.
#[derive(Serialize)]
#[serde(tag = "holds", rename_all = "snake_case")]
pub(super) enum SectionJson<'a> {
    Files {
        heading: &'a str,
        /// How many of the files come first and stay the same from task to task, or from commit to commit.
        #[serde(skip_serializing_if = "Option::is_none")]
        stable_files: Option<usize>,
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

pub(super) fn sections(document: &Document) -> Vec<SectionJson<'_>> {
    let mut sections = Vec::new();
    if !document.overview.is_empty() {
        sections.push(SectionJson::Text { heading: "Overview", text: &document.overview });
    }
    if document.part.has_prefix() {
        let stable_files = document.stable.as_ref().map(|stable| stable.blocks);
        sections.push(SectionJson::Files { heading: document.files_heading, stable_files });
    }
    if let Some(rows) = document.stable.as_ref().and_then(|stable| stable.rows.as_ref()) {
        sections.push(SectionJson::Text { heading: "More files", text: rows });
    }
    if let Some(rows) = &document.more_files {
        sections.push(SectionJson::Text { heading: "More files", text: rows });
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
        ScreenshotImage::Failed(reason) => json.error = Some(reason),
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

fn entry(entry: &DiscussionEntry) -> DiscussionEntryJson<'_> {
    DiscussionEntryJson { role: entry.role.as_deref(), content: &entry.content }
}
