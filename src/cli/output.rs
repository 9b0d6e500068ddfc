//! All output of a command: data to standard output, everything else to standard error.

use std::borrow::Cow;
use std::io;
use std::io::{BufRead, BufWriter, IsTerminal, Read, Stdout, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::api::ApiError;
use crate::model::{printable, printable_lines};

#[expect(clippy::struct_excessive_bools, reason = "each is set by a flag or a stream of its own")]
pub(super) struct CommandOutput {
    stdout: BufWriter<Stdout>,
    /// Whether answers are written as JSON.
    pub(super) json: bool,
    /// How many answers were written as JSON; no command gives more than one.
    pub(super) answers: u32,
    quiet: bool,
    verbose: bool,
    /// Whether standard output supports colors.
    colors: bool,
    /// Whether standard output is a terminal, which would interpret escapes in a text.
    is_terminal: bool,
}

/// The styles of data on a terminal.
pub(super) const NAME: Style = Style::new().bold();
pub(super) const KIND: Style = AnsiColor::Cyan.on_default();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Yellow.on_default();
pub(super) const NEW: Style = AnsiColor::Cyan.on_default();
pub(super) const MINOR: Style = Style::new().dimmed();

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();
const NOTE: Style = AnsiColor::Yellow.on_default();

impl CommandOutput {
    pub(super) fn new(json: bool, quiet: bool, verbose: bool) -> Self {
        // Buffered, because documents have megabytes and standard output is flushed after each line.
        let stdout = BufWriter::with_capacity(1 << 16, io::stdout());
        // Determined as for standard error: by `--color`, or else by the terminal and variables such as NO_COLOR.
        let colors = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        Self { stdout, json, answers: 0, quiet, verbose, colors, is_terminal: io::stdout().is_terminal() }
    }

    pub(super) const fn has_colors(&self) -> bool {
        self.colors
    }

    /// Returns a styled text if standard output supports colors.
    pub(super) fn paint(&self, style: Style, text: &str) -> String {
        if self.colors { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Writes a text; on a terminal, its control characters are made visible.
    pub(super) fn write_text(&mut self, text: &str) -> io::Result<()> {
        let text = self.visible(text);
        self.stdout.write_all(text.as_bytes())
    }

    /// Returns a text from a file for use in styled lines: on a terminal, its control characters are made visible.
    pub(super) fn visible<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_terminal { visible_controls(text) } else { Cow::Borrowed(text) }
    }

    /// Writes JSON; on a terminal, its control characters are escaped, which does not change its value.
    pub(super) fn write_json(&mut self, json: &[u8]) -> io::Result<()> {
        let json = if self.is_terminal { escaped_json(json) } else { Cow::Borrowed(json) };
        self.stdout.write_all(&json)
    }

    /// Writes the path of a file: exactly, because scripts read it, but on a terminal with its control characters
    /// escaped.
    pub(super) fn write_path(&mut self, path: &Path) -> io::Result<()> {
        let path = path.display().to_string();
        self.write_line(&if self.is_terminal { printable(&path) } else { path })
    }

    pub(super) fn write_line(&mut self, line: &str) -> io::Result<()> {
        self.stdout.write_all(line.as_bytes())?;
        self.stdout.write_all(b"\n")
    }

    pub(super) fn write_json_line(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.write_json(&serde_json::to_vec(value)?)?;
        self.write_text("\n")
    }

    pub(super) fn write_envelope(&mut self, envelope: &[u8]) -> io::Result<()> {
        self.answers += 1;
        self.write_json(envelope)?;
        self.write_text("\n")
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }

    /// Writes a message for the user to standard error, unless `--quiet` is given.
    pub(super) fn message(&mut self, line: &str) {
        if !self.quiet {
            self.write_stderr(line);
        }
    }

    /// Returns whether a user can see and answer a question. With `--quiet` or `--json`, its context would not be
    /// shown.
    pub(super) fn can_confirm(&self) -> bool {
        !self.json && self.is_interactive() && io::stdin().is_terminal()
    }

    /// Asks a yes/no question on the terminal. Returns `None` if no user can answer it.
    pub(super) fn confirm(&mut self, question: &str) -> Option<bool> {
        if !self.can_confirm() {
            return None;
        }
        let _ = self.stdout.flush();
        let mut stderr = anstream::stderr();
        let _ = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
        let mut answer = String::new();
        // An unreadable answer and the end of the input count as no.
        let _ = io::stdin().lock().take(1_000).read_line(&mut answer);
        Some(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    /// Writes a message about how an answer was made, with `--verbose`.
    pub(super) fn verbose_message(&mut self, line: &str) {
        if self.verbose {
            self.write_stderr(line);
        }
    }

    /// Writes a note about a run, unless `--quiet` is given.
    pub(super) fn note(&mut self, note: &str) {
        self.message(&format!("{NOTE}note:{NOTE:#} {}", printable_lines(note)));
    }

    /// Writes an error about one of several paths, even with `--quiet`.
    pub(super) fn missing_path(&mut self, message: &str) {
        self.write_stderr(&format!("{ERROR}error:{ERROR:#} {}", printable_lines(message)));
    }

    /// Reports why a command failed, even with `--quiet`.
    pub(super) fn error(&mut self, error: &ApiError) {
        let (message, hint) = (printable_lines(&error.message), printable_lines(&error.hint));
        self.write_stderr(&format!("{ERROR}error:{ERROR:#} {message}"));
        if !hint.is_empty() {
            self.write_stderr(&format!("{HINT}hint:{HINT:#} {hint}"));
        }
    }

    pub(super) const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Returns whether standard error is a terminal and output is not reduced.
    pub(super) fn is_interactive(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    fn write_stderr(&mut self, line: &str) {
        // Flushed, so that earlier data appears before the message on a terminal. If either stream is closed, the
        // message is lost, and that cannot be reported.
        let _ = self.stdout.flush();
        let _ = writeln!(anstream::stderr(), "{line}");
    }
}

/// Formats a number of thousandths.
pub(super) fn thousandths(number: u64) -> String {
    format!("{}.{:03}", number / 1000, number % 1000)
}

/// Returns a text with its control characters, except line breaks and tabs, replaced with their symbols: `␛` for
/// escape.
fn visible_controls(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let picture = |c: char| match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '␡',
        // C1 control characters have no symbols.
        _ => '\u{fffd}',
    };
    // A carriage return before a line break is harmless.
    let text = text.replace("\r\n", "\n");
    Cow::Owned(text.chars().map(|c| if is_obeyed(c) { picture(c) } else { c }).collect())
}

/// Escapes the control characters that JSON allows in strings: DEL and C1, among which is a one-byte escape sequence.
fn escaped_json(json: &[u8]) -> Cow<'_, [u8]> {
    let is_obeyed = |c: char| matches!(c, '\u{7f}'..='\u{9f}');
    let text = String::from_utf8_lossy(json);
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(json);
    }
    let escaped = |c: char| if is_obeyed(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect::<String>().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_visible() {
        assert_eq!(visible_controls("a\tb\r\nc\n"), "a\tb\nc\n");
        assert_eq!(visible_controls("\u{1b}[2J\u{7}\r\u{7f}\u{9b}x"), "␛[2J␇␍␡\u{fffd}x");
        assert!(matches!(visible_controls("plain ␛"), Cow::Borrowed(_)));
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let value = serde_json::json!({"a\u{9b}31m": "\u{7f}\u{80}\u{a0}é\n\u{1b}"});
        let json = serde_json::to_vec(&value).unwrap();
        let escaped = String::from_utf8(escaped_json(&json).into_owned()).unwrap();
        assert!(!escaped.contains(char::is_control), "{escaped:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }
}
