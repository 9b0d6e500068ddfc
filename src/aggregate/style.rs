//! How a language writes comments, statements and what holds members: what a masked view needs to write in it.

/// How a language is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LanguageStyle {
    /// How what belongs together is marked.
    pub(super) layout: BlockLayout,
    /// What a comment begins with that goes to the end of its line.
    pub(super) line_comment: Option<&'static str>,
    /// What stands around a comment within a line.
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// What ends a declaration of one line.
    pub(super) statement_end: &'static str,
    /// What follows the closing brace of a type.
    pub(super) type_end: &'static str,
}

/// How a language marks what belongs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockLayout {
    /// By a colon and an indent, as Python.
    Indented,
    /// By braces, as C.
    Braced,
    /// By a word at the end, as Ruby.
    Worded(&'static str),
    /// By nothing but what comes next, as Markdown: members stand below.
    Listed,
}

impl LanguageStyle {
    /// Braces and semicolons, as Java; so is every language that nobody says otherwise of.
    const BRACES: Self = Self {
        layout: BlockLayout::Braced,
        line_comment: Some("//"),
        block_comment: Some(("/*", "*/")),
        statement_end: ";",
        type_end: "",
    };
    /// Braces, and lines that end by themselves.
    const LINES: Self = Self { statement_end: "", ..Self::BRACES };
    /// Lists of things with comments as in a shell.
    const LIST: Self = Self {
        layout: BlockLayout::Listed,
        line_comment: Some("#"),
        block_comment: None,
        statement_end: "",
        type_end: "",
    };

    /// Returns the style of the file type of that id.
    pub(super) fn for_language(language: &str) -> Self {
        match language {
            "python" => Self { layout: BlockLayout::Indented, ..Self::LIST },
            "c" | "cpp" => Self { type_end: ";", ..Self::BRACES },
            "go" | "kotlin" | "scala" | "swift" => Self::LINES,
            "shell" => Self { layout: BlockLayout::Braced, ..Self::LIST },
            "ruby" => Self { layout: BlockLayout::Worded("end"), ..Self::LIST },
            "lua" => Self { layout: BlockLayout::Worded("end"), line_comment: Some("--"), ..Self::LIST },
            "sql" => Self { line_comment: Some("--"), block_comment: Some(("/*", "*/")), ..Self::LIST },
            "html" | "markdown" => {
                Self { line_comment: None, block_comment: Some(("<!--", "-->")), ..Self::LIST }
            }
            "json" | "notebook" => Self { line_comment: None, ..Self::LIST },
            "css" => Self { line_comment: None, ..Self::BRACES },
            "zig" => Self { block_comment: None, ..Self::BRACES },
            "cmake" | "dockerfile" | "makefile" | "toml" | "yaml" => Self::LIST,
            _ => Self::BRACES,
        }
    }

    /// Returns a comment of these words: for the end of a line, or for the midst of one; nothing where the language has
    /// no such comment.
    pub(super) fn comment(&self, words: &str, is_last: bool) -> String {
        match (self.line_comment.filter(|_| is_last), self.block_comment) {
            (Some(begin), _) => format!("{begin} {words}"),
            (None, Some((begin, end))) => format!("{begin} {words} {end}"),
            (None, None) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_written_as_its_language_writes_it() {
        let of = |language: &str, is_last| LanguageStyle::for_language(language).comment("2 lines", is_last);
        assert_eq!(of("rust", true), "// 2 lines");
        assert_eq!(of("rust", false), "/* 2 lines */");
        assert_eq!(of("python", true), "# 2 lines");
        assert_eq!(of("sql", true), "-- 2 lines");
        assert_eq!(of("css", true), "/* 2 lines */");
        assert_eq!(of("markdown", true), "<!-- 2 lines -->");
        assert_eq!(of("yaml", false), "");
        assert_eq!(of("json", true), "");
    }
}
