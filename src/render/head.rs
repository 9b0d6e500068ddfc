//! The one line that says what is shown of a file.

use crate::model::Block;
use crate::model::ViewMode;

/// Returns the head of a block: language, view, and what else a reader must know. No counts: those would change with
/// every edit, and with them all that a provider has cached behind.
///
/// A view that could be taken for the text says that it is none, and of which content, so that nobody writes it back.
pub fn head(block: &Block) -> String {
    let mut words = Vec::new();
    if block.content.is_some() || matches!(block.view, ViewMode::None | ViewMode::Path) {
        words.push(block.file_type.name.to_owned());
    }
    words.push(match (block.view.is_reduced_text(), block.content) {
        (true, Some(content)) => format!("{} of {}, not the file's text", block.view, content.short()),
        (true, None) | (false, _) => block.view.to_string(),
    });
    words.extend(block.remarks.iter().cloned());
    words.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ContentHash;
    use crate::model::FileType;
    use crate::model::RelPath;
    use crate::model::Role;

    static PYTHON: FileType = FileType { id: "python", name: "Python", fence: "python", role: Role::Code };

    #[track_caller]
    fn check(view: ViewMode, remarks: &[&str], expected: &str) {
        let block = Block {
            path: RelPath::new(b"a.py").unwrap(),
            file_type: &PYTHON,
            view,
            content: Some(ContentHash::of(b"abc")),
            remarks: remarks.iter().map(|remark| (*remark).to_owned()).collect(),
            body: String::new(),
        };
        assert_eq!(head(&block), expected);
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
}
