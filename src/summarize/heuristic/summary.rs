//! The heuristic: one file in, its summary out.

use super::page::{BUDGET, SummaryInput};
use super::{code, config, data, page, prose};
use crate::model::{ArtifactKind, FileRole, Producer};
use crate::summarize::words;

/// Returns the summary of a file: a few short lines, at most 600 bytes, the same for the same input; nothing for an
/// empty file.
///
/// The text is not trusted: no control characters, fences or recognizable secrets reach the summary.
pub fn heuristic(source: &SummaryInput<'_>) -> String {
    enforce_contract(&draft(source))
}

fn draft(source: &SummaryInput<'_>) -> String {
    // Its path and size are all there is to say.
    if source.text.trim_start().is_empty() {
        return String::new();
    }
    // Minified code has no readable beginning, so only its size is given.
    if page::is_minified(source) {
        return format!("{}.", page::opening(source));
    }
    match source.file_type.role {
        FileRole::Code => code::describe(source),
        FileRole::Prose => prose::describe(source),
        FileRole::Config(syntax) => config::describe(source, syntax),
        FileRole::Data => data::describe(source),
    }
}

/// Enforces the limits on the whole draft, because harmless pieces may combine into something harmful.
fn enforce_contract(draft: &str) -> String {
    let lines: Vec<String> = draft.lines().map(words::one_line).filter(|line| !line.is_empty()).collect();
    words::clip(&lines.join("\n"), BUDGET)
}

/// Version of the heuristic: raised by every change that gives another summary for the same content.
pub const VERSION: u32 = 17;

/// Returns the producer of the heuristic summary of a content that is read as `language`.
///
/// | | enters the key | because |
/// |---|---|---|
/// | content | yes, by its hash, next to the producer | it is what the summary describes |
/// | language | yes, the file type's id | the same text is described differently as C and as C++ |
/// | the heuristic | yes, its name and [`VERSION`] | a better one must run again |
/// | the outline | yes, but not here: the engine appends its producer's version | the summary names its symbols |
/// | the budget | no: it is a constant of the heuristic | a caller clips, or uses another view |
/// | path, time, machine | never | a moved or touched file keeps its summary |
pub fn producer(language: &'static str) -> Producer {
    let cells = if language == "notebook" { " cells" } else { "" };
    Producer { artifact: ArtifactKind::Summary, language, version: format!("heuristic/{VERSION}{cells}") }
}

#[cfg(test)]
pub(crate) mod tests {
    use expect_test::Expect;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;
    use crate::model::{ConfigSyntax, FileType, Outline, ParseHealth};

    const fn row(id: &'static str, name: &'static str, role: FileRole) -> FileType {
        FileType { id, name, fence: "", role }
    }

    static FILE_TYPES: [FileType; 55] = [
        row("python", "Python", FileRole::Code),
        row("c", "C", FileRole::Code),
        row("cpp", "C++", FileRole::Code),
        row("rust", "Rust", FileRole::Code),
        row("go", "Go", FileRole::Code),
        row("java", "Java", FileRole::Code),
        row("csharp", "C#", FileRole::Code),
        row("kotlin", "Kotlin", FileRole::Code),
        row("ruby", "Ruby", FileRole::Code),
        row("php", "PHP", FileRole::Code),
        row("javascript", "JavaScript", FileRole::Code),
        row("shell", "Shell", FileRole::Code),
        row("sql", "SQL", FileRole::Code),
        row("html", "HTML", FileRole::Code),
        row("vue", "Vue", FileRole::Code),
        row("svelte", "Svelte", FileRole::Code),
        row("jinja", "Jinja", FileRole::Code),
        row("erb", "ERB", FileRole::Code),
        row("blade", "Blade", FileRole::Code),
        row("go-template", "Go template", FileRole::Code),
        row("elixir", "Elixir", FileRole::Code),
        row("make", "Makefile", FileRole::Code),
        row("helm", "Helm template", FileRole::Code),
        row("haskell", "Haskell", FileRole::Code),
        row("ocaml", "OCaml", FileRole::Code),
        row("terraform", "Terraform", FileRole::Code),
        row("dockerfile", "Dockerfile", FileRole::Code),
        row("markdown", "Markdown", FileRole::Prose),
        row("rst", "reStructuredText", FileRole::Prose),
        row("asciidoc", "AsciiDoc", FileRole::Prose),
        row("org", "Org", FileRole::Prose),
        row("latex", "LaTeX", FileRole::Prose),
        row("man", "Manual page", FileRole::Prose),
        row("texinfo", "Texinfo", FileRole::Prose),
        row("text", "Plain text", FileRole::Prose),
        row("toml", "TOML", FileRole::Config(ConfigSyntax::Toml)),
        row("json", "JSON", FileRole::Config(ConfigSyntax::Json)),
        row("yaml", "YAML", FileRole::Config(ConfigSyntax::Yaml)),
        row("ini", "INI", FileRole::Config(ConfigSyntax::Ini)),
        row("env", "Environment", FileRole::Config(ConfigSyntax::Env)),
        row("csv", "CSV", FileRole::Data),
        row("tsv", "TSV", FileRole::Data),
        row("jsonl", "JSON Lines", FileRole::Data),
        row("notebook", "Jupyter notebook", FileRole::Data),
        row("lock", "Lock file", FileRole::Data),
        row("svg", "SVG", FileRole::Data),
        row("xml", "XML", FileRole::Data),
        row("po", "Gettext catalog", FileRole::Data),
        row("patch", "Patch", FileRole::Data),
        row("log", "Log", FileRole::Data),
        row("pem", "PEM", FileRole::Data),
        row("source_map", "Source map", FileRole::Data),
        row("subtitle", "Subtitles", FileRole::Data),
        row("lfs-pointer", "Git LFS pointer", FileRole::Data),
        row("unknown", "Text", FileRole::Data),
    ];

    pub(crate) fn file_type(id: &str) -> &'static FileType {
        FILE_TYPES.iter().find(|file_type| file_type.id == id).unwrap()
    }

    pub(crate) fn summary(id: &str, text: &str, outline: Option<&Outline>) -> String {
        let summary = heuristic(&SummaryInput {
            file_type: file_type(id),
            text,
            lines: u32::try_from(text.lines().count()).unwrap(),
            outline,
        });
        assert_eq!(summary.is_empty(), text.trim_start().is_empty(), "{text:?}");
        assert_contract(&summary);
        summary
    }

    /// Compares the summary of a file without a parser.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "an expectation is written in place")]
    pub(crate) fn check(id: &str, text: &str, expected: Expect) {
        expected.assert_eq(&summary(id, text, None));
    }

    #[track_caller]
    fn assert_contract(summary: &str) {
        assert!(summary.len() <= BUDGET, "{} bytes", summary.len());
        assert!(!summary.contains("```"), "{summary}");
        assert!(!summary.chars().any(|c| c.is_control() && c != '\n'), "{summary:?}");
        assert!(!summary.contains("\n\n"), "{summary:?}");
    }

    #[test]
    fn an_empty_file_has_no_summary() {
        assert_eq!(summary("python", "", None), "");
        assert_eq!(summary("json", " \n\n", None), "");
    }

    #[test]
    fn no_file_type_leaks_a_secret() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        for file_type in &FILE_TYPES {
            for text in [
                format!("{secret}\n"),
                format!("# {secret}\n"),
                format!("key = \"{secret}\"\n"),
                format!("{{\"key\": \"{secret}\"}}\n"),
                format!("key: {secret}\n"),
                format!("{}{secret}{}\n", "word ".repeat(9), "x".repeat(5000)),
            ] {
                let summary = summary(file_type.id, &text, None);
                assert!(!summary.contains("ghp_"), "{}: {summary}", file_type.id);
            }
        }
    }

    #[test]
    fn a_line_of_eight_mebibytes_is_summarized() {
        for piece in ["a", "a ", "\"", "[", "{\"a\":", "`", "# ", "- ", "<", "=", "\x1b]", "\\", "(*"] {
            let text = piece.repeat((8 << 20) / piece.len());
            for file_type in &FILE_TYPES {
                // In quadratic time, this would take too long.
                summary(file_type.id, &text, None);
            }
        }
    }

    fn grammar() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "key", " = ", ": ", "\"", "'", "[", "]", "{", "}", "\n", "\n  ", "- ", "# ", "---\n", "===\n",
            "/*", "*/", "<!--", "-->", "```", "![", "](", ")", "|\n", "\\title{", "\x1b[", "é", "\u{202e}",
            "://u:p@", "12", "true", ",", "&a", "*a", "\r", "\t", "\0", "def f", "class A", "password", "=",
            "+++ b/x\n", "msgid \"", ";", "//", "<title>", ".SH ",
        ]);
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        // A fixed seed, so that the test is not flaky.
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_as_any_type_keep_the_contract(bytes: Vec<u8>, index in 0..FILE_TYPES.len()) {
            summary(FILE_TYPES[index].id, &String::from_utf8_lossy(&bytes), None);
        }

        #[test]
        fn any_mixture_of_marks_keeps_the_contract(text in grammar(), index in 0..FILE_TYPES.len()) {
            let first = summary(FILE_TYPES[index].id, &text, None);
            prop_assert_eq!(first, summary(FILE_TYPES[index].id, &text, None));
        }

        #[test]
        fn any_outline_text_keeps_the_contract(doc: String, import: String, text in grammar()) {
            let outline = Outline { health: ParseHealth::perfect(1), doc: Some(doc), imports: vec![import], symbols: Vec::new() };
            summary("c", &text, Some(&outline));
        }
    }

    #[test]
    fn the_producer_names_the_language_and_the_version() {
        let made = producer("python");
        assert_eq!(made.artifact, ArtifactKind::Summary);
        assert_eq!(made.language, "python");
        assert_eq!(made.version, format!("heuristic/{VERSION}"));
    }

    #[test]
    fn different_languages_never_share_a_key() {
        assert_ne!(producer("c"), producer("cpp"));
    }
}
