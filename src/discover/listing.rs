//! Listings of files, and the rules that exclude files by name.

use std::io;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rustc_hash::FxHashSet;

use crate::model::{RelPath, SkipReason, TEMPORARY_PREFIX, bytes_as_path, is_within, split_resource};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveredFile {
    pub path: RelPath,
    /// Why it is not rendered, as far as its name and kind determine.
    pub skip_reason: Option<SkipReason>,
    /// Whether git tracks it; never outside of git.
    pub tracked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListingSource {
    /// `git ls-files`.
    Git,
    Walk,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileListing {
    /// The files, sorted by path, without duplicates.
    pub files: Vec<DiscoveredFile>,
    pub source: ListingSource,
    /// Notes for the user: why git was not used, which folders could not be read.
    pub notes: Vec<String>,
    /// The folders that the walk entered, in arbitrary order; empty if git listed the files, because it lists no
    /// folders.
    pub folders: Vec<RelPath>,
    /// Whether the next listing is the same if nothing changes; false if git was killed or timed out.
    pub is_lasting: bool,
}

/// The settings about names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Folders, relative to the root, that are not part of the project at all: the cache, the output folder.
    pub apart: Vec<Vec<u8>>,
    /// Globs for files with secrets. One without `/` is matched against the file name, one with `/` against the whole
    /// path; one that ends in `/` matches everything in that folder.
    pub secret_names: Vec<String>,
    /// Globs of the same kind for exceptions from these.
    pub secrets_allowed: Vec<String>,
    /// Names of folders that are left out as a whole, unless git tracks files in them.
    pub skip: Vec<String>,
}

/// [`Options`], compiled for checking many names.
#[derive(Debug, Clone)]
pub struct NameRules {
    apart: Vec<Vec<u8>>,
    secret: NameGlobs,
    allowed: NameGlobs,
    skip: FxHashSet<Vec<u8>>,
}

impl NameRules {
    /// Compiles the globs.
    pub fn new(options: &Options) -> Result<Self, Error> {
        // An empty path is the root itself, and excluding it would exclude everything.
        let trimmed = options.apart.iter().map(|folder| trim_slashes(folder));
        Ok(Self {
            apart: trimmed.filter(|folder| !folder.is_empty()).map(<[u8]>::to_vec).collect(),
            secret: NameGlobs::new(&options.secret_names)?,
            allowed: NameGlobs::new(&options.secrets_allowed)?,
            skip: options.skip.iter().map(|name| name.as_bytes().to_vec()).collect(),
        })
    }

    /// Returns whether a folder is left out by its name, unless git tracks files in it.
    pub fn is_skipped_name(&self, name: &[u8]) -> bool {
        self.skip.contains(name)
    }

    /// Returns the outermost folder around a file that is left out by its name and not kept.
    pub(super) fn skipped_folder(&self, file: &RelPath, kept: &KeptFolders) -> Option<RelPath> {
        let mut folders = self.skippable_folders(file);
        RelPath::new(folders.find(|folder| !kept.0.contains(*folder))?).ok()
    }

    /// Returns the folders around a file that are left out by their names, outermost first.
    fn skippable_folders<'p>(&self, file: &'p RelPath) -> impl Iterator<Item = &'p [u8]> {
        let path = file.as_bytes();
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let mut start = 0;
        ends.filter_map(move |end| {
            let name = &path[start..end];
            start = end + 1;
            self.skip.contains(name).then(|| &path[..end])
        })
    }

    /// Returns whether the file belongs to a version control system, to the cache or to the output folder, or was left
    /// by a slop that was killed while it wrote, and so is not even listed.
    pub fn is_excluded(&self, file: &RelPath) -> bool {
        self.is_in_excluded_folder(file.as_bytes())
            || in_resource(file).is_some_and(|inside| self.is_in_excluded_folder(inside.as_bytes()))
            || file.file_name() == b".git"
            || file.file_name().starts_with(TEMPORARY_PREFIX.as_bytes())
            || file.components().rev().skip(1).any(is_version_control)
    }

    /// Returns whether the walk skips a folder, given that it entered its parents.
    pub(super) fn is_folder_excluded(&self, folder: &RelPath) -> bool {
        self.is_in_excluded_folder(folder.as_bytes()) || is_version_control(folder.file_name())
    }

    /// Returns why a file is left out by its name alone, if it is.
    pub fn skip_reason(&self, file: &RelPath) -> Option<SkipReason> {
        let name = file.file_name();
        // A recorded discussion is a section of a document, not a file in it.
        if name == b"history.toml" || name.ends_with(b"_history.toml") {
            return Some(SkipReason::History);
        }
        // Slices contain lines of their files, and masks the names that they hide, in a project within the project, too.
        match name {
            b"slop.toml" => return Some(SkipReason::Settings),
            b"slop.takes.toml" => return Some(SkipReason::Takes),
            _ => {}
        }
        // A pattern such as `.aws/credentials` also applies to linked folders. Exceptions have to name the linked
        // folder, because what is harmless in the project may not be harmless elsewhere.
        let inside = in_resource(file);
        let is_secret =
            self.secret.matches(file) || inside.is_some_and(|inside| self.secret.matches(&inside));
        (is_secret && !self.allowed.matches(file)).then_some(SkipReason::Secret)
    }

    fn is_in_excluded_folder(&self, path: &[u8]) -> bool {
        self.apart.iter().any(|folder| is_within(path, folder))
    }
}

/// Returns the path of a file within the linked folder in its path. A folder of the root may have such a name, too, for
/// which this only makes the rules stricter.
fn in_resource(file: &RelPath) -> Option<RelPath> {
    let (_, inside) = split_resource(file.as_bytes())?;
    RelPath::new(inside).ok()
}

/// Folders that would be left out by name, but are kept because git tracks files in them.
#[derive(Debug, Clone, Default)]
pub struct KeptFolders(FxHashSet<Vec<u8>>);

impl KeptFolders {
    /// Finds the kept folders around listed files.
    pub fn among(files: &[DiscoveredFile], names: &NameRules) -> Self {
        let mut kept = FxHashSet::default();
        let mut last: &[u8] = b"";
        for file in files.iter().filter(|file| file.tracked) {
            // Files of a folder are mostly adjacent.
            if std::mem::replace(&mut last, file.path.parent()) != file.path.parent() {
                kept.extend(names.skippable_folders(&file.path).map(<[u8]>::to_vec));
            }
        }
        Self(kept)
    }

    pub(super) fn contains(&self, folder: &RelPath) -> bool {
        self.0.contains(folder.as_bytes())
    }
}

/// Returns whether a folder belongs to a version control system.
fn is_version_control(name: &[u8]) -> bool {
    matches!(name, b".git" | b".hg" | b".svn" | b".bzr" | b"_darcs" | b"CVS" | b".jj" | b".pijul")
}

fn trim_slashes(folder: &[u8]) -> &[u8] {
    let folder = folder.strip_prefix(b"./").unwrap_or(folder);
    let end = folder.iter().rposition(|&byte| byte != b'/');
    end.map_or(&[], |end| &folder[..=end])
}

/// Globs, grouped by what they are matched against.
#[derive(Debug, Clone)]
struct NameGlobs {
    name_globs: GlobSet,
    path_globs: GlobSet,
}

impl NameGlobs {
    fn new(globs: &[String]) -> Result<Self, Error> {
        let (paths, names): (Vec<&String>, Vec<&String>) = globs.iter().partition(|glob| glob.contains('/'));
        Ok(Self { name_globs: compile_globs(&names)?, path_globs: compile_globs(&paths)? })
    }

    fn matches(&self, file: &RelPath) -> bool {
        self.name_globs.is_match(bytes_as_path(file.file_name())) || self.path_globs.is_match(file.as_path())
    }
}

fn compile_globs(globs: &[&String]) -> Result<GlobSet, Error> {
    let wrong = |glob: &str, source| Error::Glob { glob: glob.to_owned(), source };
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let everything_in_it = if glob.ends_with('/') { "**" } else { "" };
        let pattern = format!("{glob}{everything_in_it}");
        // `.ENV` is as secret as `.env`, on case-sensitive file systems too.
        let compiled = GlobBuilder::new(&pattern).case_insensitive(true).literal_separator(true).build();
        set.add(compiled.map_err(|source| wrong(glob, source))?);
    }
    set.build().map_err(|source| wrong("all of them together", source))
}

/// Why a project's files could not be listed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("project folder cannot be read")]
    Root(#[source] io::Error),
    #[error("invalid glob `{glob}`")]
    Glob { glob: String, source: globset::Error },
    #[error("`{name}` of the project is not a regular file, or is too large")]
    IgnoreFile { name: &'static str },
    #[error("folder has more than {max} files{}", without_git(note.as_ref()))]
    TooManyFiles {
        max: u64,
        /// Why git did not list them, if there is a checkout.
        note: Option<String>,
    },
}

fn without_git(note: Option<&String>) -> String {
    note.map_or(" and is not in a git checkout".to_owned(), |note| format!("; {note}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(bytes: &[u8]) -> RelPath {
        RelPath::new(bytes).unwrap()
    }

    fn names(secret: &[&str], allowed: &[&str]) -> NameRules {
        let owned = |globs: &[&str]| globs.iter().map(|&glob| glob.to_owned()).collect();
        NameRules::new(&Options {
            apart: vec![b".slop_cache".to_vec(), b"out/slop/".to_vec(), Vec::new()],
            secret_names: owned(secret),
            secrets_allowed: owned(allowed),
            skip: vec!["target".to_owned(), "vendor".to_owned()],
        })
        .unwrap()
    }

    #[test]
    fn a_name_without_a_slash_is_secret_in_every_folder_and_in_any_case() {
        let names = names(&[".env", ".env.*", "*.pem"], &[]);
        for secret in [".env", "a/b/.ENV", ".env.local", "x/Key.PEM"] {
            assert_eq!(names.skip_reason(&path(secret.as_bytes())), Some(SkipReason::Secret), "{secret}");
        }
        for harmless in ["env", ".environment", "pem", "a.pem.txt", ".env/readme"] {
            assert_eq!(names.skip_reason(&path(harmless.as_bytes())), None, "{harmless}");
        }
    }

    #[test]
    fn a_name_with_a_slash_is_compared_with_the_whole_path() {
        let names = names(&["**/.aws/credentials", "private/", "keys/*.txt"], &[]);
        for secret in [".aws/credentials", "home/.aws/credentials", "private/a/b", "keys/a.txt"] {
            assert_eq!(names.skip_reason(&path(secret.as_bytes())), Some(SkipReason::Secret), "{secret}");
        }
        for harmless in ["credentials", "a/private/b", "keys/deep/a.txt"] {
            assert_eq!(names.skip_reason(&path(harmless.as_bytes())), None, "{harmless}");
        }
    }

    #[test]
    fn an_allowed_file_is_rendered_although_its_name_is_secret() {
        let names = names(&[".env.*", "*.key"], &["*.example", "tests/data/*.key"]);
        assert_eq!(names.skip_reason(&path(b"a/.env.example")), None);
        assert_eq!(names.skip_reason(&path(b"tests/data/a.key")), None);
        assert_eq!(names.skip_reason(&path(b"tests/a.key")), Some(SkipReason::Secret));
    }

    #[test]
    fn names_that_are_not_text_are_checked_too() {
        let names = names(&["*.pem"], &[]);
        assert_eq!(names.skip_reason(&path(b"\xff\n\xfe.pem")), Some(SkipReason::Secret));
        assert_eq!(names.skip_reason(&path(b"\xff\n\xfe.txt")), None);
    }

    #[test]
    fn a_discussion_is_left_out_with_its_own_reason() {
        let names = names(&["*.toml"], &["*.toml"]);
        assert_eq!(names.skip_reason(&path(b"history.toml")), Some(SkipReason::History));
        assert_eq!(names.skip_reason(&path(b"a/my_history.toml")), Some(SkipReason::History));
        assert_eq!(names.skip_reason(&path(b"slop.toml")), Some(SkipReason::Settings));
        assert_eq!(names.skip_reason(&path(b"slop.takes.toml")), Some(SkipReason::Takes));
        assert_eq!(names.skip_reason(&path(b"a/slop.toml")), Some(SkipReason::Settings));
        assert_eq!(names.skip_reason(&path(b"a/slop.takes.toml")), Some(SkipReason::Takes));
        assert_eq!(names.skip_reason(&path(b"a/my.slop.toml")), None);
        assert_eq!(names.skip_reason(&path(b"prehistory.toml")), None);
        // A copy of them, by a slop that was killed.
        assert!(names.is_excluded(&path(b".slop-tmp-x1")) && !names.is_excluded(&path(b"slop-tmp-x1")));
    }

    #[test]
    fn excluded_files_are_recognized_by_their_folder() {
        let names = names(&[], &[]);
        for apart in [
            ".git",
            ".git/config",
            "sub/.git",
            "a/CVS/Entries",
            ".hg/store",
            ".slop_cache/index.db",
            "out/slop/a.md",
        ] {
            assert!(names.is_excluded(&path(apart.as_bytes())), "{apart}");
        }
        for inside in ["CVS", ".gitignore", ".slop_cache2/a", "out/sloppy", "sub/.slop_cache/a", "a"] {
            assert!(!names.is_excluded(&path(inside.as_bytes())), "{inside}");
        }
    }

    #[test]
    fn the_outermost_folder_that_is_not_kept_is_the_one_to_leave_out() {
        let names = names(&[], &[]);
        let tracked = DiscoveredFile { path: path(b"a/vendor/lib/x"), skip_reason: None, tracked: true };
        let kept = KeptFolders::among(&[tracked], &names);
        let check = |file: &[u8], folder: Option<&[u8]>| {
            assert_eq!(names.skipped_folder(&path(file), &kept), folder.map(path));
        };
        check(b"a/vendor/new/y", None);
        check(b"a/vendor/new/target/debug/vendor/y", Some(b"a/vendor/new/target"));
        check(b"vendor/y", Some(b"vendor"));
        check(b"a/target", None);
        check(b"targets/y", None);
    }

    #[test]
    fn an_invalid_glob_is_reported() {
        let options = Options { secret_names: vec!["[a".to_owned()], ..Options::default() };
        assert_eq!(NameRules::new(&options).unwrap_err().to_string(), "invalid glob `[a`");
    }
}
