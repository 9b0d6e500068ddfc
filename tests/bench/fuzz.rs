//! Searches for texts that violate the guarantees for a language by damaging real files at random.
//!
//! `cargo run --profile fast --example fuzz -- FOLDER LANGUAGE --seconds 600`, or `--all` instead of LANGUAGE for every
//! language with files in the folder. Given a file instead of a folder, only that file is checked, unchanged. Failing
//! texts are minimized, and written to files whose names begin with `--failing`. The same seed damages the same files
//! in the same way. Each text is written before it is checked, so that it is available even if it crashes the program.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement looks at real files, says what it sees and may stop"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;

use checks::{SourceSample, StallWatchdog, StructureVerdict};

#[path = "checks.rs"]
mod checks;

/// Longer texts are cut, because many small texts find more than a few large ones.
const MAX_BYTES: usize = 32 << 10;

/// The number of different faults after which the search in a language ends, so that they can be fixed first.
const MAX_FAULTS: usize = 8;

/// How long a fault is minimized.
const SHRINKING: Duration = Duration::from_secs(10);

/// Fragments that confuse parsers and scanners.
const CONFUSING: [&str; 56] = [
    "{", "}", "(", ")", "[", "]", "<", ">", "\"", "'", "`", "\"\"\"", "'''", "/*", "*/", "//", "#", "--",
    "<!--", "-->", "--[[", "]]", "=begin\n", "=end\n", "<<EOF\n", "EOF\n", "<?php", "?>", "${", "#{", "$(",
    "r#\"", "R\"x(", "@", "\\", "\\\n", "\n", "\r\n", "\r", "\t", ";", ":", ",", "=", "=>", "::", "#if 1\n",
    "#else\n", "#endif\n", "```\n", "---\n", "...", "\0", "\u{feff}", "\u{1f600}", "é",
];

/// Search for texts that violate the guarantees for a language
#[derive(Parser)]
struct FuzzArgs {
    /// The folder of files to damage, or one file to check unchanged
    folder: PathBuf,
    /// Id of the language
    #[arg(required_unless_present = "all")]
    language: Option<String>,
    /// Check every language with files in the folder, one after the other
    #[arg(long)]
    all: bool,
    /// How long to check each language
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The seed of the random damage
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Prefix of the file names of failing texts
    #[arg(long, default_value = "target/fuzz")]
    failing: PathBuf,
}

fn main() -> ExitCode {
    let args = FuzzArgs::parse();
    let is_good = checks::watched(move |watch| run(&args, watch));
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(args: &FuzzArgs, watch: &StallWatchdog) -> bool {
    if let (Ok(text), Some(language)) = (fs::read_to_string(&args.folder), &args.language) {
        return try_one(args, language, &text);
    }
    let mut by_language: BTreeMap<&str, Vec<SourceSample>> = BTreeMap::new();
    for (language, sample) in checks::samples(&args.folder) {
        by_language.entry(language).or_default().push(sample);
    }
    let mut wanted = checks::languages();
    wanted.retain(|id| by_language.contains_key(id) && (args.all || args.language.as_deref() == Some(id)));
    if wanted.is_empty() {
        println!("nothing to try: there are no files of that language, or it has no structure");
        return false;
    }
    let mut is_good = true;
    for language in wanted {
        is_good &= fuzz(args, language, &by_language[language], watch);
    }
    is_good
}

/// Checks a text unchanged; writes a minimized text for each fault and prints its skeleton.
fn try_one(args: &FuzzArgs, language: &str, text: &str) -> bool {
    let faults = checks::judge(language, text).faults;
    for (at, fault) in faults.iter().enumerate().take(MAX_FAULTS) {
        let small = shrunk(language, text, &kind(fault));
        let file = named(&args.failing, language, &format!("one.{at}"));
        println!("{fault}: {}\n{small}", file.display());
        if let Some(structure) = checks::judge(language, &small).structure {
            println!("skeleton:\n{}", structure.skeleton.text);
        }
        let _ = fs::write(file, small);
    }
    faults.is_empty()
}

/// Checks texts of a language until the time is over, and returns whether there was no fault.
fn fuzz(args: &FuzzArgs, language: &str, samples: &[SourceSample], watch: &StallWatchdog) -> bool {
    let end = Instant::now() + Duration::from_secs(args.seconds);
    let current = named(&args.failing, language, "current");
    let mut faults: BTreeMap<String, u64> = BTreeMap::new();
    let (mut texts, mut slowest) = (0_u64, Duration::ZERO);
    while Instant::now() < end && faults.len() < MAX_FAULTS {
        let mut dice = FuzzRng(args.seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ texts);
        let sample = &samples[dice.below(samples.len())];
        let text = damaged(sample, samples, &mut dice);
        watch.begin(format!("text {texts} of {language}, seed {}", args.seed));
        if fs::write(&current, &text).is_err() {
            println!("cannot write {}", current.display());
            return false;
        }
        let verdict = checks::judge(language, &text);
        slowest = slowest.max(verdict.time);
        for fault in &verdict.faults {
            if faults.insert(kind(fault), texts).is_none() {
                let file = named(&args.failing, language, &format!("{}.{}", args.seed, faults.len()));
                let small = shrunk(language, &text, &kind(fault));
                let (bytes, of, file_name) = (small.len(), sample.path.display(), file.display());
                println!("{language}: text {texts}, of {of}: {fault}: {file_name} ({bytes} bytes)");
                let _ = fs::write(file, small);
            }
        }
        texts += 1;
    }
    let _ = fs::remove_file(current);
    let (seed, found) = (args.seed, faults.len());
    println!("{language}: seed {seed}, {texts} texts, {found} faults, slowest {slowest:.1?}");
    faults.is_empty()
}

fn named(failing: &Path, language: &str, what: &str) -> PathBuf {
    let mut name = failing.as_os_str().to_owned();
    name.push(format!(".{language}.{what}"));
    name.into()
}

/// Returns the identity of a fault: its message without names and numbers; for a panic, its location.
fn kind(fault: &str) -> String {
    let words = match fault.split_once(" (") {
        Some((words, _)) if !fault.starts_with("panic") => words,
        Some(_) | None => fault,
    };
    let is_number = |byte: char| byte.is_ascii_digit() && !fault.starts_with("panic");
    words.chars().filter(|sign| !is_number(*sign)).take(160).collect()
}

/// Returns a part of `text` with the same fault by removing halves, quarters and so on.
fn shrunk(language: &str, text: &str, fault: &str) -> String {
    let has_fault = |verdict: &StructureVerdict| verdict.faults.iter().any(|found| kind(found) == fault);
    let end = Instant::now() + SHRINKING;
    let mut small: Vec<char> = text.chars().collect();
    let mut piece = small.len() / 2;
    while 0 < piece {
        let mut at = 0;
        let before = small.len();
        while at < small.len() && Instant::now() < end {
            let mut fewer = small.clone();
            fewer.drain(at..small.len().min(at + piece));
            if has_fault(&checks::judge(language, &fewer.iter().collect::<String>())) {
                small = fewer;
            } else {
                at += piece;
            }
        }
        // Parts that could not be removed before may be removable now.
        piece = if small.len() < before && piece == 1 { 1 } else { piece / 2 };
    }
    small.iter().collect()
}

/// Returns a piece of a file with random damage.
fn damaged(sample: &SourceSample, samples: &[SourceSample], dice: &mut FuzzRng) -> String {
    let mut bytes = piece(&sample.text, MAX_BYTES, dice);
    for _ in 0..=dice.below(6) {
        damage(&mut bytes, samples, dice);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns a file, or a piece of the maximum length that begins at one of its lines.
fn piece(text: &str, limit: usize, dice: &mut FuzzRng) -> Vec<u8> {
    let start = if text.len() <= limit { 0 } else { dice.below(text.len() - limit) };
    let bytes = &text.as_bytes()[start..];
    let line = match start {
        0 => 0,
        _ => bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1),
    };
    bytes[line..bytes.len().min(line + limit)].to_vec()
}

fn damage(bytes: &mut Vec<u8>, samples: &[SourceSample], dice: &mut FuzzRng) {
    let limit = [8, 80, 2000][dice.below(3)];
    let (start, length) = (dice.below(bytes.len() + 1), dice.below(limit));
    let end = bytes.len().min(start + length);
    let to = dice.below(bytes.len() + 1);
    let part = bytes[start..end].to_vec();
    match dice.below(12) {
        0 if start < bytes.len() => bytes[start] ^= 1 << dice.below(8),
        0 | 1 => drop(bytes.drain(start..end)),
        2 => insert(bytes, end, &part),
        3 => insert(bytes, to, &part),
        4 => {
            // Two pieces are swapped.
            bytes.drain(start..end);
            let other = dice.below(bytes.len() + 1);
            insert(bytes, other, &part);
        }
        5 => bytes.truncate(bytes.len() - (bytes.len() - start).min(length * 20)),
        6 => {
            let other = piece(&samples[dice.below(samples.len())].text, limit * 2, dice);
            insert(bytes, to, &other);
        }
        7 => {
            let times = [2, 20, 300][dice.below(3)];
            let token = word(bytes, start);
            insert(bytes, to, &token.repeat(times));
        }
        8 => {
            let times = [1, 2, 40, 1000][dice.below(4)];
            insert(bytes, to, CONFUSING[dice.below(CONFUSING.len())].repeat(times).as_bytes());
        }
        9 => {
            let line = bytes[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            insert(bytes, line, CONFUSING[dice.below(CONFUSING.len())].as_bytes());
        }
        _ => insert(bytes, to, CONFUSING[dice.below(CONFUSING.len())].as_bytes()),
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, part: &[u8]) {
    let at = at.min(bytes.len());
    bytes.splice(at..at, part.iter().copied());
}

/// Returns the word or punctuation at a position, followed by a space.
fn word(bytes: &[u8], at: usize) -> Vec<u8> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let mut word: Vec<u8> = bytes[at..].iter().take_while(is_part).take(40).copied().collect();
    if word.is_empty() {
        word.extend(bytes.get(at));
    }
    word.push(b' ');
    word
}

/// A reproducible random number generator (`SplitMix64`).
struct FuzzRng(u64);

impl FuzzRng {
    /// Returns a number below `limit`, or 0 if the limit is 0.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed >> 32).unwrap_or(0) % limit.max(1)
    }
}
