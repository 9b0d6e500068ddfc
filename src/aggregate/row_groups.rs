//! Rows of names: one for each file, or one for many files whose paths differ in one component.
//!
//! A project may have the same settings or translations in forty folders. Their rows would repeat the same text forty
//! times, and displace files that the reader knows nothing about.

use rustc_hash::FxHashMap;

use crate::model::RelPath;

/// The minimum number of files in a group.
const MIN_FILES: usize = 4;
/// The maximum number of files of a group that are named.
const MAX_NAMED: usize = 12;

/// A file with its most important symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NamesRow<'f> {
    pub(super) path: &'f RelPath,
    /// The names of symbols, as in the source.
    pub(super) names: &'f [String],
    /// Whether it may share a row. Source files have rows of their own, because they are searched for by path.
    pub(super) is_groupable: bool,
}

/// A line, and the files that it describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowText {
    pub(super) text: String,
    /// Their positions among the given rows, ascending.
    pub(super) files: Vec<usize>,
}

/// What files whose paths differ in one component have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct GroupKey<'r> {
    /// Which component it is, and what precedes and follows it.
    part: usize,
    before: &'r [u8],
    after: &'r [u8],
    /// Empty if they repeat the path.
    names: &'r [String],
}

/// Returns the lines; each is at the position of its first file.
pub(super) fn group_rows(rows: &[NamesRow<'_>]) -> Vec<RowText> {
    let (mut groups, mut groups_of) = (Vec::new(), Vec::new());
    let mut known: FxHashMap<GroupKey<'_>, usize> = FxHashMap::default();
    for (at, row) in rows.iter().enumerate() {
        let own = keys(row).into_iter().map(|(key, _)| {
            let group = *known.entry(key).or_insert_with(|| {
                groups.push((key, Vec::new()));
                groups.len() - 1
            });
            groups[group].1.push(at);
            group
        });
        groups_of.push(own.collect::<Vec<usize>>());
    }
    let mut is_written = vec![false; rows.len()];
    let mut lines = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        if is_written[at] {
            continue;
        }
        let left = |group: usize| groups[group].1.iter().copied().filter(|member| !is_written[*member]);
        let sizes = groups_of[at].iter().map(|group| (left(*group).count(), *group));
        // Of two equally large groups, the one that differs in the later component.
        let best = sizes.max_by_key(|(files, group)| (*files, groups[*group].0.part));
        let line = match best.filter(|(files, _)| MIN_FILES <= *files) {
            Some((_, group)) => {
                let files: Vec<usize> = left(group).collect();
                RowText { text: group_text(rows, &files, &groups[group].0), files }
            }
            None => RowText { text: format!("{}: {}\n", row.path, row.names.join(", ")), files: vec![at] },
        };
        for file in &line.files {
            is_written[*file] = true;
        }
        lines.push(line);
    }
    lines
}

/// Returns the groups that a file may belong to, each with the path component in which its files differ.
fn keys<'f>(row: &NamesRow<'f>) -> Vec<(GroupKey<'f>, &'f [u8])> {
    if !row.is_groupable {
        return Vec::new();
    }
    let path = row.path.as_bytes();
    let names: &[String] = if repeats_path(row) { &[] } else { row.names };
    let mut start = 0;
    let mut found = Vec::new();
    for (part, component) in path.split(|byte| *byte == b'/').enumerate() {
        let end = start + component.len();
        // Files of one folder differ in name, but not in extension.
        let is_last = end == path.len();
        let dot = component.iter().rposition(|byte| *byte == b'.').filter(|dot| is_last && 0 < *dot);
        let varied = start..dot.map_or(end, |dot| start + dot);
        let key = GroupKey { part, before: &path[..start], after: &path[varied.end..], names };
        found.push((key, &path[varied]));
        start = end + 1;
    }
    found
}

/// Returns whether the names of a file repeat its file name, in any spelling.
fn repeats_path(row: &NamesRow<'_>) -> bool {
    let letters = |text: &str| {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    let name = row.path.file_name();
    let stem = &name[..name.iter().rposition(|byte| *byte == b'.').unwrap_or(name.len())];
    let [only] = row.names else { return false };
    letters(only) == letters(&String::from_utf8_lossy(stem))
}

/// Formats `plugins/{a, b, … 7 more}/plugin.toml: names`.
fn group_text(rows: &[NamesRow<'_>], files: &[usize], key: &GroupKey<'_>) -> String {
    let varied = |file: &usize| {
        let found = keys(&rows[*file]).into_iter().find(|(of, _)| of == key);
        found.map(|(_, part)| shown(part)).unwrap_or_default()
    };
    let mut parts: Vec<String> = files.iter().take(MAX_NAMED).map(varied).collect();
    if MAX_NAMED < files.len() {
        parts.push(format!("… {} more", files.len() - MAX_NAMED));
    }
    let (before, after) = (shown(key.before), shown(key.after));
    let names = if key.names.is_empty() { String::new() } else { format!(": {}", key.names.join(", ")) };
    format!("{before}{{{}}}{after}{names}\n", parts.join(", "))
}

/// Returns a piece of a path as it is displayed in a path, with its slashes.
fn shown(piece: &[u8]) -> String {
    let pieces = piece.split(|byte| *byte == b'/');
    let pieces: Vec<String> =
        pieces.map(|part| RelPath::new(part).map_or(String::new(), |path| path.to_string())).collect();
    pieces.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path, names, and whether it may share a row.
    type Row = (RelPath, Vec<String>, bool);

    fn row(path: &str, names: &str, is_groupable: bool) -> Row {
        let names = names.split(' ').map(str::to_owned).collect();
        (RelPath::new(path.as_bytes()).unwrap(), names, is_groupable)
    }

    fn lines(rows: &[Row]) -> Vec<RowText> {
        fn as_row((path, names, is_groupable): &Row) -> NamesRow<'_> {
            NamesRow { path, names, is_groupable: *is_groupable }
        }
        group_rows(&rows.iter().map(as_row).collect::<Vec<_>>())
    }

    fn text(rows: &[Row]) -> String {
        lines(rows).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn files_that_differ_in_one_folder_share_a_row() {
        let mut rows: Vec<Row> =
            "abcde".chars().map(|c| row(&format!("p/{c}/x.toml"), "name version", true)).collect();
        rows.insert(1, row("p/z/x.toml", "name", true));
        rows.push(row("q/main.go", "main", false));
        assert_eq!(
            text(&rows),
            "p/{a, b, c, d, e}/x.toml: name, version\np/z/x.toml: name\nq/main.go: main\n"
        );
        assert_eq!(lines(&rows)[0].files, [0, 2, 3, 4, 5]);
        assert_eq!(
            text(&rows[4..]),
            "p/d/x.toml: name, version\np/e/x.toml: name, version\nq/main.go: main\n"
        );
    }

    #[test]
    fn files_of_one_folder_share_a_row_whose_names_are_their_titles() {
        let page = |name: &str| row(&format!("pages/{name}.md"), name, true);
        let mut rows: Vec<Row> = (10..30).map(|at| page(&format!("a{at}"))).collect();
        let named = "a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, … 8 more";
        assert_eq!(text(&rows), format!("pages/{{{named}}}.md\n"));
        rows.truncate(3);
        rows.push(row("pages/b.md", "title", true));
        assert_eq!(text(&rows).lines().count(), 4);
    }

    #[test]
    fn sources_have_rows_of_their_own() {
        let rows: Vec<Row> = "abcde".chars().map(|c| row(&format!("{c}/x.go"), "main", false)).collect();
        assert_eq!(text(&rows).lines().count(), 5);
    }
}
