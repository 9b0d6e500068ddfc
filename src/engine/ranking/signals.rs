//! What is known of each file from commits; without a history, from references.

use super::rank::RankingRequest;
use crate::engine::artifacts::{ArtifactCache, importance};
use crate::engine::workspace::KnownFile;
use crate::search::{FileSignals, PastCommit, change_scores, subject_scores, together_scores};

/// Returns the signals of each file. `focus` are positions among the files.
pub(super) fn file_signals(
    cache: &mut ArtifactCache<'_>,
    request: &RankingRequest<'_>,
    files: &[&KnownFile],
    focus: &[usize],
) -> Vec<FileSignals> {
    let (mut subjects, mut changes, mut together) =
        (vec![0.0; files.len()], vec![0.0; files.len()], vec![0.0; files.len()]);
    // A file has one history, that of its checkout.
    for history in request.past.of_files(files.iter().map(|file| &file.path)) {
        let commits = history.iter().map(|commit| PastCommit {
            subject: commit.subject,
            files: &commit.files,
            changed_files: commit.changed_files,
        });
        let commits: Vec<PastCommit<'_>> = commits.collect();
        add(&mut subjects, &subject_scores(request.query, &commits, files.len()));
        add(&mut changes, &change_scores(&commits, files.len(), request.horizon));
        add(&mut together, &together_scores(&commits, focus, files.len()));
    }
    // References require parsing every file that is not known yet, so they are used only where they decide: without
    // history, files that many others refer to are most likely to matter.
    if changes.iter().all(|changes| *changes <= 0.0) {
        let rated = importance(cache, files, &|_| false);
        changes = rated.iter().map(|of| log_scale(of.score)).collect();
    }
    let signals = (0..files.len()).map(|at| FileSignals {
        subjects: subjects[at],
        changes: changes[at],
        together: together[at],
    });
    signals.collect()
}

fn add(sums: &mut [f64], scores: &[f64]) {
    for (sum, score) in sums.iter_mut().zip(scores) {
        *sum += score;
    }
}

/// Returns a measure that grows with the logarithm of a score.
#[expect(clippy::cast_precision_loss, reason = "a score is rounded by far less than the logarithm drops")]
fn log_scale(score: u64) -> f64 {
    (score as f64).ln_1p()
}
