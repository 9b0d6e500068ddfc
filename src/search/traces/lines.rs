//! The lines of a text as input for the detectors: without prefixes, and with their neighbors.

use std::ops::Range;

use super::frame::TraceTool;
use super::location::{extension, parse_whole, without_scheme};
use super::project_names::ProjectNames;

/// A line of a text.
pub(super) struct TraceLine<'a> {
    /// The line without its line break, quotation marks and log prefixes.
    pub(super) text: &'a str,
    /// The bytes of the whole line, without its line break.
    pub(super) range: Range<usize>,
}

/// Splits a text into lines.
pub(super) fn split(text: &str) -> Vec<TraceLine<'_>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let range = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        lines.push(TraceLine { text: without_marks(&text[range.clone()]), range });
    }
    lines
}

/// Removes the `> ` of a quotation, the `| ` of an exception group, and the frame of Terraform's messages.
fn without_marks(line: &str) -> &str {
    let line = without_project_number(line);
    let rest = line.trim_start();
    let marks = rest.find(|c: char| !matches!(c, '|' | '│' | '>' | ' ')).unwrap_or(rest.len());
    let is_marked = rest[..marks].ends_with(' ') && rest.starts_with(['|', '│', '>']);
    // Leading spaces after the marks are kept: indentation distinguishes some lines.
    if is_marked { &rest[rest[..marks].trim_end().len()..] } else { without_task(line) }
}

/// Removes the number of the project that `MSBuild` puts before a line: `1>main.cpp(12,5): error`, `1:7>a.cs(3,1): x`.
fn without_project_number(line: &str) -> &str {
    let number = line.trim_start();
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    rest.strip_prefix('>').filter(|_| number.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(line)
}

/// Removes the package and task that a monorepo's task runner puts before a line: `web:test: at run (a.js:3:5)`.
fn without_task(line: &str) -> &str {
    let is_task = |name: &str| {
        let Some((package, task)) = name.strip_suffix(':').and_then(|name| name.split_once(':')) else {
            return false;
        };
        let is_name = |name: &str, others: &[char]| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(&c))
        };
        // `a.c:3:` is a location.
        let is_package = is_name(package, &['@', '/', '-', '_']) && !package.starts_with('/');
        is_package && is_name(task, &['-', '_']) && task.starts_with(|c: char| c.is_ascii_lowercase())
    };
    line.split_once(' ').filter(|(name, _)| is_task(name)).map_or(line, |(_, rest)| rest)
}

/// A line with the context that a detector may use.
pub(super) struct LineContext<'a> {
    /// The line.
    pub(super) line: &'a str,
    /// The line before it.
    pub(super) previous: &'a str,
    /// The two lines after it.
    pub(super) next: [&'a str; 2],
    /// State from earlier lines.
    pub(super) heading: &'a TraceHeading,
    /// The names of the project's files.
    pub(super) project: &'a ProjectNames<'a>,
}

/// What a line implies about the lines after it.
#[derive(Default)]
pub(super) struct TraceHeading {
    /// The file named by a line of its own; problems in it follow.
    pub(super) path: Option<String>,
    /// The function named by a compiler or a test runner: `a.c: In function 'main':`, `[ RUN      ] Cart.Total`.
    function: Option<String>,
    /// The file that the compiler named with the function.
    function_path: Option<String>,
    /// Whether the last message that began with `Error:` or `Warning:` is a warning.
    pub(super) is_warning: bool,
    /// TeX's open parentheses: files, and `None` for others.
    tex_files: Vec<Option<String>>,
}

/// Extensions of the files that TeX reads.
const TEX_EXTENSIONS: [&str; 12] =
    ["aux", "bbl", "cfg", "clo", "cls", "def", "fd", "ldf", "ltx", "sty", "tex", "toc"];
/// More open parentheses are not those of files.
const MAX_TEX_FILES: usize = 256;

impl TraceHeading {
    /// Updates the state from a line.
    pub(super) fn read(&mut self, line: &str, project: &ProjectNames<'_>) {
        let trimmed = line.trim();
        if trimmed.starts_with("Error:") || trimmed.starts_with("Warning:") {
            self.is_warning = trimmed.starts_with("Warning:");
        }
        self.read_tex_files(trimmed);
        if let Some((path, quoted)) = trimmed.split_once(": In ") {
            (self.function, self.function_path) = (quoted_name(quoted), Some(without_scheme(path)));
        } else if let Some(test) = trimmed.strip_prefix("[ RUN      ] ") {
            (self.function, self.function_path) = (Some(test.to_owned()), None);
        } else if trimmed.ends_with(": At top level:") || trimmed.starts_with("[  ") {
            self.function = None;
        }
        // PHPStan: the head of a table.
        let named = trimmed.strip_prefix("Line ").map_or(trimmed, str::trim);
        let is_path = !named.contains(char::is_whitespace)
            && project.may_be_file(named)
            && parse_whole(named).is_none();
        if is_path {
            self.path = Some(without_scheme(named));
        } else if trimmed.is_empty() {
            self.path = None;
        }
    }
}

impl TraceHeading {
    /// Records the files that TeX opens and closes on a line: `(./a.tex (/usr/b.sty) (./c.tex`.
    fn read_tex_files(&mut self, line: &str) {
        for (at, parenthesis) in line.match_indices(['(', ')']) {
            if parenthesis == ")" {
                self.tex_files.pop();
                continue;
            }
            let rest = &line[at + 1..];
            let end = rest.find(|c: char| c.is_whitespace() || "()[]{}<>".contains(c)).unwrap_or(rest.len());
            let is_tex = TEX_EXTENSIONS.contains(&extension(&rest[..end]).as_str());
            // The first one is the document's.
            if (is_tex || !self.tex_files.is_empty()) && self.tex_files.len() < MAX_TEX_FILES {
                self.tex_files.push(is_tex.then(|| without_scheme(&rest[..end])));
            }
        }
    }

    /// Returns the file that TeX is reading.
    pub(super) fn tex_file(&self) -> Option<&str> {
        self.tex_files.iter().rev().find_map(Option::as_deref)
    }

    /// Returns the function that contains the lines of a file.
    pub(super) fn function_in(&self, path: &str) -> Option<&str> {
        let is_other = self.function_path.as_deref().is_some_and(|named| named != path);
        self.function.as_deref().filter(|_| !is_other)
    }
}

/// Returns the text between the quotation marks of GCC or Clang.
pub(super) fn quoted_name(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(['‘', '\'', '`'])?;
    let (name, _) = rest.split_once(['’', '\''])?;
    // Template arguments may be longer than the rest of the text.
    Some(name.split(" [with ").next().unwrap_or_default().to_owned())
}

/// What a detector found in a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineReading {
    /// A new trace of this tool begins.
    Boundary(TraceTool),
    /// The first frame of a trace.
    First(FoundFrame),
    /// A frame of the current trace, if the same tool writes it.
    Next(FoundFrame),
    /// A diagnostic, with the rank of its severity: 0 for an error, 1 for a warning, 2 for a note.
    Diagnostic(FoundFrame, usize),
    /// A log entry about progress, with a location, that does not report a problem.
    Progress,
}

/// A frame before it is placed in a trace.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FoundFrame {
    pub(super) path: String,
    pub(super) line: u32,
    pub(super) column: Option<u32>,
    pub(super) function: Option<String>,
    pub(super) tool: TraceTool,
}

impl FoundFrame {
    /// Makes a frame, unless the path cannot be a file's: `<stdin>`, `<anonymous>`.
    pub(super) fn new(path: &str, line: u32, column: Option<u32>, tool: TraceTool) -> Option<Self> {
        let path = without_scheme(path);
        let is_file = 0 < line && !path.is_empty() && !path.starts_with('<') && !path.ends_with('/');
        is_file.then_some(Self { path, line, column, function: None, tool })
    }

    /// Sets the function, unless the name is empty.
    pub(super) fn in_function(self, function: Option<&str>) -> Self {
        let function = function.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        Self { function, ..self }
    }
}
