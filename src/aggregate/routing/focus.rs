//! The files in focus: those that the reader of a document works on.
//!
//! Each argument of `--focus` is resolved once the files of the project are known. A pattern or the path of a folder
//! selects all of its files; any other argument selects the one file that it matches best.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::selector::{Error, Selector};
use crate::model::{RelPath, normalized_path, typo_distance, unescaped_path};

/// The arguments of `--focus`, and the files that they select.
#[derive(Debug, Clone, Default)]
pub struct Focus {
    words: Vec<FocusWord>,
    /// The selected files, each with the position of its argument; `None` until resolved.
    files: Option<BTreeMap<RelPath, FocusedFile>>,
}

#[derive(Debug, Clone)]
struct FocusWord {
    text: String,
    /// `None` for the whole file.
    lines: Option<RangeInclusive<u32>>,
    selector: Selector,
}

#[derive(Debug, Clone)]
struct FocusedFile {
    word: usize,
    lines: Vec<u32>,
}

/// The requested lines of a file in focus, counted from 1; empty for the whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FocusLines(pub Vec<u32>);

/// A file that may be in focus.
#[derive(Debug, Clone, Copy)]
pub struct FocusCandidate<'a> {
    pub path: &'a RelPath,
    /// How unlikely it is to be meant if other files match as well; higher for a test, for example.
    pub penalty: u8,
}

/// An argument that matches several files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbiguousFocus {
    pub word: String,
    /// The file or folder that was chosen.
    pub chosen: String,
    /// The other files that match, which are not in focus.
    pub others: Vec<RelPath>,
}

/// Arguments of a focus that are ambiguous or match nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FocusProblems {
    /// Arguments that match no file.
    pub unmatched: Vec<String>,
    pub ambiguous: Vec<AmbiguousFocus>,
}

/// How an argument matches a path, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FocusFit {
    Path,
    Folder,
    Name,
    /// The name without its extension.
    Stem,
    /// A folder somewhere in the path.
    FolderName,
    /// The beginning of a path component and what follows, ignoring case.
    Beginning,
}

impl Focus {
    /// Parses arguments such as `src/a.py`, `engine`, `src/a.py:120`. Until it is resolved, every file that an argument
    /// matches is in focus.
    pub fn new(words: &[String]) -> Result<Self, Error> {
        let words = words.iter().map(|word| {
            let (path, lines) = split_lines(word);
            Ok(FocusWord { text: word.clone(), lines, selector: Selector::new(path)? })
        });
        Ok(Self { words: words.collect::<Result<_, Error>>()?, files: None })
    }

    /// Returns whether no focus was requested.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Decides which files the arguments select.
    pub fn resolve(&mut self, files: &[FocusCandidate<'_>]) -> FocusProblems {
        let mut chosen: BTreeMap<RelPath, FocusedFile> = BTreeMap::new();
        let mut problems = FocusProblems::default();
        for (at, word) in self.words.iter().enumerate() {
            let Some((best, others)) = word.choose(files) else {
                problems.unmatched.push(word.text.clone());
                continue;
            };
            for path in best.files {
                let file =
                    chosen.entry(path.clone()).or_insert_with(|| FocusedFile { word: at, lines: Vec::new() });
                file.lines.extend(word.lines.clone().into_iter().flatten());
            }
            if !others.is_empty() {
                let others = others.into_iter().cloned().collect();
                problems.ambiguous.push(AmbiguousFocus {
                    word: word.text.clone(),
                    chosen: best.target,
                    others,
                });
            }
        }
        for file in chosen.values_mut() {
            file.lines.sort_unstable();
            file.lines.dedup();
        }
        self.files = Some(chosen);
        problems
    }

    /// Returns the lines of a file that are in focus; `None` if it is not in focus.
    pub fn lines(&self, path: &RelPath) -> Option<FocusLines> {
        if let Some(files) = &self.files {
            return files.get(path).map(|file| FocusLines(file.lines.clone()));
        }
        let fits = self.words.iter().filter(|word| word.fits(path));
        let lines: Vec<Option<RangeInclusive<u32>>> = fits.map(|word| word.lines.clone()).collect();
        (!lines.is_empty()).then(|| FocusLines(lines.into_iter().flatten().flatten().collect()))
    }

    /// Returns the position of a file in the focus: that of the first argument that selects it.
    pub fn place(&self, path: &RelPath) -> Option<usize> {
        self.files.as_ref()?.get(path).map(|file| file.word)
    }
}

/// The files that an argument selects.
struct FocusTarget<'a> {
    /// Their path or that of their folder, for messages.
    target: String,
    files: Vec<&'a RelPath>,
}

impl FocusWord {
    fn fits(&self, path: &RelPath) -> bool {
        match &self.selector {
            Selector::Pattern { .. } => self.selector.touches(path),
            Selector::Parts(word) => fit(word, path).is_some(),
        }
    }

    /// Returns the files that the argument selects, and the others that it matches.
    fn choose<'a>(&self, files: &[FocusCandidate<'a>]) -> Option<(FocusTarget<'a>, Vec<&'a RelPath>)> {
        let Selector::Parts(word) = &self.selector else {
            let all = files.iter().map(|file| file.path);
            let files: Vec<&RelPath> = all.filter(|path| self.selector.touches(path)).collect();
            return (!files.is_empty()).then(|| (FocusTarget { target: String::new(), files }, Vec::new()));
        };
        let fits: Vec<(FocusFit, &[u8], &FocusCandidate<'a>)> = files
            .iter()
            .filter_map(|file| fit(word, file.path).map(|(fit, target)| (fit, target, file)))
            .collect();
        let best_fit = fits.iter().map(|(fit, ..)| *fit).min()?;
        let equals = fits.iter().filter(|(fit, ..)| *fit == best_fit);
        // The shortest path is nearest to the root; ties are broken by bytes.
        let key = |(_, target, file): &&(FocusFit, &[u8], &FocusCandidate<'a>)| {
            let depth = part_starts(target).count();
            (file.penalty, depth, target.len(), target.to_vec())
        };
        let (_, target, _) = equals.clone().min_by_key(key)?;
        let (chosen, others): (Vec<_>, Vec<_>) = equals.partition(|(_, other, _)| other == target);
        let paths = |fits: Vec<&(FocusFit, &[u8], &FocusCandidate<'a>)>| {
            fits.into_iter().map(|(.., file)| file.path).collect::<Vec<_>>()
        };
        let target = String::from_utf8_lossy(target).into_owned();
        Some((FocusTarget { target, files: paths(chosen) }, paths(others)))
    }
}

/// Returns how an argument matches a path, and the matching part of the path; `None` if it does not match.
fn fit<'p>(word: &[u8], path: &'p RelPath) -> Option<(FocusFit, &'p [u8])> {
    let bytes = path.as_bytes();
    if word.is_empty() {
        return None;
    }
    // A name that is not UTF-8 may be given in its escaped form.
    let spelled = unescaped_path(word);
    let mut words = std::iter::once(word).chain(spelled.as_deref());
    words.find_map(|word| fit_plain(word, bytes)).or_else(|| {
        let begins = part_starts(bytes).any(|start| {
            bytes[start..].get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
        });
        begins.then_some((FocusFit::Beginning, bytes))
    })
}

/// Returns where the components of a path begin.
fn part_starts(path: &[u8]) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1))
}

fn fit_plain<'p>(word: &[u8], path: &'p [u8]) -> Option<(FocusFit, &'p [u8])> {
    if path == word {
        return Some((FocusFit::Path, path));
    }
    let mut best = None;
    for start in part_starts(path) {
        let Some(rest) = path[start..].strip_prefix(word) else { continue };
        let end = start + word.len();
        let fit = match (start, rest.first()) {
            (_, None) => FocusFit::Name,
            (0, Some(b'/')) => FocusFit::Folder,
            (_, Some(b'/')) => FocusFit::FolderName,
            // The rest is an extension if it contains no slash.
            (_, Some(b'.')) if !rest.contains(&b'/') => FocusFit::Stem,
            (_, Some(_)) => continue,
        };
        let is_folder = matches!(fit, FocusFit::Folder | FocusFit::FolderName);
        let target = if is_folder { &path[..end] } else { path };
        if best.is_none_or(|(known, _)| fit < known) {
            best = Some((fit, target));
        }
    }
    best
}

/// Splits an argument such as `a.py:3` or `a.py:3-9` into its path and its lines.
fn split_lines(word: &str) -> (&str, Option<RangeInclusive<u32>>) {
    match word.rsplit_once(':') {
        Some((path, lines)) if !path.is_empty() => match parse_lines(lines) {
            // For a range this long, the whole file is shown.
            Some(lines) if MAX_FOCUSED_LINES < lines.end() - lines.start() => (path, None),
            Some(lines) => (path, Some(lines)),
            // A name may hold a colon.
            None => (word, None),
        },
        Some(_) | None => (word, None),
    }
}

fn parse_lines(text: &str) -> Option<RangeInclusive<u32>> {
    let (start, end) = text.split_once('-').unwrap_or((text, text));
    let lines = start.parse().ok()?..=end.parse().ok()?;
    (!lines.is_empty()).then_some(lines)
}

/// The maximum number of lines that an argument selects individually.
const MAX_FOCUSED_LINES: u32 = 2000;

/// Returns the paths of files and folders most similar to an argument, nearest first; empty if none is near.
pub fn nearest_paths<'p>(word: &str, paths: impl Iterator<Item = &'p RelPath>, most: usize) -> Vec<String> {
    let word = normalized_path(split_lines(word).0);
    let (wanted_folder, wanted) = word.rsplit_once('/').unwrap_or(("", &word));
    let mut near: BTreeSet<(usize, usize, String)> = BTreeSet::new();
    let mut add = |path: &[u8]| {
        let path = String::from_utf8_lossy(path);
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        // The extension may be omitted.
        let edits = [typo_distance(wanted, name), typo_distance(wanted, stem).map(|edits| edits + 1)];
        if let Some(edits) = edits.into_iter().flatten().min() {
            let elsewhere = usize::from(folder != wanted_folder);
            near.insert((edits, elsewhere, path.clone().into_owned()));
            if most < near.len() {
                near.pop_last();
            }
        }
    };
    let mut last_folder: Vec<u8> = Vec::new();
    for path in paths {
        if path.parent() != last_folder.as_slice() {
            last_folder = path.parent().to_vec();
            add(&last_folder);
        }
        add(path.as_bytes());
    }
    near.into_iter().map(|(_, _, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: [&str; 7] = [
        "README.md",
        "src/flask/app.py",
        "src/flask/cli.py",
        "src/flask/sansio/app.py",
        "tests/app/test_app.py",
        "tests/app.py",
        "tools/flask/run.sh",
    ];

    fn resolved(word: &str) -> Result<(Vec<String>, Vec<String>), String> {
        let paths = PATHS.map(|path| RelPath::new(path.as_bytes()).unwrap());
        let files: Vec<FocusCandidate<'_>> = paths
            .iter()
            .map(|path| FocusCandidate { path, penalty: u8::from(path.as_bytes().starts_with(b"tests")) })
            .collect();
        let mut focus = Focus::new(&[word.to_owned()]).unwrap();
        let problems = focus.resolve(&files);
        if let Some(word) = problems.unmatched.into_iter().next() {
            return Err(word);
        }
        let chosen = paths.iter().filter(|path| focus.lines(path).is_some()).map(ToString::to_string);
        let others = problems.ambiguous.into_iter().flat_map(|word| word.others).map(|path| path.to_string());
        Ok((chosen.collect(), others.collect()))
    }

    #[track_caller]
    fn check(word: &str, chosen: &[&str], others: &[&str]) {
        let (found, left) = resolved(word).unwrap();
        assert_eq!(
            (found, left),
            (
                chosen.iter().map(ToString::to_string).collect(),
                others.iter().map(ToString::to_string).collect()
            ),
            "{word}"
        );
    }

    #[test]
    fn the_best_of_several_matches_is_in_focus() {
        check("src/flask/app.py", &["src/flask/app.py"], &[]);
        check("./src//flask/app.py:12", &["src/flask/app.py"], &[]);
        check("app.py", &["src/flask/app.py"], &["src/flask/sansio/app.py", "tests/app.py"]);
        check("flask/app", &["src/flask/app.py"], &[]);
        check("cli", &["src/flask/cli.py"], &[]);
        check("readme", &["README.md"], &[]);
    }

    #[test]
    fn a_folder_or_a_pattern_selects_all_of_its_files() {
        check("tests/app", &["tests/app/test_app.py"], &[]);
        check("sansio", &["src/flask/sansio/app.py"], &[]);
        check(
            "flask",
            &["src/flask/app.py", "src/flask/cli.py", "src/flask/sansio/app.py"],
            &["tools/flask/run.sh"],
        );
        check("src/**/app.py", &["src/flask/app.py", "src/flask/sansio/app.py"], &[]);
    }

    #[test]
    fn an_argument_that_matches_nothing_is_reported() {
        assert_eq!(resolved("flask/ap/py"), Err("flask/ap/py".to_owned()));
        assert_eq!(resolved("*.rs"), Err("*.rs".to_owned()));
    }

    #[test]
    fn lines_are_collected_from_all_arguments_for_a_file() {
        let words = ["app.py:30", "src/flask/app.py:7", "c:d"].map(str::to_owned);
        let path = RelPath::new(b"src/flask/app.py").unwrap();
        let mut focus = Focus::new(&words[..2]).unwrap();
        focus.resolve(&[FocusCandidate { path: &path, penalty: 0 }]);
        assert_eq!(focus.lines(&path), Some(FocusLines(vec![7, 30])));
        assert_eq!(focus.place(&path), Some(0));
        let mut range = Focus::new(&["app.py:4-6".to_owned(), "app.py:9-7".to_owned()]).unwrap();
        let problems = range.resolve(&[FocusCandidate { path: &path, penalty: 0 }]);
        assert_eq!(
            (range.lines(&path), &problems.unmatched[..]),
            (Some(FocusLines(vec![4, 5, 6])), &["app.py:9-7".to_owned()][..])
        );
        assert_eq!(split_lines("app.py:1-4000000000"), ("app.py", None));
        assert!(Focus::new(&words).unwrap().lines(&RelPath::new(b"c:d").unwrap()).is_some());
    }

    #[test]
    fn the_nearest_paths_are_those_with_a_typo() {
        let paths = PATHS.map(|path| RelPath::new(path.as_bytes()).unwrap());
        let near = |word: &str| nearest_paths(word, paths.iter(), 2);
        assert_eq!(near("src/flask/cil.py"), ["src/flask/cli.py"]);
        assert_eq!(near("src/app.py"), ["src/flask/app.py", "src/flask/sansio/app.py"]);
        assert_eq!(near("src/flsk"), ["src/flask", "tools/flask"]);
        assert!(near("zebra").is_empty());
    }
}
