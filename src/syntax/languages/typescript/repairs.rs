//! TypeScript that the grammar does not know: what it would stumble over is taken out, or written as it knows it.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;
use regex::Regex;

use crate::syntax::reduced::PreprocessedText;

/// `<in out T>`, `<out T>`: how a parameter of a type varies.
static VARIANCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[<,]\s*(?:/\*[^*]*\*+/\s*)?((?:in\s+out|in|out)\s+)[A-Za-z_$]").expect("the rule is right")
});

/// `import("a").B`: a type of another file. The grammar knows it, but not with parameters.
static IMPORTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^import\((?:"[^"\n]*"|'[^'\n]*')\)\."#).expect("the rule is right"));

/// What stands in for such a file.
const FILE_PLACEHOLDER: &str = "$file";

/// Returns the text as the grammar knows it; `None` where there is nothing to mend, which is so in most files.
pub(super) fn repair(text: &str) -> Option<PreprocessedText> {
    repair_text(text, false)
}

/// Returns the same of a text with JSX, where a line may begin with an element.
pub(super) fn repair_with_jsx(text: &str) -> Option<PreprocessedText> {
    repair_text(text, true)
}

fn repair_text(text: &str, has_jsx: bool) -> Option<PreprocessedText> {
    let mut repairs = variances(text);
    repairs.extend(imported_types(text));
    repairs.extend(exported_types(text));
    if !has_jsx {
        repairs.extend(unended_signatures(text));
    }
    if repairs.is_empty() {
        return None;
    }
    repairs.sort_by_key(|(range, _)| range.start);
    let mut reduced = PreprocessedText::default();
    reduced.repairs = repairs.len();
    let mut at = 0;
    for (range, stand_in) in repairs {
        if range.start < at {
            continue;
        }
        reduced.copy(text, at..range.start);
        at = range.end;
        reduced.substitute(stand_in, range);
    }
    reduced.copy(text, at..text.len());
    Some(reduced)
}

type TextRepair = (Range<usize>, &'static str);

fn variances(text: &str) -> Vec<TextRepair> {
    let found = VARIANCE.captures_iter(text).filter_map(|captures| captures.get(1));
    found.map(|words| (words.range(), "")).collect()
}

fn imported_types(text: &str) -> Vec<TextRepair> {
    let starts = memmem::find_iter(text.as_bytes(), b"import(");
    let found = starts.filter_map(|start| {
        let length = IMPORTED.find(&text[start..])?.len() - 1;
        Some((start..start + length, FILE_PLACEHOLDER))
    });
    found.collect()
}

/// Finds `export type * from "a"`.
fn exported_types(text: &str) -> Vec<TextRepair> {
    let starts = memmem::find_iter(text.as_bytes(), b"export type *");
    starts.map(|start| ("export".len() + start.."export type".len() + start, "")).collect()
}

/// Finds where a signature ends with its line and one with parameters of its own follows.
fn unended_signatures(text: &str) -> Vec<TextRepair> {
    let starts = memmem::find_iter(text.as_bytes(), b"<").filter_map(|start| {
        let parameter = text[start + 1..].trim_start();
        let parameter = parameter.strip_prefix("const ").unwrap_or(parameter);
        if !parameter.starts_with(char::is_uppercase) {
            return None;
        }
        let line = text[..start].trim_end_matches([' ', '\t']).strip_suffix('\n')?;
        let end = without_comment(line.trim_end());
        let ends = end.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '>' | ']' | '_' | '$'));
        ends.then_some((end.len()..end.len(), ";"))
    });
    starts.collect()
}

/// Returns what stands before the comment at the end of a text.
fn without_comment(text: &str) -> &str {
    let Some(inside) = text.strip_suffix("*/") else { return text };
    inside.rfind("/*").map_or(text, |start| text[..start].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let repaired = repair(text);
        assert_eq!(repaired.as_ref().map_or(text, |reduced| reduced.text.as_str()), expected);
    }

    #[test]
    fn what_the_grammar_does_not_know_is_written_as_it_does() {
        check("interface A<in out T, out U> {}", "interface A<T, U> {}");
        check("{\n  (): B\n  /** C. */\n  <T>(a: T): C\n}", "{\n  (): B;\n  /** C. */\n  <T>(a: T): C\n}");
        check("export type * from './a';", "export * from './a';");
        check("let a: import(\"b\").C<D>;", "let a: $file.C<D>;");
        check("{\n  (a: A): B<A>\n  <T>(a: T): C\n}", "{\n  (a: A): B<A>;\n  <T>(a: T): C\n}");
    }

    #[test]
    fn what_it_knows_stays() {
        for text in ["for (const a in b) c(d, inner);", "await import('a');", "a\n  < b"] {
            check(text, text);
        }
    }
}
