//! Fragments: files of a project and slices that people marked, each with how much of it an agent sees.

use std::fmt;

use sha2::{Digest, Sha256};

use super::file::ContentHash;
use super::named_enum::named_enum;
use super::path::RelPath;
use super::resource::split_resource;
use super::view::ViewMode;

named_enum! {
    /// How near a fragment is to an agent.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Warmth {
        /// In the context.
        Hot = "HOT",
        /// Derived and named in the map; one call away.
        Warm = "WARM",
        /// Known by its name, a one-line description, and its hash.
        Cold = "COLD",
    }
}

/// How much of a fragment is shown: a number from 0 to 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Depth(u8);

impl Depth {
    /// The text, or the part that a person chose.
    pub const FULL: Self = Self(9);
    pub const SKELETON: Self = Self(4);
    pub const OUTLINE: Self = Self(2);
    pub const SUMMARY: Self = Self(1);
    pub const PATH: Self = Self(0);

    /// The depths that have a view of their own, the deepest first.
    pub const LADDER: [Self; 5] = [Self::FULL, Self::SKELETON, Self::OUTLINE, Self::SUMMARY, Self::PATH];

    /// Returns the deepest depth with a view that is not above `number`; `None` if that is above 9.
    pub fn at_most(number: u8) -> Option<Self> {
        let deepest = Self::LADDER.into_iter().find(|depth| depth.0 <= number);
        deepest.filter(|_| number <= Self::FULL.0)
    }

    /// Returns the depth of a view.
    pub const fn of_view(view: ViewMode) -> Self {
        match view {
            ViewMode::Full
            | ViewMode::Window
            | ViewMode::Masked
            | ViewMode::Custom
            | ViewMode::Diff
            | ViewMode::Definitions
            | ViewMode::Delta
            | ViewMode::Excerpt => Self::FULL,
            ViewMode::Skeleton | ViewMode::Signatures => Self::SKELETON,
            ViewMode::Outline | ViewMode::Names => Self::OUTLINE,
            ViewMode::Summary => Self::SUMMARY,
            ViewMode::Path | ViewMode::None => Self::PATH,
        }
    }

    /// Returns the view of this depth.
    pub const fn view(self) -> ViewMode {
        match self.0 {
            0 => ViewMode::Path,
            1 => ViewMode::Summary,
            2 | 3 => ViewMode::Outline,
            4..=8 => ViewMode::Skeleton,
            _ => ViewMode::Full,
        }
    }

    /// Returns the next lesser depth with a view; the path depth has none.
    pub fn next_lesser(self) -> Self {
        Self::LADDER.into_iter().find(|depth| *depth < self).unwrap_or(Self::PATH)
    }

    /// Returns the number, from 0 to 9.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a fragment is: a file, or a slice of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FragmentName {
    pub path: RelPath,
    /// The [name](super::Slice::name) of the slice; `None` for the file.
    pub part: Option<String>,
}

impl FragmentName {
    /// Returns the name of a file.
    pub const fn of_file(path: RelPath) -> Self {
        Self { path, part: None }
    }

    /// Returns an id that is the same on every machine and after every edit, as 16 hexadecimal digits: the beginning of
    /// a SHA-256 over its resource, its path in it and the slice.
    pub fn id(&self) -> String {
        let path = self.path.as_bytes();
        let (resource, inside) = split_resource(path).unwrap_or((b".", path));
        let part = self.part.as_deref().map(str::as_bytes);
        let mut hash = Sha256::new();
        for field in [Some(resource), Some(inside), part].into_iter().flatten() {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field);
        }
        let digest: [u8; 32] = hash.finalize().into();
        let mut id = [0; 8];
        id.copy_from_slice(&digest[..8]);
        format!("{:016x}", u64::from_be_bytes(id))
    }
}

/// A file or a slice, with where hydration has placed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    pub name: FragmentName,
    /// Its content when it was placed.
    pub content: ContentHash,
    /// The size of that content.
    pub bytes: u64,
    /// Tokens of its view at its depth.
    pub tokens: u64,
    /// Bytes of its view at its depth.
    pub shown_bytes: u64,
    /// `None` once it is forgotten; it returns when it is relevant.
    pub warmth: Option<Warmth>,
    pub depth: Depth,
    /// In thousandths: 1000 if it is in focus or pinned.
    pub score: u16,
    pub pin: Option<Pin>,
    /// How often it was delivered to an agent in a hydrated document.
    pub uses: u64,
    /// When it was last delivered, in seconds since the epoch.
    pub used_at_s: Option<i64>,
    /// When it got its warmth, in seconds since the epoch.
    pub since_s: i64,
    /// The rules that decided, one per line, in order; the last one prevailed.
    pub why: String,
}

/// A request that a fragment be HOT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pin {
    /// As deep as fits.
    AnyDepth,
    At(Depth),
}

impl Pin {
    /// Returns the required depth, if there is one.
    pub const fn depth(self) -> Option<Depth> {
        match self {
            Self::AnyDepth => None,
            Self::At(depth) => Some(depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_without_a_view_is_taken_down_to_one_that_has_one() {
        let taken: Vec<u8> = (0..=9).filter_map(Depth::at_most).map(Depth::number).collect();
        assert_eq!(taken, [0, 1, 2, 2, 4, 4, 4, 4, 4, 9]);
        assert_eq!(Depth::at_most(10), None);
        for depth in Depth::LADDER {
            assert_eq!(Depth::of_view(depth.view()), depth);
        }
        assert_eq!(Depth::FULL.next_lesser(), Depth::SKELETON);
        assert_eq!(Depth::PATH.next_lesser(), Depth::PATH);
    }

    #[test]
    fn ids_are_the_same_everywhere() {
        let id = |path: &str, part: Option<&str>| {
            let path = RelPath::new(path.as_bytes()).unwrap();
            FragmentName { path, part: part.map(str::to_owned) }.id()
        };
        assert_eq!(id("src/a.py", None), "c4edc8a077de3eee");
        assert_eq!(id("src/a.py", Some("push")), "0d9d8ca4c9492792");
        assert_ne!(id("src/a.py", None), id("src/b.py", None));
        assert_ne!(id("@lib/src/a.py", None), id("src/a.py", None));
    }
}
