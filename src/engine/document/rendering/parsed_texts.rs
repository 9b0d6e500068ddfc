//! Keeps the parsed parts of texts for their next excerpts, of the same document or of another one.

use std::sync::Arc;

use crate::engine::artifacts::ContentKey;
use crate::engine::lru::{LruCache, MemorySize};
use crate::engine::ranking::SourceText;
use crate::model::FileType;
use crate::syntax;
use crate::syntax::ExcerptParts;

/// The maximum size of the parts that are kept.
const MAX_BYTES: usize = 4 << 20;

/// The parts of the texts of which excerpts were made: until a document fits its limit, a text is shown in several
/// selections, and would be parsed for each.
pub(in crate::engine::document) type PartsCache = LruCache<ContentKey, ExcerptParts, MAX_BYTES>;

impl MemorySize for ExcerptParts {
    fn memory_size(&self) -> usize {
        ExcerptParts::memory_size(self)
    }
}

/// Returns the parts of a text, parsing it unless they are known; `None` if it cannot be parsed.
pub(in crate::engine::document) fn parsed_parts(
    kept: &PartsCache,
    source: &SourceText,
    file_type: &FileType,
    give_up: &mut dyn FnMut() -> bool,
) -> Option<Arc<ExcerptParts>> {
    let key = (source.content, file_type.id);
    if let Some(known) = kept.get(&key) {
        return Some(known);
    }
    let parts = Arc::new(syntax::excerpt_parts(file_type.id, &source.text, give_up)?);
    kept.insert(key, Arc::clone(&parts));
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ContentHash;

    #[test]
    fn a_text_is_parsed_once_for_all_its_excerpts() {
        let python = crate::discover::file_type_by_id("python").unwrap();
        let source = SourceText::new("def f(): pass\n".to_owned(), ContentHash::digest(b""), None);
        let kept = PartsCache::default();
        assert!(parsed_parts(&kept, &source, python, &mut || true).is_none());
        let first = parsed_parts(&kept, &source, python, &mut || false).unwrap();
        // The second time, there is no time for a parse.
        let second = parsed_parts(&kept, &source, python, &mut || true).unwrap();
        assert!(Arc::ptr_eq(&first, &second));
    }
}
