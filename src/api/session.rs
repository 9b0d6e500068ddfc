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
use crate::engine::check_budget;
use crate::model::ContentHash;
use crate::model::Document;
use crate::render;

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
            Request::View { files, mode, trust } => Response::Views(project.views(&files, mode, trust)?),
            Request::Symbol { name, with_text, trust } => {
                Response::Symbols(project.symbols(&name, with_text, trust)?)
            }
            Request::Aggregate(aggregation) => {
                Response::Aggregated(Box::new(aggregate(project, aggregation)?))
            }
            Request::Explain { file, aggregation } => {
                Response::Explained(project.explain(&file, &aggregation)?)
            }
            Request::Status => Response::Status(project.status()?),
            Request::Cache(request) => on_cache(project, request)?,
        };
        Ok(response)
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
        Target::Answer | Target::File(_) => None,
    };
    let document = project.aggregate(&aggregation.request)?;
    let (text, extension) = write(&document, &aggregation)?;
    check_budget(&text, aggregation.budget_tokens)?;
    if let Some(receipt) = &aggregation.receipt {
        project.write_file(receipt, &wire::pretty(&wire::receipt(&document.receipt)))?;
    }
    let (text, path) = match aggregation.target {
        Target::Answer => (text, None),
        Target::File(path) => {
            project.write_file(&path, &text)?;
            (String::new(), Some(path))
        }
        Target::Numbered { folder, name, keep } => {
            let path = project.write_numbered(&folder, &name, extension, &text)?;
            if let Some(before) = before {
                project.prune_numbered(&folder, before, keep);
            }
            (String::new(), Some(path))
        }
    };
    Ok(Aggregated { document, text, path })
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
