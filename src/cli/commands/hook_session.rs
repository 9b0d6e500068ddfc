//! The files that an agent has opened in a session, recorded by one hook for another.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::model::ContentHash;
use crate::sys::{Clock, Disk, RealDisk, WallClock};

/// How many files are remembered.
const MAX_FILES: usize = 40;
/// How long the record of a paused session is kept.
const MAX_AGE: Duration = Duration::from_hours(14 * 24);

/// The files that were opened in one session, in a file that only the user can read.
pub(super) struct OpenedFiles {
    folder: PathBuf,
    /// `None` if the agent does not name its session.
    file: Option<PathBuf>,
}

impl OpenedFiles {
    pub(super) fn of_session(folder: &Path, root: &Path, session: Option<&str>) -> Self {
        // The name comes from outside, and may be any text.
        let file = session.map(|session| {
            let name = ContentHash::digest(format!("{}\0{session}", root.display()).as_bytes());
            folder.join(name.to_string())
        });
        Self { folder: folder.to_owned(), file }
    }

    /// Records that a file was opened; returns whether this is the first time.
    pub(super) fn note(&self, path: &str) -> bool {
        let Some(file) = &self.file else { return true };
        // A file that cannot be recorded is merely not shown later.
        let _ = RealDisk.create_private_folder(&self.folder);
        // An agent that opens several files at once calls a hook for each.
        let _lock = RealDisk.lock_folder(&self.folder);
        let mut paths = self.read();
        let is_first = !paths.iter().any(|known| known == path);
        paths.retain(|known| known != path);
        paths.push(path.to_owned());
        let kept = &paths[paths.len().saturating_sub(MAX_FILES)..];
        let _ = RealDisk.replace_private(file, kept.join("\0").as_bytes());
        is_first
    }

    /// Returns the files, most recently opened first.
    pub(super) fn newest_first(&self) -> Vec<String> {
        let mut paths = self.read();
        paths.reverse();
        paths
    }

    /// Deletes the records of sessions that ended long ago.
    pub(super) fn forget_old(&self) {
        let oldest = WallClock.now_ns() - i64::try_from(MAX_AGE.as_nanos()).unwrap_or(i64::MAX);
        for name in RealDisk.entry_names(&self.folder).unwrap_or_default() {
            let file = self.folder.join(name);
            if RealDisk.stamp(&file).is_ok_and(|stamp| stamp.is_some_and(|stamp| stamp.mtime_ns < oldest)) {
                let _ = RealDisk.remove_file(&file);
            }
        }
    }

    fn read(&self) -> Vec<String> {
        let bytes =
            self.file.as_ref().and_then(|file| RealDisk.read(file).ok().flatten()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_opened_at_once_are_all_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let session = || OpenedFiles::of_session(folder.path(), Path::new("/p"), Some("s"));
        let mut expected: Vec<String> = (0..MAX_FILES).map(|number| format!("two\nlines{number}")).collect();
        std::thread::scope(|scope| {
            for path in &expected {
                scope.spawn(move || assert!(session().note(path)));
            }
        });
        let mut recorded = session().newest_first();
        recorded.sort_unstable();
        expected.sort_unstable();
        assert_eq!(recorded, expected);
        assert!(!session().note(&expected[0]));
    }
}
