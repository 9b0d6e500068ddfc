//! The checkouts of a project whose history git is asked for: its own, and those that are linked.

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

/// What all keys of linked checkouts begin with.
pub(super) const LINKED_KEYS: &str = "linked/";

/// A folder that git is run in.
#[derive(Clone)]
pub(in crate::engine) struct Checkout<'w> {
    processes: &'w dyn Processes,
    folder: PathBuf,
    /// The linked folder that it is; `None` for the project's own.
    mount: Option<Mount>,
    /// Why git did not answer, the first time that it did not. That there is no repository is an answer.
    fault: Arc<OnceLock<io::Error>>,
}

impl<'w> Checkout<'w> {
    /// Returns that of the project.
    pub(in crate::engine) fn of_project(workspace: &Workspace<'w>) -> Self {
        Self::new(workspace, workspace.root.clone(), None)
    }

    /// Returns that of the project, and the linked ones by name.
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

    /// Returns the name of the linked folder; it is empty for the project's own.
    pub(in crate::engine) fn name(&self) -> &str {
        self.mount.as_ref().map_or("", |mount| &mount.linked.name)
    }

    /// Returns what the paths of its files in the project begin with.
    pub(super) fn prefix(&self) -> Vec<u8> {
        let mount = self.mount.as_ref();
        mount.map_or_else(Vec::new, |mount| [mount.linked.mount_point().as_bytes(), b"/"].concat())
    }

    /// Returns under which key the store remembers something of this checkout.
    pub(in crate::engine) fn key(&self, key: &str) -> String {
        match &self.mount {
            Some(mount) => format!("{LINKED_KEYS}{}/{key}", mount.linked.name),
            None => key.to_owned(),
        }
    }

    /// Returns the path in the project of a path in this checkout.
    pub(super) fn path_in_project(&self, path: &[u8]) -> Option<RelPath> {
        RelPath::new(&[&self.prefix(), path].concat()).ok()
    }

    /// Returns what is known of paths in this checkout by their paths in the project.
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
        // Git is run by path, so its answer counts only if the path led to the linked folder all the time.
        let is_in_place = || self.mount.as_ref().is_none_or(Mount::is_in_place);
        if !is_in_place() {
            return None;
        }
        match run_git(self.processes, &self.folder, arguments, input) {
            Ok(finished) => (finished.success && is_in_place()).then_some(finished),
            Err(error) => {
                // Without git there are no histories, which is no fault of this one. Only the first fault is reported.
                if error.kind() != io::ErrorKind::NotFound {
                    let _ = self.fault.set(error);
                }
                None
            }
        }
    }

    /// Returns what git answers on one line; `None` if it cannot be run, or fails.
    pub(super) fn line(&self, arguments: &[&str]) -> Option<String> {
        let line = String::from_utf8(self.git(arguments, b"")?.stdout).ok()?;
        Some(line.trim().to_owned())
    }

    /// Returns what turns off the filters that git's settings name; `None` if one cannot be turned off.
    pub(super) fn filters(&self) -> Option<Vec<String>> {
        disabled_filters(&self.git(&["config", "--list", "--name-only", "-z"], b"")?.stdout)
    }

    /// Returns the files whose bytes differ between a commit and the working tree, as far as git tracks them; also those
    /// that one of both does not have. Each with whether the commit has it as a regular file. Paths are those in the
    /// project.
    ///
    /// To compare a file whose stamp is new, git runs the filters that the checkout's configuration names. They are
    /// blanked, so that no program of the checkout runs: what a filter would undo, as that of git-lfs, has changed then.
    pub(super) fn changed_since(&self, filters: &[String], commit: &str) -> Option<HashMap<RelPath, bool>> {
        let mut arguments: Vec<&str> = filters.iter().flat_map(|filter| ["-c", filter]).collect();
        // Of a submodule git would ask whether it is clean, by that one's own configuration.
        arguments
            .extend(["diff", "--raw", "--no-abbrev", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"]);
        arguments.extend(["--ignore-submodules=all", "--relative", commit, "--"]);
        let changes = read_edits(&self.git(&arguments, b"")?.stdout);
        let was_file = |edits: &[FileEdit]| edits.iter().any(|edit| edit.before.is_some());
        let changes = changes.into_iter().map(|(path, edits)| (path, was_file(&edits))).collect();
        Some(self.by_path_in_project(changes))
    }
}

/// Notes where git did not answer, so that what is made without its answers is not kept. Returns whether it was so anywhere.
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

/// Something that each checkout of a project has, by [`Checkout::name`]. Linked folders without it have an entry too, so that
/// none of their files is taken for one of the project's own.
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

    /// Returns what each checkout that has something has of it.
    pub(super) fn map<U>(&self, mut value: impl FnMut(&str, &T) -> Option<U>) -> PerCheckout<U> {
        let mapped = self.0.iter().map(|(name, own)| {
            let own = own.as_ref().and_then(|own| value(name, own));
            (name.clone(), own)
        });
        PerCheckout(mapped.collect())
    }

    /// Returns what the checkout of this name has.
    pub(in crate::engine) fn get(&self, name: &str) -> Option<&T> {
        self.0.get(name)?.as_ref()
    }

    /// Returns what the checkout has that a file of the project is in.
    pub(in crate::engine) fn of_file(&self, path: &RelPath) -> Option<&T> {
        self.get(self.name_of(path))
    }

    /// Returns the name of the checkout that a file of the project is in.
    pub(in crate::engine) fn name_of<'p>(&self, path: &'p RelPath) -> &'p str {
        let name = resource_name(path.as_bytes()).and_then(|name| std::str::from_utf8(name).ok());
        name.filter(|name| self.0.contains_key(*name)).unwrap_or_default()
    }

    /// Returns the checkouts of the project that some files are in.
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

    /// Returns the checkouts that have it: the project's own first, then the linked ones by name.
    pub(in crate::engine) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_ref()?)))
    }
}

/// Returns what turns off each filter among git's settings; `None` if one cannot be turned off, because a command line
/// ends a setting's name at its first `=`.
fn disabled_filters(settings: &[u8]) -> Option<Vec<String>> {
    let mut blanked = Vec::new();
    for name in settings.split(|byte| *byte == 0).filter(|name| name.starts_with(b"filter.")) {
        let name = std::str::from_utf8(name).ok().filter(|name| !name.contains('='))?;
        let (filter, _) = name.rsplit_once('.')?;
        // A filter that is required and blank would make git fail instead of passing the bytes on.
        let keys = [("clean", ""), ("process", ""), ("smudge", ""), ("required", "false")];
        blanked.extend(keys.map(|(key, value)| format!("{filter}.{key}={value}")));
    }
    blanked.sort_unstable();
    blanked.dedup();
    Some(blanked)
}
