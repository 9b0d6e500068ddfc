//! Finds programs on the user's search path, but never in the project.
//!
//! A relative or empty entry of `PATH` refers to a folder of the project when a program is started there, and an
//! absolute one may lead into it. Programs there came with the project, whatever their names.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::file_access::program_in;

/// The search path if the environment has none.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The entries of the search path whose programs may be run for a project.
pub(super) struct SearchPath {
    entries: Vec<PathBuf>,
    project: ProjectFolders,
}

/// The folder of a project and the checkout around it, without links.
struct ProjectFolders(Vec<PathBuf>);

impl SearchPath {
    /// Reads the search path of this process for a project's folder.
    #[expect(clippy::disallowed_methods, reason = "the system's own search for programs reads it, too")]
    pub(super) fn for_project(folder: &Path) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
        Self::new(&path, ProjectFolders::around(folder, std::env::home_dir().as_deref()))
    }

    fn new(path: &std::ffi::OsStr, project: ProjectFolders) -> Self {
        let is_trusted = |entry: &PathBuf| entry.is_absolute() && !project.contains(entry);
        Self { entries: std::env::split_paths(path).filter(is_trusted).collect(), project }
    }

    /// Returns the file of a program. A name with a `/` is a path already.
    pub(super) fn find(&self, program: &str) -> io::Result<PathBuf> {
        if program.contains(std::path::is_separator) {
            return Ok(PathBuf::from(program));
        }
        let mut candidates = self.entries.iter().filter_map(|entry| program_in(entry, program));
        candidates.find(|file| !self.project.contains(file)).ok_or_else(|| {
            let message = format!("there is no `{program}` on the search path outside of the project");
            io::Error::new(io::ErrorKind::NotFound, message)
        })
    }

    /// Returns the value of `PATH` for a program, so that its children are found by the same rule.
    pub(super) fn to_variable(&self) -> OsString {
        // The entries came from such a variable, so none contains the separator.
        std::env::join_paths(&self.entries).unwrap_or_default()
    }
}

impl ProjectFolders {
    /// Includes the outermost checkout, because a project may be one folder of it. A home folder that is a checkout of
    /// the user's own settings does not count.
    fn around(folder: &Path, home: Option<&Path>) -> Self {
        let folder = dunce::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let is_users = |folder: &Path| home.is_some_and(|home| home.starts_with(folder));
        let is_checkout = |folder: &&Path| {
            folder.parent().is_some() && !is_users(folder) && folder.join(".git").symlink_metadata().is_ok()
        };
        let checkout = folder.ancestors().filter(is_checkout).last().map(Path::to_owned);
        Self(std::iter::once(folder).chain(checkout).collect())
    }

    /// Returns whether a path is in the project, by its name or by its target.
    fn contains(&self, path: &Path) -> bool {
        let target = dunce::canonicalize(path).ok();
        let is_inside = |path: &Path| self.0.iter().any(|folder| path.starts_with(folder));
        is_inside(path) || target.is_some_and(|target| is_inside(&target))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// Creates a folder with the executable `bd` in each of these folders.
    fn sandbox(folders: &[&str]) -> tempfile::TempDir {
        let sandbox = tempfile::tempdir().unwrap();
        for folder in folders {
            let folder = sandbox.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            let file = fs::OpenOptions::new().create(true).append(true).open(folder.join("bd")).unwrap();
            file.set_permissions(fs::Permissions::from_mode(0o755)).unwrap();
        }
        sandbox
    }

    /// Returns where `bd` is found for the project `repo/package`, below the sandbox.
    fn found(sandbox: &tempfile::TempDir, path: &[&str], home: &str) -> Option<String> {
        let top = sandbox.path().canonicalize().unwrap();
        let absolute =
            |entry: &str| entry.strip_prefix('@').map_or(PathBuf::from(entry), |below| top.join(below));
        let path = std::env::join_paths(path.iter().map(|entry| absolute(entry))).unwrap();
        let project = ProjectFolders::around(&top.join("repo/package"), Some(&top.join(home)));
        let file = SearchPath::new(&path, project).find("bd").ok()?;
        Some(file.strip_prefix(&top).unwrap().display().to_string())
    }

    #[test]
    fn a_program_is_never_found_in_the_project() {
        let sandbox = sandbox(&["repo/package/bin", "repo/bin", "bin"]);
        fs::create_dir(sandbox.path().join("repo/.git")).unwrap();
        fs::create_dir(sandbox.path().join("linked")).unwrap();
        symlink("../repo/package/bin", sandbox.path().join("to_project")).unwrap();
        symlink("../repo/bin/bd", sandbox.path().join("linked/bd")).unwrap();
        symlink("../../../bin", sandbox.path().join("repo/package/out")).unwrap();
        for hostile in
            ["", ".", "bin", "@repo/package/bin", "@repo/bin", "@to_project", "@linked", "@repo/package/out"]
        {
            assert_eq!(found(&sandbox, &[hostile, "@bin"], "home").as_deref(), Some("bin/bd"), "{hostile}");
            assert_eq!(found(&sandbox, &[hostile], "home"), None, "{hostile}");
        }
    }

    #[test]
    fn programs_in_a_home_folder_under_version_control_are_the_users() {
        let sandbox = sandbox(&["bin", "repo/package"]);
        fs::create_dir(sandbox.path().join(".git")).unwrap();
        assert_eq!(found(&sandbox, &["@bin"], "home"), Some("bin/bd".to_owned()));
        assert_eq!(found(&sandbox, &["@bin"], "/elsewhere"), None);
    }

    #[test]
    fn a_file_that_is_not_executable_is_skipped() {
        let sandbox = sandbox(&["bin", "repo/package"]);
        fs::create_dir_all(sandbox.path().join("first/bd")).unwrap();
        assert_eq!(found(&sandbox, &["@first", "@bin"], "home").as_deref(), Some("bin/bd"));
    }
}
