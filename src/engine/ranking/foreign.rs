//! Files that the project declares vendored or generated.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::engine::workspace::Workspace;
use crate::model::RelPath;

/// The attributes of GitHub Linguist that exclude such files from a project's statistics.
const ATTRIBUTES: [&str; 2] = ["linguist-vendored", "linguist-generated"];

/// The attributes in the `.gitattributes` of the project's root.
pub(super) struct ForeignFiles(Option<Gitignore>);

impl ForeignFiles {
    /// Reads the attributes. Without any, no file is foreign.
    pub(super) fn of_project(workspace: &Workspace<'_>) -> Self {
        let path = RelPath::new(b".gitattributes").ok();
        let text = path.and_then(|path| workspace.read_text(&path).ok());
        text.map_or(Self(None), |(_, text)| Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let mut builder = GitignoreBuilder::new("");
        let mut is_any = false;
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let Some(pattern) = words.next().filter(|pattern| !pattern.starts_with(['#', '!', '['])) else {
                continue;
            };
            // Later lines override earlier ones, as in `.gitignore`.
            for is_foreign in words.filter_map(foreign_value) {
                let not = if is_foreign { "" } else { "!" };
                is_any |= builder.add_line(None, &format!("{not}{pattern}")).is_ok();
            }
        }
        Self(is_any.then(|| builder.build().ok()).flatten())
    }

    /// Returns whether a file is declared vendored or generated.
    pub(super) fn contains(&self, path: &RelPath) -> bool {
        self.0
            .as_ref()
            .is_some_and(|rules| rules.matched_path_or_any_parents(path.as_path(), false).is_ignore())
    }
}

/// Returns the value of an attribute, if it is one of these.
fn foreign_value(word: &str) -> Option<bool> {
    let is_one = |name: &str| ATTRIBUTES.contains(&name);
    match word.split_once('=') {
        Some((name, value)) => is_one(name).then_some(value != "false"),
        None => match word.strip_prefix(['-', '!']) {
            Some(name) => is_one(name).then_some(false),
            None => is_one(word).then_some(true),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_foreign_where_the_attributes_say_so() {
        let foreign = ForeignFiles::parse(
            "# comment\n*.js text\ndist/** linguist-generated\nlib/*.c -diff linguist-vendored=true\nlib/own.c -linguist-vendored\n",
        );
        let is_foreign = |path: &str| foreign.contains(&RelPath::new(path.as_bytes()).unwrap());
        assert_eq!(
            ["dist/a/b.js", "lib/a.c", "lib/own.c", "src/a.js"].map(is_foreign),
            [true, true, false, false]
        );
        assert!(!ForeignFiles::parse("").contains(&RelPath::new(b"a").unwrap()));
    }
}
