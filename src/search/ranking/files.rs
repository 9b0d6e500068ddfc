//! Ranks the files of a project: by a task, by files in focus, and by history.
//!
//! The score of a file is a weighted sum of parts. Each part is divided by its greatest value among the project's code,
//! so that parts with different units can be added:
//!
//! ```text
//! with a task     1.0 text       BM25 of the task's terms in the file
//!                 0.6 path       rarities of the task's terms in the path
//!                 1.0 mention    the path, as the task mentions it
//!                 0.5 subjects   subjects of the commits that changed the file (`subjects.rs`)
//! with a focus    1.5 similar    rare terms that the file shares with those in focus (`focus_terms.rs`)
//!                 2.0 together   commits that changed the file together with one in focus
//!                 1.0 same stem  a test and its source, a header and its implementation
//!                 0.25 folder    folders that the paths have in common
//!                 0.5 changes    how often and how lately commits changed the file
//! with neither    1.0 changes
//! ```
//!
//! The sum is multiplied by a factor for the file's class ([`PathClass`]), unless a stack trace, a diagnostic or a link
//! points to lines of the file. The weights were tuned on issues and commits of real projects; each part was removed
//! once, and those that made no difference are not here.
//!
//! Start with [`rank_files`]; `symbols.rs` continues with the symbols of the best files.

use super::mentions::MentionedFiles;
use super::path_class::{GENERATED_FACTOR, PathClass, TEST_ENDINGS};
use super::text_matches::TextMatches;
use crate::model::RelPath;
use crate::search::query::{LineMention, RankingQuery};
use crate::search::terms::{TermVector, normalized, real};

/// The maximum number of files whose symbols are ranked. On 52 issues of projects with up to 2,200 files, the 40 best
/// gave the same result as all of them.
const FILES_WITH_SYMBOLS: usize = 100;
/// The maximum total length of their texts, which takes some 15 ms to search.
const WORDS_WITH_SYMBOLS: u64 = 250_000;
/// The number of files that are read regardless of their length.
const FILES_ALWAYS_READ: usize = 10;

/// A file of the project, as input of the ranking.
#[derive(Clone, Copy, Debug)]
pub struct RankedFile<'a> {
    /// Its path.
    pub path: &'a RelPath,
    /// Its class.
    pub class: PathClass,
    /// Its term vector; `None` if it has no text, or if its vector could not be read.
    pub vector: Option<TermVector<'a>>,
    /// Whether it is in focus.
    pub in_focus: bool,
    /// Its signals from the history.
    pub signals: FileSignals,
}

/// Properties of a file by its history. The units are arbitrary: the ranking divides by the greatest value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileSignals {
    /// How well the subjects of the commits that changed it match the task.
    pub subjects: f64,
    /// How often and how recently commits changed it.
    pub changes: f64,
    /// How often commits changed it together with a file in focus.
    pub together: f64,
}

/// The parts of a file's score, weighted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileParts {
    /// The task's terms in its text.
    pub text: f64,
    /// The task's terms in its path.
    pub path: f64,
    /// Its path in the task.
    pub mention: f64,
    /// The subjects of the commits that changed it.
    pub subjects: f64,
    /// Rare terms in its text that the texts in focus have as well.
    pub similar: f64,
    /// Commits that changed it together with files in focus.
    pub together: f64,
    /// A file in focus has the same name, apart from its extension and test marks.
    pub same_stem: f64,
    /// Folders that it is in with files in focus.
    pub folder: f64,
    /// Commits that changed it.
    pub changes: f64,
}

impl FileParts {
    /// Returns the parts with their names, as in receipts and explanations.
    pub fn named(&self) -> [(&'static str, f64); 9] {
        [
            ("text", self.text),
            ("path", self.path),
            ("mention", self.mention),
            ("subjects", self.subjects),
            ("similar", self.similar),
            ("together", self.together),
            ("same_stem", self.same_stem),
            ("folder", self.folder),
            ("changes", self.changes),
        ]
    }

    /// Returns the sum of the parts.
    pub fn sum(&self) -> f64 {
        self.named().iter().map(|part| part.1).sum()
    }

    /// Combines the parts of two scores pairwise.
    fn zip(&self, other: &Self, combine: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            text: combine(self.text, other.text),
            path: combine(self.path, other.path),
            mention: combine(self.mention, other.mention),
            subjects: combine(self.subjects, other.subjects),
            similar: combine(self.similar, other.similar),
            together: combine(self.together, other.together),
            same_stem: combine(self.same_stem, other.same_stem),
            folder: combine(self.folder, other.folder),
            changes: combine(self.changes, other.changes),
        }
    }
}

/// The score of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileScore {
    /// The sum of the parts, times the factor.
    pub total: f64,
    /// The parts.
    pub parts: FileParts,
    /// The factor of the file's class.
    pub factor: f64,
}

impl FileScore {
    /// Returns whether the file is generated, so that showing its path is enough.
    pub fn is_generated(&self) -> bool {
        self.factor <= GENERATED_FACTOR
    }
}

/// The files of a project with their scores.
#[derive(Clone, Debug)]
pub struct FileRanking {
    /// The scores, in the order in which the files were given.
    pub scores: Vec<FileScore>,
    /// The positions of the files, best first.
    pub order: Vec<usize>,
    /// Whether anything in the project matches the task. If not, the files are ranked without it.
    pub has_matches: bool,
    texts: TextMatches,
    mentions: MentionedFiles,
}

impl FileRanking {
    /// Returns how certainly the task mentions a file, from 0 to 1.
    pub(super) fn mention(&self, file: usize) -> f64 {
        self.mentions.certainty(file)
    }

    /// Returns the lines of a file that the task points to.
    pub fn mentioned_lines(&self, file: usize) -> &[LineMention] {
        self.mentions.lines(file)
    }

    /// Returns how many files have a term of the query in their text.
    pub fn files_with(&self, position: usize) -> usize {
        self.texts.files_with(position)
    }

    /// Returns the positions of the files whose symbols should be ranked: the best ones, limited in number and in total
    /// length so that they can be read for one answer. Files without any score are not among them; they follow in
    /// `others` with the remaining files, as far as a document of `room` tokens has space for them.
    pub fn files_for_symbols(&self, room: u64) -> FilesForSymbols {
        let mut words = 0_u64;
        let mut chosen = FilesForSymbols::default();
        for (rank, file) in self.order.iter().enumerate() {
            let length = self.texts.length(*file);
            let is_ranked = 0.0 < self.scores[*file].total && chosen.ranked.len() < FILES_WITH_SYMBOLS;
            // A word takes at least one token.
            if !is_ranked && room <= words {
                break;
            }
            if rank < FILES_ALWAYS_READ || words + length <= WORDS_WITH_SYMBOLS {
                words += length;
                if is_ranked { &mut chosen.ranked } else { &mut chosen.others }.push(*file);
            }
        }
        chosen
    }

    /// Reclassifies files by their texts, and lowers their scores accordingly, unless the task points to their lines.
    pub fn reclassify(&mut self, files: &mut [RankedFile<'_>], found: &[usize], class: PathClass) {
        for at in found {
            files[*at].class = class;
            if self.mentions.lines(*at).is_empty() {
                let score = &mut self.scores[*at];
                score.factor = class.file_factor();
                score.total = score.parts.sum() * score.factor;
            }
        }
        self.order.sort_by(|a, b| self.scores[*b].total.total_cmp(&self.scores[*a].total));
    }
}

/// The files whose symbols are shown, by their positions, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesForSymbols {
    /// Those whose symbols are ranked.
    pub ranked: Vec<usize>,
    /// Those whose symbols follow, in file order.
    pub others: Vec<usize>,
}

/// Ranks files. Files with equal scores are ordered by their changes, then by their paths. `of_focus` are the rare terms
/// of the files in focus, as [`query_of_focus`](super::focus_terms::query_of_focus) returns them.
pub fn rank_files(query: &RankingQuery, of_focus: &RankingQuery, files: &[RankedFile<'_>]) -> FileRanking {
    let vectors: Vec<Option<TermVector<'_>>> = files.iter().map(|file| file.vector).collect();
    let texts = TextMatches::find(query, &vectors);
    let paths = path_scores(query, files);
    let similar = TextMatches::find(of_focus, &vectors);
    let focus: Vec<&RelPath> = files.iter().filter(|file| file.in_focus).map(|file| file.path).collect();
    let stems = FocusStems::new(&focus);
    let mentions = MentionedFiles::find(query, files);
    let raw: Vec<FileParts> = files
        .iter()
        .enumerate()
        .map(|(at, file)| FileParts {
            text: texts.contributions(at).sum(),
            path: paths[at],
            mention: mentions.certainty(at),
            subjects: file.signals.subjects,
            similar: if file.in_focus { 0.0 } else { similar.contributions(at).sum() },
            together: file.signals.together,
            same_stem: f64::from(u8::from(stems.contains(file))),
            folder: folder_similarity(file.path, &focus),
            changes: file.signals.changes,
        })
        .collect();
    let has_matches = raw.iter().any(|of| 0.0 < of.text + of.path + of.mention + of.subjects);
    let weights = weights(has_matches, !focus.is_empty());
    let greatest = greatest_parts(&raw, files);
    let score = |(at, (raw, file)): (usize, (&FileParts, &RankedFile<'_>))| {
        // Prose may match better than any code, but must not flatten the differences among code.
        let shares = raw.zip(&greatest, |value, greatest| normalized(value, greatest).min(1.0));
        let parts = shares.zip(&weights, |share, weight| share * weight);
        let factor = if mentions.lines(at).is_empty() { file.class.file_factor() } else { 1.0 };
        FileScore { total: parts.sum() * factor, parts, factor }
    };
    let scores: Vec<FileScore> = raw.iter().zip(files).enumerate().map(score).collect();
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by(|a, b| {
        let by_score = scores[*b].total.total_cmp(&scores[*a].total);
        let by_changes = || files[*b].signals.changes.total_cmp(&files[*a].signals.changes);
        by_score.then_with(by_changes).then_with(|| files[*a].path.cmp(files[*b].path))
    });
    FileRanking { scores, order, has_matches, texts, mentions }
}

/// Returns the weight of each part.
fn weights(has_task: bool, has_focus: bool) -> FileParts {
    let mut weights = FileParts::default();
    if has_task {
        weights = FileParts { text: 1.0, path: 0.6, mention: 1.0, subjects: 0.5, ..weights };
    }
    if has_focus {
        weights =
            FileParts { similar: 1.5, together: 2.0, same_stem: 1.0, folder: 0.25, changes: 0.5, ..weights };
    }
    if !has_task && !has_focus {
        weights.changes = 1.0;
    }
    weights
}

/// Returns the greatest value of each part among the project's own code, or among all files if that is zero.
fn greatest_parts(raw: &[FileParts], files: &[RankedFile<'_>]) -> FileParts {
    let is_code =
        |class: PathClass| matches!(class, PathClass::Source | PathClass::Test | PathClass::Peripheral);
    let of_code = raw.iter().zip(files).filter(|(_, file)| is_code(file.class)).map(|(parts, _)| parts);
    let among = |parts: &mut dyn Iterator<Item = &FileParts>| {
        parts.fold(FileParts::default(), |greatest, parts| greatest.zip(parts, f64::max))
    };
    let (of_code, of_all) = (among(&mut { of_code }), among(&mut raw.iter()));
    of_code.zip(&of_all, |of_code, of_all| if 0.0 < of_code { of_code } else { of_all })
}

/// Returns the score of the query's terms in each path.
fn path_scores(query: &RankingQuery, files: &[RankedFile<'_>]) -> Vec<f64> {
    let without_ending = files.iter().map(|file| {
        let ending = file.path.extension().map_or(0, |extension| extension.len() + 1);
        let path = file.path.as_bytes();
        &path[..path.len() - ending]
    });
    query.rarity_sums(without_ending, false)
}

/// The names of the files in focus, without what distinguishes a test from its source.
struct FocusStems<'a>(Vec<&'a [u8]>);

impl<'a> FocusStems<'a> {
    fn new(focus: &[&'a RelPath]) -> Self {
        let mut stems: Vec<&[u8]> = focus.iter().map(|path| bare_stem(path)).collect();
        stems.sort_unstable();
        Self(stems)
    }

    fn contains(&self, file: &RankedFile<'_>) -> bool {
        !file.in_focus && self.0.binary_search(&bare_stem(file.path)).is_ok()
    }
}

/// Returns the name of a file without its extensions and test marks. A file that is named by its folder, such as
/// `__init__.py`, has the folder's name.
fn bare_stem(path: &RelPath) -> &[u8] {
    let name = path.file_name();
    let hidden = usize::from(name.starts_with(b"."));
    let stem = name[hidden..].split(|byte| *byte == b'.').next().unwrap_or_default();
    let stem = stem.strip_prefix(b"test_").unwrap_or(stem);
    let cut = TEST_ENDINGS.iter().find_map(|ending| stem.strip_suffix(*ending));
    let stem = cut.filter(|stem| !stem.is_empty()).unwrap_or(stem);
    let folder = path.parent().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    if is_common_stem(stem) && !folder.is_empty() { folder } else { stem }
}

/// Returns the share of folders that the path of a file has in common with the nearest of those in focus, from 0 to 1;
/// 1 for two files at the root.
fn folder_similarity(path: &RelPath, focus: &[&RelPath]) -> f64 {
    focus.iter().map(|other| shared_folders(path, other)).fold(0.0, f64::max)
}

fn shared_folders(a: &RelPath, b: &RelPath) -> f64 {
    let (a, b) = (folders(a), folders(b));
    let all = a.clone().count() + b.clone().count();
    let shared = a.zip(b).take_while(|(a, b)| a == b).count();
    if all == 0 { 1.0 } else { real(2 * shared) / real(all) }
}

/// Returns the names of the folders that a file is in, from the root.
fn folders(path: &RelPath) -> impl Iterator<Item = &[u8]> + Clone {
    path.parent().split(|byte| *byte == b'/').filter(|folder| !folder.is_empty())
}

/// Returns whether many folders have files of this name, so that it says nothing about a file.
pub(in crate::search) fn is_common_stem(stem: &[u8]) -> bool {
    matches!(stem, b"__init__" | b"index" | b"mod" | b"lib" | b"main")
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums and quotients of equal numbers are equal")]
mod tests {
    use super::super::focus_terms::query_of_focus;
    use super::*;
    use crate::search::query::{LineMention, PathMention, WeightedTerm};
    use crate::search::terms::VectorBuilder;
    use crate::search::terms::terms;

    /// A file by its path and its text, with its signals.
    struct TestFile(&'static str, &'static str, FileSignals);

    fn file(path: &'static str, text: &'static str) -> TestFile {
        TestFile(path, text, FileSignals::default())
    }

    /// Words that end with a colon and a number are lines that the task points to.
    fn query(text: &str) -> RankingQuery {
        let lines = text.split(' ').filter_map(|word| {
            let (path, line) = word.split_once(':')?;
            let (line, path) = (line.parse().ok()?, path.to_owned());
            Some(LineMention { path, first_line: line, last_line: line, function: None, strength: 1.0 })
        });
        let lines = lines.collect();
        let weighted = terms(text.as_bytes()).map(|term| WeightedTerm { term, weight: 1.0, in_title: false });
        let paths = text.split(' ').filter(|word| word.contains('/'));
        let paths = paths.map(|path| PathMention { path: path.to_owned(), is_exact: false });
        RankingQuery::new(weighted.collect(), Vec::new(), paths.collect(), lines)
    }

    fn ranked(text: &str, files: &[TestFile], focus: &str) -> (Vec<&'static str>, FileRanking) {
        let mut builder = VectorBuilder::default();
        let vectors: Vec<Vec<u8>> = files.iter().map(|file| builder.build(file.1.as_bytes())).collect();
        let paths: Vec<RelPath> = files.iter().map(|file| RelPath::new(file.0.as_bytes()).unwrap()).collect();
        let inputs = files.iter().zip(&paths).zip(&vectors).map(|((file, path), vector)| RankedFile {
            path,
            class: match path.extension() {
                Some(b"md") => PathClass::from_path(path, crate::model::FileRole::Prose, false),
                _ => PathClass::from_path(path, crate::model::FileRole::Code, false),
            },
            vector: TermVector::from_bytes(vector).ok(),
            in_focus: file.0 == focus,
            signals: file.2,
        });
        let inputs: Vec<RankedFile<'_>> = inputs.collect();
        let ranking = rank_files(&query(text), &query_of_focus(&inputs), &inputs);
        (ranking.order.iter().map(|at| files[*at].0).collect(), ranking)
    }

    #[track_caller]
    fn check(text: &str, files: &[TestFile], expected: &[&str]) {
        assert_eq!(ranked(text, files, "").0, expected);
    }

    #[test]
    fn files_are_ranked_by_their_texts_and_paths() {
        let files = [
            file("a.py", "def open(): pass"),
            file("b.py", "parse the proxy header of a request"),
            file("proxy.py", "nothing of interest"),
            file("c.py", "proxy proxy header header"),
        ];
        check("proxy headers", &files, &["c.py", "b.py", "proxy.py", "a.py"]);
    }

    #[test]
    fn a_file_that_the_task_names_comes_before_those_that_merely_match() {
        let files = [file("src/a.py", "alpha"), file("src/b.py", "proxy header proxy header")];
        check("the proxy in src/a.py is wrong", &files, &["src/a.py", "src/b.py"]);
    }

    #[test]
    fn a_change_log_does_not_come_before_code_and_does_not_make_code_alike() {
        let files = [
            file("CHANGES.md", "proxy header proxy header proxy header proxy header"),
            file("a.py", "proxy header alpha"),
            file("b.py", "proxy alpha beta header"),
        ];
        let (order, ranking) = ranked("proxy header", &files, "");
        assert_eq!(order, ["a.py", "b.py", "CHANGES.md"]);
        assert_eq!(ranking.scores[1].parts.text, 1.0);
        assert_eq!(ranking.scores[0].parts.text, 1.0);
        assert_eq!(ranking.scores[0].factor, 0.3);
    }

    #[test]
    fn a_file_that_is_not_code_counts_in_full_if_the_task_points_to_a_line_of_it() {
        let files = [file("a.md", "proxy"), file("b/a.md", "proxy"), file("c.py", "proxy")];
        let factors = |text: &str| -> Vec<f64> {
            ranked(text, &files, "").1.scores.iter().map(|score| score.factor).collect()
        };
        assert_eq!(factors("proxy ./a.md:3"), [1.0, 0.3, 1.0]);
        assert_eq!(factors("proxy /srv/x/a.md:3"), [1.0, 0.3, 1.0]);
        assert_eq!(factors("proxy b/a.md:3"), [0.3, 1.0, 1.0]);
        assert_eq!(factors("proxy a.md"), [0.3, 0.3, 1.0]);
        let only = [file("b/a.md", "proxy"), file("c/a.md", "proxy")];
        let (_, ranking) = ranked("a.md:3", &only, "");
        assert!(ranking.scores.iter().all(|score| score.factor == 1.0));
    }

    #[test]
    fn without_a_match_files_are_ranked_by_their_changes_and_foreign_ones_count_little() {
        let changed = |changes| FileSignals { changes, ..FileSignals::default() };
        let files = [
            TestFile("a.py", "alpha", changed(1.0)),
            TestFile("vendor/b.py", "beta", changed(3.0)),
            TestFile("c.py", "gamma", changed(2.0)),
            file("d.py", "delta"),
        ];
        let (order, ranking) = ranked("zeta", &files, "");
        assert_eq!(order, ["c.py", "a.py", "vendor/b.py", "d.py"]);
        assert!(!ranking.has_matches);
    }

    #[test]
    fn files_near_the_focus_come_before_files_that_change_often() {
        let files = [
            file("src/engine.py", "start_engine gearbox"),
            TestFile("src/often.py", "alpha", FileSignals { changes: 9.0, ..FileSignals::default() }),
            file("src/near.py", "call start_engine"),
            TestFile("src/with.py", "", FileSignals { together: 0.1, ..FileSignals::default() }),
            file("tests/test_engine.py", ""),
        ];
        let (order, _) = ranked("", &files, "src/engine.py");
        let expected =
            ["src/with.py", "src/near.py", "tests/test_engine.py", "src/often.py", "src/engine.py"];
        assert_eq!(order, expected);
    }

    #[test]
    fn a_score_is_the_sum_of_its_parts_times_its_factor() {
        let files = [file("src/proxy.py", "proxy"), file("deps/header.c", "proxy header")];
        let (_, ranking) = ranked("proxy header", &files, "");
        for score in &ranking.scores {
            let sum: f64 = score.parts.named().iter().map(|part| part.1).sum();
            assert_eq!(score.total, sum * score.factor);
            assert!(0.0 < sum);
        }
    }

    #[test]
    fn a_file_with_a_damaged_vector_is_ranked_without_text() {
        let mut bytes = VectorBuilder::default().build(b"proxy header alpha beta gamma delta");
        let path = RelPath::new(b"a.py").unwrap();
        let middle = bytes.len() - 9;
        bytes[middle..].fill(0xff);
        let file = RankedFile {
            path: &path,
            class: PathClass::Source,
            vector: TermVector::from_bytes(&bytes).ok(),
            in_focus: false,
            signals: FileSignals::default(),
        };
        let ranking =
            rank_files(&query("proxy header alpha beta gamma delta"), &RankingQuery::empty(), &[file]);
        assert_eq!(ranking.scores[0].parts.text, 0.0);
    }

    #[test]
    fn symbols_are_ranked_in_the_best_files_within_a_limit_of_length() {
        let long = "proxy word other ".repeat(80_000);
        let long: &'static str = Box::leak(long.into_boxed_str());
        let paths = ["a.py", "b.py", "c.py", "d.py", "e.py", "f.py", "g.py", "h.py", "i.py", "j.py"];
        let mut files: Vec<TestFile> = paths.into_iter().map(|path| file(path, "proxy word")).collect();
        files.extend([
            file("long.py", long),
            file("none.py", "beta"),
            file("z.py", "word proxy alpha gamma"),
        ]);
        let (_, ranking) = ranked("proxy word", &files, "");
        let chosen = ranking.files_for_symbols(0);
        assert_eq!(
            (chosen.ranked.len(), chosen.ranked.contains(&11), chosen.others),
            (12, false, Vec::new())
        );
        let (_, ranking) = ranked("other", &files, "");
        assert_eq!(ranking.files_for_symbols(1_000).ranked, [10]);
        let (_, ranking) = ranked("beta", &files, "");
        let chosen = ranking.files_for_symbols(10);
        assert_eq!((chosen.ranked, chosen.others.len()), (vec![11], 5));
    }

    #[test]
    fn a_project_without_files_has_an_empty_ranking() {
        assert_eq!(rank_files(&query("proxy"), &RankingQuery::empty(), &[]).order, [0_usize; 0]);
    }

    #[test]
    fn the_stem_is_what_a_test_shares_with_its_source() {
        let stem = |path: &str| {
            let path = RelPath::new(path.as_bytes()).unwrap();
            String::from_utf8(bare_stem(&path).to_vec()).unwrap()
        };
        for path in
            ["a/engine.py", "test_engine.py", "engine_test.go", "engine.spec.ts", "engine/__init__.py"]
        {
            assert_eq!(stem(path), "engine", "{path}");
        }
        assert_eq!(stem("test.py"), "test");
        assert_eq!(stem(".gitignore"), "gitignore");
    }

    #[test]
    fn folders_are_compared_from_the_root() {
        let [here, sibling, other, root] =
            ["a/b/c.py", "a/d/c.py", "x/b/c.py", "c.py"].map(|path| RelPath::new(path.as_bytes()).unwrap());
        assert_eq!(shared_folders(&here, &here), 1.0);
        assert_eq!(shared_folders(&here, &sibling), 0.5);
        assert_eq!(shared_folders(&here, &other), 0.0);
        assert_eq!(shared_folders(&root, &root), 1.0);
        assert_eq!(shared_folders(&root, &here), 0.0);
        assert_eq!(folder_similarity(&sibling, &[&other, &here]), 0.5);
        assert_eq!(folder_similarity(&sibling, &[]), 0.0);
    }
}
