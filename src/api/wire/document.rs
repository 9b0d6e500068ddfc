//! A document: what an aggregation is answered by, and the document itself written as JSON.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::envelope::SCHEMA_VERSION;
use super::path::wire_path;
use super::receipt::DocumentReceipt;
use super::sections::{SectionJson, sections};
use crate::engine::CachedDocument as Written;
use crate::model::{Document, DocumentBlock};
use crate::render;

/// A composed document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComposedDocument {
    /// The document in the requested format; absent if only the receipt was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How each file was shown.
    pub receipt: DocumentReceipt,
}

impl ComposedDocument {
    /// Returns a document that was written; its text moves where nobody else has it.
    pub(in crate::api) fn from_written(written: Arc<Written>) -> Self {
        let receipt = DocumentReceipt::from(&written.receipt);
        let text = Arc::try_unwrap(written).map_or_else(|kept| kept.text.clone(), |written| written.text);
        let text = String::from_utf8(text.into()).expect("documents are written as text");
        Self { text: Some(text), receipt }
    }
}

/// A [`ComposedDocument`] whose text need not be copied.
#[derive(Serialize)]
struct ComposedDocumentRef<'a> {
    text: &'a str,
    receipt: DocumentReceipt,
}

/// Returns a document as it is sent. It is encoded once, however often it is given.
pub(in crate::api) fn encode_document(written: &Written) -> Bytes {
    let encode = || {
        let text = std::str::from_utf8(&written.text).expect("documents are written as text");
        let json = ComposedDocumentRef { text, receipt: DocumentReceipt::from(&written.receipt) };
        serde_json::to_vec(&json).expect("texts and numbers always become JSON").into()
    };
    written.encoded.get_or_init(encode).clone()
}

/// A document in the format `json`. It is only ever written, so that its texts need not be copied.
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
    text: &'a str,
}

/// Returns a document with its receipt, ready to be written as JSON.
pub fn document_json(document: &Document) -> impl Serialize {
    DocumentJson {
        schema_version: SCHEMA_VERSION,
        sections: sections(document),
        files: document.blocks.iter().map(block_json).collect(),
        receipt: DocumentReceipt::from(&document.receipt),
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
        text: &block.body,
    }
}
