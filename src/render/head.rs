//! The one line that says what is shown of a file.

use crate::model::DocumentBlock;
use crate::model::SummaryProvenance;
use crate::model::ViewMode;

/// Returns the head of a block: language, view, and what else a reader must know. No counts: those would change with
/// every edit, and with them all that a provider has cached behind.
///
/// A view that could be taken for the text says that it is none, and of which content, so that nobody writes it back.
pub fn head_line(block: &DocumentBlock) -> String {
    let mut words = Vec::new();
    if block.content.is_some() || matches!(block.view, ViewMode::None | ViewMode::Path) {
        words.push(block.file_type.name.to_owned());
    }
    words.push(match (block.view.is_reduced_text(), block.content) {
        (true, Some(content)) => format!("{} of {}, not the file's text", block.view, content.short_hex()),
        (true, None) | (false, _) => {
            format!("{}{}", block.view, block.summary.as_ref().map_or("", SummaryProvenance::view_suffix))
        }
    });
    words.extend(block.remarks.iter().cloned());
    words.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ContentHash;
    use crate::model::FileRole;
    use crate::model::FileType;
    use crate::model::ModelName;
    use crate::model::RelPath;

    static PYTHON: FileType =
        FileType { id: "python", name: "Python", fence: "python", role: FileRole::Code };

    #[track_caller]
    fn check(view: ViewMode, remarks: &[&str], expected: &str) -> DocumentBlock {
        let block = DocumentBlock {
            path: RelPath::new(b"a.py").unwrap(),
            file_type: &PYTHON,
            view,
            content: Some(ContentHash::digest(b"abc")),
            remarks: remarks.iter().map(|remark| (*remark).to_owned()).collect(),
            body: String::new(),
            summary: None,
        };
        assert_eq!(head_line(&block), expected);
        block
    }

    #[test]
    fn a_reduced_text_says_so_and_of_what() {
        check(ViewMode::Full, &[], "Python · full");
        check(ViewMode::Summary, &[], "Python · summary");
        check(
            ViewMode::Skeleton,
            &["parse health 99.0 %"],
            "Python · skeleton of ba7816bf8f01, not the file's text · parse health 99.0 %",
        );
    }

    #[test]
    fn a_models_words_are_told_from_the_heuristics_and_one_model_is_as_good_as_another() {
        let by = |model: &str, is_earlier| {
            let name = ModelName { provider: "here".to_owned(), model: model.to_owned() };
            let summary = Some(SummaryProvenance::Model { name, is_outdated: is_earlier });
            head_line(&DocumentBlock { summary, ..check(ViewMode::Summary, &[], "Python · summary") })
        };
        assert_eq!(by("small", false), "Python · summary by a model");
        assert_eq!(by("large", false), by("small", false));
        assert_eq!(by("small", true), "Python · summary by a model, of an earlier version");
    }
}
