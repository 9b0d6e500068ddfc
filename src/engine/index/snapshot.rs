//! A snapshot of the whole tree: the listed files, their cached data, and their current stamps.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::examine::ExaminedFile;
use super::scope::{SnapshotScope, place_of};
use crate::discover;
use crate::discover::{DiscoveredFile, HeaderNeighbors};
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::timings::AnswerStep;
use crate::engine::workspace::{
    EVENT_DEADLINE_NS, FileRows, TrackedListing, TreeSnapshot, Workspace, is_racy,
};
use crate::model::{RelPath, in_parallel};
use crate::store::FileRow;
use crate::sys::{FileStat, Files};

/// The number of files below which one thread is faster than two.
const FILES_FOR_A_THREAD: usize = 512;

/// The cached data about the tree before any file is read.
pub(super) struct ProjectSnapshot {
    pub(super) listed: Arc<TrackedListing>,
    /// The rows of the covered files; for named files, no others.
    pub(super) rows: Arc<FileRows>,
    /// The positions of the covered files in the listing, ascending.
    pub(super) places: Vec<usize>,
    /// The file system's metadata of each of them.
    stats: Vec<Option<FileStat>>,
    /// Whether the stored data was made by this program's producers.
    pub(super) is_current: bool,
    /// The earlier state, if anything is cached between answers.
    pub(super) tree: Option<TreeSnapshot>,
    /// When that was taken, by the machine's clock.
    pub(super) began_ns: i64,
}

impl ProjectSnapshot {
    /// Returns whether git tracks a file.
    pub(super) fn is_tracked(&self, path: &RelPath) -> bool {
        place_of(path, self.files()).is_some_and(|at| self.files()[at].tracked)
    }

    /// Returns the metadata of the listed file at a position; `None` if it was not requested.
    pub(super) fn stat(&self, at: usize) -> Option<FileStat> {
        let is_all = self.places.len() == self.files().len();
        let index = if is_all { Some(at) } else { self.places.binary_search(&at).ok() };
        index.and_then(|index| self.stats[index])
    }

    /// Returns the files that the project lists, by path.
    pub(super) fn files(&self) -> &[DiscoveredFile] {
        &self.listed.listing.files
    }

    /// Returns whether a file was reported as changed, and not read since.
    pub(super) fn is_dirty(&self, path: &RelPath) -> bool {
        self.tree.as_ref().is_some_and(|began| began.is_dirty(path))
    }
}

/// Lists the files, and takes the stamps of the covered ones.
pub(super) fn take_snapshot(
    cache: &mut ArtifactCache<'_>,
    scope: &SnapshotScope<'_>,
) -> Result<ProjectSnapshot, Error> {
    let began_ns = cache.workspace.world.clock.now_ns();
    let (rows, began) = match cache.workspace.tracker.clone() {
        Some(tree) => {
            // Before the rows are taken: they then include what another session stores in between.
            let began = tree.snapshot(&cache.workspace.options.names);
            (cache.shared_rows(&tree), Some(began))
        }
        None => (Arc::new(cache.stored_rows()), None),
    };
    let timer = cache.workspace.steps.time(AnswerStep::List);
    let kept = began.as_ref().and_then(|began| match (scope, &began.listed) {
        (SnapshotScope::Reported(_), Some(listed)) => Some(Arc::clone(listed)),
        (_, _) => cache.workspace.reusable_listing(began),
    });
    // If there is none, the time of the listing is measured too.
    drop(timer);
    let StampedListing { listed, places, stats } = match kept {
        Some(listed) => {
            let files = &listed.listing.files;
            let places = scope.places(files);
            let paths: Vec<&RelPath> = places.iter().map(|at| &files[*at].path).collect();
            let stats = stat_all(&cache.workspace, &paths);
            StampedListing { listed, places, stats }
        }
        None => list_and_stat(cache, &rows, began.as_ref(), scope)?,
    };
    let rows = scope.rows(rows, &listed.listing.files, cache.workspace.tracker.as_deref());
    // Also those of a cached listing: an answer from the cache has to equal a new one.
    for note in &listed.listing.notes {
        cache.workspace.note(note.clone());
    }
    // Without a store, nothing was made by another program.
    let is_current =
        cache.has_current_producers() || (cache.store.is_none() && cache.workspace.tracker.is_some());
    Ok(ProjectSnapshot { listed, rows, places, stats, is_current, tree: began, began_ns })
}

/// A listing, and the metadata of the covered files at their positions.
struct StampedListing {
    listed: Arc<TrackedListing>,
    places: Vec<usize>,
    stats: Vec<Option<FileStat>>,
}

/// Lists the files again, and takes the stamps of known files concurrently.
fn list_and_stat(
    cache: &ArtifactCache<'_>,
    rows: &FileRows,
    began: Option<&TreeSnapshot>,
    scope: &SnapshotScope<'_>,
) -> Result<StampedListing, Error> {
    let (listed, stats) = cache.workspace.list_files(Some(rows), began, skew_ns(cache, began), || {
        // By the stored rows, because the listing is made at the same time. A file without a row is read anyway, so it
        // needs no stat here.
        let paths: Vec<&RelPath> = rows.keys().filter(|path| scope.matches(path)).collect();
        let stats = stat_all(&cache.workspace, &paths);
        paths.into_iter().zip(stats).collect::<FxHashMap<_, _>>()
    })?;
    let files = &listed.listing.files;
    let places = scope.places(files);
    let stats = places.iter().map(|at| stats.get(&files[*at].path).copied().flatten()).collect();
    Ok(StampedListing { listed, places, stats })
}

/// Counts the files that will be read because their stamps have changed although no event reported them in time.
pub(super) fn count_missed(cache: &ArtifactCache<'_>, to_read: &[RelPath], snapshot: &ProjectSnapshot) {
    let (Some(tree), Some(began)) = (&cache.workspace.tracker, &snapshot.tree) else { return };
    // Before everything was scanned once, a difference says nothing about events: the change may be older than the
    // watch.
    if !began.is_complete {
        return;
    }
    // The event of a later change may still have been on its way when the reports were looked up; since then, a starved
    // process may have waited for longer than the deadline.
    let reported_until_ns = snapshot.began_ns.saturating_sub(EVENT_DEADLINE_NS);
    let is_missed = |path: &&RelPath| {
        let stat = place_of(path, snapshot.files()).and_then(|at| snapshot.stat(at));
        let row = snapshot.rows.get(*path);
        !snapshot.is_dirty(path)
            // Some linked folders cannot be watched.
            && cache.workspace.files.mount_of(path.as_bytes()).is_none()
            && row.zip(stat).is_some_and(|(row, stat)| {
                row.stamp.is_some_and(|stamp| stamp != stat.stamp) && stat.stamp.ctime_ns < reported_until_ns
            })
    };
    tree.count_missed(to_read.iter().filter(is_missed).count() as u64);
}

/// Notes a file whose bytes changed although its stamp did not; only a paranoid project reads such a file.
pub(super) fn report_stamp_mismatch(
    cache: &mut ArtifactCache<'_>,
    examined: &ExaminedFile,
    row: Option<&Arc<FileRow>>,
    is_dirty: bool,
) {
    let Some(row) = row.filter(|_| cache.workspace.paranoid && !is_dirty) else { return };
    let is_believed =
        row.stamp.is_some_and(|stamp| Some(stamp) == examined.stamp && !is_racy(&stamp, row.read_at_ns));
    if is_believed && !examined.outcome.is_as_stored(&row.state) {
        if let Some(tree) = &cache.workspace.tracker {
            tree.count_mismatch();
        }
        cache.workspace.note(format!(
            "{} has other bytes than its stamp promised; the answer has those of now",
            row.path
        ));
    }
}

/// Returns how far the file system's clock is ahead of the machine's, if a listing made now is cached.
fn skew_ns(cache: &ArtifactCache<'_>, began: Option<&TreeSnapshot>) -> i64 {
    if began.is_some_and(|began| began.is_trusted) { cache.clock_skew_ns() } else { 0 }
}

/// The sources that decide the languages of headers that are named by their paths.
#[derive(Default)]
pub(super) struct NamedHeaders {
    /// By the headers' folder.
    of_folders: FxHashMap<Vec<u8>, Arc<HeaderNeighbors>>,
    of_project: Option<Arc<HeaderNeighbors>>,
}

impl NamedHeaders {
    /// Returns the sources that decide the language of a header; none for any other file. Those in its folder usually
    /// suffice, and the whole project is listed only if they do not. `began` is the state when the answer began.
    pub(super) fn neighbors(
        &mut self,
        cache: &ArtifactCache<'_>,
        path: &RelPath,
        began: Option<&TreeSnapshot>,
    ) -> Arc<HeaderNeighbors> {
        let folder = path.parent();
        if !discover::is_header(path) {
            return Arc::default();
        }
        if let Some(known) = self.of_folders.get(folder) {
            return Arc::clone(known);
        }
        // A folder that cannot be read decides nothing; the listing below does.
        let names = cache.workspace.files.entry_names(folder).unwrap_or_default();
        let join = |name: Vec<u8>| match folder {
            b"" => RelPath::new(&name).ok(),
            folder => RelPath::new(&[folder, b"/", &name].concat()).ok(),
        };
        let paths: Vec<RelPath> = names.into_iter().filter_map(join).collect();
        let mut neighbors = Arc::new(HeaderNeighbors::from_paths(paths.iter()));
        if !neighbors.decides_in(folder) {
            self.of_project = self.of_project.take().or_else(|| listed_neighbors(cache, began));
            neighbors = self.of_project.clone().unwrap_or(neighbors);
        }
        self.of_folders.insert(folder.to_vec(), Arc::clone(&neighbors));
        neighbors
    }
}

/// Returns the sources of the whole project; `None` if it cannot be listed.
fn listed_neighbors(cache: &ArtifactCache<'_>, began: Option<&TreeSnapshot>) -> Option<Arc<HeaderNeighbors>> {
    let kept = began.and_then(|began| cache.workspace.reusable_listing(began));
    let listed = kept.or_else(|| {
        let listed = cache.workspace.list_files(None, began, skew_ns(cache, began), || ());
        listed.map(|(listed, ())| listed).ok()
    });
    listed.map(|listed| Arc::clone(&listed.neighbors))
}

/// Takes the stamps of files, on two cores if there are many.
fn stat_all(workspace: &Workspace<'_>, paths: &[&RelPath]) -> Vec<Option<FileStat>> {
    let _timer = workspace.steps.time(AnswerStep::Stat);
    let files = &workspace.files;
    let take = |paths: &[&RelPath], stats: &mut [Option<FileStat>]| {
        for (path, stat) in paths.iter().zip(stats) {
            *stat = files.stat(path).ok();
        }
    };
    let mut stats = vec![None; paths.len()];
    // A refresh after an edit needs those of one file: starting a thread takes longer.
    if paths.len() < 2 * FILES_FOR_A_THREAD {
        take(paths, &mut stats);
    } else {
        let (first, second) = paths.split_at(paths.len() / 2);
        let (of_first, of_second) = stats.split_at_mut(first.len());
        in_parallel(|| take(second, of_second), || take(first, of_first));
    }
    stats
}
