//! The texts of ranked files that a process keeps between answers.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::rank::SourceTexts;
use super::source::SourceText;
use crate::engine::artifacts::{ContentKey, ContentRef};
use crate::engine::workspace::KnownFile;

/// Texts are kept that have at most so many bytes together.
const MAX_BYTES: usize = 4 << 20;

/// The texts that were ranked last, with what was found out about them: the files that rank best for a task are often among
/// the best for the next one.
#[derive(Default)]
pub(in crate::engine) struct KeptSources(Mutex<LatestTexts>);

#[derive(Default)]
struct LatestTexts {
    /// Each with the number of the ranking that it was last part of.
    texts: FxHashMap<ContentKey, (Arc<SourceText>, u64)>,
    rankings: u64,
}

impl KeptSources {
    /// Returns those of the files' texts that are kept, by the positions of the files.
    pub(in crate::engine) fn of_files(&self, files: &[&KnownFile]) -> SourceTexts {
        let latest = self.lock();
        let text_of = |file: &KnownFile| {
            let (text, _) = latest.texts.get(&ContentRef::from_file(file)?.key())?;
            // A document finds out for itself whether the parts of a text take too long to parse.
            (!text.is_too_slow.load(Ordering::Relaxed)).then(|| Arc::clone(text))
        };
        files.iter().enumerate().filter_map(|(at, file)| Some((at, text_of(file)?))).collect()
    }

    /// Keeps the texts of a ranking, and earlier ones as far as there is room for them. They are those that the files have now.
    pub(in crate::engine) fn keep(&self, files: &[&KnownFile], sources: &SourceTexts) {
        let mut latest = self.lock();
        latest.rankings += 1;
        let ranking = latest.rankings;
        for (at, text) in sources {
            if let Some(subject) = ContentRef::from_file(files[*at]) {
                latest.texts.insert(subject.key(), (Arc::clone(text), ranking));
            }
        }
        while MAX_BYTES < latest.texts.values().map(|(text, _)| text.text.len()).sum() {
            let oldest = latest.texts.values().map(|(_, ranking)| *ranking).min();
            latest.texts.retain(|_, (_, ranking)| Some(*ranking) != oldest);
        }
    }

    fn lock(&self) -> MutexGuard<'_, LatestTexts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::workspace::KnownState;
    use crate::model::{ContentHash, RelPath};

    #[test]
    fn the_texts_of_the_latest_rankings_are_kept() {
        let file = |name: &str| {
            let state = KnownState::Content {
                hash: ContentHash::digest(name.as_bytes()),
                file_type: crate::discover::file_type_by_id("c").unwrap(),
                facts: crate::discover::content_facts(name.as_bytes(), None, false),
            };
            KnownFile { path: RelPath::new(name.as_bytes()).unwrap(), tracked: true, mtime_ns: None, state }
        };
        let files = [file("a.c"), file("b.c"), file("c.c")];
        let files: Vec<&KnownFile> = files.iter().collect();
        let text = |bytes: usize| Arc::new(SourceText::new("x".repeat(bytes), None));
        let known = |kept: &KeptSources| {
            let mut known: Vec<usize> = kept.of_files(&files).into_keys().collect();
            known.sort_unstable();
            known
        };
        let kept = KeptSources::default();
        kept.keep(&files, &SourceTexts::from([(0, text(MAX_BYTES / 2)), (1, text(10))]));
        kept.keep(&files, &SourceTexts::from([(1, text(10))]));
        assert_eq!(known(&kept), [0, 1]);
        let large = text(MAX_BYTES / 2);
        kept.keep(&files, &SourceTexts::from([(2, Arc::clone(&large))]));
        assert_eq!(known(&kept), [1, 2]);
        large.is_too_slow.store(true, Ordering::Relaxed);
        assert_eq!(known(&kept), [1]);
        kept.keep(&files, &SourceTexts::from([(0, text(MAX_BYTES + 1))]));
        assert_eq!(known(&kept), [0; 0]);
    }
}
