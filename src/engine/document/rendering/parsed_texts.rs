//! Keeps the parsed parts of large texts for all excerpts while a document is composed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::engine::ranking::SourceText;
use crate::model::{ContentHash, FileType, lock};
use crate::syntax;
use crate::syntax::ExcerptParts;

/// The parts of smaller texts are not kept: parsing one again takes a few dozen milliseconds, and a document may show
/// thousands.
const MIN_KEPT_BYTES: usize = 128 << 10;

/// The parts of the large texts of which excerpts were made: until a document fits its limit, a text is shown in
/// several selections, and would be parsed for each.
#[derive(Default)]
pub(in crate::engine::document) struct ParsedTexts(Mutex<PartsByText>);

/// The parts of each text, by its hash and its language.
type PartsByText = HashMap<(ContentHash, &'static str), Arc<ExcerptParts>>;

impl ParsedTexts {
    /// Returns the parts of a text, parsing it unless they are known; `None` if it cannot be parsed.
    pub(in crate::engine::document) fn parts(
        &self,
        source: &SourceText,
        file_type: &FileType,
        give_up: &mut dyn FnMut() -> bool,
    ) -> Option<Arc<ExcerptParts>> {
        let key = (source.content, file_type.id);
        if let Some(known) = lock(&self.0).get(&key) {
            return Some(Arc::clone(known));
        }
        let parts = Arc::new(syntax::excerpt_parts(file_type.id, &source.text, give_up)?);
        if MIN_KEPT_BYTES <= source.text.len() {
            lock(&self.0).insert(key, Arc::clone(&parts));
        }
        Some(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the parts of a text are returned a second time without any time for a parse.
    fn is_parsed_once(text: String) -> bool {
        let python = crate::discover::file_type_by_id("python").unwrap();
        let (parsed, source) =
            (ParsedTexts::default(), SourceText::new(text, ContentHash::digest(b""), None));
        let first = parsed.parts(&source, python, &mut || false).unwrap();
        parsed.parts(&source, python, &mut || true).is_some_and(|second| Arc::ptr_eq(&first, &second))
    }

    #[test]
    fn only_a_large_text_is_parsed_once_for_all_its_excerpts() {
        let function = "def f(): pass\n";
        assert!(is_parsed_once(function.repeat(MIN_KEPT_BYTES / function.len() + 1)));
        assert!(!is_parsed_once(function.to_owned()));
    }
}
