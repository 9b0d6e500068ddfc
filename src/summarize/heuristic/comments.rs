//! The comment at the top of source code without a parser.

use crate::summarize::words;

/// Bytes at the top of a file in which the comment is searched.
const HEAD_BYTES: usize = 16 * 1024;

/// Delimiters of block comments.
const BLOCKS: [(&str, &str); 7] = [
    ("/*", "*/"),
    ("<!--", "-->"),
    ("--[[", "]]"),
    ("{-", "-}"),
    ("(*", "*)"),
    ("\"\"\"", "\"\"\""),
    ("'''", "'''"),
];

/// Markers of line comments; those that are also operators must be followed by a space.
const LINES: [&str; 11] = ["//!", "///", "//", "##", "#", "--", ";;;", ";;", ";", "%", "REM"];

/// Returns the first paragraph of the leading comment that is neither a license nor a directive for a tool.
pub(crate) fn leading_paragraph(text: &str) -> Option<String> {
    let mut reader = CommentReader::default();
    for line in words::head(text, HEAD_BYTES).lines() {
        match reader.read(line.trim()) {
            CommentStep::More => {}
            CommentStep::Found(paragraph) => return Some(paragraph),
            CommentStep::Code => return None,
        }
    }
    reader.take_paragraph()
}

/// Returns whether a paragraph is a license or a copyright notice.
pub(crate) fn is_license(paragraph: &str) -> bool {
    const ALWAYS: [&str; 14] = [
        "copyright",
        "(c) ",
        "spdx-",
        "all rights reserved",
        "licensed under",
        "permission is hereby",
        "redistribution and use",
        "redistributions ",
        "without warrant",
        "free software",
        "you may obtain a copy",
        "unless required by applicable law",
        "gnu general public",
        "in no event shall",
    ];
    const WITH_LICENSE: [&str; 8] = ["see ", "under ", "terms", "version", "mit", "bsd", "apache", "gnu"];
    let lower = words::head(paragraph, 2000).to_lowercase();
    ALWAYS.iter().any(|phrase| lower.contains(phrase))
        || (lower.contains("license") || lower.contains("licence"))
            && WITH_LICENSE.iter().any(|word| lower.contains(word))
}

/// The result of reading a line.
enum CommentStep {
    /// The comment may continue, or has not begun.
    More,
    /// A meaningful paragraph has ended.
    Found(String),
    Code,
}

#[derive(Default)]
struct CommentReader {
    paragraph: Vec<String>,
    /// End of the open block comment.
    block_end: Option<&'static str>,
    /// Set by an import: a line comment after it may be about the first function.
    past_imports: bool,
}

impl CommentReader {
    fn read(&mut self, line: &str) -> CommentStep {
        if let Some(end) = self.block_end {
            return self.read_in_block(line, end);
        }
        if line.is_empty() {
            return self.end_paragraph();
        }
        if let Some((rest, end)) =
            BLOCKS.iter().find_map(|(open, end)| Some((line.strip_prefix(open)?, *end)))
        {
            self.block_end = Some(end);
            return self.read_in_block(rest, end);
        }
        if is_prelude(line) {
            return self.end_paragraph();
        }
        if let Some(content) = line_comment(line).filter(|_| !self.past_imports) {
            return self.push_text(content);
        }
        if is_import(line) {
            self.past_imports = true;
            return self.end_paragraph();
        }
        match self.take_paragraph() {
            Some(paragraph) => CommentStep::Found(paragraph),
            None => CommentStep::Code,
        }
    }

    fn read_in_block(&mut self, line: &str, end: &'static str) -> CommentStep {
        let Some((content, _)) = line.split_once(end) else {
            return self.push_text(line);
        };
        self.block_end = None;
        match self.push_text(content) {
            CommentStep::More => self.end_paragraph(),
            found => found,
        }
    }

    fn push_text(&mut self, content: &str) -> CommentStep {
        const MARKS: [char; 10] = ['*', '!', '|', '/', '#', '-', '=', ';', '+', ' '];
        let content = without_doc_tag(content.trim_start_matches(MARKS).trim_end_matches(MARKS));
        if content.is_empty() {
            return self.end_paragraph();
        }
        if !is_for_tools(content) {
            self.paragraph.push(content.to_owned());
        }
        CommentStep::More
    }

    fn end_paragraph(&mut self) -> CommentStep {
        self.take_paragraph().map_or(CommentStep::More, CommentStep::Found)
    }

    fn take_paragraph(&mut self) -> Option<String> {
        let paragraph = words::one_line(&std::mem::take(&mut self.paragraph).join(" "));
        // One word is a name, and `2010 April 7` a date.
        let words = paragraph.split(' ').filter(|word| word.chars().any(char::is_alphabetic));
        let says_something = 1 < words.count() && !is_license(&paragraph);
        says_something.then_some(paragraph)
    }
}

fn line_comment(line: &str) -> Option<&str> {
    let rest = LINES.iter().find_map(|mark| line.strip_prefix(mark))?;
    // `#include`, `#[derive]`, `--flag` and `%macro` are not comments; `//x` is one.
    let is_comment =
        rest.is_empty() || rest.starts_with([' ', '\t', '#', '-', ';', '*', '=']) || line.starts_with("//");
    is_comment.then_some(rest)
}

/// Returns whether a line may precede the comment.
fn is_prelude(line: &str) -> bool {
    const STARTS: [&str; 13] = [
        "#!", "<?", "<!DOCTYPE", "<!doctype", "package ", "namespace ", "#pragma", "#ifndef", "#define",
        "'use strict'", "\"use strict\"", "@echo off", "set -",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

fn is_import(line: &str) -> bool {
    const STARTS: [&str; 6] = ["import ", "from ", "use ", "using ", "#include", "require"];
    STARTS.iter().any(|start| line.starts_with(start))
}

/// Returns whether a comment line is for an editor, a linter or a compiler.
fn is_for_tools(content: &str) -> bool {
    const STARTS: [&str; 14] = [
        "-*-", "vim:", "vi:", "ex:", "eslint", "jshint", "jslint", "global ", "coding:", "Mode:", "mode:",
        "coding=", "shellcheck ", "$Id",
    ];
    const TOOLS: [&str; 5] = ["go:build", "+build", "@ts-", "@flow", "prettier-ignore"];
    STARTS.iter().chain(&TOOLS).any(|start| content.starts_with(start)) || content.contains("-*-")
}

/// Removes tags of Doxygen and Javadoc; a line that only names the file is dropped.
fn without_doc_tag(content: &str) -> &str {
    let content = content.trim();
    let Some(tag) = content.strip_prefix(['@', '\\']) else {
        return content;
    };
    let (name, rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    match name {
        "brief" | "fileoverview" | "overview" | "module" | "summary" | "description" => rest.trim(),
        "file" | "author" | "version" | "since" | "date" => "",
        _ => content,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(leading_paragraph(text).unwrap_or_default(), expected);
    }

    #[test]
    fn the_first_paragraph_is_found_in_many_languages() {
        check("//! Reads frames.\n//! Slowly.\n//!\n//! More.\nuse x;", "Reads frames. Slowly.");
        check("#!/bin/sh\n# Builds it all.\nset -e\n", "Builds it all.");
        check("-- Tables of the shop.\nCREATE TABLE a;", "Tables of the shop.");
        check(";;; mode.el --- edits things\n(defun a ())", "mode.el --- edits things");
        check("<?php\n/**\n * Sends mail.\n *\n * @param x\n */\nclass A {}", "Sends mail.");
        check("{- | Parses it. -}\nmodule X where", "Parses it.");
        check("% Solves it.\nx = 1", "Solves it.");
        check("/* one line */ int x;", "one line");
        check("// Package a does.\npackage a\n", "Package a does.");
    }

    #[test]
    fn licenses_and_directives_for_tools_are_skipped() {
        check(
            "// Copyright 2020 The Go Authors. All rights reserved.\n// Use of it is governed.\n\n// Package b sorts.\npackage b",
            "Package b sorts.",
        );
        check("/* SPDX-License-Identifier: MIT */\n/* Does it. */\n", "Does it.");
        check("# -*- coding: utf-8 -*-\n# vim: set ts=4:\n# Says hello.\n", "Says hello.");
        check("/*\n * port.c - reads a port\n *\n * Copyright (C) 1999 Me\n */\n", "port.c - reads a port");
        check(
            "/*\n * Copyright 1999\n *\n * Permission is hereby granted\n *\n * It swims.\n */\n",
            "It swims.",
        );
        check("/// @file a.c\n/// @brief Sings well.\nint x;", "Sings well.");
        check("#####\n# ---\n# 2010 April 7\n#\n# Decorated well.\n#####\n", "Decorated well.");
    }

    #[test]
    fn a_comment_within_the_code_is_not_about_the_file() {
        check("int x;\n// about y\nint y;", "");
        check("import a\n// about f\nfunc f() {}", "");
        check("package a;\nimport b;\n/** The shop. */\nclass Shop {}", "The shop.");
        check("#include <a.h>\n#define X 1\nint x;", "");
        check("#[derive(Debug)]\nstruct A;", "");
        check("", "");
        check("/* never ends\nand goes on", "never ends and goes on");
    }
}
