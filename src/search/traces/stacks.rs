//! Detectors for the stack traces of interpreters and virtual machines.

use super::frame::TraceTool;
use super::lines::{FoundFrame, LineContext, LineReading};
use super::location::{extension, parse_number, parse_prefix, parse_whole};

/// Python: `File "a.py", line 3, in run`, `IPython`'s `File a.py:3, in run(x)`, and Rich's `a.py:3 in run` in a frame.
pub(super) fn python(context: &LineContext<'_>) -> Option<LineReading> {
    let line = context.line;
    if line.contains("Traceback (most recent call last)") {
        return Some(LineReading::Boundary(TraceTool::Python));
    }
    let Some(rest) = line.trim_start().strip_prefix("File ") else { return rich(line) };
    if let Some(quoted) = rest.strip_prefix('"') {
        let (path, rest) = quoted.split_once('"')?;
        let (number, rest) = parse_number(rest.strip_prefix(", line ")?)?;
        let frame = FoundFrame::new(path, number, None, TraceTool::Python)?;
        return Some(LineReading::Next(frame.in_function(rest.strip_prefix(", in "))));
    }
    let (place, function) = rest.split_once(", in ").unwrap_or((rest, ""));
    let at = parse_whole(place).filter(|at| extension(at.path).starts_with("py"))?;
    let frame = FoundFrame::new(at.path, at.line, at.column, TraceTool::Python)?;
    Some(LineReading::Next(frame.in_function(function.split('(').next())))
}

fn rich(line: &str) -> Option<LineReading> {
    let line = line.trim().strip_suffix('│')?.trim();
    let (at, rest) = parse_prefix(line).filter(|(at, _)| extension(at.path) == "py")?;
    let function = rest.strip_prefix(" in ").filter(|function| !function.contains(' '))?;
    let frame = FoundFrame::new(at.path, at.line, None, TraceTool::Python)?;
    Some(LineReading::Next(frame.in_function(Some(function))))
}

/// pytest: `a.py:3: in run`, `a.py:3: KeyError` and `a.py:3: ` at the start of a line.
pub(super) fn pytest(context: &LineContext<'_>) -> Option<LineReading> {
    let line = context.line;
    if line.starts_with("____") || line.starts_with("====") {
        return Some(LineReading::Boundary(TraceTool::Pytest));
    }
    let (at, rest) = parse_prefix(line)?;
    if extension(at.path) != "py" || at.column.is_some() || at.path.contains("://") {
        return None;
    }
    let text = rest.strip_prefix(':')?.trim();
    let frame = FoundFrame::new(at.path, at.line, None, TraceTool::Pytest)?;
    let function = text.strip_prefix("in ");
    let is_exception = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
    (function.is_some() || is_exception).then(|| LineReading::Next(frame.in_function(function)))
}

/// Rust: `panicked at src/a.rs:3:5:`, and the lines `at src/a.rs:3:5` of a backtrace, each below its function.
pub(super) fn rust(context: &LineContext<'_>) -> Option<LineReading> {
    let line = context.line.trim();
    // The backtrace of an error value; the backtrace of a panic belongs to the panic.
    if line.starts_with("Stack backtrace:") {
        return Some(LineReading::Boundary(TraceTool::Rust));
    }
    if let Some((_, place)) = line.split_once(" panicked at ") {
        // Before Rust 1.73, the message preceded the location: `panicked at 'message', src/a.rs:3:5`.
        let place = place.rsplit("', ").next().unwrap_or_default();
        let at = parse_whole(place.trim_end_matches(':'))?;
        return FoundFrame::new(at.path, at.line, at.column, TraceTool::Rust).map(LineReading::First);
    }
    let at = parse_whole(line.strip_prefix("at ")?)?;
    let (number, function) = context.previous.trim().split_once(':').unwrap_or_default();
    let is_numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_numbered && extension(at.path) != "rs" {
        return None;
    }
    // In a full backtrace, the address precedes the name.
    let function = function.trim().split_once(" - ").map_or(function, |(_, name)| name);
    let frame = FoundFrame::new(at.path, at.line, at.column, TraceTool::Rust)?;
    Some(LineReading::Next(frame.in_function(is_numbered.then_some(function))))
}

/// Go: the line `/a/b.go:3 +0x1d` below its function.
pub(super) fn go(context: &LineContext<'_>) -> Option<LineReading> {
    if context.line.starts_with("goroutine ")
        || context.line.trim_end().ends_with(':') && is_go_race(context.line)
    {
        return Some(LineReading::Boundary(TraceTool::Go));
    }
    if !context.line.starts_with(['\t', ' ']) {
        return None;
    }
    let (at, rest) = parse_prefix(context.line.trim_start()).filter(|(at, _)| extension(at.path) == "go")?;
    if at.column.is_some() || !(rest.is_empty() || rest.starts_with(" +0x")) {
        return None;
    }
    let called = context.previous.trim();
    let function = match called.strip_prefix("created by ") {
        Some(creator) => creator.split(" in goroutine ").next(),
        // The receiver may be in parentheses too: only the last ones contain the arguments. In traces of tools that
        // print no functions, the previous line is unrelated.
        None => called.rfind('(').filter(|_| called.ends_with(')')).map(|arguments| &called[..arguments]),
    };
    let frame = FoundFrame::new(at.path, at.line, None, TraceTool::Go)?;
    Some(LineReading::Next(frame.in_function(function)))
}

fn is_go_race(line: &str) -> bool {
    ["Read at ", "Write at ", "Previous ", "Goroutine "].iter().any(|start| line.starts_with(start))
}

/// Java, Kotlin and others: `at com.example.Cart.total(Cart.java:3)`.
pub(super) fn java(context: &LineContext<'_>) -> Option<LineReading> {
    let line = context.line.trim();
    if is_exception(line) {
        return Some(LineReading::Boundary(TraceTool::Java));
    }
    let (_, called) =
        line.split_once("at ").filter(|(before, _)| before.is_empty() || before.ends_with(' '))?;
    let (function, rest) = called.split_once('(')?;
    let (place, _) = rest.split_once(')')?;
    let at = parse_whole(place).filter(|at| !at.path.contains(['/', '\\']) && at.column.is_none())?;
    // A class is prefixed with its loader and module: `java.base/java.util.List.get`.
    let function = function.rsplit('/').next().unwrap_or_default();
    if function.is_empty() || function.contains(' ') || !function.contains('.') {
        return None;
    }
    let path = format!("{}{}", package_folder(function), at.path);
    let frame = FoundFrame::new(&path, at.line, None, TraceTool::Java)?;
    Some(LineReading::Next(frame.in_function(Some(function))))
}

/// Maven's summary of failed tests: `[ERROR]   CartTest.total:98 expected: <3> but was: <4>`.
pub(super) fn surefire(context: &LineContext<'_>) -> Option<LineReading> {
    let text = context.line.trim_start().strip_prefix("[ERROR]")?;
    let called = text.split_whitespace().next().filter(|_| text.starts_with("  "))?;
    // `CartTest>ShopTest.total:98` is inherited; the test's callees follow the arrow.
    let called = called.split("->").next().unwrap_or_default();
    let (function, number) = called.rsplit('>').next().unwrap_or_default().split_once(':')?;
    let (number, _) = parse_number(number).filter(|(_, rest)| rest.is_empty())?;
    let (class, _) = function.rsplit_once('.').filter(|(class, _)| is_class_name(class))?;
    let file = class.split(['.', '$']).find(|part| is_class_name(part))?;
    let frame = FoundFrame::new(&format!("{file}.java"), number, None, TraceTool::Java)?;
    Some(LineReading::First(frame.in_function(Some(function))))
}

fn is_class_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.bytes().all(is_part)
}

/// Returns whether a trace follows this line: `Caused by: java.io.IOException: …`, `java.lang.AssertionError`.
fn is_exception(line: &str) -> bool {
    let starts = ["Caused by: ", "Suppressed: ", "Exception in thread "];
    let class = line.split([':', ' ']).next().unwrap_or_default();
    let is_class = class.contains('.') && (class.ends_with("Exception") || class.ends_with("Error"));
    is_class || starts.iter().any(|start| line.starts_with(start))
}

/// Returns the folder of a method's package: the components before the first one that begins with a capital.
fn package_folder(method: &str) -> String {
    let parts: Vec<_> = method.split('.').collect();
    let is_class = |part: &&str| part.starts_with(|c: char| c.is_ascii_uppercase());
    let end = parts.iter().position(is_class).unwrap_or(parts.len().saturating_sub(2));
    parts[..end].iter().flat_map(|part| [*part, "/"]).collect()
}

/// .NET: `at Shop.Cart.Total() in /srv/app/Cart.cs:line 20`.
pub(super) fn dot_net(context: &LineContext<'_>) -> Option<LineReading> {
    let called = context.line.trim().strip_prefix("at ")?;
    let (rest, number) = called.rsplit_once(":line ")?;
    let (function, path) = rest.rsplit_once(" in ")?;
    let (number, _) = parse_number(number)?;
    let frame = FoundFrame::new(path, number, None, TraceTool::DotNet)?;
    Some(LineReading::Next(frame.in_function(function.split('(').next())))
}

/// Dart's tests: `package:shop/cart.dart 12:5  Cart.total`.
pub(super) fn dart(context: &LineContext<'_>) -> Option<LineReading> {
    let (path, rest) = context.line.trim().split_once(' ').filter(|(path, _)| extension(path) == "dart")?;
    let (line, rest) = parse_number(rest.trim_start())?;
    let (column, function) = parse_number(rest.strip_prefix(':')?)?;
    let frame = FoundFrame::new(path, line, Some(column), TraceTool::Other)?;
    function.starts_with("  ").then(|| LineReading::Next(frame.in_function(Some(function))))
}

/// JavaScript engines: V8's `at run (/a/b.js:3:5)` and `at /a/b.js:3:5`, Vitest's `❯ run a.js:3:5`, the `run@a.js:3:5`
/// of Firefox and Safari, and the path above the line of code that Node shows for an uncaught exception.
pub(super) fn javascript(context: &LineContext<'_>) -> Option<LineReading> {
    let line = context.line.trim();
    let (function, place) = if let Some(called) = line.strip_prefix("at ") {
        match called.strip_suffix(')').and_then(|called| called.rsplit_once(" (")) {
            Some((function, place)) => (function, place),
            None => ("", called.strip_prefix("async ").unwrap_or(called)),
        }
    } else if let Some(called) = line.strip_prefix("❯ ") {
        called.rsplit_once(' ').unwrap_or(("", called))
    } else if let Some((function, place)) = line.split_once('@').filter(|(before, _)| !before.contains(' ')) {
        (function, place)
    } else if is_script(line) && is_caret(context.next) {
        let at = parse_whole(line)?;
        return FoundFrame::new(at.path, at.line, None, TraceTool::JavaScript).map(LineReading::First);
    } else if line.contains("Error: ") || line.contains("Error [") || line.starts_with("● ") {
        return Some(LineReading::Boundary(TraceTool::JavaScript));
    } else {
        return None;
    };
    let at = parse_whole(place).filter(|at| at.column.is_some())?;
    if at.path.contains("<anonymous>") {
        return None;
    }
    let frame = FoundFrame::new(at.path, at.line, at.column, TraceTool::JavaScript)?;
    Some(LineReading::Next(frame.in_function(Some(function))))
}

/// Returns whether a line consists of the location of a script.
fn is_script(line: &str) -> bool {
    let scripts = ["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"];
    parse_whole(line).is_some_and(|at| at.column.is_none() && scripts.contains(&extension(at.path).as_str()))
}

fn is_caret(next: [&str; 2]) -> bool {
    let caret = next[1].trim();
    !caret.is_empty() && caret.bytes().all(|byte| byte == b'^')
}

/// Ruby: `a.rb:3:in 'run': message (Error)`, `from a.rb:3:in 'run'`, and the `# ./a.rb:3:in 'run'` of `RSpec`.
pub(super) fn ruby(context: &LineContext<'_>) -> Option<LineReading> {
    let line = context.line.trim();
    let below = line.strip_prefix("from ").or_else(|| line.strip_prefix("# "));
    let (at, rest) = parse_prefix(below.unwrap_or(line))?;
    let called = rest.strip_prefix(":in ")?.strip_prefix(['`', '\''])?;
    // Only the last quotation mark ends the name, which may contain others.
    let end = called.find("': ").or_else(|| called.rfind('\''))?;
    let frame = FoundFrame::new(at.path, at.line, None, TraceTool::Ruby)?.in_function(called.get(..end));
    Some(if below.is_some() { LineReading::Next(frame) } else { LineReading::First(frame) })
}

/// PHP: `… in /a/b.php:3` above `#0 /a/b.php(3): run()`, and `… in /a/b.php on line 3`.
pub(super) fn php(context: &LineContext<'_>) -> Option<LineReading> {
    let line = context.line.trim();
    // A line names the function that is called there; the enclosing function is named by the next line.
    let function = context.next.iter().find_map(|next| php_called(next.trim()));
    if php_called(line).is_some() {
        let (place, _) = line.split_once(' ')?.1.split_once("): ")?;
        let (path, number) = place.rsplit_once('(')?;
        let (number, _) = parse_number(number).filter(|(_, rest)| rest.is_empty())?;
        let frame = FoundFrame::new(path, number, None, TraceTool::Php)?;
        return Some(LineReading::Next(frame.in_function(function)));
    }
    if let Some((before, number)) = line.rsplit_once(" on line ") {
        let (text, path) = before.rsplit_once(" in ").or_else(|| before.split_once("in "))?;
        let (number, _) = parse_number(number)?;
        let frame = FoundFrame::new(path, number, None, TraceTool::Php)?;
        let is_end = text.trim() == "thrown";
        let rank =
            usize::from(text.contains("Warning") || text.contains("Notice") || text.contains("Deprecated"));
        return Some(if is_end { LineReading::Next(frame) } else { LineReading::Diagnostic(frame, rank) });
    }
    let (_, place) = line.rsplit_once(" in ").filter(|(text, _)| text.contains("Uncaught "))?;
    let at = parse_whole(place).filter(|at| at.column.is_none())?;
    let frame = FoundFrame::new(at.path, at.line, None, TraceTool::Php)?;
    Some(LineReading::First(frame.in_function(function)))
}

/// Returns the function that is called in a line of a PHP stack: `#0 /a/b.php(3): run()`.
fn php_called(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix('#')?.split_once(' ')?;
    let (_, called) = rest.split_once("): ").or_else(|| rest.split_once("]: "))?;
    called.split('(').next()
}
