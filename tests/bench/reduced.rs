//! Compares cost and results of parsing preprocessed texts with full parses, file by file on one thread.
//!
//! `cargo run --release --example reduced -- [SWITCH…] FOLDER… [FILE…]` prints a line of figures for each language of
//! each folder. `--show` prints each symbol that differs (`-` only in the full parse, `+` only in the preprocessed one,
//! `~` in both, with different properties), `--skeletons` lists the files whose skeletons differ, `--text` prints only
//! the preprocessed text of each file, `--only LANGUAGE` selects one language.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement looks at real files and prints figures for a person"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use slop::internals::discover::{HeaderNeighbors, content_facts, detect_file_type, read_as_text};
use slop::internals::model::{Outline, RelPath, Symbol};
use slop::internals::syntax::{FileStructure, derive, derive_without_preprocessing, preprocessed_text};
use slop::internals::sys::{Clock, WallClock};

/// The same allocator as in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The size above which slop does not parse a file.
const MAX_BYTES: u64 = 8 << 20;

/// The languages with scanners.
const LANGUAGES: [&str; 3] = ["c", "cpp", "python"];

#[derive(Default)]
struct ScannerSwitches {
    show: bool,
    skeletons: bool,
    text: bool,
    only: Option<String>,
}

#[derive(Default)]
struct ScannerFigures {
    files: usize,
    reduced_files: usize,
    bytes: usize,
    reduced_bytes: usize,
    scan: Duration,
    full: Duration,
    reduced: Duration,
    same_outline: usize,
    same_skeleton: usize,
    only_full: usize,
    only_reduced: usize,
    recovered: usize,
}

fn main() {
    let mut switches = ScannerSwitches::default();
    let mut folders = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--show" => switches.show = true,
            "--skeletons" => switches.skeletons = true,
            "--text" => switches.text = true,
            "--only" => switches.only = arguments.next(),
            _ => folders.push(PathBuf::from(argument)),
        }
    }
    for folder in folders {
        measure(&folder, &switches);
    }
}

fn measure(folder: &Path, switches: &ScannerSwitches) {
    let files = files(folder);
    let neighbors = HeaderNeighbors::from_paths(files.iter().map(|(path, _)| path));
    let mut all: BTreeMap<&'static str, ScannerFigures> = BTreeMap::new();
    for (path, file) in &files {
        let Ok(bytes) = std::fs::read(file) else { continue };
        let Ok(text) = read_as_text(&bytes) else { continue };
        let language = detect_file_type(path, &content_facts(&bytes, Some(&text), path), &neighbors).id;
        let is_wanted = switches.only.as_ref().is_none_or(|only| only == language);
        if !is_wanted || !LANGUAGES.contains(&language) {
            continue;
        }
        if switches.text {
            println!(
                "{}",
                preprocessed_text(language, &text.text).unwrap_or_else(|| "(not reduced)".to_owned())
            );
        } else {
            compare(file, language, &text.text, switches, all.entry(language).or_default());
        }
    }
    for (language, figures) in all {
        println!("{} {language}: {}", folder.display(), told(&figures));
    }
}

fn compare(
    file: &Path,
    language: &str,
    text: &str,
    switches: &ScannerSwitches,
    figures: &mut ScannerFigures,
) {
    let (scan, left) = timed(|| preprocessed_text(language, text));
    let (full_time, full) = timed(|| derive_without_preprocessing(language, text, &mut || false));
    let (reduced_time, reduced) = timed(|| derive(language, text, &mut || false));
    let (Some(full), Some(reduced)) = (full, reduced) else { return };
    figures.files += 1;
    figures.bytes += text.len();
    figures.reduced_files += usize::from(left.is_some());
    figures.reduced_bytes += left.map_or(text.len(), |left| left.len());
    figures.scan += scan;
    figures.full += full_time;
    figures.reduced += reduced_time;
    figures.same_skeleton += usize::from(full.skeleton.text == reduced.skeleton.text);
    if switches.skeletons && full.skeleton.text != reduced.skeleton.text {
        let (ours, theirs) = (reduced.skeleton.text.lines(), full.skeleton.text.lines());
        let other = ours.zip(theirs).enumerate().find(|(_, (ours, theirs))| ours != theirs);
        let (at, (ours, theirs)) = other.unwrap_or_default();
        println!("{}: another skeleton, line {}:\n    - {theirs}\n    + {ours}", file.display(), at + 1);
    }
    differences(file, &full, &reduced, switches, figures);
}

/// Counts, and optionally prints, the differences between two outlines.
fn differences(
    file: &Path,
    full: &FileStructure,
    reduced: &FileStructure,
    switches: &ScannerSwitches,
    figures: &mut ScannerFigures,
) {
    let (all_full, all_reduced) = (listed(&full.outline), listed(&reduced.outline));
    figures.recovered += all_reduced.iter().filter(|(symbol, _)| symbol.recovered).count();
    let is_same = all_full.iter().map(|(_, told)| told).eq(all_reduced.iter().map(|(_, told)| told))
        && full.outline.imports == reduced.outline.imports
        && full.outline.doc == reduced.outline.doc;
    figures.same_outline += usize::from(is_same);
    if is_same {
        return;
    }
    let mut counts: BTreeMap<String, isize> = BTreeMap::new();
    for (symbol, _) in &all_reduced {
        *counts.entry(identity(symbol)).or_default() += 1;
    }
    for (symbol, _) in &all_full {
        *counts.entry(identity(symbol)).or_default() -= 1;
    }
    figures.only_full += counts.values().map(|count| (-count).max(0).unsigned_abs()).sum::<usize>();
    figures.only_reduced += counts.values().map(|count| (*count).max(0).unsigned_abs()).sum::<usize>();
    if !switches.show {
        return;
    }
    let path = file.display();
    for (what, count) in counts.iter().filter(|(_, count)| **count != 0) {
        println!("{path}:{what} {}", if *count < 0 { '-' } else { '+' });
    }
    for ((symbol, one), (_, other)) in all_full.iter().zip(&all_reduced).filter(|((_, a), (_, b))| a != b) {
        if counts.values().all(|count| *count == 0) {
            println!("{path}:{} ~\n    {one}\n    {other}", identity(symbol));
        }
    }
    if full.outline.imports != reduced.outline.imports || full.outline.doc != reduced.outline.doc {
        println!("{path}: ~ imports or doc\n    {:?}\n    {:?}", full.outline.doc, reduced.outline.doc);
    }
}

/// Returns the identity of a symbol in both outlines; it begins with the line, so that editors can jump to it.
fn identity(symbol: &Symbol) -> String {
    let (span, kind) = (symbol.span, symbol.kind.name());
    format!("{}-{} {kind} {}", span.start_line, span.end_line, symbol.qualified_name)
}

/// Returns all symbols of an outline with all of their properties.
fn listed(outline: &Outline) -> Vec<(&Symbol, String)> {
    let mut all = Vec::new();
    outline.walk(|symbol, depth| {
        let (span, doc) = (symbol.span, symbol.doc.as_deref().unwrap_or("-"));
        let told = format!(
            "{depth} {} {}-{} {} “{doc}”",
            identity(symbol),
            span.start_byte,
            span.end_byte,
            symbol.signature
        );
        all.push((symbol, told));
    });
    all
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let before = WallClock.thread_time();
    let result = work();
    (WallClock.thread_time().saturating_sub(before), result)
}

fn told(figures: &ScannerFigures) -> String {
    let share = |part: usize| 100.0 * part as f64 / figures.files.max(1) as f64;
    let megabytes = |bytes: usize| bytes as f64 / 1e6;
    let scanned = megabytes(figures.bytes) / figures.scan.as_secs_f64().max(1e-9);
    format!(
        "{} files, {} reduced, {:.1} → {:.1} MB, scan {:.0} MB/s; cpu full {:.2} s, reduced {:.2} s ({:.3}); \
         same outline {:.2} %, same skeleton {:.2} %; symbols only in full {}, only in reduced {}, recovered {}",
        figures.files,
        figures.reduced_files,
        megabytes(figures.bytes),
        megabytes(figures.reduced_bytes),
        scanned,
        figures.full.as_secs_f64(),
        figures.reduced.as_secs_f64(),
        figures.reduced.as_secs_f64() / figures.full.as_secs_f64().max(1e-9),
        share(figures.same_outline),
        share(figures.same_skeleton),
        figures.only_full,
        figures.only_reduced,
        figures.recovered,
    )
}

/// Returns the regular files of a folder by name, except hidden ones.
fn files(folder: &Path) -> Vec<(RelPath, PathBuf)> {
    let walk = ignore::WalkBuilder::new(folder).git_ignore(false).sort_by_file_name(Ord::cmp).build();
    let regular = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let small = regular.filter(|entry| entry.metadata().is_ok_and(|data| data.len() <= MAX_BYTES));
    small
        .filter_map(|entry| {
            let inner = entry.path().strip_prefix(folder).ok().filter(|inner| !inner.as_os_str().is_empty());
            let name =
                inner.map_or_else(|| entry.file_name().to_owned(), |inner| inner.as_os_str().to_owned());
            let path = RelPath::new(name.as_encoded_bytes()).ok()?;
            Some((path, entry.into_path()))
        })
        .collect()
}
