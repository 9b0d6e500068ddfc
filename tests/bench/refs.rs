//! Finds the references of a folder without an index: `refs --project FOLDER refs --all --json` prints one reference
//! per line, in the format of the evaluation programs. With `--stats`, it prints time and memory instead.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own, with no windows")]

use std::io::Write;
use std::path::{Path, PathBuf};

use slop::internals::references::{
    ProjectFile, ProjectReferences, decode_facts, encode_facts, find_references,
};
use slop::internals::syntax::source_facts;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|argument| argument == "--project");
    let root = at.and_then(|at| arguments.get(at + 1)).expect("usage: refs --project FOLDER [--stats]");
    let (files, bytes) = read_facts(Path::new(root));
    let facts_seconds = processor_seconds();
    let found = find_references(&files);
    if arguments.iter().any(|argument| argument == "--stats") {
        let total = processor_seconds();
        println!(
            "{} files, {bytes} bytes of facts, {} references, {} unresolved uses; facts {facts_seconds:.3} s, references {:.3} s; {}",
            files.len(),
            found.references.len(),
            found.unresolved.len(),
            total - facts_seconds,
            peak_memory(),
        );
        return;
    }
    print(&files, &found).expect("standard output can be written");
}

/// Returns the facts of the files in a folder, and their encoded size in bytes.
fn read_facts(root: &Path) -> (Vec<ProjectFile>, usize) {
    let walk = ignore::WalkBuilder::new(root).build().flatten();
    let regular = walk.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let mut paths: Vec<PathBuf> = regular.map(ignore::DirEntry::into_path).collect();
    paths.sort();
    let (mut files, mut bytes) = (Vec::new(), 0);
    for path in paths {
        let Some(shown) = path.strip_prefix(root).ok().and_then(Path::to_str) else { continue };
        let (Some(language), Ok(content)) = (language(shown), std::fs::read(&path)) else { continue };
        let text = String::from_utf8_lossy(&content);
        let is_header = path.extension().is_some_and(|extension| extension == "h");
        let is_cpp = is_header && is_header_of_cpp(&text);
        let language = if is_cpp { "cpp" } else { language };
        let Some(facts) = source_facts(language, &text, &mut || false) else { continue };
        let encoded = encode_facts(&facts);
        bytes += encoded.len();
        assert!(
            decode_facts(&encoded).as_ref() == Some(&facts),
            "{shown}: the facts change when they are encoded"
        );
        let is_test = shown.contains("test");
        files.push(ProjectFile { path: shown.to_owned(), language, is_test, facts: facts.into() });
    }
    (files, bytes)
}

fn language(path: &str) -> Option<&'static str> {
    match path.rsplit_once('.')?.1 {
        "py" | "pyi" => Some("python"),
        "c" | "h" => Some("c"),
        "cc" | "cpp" | "cxx" | "hh" | "hpp" => Some("cpp"),
        "rs" => Some("rust"),
        "go" => Some("go"),
        "mod" if path.ends_with("go.mod") => Some("go-mod"),
        "toml" => Some("toml"),
        "java" => Some("java"),
        "rb" => Some("ruby"),
        "kt" => Some("kotlin"),
        "cs" => Some("csharp"),
        "php" => Some("php"),
        "swift" => Some("swift"),
        "scala" => Some("scala"),
        "lua" => Some("lua"),
        "sh" => Some("shell"),
        "ts" | "mts" | "cts" => Some("typescript"),
        "tsx" => Some("tsx"),
        "js" | "mjs" | "cjs" | "jsx" => Some("javascript"),
        _ => None,
    }
}

/// Returns whether a header contains text that only C++ has.
fn is_header_of_cpp(text: &str) -> bool {
    ["namespace ", "template", "std::", "_NAMESPACE", "\nclass "].iter().any(|word| text.contains(word))
}

fn print(files: &[ProjectFile], found: &ProjectReferences) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for reference in &found.references {
        let (from, to) = (&files[reference.from_file as usize], &files[reference.to_file as usize]);
        let definition = &to.facts.definitions[reference.to_definition as usize];
        let line = serde_json::json!({
            "from": {
                "path": from.path,
                "line": reference.from_line,
                "symbol": reference.from_definition.map(|at| from.facts.qualified_name(at)),
            },
            "to": {
                "path": to.path,
                "line": definition.name_line,
                "symbol": to.facts.qualified_name(reference.to_definition),
            },
            "grade": reference.grade.name(),
        });
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// Returns the processor time of this process so far.
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    std::time::Duration::try_from(time).map_or(0.0, |time| time.as_secs_f64())
}

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned()
}
