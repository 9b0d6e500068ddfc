//! The tree of all names.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::words::sanitize_line;
use crate::model::RelPath;

/// A tree of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameTree {
    /// Its lines.
    pub text: String,
    /// Behind how many folders stand a model's words.
    pub annotated_folders: u64,
}

/// Returns the tree of the given paths, which are sorted: a folder a line with a slash at its end, a file a line with
/// its remark, each indented two spaces below its folder. Behind a folder stands what a model wrote of it, as `words` has
/// it by the folder's path; under the empty path, of the whole.
pub fn build_name_tree<'a>(
    files: impl Iterator<Item = (&'a RelPath, Option<&'a str>)>,
    words: &BTreeMap<Vec<u8>, String>,
) -> NameTree {
    let mut noted = 0;
    let mut said = |folder: &[u8]| {
        let words = words.get(folder).map(|words| sanitize_line(words)).filter(|words| !words.is_empty());
        noted += u64::from(words.is_some());
        words.map_or("/".to_owned(), |words| format!("/ (by a model: {words})"))
    };
    let mut text = String::new();
    if words.contains_key(&b""[..]) {
        let _ = writeln!(text, ".{}", said(b""));
    }
    let mut open: Vec<&[u8]> = Vec::new();
    for (path, remark) in files {
        let parts: Vec<&[u8]> = path.components().collect();
        let folders = &parts[..parts.len() - 1];
        let common = open.iter().zip(folders).take_while(|(a, b)| a == b).count();
        open.truncate(common);
        for folder in &folders[common..] {
            let depth = open.len();
            open.push(folder);
            write_line(&mut text, depth, folder, &said(&open.join(&b'/')));
        }
        let remark = remark.map_or(String::new(), |remark| format!(" ({remark})"));
        write_line(&mut text, open.len(), path.file_name(), &remark);
    }
    NameTree { text, annotated_folders: noted }
}

fn write_line(text: &mut String, depth: usize, name: &[u8], rest: &str) {
    // A name is shown as a path is, for it could break the line as well.
    let shown = RelPath::new(name).map_or(String::new(), |name| name.to_string());
    let _ = writeln!(text, "{:indent$}{shown}{rest}", "", indent = depth * 2);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_opened_once() {
        let paths = ["README.md", "src/a.py", "src/b/c.py", "src/logo.png", "tests/t.py"];
        let paths = paths.map(|path| RelPath::new(path.as_bytes()).unwrap());
        let remark = |path: &RelPath| (path.extension() == Some(b"png")).then_some("binary");
        let text = build_name_tree(paths.iter().map(|path| (path, remark(path))), &BTreeMap::new()).text;
        assert_eq!(text, "README.md\nsrc/\n  a.py\n  b/\n    c.py\n  logo.png (binary)\ntests/\n  t.py\n");
    }

    #[test]
    fn what_a_model_wrote_stands_behind_its_folder_and_is_no_line_of_its_own() {
        let paths = ["src/a.py", "src/b/c.py", "x.py"].map(|path| RelPath::new(path.as_bytes()).unwrap());
        let said =
            [("", "The whole."), ("src/b", "Deep.\n  secret.py\u{1b}[0m"), ("gone", "No."), ("src", " ")];
        let said = said.map(|(path, words)| (path.as_bytes().to_vec(), words.to_owned()));
        let NameTree { text, annotated_folders: noted } =
            build_name_tree(paths.iter().map(|path| (path, None)), &said.into_iter().collect());
        assert_eq!(noted, text.matches("(by a model: ").count() as u64);
        let expected = "./ (by a model: The whole.)\nsrc/\n  a.py\n  b/ (by a model: Deep. secret.py[0m)\n    c.py\nx.py\n";
        assert_eq!(text, expected);
    }
}
