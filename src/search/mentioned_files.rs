//! Determines which of the paths and modules mentioned in a task exist in the project.
//!
//! What looks like a path may not be one (`input/output`, `node.js`), may be on another machine, or may be misspelled;
//! and what looks like a module is usually the attribute of a value (`self.cfg.value`).

use rustc_hash::{FxHashMap, FxHashSet};

use super::query::{is_same_file, is_tail, without_dots};
use super::task::{MentionedPath, MentionedPathKind, TaskReading};
use crate::model::RelPath;

/// One interpretation of a mention.
struct Reading {
    /// The position of the mention.
    mention: usize,
    /// The path, without the extension if it is a module's.
    written: Vec<u8>,
    is_module: bool,
}

impl Reading {
    fn means_file(&self, path: &RelPath) -> bool {
        if self.is_module {
            let whole = path.as_bytes();
            let extension = path.file_name().len() - path.stem().len();
            return is_tail(&whole[..whole.len() - extension], &self.written);
        }
        is_same_file(path.as_bytes(), &self.written)
    }

    /// A single name at the end of a path outside of the project, as in `/usr/src`, proves nothing.
    fn means_folder(&self, folder: &[u8]) -> bool {
        is_tail(folder, &self.written)
            || !self.is_module && folder.contains(&b'/') && is_tail(&self.written, folder)
    }
}

/// Returns for each path that a task mentions whether it means one of the files, or a folder that contains one.
pub fn find_mentioned<'p>(task: &TaskReading, paths: impl Iterator<Item = &'p RelPath>) -> Vec<bool> {
    let mut found = vec![false; task.paths.len()];
    // Keyed by their last components; otherwise each of many paths would be compared with each of many mentions.
    let mut readings: FxHashMap<Vec<u8>, Vec<Reading>> = FxHashMap::default();
    for reading in task.paths.iter().enumerate().flat_map(|(at, mention)| readings_of(at, mention)) {
        readings.entry(last_part(&reading.written).to_vec()).or_default().push(reading);
    }
    if readings.is_empty() {
        return found;
    }
    let mut known_folders: FxHashSet<&[u8]> = FxHashSet::default();
    for path in paths {
        let name = path.file_name();
        let names = [name, path.stem()];
        let distinct = if names[0] == names[1] { &names[..1] } else { &names[..] };
        for reading in distinct.iter().filter_map(|name| readings.get(*name)).flatten() {
            found[reading.mention] |= reading.means_file(path);
        }
        // The ancestors of a known folder are known as well.
        for folder in path.ancestors().take_while(|folder| known_folders.insert(folder)) {
            for reading in readings.get(last_part(folder)).into_iter().flatten() {
                found[reading.mention] |= reading.means_folder(folder);
            }
        }
    }
    found
}

fn last_part(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

fn readings_of(at: usize, mention: &MentionedPath) -> Vec<Reading> {
    let reading = |written: Vec<u8>, is_module| Reading { mention: at, written, is_module };
    match mention.kind {
        MentionedPathKind::Path | MentionedPathKind::Link => {
            let written = without_dots(mention.path.trim_end_matches('/').as_bytes());
            let is_path = !written.is_empty();
            is_path.then(|| reading(written.to_vec(), false)).into_iter().collect()
        }
        MentionedPathKind::Module => {
            module_paths(&mention.path).into_iter().map(|written| reading(written, true)).collect()
        }
    }
}

/// Returns the possible paths of a module. Its last component may be a name defined in it, and in languages with `::`
/// its first component may be the package's name, which is in no path. A single component must be certain to be a
/// module.
fn module_paths(module: &str) -> Vec<Vec<u8>> {
    let has_packages = module.contains("::");
    let mut parts: Vec<&str> = module.split(if has_packages { "::" } else { "." }).collect();
    let written = parts.len();
    while has_packages && parts.first().is_some_and(|part| ["crate", "self", "super"].contains(part)) {
        parts.remove(0);
    }
    let least = if parts.len() < written { 1 } else { 2 };
    let starts = if has_packages && parts.len() == written { 0..=1 } else { 0..=0 };
    let ranges = starts.flat_map(|start| [start..parts.len(), start..parts.len().saturating_sub(1)]);
    ranges.filter(|range| least <= range.len()).map(|range| parts[range].join("/").into_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::task::read_task;
    use super::super::traces::ProjectNames;
    use super::*;

    #[track_caller]
    fn check(text: &str, paths: &[&str], expected: &[&str]) {
        let paths: Vec<RelPath> = paths.iter().map(|path| RelPath::new(path.as_bytes()).unwrap()).collect();
        let task = read_task(text, &ProjectNames::new(paths.iter())).unwrap();
        let found = find_mentioned(&task, paths.iter());
        let named = task.paths.iter().zip(found).filter(|(_, is_found)| *is_found);
        let named: Vec<&str> = named.map(|(mention, _)| mention.path.as_str()).collect();
        assert_eq!(named, expected, "{text}");
    }

    #[test]
    fn a_path_or_folder_is_mentioned_in_full_or_by_its_end() {
        let paths = ["src/engine/run.py", "src/util.py", "docs/index.md"];
        check(
            "see src/engine/run.py:3 and run.py, ./util.py",
            &paths,
            &["src/engine/run.py", "run.py", "util.py"],
        );
        check("in src/engine/, `engine/`, `docs/` of it", &paths, &["src/engine/", "engine/", "docs/"]);
        check(
            "/home/me/p/src/util.py and /home/me/p/src/engine",
            &paths,
            &["/home/me/p/src/util.py", "/home/me/p/src/engine"],
        );
        check(
            "src/engin/run.py, engine/util.py, node.js, /usr/local/src, `input/output`, un.py",
            &paths,
            &[],
        );
        check(
            "in .github/ci.yml and ./.eslintrc",
            &[".github/ci.yml", ".eslintrc"],
            &[".github/ci.yml", ".eslintrc"],
        );
    }

    #[test]
    fn the_names_of_the_projects_files_are_recognized_in_prose() {
        check(
            "src/Main.elm, go.mod and bin/run fail",
            &["src/Main.elm", "go.mod", "bin/run"],
            &["src/Main.elm", "go.mod", "bin/run"],
        );
        check("@src/a.py and @types/b.ts", &["src/a.py", "@types/b.ts"], &["src/a.py", "@types/b.ts"]);
        let paths = [
            "app/[id]/page.tsx",
            "app/(shop)/page.tsx",
            "My App/src/a.cs",
            "pages/[...all].tsx",
            "app/page.tsx",
        ];
        check("The title in app/[id]/page.tsx is", &paths, &["app/[id]/page.tsx"]);
        check(
            "`app/(shop)/page.tsx:3` (or pages/[...all].tsx).",
            &paths,
            &["app/(shop)/page.tsx", "pages/[...all].tsx"],
        );
        check(
            "`My App/src/a.cs`, C:\\dev\\My App\\src\\a.cs",
            &paths,
            &["My App/src/a.cs", "C:/dev/My App/src/a.cs"],
        );
        check("[app/page.tsx](app/page.tsx) of My Page", &paths, &["app/page.tsx"]);
    }

    #[test]
    fn a_module_is_mentioned_by_its_path_and_attributes_are_not_modules() {
        let paths =
            ["lib/pkg/util.py", "lib/pkg/core/__init__.py", "src/search/rank.rs", "src/com/shop/Cart.java"];
        check(
            "pkg.util and pkg.util.helper, pkg.core.Engine",
            &paths,
            &["pkg.util", "pkg.util.helper", "pkg.core.Engine"],
        );
        check(
            "crate::search::rank, tool::search::rank::Query; crate::search",
            &paths,
            &["crate::search::rank", "tool::search::rank::Query", "crate::search"],
        );
        check("com.shop.Cart", &paths, &["com.shop.Cart"]);
        check("self.pkg.util.x, util.helper, os.path.join, crate::rand, pkg.utils", &paths, &[]);
    }
}
