//! The files outside of a listing that it depends on: git's settings, ignore files and index.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::sys::{Disk, Processes, run_git};

/// A file of one line has no more bytes, be it a branch's name or the place of a repository.
const MAX_LINE_BYTES: u64 = 64 << 10;
/// What git keeps for a repository as a whole, and for one of its working trees.
const SHARED_FILES: [&str; 8] = [
    "config",
    "info/exclude",
    "info/attributes",
    "info/grafts",
    "packed-refs",
    "shallow",
    "refs/replace",
    "reftable/tables.list",
];
const WORKTREE_FILES: [&str; 4] = ["index", "HEAD", "config.worktree", "reftable/tables.list"];
/// What git reads of a user by default, below the user's folder.
const USER_FILES: [&str; 4] =
    [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];

/// Returns the files whose change may change what [`super::list()`] gives for the folder `root`, or what git reports of its
/// history, as far as they are none of its own files. Some may not exist: that they come is a change.
pub fn rule_files(root: &Path, disk: &dyn Disk, processes: &dyn Processes) -> Vec<PathBuf> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut files: Vec<PathBuf> = root.ancestors().map(|folder| folder.join(".git")).collect();
    files.extend(root.ancestors().skip(1).map(|folder| folder.join(".gitignore")));
    let ask = |arguments: &[&str]| {
        let finished = run_git(processes, &root, arguments, b"").ok().filter(|finished| finished.success);
        finished.map(|finished| finished.stdout)
    };
    files.push(PathBuf::from("/etc/gitconfig"));
    let home = ask(&["config", "--type=path", "--default", "~/", "--get", "slop.home"]);
    let home = home.as_deref().and_then(first_line_path);
    if let Some(home) = &home {
        files.extend(USER_FILES.map(|name| home.join(name)));
    }
    if let Some(settings) = ask(&["config", "--list", "--show-origin", "-z"]) {
        files.extend(settings_files(&settings, &root, home.as_deref()));
    }
    if let Some(folders) = ask(&["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"]) {
        let mut folders = folders.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(to_path);
        if let (Some(own), Some(common)) = (folders.next(), folders.next()) {
            files.extend(repository_files(&own, &common, disk));
        }
    }
    files.sort_unstable();
    files.dedup();
    files
}

fn repository_files(own: &Path, common: &Path, disk: &dyn Disk) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = WORKTREE_FILES.iter().map(|name| own.join(name)).collect();
    files.extend(SHARED_FILES.iter().map(|name| common.join(name)));
    let head = disk.read_prefix(&own.join("HEAD"), MAX_LINE_BYTES).unwrap_or_default();
    if let Some(branch) = head.strip_prefix(b"ref: ").and_then(first_line_path) {
        files.extend([own.join(&branch), common.join(&branch)]);
    }
    files
}

/// Returns the files that hold git's settings, and those that its settings name: `file:<path>`, NUL, `<key>`, line's
/// end, `<value>`, NUL.
fn settings_files(settings: &[u8], root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut parts = settings.split(|byte| *byte == 0);
    while let (Some(origin), Some(setting)) = (parts.next(), parts.next()) {
        if let Some(path) = origin.strip_prefix(b"file:") {
            files.push(root.join(to_path(path)));
        }
        let end = setting.iter().position(|byte| *byte == b'\n').unwrap_or(setting.len());
        let (key, value) = setting.split_at(end);
        let is_include = key.starts_with(b"include") && key.ends_with(b".path");
        if !matches!(key, b"core.excludesfile" | b"core.attributesfile") && !is_include {
            continue;
        }
        let value = value.get(1..).unwrap_or_default();
        match (value.strip_prefix(b"~/"), home) {
            (Some(inside), Some(home)) => files.push(home.join(to_path(inside))),
            (_, _) => files.push(root.join(to_path(value))),
        }
    }
    files
}

fn first_line_path(bytes: &[u8]) -> Option<PathBuf> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    (!line.is_empty()).then(|| to_path(line))
}

fn to_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
