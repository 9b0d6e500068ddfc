//! The text of a comment, without the marks that make it one and without lines that are written for tools.

use super::plain::{first_paragraph, strip_markup};
use crate::model::{is_conditional_comment, is_tool_directive};

/// Commands of Doxygen that only name what the comment belongs to.
const NAMING: [&str; 17] = [
    "addtogroup", "class", "def", "defgroup", "enum", "file", "fn", "headerfile", "ingroup", "internal",
    "module", "namespace", "struct", "typedef", "union", "var", "package",
];

/// What begins a field of Swift's documentation.
const SWIFT_FIELDS: [&str; 5] = ["parameter", "parameters", "returns", "throws", "seealso"];

/// Commands of Doxygen that only style the next word.
const STYLING: [&str; 8] = ["a", "b", "c", "e", "em", "p", "ref", "link"];

/// Commands of Doxygen that begin another paragraph, wherever they are on a line.
const ENDING: [&str; 15] = [
    "deprecated", "note", "param", "par", "post", "pre", "return", "returns", "retval", "sa", "see", "since",
    "throws", "type", "warning",
];

/// Returns the first paragraph of what a comment, or a run of them, documents; `None` where it has no text for a
/// reader.
pub(in crate::syntax) fn documentation(comment: &str) -> Option<String> {
    if is_conditional_comment(comment) {
        return None;
    }
    let text = strip_comment_marks(comment);
    // Links in `[[…]]` are Scaladoc's, which always begins like this; in other comments the brackets may be code, such
    // as a test of Bash.
    let text = if comment.starts_with("/**") { without_links(&text) } else { text };
    let paragraph = first_paragraph(&without_commands(&strip_markup(&text)))?;
    (!is_tool_comment(&paragraph)).then_some(paragraph)
}

/// Returns a documentation without the commands of Doxygen and the fields of Sphinx: only the brief where one is marked
/// as such, else what precedes the first parameter.
pub(in crate::syntax) fn without_commands(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut continues = false;
    for line in text.lines() {
        continues &= !line.trim().is_empty();
        match parse_command(line.trim()) {
            Some(("brief" | "short" | "summary", brief)) => {
                // What precedes a brief is its title or the file's name, never a part of it.
                plain.clear();
                push_plain(&mut plain, brief);
                continues = false;
            }
            Some(("description" | "desc" | "fileoverview" | "overview", text)) => {
                plain.push_str(text);
                continues = false;
            }
            // In JavaScript it describes the file, elsewhere it names it.
            Some(("file", text)) if text.contains(' ') => plain.push_str(text),
            Some((name, _)) if NAMING.contains(&name) => continue,
            Some(("details" | "remark" | "remarks", text)) => {
                plain.push('\n');
                push_plain(&mut plain, text);
                continues = false;
            }
            Some((name, _)) if STYLING.contains(&name) => push_plain(&mut plain, line),
            // An empty line ends the paragraph; the description of a parameter may continue on the next line.
            Some((_, text)) => continues = !text.is_empty(),
            None if continues => {}
            None => push_plain(&mut plain, line),
        }
        plain.push('\n');
    }
    plain
}

/// Appends a line without the commands in it: of `@c word` the word is kept, and a command that begins a paragraph of
/// its own (`\sa`, `@param`) ends this one.
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
            // Only known commands go: `someone@example.org` and `@decorators` are prose.
            Some(_) | None => plain.push_str(word),
        }
    }
}

/// Splits `@name rest`, `\name rest` and `:name …: rest`.
fn parse_command(line: &str) -> Option<(&str, &str)> {
    let name_end = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if let Some(field) = line.strip_prefix(':') {
        let (name, rest) = field.split_once(':')?;
        // `:class:`Name` …` is a word of the text.
        return (!rest.starts_with('`') && !name.is_empty()).then_some((&name[..name_end(name)], rest));
    }
    // A fence ends the paragraph like a command does: code after it is not prose.
    if ["```", "{{{", "~~~"].iter().any(|fence| line.starts_with(fence)) {
        return Some(("code", ""));
    }
    if let Some(field) = line.strip_prefix("- ") {
        // Swift: `- Parameter name: …`.
        let name = &field[..name_end(field)];
        return SWIFT_FIELDS.contains(&name.to_lowercase().as_str()).then_some((name, ""));
    }
    let rest = line.strip_prefix(['@', '\\'])?;
    let end = name_end(rest);
    rest.starts_with(char::is_alphabetic).then(|| (&rest[..end], rest[end..].trim()))
}

/// Returns the text of a comment, or of a run of them, without its markers (`//`, `/* … */`, `#`) and without lines
/// that are for a shell or an editor.
fn strip_comment_marks(comment: &str) -> String {
    let mut text = String::with_capacity(comment.len());
    let comment = without_brackets(comment);
    let has_dashes = comment.trim_start().starts_with("--");
    for line in comment.lines() {
        let line = line.trim();
        if is_tool_line(line) || line.contains("vim:") {
            continue;
        }
        let line = line.strip_suffix("*/").unwrap_or(line).trim_end();
        let line = if has_dashes { without_dashes(line) } else { line };
        let line = line.trim_start_matches(['/', '*', '#', '!', '<']);
        text.push_str(without_ruler(line.trim_end_matches('*').trim()));
        text.push('\n');
    }
    text
}

/// Returns whether a line, which may have comment marks before it, is a directive for a shell, a compiler or a linter.
fn is_tool_line(line: &str) -> bool {
    const STARTS: [&str; 8] = [
        "#!",
        "//go:",
        "//export ",
        "//line ",
        "// swift-tools-version",
        "// MARK:",
        "//MARK:",
        "---@diagnostic",
    ];
    if STARTS.iter().any(|start| line.starts_with(start)) || matches!(line, "=begin" | "=end") {
        return true;
    }
    let text = line.trim_start_matches(['/', '*', '#', '!', ' ']);
    let text = if line.starts_with("--") { line.trim_start_matches(['-', ' ']) } else { text };
    // A directive of YARD: `@!attribute [r] name`.
    text.starts_with("@!") || is_tool_directive(text)
}

/// Returns the inside of a bracket comment of CMake, `#[=[ … ]=]`; any other comment as it is.
fn without_brackets(comment: &str) -> &str {
    let inside = || {
        let rest = comment.trim_start().strip_prefix("#[")?;
        let inside = rest.trim_start_matches('=');
        let close = format!("]{}]", &rest[..rest.len() - inside.len()]);
        let (inside, tail) = inside.strip_prefix('[')?.split_once(&close)?;
        tail.trim().is_empty().then(|| inside.strip_prefix(".rst:").unwrap_or(inside))
    };
    inside().unwrap_or(comment)
}

/// Returns a line of a comment of Lua or SQL without its dashes, and without the brackets of one that has several.
fn without_dashes(line: &str) -> &str {
    let line = line.trim_matches('-').trim();
    let open = line.strip_prefix('[').map(|rest| rest.trim_start_matches('='));
    let line = open.and_then(|rest| rest.strip_prefix('[')).unwrap_or(line);
    let close = line.strip_suffix(']').map(|rest| rest.trim_end_matches('='));
    close.and_then(|rest| rest.strip_suffix(']')).unwrap_or(line).trim()
}

/// Returns a documentation of Scala without the brackets of its links: `[[a.B]]` becomes `a.B`, `[[a.B it]]` becomes
/// `it`.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[[") {
        plain.push_str(before);
        let Some((link, tail)) = after.split_once("]]") else {
            plain.push_str("[[");
            rest = after;
            continue;
        };
        plain.push_str(link.split_once(char::is_whitespace).map_or(link, |(_, title)| title));
        rest = tail;
    }
    plain.push_str(rest);
    plain
}

/// Returns `Title` for `------ Title ------`.
fn without_ruler(line: &str) -> &str {
    if line.starts_with("---") || line.starts_with("===") { line.trim_matches(['-', '=', ' ']) } else { line }
}

/// Returns whether a paragraph is a copyright or license notice, which does not describe the file.
pub(in crate::syntax) fn is_license_text(paragraph: &str) -> bool {
    let lower = paragraph.to_lowercase();
    let marks =
        ["copyright", "license", "all rights reserved", "redistribut", "is part of", "(c) 19", "(c) 20"];
    marks.iter().any(|mark| lower.contains(mark))
}

/// Returns whether `doc`, which is what `comment` says, names no more than the project and its address: above a tag
/// with the license or the copyright, as every file of a project has it.
pub(in crate::syntax) fn is_project_banner(comment: &str, doc: &str) -> bool {
    let is_legal = ["@license", "@copyright"].iter().any(|tag| comment.contains(tag));
    is_legal && doc.contains("://") && !doc.trim_end().ends_with('.')
}

/// Returns whether a comment is the heading of a list of imports: `Third-party imports`, `external dependencies`.
pub(in crate::syntax) fn is_import_heading(doc: &str) -> bool {
    let words = doc.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let is_heading =
        |word: &String| IMPORT_WORDS.contains(&word.as_str()) || IMPORT_KINDS.contains(&word.as_str());
    words.len() <= 4
        && words.iter().all(is_heading)
        && words.iter().any(|word| IMPORT_WORDS.contains(&word.as_str()))
}

/// What is imported, in headings of imports.
const IMPORT_WORDS: &[&str] = &[
    "dependencies", "dependency", "deps", "gems", "headers", "import", "imports", "include", "includes",
    "libraries", "library", "libs", "module", "modules", "packages", "require", "requires", "stdlib",
];

/// What sorts of imports there are, in headings of imports.
const IMPORT_KINDS: &[&str] = &[
    "and", "application", "built", "builtin", "builtins", "c", "core", "external", "first", "in", "internal",
    "local", "node", "other", "own", "party", "peer", "project", "python", "standard", "std", "system",
    "the", "third", "type", "types", "vendor",
];

/// Returns whether a comment is only a directive for a tool; the type of a variable of Python is one.
fn is_tool_comment(paragraph: &str) -> bool {
    is_tool_directive(paragraph) || paragraph.starts_with("type:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(comment: &str, expected: &str) {
        assert_eq!(documentation(comment).unwrap_or_default(), expected);
    }

    #[test]
    fn comment_marks_are_removed() {
        check("/** Says\n  * hello.\n  */", "Says hello.");
        check("/// One.\n///< Two.", "One. Two.");
        check("/* ---------- Title ---------- */", "Title");
        check("/***********\n * Boxed.  *\n ***********/", "Boxed.");
    }

    #[test]
    fn a_license_is_distinguished_from_a_description() {
        assert!(is_license_text("Copyright (C) 2001 Somebody"));
        assert!(!is_license_text("Reads frames from the wire."));
    }

    #[test]
    fn a_heading_of_imports_and_a_banner_do_not_describe_a_file() {
        for heading in
            ["external dependencies", "Third-party imports.", "Standard library", "built-in modules"]
        {
            assert!(is_import_heading(heading), "{heading}");
        }
        for text in ["", "Reads modules.", "The core", "Imports frames from the wire and others"] {
            assert!(!is_import_heading(text), "{text}");
        }
        let comment = "/**\n * Slow (https://slow.example)\n *\n * @license MIT */";
        assert!(is_project_banner(comment, "Slow (https://slow.example)"));
        assert!(!is_project_banner(comment, "Speaks the protocol of https://slow.example."));
        assert!(!is_project_banner("// See https://slow.example", "See https://slow.example"));
    }

    #[test]
    fn a_description_is_found_above_a_license() {
        check("/* Reads frames.\n *\n * Copyright (C) 2001 Somebody */", "Reads frames.");
    }

    #[test]
    fn a_brief_becomes_the_documentation() {
        check(
            "/**\n * @file a.h\n * @author Somebody\n * @brief Reads\n * frames.\n * @param a x */",
            "Reads frames.",
        );
        check("/*! \\brief Moves. \n \\return nothing */", "Moves.");
    }

    #[test]
    fn parameters_are_not_part_of_the_first_paragraph() {
        check("/**\n * do_it() - does it\n * @what: what to do\n */", "do_it() - does it");
        check("# Does it.\n# :param a: what", "Does it.");
        check("# :class:`Name` does it.", ":class:`Name` does it.");
    }

    #[test]
    fn tags_do_not_leak() {
        check("/** Reads {@code a}.<p>More. */", "Reads a.");
        check("/// <inheritdoc/>", "");
        check(
            "/// <summary>\n/// Reads\n/// one.\n/// </summary>\n/// <param name=\"a\">x</param>",
            "Reads one.",
        );
    }

    #[test]
    fn dashes_are_removed_where_they_mark_the_comment() {
        check("--- Reads frames.\n-- @param a x", "Reads frames.");
        check("--[==[ Reads\n--frames.\n]==]", "Reads frames.");
        check("-------------\n-- Title --\n-------------", "Title");
        check("/* Takes\n --help and stops. */", "Takes --help and stops.");
        check("-- luacheck: globals a\n-- Reads.", "Reads.");
    }

    #[test]
    fn brackets_are_removed_where_they_mark_the_comment() {
        check("#[[ Reads\nframes. ]]", "Reads frames.");
        check("#[==[.rst:\nReads [[1]].\n]==]", "Reads [[1]].");
        check("#[1] is read.", "[1] is read.");
        check("# syntax=docker/dockerfile:1\n# Reads.", "Reads.");
    }

    #[test]
    fn fields_and_code_are_not_part_of_the_first_paragraph() {
        check("/// Reads.\n/// - Parameter a: x\n/// - Returns: y", "Reads.");
        check("/// Reads\n/// - one", "Reads - one");
        check("/** Reads.\n {{{\n read()\n }}} */", "Reads.");
        check("// MARK: - Reading\n/// Reads.", "Reads.");
        check("/** Reads [[a.B]] and [[a.C the\n * other]] [[. */", "Reads a.B and the other [[.");
    }

    #[test]
    fn commands_within_a_line_are_removed() {
        check("/// Copies @p n bytes, see @ref other.", "Copies n bytes, see other.");
        check("/** Moves. \\sa other */", "Moves.");
        check("/// @p n is copied.", "n is copied.");
        check(
            "// Mail to someone@example.org, or use @decorators.",
            "Mail to someone@example.org, or use @decorators.",
        );
    }

    #[test]
    fn details_are_used_without_a_brief() {
        check("/** @details Alone. */", "Alone.");
        check("/** @brief First.\n * @details Then. */", "First.");
    }

    #[test]
    fn tags_of_jsdoc_and_yard_are_read() {
        check("/**\n * @fileoverview Reads frames.\n * @author A */", "Reads frames.");
        check("/**\n * @param {A} a what it\n *   is for\n * @returns {B} more\n */", "");
        check("/** Adds. @param {number} a */", "Adds.");
        check("# @!attribute [r] size\n# The size.", "The size.");
        check("=begin\nReads frames.\n=end", "Reads frames.");
    }

    #[test]
    fn directives_document_nothing() {
        check("# noqa: E501", "");
        check("// NOLINTNEXTLINE(readability)", "");
        check("//go:build linux\n// Reads.", "Reads.");
        check("#!/usr/bin/env python3\n# -*- coding: utf-8 -*-", "");
        check("# encoding: utf-8\n# rubocop:disable all\n# Reads.", "Reads.");
        check("# pylint: disable=all\n# flake8: noqa\n# type: ignore", "");
        check("<!--[if lt IE 9]>\n<script src=\"x\"></script>\n<![endif]-->", "");
        check("# type: what it is of\nx", "");
    }
}
