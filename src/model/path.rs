//! Paths within a project, and escaping text for display.

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::os_path::{bytes_as_path, usable_path};
use super::text::{is_plain_ascii, is_unsafe_to_print, printable, shell_word};

/// Names of ignore files, whose rules apply to their folder and below; later ones take precedence.
pub const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", ".slopignore"];

/// The beginning of the names of files that are renamed once they are written.
pub const TEMPORARY_PREFIX: &str = ".slop-tmp-";

/// A file's path relative to the project's root: bytes, with `/` as separator, never leaving the root.
///
/// Bytes rather than text, because names need not be UTF-8. NFC and NFD spellings of a name are two paths, as in the
/// file system. Paths are ordered by their bytes. Clones share the bytes, because a document, its receipt and its
/// drafts name each file of a project many times.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Arc<[u8]>);

/// Why bytes are not a path within a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPath {
    #[error("path is empty")]
    Empty,
    #[error("path is absolute")]
    Absolute,
    #[error("path has an empty component, `.` or `..`")]
    Dotted,
    #[error("path has a NUL byte")]
    Nul,
    /// Only on Windows: a device, a stream, or a name that the system would change.
    #[error("path contains a name that the system reserves")]
    Reserved,
}

impl RelPath {
    /// Checks `bytes` and wraps them.
    pub fn new(bytes: &[u8]) -> Result<Self, InvalidPath> {
        let bytes = &*usable_path(bytes).ok_or(InvalidPath::Reserved)?;
        if bytes.is_empty() {
            return Err(InvalidPath::Empty);
        }
        if bytes[0] == b'/' {
            return Err(InvalidPath::Absolute);
        }
        if bytes.contains(&0) {
            return Err(InvalidPath::Nul);
        }
        if bytes.split(|&b| b == b'/').any(|part| matches!(part, b"" | b"." | b"..")) {
            return Err(InvalidPath::Dotted);
        }
        Ok(Self(bytes.into()))
    }

    /// Returns the bytes of the path.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the path relative to the root for the operating system.
    pub fn as_path(&self) -> &Path {
        bytes_as_path(&self.0)
    }

    /// Returns whether this is an ignore file.
    pub fn is_ignore_file(&self) -> bool {
        IGNORE_FILES.iter().any(|name| name.as_bytes() == self.file_name())
    }

    /// Returns the last part.
    pub fn file_name(&self) -> &[u8] {
        match self.0.iter().rposition(|&b| b == b'/') {
            Some(slash) => &self.0[slash + 1..],
            None => &self.0,
        }
    }

    /// Returns the folder of the file, without a trailing slash; empty for the root.
    pub fn parent(&self) -> &[u8] {
        parent_folder(&self.0)
    }

    /// Returns the path quoted as a shell argument that is not an option, for calls that a reader may copy.
    pub fn to_argument(&self) -> String {
        let text = self.to_string();
        shell_word(&if text.starts_with('-') { format!("./{text}") } else { text })
    }

    /// Returns what follows the last dot of the name; `None` for `Makefile` and for `.profile`.
    pub fn extension(&self) -> Option<&[u8]> {
        let name = self.file_name();
        match name.iter().rposition(|&b| b == b'.') {
            Some(dot) if 0 < dot => Some(&name[dot + 1..]),
            Some(_) | None => None,
        }
    }

    /// Returns the name without its last extension.
    pub fn stem(&self) -> &[u8] {
        let name = self.file_name();
        match self.extension() {
            Some(extension) => &name[..name.len() - extension.len() - 1],
            None => name,
        }
    }

    /// Returns the folders that contain the file, nearest first, without the root.
    pub fn ancestors(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &self.0[..at])
    }

    /// Returns the parts, from the root down.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|&b| b == b'/')
    }

    /// Returns the path as text, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

/// Returns whether `path` is `folder` or inside it; everything is inside the empty folder, the root.
pub fn is_within(path: &[u8], folder: &[u8]) -> bool {
    match path.strip_prefix(folder) {
        Some(rest) => folder.is_empty() || matches!(rest.first(), None | Some(b'/')),
        None => false,
    }
}

/// Formats the path for a person or a document: bytes that are not UTF-8, control characters and bidirectional marks
/// are escaped, so that a name can neither break a line nor forge one.
impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            // A fast path, because paths are written thousands of times in a document.
            match chunk.valid() {
                plain if is_plain_ascii(plain) => f.write_str(plain)?,
                text => f.write_str(&printable(text))?,
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Returns the bytes of a path or a pattern as text: what is not UTF-8 becomes `\xNN`, as [`RelPath`] is displayed.
/// Clients can only name files by text.
pub fn path_text(bytes: &[u8]) -> String {
    if let Ok(text) = str::from_utf8(bytes) {
        return text.to_owned();
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// Returns the bytes of a path whose names are escaped as [`RelPath`] displays them; `None` if nothing is escaped.
///
/// A file's actual name may look like an escape, so callers first look for the path as it is.
pub fn unescaped_path(path: &[u8]) -> Option<Vec<u8>> {
    if !path.contains(&b'\\') {
        return None;
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(path.len()), path);
    while let Some((first, after)) = rest.split_first() {
        let escaped =
            if *first == b'\\' { escaped_byte(after).or_else(|| escaped_char(after)) } else { None };
        if let Some((meant, after)) = escaped {
            bytes.extend_from_slice(&meant);
            rest = after;
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    (bytes != path).then_some(bytes)
}

/// Parses `xNN`, and returns the rest. ASCII bytes are never escaped, because they are text.
fn escaped_byte(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (digits, after) = text.strip_prefix(b"x")?.split_at_checked(2)?;
    let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (!byte.is_ascii()).then(|| (vec![byte], after))
}

/// Parses `u{N}`, and returns the rest.
fn escaped_char(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let text = text.strip_prefix(b"u{")?;
    // Six hex digits, enough for every character, and the brace.
    let end = text.iter().take(7).position(|&b| b == b'}')?;
    let code = u32::from_str_radix(std::str::from_utf8(&text[..end]).ok()?, 16).ok()?;
    // Only characters that are escaped for display are unescaped; any other `\u{…}` is part of the name.
    let c = char::from_u32(code).filter(|c| is_unsafe_to_print(*c))?;
    Some((c.to_string().into_bytes(), &text[end + 1..]))
}

/// Normalizes a path or a pattern: `./a//b/` and `a/c/../b` are `a/b`, and `.` is empty.
///
/// All normalization of paths happens here. A `..` that leads out of the path's origin is kept, because its meaning
/// depends on the origin.
pub fn normalized_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            // A pattern component may match more than one folder.
            ".." if parts
                .last()
                .is_some_and(|last| *last != ".." && !last.contains(['*', '?', '[', '{'])) =>
            {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let normalized = parts.join("/");
    if path.starts_with('/') { format!("/{normalized}") } else { normalized }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RelPath({self})")
    }
}

/// Returns the folder of a path, without a trailing slash; empty for the root, and for what is directly in it.
pub fn parent_folder(path: &[u8]) -> &[u8] {
    path.iter().rposition(|&byte| byte == b'/').map_or(&[], |slash| &path[..slash])
}

/// Returns an error with its causes, on one line: the error first, then each cause.
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_could_leave_the_root_is_refused() {
        assert_eq!(RelPath::new(b""), Err(InvalidPath::Empty));
        assert_eq!(RelPath::new(b"/etc/passwd"), Err(InvalidPath::Absolute));
        assert_eq!(RelPath::new(b"a/../../b"), Err(InvalidPath::Dotted));
        assert_eq!(RelPath::new(b"a//b"), Err(InvalidPath::Dotted));
        assert_eq!(RelPath::new(b"./a"), Err(InvalidPath::Dotted));
        assert_eq!(RelPath::new(b"a\0b"), Err(InvalidPath::Nul));
        assert!(RelPath::new(b"...").is_ok());
    }

    #[test]
    fn paths_are_normalized() {
        for (path, expected) in [
            ("./a//b/", "a/b"),
            ("src/../src/Uri.zig", "src/Uri.zig"),
            ("a/b/../../c", "c"),
            ("a/..", ""),
            ("../a", "../a"),
            ("a/../../b", "../b"),
            ("**/../b", "**/../b"),
            ("/a/../b", "/b"),
        ] {
            assert_eq!(normalized_path(path), expected, "{path}");
        }
    }

    #[test]
    fn parts_of_a_name_are_found() {
        let path = RelPath::new(b"src/lib.tar.gz").unwrap();
        assert_eq!(path.file_name(), b"lib.tar.gz");
        assert_eq!(path.parent(), b"src");
        assert_eq!(path.extension(), Some(&b"gz"[..]));
        assert_eq!(path.stem(), b"lib.tar");
        assert_eq!(RelPath::new(b".profile").unwrap().extension(), None);
        assert_eq!(RelPath::new(b"Makefile").unwrap().stem(), b"Makefile");
    }

    #[test]
    fn a_printed_name_means_the_bytes_of_the_name() {
        for name in [&b"b\xff.py"[..], b"\xe2\x80/\xc3\xbc\xfe", b"a\nb\x1b\xff", "\u{202e}x".as_bytes()] {
            let printed = RelPath::new(name).unwrap().to_string();
            assert_eq!(unescaped_path(printed.as_bytes()).as_deref(), Some(name), "{printed}");
            let text = path_text(name);
            assert_eq!(unescaped_path(text.as_bytes()).unwrap_or(text.into_bytes()), name);
        }
        for plain in ["a.py", "a\\x41.py", "a\\xf", "a\\xzz", "a\\u{61}", "a\\u{", "a\\", "\\xffx"] {
            let meant = unescaped_path(plain.as_bytes());
            assert_eq!(meant.is_some(), plain.starts_with("\\xff"), "{plain}");
        }
    }

    #[test]
    fn spellings_of_one_path_become_one() {
        for (path, expected) in [
            ("a/b", "a/b"),
            ("./a//b/", "a/b"),
            ("a/./b", "a/b"),
            ("", ""),
            (".", ""),
            ("./", ""),
            ("/a//b", "/a/b"),
            ("/", "/"),
            ("../a", "../a"),
            ("*/**/[a]", "*/**/[a]"),
        ] {
            assert_eq!(normalized_path(path), expected, "{path}");
        }
    }

    #[test]
    fn a_name_cannot_break_a_line_or_forge_one() {
        let path = RelPath::new(b"a\n## Files\x1b[31m\xff\xe2\x80\xae.py").unwrap();
        assert_eq!(path.to_string(), "a\\u{a}## Files\\u{1b}[31m\\xff\\u{202e}.py");
    }
}
