//! Documents are composed, and written in the format that was asked for, within the limit of bytes of that format.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::providers::PromptContent;
use super::{providers, wire};
use crate::engine::{AggregationRequest, CachedDocument, DocumentLimits, Error, PreparedDocument, Project};
use crate::model::{BodyOptions, ContentHash, Document, Receipt};
use crate::render;

/// So often at most a limit is tried between the smallest document and the largest.
const MAX_TRIES: usize = 8;
/// A document is large enough where it leaves no more than this part of the limit.
const SLACK_PART: u64 = 50;

/// A document that is asked for.
#[derive(Debug, Clone)]
pub struct DocumentRequest {
    /// What is aggregated.
    pub request: AggregationRequest,
    /// How it is written.
    pub format: DocumentFormat,
    /// How a model is asked, where the format is a provider's.
    pub body: BodyOptions,
    /// Name of the project; documents of one project and tier are cached together.
    pub project_name: String,
    /// Whether nothing is wanted but the receipt of what would be written.
    pub is_dry_run: bool,
}

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentFormat {
    /// As Markdown.
    Markdown,
    /// As JSON, with its receipt.
    Json,
    /// As the body of a request to Anthropic.
    Anthropic,
    /// As the body of a request to OpenAI.
    OpenAi,
    /// As the body of a request to Gemini.
    Gemini,
}

impl DocumentFormat {
    /// Returns the extension of files that hold it.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json | Self::Anthropic | Self::OpenAi | Self::Gemini => "json",
        }
    }
}

/// The file that a document goes into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputTarget {
    /// This file.
    File(PathBuf),
    /// The next numbered file of a folder.
    Numbered {
        /// The folder.
        folder: PathBuf,
        /// What the name begins with.
        name: String,
        /// How many of these files are kept; 0 for all.
        keep: u32,
    },
}

/// A document, and the text that it is written as.
struct FormattedDocument {
    document: Document,
    text: String,
}

impl FormattedDocument {
    fn into_cached(self) -> Arc<CachedDocument> {
        let Self { document, text } = self;
        to_cached(document.receipt, text)
    }
}

/// Composes and writes a document, unless it was written before and is still the same.
pub fn compose_document(
    project: &mut Project<'_>,
    aggregation: &DocumentRequest,
) -> Result<Arc<CachedDocument>, Error> {
    let request = request_of(aggregation);
    if let Some(limit) = limit_of_format(aggregation) {
        return Ok(SizeSearch::new(project, aggregation, &request, limit)?.find_largest()?.into_cached());
    }
    let DocumentRequest { format, body, project_name, is_dry_run: _, request: _ } = aggregation;
    let asked = ContentHash::digest(format!("{request:?} {format:?} {body:?} {project_name}").as_bytes());
    let selected = project.select_for(&request)?;
    if let Some(document) = project.cached_document(asked, &request, &selected) {
        return Ok(document);
    }
    let (document, kept) = project.aggregate_selected(&request, selected)?;
    let FormattedDocument { document, text } = format_document(document, aggregation)?;
    let cached = to_cached(document.receipt.clone(), text);
    project.cache_document(asked, &kept, &document, &cached);
    Ok(cached)
}

/// Composes a document as [`compose_document`] does, and returns it before it is written in any format. Its receipt
/// gives the size that it has in that format.
pub fn compose_unformatted(
    project: &mut Project<'_>,
    aggregation: &DocumentRequest,
) -> Result<Document, Error> {
    let request = request_of(aggregation);
    if let Some(limit) = limit_of_format(aggregation) {
        return Ok(SizeSearch::new(project, aggregation, &request, limit)?.find_largest()?.document);
    }
    let selected = project.select_for(&request)?;
    let (document, _) = project.aggregate_selected(&request, selected)?;
    Ok(format_document(document, aggregation)?.document)
}

fn to_cached(receipt: Receipt, text: String) -> Arc<CachedDocument> {
    Arc::new(CachedDocument { receipt, text: text.into(), encoded: OnceLock::new() })
}

fn request_of(aggregation: &DocumentRequest) -> AggregationRequest {
    let mut request = aggregation.request.clone();
    request.sections.images_apart = sends_images(aggregation.format);
    request.sections.refused_images = refused_images(aggregation.format);
    request
}

/// Returns the limit of bytes, if the engine cannot keep it by itself: it measures Markdown.
const fn limit_of_format(aggregation: &DocumentRequest) -> Option<u64> {
    match aggregation.format {
        DocumentFormat::Markdown => None,
        DocumentFormat::Json
        | DocumentFormat::Anthropic
        | DocumentFormat::OpenAi
        | DocumentFormat::Gemini => aggregation.request.limits.bytes,
    }
}

/// The engine fits the Markdown of a document into a limit of bytes, and other formats take more bytes than that. So a
/// lower limit is sought, for which the document keeps the real one as it is written.
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
                Ok(_) => high = last,
                Err(Error::OverSize { .. } | Error::OverBudget { .. }) => low = last,
                Err(error) => return Err(error),
            }
        }
        // The project remembers the document that it composed last.
        if last == low { Ok(best) } else { self.compose_within(low) }
    }

    /// Returns the smallest document there is, and its limit.
    fn smallest(&mut self) -> Result<(u64, FormattedDocument), Error> {
        let nothing = DocumentLimits { tokens: None, bytes: Some(0) };
        let bytes = match self.project.compose(&mut self.prepared, nothing) {
            Err(Error::OverSize { bytes, .. }) => bytes,
            composed => composed.map(|_| 0)?,
        };
        Ok((bytes, self.compose_within(bytes)?))
    }

    /// Returns the error that even the smallest document is too large. The limit that it would fit into is a part of
    /// its
    /// receipt, and may have more digits.
    fn over_size(&self, mut smallest: Document) -> Error {
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

/// Returns whether a format holds images as such, and not as text.
const fn sends_images(format: DocumentFormat) -> bool {
    match format {
        DocumentFormat::Markdown | DocumentFormat::Json => false,
        DocumentFormat::Anthropic | DocumentFormat::OpenAi | DocumentFormat::Gemini => true,
    }
}

/// Returns the media types of images that a format's provider refuses, of those that slop knows.
const fn refused_images(format: DocumentFormat) -> &'static [&'static str] {
    match format {
        DocumentFormat::Gemini => &["image/gif"],
        DocumentFormat::Markdown
        | DocumentFormat::Json
        | DocumentFormat::Anthropic
        | DocumentFormat::OpenAi => &[],
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
        if document.receipt.bytes == bytes || !matches!(aggregation.format, DocumentFormat::Json) {
            document.receipt.bytes = bytes;
            return Ok(FormattedDocument { document, text });
        }
        document.receipt.bytes = bytes;
    }
}

fn format_text(document: &Document, aggregation: &DocumentRequest) -> Result<String, Error> {
    let content = || PromptContent::from_document(document).ok_or(Error::NothingToSend);
    let body = &aggregation.body;
    let value = match aggregation.format {
        DocumentFormat::Markdown => return Ok(render::render_markdown(document)),
        DocumentFormat::Json => return Ok(wire::pretty(&wire::document_json(document))),
        DocumentFormat::Anthropic => providers::anthropic(&content()?, body),
        DocumentFormat::OpenAi => providers::openai(&content()?, body, &cache_key(document, aggregation)),
        DocumentFormat::Gemini => providers::gemini(&content()?, body),
    };
    Ok(wire::pretty(&value))
}

/// Returns a key that the documents of one project and tier share. It is a hash, so that it reveals no names.
fn cache_key(document: &Document, aggregation: &DocumentRequest) -> String {
    let tier = document.receipt.tier.map_or(String::new(), |tier| tier.to_string());
    let subject = format!("{}\0{tier}", aggregation.project_name);
    format!("slop-{}", ContentHash::digest(subject.as_bytes()).short_hex())
}
