//! A file's identity and what is known of it: content hash, stamp, type, facts, and the artifacts derived from it.

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
        /// The text with the bodies taken out.
        Skeleton = "skeleton",
        Summary = "summary",
        /// The names that the file defines and uses.
        References = "references",
        /// The terms of the text with their counts, which tasks are matched with.
        Terms = "terms",
        /// Definitions, scopes, imports, bindings and uses: what references between files are found from.
        Facts = "facts",
        /// Hashes of the lines of each symbol, by which versions of the file are compared.
        SymbolHashes = "symbols",
    }
}

/// Who made an artifact: with the content, all that its bytes depend on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Producer {
    pub artifact: ArtifactKind,
    /// Id of the file type that the content was read as.
    pub language: &'static str,
    /// Name, version and parameters: `outline/1 tree-sitter-python/0.25`.
    pub version: String,
}

/// What is known of a content's bytes before anything is derived from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentFacts {
    /// Size in bytes.
    pub size: u64,
    /// Name of the text's encoding (`UTF-8`, `UTF-16LE`, `windows-1252`); `None` if it is not text.
    pub encoding: Option<Arc<str>>,
    /// Lines of the text; 0 if it is not text. A last line without an end counts.
    pub lines: u32,
    /// Which language a C-like header requires.
    pub dialect: HeaderDialect,
    /// Id of the file type that the first bytes claim (`#!/usr/bin/env python3`), if they claim one.
    pub claimed_type: Option<String>,
}

/// What `stat` returns for a regular file; equal stamps *may* mean equal bytes, different ones always require a read.
///
/// Compared by equality alone, never by order: clocks step and tools set times as they like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileStamp {
    pub dev: u64,
    /// Inode number on that device.
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of the bytes, nanoseconds since the epoch.
    pub mtime_ns: i64,
    /// Time of the last change of the bytes or of the inode, nanoseconds since the epoch; no tool can set it.
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
        /// It is marked as text in an encoding that its bytes do not keep.
        Undecodable = "undecodable",
        /// It was listed, and gone when it was to be read.
        Vanished = "vanished",
        /// It kept changing while it was read.
        Unstable = "unstable",
        /// It is a symbolic link; links are listed, never followed.
        Symlink = "symlink",
        /// It is a FIFO, a socket or a device.
        Special = "special",
        Submodule = "submodule",
        /// It is a repository of its own that git does not track.
        NestedRepository = "nested_repository",
        /// Its name matches a pattern of files with secrets, and `secrets.allow` does not list it.
        Secret = "secret",
        /// It records a discussion (`history.toml`, `*_history.toml`).
        History = "history",
        /// It holds the settings of the project (`slop.toml`), with the lines around marked ones and what masks hide.
        Settings = "settings",
        /// It holds the takes of the project that are not current (`slop.takes.toml`).
        Takes = "takes",
        /// It is a folder whose name `discover.skip` lists.
        SkippedFolder = "skipped_folder",
        /// It is a folder whose name begins with a dot, outside of a git checkout.
        HiddenFolder = "hidden_folder",
        /// It is a folder in which another file system is mounted, outside of a git checkout.
        OtherFileSystem = "other_file_system",
        /// It is in a linked folder that is not there now.
        ResourceGone = "resource_gone",
    }
}

impl SkipReason {
    /// Returns whether it is an error that left the file out: one that another try, or the user, may fix.
    pub const fn is_error(self) -> bool {
        match self {
            Self::Unreadable | Self::Undecodable | Self::Unstable | Self::ResourceGone => true,
            // A file that git tracks and somebody deleted, or that a sparse checkout leaves out, is no error.
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
            | Self::OtherFileSystem => false,
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
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The SHA-256 digest of a file's bytes: what the file *is*, wherever it lies.
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

    /// Wraps a digest that was computed before.
    pub const fn from_bytes(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// Returns the 32 bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the first 12 hex digits: enough to tell contents apart in a header.
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
    /// A program is set up by it: keys and values.
    Config(ConfigSyntax),
    /// A program wrote it, or reads rows from it.
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
    /// `KEY=value`, one a line.
    Env,
}

/// A type of file: a row of the table that `discover` keeps.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FileType {
    /// Stable name, as in settings, keys and reports: `python`.
    pub id: &'static str,
    /// Name for people: `Python`.
    pub name: &'static str,
    /// Word after the fence of a code block: `python`; empty for plain text.
    pub fence: &'static str,
    pub role: FileRole,
}

impl FileType {
    /// Returns whether it is code that does something, and not only says how something looks.
    pub fn is_program(&self) -> bool {
        self.role == FileRole::Code && !MARKUP.contains(&self.id) || self.is_notebook()
    }

    /// Returns whether it is JSON around the cells of a program.
    pub fn is_notebook(&self) -> bool {
        self.id == "notebook"
    }
}

/// Types that are code by their role, and usually what a program shows.
const MARKUP: &[&str] = &["html", "css", "scss", "sass", "less"];

/// What the text of a C-like header reveals about its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeaderDialect {
    /// Nothing: it would be read alike as C and as C++, or it is no header.
    Neutral,
    /// It holds what only C++ has.
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
    fn what_is_not_a_digest_is_refused() {
        assert_eq!("abc".parse::<ContentHash>(), Err(ParseHashError));
        assert_eq!("zz".repeat(32).parse::<ContentHash>(), Err(ParseHashError));
    }
}
