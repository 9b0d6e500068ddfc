//! Requests are answered.

use std::ops::ControlFlow;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use super::fault::ApiError;
use super::request::CacheOperation;
use super::request::OutputTarget;
use super::request::ResolvedQuery;
use super::response::QueryResponse;
use super::wire;
use super::wire::DocumentReceipt;
use super::written::compose_document;
use crate::engine::AuditReport;
use crate::engine::Error;
use crate::engine::FileChange;
use crate::engine::IndexReport;
use crate::engine::Options;
use crate::engine::PriorOutputs;
use crate::engine::Project;
use crate::engine::WorkspaceCache;
use crate::engine::World;
use crate::model::RelPath;
use crate::model::Slice;

/// A project that answers.
pub struct ProjectSession<'w> {
    project: Project<'w>,
}

/// Where a document is to be written to, and what was there before it was asked for.
pub struct PendingOutput {
    target: OutputTarget,
    before: Option<PriorOutputs>,
}

impl<'w> ProjectSession<'w> {
    /// Opens the project in the folder `root`.
    pub fn open(root: &Path, options: Options, world: World<'w>) -> Result<Self, ApiError> {
        Ok(Self { project: Project::open(root, options, world)? })
    }

    /// Shares what is known of the tree with other sessions that have the same root and the same options.
    pub fn share_cache(&mut self, tree: Arc<WorkspaceCache>) {
        self.project.share_cache(tree);
    }

    /// Sets whether every file of an answer is hashed though its stamp is believed, and a difference told.
    pub const fn set_paranoid(&mut self, paranoid: bool) {
        self.project.set_paranoid(paranoid);
    }

    /// Brings the cache up to date with these files, and returns those that are not what they were, by path.
    pub fn refresh(&mut self, paths: &[RelPath]) -> Result<Vec<FileChange>, ApiError> {
        Ok(self.project.refresh(paths)?)
    }

    /// Brings the cache up to date with every file, and returns those that are not what they were, by path.
    pub fn refresh_all(&mut self) -> Result<Vec<FileChange>, ApiError> {
        Ok(self.project.refresh_all()?)
    }

    /// Compares what is stored of every file with the file. Writes nothing.
    pub fn audit(&mut self) -> Result<AuditReport, ApiError> {
        Ok(self.project.audit()?)
    }

    /// Returns how many files of the answers since this was last asked could not be read because they change all the
    /// time.
    pub const fn take_unsettled_count(&mut self) -> u64 {
        self.project.take_unstable()
    }

    /// Answers a request.
    pub fn answer(&mut self, request: ResolvedQuery) -> Result<QueryResponse, ApiError> {
        let project = &mut self.project;
        // What was composed before, and never said to be delivered, was not.
        project.discard_delivery();
        let response = match request {
            ResolvedQuery::Index { trust } => QueryResponse::Indexed(project.index(trust)?),
            ResolvedQuery::Outline { files, trust } => {
                QueryResponse::Outlines(project.outlines(&files, trust)?)
            }
            ResolvedQuery::View(request) => QueryResponse::Views(project.views(&request)?),
            ResolvedQuery::Symbol { name, with_text, trust } => {
                QueryResponse::Symbols(project.symbols(&name, with_text, trust)?)
            }
            ResolvedQuery::Aggregate(aggregation) if aggregation.is_dry_run => {
                let planned = compose_document(project, &aggregation)?;
                project.discard_delivery();
                QueryResponse::Planned(Box::new(planned.written.receipt.clone()))
            }
            ResolvedQuery::Aggregate(aggregation) => {
                QueryResponse::Aggregated(Box::new(compose_document(project, &aggregation)?))
            }
            ResolvedQuery::Explain { file, aggregation } => {
                QueryResponse::Explained(project.explain(&file, &aggregation)?)
            }
            ResolvedQuery::Status => QueryResponse::Status(project.status()?),
            ResolvedQuery::Cache(request) => answer_cache(project, request)?,
            ResolvedQuery::Audit => QueryResponse::Audited(project.audit()?),
            ResolvedQuery::MakeSlice { file, start_line, end_line, tag, comment } => {
                let slice = project.make_slice(&file, start_line, end_line)?;
                QueryResponse::SliceMade(Box::new(Slice { tag, comment, ..slice }))
            }
            ResolvedQuery::ResolveSlice { file, slice } => {
                QueryResponse::SliceResolved(project.resolve_slice(&file, &slice)?)
            }
            ResolvedQuery::ResolveSlices { file, slices } => {
                QueryResponse::SlicesResolved(project.resolve_slices(&file, &slices)?)
            }
        };
        Ok(response)
    }

    /// Looks at where a document is to be written to. Comes before the question: what another run writes while this one
    /// works is not for this one to delete.
    pub fn prepare_output(&self, target: OutputTarget) -> PendingOutput {
        let before = match &target {
            OutputTarget::Numbered { folder, name, .. } => Some(self.project.prior_outputs(folder, name)),
            OutputTarget::File(_) => None,
        };
        PendingOutput { target, before }
    }

    /// Writes a document to its file, and returns the path of that. Old documents are deleted only after that.
    pub fn write(&mut self, outlet: PendingOutput, extension: &str, text: &str) -> Result<PathBuf, ApiError> {
        let project = &mut self.project;
        match outlet.target {
            OutputTarget::File(path) => {
                project.write_file(&path, text)?;
                Ok(path)
            }
            OutputTarget::Numbered { folder, name, keep } => {
                let path = project.write_numbered(&folder, &name, extension, text)?;
                if let Some(before) = outlet.before {
                    project.prune_outputs(&folder, before, keep);
                }
                Ok(path)
            }
        }
    }

    /// Writes a receipt to a file; after the document, so that there is none for one that could not be written.
    pub fn write_receipt(&mut self, path: &Path, receipt: &DocumentReceipt) -> Result<(), ApiError> {
        Ok(self.project.write_file(path, &wire::pretty(receipt))?)
    }

    /// Forgets what an answer has left behind that nobody took: what it would have remembered, told and counted.
    pub fn discard_pending(&mut self) {
        self.project.discard_delivery();
        self.project.take_unstable();
        self.project.take_notes();
    }

    /// Is to be told when whoever asked has the answer: what a document shows is remembered only then.
    pub fn mark_delivered(&mut self) {
        self.project.confirm_delivery();
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

fn answer_cache(project: &mut Project<'_>, request: CacheOperation) -> Result<QueryResponse, Error> {
    Ok(match request {
        CacheOperation::Status => QueryResponse::CacheStatus(project.cache_status()?),
        CacheOperation::Clear { with_agent } => QueryResponse::Cleared(project.clear_cache(with_agent)?),
        CacheOperation::ClearArtifacts { kinds, with_agent } => {
            QueryResponse::Cleared(project.clear_artifacts(&kinds, with_agent)?)
        }
        CacheOperation::ClearFiles { words, agent_alone } => {
            QueryResponse::Cleared(project.clear_files(&words, agent_alone)?)
        }
        CacheOperation::Verify => QueryResponse::Verified(project.verify_cache()?),
        CacheOperation::Collect { days } => QueryResponse::Cleared(project.collect_garbage(days)?),
        CacheOperation::Export => {
            let mut rows = Vec::new();
            project.export_cache(&mut |row| {
                rows.push(row);
                ControlFlow::Continue(())
            })?;
            QueryResponse::Exported(rows)
        }
    })
}
