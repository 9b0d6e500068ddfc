//! Requests are answered.

use std::ops::ControlFlow;
use std::path::Path;

use super::fault::Fault;
use super::providers;
use super::providers::Content;
use super::request::Aggregation;
use super::request::CacheRequest;
use super::request::DocumentFormat;
use super::request::Request;
use super::request::Target;
use super::response::Aggregated;
use super::response::Response;
use super::wire;
use crate::engine::Error;
use crate::engine::IndexReport;
use crate::engine::Options;
use crate::engine::Project;
use crate::engine::World;
use crate::model::ContentHash;
use crate::model::Document;
use crate::model::Slice;
use crate::render;

/// So often a document is made smaller by what was too much, before the smallest is taken.
const TRIES: usize = 6;

/// A project that answers.
pub struct Session<'w> {
    project: Project<'w>,
}

impl<'w> Session<'w> {
    /// Opens the project in the folder `root`.
    pub fn open(root: &Path, options: Options, world: World<'w>) -> Result<Self, Fault> {
        Ok(Self { project: Project::open(root, options, world)? })
    }

    /// Answers a request.
    pub fn answer(&mut self, request: Request) -> Result<Response, Fault> {
        let project = &mut self.project;
        let response = match request {
            Request::Index { trust } => Response::Indexed(project.index(trust)?),
            Request::Outline { files, trust } => Response::Outlines(project.outlines(&files, trust)?),
            Request::View(request) => Response::Views(project.views(&request)?),
            Request::Symbol { name, with_text, trust } => {
                Response::Symbols(project.symbols(&name, with_text, trust)?)
            }
            Request::Aggregate(aggregation) if aggregation.target == Target::Nowhere => {
                let receipt = written(project, &aggregation)?.document.receipt;
                project.not_delivered();
                Response::Planned(Box::new(receipt))
            }
            Request::Aggregate(aggregation) => {
                Response::Aggregated(Box::new(aggregate(project, aggregation)?))
            }
            Request::Explain { file, aggregation } => {
                Response::Explained(project.explain(&file, &aggregation)?)
            }
            Request::Status => Response::Status(project.status()?),
            Request::Cache(request) => on_cache(project, request)?,
            Request::MakeSlice { file, start_line, end_line, tag, comment } => {
                let slice = project.make_slice(&file, start_line, end_line)?;
                Response::SliceMade(Box::new(Slice { tag, comment, ..slice }))
            }
            Request::ResolveSlice { file, slice } => {
                Response::SliceResolved(project.resolve_slice(&file, &slice)?)
            }
        };
        Ok(response)
    }

    /// Is to be told when whoever asked has the answer: what a document shows is remembered only then. A document that
    /// went into a file has been given with the answer.
    pub fn delivered(&mut self) {
        self.project.delivered();
    }

    /// Returns what the last scan of the project's files did; `None` where no answer took one.
    pub fn last_scan(&self) -> Option<&IndexReport> {
        self.project.last_scan()
    }

    /// Returns what a person should be told beside the answers.
    pub fn take_notes(&mut self) -> Vec<String> {
        self.project.take_notes()
    }
}

fn aggregate(project: &mut Project<'_>, aggregation: Aggregation) -> Result<Aggregated, Error> {
    // What another run writes while this one works is not for this one to delete.
    let before = match &aggregation.target {
        Target::Numbered { folder, name, .. } => Some(project.written_before(folder, name)),
        Target::Nowhere | Target::Answer | Target::File(_) => None,
    };
    let Written { document, text, extension } = written(project, &aggregation)?;
    if let Some(receipt) = &aggregation.receipt {
        project.write_file(receipt, &wire::pretty(&wire::receipt(&document.receipt)))?;
    }
    let (text, path) = match aggregation.target {
        Target::Nowhere | Target::Answer => return Ok(Aggregated { document, text, path: None }),
        Target::File(path) => {
            project.write_file(&path, &text)?;
            (String::new(), path)
        }
        Target::Numbered { folder, name, keep } => {
            let path = project.write_numbered(&folder, &name, extension, &text)?;
            if let Some(before) = before {
                project.prune_numbered(&folder, before, keep);
            }
            (String::new(), path)
        }
    };
    project.delivered();
    Ok(Aggregated { document, text, path: Some(path) })
}

/// A document, and the text that it is written as.
struct Written {
    document: Document,
    text: String,
    extension: &'static str,
}

/// Composes and writes a document. Some formats take more bytes than the Markdown that the engine fits into a limit:
/// then it is asked for a document that is smaller by what was too much, until the text as it is written keeps the limit.
fn written(project: &mut Project<'_>, aggregation: &Aggregation) -> Result<Written, Error> {
    let mut request = aggregation.request.clone();
    request.sections.images_apart = sends_images(aggregation.format);
    let asked = request.limits.bytes;
    let limit = asked.unwrap_or(u64::MAX);
    let (mut bytes, mut is_smallest) = (0, false);
    for tried in 1.. {
        let mut document = match project.aggregate(&request) {
            // What was allowed is less than any document has; the smallest may do all the same.
            Err(Error::OverSize { bytes: smallest, .. }) if request.limits.bytes != asked => {
                request.limits.bytes = Some(smallest);
                is_smallest = true;
                continue;
            }
            document => document?,
        };
        document.receipt.max_bytes = asked;
        let (text, extension) = write(&document, aggregation)?;
        bytes = text.len() as u64;
        if bytes <= limit {
            return Ok(Written { document, text, extension });
        }
        if is_smallest {
            break;
        }
        let allowed = document.receipt.bytes.saturating_sub(bytes - limit);
        request.limits.bytes = Some(if tried < TRIES { allowed } else { 0 });
    }
    Err(Error::OverSize { bytes, limit })
}

/// Says whether a format holds images as such, and not as text.
const fn sends_images(format: DocumentFormat) -> bool {
    match format {
        DocumentFormat::Markdown | DocumentFormat::Json => false,
        DocumentFormat::Anthropic | DocumentFormat::OpenAi | DocumentFormat::Gemini => true,
    }
}

fn write(document: &Document, aggregation: &Aggregation) -> Result<(String, &'static str), Error> {
    let content = || Content::of(document).ok_or(Error::NothingToSend);
    let body = &aggregation.body;
    let value = match aggregation.format {
        DocumentFormat::Markdown => return Ok((render::markdown(document), "md")),
        DocumentFormat::Json => wire::document(document),
        DocumentFormat::Anthropic => providers::anthropic(&content()?, body),
        DocumentFormat::OpenAi => providers::openai(&content()?, body, &cache_key(document, aggregation)),
        DocumentFormat::Gemini => providers::gemini(&content()?, body),
    };
    Ok((wire::pretty(&value), "json"))
}

/// Returns a key that the documents of one project and tier share, and that tells a provider no name.
fn cache_key(document: &Document, aggregation: &Aggregation) -> String {
    let tier = document.receipt.tier.map_or(String::new(), |tier| tier.to_string());
    let subject = format!("{}\0{tier}", aggregation.project_name);
    format!("slop-{}", ContentHash::of(subject.as_bytes()).short())
}

fn on_cache(project: &mut Project<'_>, request: CacheRequest) -> Result<Response, Error> {
    Ok(match request {
        CacheRequest::Status => Response::CacheStatus(project.cache_status()?),
        CacheRequest::Clear => Response::Cleared(project.clear_cache()?),
        CacheRequest::ClearArtifacts(kinds) => Response::Cleared(project.clear_artifacts(&kinds)?),
        CacheRequest::ClearFiles(words) => Response::Cleared(project.clear_files(&words)?),
        CacheRequest::Verify => Response::Verified(project.verify_cache()?),
        CacheRequest::Collect { days } => Response::Cleared(project.collect_garbage(days)?),
        CacheRequest::Export => {
            let mut rows = Vec::new();
            project.export_cache(&mut |row| {
                rows.push(row);
                ControlFlow::Continue(())
            })?;
            Response::Exported(rows)
        }
    })
}
