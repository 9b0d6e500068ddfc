//! A file's identity and metadata: content hash, stamp, type, facts, and the kinds of artifacts derived from it.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::named_enum::named_enum;

named_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ArtifactKind {
        Outline = "outline",
        /// The text without bodies.
        Skeleton = "skeleton",
        Summary = "summary",
        /// The names that the file defines and uses.
        References = "references",
        /// The terms of the text with their counts, for matching with tasks.
        Terms = "terms",
        /// Definitions, scopes, imports, bindings and uses, from which references between files are resolved.
        Facts = "facts",
        /// Hashes of the lines of each symbol, for comparing versions of the file.
        SymbolHashes = "symbols",
    }
}

/// The producer of an artifact: together with the content, it determines the artifact's bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Producer {
    pub artifact: ArtifactKind,
    /// The file type id that the content was read as.
    pub language: &'static str,
    /// Name, version and parameters: `outline/1 tree-sitter-python/0.25`.
    pub version: String,
}

/// The properties of a content's bytes before anything is derived from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentFacts {
    /// Size in bytes.
    pub size: u64,
    /// Name of the text's encoding (`UTF-8`, `UTF-16LE`, `windows-1252`); `None` if it is not text.
    pub encoding: Option<Arc<str>>,
    /// Lines of the text; 0 if it is not text. A last line without a line break counts.
    pub lines: u32,
    /// The language that a C-like header requires.
    pub dialect: HeaderDialect,
    /// The file type id claimed by the first bytes (`#!/usr/bin/env python3`), if any.
    pub claimed_type: Option<String>,
}

/// The result of `stat` for a regular file; equal stamps *may* mean equal bytes, different ones always require a read.
///
/// Compared only for equality, never by order: clocks step, and tools set arbitrary times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileStamp {
    pub dev: u64,
    /// Inode number on that device.
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of the bytes, in nanoseconds since the epoch.
    pub mtime_ns: i64,
    /// Time of the last change of the bytes or of the inode, in nanoseconds since the epoch; no tool can set it.
    pub ctime_ns: i64,
}

named_enum! {
    /// Why a file that the project lists is not rendered.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum SkipReason {
        /// Its bytes are not text.
        Binary = "binary",
        /// It is larger than `limits.structure_max_bytes` and was not read.
        TooLarge = "too_large",
        /// It could not be opened or read.
        Unreadable = "unreadable",
        /// It is marked as text in an encoding that its bytes violate.
        Undecodable = "undecodable",
        /// It was listed, but no longer existed when it was read.
        Vanished = "vanished",
        /// It kept changing while it was read.
        Unstable = "unstable",
        /// It is a symbolic link; links are listed, never followed.
        Symlink = "symlink",
        /// It is a FIFO, a socket or a device.
        Special = "special",
        Submodule = "submodule",
        /// It is a nested repository that git does not track.
        NestedRepository = "nested_repository",
        /// Its name matches a pattern of files with secrets, and `secrets.allow` does not list it.
        Secret = "secret",
        /// It records a discussion (`history.toml`, `*_history.toml`).
        History = "history",
        /// It has the project's settings (`slop.toml`), including lines around slices and names that masks hide.
        Settings = "settings",
        /// It has the project's takes that are not current (`slop.takes.toml`).
        Takes = "takes",
        /// It is a folder that `discover.skip` lists.
        SkippedFolder = "skipped_folder",
        /// It is a folder whose name begins with a dot, outside of a git checkout.
        HiddenFolder = "hidden_folder",
        /// It is a folder in which another file system is mounted, outside of a git checkout.
        OtherFileSystem = "other_file_system",
        /// It is in a linked folder that does not exist now.
        ResourceGone = "resource_gone",
        /// A reader has it, but the project no longer lists it: it is ignored now.
        Unlisted = "unlisted",
    }
}

impl SkipReason {
    /// Returns whether the reason is an error that another attempt, or the user, may fix.
    pub const fn is_error(self) -> bool {
        match self {
            Self::Unreadable | Self::Undecodable | Self::Unstable | Self::ResourceGone => true,
            // A file tracked by git that was deleted, or is excluded by a sparse checkout, is not an error.
            Self::Vanished
            | Self::Binary
            | Self::TooLarge
            | Self::Symlink
            | Self::Special
            | Self::Submodule
            | Self::NestedRepository
            | Self::Secret
            | Self::History
            | Self::Settings
            | Self::Takes
            | Self::SkippedFolder
            | Self::HiddenFolder
            | Self::OtherFileSystem
            | Self::Unlisted => false,
        }
    }

    /// Describes the reason in words that fit after "left out:".
    pub const fn description(self) -> &'static str {
        match self {
            Self::Binary => "not text",
            Self::TooLarge => "larger than limits.structure_max_bytes",
            Self::Unreadable => "cannot be read",
            Self::Undecodable => "its bytes do not keep the encoding that its byte order mark names",
            Self::Vanished => "file not found",
            Self::Unstable => "kept changing while it was read",
            Self::Symlink => "a symbolic link, which is never followed",
            Self::Special => "a FIFO, socket or device, which is never opened",
            Self::Submodule => "a submodule, which is a project of its own",
            Self::NestedRepository => "a git repository of its own",
            Self::Secret => "holds secrets by its name; list it in secrets.allow to render it",
            Self::History => "a discussion's history",
            Self::Settings => "the settings of slop, which may have lines that are hidden elsewhere",
            Self::Takes => "takes that are not current",
            Self::SkippedFolder => "a folder that discover.skip names",
            Self::HiddenFolder => "a hidden folder outside of a git checkout",
            Self::OtherFileSystem => "a folder on another file system",
            Self::ResourceGone => "resource gone",
            Self::Unlisted => "ignored, or no longer one of the project's files",
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The SHA-256 digest of a file's bytes: the identity of the file, regardless of its path.
///
/// Paths and timestamps never enter it, so a moved or touched file keeps all that was derived from it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Returns the digest of `bytes`.
    pub fn digest(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the digest of a text that is given in pieces.
    pub fn digest_pieces<'t>(pieces: impl Iterator<Item = Cow<'t, str>>) -> Self {
        let mut digest = Sha256::new();
        pieces.for_each(|piece| digest.update(piece.as_bytes()));
        Self(digest.finalize().into())
    }

    /// Wraps a digest that was computed earlier.
    pub const fn from_bytes(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// Returns the 32 bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the first 12 hex digits: enough to distinguish contents in a header.
    pub fn short_hex(&self) -> String {
        hex(&self.0[..6])
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({})", self.short_hex())
    }
}

/// Returns bytes in lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// The text is not 64 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256: expected 64 hex digits")]
pub struct ParseHashError;

impl FromStr for ContentHash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, ParseHashError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(ParseHashError);
        }
        let mut digest = [0; 32];
        for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Self(digest))
    }
}

fn nibble(digit: u8) -> Result<u8, ParseHashError> {
    let value = char::from(digit).to_digit(16).ok_or(ParseHashError)?;
    u8::try_from(value).map_err(|_| ParseHashError)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileRole {
    Code,
    Prose,
    /// It configures a program: keys and values.
    Config(ConfigSyntax),
    /// It is written by a program, or has rows that a program reads.
    Data,
}

/// How a configuration file spells its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConfigSyntax {
    /// Nested tables under `[headers]`.
    Toml,
    Json,
    /// Keys nested by their indent.
    Yaml,
    /// `key = value` under `[sections]`.
    Ini,
    /// `KEY=value`, one per line.
    Env,
}

/// A type of file: a row of the table that `discover` keeps.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FileType {
    /// Stable name, as in settings, keys and reports: `python`.
    pub id: &'static str,
    /// Name for people: `Python`.
    pub name: &'static str,
    /// Info string of a fenced code block: `python`; empty for plain text.
    pub fence: &'static str,
    pub role: FileRole,
}

impl FileType {
    /// Returns whether it is code with behavior, not only markup or style.
    pub fn is_program(&self) -> bool {
        self.role == FileRole::Code && !MARKUP.contains(&self.id) || self.is_notebook()
    }

    /// Returns whether it is a notebook: JSON that contains program cells.
    pub fn is_notebook(&self) -> bool {
        self.id == "notebook"
    }
}

/// Returns whether a type, given by its id, is a component: scripts, a template and styles in one file.
pub fn is_component_type(id: &str) -> bool {
    matches!(id, "vue" | "svelte" | "astro")
}

/// Types that are code by role, but usually what a program displays.
const MARKUP: &[&str] = &["html", "css", "scss", "sass", "less"];

/// What the text of a C-like header reveals about its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeaderDialect {
    /// Nothing: it reads the same in C and C++, or it is not a header.
    Neutral,
    /// It contains constructs that only C++ has.
    Cpp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_sha_256_and_reads_back() {
        let hash = ContentHash::digest(b"abc");
        assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hash.short_hex(), "ba7816bf8f01");
        assert_eq!(hash.to_string().parse(), Ok(hash));
    }

    #[test]
    fn an_invalid_digest_is_refused() {
        assert_eq!("abc".parse::<ContentHash>(), Err(ParseHashError));
        assert_eq!("zz".repeat(32).parse::<ContentHash>(), Err(ParseHashError));
    }
}
