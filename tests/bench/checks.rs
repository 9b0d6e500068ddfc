//! The guarantees for the structure of any text, and the files to check: shared by `structure` and `fuzz`.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, thread};

use slop::internals::discover::HeaderNeighbors;
use slop::internals::model::{RelPath, Skeleton, Span, Symbol};
use slop::internals::syntax::FileStructure;
use slop::internals::sys::{Clock, WallClock};
use slop::internals::{discover, syntax};

/// The maximum time for any text.
const MAX_TIME: Duration = Duration::from_secs(2);

/// The maximum time for checking for errors, which no user waits for.
const MAX_COUNT_TIME: Duration = Duration::from_secs(20);

/// After this time, a derivation is in a loop that never checks for cancellation.
const MAX_WALL_TIME: Duration = Duration::from_mins(1);

/// The stack size of worker threads.
const STACK: usize = 2 << 20;

thread_local! {
    /// The message of this thread's last panic.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A source file with its language.
pub(crate) struct SourceSample {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// The result of checking a text.
#[derive(Default)]
pub(crate) struct StructureVerdict {
    /// `None` if it panicked.
    pub(crate) structure: Option<FileStructure>,
    /// Processor time of the derivation.
    pub(crate) time: Duration,
    /// Processor time of checking its skeleton, if that is needed.
    pub(crate) check_time: Duration,
    /// The number of error nodes in the text.
    pub(crate) errors: usize,
    /// The number of error nodes in its skeleton.
    pub(crate) skeleton_errors: usize,
    /// Violated guarantees; messages about the same fault begin with the same words.
    pub(crate) faults: Vec<String>,
}

/// Returns whether skeletons of the language must be valid code. Python's have `...` and a comment in place of a body,
/// and are not parsed again if the text had errors.
pub(crate) fn skeleton_is_checked(language: &str) -> bool {
    language != "python"
}

/// Returns the ids of all languages with structure, in order.
pub(crate) fn languages() -> Vec<&'static str> {
    let mut ids: Vec<_> = discover::all_file_types().map(|file_type| file_type.id).collect();
    ids.retain(|id| syntax::has_structure(id));
    ids.sort_unstable();
    ids
}

/// Returns the texts in a folder, recursively, with the ids of their types.
pub(crate) fn samples(folder: &Path) -> Vec<(&'static str, SourceSample)> {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    let name = |path: &Path| {
        let below = path.strip_prefix(folder).ok()?;
        RelPath::new(below.as_os_str().as_encoded_bytes()).ok()
    };
    let names: Vec<_> = files.iter().filter_map(|path| name(path)).collect();
    let neighbors = HeaderNeighbors::from_paths(names.iter());
    let sample = |path: PathBuf| {
        let name = name(&path)?;
        let bytes = fs::read(&path).ok()?;
        let text = discover::read_as_text(&bytes).ok()?;
        let facts = discover::content_facts(&bytes, Some(&text), &name);
        let language = discover::detect_file_type(&name, &facts, &neighbors).id;
        let text = text.text.into_owned();
        Some((language, SourceSample { path, text }))
    };
    files.into_iter().filter_map(sample).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            collect(&entry.path(), files);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
}

/// Derives the structure of `text` and checks all guarantees.
pub(crate) fn judge(language: &str, text: &str) -> StructureVerdict {
    let mut verdict = StructureVerdict::default();
    let began = WallClock.thread_time();
    let derived = catch_unwind(AssertUnwindSafe(|| syntax::derive(language, text, &mut after(MAX_TIME))));
    verdict.time = WallClock.thread_time().saturating_sub(began);
    if MAX_TIME <= verdict.time {
        verdict.faults.push(format!("slow: it took {:.1} s", verdict.time.as_secs_f64()));
    }
    let Ok(derived) = derived else {
        verdict.faults.push(format!("panic: {}", PANIC.take()));
        return verdict;
    };
    let Some(mut structure) = derived else {
        verdict.faults.push("none: the language has no structure".to_owned());
        return verdict;
    };
    if !structure.skeleton.is_checked {
        let Some(skeleton) = checked(language, text, &mut verdict) else { return verdict };
        structure.skeleton = skeleton;
    }
    let faults = &mut verdict.faults;
    let health = structure.outline.health;
    if health.total_bytes < health.broken_bytes {
        faults.push("health: more is broken than there is".to_owned());
    }
    if text.len() < structure.skeleton.text.len() {
        faults.push("skeleton: it is longer than the text".to_owned());
    }
    let starts: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    check_symbols(&CheckedText { text, starts }, &structure.outline.symbols, None, faults);
    count_errors(language, text, &structure, &mut verdict);
    verdict.structure = Some(structure);
    verdict
}

/// Returns the skeleton as it is shown; `None` if that panicked.
fn checked(language: &str, text: &str, verdict: &mut StructureVerdict) -> Option<Skeleton> {
    let began = WallClock.thread_time();
    let check = || syntax::checked_skeleton(language, text, &mut after(MAX_TIME));
    let Ok(checked) = catch_unwind(AssertUnwindSafe(check)) else {
        verdict.faults.push(format!("panic: {}", PANIC.take()));
        return None;
    };
    let time = WallClock.thread_time().saturating_sub(began);
    if MAX_TIME <= time {
        verdict.faults.push(format!("slow check: it took {:.1} s", time.as_secs_f64()));
    }
    verdict.check_time = time;
    checked
}

fn after(limit: Duration) -> impl FnMut() -> bool {
    let began = WallClock.thread_time();
    move || limit < WallClock.thread_time().saturating_sub(began)
}

/// A text with so many errors that it cannot be parsed quickly is no reference for its skeleton.
fn count_errors(language: &str, text: &str, structure: &FileStructure, verdict: &mut StructureVerdict) {
    if structure.outline.health.fallback.is_some() {
        return;
    }
    let Some(errors) = syntax::count_errors(language, text, &mut after(MAX_COUNT_TIME)) else { return };
    verdict.errors = errors;
    let skeleton = &structure.skeleton.text;
    match syntax::count_errors(language, skeleton, &mut after(MAX_COUNT_TIME)) {
        Some(errors) => verdict.skeleton_errors = errors,
        None => verdict.faults.push("skeleton: it cannot be parsed where its text can".to_owned()),
    }
    if skeleton_is_checked(language) && verdict.errors < verdict.skeleton_errors {
        let what = format!("skeleton: {} errors became {}", verdict.errors, verdict.skeleton_errors);
        verdict.faults.push(what);
    }
}

/// A text with the starts of its lines, except the first.
struct CheckedText<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl CheckedText<'_> {
    fn line(&self, offset: usize) -> u32 {
        let before = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}

/// Checks that spans are in order, within the text and within their parents.
fn check_symbols(text: &CheckedText<'_>, symbols: &[Symbol], around: Option<Span>, faults: &mut Vec<String>) {
    let mut last_start = 0;
    for symbol in symbols {
        let span = symbol.span;
        let is_within =
            |around: Span| around.start_byte <= span.start_byte && span.end_byte <= around.end_byte;
        let last_byte = span.end_byte.saturating_sub(1).max(span.start_byte);
        let promises = [
            ("span: it is no piece of the text", text.text.get(span.start_byte..span.end_byte).is_some()),
            ("line: it does not begin there", span.start_line == text.line(span.start_byte)),
            ("line: it does not end there", span.end_line == text.line(last_byte)),
            ("order: it stands before the one above it", last_start <= span.start_byte),
            ("order: it reaches out of what is around it", around.is_none_or(is_within)),
            ("name: it has none", !symbol.name.is_empty()),
            ("name: the qualified one ends with another", symbol.qualified_name.ends_with(&symbol.name)),
            ("signature: it has several lines", !symbol.signature.contains('\n')),
        ];
        for (promise, is_kept) in promises {
            if !is_kept {
                let (kind, name) = (symbol.kind.name(), symbol.name.escape_debug());
                faults.push(format!("{promise} ({kind} `{name}`, {span:?})"));
            }
        }
        last_start = span.start_byte;
        check_symbols(text, &symbol.children, Some(span), faults);
    }
}

/// Reports a text that never finishes, which no later check could do.
#[derive(Clone, Default)]
pub(crate) struct StallWatchdog(Arc<Mutex<Option<(Instant, String)>>>);

impl StallWatchdog {
    /// Records what is being checked.
    pub(crate) fn begin(&self, what: String) {
        if let Ok(mut current) = self.0.lock() {
            *current = Some((Instant::now(), what));
        }
    }

    fn look(&self) {
        let Ok(current) = self.0.lock() else { return };
        if let Some((began, what)) = current.as_ref().filter(|(began, _)| MAX_WALL_TIME < began.elapsed()) {
            println!("hang: {what} takes longer than {:.0} s", began.elapsed().as_secs_f64());
            std::process::exit(1);
        }
    }
}

/// Runs `work` on a thread with a worker's stack, supervised by another; a panic is recorded for the verdict.
pub(crate) fn watched(work: impl FnOnce(&StallWatchdog) -> bool + Send + 'static) -> bool {
    std::panic::set_hook(Box::new(|panic| PANIC.set(panic.to_string().replace('\n', " "))));
    let watch = StallWatchdog::default();
    let guard = watch.clone();
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            guard.look();
        }
    });
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || work(&watch));
    worker.ok().and_then(|worker| worker.join().ok()).unwrap_or_else(|| {
        // Nothing has printed it: the hook records the message of a panic.
        println!("panic: outside of a derive");
        false
    })
}
