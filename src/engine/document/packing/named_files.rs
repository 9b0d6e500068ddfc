//! Files of which a limited document selects no lines: their names say what a reader needs.

use std::collections::HashSet;

use crate::aggregate::CandidateFile;
use crate::engine::document::draft::ShownFile;
use crate::model::{FileRole, RelPath};

/// Types of files that programs write for programs, which are only named: no reader wants some of their lines, unless the
/// task points to them.
const FOR_PROGRAMS: &[&str] = &["lock", "svg", "snapshot"];
/// The same, whose lines are too long to be shown.
const MINIFIED: &[&str] = &["minified-javascript", "minified-css", "source-map"];
/// The same of files by their names: the texts of licenses, and the scripts that fetch a build tool.
const LICENSES: &[&str] = &["license", "licence", "unlicense", "copying"];
const WRAPPERS: &[&str] = &["gradlew", "gradlew.bat", "mvnw", "mvnw.cmd"];
/// What style sheets are compiled from.
const SHEET_SOURCES: &[&str] = &["scss", "sass", "less", "stylus"];

/// Knows which files are only named. It has the names without endings of the files that style sheets are compiled from.
pub(super) struct NamedFiles<'a>(HashSet<&'a [u8]>);

impl<'a> NamedFiles<'a> {
    pub(in crate::engine::document) fn of(files: &'a [ShownFile]) -> Self {
        let sources = files.iter().map(|shown| &shown.candidate.block);
        let sources = sources.filter(|block| SHEET_SOURCES.contains(&block.file_type.id));
        Self(sources.map(|block| stem_of(&block.path)).collect())
    }

    /// Returns whether no lines of a file are selected. What a task points to is shown if a person may read it.
    pub(in crate::engine::document) fn contains(
        &self,
        candidate: &CandidateFile,
        is_pointed_to: bool,
    ) -> bool {
        let type_id = candidate.block.file_type.id;
        let is_only_named = FOR_PROGRAMS.contains(&type_id) || self.is_copy(candidate);
        MINIFIED.contains(&type_id) || is_only_named && !is_pointed_to
    }

    /// Returns whether a file is a copy of what is the same in other projects, or was compiled from another one: what it
    /// declares is found elsewhere.
    pub(super) fn is_copy(&self, candidate: &CandidateFile) -> bool {
        is_written_elsewhere(candidate) || self.is_compiled(candidate)
    }

    fn is_compiled(&self, candidate: &CandidateFile) -> bool {
        let block = &candidate.block;
        block.file_type.id == "css" && self.0.contains(stem_of(&block.path))
    }
}

/// Returns whether a file is a copy of what is the same in other projects.
fn is_written_elsewhere(candidate: &CandidateFile) -> bool {
    let name = String::from_utf8_lossy(candidate.block.path.file_name()).to_lowercase();
    let stem = name.split(['.', '-']).next().unwrap_or_default();
    let is_text = candidate.block.file_type.role != FileRole::Code;
    is_text && LICENSES.contains(&stem) || WRAPPERS.contains(&name.as_str())
}

fn stem_of(path: &RelPath) -> &[u8] {
    path.file_name().split(|byte| *byte == b'.').next().unwrap_or_default()
}
