//! Signals from the history of a project about its files: subjects of commits, changes, and changes together.
//!
//! The values have no unit; the ranking divides each by its greatest (`rank.rs`).

use crate::search::query::RankingQuery;
use crate::search::terms::real;

/// The number of latest commits that are read from a history.
pub const MAX_COMMITS: usize = 2_000;
/// Only the latest of these are searched for the words of a task.
const MAX_SUBJECTS: usize = 1_500;
/// The subject of a commit that changed more files is not about any of them.
const MAX_FILES_OF_SUBJECT: usize = 20;
/// A commit that changed more files, such as a reformatting, says little about any of them, and nothing about which
/// belong together.
const MAX_FILES_OF_CHANGE: usize = 30;
/// The same where the next commits matter: one of dozens of files says something about these, and a release that writes
/// hundreds of pages of documentation does not.
const MAX_FILES_OF_NEAR_CHANGE: usize = 100;
/// 0.5^(1/50) and 0.5^(1/1000): a change counts half after 50 commits, or after 1,000.
const NEAR_DECAY: f64 = 0.986_232_704_493_359_2;
const FAR_DECAY: f64 = 0.999_307_092_990_452_5;
/// How much more the near commits count than the far ones if both are used. On the histories of ten projects, this sum
/// was the best predictor of the files that the next 300 commits changed; with either alone, some projects were much
/// worse.
const NEAR_SHARE: f64 = 3.0;
/// 0.5^(1/500): that two files changed together counts half after 500 commits.
const TOGETHER_DECAY: f64 = 0.998_614_664_823_711_9;

/// The upcoming commits that the changes of a file should predict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeHorizon {
    /// The next few: recent changes count most.
    Near,
    /// The next hundreds: long-standing activity counts too, and reformatting hardly counts.
    Far,
}

/// A commit of the past that is not a merge.
#[derive(Clone, Copy, Debug)]
pub struct PastCommit<'a> {
    /// The first line of its message.
    pub subject: &'a [u8],
    /// The files that it changed and that still exist, by their positions among the ranked files.
    pub files: &'a [usize],
    /// The total number of files that it changed.
    pub changed_files: usize,
}

/// Returns how well the subjects of the commits that changed a file match the query, for each of `files` files.
/// `commits` are the latest ones, newest first.
pub fn subject_scores(query: &RankingQuery, commits: &[PastCommit<'_>], files: usize) -> Vec<f64> {
    let commits = &commits[..commits.len().min(MAX_SUBJECTS)];
    let sums = query.rarity_sums(commits.iter().map(|commit| commit.subject), true);
    let mut scores = vec![0.0; files];
    for (commit, sum) in commits.iter().zip(sums) {
        if commit.changed_files <= MAX_FILES_OF_SUBJECT {
            add(&mut scores, commit.files, sum * sum / real(commit.changed_files.max(1)).sqrt());
        }
    }
    scores.into_iter().map(f64::sqrt).collect()
}

/// Returns for each file how often and how recently commits changed it. `commits` are sorted newest first.
pub fn change_scores(commits: &[PastCommit<'_>], files: usize, horizon: ChangeHorizon) -> Vec<f64> {
    let mut scores = vec![0.0; files];
    let (mut near, mut far) = (1.0, 1.0);
    for commit in commits {
        let (weight, in_full) = match horizon {
            ChangeHorizon::Near => (near, MAX_FILES_OF_NEAR_CHANGE),
            ChangeHorizon::Far => (far + NEAR_SHARE * near, MAX_FILES_OF_CHANGE),
        };
        add(&mut scores, commit.files, weight * share_of_change(commit.changed_files, in_full));
        near *= NEAR_DECAY;
        far *= FAR_DECAY;
    }
    scores
}

/// Returns how much a change counts for each of the files that it changed together: fully for up to `in_full` files,
/// and beyond that the same total is shared.
fn share_of_change(files: usize, in_full: usize) -> f64 {
    real(in_full) / real(files.max(in_full))
}

/// Returns for each file how often commits changed it together with one of those in focus. `commits` are sorted newest
/// first.
pub fn together_scores(commits: &[PastCommit<'_>], focus: &[usize], files: usize) -> Vec<f64> {
    let mut scores = vec![0.0; files];
    let mut in_focus = vec![false; files];
    for file in focus.iter().filter(|file| **file < files) {
        in_focus[*file] = true;
    }
    let mut weight = 1.0;
    for commit in commits {
        let has_focus = commit.files.iter().any(|file| in_focus.get(*file) == Some(&true));
        if has_focus && commit.changed_files <= MAX_FILES_OF_CHANGE {
            let others = real(commit.changed_files.saturating_sub(1).max(1));
            add(&mut scores, commit.files, weight / others.sqrt());
        }
        weight *= TOGETHER_DECAY;
    }
    for (score, _) in scores.iter_mut().zip(&in_focus).filter(|(_, in_focus)| **in_focus) {
        *score = 0.0;
    }
    scores
}

fn add(scores: &mut [f64], files: &[usize], value: f64) {
    for file in files {
        if let Some(score) = scores.get_mut(*file) {
            *score += value;
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums and quotients of equal numbers are equal")]
mod tests {
    use super::*;
    use crate::search::query::WeightedTerm;
    use crate::search::terms::terms;

    fn commit<'a>(subject: &'a str, files: &'a [usize]) -> PastCommit<'a> {
        PastCommit { subject: subject.as_bytes(), files, changed_files: files.len() }
    }

    fn query(title: &str, text: &str) -> RankingQuery {
        let in_title: Vec<_> = terms(title.as_bytes()).collect();
        let weighted = terms(text.as_bytes()).map(|term| WeightedTerm {
            term,
            weight: 1.0,
            in_title: in_title.contains(&term),
        });
        RankingQuery::new(weighted.collect(), Vec::new(), Vec::new(), Vec::new())
    }

    #[test]
    fn a_file_matches_by_the_subjects_of_the_commits_that_changed_it() {
        let commits = [
            commit("Fix proxy headers", &[0]),
            commit("Bump version", &[1]),
            commit("Fix typo", &[2]),
            commit("Quote proxies of headers", &[0, 2]),
        ];
        let scores = subject_scores(&query("", "the proxy header is not quoted"), &commits, 4);
        assert!(scores[2] < scores[0], "{scores:?}");
        assert!(0.0 < scores[2]);
        assert_eq!((scores[1], scores[3]), (0.0, 0.0));
    }

    #[test]
    fn a_word_of_the_title_counts_twice_and_a_commit_of_many_files_not_at_all() {
        let many: Vec<usize> = (0..=MAX_FILES_OF_SUBJECT).collect();
        let commits = [commit("proxy", &[0]), commit("header", &[1]), commit("proxy header", &many)];
        let scores = subject_scores(&query("proxy", "proxy header"), &commits, many.len());
        assert!((scores[0] - 2.0 * scores[1]).abs() < 1e-9, "{scores:?}");
        assert_eq!(scores[2], 0.0);
    }

    #[test]
    fn recent_changes_count_more_than_early_ones() {
        let mut commits = vec![commit("", &[0])];
        commits.resize(100, commit("", &[]));
        commits.push(commit("", &[1]));
        let ratio = |horizon| {
            let scores = change_scores(&commits, 2, horizon);
            scores[1] / scores[0]
        };
        assert!((ratio(ChangeHorizon::Near) - 0.25).abs() < 1e-9);
        let far = (0.5_f64.powf(0.1) + NEAR_SHARE * 0.25) / (1.0 + NEAR_SHARE);
        assert!((ratio(ChangeHorizon::Far) - far).abs() < 1e-9);
    }

    #[test]
    fn a_change_of_many_files_counts_less() {
        let (few, many) = (commit("", &[0]), PastCommit { changed_files: 300, ..commit("", &[1]) });
        for (horizon, share) in [(ChangeHorizon::Near, 1.0 / 3.0), (ChangeHorizon::Far, 0.1)] {
            let scores = |commit| change_scores(&[commit], 2, horizon);
            assert!((scores(many)[1] / scores(few)[0] - share).abs() < 1e-9);
        }
    }

    #[test]
    fn files_that_change_with_the_focus_are_nearer_the_fewer_they_are() {
        let commits = [commit("", &[0, 1]), commit("", &[0, 2, 3]), commit("", &[4, 1])];
        let scores = together_scores(&commits, &[0], 5);
        assert_eq!(scores[0], 0.0);
        assert_eq!(scores[4], 0.0);
        assert!(scores[2] < scores[1] && 0.0 < scores[2], "{scores:?}");
    }

    #[test]
    fn invalid_positions_are_ignored() {
        let commits = [commit("proxy", &[7])];
        assert_eq!(subject_scores(&query("", "proxy"), &commits, 1), [0.0]);
        assert_eq!(change_scores(&commits, 1, ChangeHorizon::Near), [0.0]);
        assert_eq!(together_scores(&commits, &[7], 1), [0.0]);
    }
}
