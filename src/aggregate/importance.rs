//! How much a file matters where no commits tell: decides which files are shown in full when not all can be, and which
//! are summarized first.
//!
//! Curated files matter most. The others are rated by references from other files: uses of the names that they define,
//! and imports. The maps of other tools run `PageRank` on the graph of such references until it
//! converges; here each reference counts once, so that one pass is enough, and a sentence explains the result:
//! "referred to by 34 files".
//!
//! All arithmetic is in integers, so that results are the same on every machine:
//!
//! ```text
//! weight of a name  =  log2(1 + files that use it) / files that define it
//!                      (nothing if more than 8 define it; a quarter if it may be a plain word)
//! interest          =  sum over the file's names, and 16 times the weight of its own name among imports
//! score             =  (1 + interest) * (1 + log2(1 + files that refer to it))
//!                      a quarter in a folder of tests
//! ```
//!
//! An import names a module by its last name only; of several files of that name, the nearest is meant: the one that
//! shares the most folders with the importer.
//!
//! Multiplying both counts suppresses accidents: a file with a thousand rarely used names, and one with a single name
//! that happens to occur in every file, both rank below a file with many names that many files use.

use rustc_hash::FxHashMap;

use crate::model::{FileReferences, RelPath, is_plain_word};

/// One, as a fixed-point number.
const UNIT: u64 = 1 << 10;
/// A name that more files define than this (`main`, `get`, `Config`) identifies none of them.
const MAX_DEFINERS: usize = 8;
/// The divisor for names that may be words in a comment, and for test files.
const DOUBT_DIVISOR: u64 = 4;
/// The number of names that an import counts as, because it is explicit.
const IMPORT_NAMES: u64 = 16;
/// How many of another file's names a file must use to refer to it without importing it: a single one may be an
/// accident.
const NAMES_FOR_REFERENCE: u32 = 2;
/// If more files than this share a name, no nearest one is searched.
const MAX_NAMESAKES: usize = 64;

/// A file whose importance is asked for.
#[derive(Debug, Clone)]
pub struct ImportanceSubject<'a> {
    pub path: &'a RelPath,
    /// The names that it defines and uses, if it is code.
    pub references: Option<&'a FileReferences>,
    /// The number of the name that others import it by, if it is code.
    pub own_name: Option<u32>,
    pub is_curated: bool,
}

/// How much a file matters; the greater, the more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Importance {
    pub is_curated: bool,
    pub score: u64,
    /// The number of other files that refer to it.
    pub referred_by: u32,
}

/// Returns how much each of the files matters, in their order.
pub fn rate_files(subjects: &[ImportanceSubject<'_>]) -> Vec<Importance> {
    let defined = NameIndex::from_files(
        MAX_DEFINERS,
        subjects.iter().map(|subject| referenced_names(subject, |of| &of.defines)),
    );
    let used = defined.count(subjects.iter().map(|subject| referenced_names(subject, |of| &of.uses)));
    let own =
        NameIndex::from_files(MAX_NAMESAKES, subjects.iter().map(|subject| subject.own_name.as_slice()));
    let imported = own.count(subjects.iter().map(|subject| referenced_names(subject, |of| &of.imports)));
    let mut ties = ReferenceTies::new(subjects.len());
    for (at, subject) in subjects.iter().enumerate() {
        for name in referenced_names(subject, |of| &of.uses) {
            let definers = defined.files(*name);
            // A file that defines a name itself does not refer to other files by it.
            if definers.is_empty() || definers.iter().any(|definer| definer.1 == at) {
                continue;
            }
            // A plain word may come from a comment, so it does not prove a reference.
            if !is_plain_word(*name) {
                for (_, definer) in definers {
                    ties.record(*definer, 1);
                }
            }
        }
        for name in referenced_names(subject, |of| &of.imports) {
            for namesake in nearest(subjects, at, own.files(*name)) {
                ties.record(namesake, NAMES_FOR_REFERENCE);
            }
        }
        ties.count_references();
    }
    let rated = subjects.iter().enumerate().map(|(at, subject)| {
        let names = referenced_names(subject, |of| &of.defines).iter();
        let interest: u64 = names.map(|name| weight(*name, &defined, &used)).sum();
        let import = subject.own_name.map_or(0, |name| import_weight(name, &own, &imported));
        rate_file(subject, interest + import, ties.referred_by[at])
    });
    rated.collect()
}

fn rate_file(subject: &ImportanceSubject<'_>, interest: u64, referred_by: u32) -> Importance {
    let breadth = UNIT + log2(1 + u64::from(referred_by));
    let mut score = (UNIT + interest) * breadth / UNIT;
    if is_for_tests(subject.path) {
        score /= DOUBT_DIVISOR;
    }
    Importance { is_curated: subject.is_curated, score, referred_by }
}

/// Returns which files of a name the file at `from` most likely means: those that share the most folders with it,
/// without itself. If the name is too common, only files that share a folder count.
fn nearest(subjects: &[ImportanceSubject<'_>], from: usize, namesakes: &[(u32, usize)]) -> Vec<usize> {
    let least_shared = usize::from(MAX_DEFINERS < namesakes.len());
    let mut meant: Vec<usize> = Vec::new();
    let mut most_shared = least_shared;
    for (_, at) in namesakes.iter().filter(|namesake| namesake.1 != from) {
        let shared = shared_folders(subjects[from].path, subjects[*at].path);
        if most_shared < shared {
            meant.clear();
            most_shared = shared;
        }
        if most_shared == shared {
            meant.push(*at);
        }
    }
    meant
}

fn shared_folders(a: &RelPath, b: &RelPath) -> usize {
    let (a, b) = (a.parent(), b.parent());
    let is_separator = |byte: &u8| *byte == b'/';
    let pairs = a.split(is_separator).zip(b.split(is_separator));
    pairs.take_while(|(a, b)| a == b && !a.is_empty()).count()
}

fn referenced_names<'a>(
    subject: &ImportanceSubject<'a>,
    list: impl FnOnce(&'a FileReferences) -> &'a Vec<u32>,
) -> &'a [u32] {
    subject.references.map_or(&[], |references| list(references).as_slice())
}

struct NameIndex {
    /// Each name with a file that contains it, sorted, without names that too many files contain.
    pairs: Vec<(u32, usize)>,
    /// Where the entries of a name begin in `pairs`, and their number.
    places: FxHashMap<u32, (usize, usize)>,
}

impl NameIndex {
    /// Collects the names of files, without those that more than `most` files contain.
    fn from_files<'a>(most: usize, files: impl Iterator<Item = &'a [u32]>) -> Self {
        // One sorted array instead of a list for each name: most names of a project occur in a single file.
        let mut pairs: Vec<(u32, usize)> = Vec::new();
        for (at, names) in files.enumerate() {
            pairs.extend(names.iter().map(|name| (*name, at)));
        }
        pairs.sort_unstable();
        let mut places = FxHashMap::default();
        let mut begin = 0;
        for same in pairs.chunk_by(|a, b| a.0 == b.0) {
            if same.len() <= most {
                places.insert(same[0].0, (begin, same.len()));
            }
            begin += same.len();
        }
        Self { pairs, places }
    }

    /// Returns the files that contain a name; empty if there are too many.
    fn files(&self, name: u32) -> &[(u32, usize)] {
        self.places.get(&name).map_or(&[], |(begin, length)| &self.pairs[*begin..begin + length])
    }

    /// Returns in how many files each name occurs, indexed by where the name begins in `pairs`.
    fn count<'a>(&self, files: impl Iterator<Item = &'a [u32]>) -> Vec<u32> {
        // The index leaves gaps, but needs no second map.
        let mut counts = vec![0; self.pairs.len()];
        for name in files.flatten() {
            if let Some((begin, _)) = self.places.get(name) {
                counts[*begin] += 1;
            }
        }
        counts
    }

    /// Returns how many files other than its definers use a name: a definition is an occurrence as well.
    fn users(&self, name: u32, counts: &[u32]) -> u64 {
        self.places
            .get(&name)
            .map_or(0, |(begin, length)| u64::from(counts[*begin]).saturating_sub(*length as u64))
    }
}

fn weight(name: u32, defined: &NameIndex, used: &[u32]) -> u64 {
    let definers = defined.files(name).len() as u64;
    let doubt = if is_plain_word(name) { DOUBT_DIVISOR } else { 1 };
    // A name with too many definers has none in the index, and so has no weight.
    (log2(1 + defined.users(name, used))).checked_div(definers * doubt).unwrap_or(0)
}

fn import_weight(name: u32, own: &NameIndex, imported: &[u32]) -> u64 {
    let Some((begin, namesakes)) = own.places.get(&name) else { return 0 };
    IMPORT_NAMES * log2(1 + u64::from(imported[*begin])) / *namesakes as u64
}

struct ReferenceTies {
    referred_by: Vec<u32>,
    /// How many names of each file the current user uses, and which files those are.
    hits: Vec<u32>,
    hit: Vec<usize>,
}

impl ReferenceTies {
    fn new(files: usize) -> Self {
        Self { referred_by: vec![0; files], hits: vec![0; files], hit: Vec::new() }
    }

    /// Records that the current user uses a name of `definer`, which counts as `names`.
    fn record(&mut self, definer: usize, names: u32) {
        // Only the entries that were hit are reset afterwards; resetting all for each user would be quadratic.
        if self.hits[definer] == 0 {
            self.hit.push(definer);
        }
        self.hits[definer] += names;
    }

    /// Turns the uses by one file into references where there are enough.
    fn count_references(&mut self) {
        for definer in self.hit.drain(..) {
            self.referred_by[definer] += u32::from(NAMES_FOR_REFERENCE <= self.hits[definer]);
            self.hits[definer] = 0;
        }
    }
}

/// Returns the logarithm in fixed point: exact for powers of two and linear between them. Floating-point logarithms
/// differ between machines.
const fn log2(number: u64) -> u64 {
    // `ilog2` panics at 0, so every caller adds at least 1. The shift overflows from 2^54 on, which no count reaches.
    let whole = number.ilog2() as u64;
    (whole << 10) + ((number - (1 << whole)) << 10 >> whole)
}

/// Returns whether a file seems to be a test, by its folders and name.
fn is_for_tests(path: &RelPath) -> bool {
    let mut parts = path.as_bytes().rsplit(|byte| *byte == b'/');
    let name = parts.next().unwrap_or_default();
    let stem = name.split(|byte| *byte == b'.').next().unwrap_or_default();
    let is_folder = |part: &[u8]| matches!(part, b"test" | b"tests" | b"testing" | b"testdata" | b"fixtures");
    stem.starts_with(b"test_") || stem.ends_with(b"_test") || parts.any(is_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file by its path, the names it defines, other names it uses, and its imports; odd names are plain words.
    struct TestFile(&'static str, Vec<u32>, Vec<u32>, Vec<u32>);

    /// Returns the importance of files; each file's own name is numbered by its position: 1000, 1002, 1004 …
    fn rated(files: &[TestFile]) -> Vec<Importance> {
        let paths: Vec<_> = files.iter().map(|file| RelPath::new(file.0.as_bytes()).unwrap()).collect();
        let references: Vec<_> = files
            .iter()
            .map(|TestFile(_, defines, uses, imports)| {
                let mut uses = [defines.as_slice(), uses].concat();
                uses.sort_unstable();
                FileReferences { defines: defines.clone(), uses, imports: imports.clone() }
            })
            .collect();
        let subjects: Vec<_> = (0_u32..)
            .zip(paths.iter().zip(&references))
            .map(|(at, (path, references))| ImportanceSubject {
                path,
                references: Some(references),
                own_name: Some(1000 + 2 * at),
                is_curated: false,
            })
            .collect();
        rate_files(&subjects)
    }

    fn names(first: u32, count: u32) -> Vec<u32> {
        (0..count).map(|number| first + 2 * number).collect()
    }

    #[test]
    fn a_file_that_many_refer_to_matters_more_than_one_that_few_do() {
        let mut files = vec![
            TestFile("core.c", names(10, 3), vec![], vec![]),
            TestFile("leaf.c", names(20, 3), vec![], vec![]),
            TestFile("one_user.c", vec![], names(20, 3), vec![]),
        ];
        files.extend(["a.c", "b.c", "c.c"].map(|path| TestFile(path, vec![], names(10, 3), vec![])));
        let rated = rated(&files);
        assert_eq!(rated[..3].iter().map(|of| of.referred_by).collect::<Vec<_>>(), [3, 1, 0]);
        assert!(rated[1].score < rated[0].score && rated[2].score < rated[1].score);
        // Three names of weight log2(1 + 3), and three files: (1 + 6) * (1 + 2).
        assert_eq!(rated[0].score, 21 * UNIT);
        assert_eq!(rated[2].score, UNIT);
    }

    #[test]
    fn one_name_may_be_an_accident_and_a_plain_word_is_in_doubt() {
        let files = [
            TestFile("odd.c", vec![11], vec![], vec![]),
            TestFile("even.c", vec![12], vec![], vec![]),
            TestFile("user.c", vec![], vec![11, 12], vec![]),
        ];
        let rated = rated(&files);
        assert_eq!((rated[0].referred_by, rated[1].referred_by), (0, 0));
        assert_eq!((rated[0].score, rated[1].score), (UNIT + UNIT / 4, 2 * UNIT));
    }

    #[test]
    fn a_name_that_too_many_files_define_has_no_weight() {
        let with = |definers: usize| {
            let mut files: Vec<_> =
                (0..definers).map(|_| TestFile("a.c", vec![10, 12], vec![], vec![])).collect();
            files.push(TestFile("user.c", vec![], vec![10, 12], vec![]));
            rated(&files)[0]
        };
        assert_eq!((with(8).referred_by, with(9).referred_by), (1, 0));
        assert_eq!((with(8).score, with(9).score), ((UNIT + 2 * UNIT / 8) * 2, UNIT));
    }

    #[test]
    fn an_import_is_a_reference_by_itself() {
        let files =
            [TestFile("a.h", vec![], vec![], vec![]), TestFile("b.c", vec![], vec![], vec![1000, 1002])];
        let rated = rated(&files);
        assert_eq!((rated[0].referred_by, rated[0].score), (1, (1 + 16) * 2 * UNIT));
        // It names itself too, which does not make it refer to itself.
        assert_eq!(rated[1].referred_by, 0);
    }

    #[test]
    fn of_several_files_of_one_name_the_nearest_is_imported() {
        // All of them have the name 1000, which the fourth imports.
        let paths = ["x/a.py", "y/a.py", "y/z/a.py", "y/z/user.py"]
            .map(|path| RelPath::new(path.as_bytes()).unwrap());
        let imports = FileReferences { imports: vec![1000], ..FileReferences::default() };
        let subjects = paths.each_ref().map(|path| ImportanceSubject {
            path,
            references: Some(&imports),
            own_name: (!path.as_bytes().ends_with(b"user.py")).then_some(1000),
            is_curated: false,
        });
        let namesakes: Vec<(u32, usize)> = (0..3).map(|at| (1000, at)).collect();
        assert_eq!(nearest(&subjects, 3, &namesakes), [2]);
        assert_eq!(nearest(&subjects, 0, &namesakes), [1, 2], "none shares a folder");
        assert_eq!(nearest(&subjects, 2, &namesakes), [1], "never itself");
        let many: Vec<(u32, usize)> = std::iter::repeat_n((1000, 1), MAX_DEFINERS + 1).collect();
        assert_eq!(nearest(&subjects, 0, &many), [0; 0]);
    }

    #[test]
    fn tests_count_a_quarter() {
        let files = ["a.c", "tests/c.c", "test_d.py"].map(|path| TestFile(path, vec![], vec![], vec![]));
        let scores: Vec<_> = rated(&files).iter().map(|of| of.score).collect();
        assert_eq!(scores, [UNIT, UNIT / 4, UNIT / 4]);
    }

    #[test]
    fn curation_precedes_any_score() {
        let none = Importance::default();
        let scored = Importance { score: u64::MAX, ..none };
        let curated = Importance { is_curated: true, ..none };
        assert!(none < scored && scored < curated);
    }

    #[test]
    fn the_logarithm_is_exact_for_powers_of_two_and_never_falls() {
        assert_eq!([1, 2, 4, 1 << 40].map(log2), [0, UNIT, 2 * UNIT, 40 * UNIT]);
        assert!((1..5_000).all(|number| log2(number) <= log2(number + 1)));
        assert_eq!(log2(u64::MAX) >> 10, 63);
    }
}
