//! The lower bound for `slop index`: walks a folder, reads and hashes every file, and parses Python, C and C++ files,
//! on all cores, without storing anything. `tests/bench/run.sh` compares the two.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own, with no windows")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use sha2::Digest;
use tree_sitter::{Language, Parser};

/// The size above which slop does not parse a file.
const MAX_BYTES: u64 = 8 << 20;

fn main() {
    let root = std::env::args_os().nth(1).expect("usage: bare FOLDER");
    let files = files(Path::new(&root));
    let (next, parsed, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut parser = Parser::new();
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Ok(text) = std::fs::read(path) else { continue };
                    std::hint::black_box(sha2::Sha256::digest(&text));
                    bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
                    let Some(language) = language(path) else { continue };
                    parser.set_language(&language).expect("the grammars fit the parser");
                    std::hint::black_box(parser.parse(&text, None));
                    parsed.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    println!("{} files, {} parsed, {} bytes", files.len(), parsed.into_inner(), bytes.into_inner());
}

fn files(root: &Path) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(root)
        .hidden(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let regular = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    regular
        .filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.len() <= MAX_BYTES))
        .map(ignore::DirEntry::into_path)
        .collect()
}

fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "py" | "pyi" | "pyw" => Some(tree_sitter_python::LANGUAGE.into()),
        "c" | "h" => Some(tree_sitter_c::LANGUAGE.into()),
        "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => Some(tree_sitter_cpp::LANGUAGE.into()),
        _ => None,
    }
}
