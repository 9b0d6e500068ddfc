//! Documents are written in the format that was asked for, within the limit of bytes of that format.

use std::sync::Arc;
use std::sync::OnceLock;

use super::providers;
use super::providers::PromptContent;
use super::request::DocumentFormat;
use super::request::DocumentRequest;
use super::response::AggregatedDocument;
use super::wire;
use crate::engine::AggregationRequest;
use crate::engine::CachedDocument;
use crate::engine::DocumentLimits;
use crate::engine::Error;
use crate::engine::PreparedDocument;
use crate::engine::Project;
use crate::model::ContentHash;
use crate::model::Document;
use crate::render;

/// So often at most a limit is tried between the smallest document and the largest.
const MAX_TRIES: usize = 8;
/// A document is large enough where it leaves no more than this part of the limit.
const SLACK_PART: u64 = 50;

/// A document, and the text that it is written as.
struct FormattedDocument {
    document: Document,
    text: String,
}

impl FormattedDocument {
    fn into_aggregated(self) -> AggregatedDocument {
        let Self { document, text } = self;
        let (receipt, encoded) = (document.receipt.clone(), OnceLock::new());
        let written = Arc::new(CachedDocument { receipt, text: text.into(), encoded });
        AggregatedDocument { document: Some(document), written }
    }
}

/// Composes and writes a document.
pub(super) fn compose_document(
    project: &mut Project<'_>,
    aggregation: &DocumentRequest,
) -> Result<AggregatedDocument, Error> {
    let mut request = aggregation.request.clone();
    request.sections.images_apart = sends_images(aggregation.format);
    request.sections.refused_images = refused_images(aggregation.format);
    match (aggregation.format, request.limits.bytes) {
        (DocumentFormat::Markdown, _) | (_, None) => compose_or_recall(project, &request, aggregation),
        (_, Some(limit)) => {
            let prepared = project.prepare(&request)?;
            let search = SizeSearch { project, aggregation, prepared, limits: request.limits, limit };
            Ok(search.find_largest()?.into_aggregated())
        }
    }
}

/// Composes and writes a document, unless it was written before and is still the same.
fn compose_or_recall(
    project: &mut Project<'_>,
    request: &AggregationRequest,
    aggregation: &DocumentRequest,
) -> Result<AggregatedDocument, Error> {
    let DocumentRequest { format, body, project_name, is_dry_run: _, request: _ } = aggregation;
    let asked = ContentHash::digest(format!("{request:?} {format:?} {body:?} {project_name}").as_bytes());
    let selected = project.select_for(request)?;
    if let Some(written) = project.cached_document(asked, request, &selected) {
        return Ok(AggregatedDocument { document: None, written });
    }
    let (document, kept) = project.aggregate_selected(request, selected)?;
    let aggregated = format_document(document, aggregation)?.into_aggregated();
    if let Some(document) = &aggregated.document {
        project.cache_document(asked, &kept, document, &aggregated.written);
    }
    Ok(aggregated)
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

impl SizeSearch<'_, '_> {
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

    /// Returns the error that even the smallest document is too large. The limit that it would fit into is a part of its
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

    /// Composes within a lower limit of bytes; what is told of limits is what was asked for.
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

/// Says whether a format holds images as such, and not as text.
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

/// Returns a key that the documents of one project and tier share, and that tells a provider no name.
fn cache_key(document: &Document, aggregation: &DocumentRequest) -> String {
    let tier = document.receipt.tier.map_or(String::new(), |tier| tier.to_string());
    let subject = format!("{}\0{tier}", aggregation.project_name);
    format!("slop-{}", ContentHash::digest(subject.as_bytes()).short_hex())
}
