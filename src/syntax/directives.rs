//! Lines of comments that are written for tools and not for readers.

/// What such a line begins with, behind the marks of a comment.
const PREFIXES: [&str; 51] = [
    "$Id",
    ":nodoc:",
    ":startdoc:",
    ":stopdoc:",
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
    "biome-ignore",
    "c8 ignore",
    "check=error",
    "check=skip",
    "coding:",
    "deno-",
    "encoding:",
    "escape=",
    "eslint",
    "exported ",
    "frozen_string_literal:",
    "frozen-string-literal:",
    "globals ",
    "istanbul ignore",
    "jscs:",
    "jshint ",
    "jslint ",
    "phpcs:",
    "prettier-ignore",
    "rubocop:",
    "shareable_constant_value:",
    "sourceMappingURL",
    "standard:",
    "syntax=",
    "tslint:",
    "typed:",
    "v8 ignore",
    "warn_indent:",
    "warn_past_scope:",
    "webpack",
];

/// Says whether a line, which may have marks before it, speaks to a tool.
pub(super) fn is_tool_directive(line: &str) -> bool {
    if matches!(line, "=begin" | "=end") || line.contains("<reference ") || line.contains("<amd-module") {
        return true;
    }
    let text = line.trim_start_matches(['/', '*', '#', '!', ' ']);
    // A directive of YARD: `@!attribute [r] name`.
    text.starts_with("@!") || PREFIXES.iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_to_tools_are_told_from_words_to_readers() {
        for line in ["# frozen_string_literal: true", "/* eslint-disable no-var */", "// @ts-check", "=begin"]
        {
            assert!(is_tool_directive(line), "{line}");
        }
        for line in ["# Encodings are guessed.", "/* Globals of the page. */", "// Types of frames"] {
            assert!(!is_tool_directive(line), "{line}");
        }
    }
}
