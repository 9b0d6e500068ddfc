//! Lines of comments, and the license at the beginning of a file, in any of the usual languages.

/// What a comment says that is a license.
const LICENSE_WORDS: &[&str] =
    &["copyright", "licensed under", "spdx-license", "@license", "permission is hereby granted"];

/// Returns how many lines at the beginning of a text are a license, or say whose it is.
pub(super) fn lines_of_license(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut end = 0;
    loop {
        let start = (end..lines.len()).find(|line| !lines[*line].is_empty()).unwrap_or(lines.len());
        let after = end_of_comment(&lines, start);
        let has_words = |line: &&str| {
            let line = line.to_ascii_lowercase();
            LICENSE_WORDS.iter().any(|words| line.contains(words))
        };
        if !lines[start..after].iter().any(has_words) {
            return end;
        }
        end = after;
    }
}

/// Returns where the comment ends that begins in a line; that line itself, if none does.
fn end_of_comment(lines: &[&str], start: usize) -> usize {
    let mut in_block = false;
    let is_comment = |text: &&&str| {
        let is_comment = in_block || is_comment_line(text);
        in_block = (in_block || text.starts_with("/*")) && !text.contains("*/");
        is_comment
    };
    start + lines[start..].iter().take_while(is_comment).count()
}

/// Returns whether a trimmed line is a comment in any of the usual languages. What follows `#` without a space is a
/// directive of the C preprocessor or an attribute of Rust.
pub(super) fn is_comment_line(line: &str) -> bool {
    let is_shell_comment = |after: &str| after.is_empty() || after.starts_with([' ', '\t', '#', '!', ':']);
    line.strip_prefix('#').is_some_and(is_shell_comment)
        || line.starts_with("//")
        || line.starts_with("/*")
        || line.starts_with("--")
        || is_inside_of_comment(line)
}

/// Returns whether a line looks like one in the middle of a block comment: ` * text` or ` */`.
fn is_inside_of_comment(line: &str) -> bool {
    line.strip_prefix('*').is_some_and(|after| after.is_empty() || after.starts_with([' ', '/', '*', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_license_is_one_comment_or_several() {
        let several =
            "/*\nCopyright A\n\n(c) B */\n// SPDX-License-Identifier: MIT\n\n// What it does.\nint x;\n";
        assert_eq!(lines_of_license(several), 5);
        assert_eq!(lines_of_license("# Copyright 2020 A\n# All rights reserved.\n\nimport os\n"), 2);
        assert_eq!(lines_of_license("// Reads licenses.\n\nint x;\n"), 0);
        assert_eq!(lines_of_license("\n// Copyright A\n"), 2);
        assert_eq!(lines_of_license(""), 0);
    }
}
