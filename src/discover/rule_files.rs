//! Finds the files on which a listing depends: git's settings, ignore files and index.

use std::path::{Path, PathBuf};

use super::git_command::run_git;
use crate::model::bytes_as_path;
use crate::sys::{Disk, Processes};

/// The most bytes of a file with one line, such as the name of a branch or the location of a repository.
const MAX_LINE_BYTES: u64 = 64 << 10;
/// The files of a repository, and of one of its working trees.
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
/// The user's files that git reads by default, relative to the home folder.
const USER_FILES: [&str; 4] =
    [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];

/// Returns the files, other than those in the listing, whose change may affect the result of [`super::list()`] for the
/// folder `root`, or git's history of it. Some may not exist: creating them is a change.
pub fn rule_files(root: &Path, disk: &dyn Disk, processes: &dyn Processes) -> Vec<PathBuf> {
    let root = dunce::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    // Missing ones count, too: a `.git` that appears above the root makes git list the files instead of a walk.
    let mut files: Vec<PathBuf> = root.ancestors().map(|folder| folder.join(".git")).collect();
    // The root's own `.gitignore` is one of its files, and is observed as such.
    files.extend(root.ancestors().skip(1).map(|folder| folder.join(".gitignore")));
    let ask = |arguments: &[&str]| {
        let finished = run_git(processes, &root, arguments, b"").ok().filter(|finished| finished.success);
        finished.map(|finished| finished.stdout)
    };
    // `--show-origin` below reports only files that exist. A git with a different prefix has its settings elsewhere;
    // they are reported if they exist.
    files.push(PathBuf::from("/etc/gitconfig"));
    // Git expands `~`, so this room does not read the environment.
    let home = ask(&["config", "--type=path", "--default", "~/", "--get", "slop.home"]);
    let home = home.as_deref().and_then(first_line_path);
    if let Some(home) = &home {
        files.extend(USER_FILES.map(|name| home.join(name)));
    }
    if let Some(settings) = ask(&["config", "--list", "--show-origin", "-z"]) {
        files.extend(settings_files(&settings, &root, home.as_deref()));
    }
    // They differ in a linked worktree, which has its own index and `HEAD` but shares settings and
    // branches.
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
    // A commit changes the file of the branch, not `HEAD`.
    let head = disk.read_prefix(&own.join("HEAD"), MAX_LINE_BYTES).unwrap_or_default();
    if let Some(branch) = head.strip_prefix(b"ref: ").and_then(first_line_path) {
        // Refs such as `refs/bisect` belong to a worktree, all others are shared.
        files.extend([own.join(&branch), common.join(&branch)]);
    }
    files
}

/// Returns the files with git's settings, and those named in them. The format is `file:<path>`, NUL, `<key>`, line
/// break, `<value>`, NUL.
fn settings_files(settings: &[u8], root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut parts = settings.split(|byte| *byte == 0);
    while let (Some(origin), Some(setting)) = (parts.next(), parts.next()) {
        if let Some(path) = origin.strip_prefix(b"file:") {
            // The path of the repository's own settings is relative to where git ran.
            files.push(root.join(to_path(path)));
        }
        let end = setting.iter().position(|byte| *byte == b'\n').unwrap_or(setting.len());
        let (key, value) = setting.split_at(end);
        // `include.path`, and `includeIf.….path` whether or not its condition holds now. Git prints both in
        // lower case.
        let is_include = key.starts_with(b"include") && key.ends_with(b".path");
        if !matches!(key, b"core.excludesfile" | b"core.attributesfile") && !is_include {
            continue;
        }
        let value = value.get(1..).unwrap_or_default();
        match (value.strip_prefix(b"~/"), home) {
            (Some(inside), Some(home)) => files.push(home.join(to_path(inside))),
            // Git resolves a relative include from the file that names it. An existing one is reported as an origin
            // anyway, so only a relative one that does not exist yet is missed.
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
    bytes_as_path(bytes).to_owned()
}
