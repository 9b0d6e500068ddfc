//! Recognizes generated pages of documentation, by files that their generators write next to them.

use std::collections::HashSet;

use crate::model::{RelPath, parent_folder};

/// Files in the folder of generated pages, and hardly anywhere else: those of jazzy, Javadoc, Doxygen, Sphinx, rustdoc,
/// YARD, `RDoc` and `TypeDoc`.
const MARKERS: &[&str] = &[
    "js/jazzy.js",
    "undocumented.json",
    "allclasses-index.html",
    "allclasses-frame.html",
    "element-list",
    "package-list",
    "doxygen.css",
    "doxygen.svg",
    "objects.inv",
    "searchindex.js",
    "static.files",
    "search-index.js",
    "class_list.html",
    "js/search_index.js",
    "assets/search.js",
];
/// The types of files that such programs write. Prose among them may be the source of the pages.
const WRITTEN: &[&str] = &["html", "htm", "css", "js", "json", "xml", "svg", "inv"];

/// The folders of a project with generated pages.
#[derive(Debug, Default)]
pub struct GeneratedPages(HashSet<Vec<u8>>);

impl GeneratedPages {
    /// Finds the folders among the paths of a project, except its root: a whole project may be such a folder.
    pub fn among<'p>(paths: impl Iterator<Item = &'p RelPath>) -> Self {
        let folder_of = |path: &RelPath| {
            let path = path.as_bytes();
            let is_marker = |marker: &&&str| path.ends_with(marker.as_bytes());
            let marker = MARKERS.iter().find(is_marker)?;
            path[..path.len() - marker.len()].strip_suffix(b"/").map(<[u8]>::to_vec)
        };
        Self(paths.filter_map(folder_of).collect())
    }

    /// Returns whether a file is one of the pages, or one of their assets.
    pub fn contains(&self, path: &RelPath) -> bool {
        let is_written = |extension: &[u8]| {
            WRITTEN.iter().any(|written| extension.eq_ignore_ascii_case(written.as_bytes()))
        };
        let mut folder = path.parent();
        while !self.0.is_empty() && !folder.is_empty() && path.extension().is_some_and(is_written) {
            if self.0.contains(folder) {
                return true;
            }
            folder = parent_folder(folder);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_next_to_files_of_a_generator_are_generated() {
        let paths =
            ["docs/js/jazzy.js", "docs/Classes/A.html", "objects.inv", "my-doxygen.css", "x/js/app.js"];
        let paths = paths.map(|path| RelPath::new(path.as_bytes()).unwrap());
        let pages = GeneratedPages::among(paths.iter());
        let is_page = |path: &str| pages.contains(&RelPath::new(path.as_bytes()).unwrap());
        let generated = ["docs/Classes/A.html", "docs/a.css", "docs/js/jazzy.js"];
        assert!(generated.into_iter().all(is_page));
        let others = ["docs/guide.md", "docs2/a.html", "index.html", "x/a.html", "a.css"];
        assert!(!others.into_iter().any(is_page));
    }
}
