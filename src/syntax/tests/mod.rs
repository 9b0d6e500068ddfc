//! Tests of the whole room, and the fixtures that they share.

mod docs;
mod excerpts;
mod golden;
mod hostile;
mod preprocessed;
mod properties;

use std::path::{Path, PathBuf};

use super::languages::LANGUAGES;
use super::notebook;

/// A torture file that was written for the tests.
pub(super) struct SyntaxFixture {
    pub(super) path: PathBuf,
    pub(super) language: &'static str,
    pub(super) text: String,
}

/// Returns every fixture, in the order of their paths.
#[expect(clippy::disallowed_methods, reason = "a test reads its own fixtures")]
pub(super) fn fixtures() -> Vec<SyntaxFixture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut fixtures = Vec::new();
    for language in LANGUAGES.iter().map(|language| language.id).chain([notebook::ID]) {
        // A language may have none while it is being written; `every_language_has_torture_files` requires some.
        let Ok(entries) = std::fs::read_dir(folder.join(language)) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if !matches!(ending, Some("outline" | "skeleton")) {
                let text = std::fs::read_to_string(&path).unwrap();
                fixtures.push(SyntaxFixture { path, language, text });
            }
        }
    }
    fixtures.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!fixtures.is_empty());
    fixtures
}

/// Returns numbers that look random and are the same in each run (`SplitMix64`).
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    /// Returns a number below `limit`; 0 where the limit is 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed >> 32).unwrap_or(0) % limit.max(1)
    }
}
