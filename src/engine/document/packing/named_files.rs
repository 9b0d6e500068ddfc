//! Files of which a limited document selects no lines: their names are enough for a reader.

use std::collections::HashSet;

use crate::aggregate::CandidateFile;
use crate::engine::document::draft::ShownFile;
use crate::model::{FileRole, RelPath};

/// Types of files that are written by programs for programs, and are only named: no reader wants lines of them, unless
/// the task points there.
const FOR_PROGRAMS: &[&str] = &["lock", "svg", "snapshot"];
/// The same, with lines that are too long to be shown.
const MINIFIED: &[&str] = &["minified-javascript", "minified-css", "source-map"];
/// The same by file name: the texts of licenses, and the scripts that fetch a build tool.
const LICENSES: &[&str] = &["license", "licence", "unlicense", "copying"];
const WRAPPERS: &[&str] = &["gradlew", "gradlew.bat", "mvnw", "mvnw.cmd"];
/// The languages that style sheets are compiled from.
const SHEET_SOURCES: &[&str] = &["scss", "sass", "less", "stylus"];

/// Decides which files are only named. Holds the names, without extensions, of the files that style sheets are compiled
/// from.
pub(super) struct NamedFiles<'a>(HashSet<&'a [u8]>);

impl<'a> NamedFiles<'a> {
    pub(in crate::engine::document) fn from_files(files: &'a [ShownFile]) -> Self {
        let sources = files.iter().map(|shown| &shown.candidate.block);
        let sources = sources.filter(|block| SHEET_SOURCES.contains(&block.file_type.id));
        Self(sources.map(|block| stem_of(&block.path)).collect())
    }

    /// Returns whether no lines of a file are selected. What a task points to is shown if it is readable for people.
    pub(in crate::engine::document) fn contains(
        &self,
        candidate: &CandidateFile,
        is_pointed_to: bool,
    ) -> bool {
        let type_id = candidate.block.file_type.id;
        let is_only_named = FOR_PROGRAMS.contains(&type_id) || self.is_copy(candidate);
        MINIFIED.contains(&type_id) || is_only_named && !is_pointed_to
    }

    /// Returns whether a file is a copy of something that other projects have too, or was compiled from another file:
    /// its declarations are found elsewhere.
    pub(super) fn is_copy(&self, candidate: &CandidateFile) -> bool {
        is_written_elsewhere(candidate) || self.is_compiled(candidate)
    }

    fn is_compiled(&self, candidate: &CandidateFile) -> bool {
        let block = &candidate.block;
        block.file_type.id == "css" && self.0.contains(stem_of(&block.path))
    }
}

/// Returns whether a file is a copy of something that other projects have too.
fn is_written_elsewhere(candidate: &CandidateFile) -> bool {
    let name = candidate.block.path.file_name();
    let stem = name.split(|byte| matches!(byte, b'.' | b'-')).next().unwrap_or_default();
    let is_one_of =
        |names: &[&str], name: &[u8]| names.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name));
    let is_text = candidate.block.file_type.role != FileRole::Code;
    is_text && is_one_of(LICENSES, stem) || is_one_of(WRAPPERS, name)
}

fn stem_of(path: &RelPath) -> &[u8] {
    path.file_name().split(|byte| *byte == b'.').next().unwrap_or_default()
}
