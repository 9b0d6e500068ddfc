//! Composes documents and writes them in the requested format, within the limit of bytes in that format.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde_json::json;

use super::choices::FormatName;
use super::prompt_cache::prefix_caching;
use super::providers::PromptContent;
use super::wire::{AnswerShape, DocumentReceipt};
use super::{providers, wire};
use crate::engine::{
    AggregationRequest, CachedDocument, DocumentCacheKey, DocumentLimits, Error, PreparedDocument, Project,
};
use crate::model::{
    BodyOptions, ContentHash, Document, DocumentBlock, DocumentLayout, DocumentText, PromptCaching,
};
use crate::render;

/// The most attempts of the search for a limit.
// Eight halvings leave a 256th of the range, which is less than the slack.
const MAX_TRIES: usize = 8;
/// The search ends if the document leaves at most this fraction of the limit unused.
const SLACK_PART: u64 = 50;

/// A request for a document.
#[derive(Debug, Clone)]
pub struct DocumentRequest {
    /// The request for the engine.
    pub request: AggregationRequest,
    /// The format.
    pub format: FormatName,
    /// The options of a provider's request body.
    pub body: BodyOptions,
    /// The name of the project; documents of one project and tier share a cache key.
    pub project_name: String,
    /// The form of the document in the answer.
    pub shape: AnswerShape,
    /// Whether the document is not delivered.
    pub is_preview: bool,
}

/// The file to which a document is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputTarget {
    File(PathBuf),
    /// The next numbered file of a folder.
    Numbered {
        folder: PathBuf,
        /// The beginning of the file name.
        name: String,
        /// How many of these files are kept; 0 for all.
        keep: u32,
    },
}

struct FormattedDocument {
    document: Document,
    text: DocumentText,
    /// The layout of the text, if it was recorded.
    layout: Option<DocumentLayout>,
}

impl FormattedDocument {
    /// Returns the document to be cached, and its blocks.
    fn into_cached(self, format: FormatName) -> (Arc<CachedDocument>, Vec<DocumentBlock>) {
        let Self { document, text, layout } = self;
        let boundary = boundary(&document, format, &text);
        // For a request body, the text that the model reads.
        let layout = layout.unwrap_or_else(|| render::document_layout(&document, has_images_apart(format)));
        // Moved, not copied, because the receipt of many files takes as much memory as a large document.
        let Document { receipt, blocks, .. } = document;
        let (layout, encoded) = (Arc::new(layout), OnceLock::new());
        (Arc::new(CachedDocument { receipt, text, boundary, layout, encoded }), blocks)
    }
}

/// Composes and formats a document, unless the cached one is still valid.
pub fn compose_document(
    project: &mut Project<'_>,
    aggregation: &DocumentRequest,
) -> Result<Arc<CachedDocument>, Error> {
    let request = project.with_places(request_of(aggregation))?;
    let caching = prefix_caching(aggregation.format, &aggregation.body);
    if let Some(limit) = limit_of_format(aggregation) {
        let found = SizeSearch::new(project, aggregation, &request, limit)?.find_largest()?;
        let (cached, _) = found.into_cached(aggregation.format);
        project.describe_delivery(&cached.layout, caching);
        return Ok(cached);
    }
    let asked = Arc::new(DocumentCacheKey { written_as: written_as(aggregation), request });
    let request = &asked.request;
    // The files are selected and compared even for a cached document: only composing and formatting are saved.
    let selected = project.select_for(request)?;
    if let Some(document) = project.cached_document(&asked, &selected, aggregation.is_preview) {
        project.describe_delivery(&document.layout, caching);
        return Ok(document);
    }
    let (mut document, kept) = project.aggregate_selected(request, selected)?;
    let formatted = if let FormatName::Markdown = aggregation.format {
        let (text, layout) = render::take_markdown(&mut document);
        document.receipt.bytes = text.len() as u64;
        FormattedDocument { document, text, layout: Some(layout) }
    } else {
        format_document(document, aggregation)?
    };
    let (cached, blocks) = formatted.into_cached(aggregation.format);
    project.cache_document(&asked, &kept, &blocks, &cached);
    project.describe_delivery(&cached.layout, caching);
    Ok(cached)
}

/// Composes a document like [`compose_document`], but returns it unformatted. Its receipt has the size in the requested
/// format.
pub fn compose_unformatted(
    project: &mut Project<'_>,
    aggregation: &DocumentRequest,
) -> Result<Document, Error> {
    let request = project.with_places(request_of(aggregation))?;
    if let Some(limit) = limit_of_format(aggregation) {
        return Ok(SizeSearch::new(project, aggregation, &request, limit)?.find_largest()?.document);
    }
    let selected = project.select_for(&request)?;
    let (document, _) = project.aggregate_selected(&request, selected)?;
    Ok(format_document(document, aggregation)?.document)
}

/// Returns everything that affects formatting but not composing, as JSON, so that different values always give
/// different keys.
fn written_as(aggregation: &DocumentRequest) -> String {
    let DocumentRequest { format, body, project_name, shape, is_preview: _, request: _ } = aggregation;
    let AnswerShape { scope, in_parts } = shape;
    let BodyOptions { model, system, temperature, top_p, max_output_tokens, caching } = body;
    let PromptCaching { marks, lifetime, min_tokens } = caching;
    let caching = (marks, lifetime.name(), min_tokens);
    let answer = (scope, in_parts);
    json!([format, project_name, model, system, temperature, top_p, max_output_tokens, caching, answer])
        .to_string()
}

/// Returns the offset of the discussion, which comes last; the end of the text if there is none, or if the format is
/// not plain text.
fn boundary(document: &Document, format: FormatName, text: &DocumentText) -> usize {
    match format {
        FormatName::Markdown => text.len() - render::suffix_text(document).len(),
        FormatName::Json | FormatName::Anthropic | FormatName::Openai | FormatName::Gemini => text.len(),
    }
}

fn request_of(aggregation: &DocumentRequest) -> AggregationRequest {
    let mut request = aggregation.request.clone();
    request.sections.images_apart = has_images_apart(aggregation.format);
    // Of the supported image types, only Gemini rejects one.
    request.sections.refused_images = match aggregation.format {
        FormatName::Gemini => &["image/gif"],
        FormatName::Markdown | FormatName::Json | FormatName::Anthropic | FormatName::Openai => &[],
    };
    request
}

/// Returns whether images are sent separately from the text.
const fn has_images_apart(format: FormatName) -> bool {
    match format {
        FormatName::Markdown | FormatName::Json => false,
        FormatName::Anthropic | FormatName::Openai | FormatName::Gemini => true,
    }
}

/// Returns the limit in bytes, if the engine, which measures Markdown, cannot enforce it.
const fn limit_of_format(aggregation: &DocumentRequest) -> Option<u64> {
    match aggregation.format {
        FormatName::Markdown => None,
        FormatName::Json | FormatName::Anthropic | FormatName::Openai | FormatName::Gemini => {
            aggregation.request.limits.bytes
        }
    }
}

/// The engine fits the Markdown of a document into a limit in bytes, but other formats take more bytes. This searches
/// for a lower limit with which the formatted document stays within the real one.
struct SizeSearch<'s, 'w> {
    project: &'s mut Project<'w>,
    aggregation: &'s DocumentRequest,
    prepared: PreparedDocument,
    limits: DocumentLimits,
    limit: u64,
}

impl<'s, 'w> SizeSearch<'s, 'w> {
    fn new(
        project: &'s mut Project<'w>,
        aggregation: &'s DocumentRequest,
        request: &AggregationRequest,
        limit: u64,
    ) -> Result<Self, Error> {
        let prepared = project.prepare(request)?;
        Ok(Self { project, aggregation, prepared, limits: request.limits, limit })
    }

    fn find_largest(mut self) -> Result<FormattedDocument, Error> {
        // Most documents are far smaller than their limit, so the limit itself is tried before the search.
        match self.compose_within(self.limit) {
            Ok(written) if self.keeps_limit(&written) => return Ok(written),
            Ok(_) | Err(Error::OverSize { .. }) => {}
            Err(error) => return Err(error),
        }
        let (mut low, mut best) = self.smallest()?;
        if !self.keeps_limit(&best) {
            return Err(self.over_size(best.document));
        }
        let (mut high, mut last) = (self.limit, low);
        for _ in 0..MAX_TRIES {
            if high <= low + 1 || self.limit - self.limit / SLACK_PART <= best.document.receipt.bytes {
                break;
            }
            last = low.midpoint(high);
            match self.compose_within(last) {
                Ok(written) if self.keeps_limit(&written) => (low, best) = (last, written),
                // Too large when formatted, or even as Markdown.
                Ok(_) | Err(Error::OverSize { .. } | Error::OverBudget { .. }) => high = last,
                Err(error) => return Err(error),
            }
        }
        // The project caches the document that it composed last.
        if last == low { Ok(best) } else { self.compose_within(low) }
    }

    /// Returns the smallest possible document, and its limit.
    fn smallest(&mut self) -> Result<(u64, FormattedDocument), Error> {
        let nothing = DocumentLimits { bytes: Some(0), ..DocumentLimits::default() };
        let bytes = match self.project.compose(&mut self.prepared, nothing) {
            // Nothing fits into a limit of 0, and the error contains the size of the smallest document.
            Err(Error::OverSize { bytes, .. }) => bytes,
            composed => composed.map(|_| 0)?,
        };
        Ok((bytes, self.compose_within(bytes)?))
    }

    /// Returns the error that even the smallest document is too large.
    fn over_size(&self, mut smallest: Document) -> Error {
        // The limit into which the document would fit is part of its receipt, where it may have more digits than the
        // requested limit, so the document may grow by that.
        while smallest.receipt.max_bytes != Some(smallest.receipt.bytes) {
            smallest.receipt.max_bytes = Some(smallest.receipt.bytes);
            match format_document(smallest, self.aggregation) {
                Ok(written) => smallest = written.document,
                Err(error) => return error,
            }
        }
        Error::OverSize { bytes: smallest.receipt.bytes, limit: self.limit }
    }

    /// Composes within a lower limit of bytes; the receipt records the requested limit.
    fn compose_within(&mut self, bytes: u64) -> Result<FormattedDocument, Error> {
        let limits = DocumentLimits { bytes: Some(bytes), ..self.limits };
        let mut document = self.project.compose(&mut self.prepared, limits)?;
        document.receipt.max_bytes = Some(self.limit);
        format_document(document, self.aggregation)
    }

    fn keeps_limit(&self, written: &FormattedDocument) -> bool {
        written.document.receipt.bytes <= self.limit
    }
}

/// Formats a document, and records its size in the receipt.
fn format_document(
    mut document: Document,
    aggregation: &DocumentRequest,
) -> Result<FormattedDocument, Error> {
    loop {
        let text = format_text(&document, aggregation)?;
        let bytes = text.len() as u64;
        // JSON includes the receipt, in which the size may have become a digit longer.
        if document.receipt.bytes == bytes || !matches!(aggregation.format, FormatName::Json) {
            document.receipt.bytes = bytes;
            return Ok(FormattedDocument { document, text, layout: None });
        }
        document.receipt.bytes = bytes;
    }
}

fn format_text(document: &Document, aggregation: &DocumentRequest) -> Result<DocumentText, Error> {
    let body = &aggregation.body;
    let content = || PromptContent::from_document(document, body.caching).ok_or(Error::NothingToSend);
    let value = match aggregation.format {
        FormatName::Markdown => return Ok(render::render_markdown(document)),
        FormatName::Json => {
            let receipt = DocumentReceipt::new(&document.receipt, aggregation.shape.scope).without_times();
            return Ok(wire::pretty(&wire::document_json(document, receipt)).into());
        }
        FormatName::Anthropic => providers::anthropic(&content()?, body),
        FormatName::Openai => providers::openai(&content()?, body, &cache_key(document, aggregation)),
        FormatName::Gemini => providers::gemini(&content()?, body),
    };
    Ok(wire::pretty(&value).into())
}

/// Returns a cache key that the documents of one project and tier share: a hash, so that it discloses no names.
fn cache_key(document: &Document, aggregation: &DocumentRequest) -> String {
    let tier = document.receipt.tier.map_or(String::new(), |tier| tier.to_string());
    // Separated by a NUL, because a project's name has no control characters.
    let subject = format!("{}\0{tier}", aggregation.project_name);
    format!("slop-{}", ContentHash::digest(subject.as_bytes()).short_hex())
}
