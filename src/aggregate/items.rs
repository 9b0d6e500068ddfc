//! What people say of single files, looked up by path.

use std::collections::HashMap;

use super::selector::Selector;
use crate::model::FileItem;
use crate::model::RelPath;

/// The items of a project, of a preset, or of both.
///
/// An item that spells a file's path wins over one whose pattern or folder the file falls under; among equals the last
/// one wins. So a rule for many files can stand first, and its exceptions below.
#[derive(Debug, Clone, Default)]
pub struct CuratedItems {
    items: Vec<FileItem>,
    by_path: HashMap<Vec<u8>, usize>,
    patterns: Vec<(Selector, usize)>,
    /// What wins over all of these.
    overlay: Option<Box<CuratedItems>>,
}

impl CuratedItems {
    /// Reads the items' paths, which are relative to the project's root. One that looks like a pattern and is none is a
    /// path like any other.
    pub fn new(items: Vec<FileItem>) -> Self {
        let (mut by_path, mut patterns) = (HashMap::new(), Vec::new());
        for (at, item) in items.iter().enumerate() {
            let plain = item.path.strip_prefix("./").unwrap_or(&item.path);
            by_path.insert(plain.as_bytes().to_vec(), at);
            patterns.push((Selector::new_lenient(&item.path), at));
        }
        Self { items, by_path, patterns, overlay: None }
    }

    /// Returns these items with others laid over them: what the others say of a file wins. One that says nothing but
    /// that the file is wanted hides nothing.
    #[must_use]
    pub fn overlaid_by(self, above: Self) -> Self {
        Self { overlay: Some(Box::new(above)), ..self }
    }

    /// Returns what is said of a file.
    pub fn find(&self, path: &RelPath) -> Option<&FileItem> {
        let above = self.overlay.as_ref().and_then(|above| above.find(path));
        above.filter(|item| !item.is_plain()).or_else(|| self.find_own(path)).or(above)
    }

    fn find_own(&self, path: &RelPath) -> Option<&FileItem> {
        if let Some(at) = self.by_path.get(path.as_bytes()) {
            return Some(&self.items[*at]);
        }
        let last = self.patterns.iter().rev().find(|(selector, _)| selector.selects(path));
        last.map(|(_, at)| &self.items[*at])
    }

    /// Returns every item but those that were laid over them, in the order in which they were given.
    pub fn all(&self) -> &[FileItem] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_wins_over_a_pattern_and_the_last_over_the_first() {
        let item = |path: &str, selected| FileItem { selected, ..FileItem::plain(path) };
        let items = vec![
            item("./src/a.py", true),
            item("src/*.py", false),
            item("docs", false),
            item("docs/*.md", true),
            item("src", false),
        ];
        let items = CuratedItems::new(items);
        let of = |path: &str| {
            items
                .find(&RelPath::new(path.as_bytes()).unwrap())
                .map(|item| (item.path.as_str(), item.selected))
        };
        assert_eq!(of("src/a.py"), Some(("./src/a.py", true)));
        assert_eq!(of("src/b.py"), Some(("src", false)));
        assert_eq!(of("docs/x.md"), Some(("docs/*.md", true)));
        assert_eq!(of("docs/deep/x.md"), Some(("docs", false)));
        assert_eq!(of("README.md"), None);
        let above = vec![FileItem { force_full: true, ..item("docs/x.md", false) }, item("docs/y.md", false)];
        let both = items.overlaid_by(CuratedItems::new(above));
        let said = |path: &str| both.find(&RelPath::new(path.as_bytes()).unwrap()).unwrap().selected;
        assert!(!said("docs/x.md"));
        assert!(said("docs/y.md"), "what says nothing hides nothing");
    }

    #[test]
    fn what_looks_like_a_pattern_and_is_none_is_a_path() {
        let items = CuratedItems::new(vec![FileItem::plain("src/[x/b.py")]);
        assert!(items.find(&RelPath::new(b"src/[x/b.py").unwrap()).is_some());
        assert!(items.find(&RelPath::new(b"src/x/b.py").unwrap()).is_none());
    }
}
