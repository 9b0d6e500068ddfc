//! Detectors for tools that configure, publish and typeset, which name a file and a line in prose.

use super::frame::TraceTool;
use super::lines::{FoundFrame, LineContext, LineReading};
use super::location::{parse_number, parse_prefix, parse_whole};

/// Terraform: `on main.tf line 3, in resource "a" "b":` some lines below `Error: …` or `Warning: …`.
pub(super) fn terraform(context: &LineContext<'_>) -> Option<LineReading> {
    let (path, rest) = context.line.trim().strip_prefix("on ")?.split_once(" line ")?;
    let (line, rest) = parse_number(rest)?;
    if !context.project.may_be_file(path) || !(rest == ":" || rest.starts_with(", in ")) {
        return None;
    }
    let frame = FoundFrame::new(path, line, None, TraceTool::Other)?;
    Some(LineReading::Diagnostic(frame, usize::from(context.heading.is_warning)))
}

/// Ansible: `The error appears to be in '/a/main.yml': line 3, column 5, but may be elsewhere`, and since 2.19 `Origin:
/// /a/main.yml:3:5`. Parsers of YAML: `in "a.yml", line 3, column 5`.
pub(super) fn yaml(context: &LineContext<'_>) -> Option<LineReading> {
    let line = context.line.trim();
    if let Some(place) = line.strip_prefix("Origin: ") {
        let at = parse_whole(place).filter(|at| context.project.may_be_file(at.path))?;
        let frame = FoundFrame::new(at.path, at.line, at.column, TraceTool::Other)?;
        return Some(LineReading::Diagnostic(frame, 0));
    }
    let (_, quoted) = line.split_once("in '").or_else(|| line.split_once("in \""))?;
    let (path, rest) =
        quoted.split_once(['\'', '"']).filter(|(path, _)| context.project.may_be_file(path))?;
    let rest = rest.strip_prefix([':', ','])?;
    let (line, rest) = parse_number(rest.strip_prefix(" line ")?)?;
    let (column, _) = parse_number(rest.strip_prefix(", column ")?)?;
    let frame = FoundFrame::new(path, line, Some(column), TraceTool::Other)?;
    Some(LineReading::Diagnostic(frame, 0))
}

/// Workflow commands of GitHub Actions that annotate a file: `::error file=a.ts,line=3,col=5::message`.
pub(super) fn workflow_command(context: &LineContext<'_>) -> Option<LineReading> {
    let command = context.line.trim().strip_prefix("::")?;
    let (properties, _) = command.split_once("::")?;
    let (level, properties) = properties.split_once(' ')?;
    let rank = ["error", "warning", "notice"].iter().position(|known| *known == level)?;
    let property = |name: &str| {
        let mut named = properties.split(',').filter_map(|property| property.trim().split_once('='));
        named.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let number = |name: &str| Some(parse_number(property(name)?)?.0);
    let frame = FoundFrame::new(property("file")?, number("line")?, number("col"), TraceTool::Other)?;
    Some(LineReading::Diagnostic(frame, rank))
}

/// Godot: `at: _process (res://player.gd:3)` below the message, `[0] _process (res://player.gd:3)` in a backtrace, and
/// `player.gd:3 @ _process()` in the editor.
pub(super) fn godot(context: &LineContext<'_>) -> Option<LineReading> {
    let line = context.line.trim();
    let frame_of = |path: &str, line: u32, function: &str| {
        let frame = FoundFrame::new(path, line, None, TraceTool::Other)?;
        Some(frame.in_function(function.split('(').next()))
    };
    if let Some((at, rest)) = parse_prefix(line)
        && let Some(function) = rest.strip_prefix(" @ ").filter(|_| context.project.may_be_file(at.path))
    {
        return frame_of(at.path, at.line, function).map(LineReading::Next);
    }
    let (called, place) = line.strip_suffix(')')?.rsplit_once(" (")?;
    let at = parse_whole(place).filter(|at| at.path.starts_with("res://"))?;
    if let Some(function) = called.strip_prefix("at: ") {
        return frame_of(at.path, at.line, function).map(LineReading::First);
    }
    let (number, function) = called.strip_prefix('[').unwrap_or(called).split_once([']', ':'])?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let frame = frame_of(at.path, at.line, function)?;
    is_number.then_some(LineReading::Next(frame))
}

/// TeX: `l.3 \foo` below `! Undefined control sequence.`, and warnings that end with `on input line 3.`: both in the
/// file named after the last open parenthesis.
pub(super) fn tex(context: &LineContext<'_>) -> Option<LineReading> {
    let line = context.line;
    let (number, rank) = match line.strip_prefix("l.") {
        Some(rest) => (rest, 0),
        None => (line.trim_end().strip_suffix('.')?.rsplit_once(" on input line ")?.1, 1),
    };
    let path = context.heading.tex_file()?;
    let (number, _) = parse_number(number).filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '))?;
    let frame = FoundFrame::new(path, number, None, TraceTool::Other)?;
    Some(LineReading::Diagnostic(frame, rank))
}

/// Returns a line without the mark that makes a build server show it in red.
pub(super) fn without_level(line: &str) -> &str {
    let levels = ["##[error]", "##[warning]"];
    levels.iter().find_map(|level| line.strip_prefix(level)).unwrap_or(line)
}
