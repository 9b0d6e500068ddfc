//! Draws a terminal as SVG: commands and their colored output, as text.
//!
//! The picture follows the reader's light or dark mode, and loads no font and nothing else.

use std::fmt::Write;

/// The height of a line in pixels, and the width of a hundred characters of the fonts that are named.
const LINE: usize = 19;
const HUNDRED_CHARACTERS: usize = 843;
const MARGIN: usize = 16;

/// Columns of the terminal. A longer line is cut off, and ends with an ellipsis.
const COLUMNS: usize = 100;

const STYLE: &str = "\
    text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre; \
    fill: #24292f }
    rect { fill: #f6f8fa; stroke: #d0d7de }
    .prompt { fill: #0550ae } .command, .bold { font-weight: bold } .dim { fill: #6e7781 }
    .green { fill: #116329 } .yellow { fill: #7d4e00 } .cyan { fill: #1b7c83 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } rect { fill: #161b22; stroke: #30363d }
      .prompt { fill: #79c0ff } .dim { fill: #8b949e }
      .green { fill: #7ee787 } .yellow { fill: #e3b341 } .cyan { fill: #76e3ea }
    }";

/// Returns the picture of a session: each command, and what it printed with escape sequences for colors.
pub(crate) fn svg(title: &str, session: &[(&str, String)]) -> String {
    let mut rows = Vec::new();
    for (number, (command, output)) in session.iter().enumerate() {
        if 0 < number {
            rows.push(String::new());
        }
        rows.push(format!("{}{}", span("prompt", "$ "), span("command", command)));
        rows.extend(output.lines().map(colored));
    }
    let width = MARGIN * 2 + COLUMNS * HUNDRED_CHARACTERS / 100;
    let height = MARGIN * 2 + rows.len() * LINE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n  <title>{}</title>\n  <style>\n{STYLE}\n  </style>\n  \
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
        escaped(title),
        width - 1,
        height - 1,
    );
    for (number, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        let y = MARGIN + number * LINE + 14;
        writeln!(svg, "  <text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">{row}</text>").unwrap();
    }
    svg + "</svg>\n"
}

/// Converts the escape sequences of a line to `tspan` elements.
fn colored(line: &str) -> String {
    let mut converted = String::new();
    let mut room = COLUMNS;
    let mut class = "";
    for (number, part) in line.split('\u{1b}').enumerate() {
        let text = match part.strip_prefix('[').and_then(|rest| rest.split_once('m')) {
            Some((code, text)) if 0 < number => {
                class = class_of(code);
                text
            }
            _ => part,
        };
        let is_cut = room < text.chars().count();
        let mut shown: String =
            text.chars().take(if is_cut { room.saturating_sub(1) } else { room }).collect();
        room -= shown.chars().count();
        if is_cut && 0 < room {
            shown.push('…');
            room = 0;
        }
        converted.push_str(&span(class, &shown));
    }
    converted
}

fn class_of(code: &str) -> &'static str {
    match code {
        "0" => "",
        "1" => "bold",
        "2" => "dim",
        "32" => "green",
        "33" => "yellow",
        "36" => "cyan",
        other => panic!("the picture has no style for the escape sequence {other}"),
    }
}

fn span(class: &str, text: &str) -> String {
    match (class, text) {
        (_, "") => String::new(),
        ("", _) => escaped(text),
        _ => format!("<tspan class=\"{class}\">{}</tspan>", escaped(text)),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
