//! A temporary folder for each test, with real files and a real git.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::list::list;
use super::listing::{DiscoveredFile, Error, FileListing, NameRules, Options};
use crate::model::bytes_as_path;
use crate::sys::{Disk, ProcessOutput, Processes, RealDisk, RealProcesses};

/// The options that tests use.
pub(super) fn options() -> Options {
    Options {
        apart: vec![b".slop_cache".to_vec(), b"out".to_vec()],
        secret_names: vec![".env".to_owned(), "*.pem".to_owned()],
        secrets_allowed: vec!["allowed.pem".to_owned()],
        skip: vec!["node_modules".to_owned(), "vendored".to_owned(), ".venv".to_owned()],
    }
}

/// The same, compiled.
pub(super) fn names() -> NameRules {
    NameRules::new(&options()).unwrap()
}

/// A temporary folder.
pub(super) struct GitSandbox(tempfile::TempDir);

impl GitSandbox {
    /// An empty folder outside of any checkout.
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with a repository in it.
    pub(super) fn with_git() -> Self {
        let sandbox = Self::new();
        sandbox.git(".", &["init", "-q"]);
        sandbox
    }

    pub(super) fn path(&self, below: impl AsRef<[u8]>) -> PathBuf {
        self.0.path().join(bytes_as_path(below.as_ref()))
    }

    /// Writes or replaces a file, and creates its folders.
    pub(super) fn write(&self, file: impl AsRef<[u8]>, bytes: impl AsRef<[u8]>) {
        let path = self.path(file);
        let _ = std::fs::remove_file(&path);
        RealDisk.create_new(&path, bytes.as_ref()).unwrap();
    }

    pub(super) fn write_all(&self, files: &[&str]) {
        for file in files {
            self.write(file, "x\n");
        }
    }

    pub(super) fn fifo(&self, file: &str) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, self.path(file), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }

    /// Runs git in a subfolder, ignoring the user's own configuration.
    #[track_caller]
    pub(super) fn git(&self, folder: &str, arguments: &[&str]) {
        let finished = self.try_git(folder, arguments);
        assert!(finished.success, "{arguments:?}: {}", String::from_utf8_lossy(&finished.stderr));
    }

    /// Runs git like [`Self::git`], for commands that may fail or whose output matters.
    pub(super) fn try_git(&self, folder: &str, arguments: &[&str]) -> ProcessOutput {
        let known = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
        let quiet = ["-c", "advice.defaultBranchName=false", "-c", "commit.gpgSign=false"];
        let words = known.iter().chain(&quiet).chain(arguments);
        let words: Vec<&OsStr> = words.map(OsStr::new).collect();
        let without = ["HOME", "XDG_CONFIG_HOME", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"];
        let variables = without.map(|name| (name, None));
        RealProcesses.run("git", &words, &self.path(folder), &variables, &[]).unwrap()
    }

    pub(super) fn commit_all(&self, folder: &str) {
        self.git(folder, &["add", "-A"]);
        self.git(folder, &["commit", "-q", "-m", "x"]);
    }

    #[track_caller]
    pub(super) fn list(&self, folder: &str) -> FileListing {
        self.try_list(folder).unwrap()
    }

    pub(super) fn try_list(&self, folder: &str) -> Result<FileListing, Error> {
        list(&self.path(folder), &names(), None, &RealProcesses)
    }
}

/// One line for each file: its name, whether git tracks it, why it is left out.
pub(super) fn lines(files: &[DiscoveredFile]) -> String {
    let line = |found: &DiscoveredFile| {
        let tracked = if found.tracked { " tracked" } else { "" };
        let reason = found.skip_reason.map_or(String::new(), |reason| format!(" [{reason}]"));
        format!("{}{tracked}{reason}\n", found.path)
    };
    files.iter().map(line).collect()
}
