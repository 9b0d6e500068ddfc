//! Measures the speed of the secret scanner, and the number of files in a folder with findings.
//!
//! `cargo run --release --example secrets -- FOLDER…` prints each finding (file, line, rule, and the text itself if the
//! first argument is `--show`), and a line of figures for each folder.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement looks at real files, says what it sees and may stop"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use slop::internals::summarize::secrets::scan;

/// Extensions of files that may be sent to a model.
const SOURCES: [&str; 28] = [
    "py", "pyi", "c", "h", "cc", "cpp", "hpp", "js", "ts", "sh", "md", "rst", "txt", "toml", "yaml", "yml",
    "json", "cfg", "ini", "conf", "html", "xml", "tcl", "lua", "pl", "pm", "rb", "in",
];

fn main() {
    let mut folders: Vec<String> = std::env::args().skip(1).collect();
    let is_shown = folders.first().is_some_and(|first| first == "--show");
    for folder in folders.drain(usize::from(is_shown)..) {
        measure(Path::new(&folder), is_shown);
    }
}

fn measure(folder: &Path, is_shown: bool) {
    let (mut files, mut hit, mut unscannable, mut bytes, mut seconds) = (0, 0, 0, 0, 0.0);
    for path in sources(folder) {
        let Ok(text) = String::from_utf8(fs::read(&path).unwrap()) else { continue };
        let start = Instant::now();
        let scanned = scan(&text);
        seconds += start.elapsed().as_secs_f64();
        files += 1;
        bytes += text.len();
        let Ok(scanned) = scanned else {
            unscannable += 1;
            continue;
        };
        hit += usize::from(!scanned.is_clean());
        for found in scanned.matches {
            let line = text[..found.span.start].lines().count();
            let words = if is_shown { &text[found.span] } else { "" };
            println!("{}:{line}: {} {words}", path.display(), found.rule);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "figures for a person")]
    let (hit_files, all, bytes) = (hit as f64, f64::from(files.max(1)), bytes as f64);
    let share = 100.0 * hit_files / all;
    let speed = bytes / 1e6 / seconds;
    println!(
        "{}: {files} files, {hit} hit ({share:.2} %), {unscannable} unscannable, {speed:.0} MB/s",
        folder.display()
    );
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        let path = entry.path();
        if kind.is_dir() {
            files.extend(sources(&path));
        } else if kind.is_file()
            && path.extension().is_some_and(|end| SOURCES.iter().any(|known| end == *known))
        {
            files.push(path);
        }
    }
    files
}
