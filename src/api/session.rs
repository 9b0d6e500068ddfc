//! Requests are answered.

use std::ops::ControlFlow;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use super::fault::Fault;
use super::request::CacheRequest;
use super::request::Request;
use super::request::Target;
use super::response::Response;
use super::wire;
use super::wire::DocumentReceipt;
use super::written::written;
use crate::engine::AuditReport;
use crate::engine::Change;
use crate::engine::Error;
use crate::engine::IndexReport;
use crate::engine::Options;
use crate::engine::Project;
use crate::engine::Tree;
use crate::engine::World;
use crate::engine::WrittenBefore;
use crate::model::RelPath;
use crate::model::Slice;

/// A project that answers.
pub struct Session<'w> {
    project: Project<'w>,
}

/// Where a document is to be written to, and what was there before it was asked for.
pub struct Outlet {
    target: Target,
    before: Option<WrittenBefore>,
}

impl<'w> Session<'w> {
    /// Opens the project in the folder `root`.
    pub fn open(root: &Path, options: Options, world: World<'w>) -> Result<Self, Fault> {
        Ok(Self { project: Project::open(root, options, world)? })
    }

    /// Shares what is known of the tree with other sessions that have the same root and the same options.
    pub fn share(&mut self, tree: Arc<Tree>) {
        self.project.share(tree);
    }

    /// Sets whether every file of an answer is hashed though its stamp is believed, and a difference told.
    pub const fn set_paranoid(&mut self, paranoid: bool) {
        self.project.set_paranoid(paranoid);
    }

    /// Brings the cache up to date with these files, and returns those that are not what they were, by path.
    pub fn refresh(&mut self, paths: &[RelPath]) -> Result<Vec<Change>, Fault> {
        Ok(self.project.refresh(paths)?)
    }

    /// Brings the cache up to date with every file, and returns those that are not what they were, by path.
    pub fn refresh_all(&mut self) -> Result<Vec<Change>, Fault> {
        Ok(self.project.refresh_all()?)
    }

    /// Compares what is stored of every file with the file. Writes nothing.
    pub fn audit(&mut self) -> Result<AuditReport, Fault> {
        Ok(self.project.audit()?)
    }

    /// Returns how many files of the answers since this was last asked could not be read because they change all the
    /// time.
    pub const fn take_unsettled(&mut self) -> u64 {
        self.project.take_unsettled()
    }

    /// Answers a request.
    pub fn answer(&mut self, request: Request) -> Result<Response, Fault> {
        let project = &mut self.project;
        // What was composed before, and never said to be delivered, was not.
        project.not_delivered();
        let response = match request {
            Request::Index { trust } => Response::Indexed(project.index(trust)?),
            Request::Outline { files, trust } => Response::Outlines(project.outlines(&files, trust)?),
            Request::View(request) => Response::Views(project.views(&request)?),
            Request::Symbol { name, with_text, trust } => {
                Response::Symbols(project.symbols(&name, with_text, trust)?)
            }
            Request::Aggregate(aggregation) if aggregation.is_dry_run => {
                let planned = written(project, &aggregation)?;
                project.not_delivered();
                Response::Planned(Box::new(planned.written.receipt.clone()))
            }
            Request::Aggregate(aggregation) => {
                Response::Aggregated(Box::new(written(project, &aggregation)?))
            }
            Request::Explain { file, aggregation } => {
                Response::Explained(project.explain(&file, &aggregation)?)
            }
            Request::Status => Response::Status(project.status()?),
            Request::Cache(request) => on_cache(project, request)?,
            Request::Audit => Response::Audited(project.audit()?),
            Request::MakeSlice { file, start_line, end_line, tag, comment } => {
                let slice = project.make_slice(&file, start_line, end_line)?;
                Response::SliceMade(Box::new(Slice { tag, comment, ..slice }))
            }
            Request::ResolveSlice { file, slice } => {
                Response::SliceResolved(project.resolve_slice(&file, &slice)?)
            }
            Request::ResolveSlices { file, slices } => {
                Response::SlicesResolved(project.resolve_slices(&file, &slices)?)
            }
        };
        Ok(response)
    }

    /// Looks at where a document is to be written to. Comes before the question: what another run writes while this one
    /// works is not for this one to delete.
    pub fn outlet(&self, target: Target) -> Outlet {
        let before = match &target {
            Target::Numbered { folder, name, .. } => Some(self.project.written_before(folder, name)),
            Target::File(_) => None,
        };
        Outlet { target, before }
    }

    /// Writes a document to its file, and returns the path of that. Old documents are deleted only after that.
    pub fn write(&mut self, outlet: Outlet, extension: &str, text: &str) -> Result<PathBuf, Fault> {
        let project = &mut self.project;
        match outlet.target {
            Target::File(path) => {
                project.write_file(&path, text)?;
                Ok(path)
            }
            Target::Numbered { folder, name, keep } => {
                let path = project.write_numbered(&folder, &name, extension, text)?;
                if let Some(before) = outlet.before {
                    project.prune_numbered(&folder, before, keep);
                }
                Ok(path)
            }
        }
    }

    /// Writes a receipt to a file; after the document, so that there is none for one that could not be written.
    pub fn write_receipt(&mut self, path: &Path, receipt: &DocumentReceipt) -> Result<(), Fault> {
        Ok(self.project.write_file(path, &wire::pretty(receipt))?)
    }

    /// Forgets what an answer has left behind that nobody took: what it would have remembered, told and counted.
    pub fn begin(&mut self) {
        self.project.not_delivered();
        self.project.take_unsettled();
        self.project.take_notes();
    }

    /// Is to be told when whoever asked has the answer: what a document shows is remembered only then.
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

fn on_cache(project: &mut Project<'_>, request: CacheRequest) -> Result<Response, Error> {
    Ok(match request {
        CacheRequest::Status => Response::CacheStatus(project.cache_status()?),
        CacheRequest::Clear { with_agent } => Response::Cleared(project.clear_cache(with_agent)?),
        CacheRequest::ClearArtifacts { kinds, with_agent } => {
            Response::Cleared(project.clear_artifacts(&kinds, with_agent)?)
        }
        CacheRequest::ClearFiles { words, agent_alone } => {
            Response::Cleared(project.clear_files(&words, agent_alone)?)
        }
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
