//! The input of a ranking: weighted terms, and the paths, names and lines that a task mentions.

use std::collections::HashMap;

use super::task::{MentionedPathKind, TaskReading};
use super::terms::{QueryTerms, Term, VerbatimText, rarity, real, terms};

/// If there are more terms, those with the lowest weights are dropped. A long log has thousands of words, few of them
/// significant.
const MAX_TERMS: usize = 4_096;
/// If there are more paths or frames, the later ones are dropped: a log may have thousands, few of them significant.
const MAX_MENTIONS: usize = 256;

/// A term of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedTerm {
    /// The term.
    pub term: Term,
    /// Its weight by how often and where it occurs; its rarity in the project is multiplied later.
    pub weight: f64,
    /// Whether it occurs in the title.
    pub in_title: bool,
}

/// An identifier that a task mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameMention {
    /// The identifier.
    pub name: String,
    /// Whether it is marked as code: by backticks, or by a parenthesis after it.
    pub is_marked: bool,
    /// Whether it occurs in the title.
    pub in_title: bool,
}

/// A path that a task mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathMention {
    /// The path as written, with `/` between its parts.
    pub path: String,
    /// Whether it can only mean this file, as in a link to the file's lines.
    pub is_exact: bool,
}

/// Lines that a task mentions: a frame of a stack trace, a diagnostic, or a link to lines.
#[derive(Clone, Debug, PartialEq)]
pub struct LineMention {
    /// The path as written, with `/` between its parts.
    pub path: String,
    /// First line, from 1; 0 if only the function is known.
    pub first_line: u32,
    /// Last line, inclusive.
    pub last_line: u32,
    /// The function that the frame is in, if the trace names it.
    pub function: Option<String>,
    /// From 0 to 1: how likely the task is about these lines.
    pub strength: f64,
}

/// A task, prepared for ranking.
#[derive(Clone, Debug)]
pub struct RankingQuery {
    terms: QueryTerms,
    /// Terms in the order of `terms`.
    weighted: Vec<WeightedTerm>,
    names: HashMap<String, NameMention>,
    paths: Vec<PathMention>,
    lines: Vec<LineMention>,
    verbatim: VerbatimText,
}

impl RankingQuery {
    /// Prepares the mentions of a task.
    pub fn new(
        mut weighted: Vec<WeightedTerm>,
        names: Vec<NameMention>,
        mut paths: Vec<PathMention>,
        mut lines: Vec<LineMention>,
    ) -> Self {
        weighted.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.term.cmp(&b.term)));
        weighted.truncate(MAX_TERMS);
        let (terms, order) = QueryTerms::new(&weighted.iter().map(|of| of.term).collect::<Vec<_>>());
        let weighted = order.into_iter().map(|at| weighted[at]).collect();
        paths.truncate(MAX_MENTIONS);
        lines.truncate(MAX_MENTIONS);
        let names = names.into_iter().map(|mention| (mention.name.clone(), mention)).collect();
        Self { terms, weighted, names, paths, lines, verbatim: VerbatimText::default() }
    }

    /// Prepares the text of a task and its reading.
    pub fn of_task(text: &str, task: &TaskReading) -> Self {
        let weighted = task.terms.iter().map(|of| {
            let (term, weight, in_title) = (of.term, of.weight, of.is_in_title);
            WeightedTerm { term, weight, in_title }
        });
        let names = task.names.iter().map(|name| NameMention {
            name: name.name.clone(),
            is_marked: name.is_ticked || name.is_called,
            in_title: name.is_in_title,
        });
        let is_path = |kind| matches!(kind, MentionedPathKind::Path | MentionedPathKind::Link);
        let paths = task.paths.iter().filter(|mention| is_path(mention.kind)).map(|mention| PathMention {
            path: mention.path.clone(),
            is_exact: mention.kind == MentionedPathKind::Link,
        });
        let query = Self::new(weighted.collect(), names.collect(), paths.collect(), mentioned_lines(task));
        Self { verbatim: VerbatimText::new(text), ..query }
    }

    /// Returns an empty query, for a ranking by history and focus alone.
    pub fn empty() -> Self {
        Self::new(Vec::new(), Vec::new(), Vec::new(), Vec::new())
    }

    /// Returns the terms, prepared for matching with vectors.
    pub fn terms(&self) -> &QueryTerms {
        &self.terms
    }

    /// Returns the term at a position of [`Self::terms`].
    pub fn weighted(&self, position: usize) -> WeightedTerm {
        self.weighted[position]
    }

    /// Returns how the task mentions a name.
    pub fn name(&self, name: &str) -> Option<&NameMention> {
        self.names.get(name)
    }

    /// Returns the paths that the task mentions.
    pub(super) fn paths(&self) -> &[PathMention] {
        &self.paths
    }

    /// Returns the lines that the task mentions.
    pub fn lines(&self) -> &[LineMention] {
        &self.lines
    }

    /// Returns the text of the task, for finding verbatim pieces of sources in it.
    pub(super) fn verbatim(&self) -> &VerbatimText {
        &self.verbatim
    }

    /// Returns the position of the term that documents containing a name are counted by.
    pub(super) fn position_of_name(&self, name: &str) -> Option<usize> {
        terms(name.as_bytes()).next().and_then(|term| self.terms.position(term))
    }

    /// Returns for each of many short texts, such as paths or names, the sum of the rarities of the query's distinct
    /// terms in it; terms of the title count twice. Rarity is measured among these texts.
    pub(super) fn rarity_sums<'t>(
        &self,
        texts: impl Iterator<Item = &'t [u8]>,
        stems_only: bool,
    ) -> Vec<f64> {
        let mut texts_with = vec![0; self.terms.len()];
        let (mut found, mut positions, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for text in texts {
            self.find_distinct(text, stems_only, &mut found);
            for position in &found {
                texts_with[*position] += 1;
            }
            positions.extend_from_slice(&found);
            ends.push(positions.len());
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let rarity_of = |position: usize| rarity(ends.len(), texts_with[position]);
        starts.zip(&ends).map(|(start, end)| self.sum_rarities(&positions[start..*end], rarity_of)).collect()
    }

    /// Sums up the distinct terms of the query in a short text; terms of the title count twice. `rarity` is called with
    /// the position of each.
    fn sum_rarities(&self, distinct: &[usize], rarity: impl Fn(usize) -> f64) -> f64 {
        let title = |position: usize| if self.weighted[position].in_title { 2.0 } else { 1.0 };
        distinct.iter().map(|position| rarity(*position) * title(*position)).sum()
    }

    /// Writes the positions of the query's distinct terms in a short text to `found`, ascending.
    fn find_distinct(&self, text: &[u8], stems_only: bool, found: &mut Vec<usize>) {
        found.clear();
        // Most documents have no task, and the paths need not be split then.
        if self.terms.is_empty() {
            return;
        }
        let is_wanted = |term: &Term| !(stems_only && term.is_identifier());
        found.extend(terms(text).filter(is_wanted).filter_map(|term| self.terms.position(term)));
        found.sort_unstable();
        found.dedup();
    }
}

/// Returns the lines that a task mentions: those of links and paths, then the frames of its traces. The innermost frame
/// of a trace counts twice as much as the outermost.
fn mentioned_lines(task: &TaskReading) -> Vec<LineMention> {
    let written = task.paths.iter().filter_map(|mention| {
        let (first_line, last_line) = mention.lines?;
        Some(LineMention { path: mention.path.clone(), first_line, last_line, function: None, strength: 1.0 })
    });
    let mut deepest: HashMap<usize, usize> = HashMap::new();
    for frame in &task.frames {
        let deepest = deepest.entry(frame.trace).or_default();
        *deepest = frame.rank.max(*deepest);
    }
    let frames = task.frames.iter().map(|frame| {
        let frames = deepest.get(&frame.trace).map_or(1, |deepest| deepest + 1);
        LineMention {
            path: frame.path.clone(),
            first_line: frame.line,
            last_line: frame.line,
            function: frame.function_name().map(str::to_owned),
            strength: 1.0 - 0.5 * real(frame.rank) / real(frames),
        }
    });
    // A log may repeat a trace hundreds of times.
    let mut known: HashMap<(String, u32, Option<String>), usize> = HashMap::new();
    let mut distinct: Vec<LineMention> = Vec::new();
    for mention in written.chain(frames) {
        let key = (mention.path.clone(), mention.first_line, mention.function.clone());
        let at = *known.entry(key).or_insert(distinct.len());
        match distinct.get_mut(at) {
            Some(before) => before.strength = before.strength.max(mention.strength),
            None => distinct.push(mention),
        }
    }
    distinct
}

/// Returns a path without the `/`, `./` and `../` that it begins with.
pub(super) fn without_dots(path: &[u8]) -> &[u8] {
    let is_folder = |name: &[u8]| !matches!(name, b"" | b"." | b"..");
    let mut start = 0;
    for name in path.split(|byte| *byte == b'/') {
        if is_folder(name) {
            return &path[start..];
        }
        start += name.len() + 1;
    }
    &[]
}

/// Returns whether a path of the project may be the written one: either may be a tail of the other, because the written
/// path is abbreviated, or the project is elsewhere on the writer's machine.
pub(super) fn is_same_file(path: &[u8], written: &[u8]) -> bool {
    !written.is_empty() && (is_tail(path, written) || is_tail(written, path))
}

/// Returns whether a frame's path means a path of the project. Packages are often installed in other folders than their
/// sources, so two equal components at the end suffice.
pub(super) fn is_file_of_frame(path: &[u8], written: &[u8]) -> bool {
    let slashes = written.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/');
    let last_two = slashes.map(|(at, _)| at + 1).nth(1).map_or(written, |start| &written[start..]);
    is_same_file(path, without_dots(written)) || last_two.contains(&b'/') && is_tail(path, last_two)
}

/// Returns whether `path` is `tail`, or ends with it after a slash.
pub(super) fn is_tail(path: &[u8], tail: &[u8]) -> bool {
    path.strip_suffix(tail).is_some_and(|before| before.last().is_none_or(|byte| *byte == b'/'))
}

#[cfg(test)]
mod tests {
    use super::super::task::read_task;
    use super::super::traces::ProjectNames;
    use super::*;

    #[test]
    fn a_task_is_asked_for_by_its_terms_names_paths_and_frames() {
        let text = "Proxy fails in `send_all`\n\nSee src/a.c and https://github.com/o/r/blob/main/lib/b.py#L3-L9\n\n\
                    Traceback (most recent call last):\n  File \"app/run.py\", line 7, in main\n    go()\n  \
                    File \"app/deep.py\", line 9, in go\n    raise E\nE: no\n";
        let query = RankingQuery::of_task(text, &read_task(text, &ProjectNames::default()).unwrap());
        assert!(query.paths().iter().any(|mention| mention.path == "src/a.c" && !mention.is_exact));
        assert!(query.paths().iter().any(|mention| mention.path == "lib/b.py" && mention.is_exact));
        assert!(query.name("send_all").is_some_and(|name| name.is_marked && name.in_title));
        let position = query.terms().position(terms(b"proxy").next().unwrap()).unwrap();
        assert!(query.weighted(position).in_title);
        let strength = |path: &str| query.lines().iter().find(|line| line.path == path).unwrap().strength;
        assert!(strength("app/run.py") < strength("app/deep.py"));
        assert_eq!(query.lines().iter().find(|line| line.path == "lib/b.py").unwrap().last_line, 9);
    }

    #[test]
    fn a_query_with_too_many_terms_keeps_those_with_the_highest_weights() {
        let weighted = |bits: u32| WeightedTerm {
            term: Term::from_bits(bits),
            weight: f64::from(bits),
            in_title: false,
        };
        let query =
            RankingQuery::new((0..10_000).map(weighted).collect(), Vec::new(), Vec::new(), Vec::new());
        assert_eq!(query.terms().len(), MAX_TERMS);
        assert_eq!(query.terms().position(Term::from_bits(1)), None);
        let last = query.terms().position(Term::from_bits(9_999)).unwrap();
        assert_eq!(query.weighted(last).term, Term::from_bits(9_999));
    }
}
