//! Detectors for the stack traces of native programs: sanitizers, Valgrind and debuggers.

use super::frame::TraceTool;
use super::lines::{FoundFrame, LineContext, LineReading};
use super::location::{parse_number, parse_whole};

/// Sanitizers, GDB and Dart: `#0 0x4f5 in push /a/list.c:11`, `#0 drop (head=0x55) at list.c:17`, `#0 Cart.total
/// (package:shop/cart.dart:12:5)`.
pub(super) fn numbered(context: &LineContext<'_>) -> Option<LineReading> {
    let (number, rest) = parse_number(context.line.trim().strip_prefix('#')?)?;
    let called = rest.strip_prefix(' ')?.trim_start();
    let called = match called.split_once(" in ") {
        Some((address, called)) if address.starts_with("0x") => called,
        _ => called,
    };
    let (function, place, tool) = if let Some((function, place)) = called.rsplit_once(") at ") {
        (without_arguments(function), place, TraceTool::Debugger)
    } else if let Some((function, place)) = in_parentheses(called) {
        (function, place, TraceTool::Other)
    } else {
        // ThreadSanitizer and others add the module: `main /a/b.c:7 (program+0x124f)`.
        let called = called.split(" (").next().filter(|_| called.ends_with(')')).unwrap_or(called);
        let (function, place) = called.rsplit_once(' ')?;
        (function, place, TraceTool::Sanitizer)
    };
    let at = parse_whole(place)?;
    let frame = FoundFrame::new(at.path, at.line, at.column, tool)?.in_function(Some(function));
    Some(if number == 0 { LineReading::First(frame) } else { LineReading::Next(frame) })
}

/// Splits `main (a.dart:7:3)`.
fn in_parentheses(called: &str) -> Option<(&str, &str)> {
    let split = called.strip_suffix(')')?.rsplit_once(" (");
    split.filter(|(_, place)| parse_whole(place).is_some())
}

/// Returns `run<int> (this=0x7f, n=1` without the arguments.
fn without_arguments(called: &str) -> &str {
    called.find(" (").map_or(called, |at| &called[..at])
}

/// Valgrind: `==12==    at 0x1092DA: main (list.c:30)`, `==12==    by 0x109217: drop (list.c:18)`.
pub(super) fn valgrind(context: &LineContext<'_>) -> Option<LineReading> {
    let (_, line) = context.line.trim().strip_prefix("==")?.split_once("==")?;
    let (word, rest) = line.trim().split_once(" 0x")?;
    let (_, called) = rest.split_once(": ")?;
    let (function, place) = called.strip_suffix(')')?.rsplit_once(" (")?;
    let Some(at) = parse_whole(place) else {
        return (word == "at").then_some(LineReading::Boundary(TraceTool::Valgrind));
    };
    let frame =
        FoundFrame::new(at.path, at.line, at.column, TraceTool::Valgrind)?.in_function(Some(function));
    Some(if word == "at" { LineReading::First(frame) } else { LineReading::Next(frame) })
}

/// LLDB: ``frame #0: 0x55 program`main(argc=1) at list.c:28:75``.
pub(super) fn lldb(context: &LineContext<'_>) -> Option<LineReading> {
    let (_, rest) = context.line.split_once("frame #")?;
    let (number, rest) = parse_number(rest)?;
    let (called, place) = rest.rsplit_once(" at ")?;
    let (_, called) = called.split_once('`')?;
    let at = parse_whole(place)?;
    let function = called.split('(').next();
    let frame = FoundFrame::new(at.path, at.line, at.column, TraceTool::Debugger)?.in_function(function);
    Some(if number == 0 { LineReading::First(frame) } else { LineReading::Next(frame) })
}

/// Failed assertions: `a: b.c:2: main: Assertion 'x' failed.`
pub(super) fn assertion(context: &LineContext<'_>) -> Option<LineReading> {
    let (before, _) = context.line.split_once(": Assertion ")?;
    let (place, function) = before.rsplit_once(": ")?;
    let place = place.rsplit_once(": ").map_or(place, |(_, place)| place);
    let at = parse_whole(place).filter(|at| context.project.may_be_file(at.path))?;
    let frame = FoundFrame::new(at.path, at.line, at.column, TraceTool::Other)?;
    Some(LineReading::First(frame.in_function(Some(function))))
}
