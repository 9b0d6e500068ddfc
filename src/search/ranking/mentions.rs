//! Decides which files of a project are meant by the paths that a task mentions.
//!
//! A written path may be abbreviated, or the project may be in another folder on the writer's machine, so two paths are
//! compared from their ends. In a monorepo, many files end alike (`packages/*/src/index.ts`): only those with the most
//! equal components are meant.

use rustc_hash::FxHashMap;

use super::files::RankedFile;
use super::path_class::PathClass;
use crate::search::query::{LineMention, RankingQuery, is_file_of_frame, is_same_file, without_dots};

/// How certainly a path is meant that is mentioned only by its last component, which files in other folders may share.
const BASE_NAME_CERTAINTY: f64 = 0.7;
/// How certainly a path in a stack trace is meant: most frames are not where the fault is.
const FRAME_CERTAINTY: f64 = 0.8;

/// What a task says about one file.
#[derive(Clone, Debug, Default)]
struct FileMentions {
    certainty: f64,
    lines: Vec<LineMention>,
}

/// The files that a task mentions, by their positions.
#[derive(Clone, Debug, Default)]
pub(super) struct MentionedFiles(FxHashMap<usize, FileMentions>);

impl MentionedFiles {
    /// Compares the paths and frames of a task with the paths of all files.
    pub(super) fn find(query: &RankingQuery, files: &[RankedFile<'_>]) -> Self {
        let paths = query.paths().iter().map(|mention| {
            let is_certain = mention.is_exact || without_dots(mention.path.as_bytes()).contains(&b'/');
            let certainty = if is_certain { 1.0 } else { BASE_NAME_CERTAINTY };
            Mention { path: mention.path.as_bytes(), certainty, line: None }
        });
        let lines = query.lines().iter().map(|line| Mention {
            path: line.path.as_bytes(),
            certainty: FRAME_CERTAINTY,
            line: Some(line),
        });
        let unresolved = |mention| MentionTargets { mention, likeness: None, files: Vec::new() };
        let mut mentions: Vec<MentionTargets<'_>> = paths.chain(lines).map(unresolved).collect();
        // Otherwise, each of many mentions would be compared with each of many paths.
        let mut by_name: FxHashMap<&[u8], Vec<usize>> = FxHashMap::default();
        for (at, MentionTargets { mention, .. }) in mentions.iter().enumerate() {
            let name = mention.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            by_name.entry(name).or_default().push(at);
        }
        for (at, file) in files.iter().enumerate() {
            for mention in by_name.get(file.path.file_name()).into_iter().flatten() {
                mentions[*mention].compare(at, file);
            }
        }
        let mut found = Self::default();
        for MentionTargets { mention, files, .. } in mentions {
            for at in files {
                let of_file = found.0.entry(at).or_default();
                of_file.certainty = of_file.certainty.max(mention.certainty);
                of_file.lines.extend(mention.line.cloned());
            }
        }
        found
    }

    /// Returns how certainly the task mentions a file, from 0 to 1.
    pub(super) fn certainty(&self, file: usize) -> f64 {
        self.0.get(&file).map_or(0.0, |mentions| mentions.certainty)
    }

    /// Returns the mentioned lines that are in a file.
    pub(super) fn lines(&self, file: usize) -> &[LineMention] {
        self.0.get(&file).map_or(&[], |mentions| &mentions.lines)
    }
}

/// A path as the task mentions it.
struct Mention<'q> {
    path: &'q [u8],
    certainty: f64,
    /// The lines of it, if the task points to some.
    line: Option<&'q LineMention>,
}

/// The files that are most like a mentioned path.
struct MentionTargets<'q> {
    mention: Mention<'q>,
    /// That of the files.
    likeness: Option<Likeness>,
    files: Vec<usize>,
}

/// How much a path is like a mentioned one: the number of equal components at the end, then whether all are equal.
type Likeness = (usize, bool);

impl MentionTargets<'_> {
    fn compare(&mut self, at: usize, file: &RankedFile<'_>) {
        let Some(likeness) = self.mention.likeness(file) else { return };
        if self.likeness < Some(likeness) {
            self.likeness = Some(likeness);
            self.files.clear();
        }
        if self.likeness == Some(likeness) {
            self.files.push(at);
        }
    }
}

impl Mention<'_> {
    /// Returns how much a file is like the mentioned one; `None` if it cannot be meant.
    fn likeness(&self, file: &RankedFile<'_>) -> Option<Likeness> {
        let (path, written) = (file.path.as_bytes(), without_dots(self.path));
        let may_be_meant =
            is_same_file(path, written) || self.line.is_some() && is_file_of_frame(path, self.path);
        let components = |path| <[u8]>::rsplit(path, |byte: &u8| *byte == b'/');
        let equal = components(path).zip(components(written)).take_while(|(a, b)| a == b).count();
        // A name alone may mean any source, but hardly any of a hundred files called `package.json`.
        let is_code = !matches!(file.class, PathClass::NotCode | PathClass::Vendored);
        let is_exact = path == written && (!is_code || 1 < equal);
        may_be_meant.then_some((equal, is_exact))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FileRole, RelPath};
    use crate::search::query::PathMention;
    use crate::search::ranking::files::FileSignals;

    /// Checks how certainly each of some files is meant by a path, or by a line.
    #[track_caller]
    fn check(path: &str, is_frame: bool, expected: &[(&str, f64)]) {
        let path = path.to_owned();
        let (paths, lines) = if is_frame {
            let line = LineMention { path, first_line: 3, last_line: 3, function: None, strength: 1.0 };
            (Vec::new(), vec![line])
        } else {
            (vec![PathMention { path, is_exact: false }], Vec::new())
        };
        let query = RankingQuery::new(Vec::new(), Vec::new(), paths, lines);
        let known: Vec<RelPath> =
            expected.iter().map(|(path, _)| RelPath::new(path.as_bytes()).unwrap()).collect();
        let files = known.iter().map(|path| {
            let role = if path.extension() == Some(b"json") { FileRole::Data } else { FileRole::Code };
            RankedFile {
                path,
                class: PathClass::from_path(path, role, false),
                vector: None,
                in_focus: false,
                signals: FileSignals::default(),
            }
        });
        let found = MentionedFiles::find(&query, &files.collect::<Vec<_>>());
        for (at, (path, certainty)) in expected.iter().enumerate() {
            assert!((found.certainty(at) - certainty).abs() < 1e-9, "{path}: {}", found.certainty(at));
            assert_eq!(found.lines(at).is_empty(), !is_frame || *certainty == 0.0, "{path}");
        }
    }

    #[test]
    fn a_path_is_mentioned_by_its_end_and_less_certainly_by_its_name_alone() {
        check("./pkg/engine.py", false, &[("src/pkg/engine.py", 1.0), ("src/engine.py", 0.0)]);
        check("./pkg/engine.py", false, &[("engine.py", 1.0)]);
        check("setup.py", false, &[("tools/setup.py", 0.7), ("src/my_setup.py", 0.0), ("setup.py", 0.7)]);
        check("/home/me/work/src/deep/a.c", false, &[("src/deep/a.c", 1.0)]);
        check("../.github/ci.yml", false, &[(".github/ci.yml", 1.0)]);
    }

    #[test]
    fn a_frame_in_an_installed_package_means_the_source_of_the_package() {
        let written = "/usr/lib/python3/site-packages/requests/models.py";
        check(written, true, &[("src/requests/models.py", 0.8), ("src/other/models.py", 0.0)]);
    }

    #[test]
    fn of_files_that_end_alike_those_with_the_most_equal_components_are_meant() {
        let (here, there) = ("packages/a/src/index.ts", "packages/b/src/index.ts");
        for is_frame in [false, true] {
            let certainty = if is_frame { FRAME_CERTAINTY } else { 1.0 };
            check("/srv/app/packages/b/src/index.ts", is_frame, &[(here, 0.0), (there, certainty)]);
            check(there, is_frame, &[(here, 0.0), (there, certainty), ("index.ts", 0.0)]);
            check("src/index.ts", is_frame, &[(here, certainty), (there, certainty), ("index.ts", 0.0)]);
            check("src/index.ts", is_frame, &[(here, 0.0), ("src/index.ts", certainty)]);
        }
        check("package.json", true, &[("a/package.json", 0.0), ("package.json", 0.8)]);
    }
}
