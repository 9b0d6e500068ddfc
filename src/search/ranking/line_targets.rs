//! Decides which files are meant by the lines that a task points to.

use super::files::RankedFile;
use super::path_class::PathClass;
use crate::search::query::{LineMention, RankingQuery, is_file_of_frame, without_dots};

/// The lines that a task points to, in the files of a project.
pub(in crate::search) struct LineTargets<'q> {
    /// Each with whether some file has exactly its path.
    mentions: Vec<(&'q LineMention, bool)>,
}

impl<'q> LineTargets<'q> {
    pub(in crate::search) fn new(query: &'q RankingQuery, files: &[RankedFile<'_>]) -> Self {
        let is_path = |mention: &LineMention| files.iter().any(|file| has_path(file, mention));
        let mentions = query.lines().iter().map(|mention| (mention, is_path(mention)));
        Self { mentions: mentions.collect() }
    }

    /// Returns the mentioned lines that may be in a file. A monorepo has a hundred files called `package.json`: among
    /// files that are not the project's code, only the one with exactly that path is meant, if there is one.
    pub(in crate::search) fn of_file(&self, file: &RankedFile<'_>) -> impl Iterator<Item = &'q LineMention> {
        let is_code = !matches!(file.class, PathClass::NotCode | PathClass::Vendored);
        let is_meant = move |mention: &LineMention, is_path: bool| {
            is_file_of_frame(file.path.as_bytes(), mention.path.as_bytes())
                && (is_code || !is_path || has_path(file, mention))
        };
        self.mentions
            .iter()
            .filter(move |(mention, is_path)| is_meant(mention, *is_path))
            .map(|(mention, _)| *mention)
    }

    /// Returns whether the task points to lines of a file.
    pub(in crate::search) fn contains(&self, file: &RankedFile<'_>) -> bool {
        self.of_file(file).next().is_some()
    }
}

fn has_path(file: &RankedFile<'_>, mention: &LineMention) -> bool {
    file.path.as_bytes() == without_dots(mention.path.as_bytes())
}
