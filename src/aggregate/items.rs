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
pub struct Items {
    said: Vec<FileItem>,
    by_path: HashMap<Vec<u8>, usize>,
    wider: Vec<(Selector, usize)>,
    /// What wins over all of these.
    above: Option<Box<Items>>,
}

impl Items {
    /// Reads the items' paths, which are relative to the project's root. One that looks like a pattern and is none is a
    /// path like any other.
    pub fn new(items: Vec<FileItem>) -> Self {
        let (mut by_path, mut wider) = (HashMap::new(), Vec::new());
        for (at, item) in items.iter().enumerate() {
            let plain = item.path.strip_prefix("./").unwrap_or(&item.path);
            by_path.insert(plain.as_bytes().to_vec(), at);
            wider.push((Selector::lenient(&item.path), at));
        }
        Self { said: items, by_path, wider, above: None }
    }

    /// Returns these items with others laid over them: what the others say of a file wins. One that says nothing but
    /// that the file is wanted hides nothing.
    #[must_use]
    pub fn under(self, above: Self) -> Self {
        Self { above: Some(Box::new(above)), ..self }
    }

    /// Returns what is said of a file.
    pub fn of(&self, path: &RelPath) -> Option<&FileItem> {
        let above = self.above.as_ref().and_then(|above| above.of(path));
        above.filter(|item| !item.is_plain()).or_else(|| self.own(path)).or(above)
    }

    fn own(&self, path: &RelPath) -> Option<&FileItem> {
        if let Some(at) = self.by_path.get(path.as_bytes()) {
            return Some(&self.said[*at]);
        }
        let last = self.wider.iter().rev().find(|(selector, _)| selector.selects(path));
        last.map(|(_, at)| &self.said[*at])
    }

    /// Returns every item but those that were laid over them, in the order in which they were given.
    pub fn all(&self) -> &[FileItem] {
        &self.said
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
        let items = Items::new(items);
        let of = |path: &str| {
            items.of(&RelPath::new(path.as_bytes()).unwrap()).map(|item| (item.path.as_str(), item.selected))
        };
        assert_eq!(of("src/a.py"), Some(("./src/a.py", true)));
        assert_eq!(of("src/b.py"), Some(("src", false)));
        assert_eq!(of("docs/x.md"), Some(("docs/*.md", true)));
        assert_eq!(of("docs/deep/x.md"), Some(("docs", false)));
        assert_eq!(of("README.md"), None);
        let above = vec![FileItem { force_full: true, ..item("docs/x.md", false) }, item("docs/y.md", false)];
        let both = items.under(Items::new(above));
        let said = |path: &str| both.of(&RelPath::new(path.as_bytes()).unwrap()).unwrap().selected;
        assert!(!said("docs/x.md"));
        assert!(said("docs/y.md"), "what says nothing hides nothing");
    }

    #[test]
    fn what_looks_like_a_pattern_and_is_none_is_a_path() {
        let items = Items::new(vec![FileItem::plain("src/[x/b.py")]);
        assert!(items.of(&RelPath::new(b"src/[x/b.py").unwrap()).is_some());
        assert!(items.of(&RelPath::new(b"src/x/b.py").unwrap()).is_none());
    }
}
