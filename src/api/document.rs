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

/// The most limits that are tried between those of the smallest and the largest document.
// Eight halvings leave a 256th of the range, which is less than the slack.
const MAX_TRIES: usize = 8;
/// A document is large enough if it leaves no more than this fraction of the limit unused.
const SLACK_PART: u64 = 50;

/// A document that is asked for.
#[derive(Debug, Clone)]
pub struct DocumentRequest {
    /// What is aggregated.
    pub request: AggregationRequest,
    /// How it is written.
    pub format: FormatName,
    /// How a model is asked, where the format is a provider's.
    pub body: BodyOptions,
    /// Name of the project; documents of one project and tier are cached together.
    pub project_name: String,
    /// How the document is put into an answer.
    pub shape: AnswerShape,
    /// Whether nobody is given the document.
    pub is_preview: bool,
}

/// The file that a document goes into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputTarget {
    File(PathBuf),
    /// The next numbered file of a folder.
    Numbered {
        folder: PathBuf,
        /// What the name begins with.
        name: String,
        /// How many of these files are kept; 0 for all.
        keep: u32,
    },
}

struct FormattedDocument {
    document: Document,
    text: DocumentText,
    /// What the text consists of, if that was noted when it was written.
    layout: Option<DocumentLayout>,
}

impl FormattedDocument {
    /// Returns the document to be cached, and its blocks.
    fn into_cached(self, format: FormatName) -> (Arc<CachedDocument>, Vec<DocumentBlock>) {
        let Self { document, text, layout } = self;
        let boundary = boundary(&document, format, &text);
        // Of a request body, what the model reads.
        let layout = layout.unwrap_or_else(|| render::document_layout(&document, has_images_apart(format)));
        // Moved, not copied: the receipt of many files takes as much memory as a large document.
        let Document { receipt, blocks, .. } = document;
        let (layout, encoded) = (Arc::new(layout), OnceLock::new());
        (Arc::new(CachedDocument { receipt, text, boundary, layout, encoded }), blocks)
    }
}

/// Composes and writes a document, unless it was written before and is still the same.
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
    // The files are selected and compared even for a cached document: only composing and writing are saved.
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

/// Composes a document as [`compose_document`] does, and returns it before it is written in any format. Its receipt
/// gives the size that it has in that format.
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

/// Returns all that decides how a document is written, and is no part of what it is composed of. It is spelled as JSON, in
/// which no two lists of values look alike.
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

/// Returns where the discussion begins, which is last; the end of the text, if there is none or it is no text for a reader.
fn boundary(document: &Document, format: FormatName, text: &DocumentText) -> usize {
    match format {
        FormatName::Markdown => text.len() - render::suffix_text(document).len(),
        FormatName::Json | FormatName::Anthropic | FormatName::Openai | FormatName::Gemini => text.len(),
    }
}

fn request_of(aggregation: &DocumentRequest) -> AggregationRequest {
    let mut request = aggregation.request.clone();
    request.sections.images_apart = has_images_apart(aggregation.format);
    // Of the types that slop knows, Gemini alone refuses one.
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

/// Returns the limit of bytes, if the engine cannot keep it by itself: it measures Markdown.
const fn limit_of_format(aggregation: &DocumentRequest) -> Option<u64> {
    match aggregation.format {
        FormatName::Markdown => None,
        FormatName::Json | FormatName::Anthropic | FormatName::Openai | FormatName::Gemini => {
            aggregation.request.limits.bytes
        }
    }
}

/// The engine fits the Markdown of a document into a limit of bytes, and other formats take more bytes than that. This
/// searches for a lower limit with which the document, as written, keeps the real one.
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
        // Most documents are far smaller than their limit, so the limit itself is tried before anything is searched
        // for.
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
                // It fits as Markdown, and is too large as written.
                Ok(_) => high = last,
                // Not even the Markdown fits: the bound is too low, and not too high.
                Err(Error::OverSize { .. } | Error::OverBudget { .. }) => low = last,
                Err(error) => return Err(error),
            }
        }
        // The project remembers the document that it composed last.
        if last == low { Ok(best) } else { self.compose_within(low) }
    }

    /// Returns the smallest document there is, and its limit.
    fn smallest(&mut self) -> Result<(u64, FormattedDocument), Error> {
        let nothing = DocumentLimits { bytes: Some(0), ..DocumentLimits::default() };
        let bytes = match self.project.compose(&mut self.prepared, nothing) {
            // Nothing fits into a limit of 0, and the error has the size of the smallest document.
            Err(Error::OverSize { bytes, .. }) => bytes,
            composed => composed.map(|_| 0)?,
        };
        Ok((bytes, self.compose_within(bytes)?))
    }

    /// Returns the error that even the smallest document is too large.
    fn over_size(&self, mut smallest: Document) -> Error {
        // The limit that the document would fit into is part of its receipt, where it may have more digits than the
        // limit that was requested, so that the document grows with it.
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

/// Writes a document, and into its receipt how many bytes that takes.
fn format_document(
    mut document: Document,
    aggregation: &DocumentRequest,
) -> Result<FormattedDocument, Error> {
    loop {
        let text = format_text(&document, aggregation)?;
        let bytes = text.len() as u64;
        // JSON holds the receipt, whose number may have become a digit longer by itself.
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
            let receipt = DocumentReceipt::of(&document.receipt, aggregation.shape.scope).without_times();
            return Ok(wire::pretty(&wire::document_json(document, receipt)).into());
        }
        FormatName::Anthropic => providers::anthropic(&content()?, body),
        FormatName::Openai => providers::openai(&content()?, body, &cache_key(document, aggregation)),
        FormatName::Gemini => providers::gemini(&content()?, body),
    };
    Ok(wire::pretty(&value).into())
}

/// Returns a key that the documents of one project and tier share. It is a hash, so that it reveals no names.
fn cache_key(document: &Document, aggregation: &DocumentRequest) -> String {
    let tier = document.receipt.tier.map_or(String::new(), |tier| tier.to_string());
    // A NUL keeps the parts apart, because a project's name holds no control characters.
    let subject = format!("{}\0{tier}", aggregation.project_name);
    format!("slop-{}", ContentHash::digest(subject.as_bytes()).short_hex())
}
