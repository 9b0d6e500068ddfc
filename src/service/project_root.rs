//! Finds the project's folder, and rejects folders that are unlikely to be meant as a project.

use std::path::{Path, PathBuf};

use super::sources::SETTINGS_FILE;
use crate::api::ApiError;
use crate::config::LoadedConfig;
use crate::engine;
use crate::model::{RootReason, path_bytes, path_text, printable};
use crate::sys::{RealDisk, RealProcesses};

/// The name of a cache folder, unless settings give it another one.
const CACHE_FOLDER: &str = ".slop_cache";

/// Where the system shows its processes and devices as files; reading some of them has side effects, or never ends.
const SYSTEM_FOLDERS: [&str; 3] = ["/proc", "/sys", "/dev"];
/// Shared memory, which is below one of them but holds ordinary files.
const SHARED_MEMORY: &str = "/dev/shm";

/// The error code of a folder that is unlikely to be a project.
const NO_PROJECT_CODE: &str = "not_a_project";
/// The error code of a folder with too many files.
pub const TOO_MANY_FILES_CODE: &str = "too_many_files";

/// A project's folder, and how it was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRoot {
    /// An absolute path without links.
    pub folder: PathBuf,
    pub reason: RootReason,
    /// The git checkout around the current folder, if the project's folder is above it.
    pub checkout: Option<PathBuf>,
    /// A cache folder between the current folder and the project's, which is not used.
    pub unused_cache: Option<PathBuf>,
    /// Whether it is the user's home folder.
    is_home: bool,
}

impl ProjectRoot {
    /// Returns a folder that the user named.
    pub fn named(folder: PathBuf) -> Self {
        Self { folder, reason: RootReason::Named, checkout: None, unused_cache: None, is_home: false }
    }

    /// Finds the project of the current folder: the nearest folder with a `slop.toml`, else git's top level, else the
    /// nearest folder with a cache, else the current folder. Both paths are absolute and without links.
    ///
    /// Files in the home folder or in `/` mark no project: settings there are probably misplaced user settings, and a
    /// cache is left over from a single run. Nor does a `slop.toml` whose folder is in another checkout than the
    /// current one, such as the one around a submodule or a worktree: git lists no files of a checkout within a
    /// checkout.
    pub fn find(current: &Path, home: Option<&Path>) -> Self {
        let checkout = engine::enclosing_checkout(current, &RealDisk);
        let is_broad = |folder: &Path| folder.parent().is_none() || Some(folder) == home;
        let may_mark = |folder: &&Path| *folder == current || !is_broad(folder);
        let has_settings = |folder: &&Path| folder.join(SETTINGS_FILE).is_file();
        let contains_files = |folder: &&Path| {
            let is_above = checkout.as_deref().is_some_and(|top| top != *folder && top.starts_with(folder));
            !is_above || engine::enclosing_checkout(folder, &RealDisk).is_none()
        };
        let with_settings = current.ancestors().filter(may_mark).filter(has_settings).find(contains_files);
        let with_cache =
            || current.ancestors().filter(|folder| !is_broad(folder)).find(|folder| has_cache(folder));
        let (folder, reason) = match (with_settings, checkout.as_deref()) {
            (Some(folder), _) => (folder, RootReason::SettingsFile),
            (None, Some(top)) => (top, RootReason::GitCheckout),
            (None, None) => match with_cache() {
                Some(folder) => (folder, RootReason::CacheFolder),
                None => (current, RootReason::CurrentFolder),
            },
        };
        let unused_cache =
            current.ancestors().take_while(|below| *below != folder).find(|below| has_cache(below));
        Self {
            folder: folder.to_owned(),
            reason,
            checkout: checkout.clone().filter(|top| top != folder && top.starts_with(folder)),
            unused_cache: unused_cache.map(|folder| folder.join(CACHE_FOLDER)),
            is_home: Some(folder) == home,
        }
    }

    /// Returns the folder followed, in parentheses, by the reason for choosing it.
    pub fn description(&self) -> String {
        let above = self.checkout.as_ref();
        let above =
            above.map_or(String::new(), |top| format!(", above the git checkout {}", printable_path(top)));
        format!("{} ({}{above})", printable_path(&self.folder), self.reason.description())
    }

    /// Returns what the user should know about the choice, if anything.
    pub fn note(&self) -> Option<String> {
        let cache = printable_path(self.unused_cache.as_deref()?);
        let root = printable_path(&self.folder);
        Some(format!(
            "{cache} is not used, because the project is {root}: delete it, or name its folder (`slop --project DIR`)"
        ))
    }

    /// Returns the guard that the folder needs.
    pub fn guard(&self) -> RootGuard {
        if self.reason == RootReason::Named {
            return RootGuard::none();
        }
        let is_of_system = SYSTEM_FOLDERS.iter().any(|system| self.folder.starts_with(system))
            && !self.folder.starts_with(SHARED_MEMORY);
        let what = match self.folder.parent() {
            None => Some("the root of the file system"),
            Some(_) if self.is_home => Some("your home folder"),
            Some(_) if is_of_system => Some("a folder of the operating system"),
            Some(_) => None,
        };
        let refusal = what.map(|what| {
            let message = format!("{} is {what}, which is unlikely to be a project", printable_path(&self.folder));
            let hint = "change to a project's folder, or name one (`slop --project DIR`); `slop init --project DIR` makes one";
            ApiError::user(NO_PROJECT_CODE, message, hint)
        });
        RootGuard { refusal, has_file_limit: true }
    }
}

/// Returns a path for a message, without the control characters of terminals.
fn printable_path(path: &Path) -> String {
    printable(&path_text(path_bytes(path)))
}

fn has_cache(folder: &Path) -> bool {
    folder.join(CACHE_FOLDER).is_dir()
}

/// Prevents a folder that the user did not name, and that does not look like a project, from being read as one.
#[derive(Debug, Clone)]
pub struct RootGuard {
    refusal: Option<ApiError>,
    has_file_limit: bool,
}

impl RootGuard {
    /// Returns a guard that accepts every folder.
    pub const fn none() -> Self {
        Self { refusal: None, has_file_limit: false }
    }

    /// Returns an error if the folder cannot be a project.
    pub fn check_folder(&self) -> Result<(), ApiError> {
        self.refusal.clone().map_or(Ok(()), Err)
    }

    /// Returns an error if the project has too many files that git does not list.
    pub fn check_file_count(&self, root: &Path, loaded: &LoadedConfig) -> Result<(), ApiError> {
        let mut options = loaded.engine_options(root);
        options.max_files = self.max_files(loaded);
        match options.max_files {
            Some(_) => Ok(engine::check_file_count(root, &options, &RealProcesses)?),
            None => Ok(()),
        }
    }

    pub(super) fn max_files(&self, loaded: &LoadedConfig) -> Option<u64> {
        self.has_file_limit.then_some(loaded.settings.discover.max_files)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sys::Disk;

    /// A home folder, and a folder outside of it.
    struct Folders(tempfile::TempDir);

    impl Folders {
        fn new(folders: &[&str], files: &[&str]) -> Self {
            let sandbox = Self(tempfile::tempdir().unwrap());
            for folder in folders {
                fs::create_dir_all(sandbox.path(folder)).unwrap();
            }
            for file in files {
                fs::create_dir_all(sandbox.path(file).parent().unwrap()).unwrap();
                RealDisk.create_new(&sandbox.path(file), b"").unwrap();
            }
            sandbox
        }

        /// Creates what git recognizes as a repository.
        fn checkout(&self, folder: &str) -> &Self {
            fs::create_dir_all(self.path(folder).join(".git/objects")).unwrap();
            fs::create_dir_all(self.path(folder).join(".git/refs")).unwrap();
            RealDisk.create_new(&self.path(folder).join(".git/HEAD"), b"ref: refs/heads/main\n").unwrap();
            self
        }

        fn path(&self, folder: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(folder)
        }

        #[track_caller]
        fn check(&self, current: &str, folder: &str, reason: RootReason) -> ProjectRoot {
            let found = ProjectRoot::find(&self.path(current), Some(&self.path("home")));
            assert_eq!((&found.folder, found.reason), (&self.path(folder), reason), "{current}");
            found
        }
    }

    use RootReason::{CacheFolder, CurrentFolder, GitCheckout, SettingsFile};

    #[test]
    fn settings_take_precedence_over_git_and_git_over_a_cache() {
        let folders = Folders::new(
            &["work/repo/src/deep", "work/repo/.slop_cache", "work/.slop_cache", "work/plain/a"],
            &["work/repo/src/slop.toml"],
        );
        folders.checkout("work/repo");
        folders.check("work/repo/src/deep", "work/repo/src", SettingsFile);
        folders.check("work/repo", "work/repo", GitCheckout);
        folders.check("work/plain/a", "work", CacheFolder);
        let plain = Folders::new(&["a/b"], &[]);
        plain.check("a/b", "a/b", CurrentFolder);
    }

    #[test]
    fn a_cache_in_a_folder_of_a_checkout_is_not_used_and_a_note_says_so() {
        let folders = Folders::new(&["repo/src/.slop_cache", "repo/src/deep"], &[]);
        folders.checkout("repo");
        let found = folders.check("repo/src/deep", "repo", GitCheckout);
        assert_eq!(found.unused_cache, Some(folders.path("repo/src/.slop_cache")));
        assert!(found.note().unwrap().contains("/repo/src/.slop_cache is not used"));
        assert_eq!(folders.check("repo", "repo", GitCheckout).note(), None);
    }

    #[test]
    fn files_in_the_home_folder_do_not_mark_folders_below_it() {
        let folders = Folders::new(&["home/.slop_cache", "home/notes", "home/repo/src"], &["home/slop.toml"]);
        folders.checkout("home/repo");
        folders.check("home/notes", "home/notes", CurrentFolder);
        folders.check("home/repo/src", "home/repo", GitCheckout);
        let home = folders.check("home", "home", SettingsFile);
        assert_eq!(home.guard().check_folder().unwrap_err().code, NO_PROJECT_CODE);
        assert!(ProjectRoot::named(folders.path("home")).guard().check_folder().is_ok());
        let is_refused = |folder: &str| {
            let found = ProjectRoot::find(Path::new(folder), None);
            found.guard().check_folder().is_err()
        };
        assert!(["/", "/proc/self", "/sys", "/dev"].map(is_refused).iter().all(|refused| *refused));
        assert!(!["/dev/shm/a", "/usr"].map(is_refused).iter().any(|refused| *refused));
    }

    #[test]
    fn settings_above_a_checkout_count_unless_they_are_in_a_checkout_themselves() {
        let folders = Folders::new(&["all/one/src"], &["all/slop.toml"]);
        folders.checkout("all/one");
        let found = folders.check("all/one/src", "all", SettingsFile);
        assert!(found.description().contains("(the nearest folder with a slop.toml, above the git checkout"));
        folders.checkout("all");
        folders.check("all/one/src", "all/one", GitCheckout);
        folders.check("all", "all", SettingsFile);
    }
}
