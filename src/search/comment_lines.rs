//! Lines of comments, and the license at the beginning of a file, in any of the usual languages.

/// Words that identify a comment as a license.
const LICENSE_WORDS: &[&str] =
    &["copyright", "licensed under", "spdx-license", "@license", "permission is hereby granted"];

/// Returns how many lines at the beginning of a text are a license or copyright notice.
pub(super) fn lines_of_license(text: &str) -> usize {
    let mut lines =
        text.lines().map(str::trim).enumerate().skip_while(|(_, line)| line.is_empty()).peekable();
    let mut end = 0;
    loop {
        let (mut is_license, mut in_block, mut last) = (false, false, None);
        while let Some((at, line)) = lines.next_if(|(_, line)| in_block || is_comment_line(line)) {
            in_block = (in_block || line.starts_with("/*")) && !line.contains("*/");
            is_license = is_license || has_license_words(line);
            last = Some(at);
        }
        let Some(last) = last.filter(|_| is_license) else { return end };
        end = last + 1;
        while lines.next_if(|(_, line)| line.is_empty()).is_some() {}
    }
}

fn has_license_words(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    LICENSE_WORDS.iter().any(|words| line.contains(words))
}

/// Returns whether a trimmed line is a comment in any of the usual languages. `#` without a space after it begins a
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
