//! The tree of all names.

use std::fmt::Write as _;

use crate::model::RelPath;

/// Returns the tree of the given paths, which are sorted: a folder a line with a slash at its end, a file a line with
/// its remark, each indented two spaces below its folder.
pub fn tree<'a>(files: impl Iterator<Item = (&'a RelPath, Option<&'a str>)>) -> String {
    let mut text = String::new();
    let mut open: Vec<&[u8]> = Vec::new();
    for (path, remark) in files {
        let parts: Vec<&[u8]> = path.parts().collect();
        let folders = &parts[..parts.len() - 1];
        let common = open.iter().zip(folders).take_while(|(a, b)| a == b).count();
        open.truncate(common);
        for folder in &folders[common..] {
            line(&mut text, open.len(), folder, "/");
            open.push(folder);
        }
        let remark = remark.map_or(String::new(), |remark| format!(" ({remark})"));
        line(&mut text, open.len(), path.file_name(), &remark);
    }
    text
}

fn line(text: &mut String, depth: usize, name: &[u8], rest: &str) {
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
        let text = tree(paths.iter().map(|path| (path, remark(path))));
        assert_eq!(text, "README.md\nsrc/\n  a.py\n  b/\n    c.py\n  logo.png (binary)\ntests/\n  t.py\n");
    }
}
