//! The checkouts whose history is queried from git: the project's own, and linked ones.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::commits::{FileEdit, read_edits};
use crate::discover::run_git;
use crate::engine::mounts::Mount;
use crate::engine::workspace::{KnownFile, Workspace};
use crate::model::{RelPath, ResourceKind, path_bytes, path_text, resource_name};
use crate::sys::{ProcessOutput, Processes};

/// Prefix of all keys of linked checkouts.
pub(super) const LINKED_KEYS: &str = "linked/";

/// A folder that git is run in.
#[derive(Clone)]
pub(in crate::engine) struct Checkout<'w> {
    processes: &'w dyn Processes,
    folder: PathBuf,
    /// The linked folder; `None` for the project's own checkout.
    mount: Option<Mount>,
    /// The first failure of git. The absence of a repository is not a failure.
    fault: Arc<OnceLock<io::Error>>,
}

impl<'w> Checkout<'w> {
    /// Returns the project's checkout.
    pub(in crate::engine) fn of_project(workspace: &Workspace<'w>) -> Self {
        Self::new(workspace, workspace.root.clone(), None)
    }

    /// Returns the project's checkout, then the linked ones by name.
    pub(in crate::engine) fn all(workspace: &Workspace<'w>) -> Vec<Self> {
        std::iter::once(Self::of_project(workspace)).chain(Self::linked(workspace)).collect()
    }

    /// Returns the linked ones, by name.
    pub(super) fn linked(workspace: &Workspace<'w>) -> Vec<Self> {
        let mounts = workspace.files.mounts().iter();
        let checkouts = mounts.filter(|mount| mount.linked.kind == ResourceKind::GitCheckout);
        let checkout = |mount: &Mount| Self::new(workspace, mount.linked.path.clone(), Some(mount.clone()));
        checkouts.map(checkout).collect()
    }

    fn new(workspace: &Workspace<'w>, folder: PathBuf, mount: Option<Mount>) -> Self {
        Self { processes: workspace.world.processes, folder, mount, fault: Arc::default() }
    }

    /// Returns the name of the linked folder; empty for the project's own checkout.
    pub(in crate::engine) fn name(&self) -> &str {
        self.mount.as_ref().map_or("", |mount| &mount.linked.name)
    }

    /// Returns the prefix of its files' paths in the project.
    pub(super) fn prefix(&self) -> Vec<u8> {
        let mount = self.mount.as_ref();
        mount.map_or_else(Vec::new, |mount| [mount.linked.mount_point().as_bytes(), b"/"].concat())
    }

    /// Returns the store's key for data of this checkout.
    pub(in crate::engine) fn key(&self, key: &str) -> String {
        match &self.mount {
            Some(mount) => format!("{LINKED_KEYS}{}/{key}", mount.linked.name),
            None => key.to_owned(),
        }
    }

    /// Returns the path in the project for a path in this checkout.
    pub(super) fn path_in_project(&self, path: &[u8]) -> Option<RelPath> {
        RelPath::new(&[&self.prefix(), path].concat()).ok()
    }

    /// Converts a map keyed by paths in this checkout to paths in the project.
    pub(super) fn by_path_in_project<T>(&self, known: HashMap<RelPath, T>) -> HashMap<RelPath, T> {
        if self.mount.is_none() {
            return known;
        }
        let in_project = |(path, value): (RelPath, T)| Some((self.path_in_project(path.as_bytes())?, value));
        known.into_iter().filter_map(in_project).collect()
    }

    /// Returns the path in this checkout of a file of the project; `None` if it is in another one.
    pub(in crate::engine) fn path_inside<'p>(
        &self,
        workspace: &Workspace<'_>,
        path: &'p RelPath,
    ) -> Option<&'p [u8]> {
        let mounted = workspace.files.mount_of(path.as_bytes());
        match (&self.mount, mounted) {
            (None, None) => Some(path.as_bytes()),
            (Some(own), Some((mount, inside))) if own.linked == mount.linked => Some(inside),
            (_, _) => None,
        }
    }

    /// Runs git; `None` if it cannot be run, or fails.
    pub(super) fn git(&self, arguments: &[&str], input: &[u8]) -> Option<ProcessOutput> {
        // Git is run by path, so its answer only counts if the path still leads to the linked folder afterwards.
        let is_in_place = || self.mount.as_ref().is_none_or(Mount::is_in_place);
        if !is_in_place() {
            return None;
        }
        match run_git(self.processes, &self.folder, arguments, input) {
            Ok(finished) => (finished.success && is_in_place()).then_some(finished),
            Err(error) => {
                // A missing git is not a failure: there are just no histories. Only the first failure is reported.
                if error.kind() != io::ErrorKind::NotFound {
                    let _ = self.fault.set(error);
                }
                None
            }
        }
    }

    /// Returns git's answer as one line; `None` if it cannot be run, or fails.
    pub(super) fn line(&self, arguments: &[&str]) -> Option<String> {
        let line = String::from_utf8(self.git(arguments, b"")?.stdout).ok()?;
        Some(line.trim().to_owned())
    }

    /// Returns the arguments that disable the filters in git's settings; `None` if one cannot be disabled.
    pub(super) fn filters(&self) -> Option<Vec<String>> {
        disabled_filters(&self.git(&["config", "--list", "--name-only", "-z"], b"")?.stdout)
    }

    /// Returns the tracked files whose bytes differ between a commit and the working tree, including those that exist
    /// in only one of them, each with whether it is a regular file in the commit. Paths are those in the project.
    ///
    /// To compare a file with a new stamp, git runs the filters that the checkout's configuration names. They are
    /// disabled, so that no program of the checkout runs; files that a filter such as git-lfs would restore then count
    /// as changed.
    pub(super) fn changed_since(&self, filters: &[String], commit: &str) -> Option<HashMap<RelPath, bool>> {
        let mut arguments: Vec<&str> = filters.iter().flat_map(|filter| ["-c", filter]).collect();
        // For a submodule, git would check whether it is clean, using the submodule's own configuration.
        arguments
            .extend(["diff", "--raw", "--no-abbrev", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"]);
        arguments.extend(["--ignore-submodules=all", "--relative", commit, "--"]);
        let changes = read_edits(&self.git(&arguments, b"")?.stdout);
        let was_file = |edits: &[FileEdit]| edits.iter().any(|edit| edit.before.is_some());
        let changes = changes.into_iter().map(|(path, edits)| (path, was_file(&edits))).collect();
        Some(self.by_path_in_project(changes))
    }
}

/// Notes failures of git, so that results without its answers are not cached. Returns whether there were any.
pub(in crate::engine) fn note_faults(workspace: &mut Workspace<'_>, checkouts: &[Checkout<'_>]) -> bool {
    let mut has_failed = false;
    for checkout in checkouts {
        if let Some(fault) = checkout.fault.get() {
            let folder = path_text(path_bytes(&checkout.folder));
            workspace.note(format!(
                "git did not answer in {folder}: {fault}; its files are shown without their history"
            ));
            has_failed = true;
        }
    }
    has_failed
}

/// A value for each checkout of a project, by [`Checkout::name`]. Linked folders without one have an entry too, so that
/// their files are not attributed to the project's own checkout.
#[derive(Debug)]
pub(in crate::engine) struct PerCheckout<T>(BTreeMap<String, Option<T>>);

impl<T> PerCheckout<T> {
    pub(super) fn new(
        workspace: &Workspace<'_>,
        known: impl IntoIterator<Item = (String, Option<T>)>,
    ) -> Self {
        let linked = workspace.files.mounts().iter();
        let mut all: BTreeMap<String, Option<T>> =
            linked.map(|mount| (mount.linked.name.clone(), None)).collect();
        all.extend(known);
        Self(all)
    }

    /// Maps the values of all checkouts that have one.
    pub(super) fn map<U>(&self, mut value: impl FnMut(&str, &T) -> Option<U>) -> PerCheckout<U> {
        let mapped = self.0.iter().map(|(name, own)| {
            let own = own.as_ref().and_then(|own| value(name, own));
            (name.clone(), own)
        });
        PerCheckout(mapped.collect())
    }

    /// Returns the value of the checkout with this name.
    pub(in crate::engine) fn get(&self, name: &str) -> Option<&T> {
        self.0.get(name)?.as_ref()
    }

    /// Returns the value of the checkout that contains a file of the project.
    pub(in crate::engine) fn of_file(&self, path: &RelPath) -> Option<&T> {
        self.get(self.name_of(path))
    }

    /// Returns the name of the checkout that contains a file of the project.
    pub(in crate::engine) fn name_of<'p>(&self, path: &'p RelPath) -> &'p str {
        let name = resource_name(path.as_bytes()).and_then(|name| std::str::from_utf8(name).ok());
        name.filter(|name| self.0.contains_key(*name)).unwrap_or_default()
    }

    /// Returns the checkouts that contain some files of the project.
    pub(in crate::engine) fn checkouts_of<'w>(
        &self,
        workspace: &Workspace<'w>,
        files: &[KnownFile],
    ) -> Vec<Checkout<'w>> {
        let names: BTreeSet<&str> = files.iter().map(|file| self.name_of(&file.path)).collect();
        let mut checkouts = Checkout::all(workspace);
        checkouts.retain(|checkout| names.contains(checkout.name()));
        checkouts
    }

    /// Returns the checkouts with a value: the project's own first, then the linked ones by name.
    pub(in crate::engine) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_ref()?)))
    }
}

/// Returns arguments that disable each filter in git's settings; `None` if one cannot be disabled, because on the
/// command line a setting's name ends at its first `=`.
fn disabled_filters(settings: &[u8]) -> Option<Vec<String>> {
    let mut blanked = Vec::new();
    for name in settings.split(|byte| *byte == 0).filter(|name| name.starts_with(b"filter.")) {
        let name = std::str::from_utf8(name).ok().filter(|name| !name.contains('='))?;
        let (filter, _) = name.rsplit_once('.')?;
        // A required filter that is blank would make git fail instead of passing the bytes on.
        let keys = [("clean", ""), ("process", ""), ("smudge", ""), ("required", "false")];
        blanked.extend(keys.map(|(key, value)| format!("{filter}.{key}={value}")));
    }
    blanked.sort_unstable();
    blanked.dedup();
    Some(blanked)
}
