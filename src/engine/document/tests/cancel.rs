//! Cancelled work ends soon, and leaves its results in a consistent state.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::aggregate::DocumentLimits;
use crate::engine::error::Code;
use crate::engine::index::Trust;
use crate::engine::options::ScanProgress;
use crate::engine::testing::{TestProject, request};
use crate::model::{AggregationStrategy, ViewMode};

const FILES: usize = 300;

/// Cancels after a number of files.
struct ImpatientProgress(AtomicUsize);

impl ScanProgress for ImpatientProgress {
    fn begin(&self, _files: usize) {}

    fn advance(&self) {
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
    }

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }
}

fn sandbox() -> TestProject {
    let files: Vec<(String, String)> =
        (0..FILES).map(|n| (format!("f{n}.py"), format!("def f{n}():\n    return {n}\n"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    TestProject::new(&files)
}

#[test]
fn a_cancelled_scan_stops_between_files_and_keeps_its_results() {
    let sandbox = sandbox();
    let impatient = ImpatientProgress(AtomicUsize::new(5));
    let mut project = sandbox.project(true);
    project.cache.workspace.world.progress = &impatient;
    assert_eq!(project.index(Trust::Stamps).unwrap_err().code(), Code::Cancelled);
    drop(project);
    let report = sandbox.project(true).index(Trust::Stamps).unwrap();
    assert_eq!(report.files, FILES as u64);
    let kept = report.files - report.parsed;
    assert!((5..FILES as u64).contains(&kept), "{report:?}");
}

#[test]
fn a_cancelled_document_is_not_packed_further_and_records_no_delivery() {
    let sandbox = sandbox();
    let impatient = ImpatientProgress(AtomicUsize::new(usize::MAX));
    let mut project = sandbox.project(true);
    project.cache.workspace.world.progress = &impatient;
    let limits = DocumentLimits { tokens: Some(2_000), ..DocumentLimits::default() };
    let mut request = request(AggregationStrategy::Full, ViewMode::Full, &[]);
    request.limits = limits;
    let mut prepared = project.prepare(&request).unwrap();
    impatient.0.store(0, Ordering::SeqCst);
    assert_eq!(project.compose(&mut prepared, limits).unwrap_err().code(), Code::Cancelled);
    assert!(project.pending_delivery.is_none());
    // The same work can be resumed.
    impatient.0.store(usize::MAX, Ordering::SeqCst);
    assert!(project.compose(&mut prepared, limits).unwrap().receipt.tokens <= 2_000);
}
