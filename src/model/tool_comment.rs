//! Recognizes comments that are written for tools, not for readers, in all languages.
//!
//! Both the outline and the summary of a file use this, so that no directive becomes a description.

/// The beginnings of such lines, after the comment marks.
const PREFIXES: [&str; 83] = [
    "$Id",
    "+build",
    "-*-",
    ":nodoc:",
    ":startdoc:",
    ":stopdoc:",
    "<amd-module",
    "<reference ",
    "@@",
    "@codeCoverageIgnore",
    "@flow",
    "@format",
    "@generated",
    "@jest-environment",
    "@jsx",
    "@noflow",
    "@phan-",
    "@phpcs",
    "@phpstan-",
    "@preserve",
    "@prettier",
    "@psalm-",
    "@ts-",
    "@vitest-environment",
    "@vue/component",
    "NOLINT",
    "biome-ignore",
    "c8 ignore",
    "check=error",
    "check=skip",
    "clang-format",
    "coding:",
    "coding=",
    "deno-",
    "encoding:",
    "escape=",
    "eslint",
    "exported ",
    "fileencoding:",
    "fileencoding=",
    "flake8:",
    "fmt:",
    "frozen-string-literal:",
    "frozen_string_literal:",
    "globals ",
    "go:build",
    "isort:",
    "istanbul ignore",
    "jscs:",
    "jshint ",
    "jslint ",
    "ktlint-disable",
    "luacheck:",
    "mypy:",
    "nolint",
    "noqa",
    "nosec",
    "phpcs:",
    "pragma:",
    "prettier-ignore",
    "pylint:",
    "pyre-",
    "pyright:",
    "rubocop:",
    "ruff:",
    "scalafmt:",
    "scalastyle:",
    "shareable_constant_value:",
    "shellcheck ",
    "sourceMappingURL",
    "standard:",
    "steep:",
    "stylua:",
    "swiftformat:",
    "swiftlint:",
    "syntax=",
    "tslint:",
    "type: ignore",
    "typed:",
    "v8 ignore",
    "vim:",
    "warn_indent:",
    "webpack",
];

/// Returns whether an HTML comment is a conditional one for some browsers: `<!--[if lt IE 9]>…<![endif]-->`.
pub fn is_conditional_comment(comment: &str) -> bool {
    let inside = comment.trim_start().strip_prefix("<!--").map(str::trim_start);
    inside.is_some_and(|inside| inside.starts_with("[if ") || inside.starts_with("<!["))
}

/// Returns whether a line of a comment, without its marks, is for an editor, a linter, a compiler or another tool.
pub fn is_tool_directive(line: &str) -> bool {
    PREFIXES.iter().any(|start| line.starts_with(start)) || line.contains("-*-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_distinguished_from_prose() {
        let directives = [
            "frozen_string_literal: true",
            "encoding: utf-8",
            "rubocop:disable all",
            "pylint: disable=all",
            "type: ignore",
            "flake8: noqa",
            "noqa: E501",
            "luacheck: globals foo",
            "eslint-disable no-var",
            "@ts-check",
            "shellcheck disable=SC1091",
            "vim: set ts=4:",
        ];
        for line in directives {
            assert!(is_tool_directive(line), "{line}");
        }
        assert!(is_conditional_comment("<!--[if lt IE 9]><p>x</p><![endif]-->"));
        assert!(!is_conditional_comment("<!-- [1] is read. -->"));
        let prose = [
            "Encodings are guessed.",
            "Globals of the page.",
            "Types of frames",
            "type: what it is",
            "Nobody reads it.",
            "Modes of a file",
            "executes it",
            "[1] is read.",
            "global state",
        ];
        for line in prose {
            assert!(!is_tool_directive(line), "{line}");
        }
    }
}
