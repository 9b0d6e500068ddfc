//! What a comment says, without the marks that make it one.

use super::words::first_paragraph;

/// Commands of Doxygen that only say what the comment belongs to.
const NAMING: [&str; 16] = [
    "addtogroup",
    "class",
    "def",
    "defgroup",
    "enum",
    "file",
    "fn",
    "headerfile",
    "ingroup",
    "internal",
    "namespace",
    "struct",
    "typedef",
    "union",
    "var",
    "package",
];

/// Commands of Doxygen that only say how the next word looks.
const STYLING: [&str; 8] = ["a", "b", "c", "e", "em", "p", "ref", "link"];

/// Commands of Doxygen that begin another paragraph, wherever on a line they stand.
const ENDING: [&str; 14] = [
    "deprecated",
    "note",
    "param",
    "par",
    "post",
    "pre",
    "return",
    "returns",
    "retval",
    "sa",
    "see",
    "since",
    "throws",
    "warning",
];

/// Returns the first paragraph of what a comment, or a run of them, documents; `None` where it says nothing to a reader.
pub(super) fn documentation(comment: &str) -> Option<String> {
    let paragraph = first_paragraph(&without_commands(&unmark(comment)))?;
    (!is_for_a_tool(&paragraph)).then_some(paragraph)
}

/// Returns a documentation without the commands of Doxygen and the fields of Sphinx: the brief alone where one is
/// marked as such, else what stands before the first parameter.
pub(super) fn without_commands(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        match command(line.trim()) {
            Some(("brief" | "short", brief)) => {
                plain.clear();
                push_plain(&mut plain, brief);
            }
            Some((name, _)) if NAMING.contains(&name) => continue,
            Some(("details" | "remark" | "remarks", text)) => {
                plain.push('\n');
                push_plain(&mut plain, text);
            }
            Some((name, _)) if STYLING.contains(&name) => push_plain(&mut plain, line),
            // An empty line ends the paragraph.
            Some(_) => {}
            None => push_plain(&mut plain, line),
        }
        plain.push('\n');
    }
    plain
}

/// Appends a line without the commands in it: of `@c word` the word is kept, and what stands behind a command that
/// begins a paragraph of its own (`\sa`, `@param`) is none of this one.
fn push_plain(plain: &mut String, line: &str) {
    if !line.contains(['@', '\\']) {
        plain.push_str(line);
        return;
    }
    for word in line.split_inclusive(char::is_whitespace) {
        match word.strip_prefix(['@', '\\']).map(str::trim_end) {
            Some(name) if STYLING.contains(&name) => {}
            Some(name) if ENDING.contains(&name) => {
                plain.push('\n');
                return;
            }
            Some(_) | None => plain.push_str(word),
        }
    }
}

/// Splits `@name rest`, `\name rest` and `:name …: rest`.
fn command(line: &str) -> Option<(&str, &str)> {
    let name_end = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if let Some(field) = line.strip_prefix(':') {
        let (name, rest) = field.split_once(':')?;
        // `:class:`Name` …` is a word of the text.
        return (!rest.starts_with('`') && !name.is_empty()).then_some((&name[..name_end(name)], rest));
    }
    let rest = line.strip_prefix(['@', '\\'])?;
    let end = name_end(rest);
    rest.starts_with(char::is_alphabetic).then(|| (&rest[..end], rest[end..].trim()))
}

/// Returns the text of a comment, or of a run of them, without its markers (`//`, `/* … */`, `#`) and without what it
/// says to a shell or an editor.
fn unmark(comment: &str) -> String {
    let mut text = String::with_capacity(comment.len());
    for line in comment.lines() {
        let line = line.trim();
        if line.starts_with("#!") || line.contains("-*-") || line.contains("vim:") {
            continue;
        }
        let line = line.strip_suffix("*/").unwrap_or(line).trim_end();
        let line = line.trim_start_matches(['/', '*', '#', '!', '<']);
        text.push_str(without_ruler(line.trim_end_matches('*').trim()));
        text.push('\n');
    }
    text
}

/// Returns `Title` for `------ Title ------`.
fn without_ruler(line: &str) -> &str {
    if line.starts_with("---") || line.starts_with("===") { line.trim_matches(['-', '=', ' ']) } else { line }
}

/// Says whether a paragraph is about who may copy the file, which tells nothing of what the file does.
pub(super) fn is_about_copying(paragraph: &str) -> bool {
    let lower = paragraph.to_lowercase();
    let marks =
        ["copyright", "license", "all rights reserved", "redistribut", "is part of", "(c) 19", "(c) 20"];
    marks.iter().any(|mark| lower.contains(mark))
}

/// Says whether a comment only tells a tool what to do.
fn is_for_a_tool(paragraph: &str) -> bool {
    let tools = ["NOLINT", "clang-format", "fmt:", "isort:", "mypy:", "noqa", "pragma:", "pylint:", "type:"];
    tools.iter().any(|tool| paragraph.starts_with(tool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(comment: &str, expected: &str) {
        assert_eq!(documentation(comment).unwrap_or_default(), expected);
    }

    #[test]
    fn markers_are_taken_off() {
        check("/** Says\n  * hello.\n  */", "Says hello.");
        check("/// One.\n///< Two.", "One. Two.");
        check("/* ---------- Title ---------- */", "Title");
        check("/***********\n * Boxed.  *\n ***********/", "Boxed.");
    }

    #[test]
    fn a_license_is_told_from_a_description() {
        assert!(is_about_copying("Copyright (C) 2001 Somebody"));
        assert!(!is_about_copying("Reads frames from the wire."));
    }

    #[test]
    fn a_description_is_found_above_a_license() {
        check("/* Reads frames.\n *\n * Copyright (C) 2001 Somebody */", "Reads frames.");
    }

    #[test]
    fn a_brief_is_taken_for_the_documentation() {
        check(
            "/**\n * @file a.h\n * @author Somebody\n * @brief Reads\n * frames.\n * @param a x */",
            "Reads frames.",
        );
        check("/*! \\brief Moves. \n \\return nothing */", "Moves.");
    }

    #[test]
    fn parameters_are_no_part_of_the_first_paragraph() {
        check("/**\n * do_it() - does it\n * @what: what to do\n */", "do_it() - does it");
        check("# Does it.\n# :param a: what", "Does it.");
        check("# :class:`Name` does it.", ":class:`Name` does it.");
    }

    #[test]
    fn commands_within_a_line_are_taken_out() {
        check("/// Copies @p n bytes, see @ref other.", "Copies n bytes, see other.");
        check("/** Moves. \\sa other */", "Moves.");
        check("/// @p n is copied.", "n is copied.");
        check(
            "// Mail to someone@example.org, or use @decorators.",
            "Mail to someone@example.org, or use @decorators.",
        );
    }

    #[test]
    fn details_are_taken_where_there_is_no_brief() {
        check("/** @details Alone. */", "Alone.");
        check("/** @brief First.\n * @details Then. */", "First.");
    }

    #[test]
    fn what_is_said_to_a_tool_documents_nothing() {
        check("# noqa: E501", "");
        check("// NOLINTNEXTLINE(readability)", "");
        check("#!/usr/bin/env python3\n# -*- coding: utf-8 -*-", "");
    }
}
