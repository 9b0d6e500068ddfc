//! Source text by lines, and the syntax of its language as far as generated lines need it: comments, braces, heads.

use std::ops::Range;

use crate::model::is_component_type;

/// Leading white space beyond this is not copied, because every generated line would have it.
const MAX_INDENT: usize = 200;

/// How many lines above are searched for the head of a block.
const MAX_LINES_ABOVE: usize = 500;

/// A text and where its lines begin.
pub(in crate::aggregate) struct SourcePage<'t> {
    pub(in crate::aggregate) text: &'t str,
    pub(in crate::aggregate) style: LanguageStyle,
    pub(super) line_end: &'static str,
    line_starts: Vec<usize>,
}

impl<'t> SourcePage<'t> {
    pub(in crate::aggregate) fn new(text: &'t str, language: &str) -> Self {
        let mut line_starts = vec![0];
        line_starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        let style = LanguageStyle::for_language(language);
        // By the first line: generated lines need one kind of line break, and texts that mix them are rare.
        let first = line_starts.get(1).map_or("", |end| &text[..*end]);
        let line_end = if first.ends_with("\r\n") { "\r\n" } else { "\n" };
        Self { text, style, line_end, line_starts }
    }

    /// Returns the start of the line that contains `at`.
    pub(super) fn line_start(&self, at: usize) -> usize {
        // The first line starts at 0, so at least one start is not after `at`.
        self.line_starts[self.line_starts.partition_point(|start| *start <= at) - 1]
    }

    /// Returns the rest of the line after `at`, without the line break.
    pub(super) fn rest_of_line(&self, at: usize) -> &'t str {
        let next = self.line_starts.partition_point(|start| *start <= at);
        let end = self.line_starts.get(next).copied().unwrap_or(self.text.len());
        self.text[at..end].trim_end_matches(['\n', '\r'])
    }

    /// Returns the white space at the beginning of the line that contains `at`.
    pub(in crate::aggregate) fn indent(&self, at: usize) -> &'t str {
        let before = &self.text[self.line_start(at)..at];
        let blank = before.len() - before.trim_start_matches(is_blank).len();
        // White space beyond ASCII takes several bytes, and the limit may fall inside one.
        &before[..before.floor_char_boundary(blank.min(MAX_INDENT))]
    }

    /// Returns a symbol's text extended as a reader would: with the indentation of its first line, and with the
    /// semicolon and the comment after it on its last line, even if that comment ends on a later line.
    pub(super) fn extended_span(&self, span: &Range<usize>) -> Range<usize> {
        let line = self.line_start(span.start);
        let before = &self.text[line..span.start];
        let is_first = before.chars().all(is_blank);
        // The grammar's node begins after `extern "C"`; without it, the definition would declare another function.
        let is_linkage = before.trim_start().starts_with("extern \"") && !before.contains(['{', ';']);
        let start = if is_first || is_linkage { line } else { span.start };
        let rest = self.rest_of_line(span.end);
        let signed = rest.trim_start_matches(is_blank);
        let sign = if signed.starts_with([';', ',']) { rest.len() - signed.len() + 1 } else { 0 };
        let end = span.end + sign;
        start..self.comments_end(end).unwrap_or(end)
    }

    /// Returns a symbol's text with its comments: those directly above it, and those below it that are indented deeper.
    /// The latter are in its body if indentation marks bodies, and otherwise continue the comment after it.
    pub(super) fn commented_span(&self, span: &Range<usize>) -> Range<usize> {
        let extended = self.extended_span(span);
        let line = self.line_start(span.start);
        // A comment may also precede it on the same line, as in `/** The key. */ int key;`.
        let start = self.leading_comments_start(extended.start).unwrap_or(extended.start);
        let start = self.with_comment_above(start);
        let indent = self.text[line..].len() - self.text[line..].trim_start_matches([' ', '\t']).len();
        start..self.with_comments_below(extended.end, indent)
    }

    /// Returns the end of the comments on the lines below `end` that are indented deeper than `indent`; `end` if there
    /// are none, or if it is not at the end of a line.
    fn with_comments_below(&self, end: usize, indent: usize) -> usize {
        if !self.rest_of_line(end).is_empty() {
            return end;
        }
        let mut end = end;
        let mut line = self.line_starts.partition_point(|start| *start <= end);
        while let Some(&start) = self.line_starts.get(line) {
            let text = self.rest_of_line(start);
            let comment = text.trim_start_matches(is_blank);
            if !comment.is_empty() {
                let is_deeper = indent < text.len() - comment.len();
                let Some(below) = self.comments_end(start).filter(|_| is_deeper) else { break };
                end = below;
            }
            line = self.line_starts.partition_point(|begin| *begin <= end.max(start));
        }
        end
    }

    /// Returns the start of the comment directly above the line that begins at `start`; `start` itself if there is
    /// none, or if no line begins there.
    pub(super) fn with_comment_above(&self, start: usize) -> usize {
        let line = self.line_starts.partition_point(|begin| *begin <= start) - 1;
        if self.line_starts[line] != start {
            return start;
        }
        let mut first = line;
        // Going up, a block comment is entered at its end and left at its beginning.
        let mut is_in_block = false;
        for above in (0..line).rev() {
            let text = self.text[self.line_starts[above]..self.line_starts[above + 1]].trim();
            let is_line = self.style.line_comment.is_some_and(|begin| text.starts_with(begin));
            let (begin, end) = self.style.block_marks();
            let opens = text.starts_with(begin);
            match is_in_block {
                false if is_line || (opens && text.ends_with(end)) => first = above,
                false if text.ends_with(end) && !text.contains(begin) => is_in_block = true,
                true if opens && !text.contains(end) => {
                    first = above;
                    is_in_block = false;
                }
                true if !text.contains(begin) && !text.contains(end) => {}
                true | false => break,
            }
        }
        self.line_starts[first]
    }

    /// Returns the head of the block that contains the line of `at`: the nearest line above that is indented less.
    pub(super) fn block_head(&self, at: usize, indent: usize) -> Option<&'t str> {
        let line = self.line_starts.partition_point(|begin| *begin <= at) - 1;
        let above = (0..line).rev().take(MAX_LINES_ABOVE);
        let mut texts = above.map(|above| &self.text[self.line_starts[above]..self.line_starts[above + 1]]);
        texts.find_map(|text| {
            let own = text.trim_start_matches([' ', '\t']);
            let is_less = text.len() - own.len() < indent;
            let own = own.trim();
            // A comment may be indented less than the code around it, and is not a head. A longer line would not help a
            // reader.
            (is_less && !own.is_empty() && !own.starts_with('#') && own.len() <= MAX_INDENT).then_some(own)
        })
    }

    /// Returns the end of the line on which the comments after `at` end; that of the line of `at` if nothing follows,
    /// and `None` if code follows.
    fn comments_end(&self, at: usize) -> Option<usize> {
        let mut at = at;
        loop {
            let rest = self.rest_of_line(at);
            let comment = rest.trim_start_matches(is_blank);
            if comment.is_empty() || self.style.line_comment.is_some_and(|begin| comment.starts_with(begin)) {
                return Some(at + rest.len());
            }
            let (begin, end) = self.style.block_comment.filter(|(begin, _)| comment.starts_with(begin))?;
            let inside = at + rest.len() - comment.len() + begin.len();
            at = inside + self.text[inside..].find(end)? + end.len();
        }
    }

    /// Returns the start of the line on which the comments directly before `at` begin; `None` if there are none, or if
    /// code precedes them.
    fn leading_comments_start(&self, at: usize) -> Option<usize> {
        let (begin, end) = self.style.block_comment?;
        let mut start = at;
        while let Some(inside) = self.text[..start].trim_end_matches([' ', '\t']).strip_suffix(end) {
            start = inside.rfind(begin)?;
        }
        let line = self.line_start(start);
        (start < at && self.text[line..start].chars().all(is_blank)).then_some(line)
    }
}

/// Returns the replacement of lines that are not shown: a comment, if the language has comments.
pub fn skipped_lines_mark(language: &str, lines: usize) -> String {
    gap_mark(language, &format!("… {lines} {}", if lines == 1 { "line" } else { "lines" }))
}

/// Returns a text as a comment, if the language has comments.
pub(super) fn gap_mark(language: &str, words: &str) -> String {
    let comment = LanguageStyle::for_language(language).comment(words, true);
    if comment.is_empty() { words.to_owned() } else { comment }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::aggregate) struct LanguageStyle {
    /// How blocks are marked.
    pub(super) layout: BlockLayout,
    /// The start of a line comment.
    pub(super) line_comment: Option<&'static str>,
    /// The start and end of a comment within a line.
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// The terminator of a one-line declaration.
    pub(super) statement_end: &'static str,
    /// What follows the closing brace of a type.
    pub(super) type_end: &'static str,
}

/// How a language marks blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::aggregate) enum BlockLayout {
    Indented,
    Braced,
    Worded(&'static str),
    /// Not at all, as in Markdown: members follow below.
    Listed,
}

impl LanguageStyle {
    /// Braces and semicolons, as in Java: the default for languages that are not listed.
    const BRACES: Self = Self {
        layout: BlockLayout::Braced,
        line_comment: Some("//"),
        block_comment: Some(("/*", "*/")),
        statement_end: ";",
        type_end: "",
    };
    const LINES: Self = Self { statement_end: "", ..Self::BRACES };
    /// Lists, with comments as in a shell.
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
            "cmake" | "dockerfile" | "make" | "toml" | "yaml" => Self::LIST,
            _ => Self::without_grammar(language),
        }
    }

    /// Returns the style of a language of which only the comments are known.
    fn without_grammar(language: &str) -> Self {
        let mark = |line_comment| Self { line_comment: Some(line_comment), ..Self::LIST };
        let around =
            |begin, end| Self { line_comment: None, block_comment: Some((begin, end)), ..Self::LIST };
        let marks = |line_comment, around| Self { block_comment: Some(around), ..mark(line_comment) };
        match language {
            "perl" | "raku" | "r" | "elixir" | "crystal" | "fish" | "csh" | "nushell" | "coffeescript"
            | "gdscript" | "starlark" | "meson" | "just" | "puppet" | "rego" | "tcl" | "awk" | "sed"
            | "ninja" | "qmake" | "gn" | "graphql" | "cython" | "jq" | "gnuplot" | "rpm-spec" | "kconfig"
            | "ini" | "env" | "ignore" | "gettext" | "mojo" | "snakemake" | "vyper" | "roc" | "wdl"
            | "gherkin" | "robot" | "helm" => Self::LIST,
            "nix" | "terraform" => marks("#", ("/*", "*/")),
            "julia" => marks("#", ("#=", "=#")),
            "nim" => marks("#", ("#[", "]#")),
            "powershell" => marks("#", ("<#", "#>")),
            "haskell" | "elm" | "purescript" | "agda" | "idris" | "dhall" => marks("--", ("{-", "-}")),
            "lean" => marks("--", ("/-", "-/")),
            "cabal" | "ada" | "vhdl" | "applescript" => mark("--"),
            "lisp" | "scheme" | "racket" => marks(";;", ("#|", "|#")),
            "clojure" | "emacs-lisp" | "llvm" | "autohotkey" | "webassembly" => mark(";;"),
            "matlab" => marks("%", ("%{", "%}")),
            "erlang" | "latex" | "bibtex" | "prolog" | "postscript" | "mermaid" => mark("%"),
            "assembly" | "sas" => around("/*", "*/"),
            "fortran" => mark("!"),
            "visual-basic" | "plantuml" | "asp" => mark("'"),
            "vim" | "abap" => mark("\""),
            "batch" => mark("REM"),
            "velocity" | "mako" => mark("##"),
            "fsharp" | "fstar" => marks("//", ("(*", "*)")),
            "tla" => marks("\\*", ("(*", "*)")),
            "ocaml" | "coq" | "mathematica" | "standard-ml" | "isabelle" => around("(*", "*)"),
            "xml" | "svg" | "mxml" => around("<!--", "-->"),
            _ if is_component_type(language) => around("<!--", "-->"),
            "jsp" | "aspx" => around("<%--", "--%>"),
            "coldfusion" => around("<!---", "--->"),
            "freemarker" => around("<#--", "-->"),
            "latte" => around("{*", "*}"),
            "jinja" | "twig" | "volt" => around("{#", "#}"),
            "handlebars" => around("{{!--", "--}}"),
            "erb" | "eex" | "ejs" => around("<%#", "%>"),
            "razor" => around("@*", "*@"),
            "rst" | "asciidoc" | "org" | "typst" | "text" | "man" | "texinfo" | "wiki" | "csv" | "tsv"
            | "jsonl" | "lock" | "diff" | "log" | "pem" | "subtitle" | "snapshot" | "mesh" | "rtf"
            | "checksum" | "strings" | "cobol" | "cram" | "soql" | "m4" | "haml" | "pug" | "liquid"
            | "go-template" | "unknown" => Self { line_comment: None, ..Self::LIST },
            _ => Self::BRACES,
        }
    }

    /// Returns the start and end marks of a comment; if there is none, marks that begin no line of source.
    pub(super) fn block_marks(&self) -> (&'static str, &'static str) {
        self.block_comment.unwrap_or(("\0", "\0"))
    }

    /// Returns a text as a comment, for the end of a line or for the middle of one; empty if the language has no such
    /// comment.
    pub(in crate::aggregate) fn comment(&self, words: &str, is_last: bool) -> String {
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
        assert_eq!(skipped_lines_mark("elixir", 1), "# … 1 line");
        assert_eq!(skipped_lines_mark("haskell", 2), "-- … 2 lines");
        assert_eq!(skipped_lines_mark("ocaml", 2), "(* … 2 lines *)");
        assert_eq!(skipped_lines_mark("dart", 2), "// … 2 lines");
        assert_eq!(skipped_lines_mark("json", 2), "… 2 lines");
    }
}
