//! inotify: one watch for each folder, with the crate `notify`.

use std::io;
use std::path::{Path, PathBuf};

use notify::event::{CreateKind, ModifyKind};
use notify::{
    Config, EventKind, EventKindMask, INotifyWatcher, PathOp, RecursiveMode, WatchPathConfig, Watcher,
};

use super::inbox::{PathChange, WatchEvent};
use super::source::{EventHandler, EventSource, WatchError, WatchQueue};

/// The machine's inotify.
#[derive(Debug)]
pub(super) struct InotifySource;

impl EventSource for InotifySource {
    fn open(&self, mut handler: EventHandler) -> io::Result<Box<dyn WatchQueue>> {
        // Writes through a memory map are only revealed when the writer closes the file. Opening and closing by
        // readers, mostly this program itself, is not subscribed to.
        let kinds = EventKindMask::CORE | EventKindMask::ACCESS_CLOSE;
        let config = Config::default().with_follow_symlinks(false).with_event_kinds(kinds);
        let handle = move |event: notify::Result<notify::Event>| {
            for event in to_watch_events(event) {
                handler(event);
            }
        };
        let watcher = INotifyWatcher::new(handle, config).map_err(into_io)?;
        Ok(Box::new(InotifyQueue(watcher)))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the window")]
    fn limit(&self) -> Option<u64> {
        // The second limit is that of the user's namespace, and may be lower.
        let files = ["/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches"];
        let limits = files.iter().filter_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok());
        limits.min()
    }

    #[expect(clippy::cast_sign_loss, reason = "the number is a pattern of 32 bits")]
    fn file_system(&self, folder: &Path) -> io::Result<u64> {
        Ok(rustix::fs::statfs(folder)?.f_type as u64 & 0xffff_ffff)
    }
}

struct InotifyQueue(INotifyWatcher);

impl WatchQueue for InotifyQueue {
    fn watch(&mut self, folders: Vec<PathBuf>, follow: bool) -> Result<Vec<PathBuf>, WatchError> {
        let config = WatchPathConfig::new(RecursiveMode::NonRecursive).with_dereference_symlinks(follow);
        let mut watched = folders.clone();
        let mut left: Vec<PathOp> =
            folders.into_iter().map(|folder| PathOp::Watch(folder, config.clone())).collect();
        let mut passed_over = Vec::new();
        while let Err(failed) = self.0.update_paths(std::mem::take(&mut left)) {
            left = failed.remaining;
            match classify_error(failed.source) {
                None => passed_over.extend(failed.origin.map(PathOp::into_path)),
                Some(error) => return Err(error),
            }
        }
        if !passed_over.is_empty() {
            let passed_over: std::collections::HashSet<PathBuf> = passed_over.into_iter().collect();
            watched.retain(|folder| !passed_over.contains(folder));
        }
        Ok(watched)
    }

    fn unwatch(&mut self, folders: Vec<PathBuf>) {
        let mut left: Vec<PathOp> = folders.into_iter().map(PathOp::Unwatch).collect();
        // A watch that no longer exists is the desired result.
        while let Err(failed) = self.0.update_paths(std::mem::take(&mut left)) {
            left = failed.remaining;
        }
    }
}

/// Returns `None` if the folder should be skipped.
fn classify_error(error: notify::Error) -> Option<WatchError> {
    use io::ErrorKind;
    let error = match error.kind {
        notify::ErrorKind::PathNotFound | notify::ErrorKind::WatchNotFound => return None,
        notify::ErrorKind::MaxFilesWatch => return Some(WatchError::OutOfWatches),
        notify::ErrorKind::Io(error) => error,
        notify::ErrorKind::Generic(text) => io::Error::other(text),
        kind @ notify::ErrorKind::InvalidConfig(_) => io::Error::other(notify::Error::new(kind)),
    };
    // Link loops and too long names have error kinds that are not stable yet.
    let is_unnamed =
        [rustix::io::Errno::LOOP, rustix::io::Errno::NAMETOOLONG].map(rustix::io::Errno::raw_os_error);
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied => None,
        _ if error.raw_os_error().is_some_and(|number| is_unnamed.contains(&number)) => None,
        _ => Some(WatchError::Io(error)),
    }
}

fn into_io(error: notify::Error) -> io::Error {
    match error.kind {
        notify::ErrorKind::Io(error) => error,
        kind => io::Error::other(notify::Error::new(kind)),
    }
}

/// Converts an event of the system, one for each of its paths.
fn to_watch_events(event: notify::Result<notify::Event>) -> Vec<WatchEvent> {
    let event = match event {
        Ok(event) => event,
        Err(error) if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) => {
            return vec![WatchEvent::OutOfWatches];
        }
        Err(error) => {
            return vec![WatchEvent::Lost(format!("the event queue reported an error ({error})"))];
        }
    };
    if event.need_rescan() {
        return vec![WatchEvent::Lost("the system's queue of events overflowed".to_owned())];
    }
    if event.info() == Some("unmount") {
        return event.paths.into_iter().map(WatchEvent::Unmounted).collect();
    }
    let what = match event.kind {
        EventKind::Create(CreateKind::Folder) => PathChange::CreatedFolder,
        EventKind::Create(_) => PathChange::CreatedFile,
        EventKind::Remove(_) => PathChange::Removed,
        EventKind::Modify(ModifyKind::Name(_)) => PathChange::Moved,
        EventKind::Modify(ModifyKind::Metadata(_)) => PathChange::MetadataChanged,
        EventKind::Modify(_) | EventKind::Access(_) | EventKind::Any | EventKind::Other => {
            PathChange::Modified
        }
    };
    event.paths.into_iter().map(|path| WatchEvent::Path(what, path)).collect()
}
