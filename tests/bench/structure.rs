//! Checks the structure of real files: `cargo run --profile fast --example structure -- FOLDER [LANGUAGE]` derives the
//! structure of each file, prints a line of figures for each language, and fails if a guarantee is violated.
//!
//! The columns: files; megabytes; symbols; files without symbols; files and kilobytes that were not parsed correctly;
//! error nodes of the sources and of their skeletons; files whose skeleton has more of them than its source; ratio of
//! the bytes of skeletons and sources; milliseconds of processor time per megabyte, and for the check of the skeletons
//! that need one; the slowest file.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement looks at real files, says what it sees and may stop"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use checks::{SourceSample, StallWatchdog, StructureVerdict};

#[path = "checks.rs"]
mod checks;

/// Check the structure of real files
#[derive(Parser)]
struct StructureArgs {
    /// The folder of the files
    folder: PathBuf,
    /// The id of the only language to check
    language: Option<String>,
    /// Show this many of the failing files, and of those with parse errors
    #[arg(long, default_value_t = 0)]
    show: usize,
    /// Print rows of Markdown
    #[arg(long)]
    markdown: bool,
}

fn main() -> ExitCode {
    let args = StructureArgs::parse();
    let is_good = checks::watched(move |watch| run(&args, watch));
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(args: &StructureArgs, watch: &StallWatchdog) -> bool {
    let mut by_language: BTreeMap<&str, Vec<SourceSample>> = BTreeMap::new();
    for (language, sample) in checks::samples(&args.folder) {
        by_language.entry(language).or_default().push(sample);
    }
    let mut wanted = checks::languages();
    wanted.retain(|id| args.language.as_deref().is_none_or(|language| *id == language));
    if wanted.is_empty() {
        println!("no such language: there are {}", checks::languages().join(", "));
        return false;
    }
    println!("{}", row(args.markdown, &HEAD.map(str::to_owned)));
    if args.markdown {
        println!("{}", row(true, &HEAD.map(|_| "--:".to_owned())));
    }
    let mut is_good = true;
    for language in wanted {
        let samples = by_language.remove(language).unwrap_or_default();
        if !samples.is_empty() {
            is_good &= judge(args, language, &samples, watch);
        }
    }
    is_good
}

/// The totals of a language.
#[derive(Default)]
struct LanguageSums<'a> {
    bytes: usize,
    symbols: usize,
    empty: usize,
    unhealthy: usize,
    broken: u64,
    errors: usize,
    skeleton_errors: usize,
    skeleton_bytes: usize,
    time: Duration,
    check_time: Duration,
    slowest: Option<(Duration, &'a Path)>,
    worse: usize,
    faulty: Vec<String>,
    misunderstood: Vec<(u64, String)>,
}

impl<'a> LanguageSums<'a> {
    fn add(&mut self, language: &str, sample: &'a SourceSample, verdict: &StructureVerdict) {
        let path = sample.path.display();
        self.bytes += sample.text.len();
        self.time += verdict.time;
        self.check_time += verdict.check_time;
        if self.slowest.is_none_or(|(time, _)| time < verdict.time) {
            self.slowest = Some((verdict.time, &sample.path));
        }
        self.faulty.extend(verdict.faults.iter().map(|fault| format!("{path}: {fault}")));
        self.errors += verdict.errors;
        self.skeleton_errors += verdict.skeleton_errors;
        self.worse += usize::from(verdict.errors < verdict.skeleton_errors);
        let Some(structure) = &verdict.structure else { return };
        let mut symbols = 0;
        structure.outline.walk(|_, _| symbols += 1);
        self.symbols += symbols;
        self.empty += usize::from(symbols == 0);
        self.skeleton_bytes += structure.skeleton.text.len();
        let health = structure.outline.health;
        if !health.is_perfect() {
            let why = health.fallback.map_or("", |fallback| fallback.name());
            self.unhealthy += 1;
            self.broken += health.broken_bytes;
            self.misunderstood.push((health.broken_bytes, format!("{path}: {language} {health} {why}")));
        }
    }
}

const HEAD: [&str; 15] = [
    "language", "files", "MB", "symbols", "without", "unhealthy", "broken KB", "errors", "in skeletons",
    "worse", "ratio", "ms/MB", "check", "slowest ms", "faults",
];

fn judge(args: &StructureArgs, language: &str, samples: &[SourceSample], watch: &StallWatchdog) -> bool {
    let mut sums = LanguageSums::default();
    for sample in samples {
        watch.begin(sample.path.display().to_string());
        sums.add(language, sample, &checks::judge(language, &sample.text));
    }
    #[expect(clippy::cast_precision_loss, reason = "figures for a person")]
    let (bytes, left, broken) = (sums.bytes.max(1) as f64, sums.skeleton_bytes as f64, sums.broken as f64);
    let (slowest, slowest_path) = sums.slowest.unwrap_or((Duration::ZERO, &args.folder));
    let cells = [
        language.to_owned(),
        samples.len().to_string(),
        format!("{:.1}", bytes / 1e6),
        sums.symbols.to_string(),
        sums.empty.to_string(),
        sums.unhealthy.to_string(),
        format!("{:.1}", broken / 1e3),
        sums.errors.to_string(),
        sums.skeleton_errors.to_string(),
        sums.worse.to_string(),
        format!("{:.2}", left / bytes),
        format!("{:.1}", 1e3 * sums.time.as_secs_f64() / (bytes / 1e6)),
        format!("{:.1}", 1e3 * sums.check_time.as_secs_f64() / (bytes / 1e6)),
        format!("{:.0}", slowest.as_secs_f64() * 1e3),
        sums.faulty.len().to_string(),
    ];
    println!("{}", row(args.markdown, &cells));
    if 0 < args.show {
        println!("  slowest: {}", slowest_path.display());
    }
    sums.misunderstood.sort_by(|a, b| b.cmp(a));
    let misunderstood = sums.misunderstood.iter().map(|(_, line)| line);
    for line in sums.faulty.iter().take(args.show).chain(misunderstood.take(args.show)) {
        println!("  {line}");
    }
    sums.faulty.is_empty()
}

fn row(is_markdown: bool, cells: &[String]) -> String {
    if is_markdown {
        return format!("| {} |", cells.join(" | "));
    }
    let (first, others) = (&cells[0], &cells[1..]);
    let others: Vec<String> = others.iter().map(|cell| format!("{cell:>10}")).collect();
    format!("{first:12}{}", others.join(" ").replace("in skeletons", " skeletons"))
}
