//! Documents are written in the format that was asked for, within the limit of bytes of that format.

use std::sync::Arc;
use std::sync::OnceLock;

use super::providers;
use super::providers::Content;
use super::request::Aggregation;
use super::request::DocumentFormat;
use super::response::Aggregated;
use super::wire;
use crate::engine::AggregationRequest;
use crate::engine::Answer;
use crate::engine::Error;
use crate::engine::Limits;
use crate::engine::Prepared;
use crate::engine::Project;
use crate::model::ContentHash;
use crate::model::Document;
use crate::render;

/// So often at most a limit is tried between the smallest document and the largest.
const TRIES: usize = 8;
/// A document is large enough where it leaves no more than this part of the limit.
const SLACK_PART: u64 = 50;

/// A document, and the text that it is written as.
struct Written {
    document: Document,
    text: String,
}

impl Written {
    fn finished(self) -> Aggregated {
        let Self { document, text } = self;
        let (receipt, encoded) = (document.receipt.clone(), OnceLock::new());
        let written = Arc::new(Answer { receipt, text: text.into(), encoded });
        Aggregated { document: Some(document), written }
    }
}

/// Composes and writes a document.
pub(super) fn written(project: &mut Project<'_>, aggregation: &Aggregation) -> Result<Aggregated, Error> {
    let mut request = aggregation.request.clone();
    request.sections.images_apart = sends_images(aggregation.format);
    request.sections.refused_images = refused_images(aggregation.format);
    match (aggregation.format, request.limits.bytes) {
        (DocumentFormat::Markdown, _) | (_, None) => written_once(project, &request, aggregation),
        (_, Some(limit)) => {
            let prepared = project.prepare(&request)?;
            let search = Search { project, aggregation, prepared, limits: request.limits, limit };
            Ok(search.largest()?.finished())
        }
    }
}

/// Composes and writes a document, unless it was written before and is still the same.
fn written_once(
    project: &mut Project<'_>,
    request: &AggregationRequest,
    aggregation: &Aggregation,
) -> Result<Aggregated, Error> {
    let Aggregation { format, body, project_name, is_dry_run: _, request: _ } = aggregation;
    let asked = ContentHash::of(format!("{request:?} {format:?} {body:?} {project_name}").as_bytes());
    let selected = project.select_for(request)?;
    if let Some(written) = project.recall_answer(asked, request, &selected) {
        return Ok(Aggregated { document: None, written });
    }
    let (document, kept) = project.aggregate_selected(request, selected)?;
    let aggregated = write(document, aggregation)?.finished();
    if let Some(document) = &aggregated.document {
        project.keep_answer(asked, &kept, document, &aggregated.written);
    }
    Ok(aggregated)
}

/// The engine fits the Markdown of a document into a limit of bytes, and other formats take more bytes than that. So a
/// lower limit is sought, for which the document keeps the real one as it is written.
struct Search<'s, 'w> {
    project: &'s mut Project<'w>,
    aggregation: &'s Aggregation,
    prepared: Prepared,
    limits: Limits,
    limit: u64,
}

impl Search<'_, '_> {
    fn largest(mut self) -> Result<Written, Error> {
        match self.within(self.limit) {
            Ok(written) if self.keeps_limit(&written) => return Ok(written),
            Ok(_) | Err(Error::OverSize { .. }) => {}
            Err(error) => return Err(error),
        }
        let (mut low, mut best) = self.smallest()?;
        if !self.keeps_limit(&best) {
            return Err(self.refused(best.document));
        }
        let (mut high, mut last) = (self.limit, low);
        for _ in 0..TRIES {
            if high <= low + 1 || self.limit - self.limit / SLACK_PART <= best.document.receipt.bytes {
                break;
            }
            last = low.midpoint(high);
            match self.within(last) {
                Ok(written) if self.keeps_limit(&written) => (low, best) = (last, written),
                Ok(_) => high = last,
                Err(Error::OverSize { .. } | Error::OverBudget { .. }) => low = last,
                Err(error) => return Err(error),
            }
        }
        // The project remembers the document that it composed last.
        if last == low { Ok(best) } else { self.within(low) }
    }

    /// Returns the smallest document there is, and its limit.
    fn smallest(&mut self) -> Result<(u64, Written), Error> {
        let nothing = Limits { tokens: None, bytes: Some(0) };
        let bytes = match self.project.compose(&mut self.prepared, nothing) {
            Err(Error::OverSize { bytes, .. }) => bytes,
            composed => composed.map(|_| 0)?,
        };
        Ok((bytes, self.within(bytes)?))
    }

    /// Returns the error that even the smallest document is too large. The limit that it would fit into is a part of its
    /// receipt, and may have more digits.
    fn refused(&self, mut smallest: Document) -> Error {
        while smallest.receipt.max_bytes != Some(smallest.receipt.bytes) {
            smallest.receipt.max_bytes = Some(smallest.receipt.bytes);
            match write(smallest, self.aggregation) {
                Ok(written) => smallest = written.document,
                Err(error) => return error,
            }
        }
        Error::OverSize { bytes: smallest.receipt.bytes, limit: self.limit }
    }

    /// Composes within a lower limit of bytes; what is told of limits is what was asked for.
    fn within(&mut self, bytes: u64) -> Result<Written, Error> {
        let limits = Limits { bytes: Some(bytes), ..self.limits };
        let mut document = self.project.compose(&mut self.prepared, limits)?;
        document.receipt.max_bytes = Some(self.limit);
        write(document, self.aggregation)
    }

    fn keeps_limit(&self, written: &Written) -> bool {
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
fn write(mut document: Document, aggregation: &Aggregation) -> Result<Written, Error> {
    loop {
        let text = text(&document, aggregation)?;
        let bytes = text.len() as u64;
        // JSON holds the receipt, whose number may have become a digit longer by itself.
        if document.receipt.bytes == bytes || !matches!(aggregation.format, DocumentFormat::Json) {
            document.receipt.bytes = bytes;
            return Ok(Written { document, text });
        }
        document.receipt.bytes = bytes;
    }
}

fn text(document: &Document, aggregation: &Aggregation) -> Result<String, Error> {
    let content = || Content::of(document).ok_or(Error::NothingToSend);
    let body = &aggregation.body;
    let value = match aggregation.format {
        DocumentFormat::Markdown => return Ok(render::markdown(document)),
        DocumentFormat::Json => return Ok(wire::pretty(&wire::document_json(document))),
        DocumentFormat::Anthropic => providers::anthropic(&content()?, body),
        DocumentFormat::OpenAi => providers::openai(&content()?, body, &cache_key(document, aggregation)),
        DocumentFormat::Gemini => providers::gemini(&content()?, body),
    };
    Ok(wire::pretty(&value))
}

/// Returns a key that the documents of one project and tier share, and that tells a provider no name.
fn cache_key(document: &Document, aggregation: &Aggregation) -> String {
    let tier = document.receipt.tier.map_or(String::new(), |tier| tier.to_string());
    let subject = format!("{}\0{tier}", aggregation.project_name);
    format!("slop-{}", ContentHash::of(subject.as_bytes()).short())
}
