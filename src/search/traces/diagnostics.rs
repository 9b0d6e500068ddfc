//! Detectors for the diagnostics of compilers, checkers and test runners.

use super::frame::TraceTool;
use super::lines::{FoundFrame, LineContext, LineReading};
use super::location::{extension, parse_number, parse_prefix, parse_spaced_prefix, parse_whole};
use super::other_tools::without_level;

/// rustc and ruff: the line ` --> src/a.rs:3:5` below the message, and ` ::: src/b.rs:1:1` for another location.
pub(super) fn arrow(context: &LineContext<'_>) -> Option<LineReading> {
    let line = context.line.trim();
    let (place, is_other) = match line.strip_prefix("--> ") {
        Some(place) => (place, false),
        None => (line.strip_prefix("::: ")?, true),
    };
    let at = parse_whole(place).filter(|at| at.column.is_some())?;
    let tool = if extension(at.path) == "rs" { TraceTool::RustCompiler } else { tool_of(at.path) };
    let message = context.previous.trim_start();
    let rank = if is_other { NOTE } else { severity(message) };
    Some(LineReading::Diagnostic(FoundFrame::new(at.path, at.line, at.column, tool)?, rank))
}

/// `ESLint`: `3:5  error  message` below the line with the path.
pub(super) fn eslint(context: &LineContext<'_>) -> Option<LineReading> {
    let path = context.heading.path.as_deref()?;
    let (line, rest) = parse_number(context.line.trim_start())?;
    let (column, rest) = parse_number(rest.strip_prefix(':')?)?;
    let message = rest.strip_prefix("  ")?.trim_start();
    if !["error", "warning", "warn"].iter().any(|word| message.starts_with(word)) {
        return None;
    }
    let frame = FoundFrame::new(path, line, Some(column), TraceTool::EsLint)?;
    Some(LineReading::Diagnostic(frame, severity(message)))
}

/// `PHPStan`: `3      message` below the head with the path.
pub(super) fn phpstan(context: &LineContext<'_>) -> Option<LineReading> {
    let path = context.heading.path.as_deref().filter(|path| extension(path) == "php")?;
    let (line, message) = parse_number(context.line.strip_prefix("  ")?.trim_start())?;
    let is_message = message.starts_with("   ") && message.contains(char::is_alphabetic);
    let frame = FoundFrame::new(path, line, None, TraceTool::Php).filter(|_| is_message)?;
    Some(LineReading::Diagnostic(frame, 0))
}

/// Webpack: `ERROR in ./src/a.ts 3:5-20`.
pub(super) fn webpack(context: &LineContext<'_>) -> Option<LineReading> {
    let (level, place) = context.line.trim().split_once(" in ")?;
    let rank = ["ERROR", "WARNING"].iter().position(|known| *known == level)?;
    let (path, place) = place.split_once(' ').filter(|(path, _)| context.project.may_be_file(path))?;
    let (line, rest) = parse_number(place)?;
    let (column, _) = parse_number(rest.strip_prefix(':')?)?;
    let frame = FoundFrame::new(path, line, Some(column), TraceTool::TypeScript)?;
    Some(LineReading::Diagnostic(frame, rank))
}

/// GCC: `In file included from a.h:1:`, continued by `from b.c:2,`.
pub(super) fn included_from(context: &LineContext<'_>) -> Option<LineReading> {
    let line = context.line.trim();
    let place = line.strip_prefix("In file included from ").or_else(|| line.strip_prefix("from "))?;
    let at =
        parse_whole(place.trim_end_matches([':', ','])).filter(|at| context.project.may_be_file(at.path))?;
    Some(LineReading::Diagnostic(FoundFrame::new(at.path, at.line, at.column, TraceTool::CCompiler)?, NOTE))
}

/// The common format, `path:line:column: message` with its variants, at the start of a line or after the name of the
/// program that writes it.
pub(super) fn common(context: &LineContext<'_>) -> Option<LineReading> {
    let line = without_level(context.line.trim());
    let after_bracket = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map(|(_, rest)| rest);
    // The line may begin with the names of two programs: `Error: template: app/a.yaml:3:5: …`.
    let (after_first, after_second) = (after_name(line), after_name(line).and_then(after_name));
    let places = [Some(line), after_bracket, after_first, after_second].into_iter().flatten();
    let is_file = |path: &str| context.project.may_be_file(path) && !path.starts_with("http");
    let (at, rest) = places.filter_map(parse_prefix).find(|(at, _)| is_file(at.path)).or_else(|| {
        // Any words may precede a location; those of an absolute path are its own.
        let is_path = |path: &str| {
            let is_absolute = path.starts_with('/') || path.get(1..3) == Some(":\\");
            is_file(path) && (is_absolute || context.project.has_known_blanks(path))
        };
        parse_spaced_prefix(line).filter(|(at, _)| is_path(at.path))
    })?;
    let message = message(rest)?;
    let tool = tool_of_message(at.path, message);
    // Some loggers write `DEBUG|module|path:line: message`.
    let path = at.path.rsplit('|').next().unwrap_or_default();
    if line.split_once(path).is_some_and(|(before, _)| is_log_of_progress(before)) {
        return Some(LineReading::Progress);
    }
    let mut frame = FoundFrame::new(path, at.line, at.column, tool)?;
    if matches!(tool, TraceTool::CCompiler | TraceTool::GoogleTest) {
        let function = context.heading.function_in(&frame.path);
        frame = frame.in_function(function);
    }
    if message.starts_with("required from ") {
        let required = super::lines::quoted_name(message);
        return Some(LineReading::Diagnostic(frame.in_function(required.as_deref()), NOTE));
    }
    Some(LineReading::Diagnostic(frame, severity(message)))
}

/// Returns whether the beginning of a line is that of a log entry about progress, not about a problem.
fn is_log_of_progress(head: &str) -> bool {
    let mut words = head.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| matches!(word, "TRACE" | "DEBUG" | "VERBOSE" | "INFO"))
}

/// Returns what follows the name of a program at the start of a line.
fn after_name(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(": ")?;
    (name.len() <= 32 && !name.contains(char::is_whitespace)).then_some(rest)
}

/// Returns the message after a location, or `None` if the location is a part of a sentence.
fn message(rest: &str) -> Option<&str> {
    let trimmed = rest.trim_start();
    // `a.ts:4:34 - error TS2339: …` and Maven's `A.java:[5,23] incompatible types`.
    let after_colon = trimmed.strip_prefix(':').or_else(|| trimmed.strip_prefix("- "));
    let is_bracketed = rest.starts_with(' ') && !rest.starts_with("  ");
    match after_colon {
        Some(message) => Some(message.trim_start()),
        None if is_bracketed => Some(trimmed),
        None => None,
    }
}

/// The rank of a note, which is only a part of the previous diagnostic.
const NOTE: usize = 2;

/// Returns the rank of a message: 0 for an error, 1 for a warning, 2 for a note.
fn severity(message: &str) -> usize {
    let starts = |words: &[&str]| words.iter().any(|word| message.starts_with(word));
    if starts(&["note", "help", "required from", "info", "in instantiation"]) {
        NOTE
    } else {
        usize::from(starts(&["warning", "warn", "Warning", "WARNING"]))
    }
}

fn tool_of_message(path: &str, message: &str) -> TraceTool {
    if message.starts_with("runtime error:") {
        TraceTool::Sanitizer
    } else if message.starts_with("FAILED") {
        TraceTool::Catch2
    } else if message.starts_with("Failure") {
        TraceTool::GoogleTest
    } else {
        tool_of(path)
    }
}

fn tool_of(path: &str) -> TraceTool {
    match extension(path).as_str() {
        "c" | "cc" | "cpp" | "cxx" | "h" | "hh" | "hpp" | "hxx" | "inl" | "ipp" | "m" | "mm" | "cu" => {
            TraceTool::CCompiler
        }
        "rs" => TraceTool::RustCompiler,
        "go" => TraceTool::GoCompiler,
        "java" | "kt" | "kts" | "scala" | "groovy" => TraceTool::JavaCompiler,
        "cs" | "fs" | "vb" => TraceTool::DotNet,
        "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs" | "vue" | "svelte" => {
            TraceTool::TypeScript
        }
        "py" | "pyi" => TraceTool::PythonChecker,
        "rb" => TraceTool::Ruby,
        "php" => TraceTool::Php,
        _ => TraceTool::Other,
    }
}
