//! The notation of gap comments in each language.

use std::ops::RangeInclusive;

use crate::model::is_component_type;

/// How a language writes a comment that stands for lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct GapStyle {
    pub(super) comment: (&'static str, &'static str),
    /// The same in the template of a component, whose scripts have other comments.
    template_comment: Option<(&'static str, &'static str)>,
    /// The statement written before the comment where a block must not be empty, such as `pass`.
    pub(super) statement: &'static str,
    /// Whether a block ends where a line is indented less, and not at a bracket or a word.
    pub(super) ends_blocks_by_indent: bool,
}

impl GapStyle {
    /// Returns the style of a language; `None` if it has no comments.
    pub(super) fn for_language(language: &str) -> Option<Self> {
        let (comment, statement) = match language {
            "python" => (("# ", ""), "...  "),
            "shell" => (("# ", ""), ": "),
            "ruby" | "yaml" | "toml" | "make" | "cmake" | "dockerfile" => (("# ", ""), ""),
            "lua" | "sql" => (("-- ", ""), ""),
            "html" | "markdown" => (("<!-- ", " -->"), ""),
            "css" => (("/* ", " */"), ""),
            "json" | "notebook" => return None,
            _ => (("// ", ""), ""),
        };
        Some(Self {
            comment,
            template_comment: is_component_type(language).then_some(("<!-- ", " -->")),
            statement,
            ends_blocks_by_indent: language == "python",
        })
    }

    /// Returns the style for what the scanner of the language has elided.
    pub(super) fn for_elided(self) -> Self {
        Self { comment: self.template_comment.unwrap_or(self.comment), ..self }
    }

    /// Returns the comment for a gap, without an indent.
    pub(super) fn mark(self, gap: &RangeInclusive<u32>, is_in_block: bool, pointer: Option<&str>) -> String {
        let (first, last) = (gap.start(), gap.end());
        let size = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
        // A pointer names the lines itself.
        let words = pointer.unwrap_or(&size);
        let (open, close) = self.comment;
        let statement = if is_in_block { self.statement } else { "" };
        format!("{statement}{open}{words}{close}")
    }

    /// Returns whether a pointer can be part of a comment without ending it.
    pub(super) fn can_hold(self, pointer: &str) -> bool {
        let close = self.comment.1.trim();
        !pointer.chars().any(char::is_control) && (close.is_empty() || !pointer.contains(close))
    }
}
