//! Recognizes texts of issue templates that people leave unchanged, and headers that git writes around a message.

/// Headings of templates, in lower case and without Markdown marks.
const HEADINGS: &[&str] = &[
    "about",
    "actual behavior",
    "actual behaviour",
    "actual result",
    "actual results",
    "additional context",
    "additional information",
    "additional notes",
    "affected version",
    "alternatives",
    "alternatives considered",
    "anything else",
    "background",
    "bug",
    "bug description",
    "bug report",
    "checklist",
    "code of conduct",
    "code sample",
    "compiler and operating system",
    "configuration",
    "context",
    "crates",
    "current behavior",
    "current behaviour",
    "describe alternatives you've considered",
    "describe the bug",
    "describe the bug you encountered",
    "describe the feature",
    "describe the solution you'd like",
    "description",
    "desktop",
    "detailed description",
    "environment",
    "environment info",
    "environment information",
    "error messages",
    "example",
    "expected",
    "expected behavior",
    "expected behaviour",
    "expected result",
    "expected results",
    "expected vs. actual results",
    "feature request",
    "how to reproduce",
    "information",
    "is your feature request related to a problem",
    "issue description",
    "library version",
    "link to reproduction",
    "logs",
    "minimal code example",
    "minimal example",
    "minimal reproduction",
    "motivation",
    "operating system",
    "os",
    "platform",
    "possible solution",
    "problem",
    "problem description",
    "proposal",
    "proposed solution",
    "reproduction",
    "reproduction steps",
    "reproducer",
    "screenshots",
    "severity",
    "smartphone",
    "solution",
    "steps to reproduce",
    "steps to reproduce this issue",
    "suggested solution",
    "summary",
    "system info",
    "system information",
    "technical details",
    "to reproduce",
    "use case",
    "used package manager",
    "validation",
    "validations",
    "version",
    "versions",
    "versions and environment",
    "what did you do",
    "what did you expect to see",
    "what did you see instead",
    "what happened",
    "what is the actual behavior",
    "what is the current behavior",
    "what is the expected behavior",
    "what is the issue you have",
    "your environment",
    "your project",
];

/// The beginnings of sentences in templates, in lower case.
const PROMPTS: &[&str] = &[
    "a clear and concise description",
    "a concise description of",
    "a description of what",
    "add any other context",
    "and what is the actual behavior instead",
    "before submitting",
    "by submitting this issue",
    "describe the bug you encountered",
    "describe what happened",
    "did you use a released version of",
    "ex. i'm always frustrated",
    "if applicable, add screenshots",
    "if you experience a compilation error: can you",
    "is there an existing issue for this",
    "is your feature request related to a problem",
    "no response",
    "please answer these questions",
    "please complete the following information",
    "please describe the steps to reproduce",
    "please fill out",
    "please make sure that the problem reproduces",
    "please provide a minimal",
    "please provide us with",
    "please read the",
    "please search",
    "provide a clear and concise",
    "steps to reproduce the behavior",
    "steps to reproduce the behaviour",
    "thank you for",
    "thanks for reporting",
    "thanks for taking the time",
    "what is the issue you have",
    "which compiler and operating system are you using",
];

/// What people confirm in checklists: `- [x] I have searched the existing issues`.
const CONFIRMATIONS: &[&str] = &[
    "i ",
    "i'm ",
    "i’m ",
    "i've ",
    "i’ve ",
    "i'd ",
    "my ",
    "this issue",
    "yes",
    "the bug also occurs",
    "make sure",
];

/// Returns the length of the part of a line, from its start, that belongs to a template or to git's headers around
/// messages and diffs. It is zero for most lines.
pub(super) fn boilerplate_length(line: &str) -> usize {
    let header = git_header_length(line);
    if 0 < header {
        return header;
    }
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '#' | '*' | '_' | '>' | '-' | '+');
    let start = line.len() - line.trim_start_matches(is_mark).len();
    let (marks, rest) = line.split_at(start);
    if let Some(confirmed) =
        rest.strip_prefix("[x] ").or_else(|| rest.strip_prefix("[X] ")).or_else(|| rest.strip_prefix("[ ] "))
    {
        let is_confirmation =
            CONFIRMATIONS.iter().any(|start| starts_with(confirmed.trim_start_matches('*'), start));
        return if marks.contains(['-', '*', '+']) && is_confirmation { line.len() } else { 0 };
    }
    if PROMPTS.iter().any(|prompt| starts_with(rest, prompt)) {
        return line.len();
    }
    let end = rest.find(['*', '_', ':', '?', '(']).unwrap_or(rest.trim_end().len());
    let is_marked = marks.contains(['#', '*', '_']);
    // Without marks, `Description` is a heading only if nothing follows.
    let is_alone = rest[end..].chars().all(|c| !c.is_alphanumeric());
    let heading = rest[..end].trim_end();
    // `**Environment (please complete the following information):**`
    let is_alone = is_alone || is_marked && rest[end..].starts_with('(');
    let is_heading = (is_marked || is_alone || rest[end..].starts_with(':'))
        && HEADINGS.iter().any(|known| heading.eq_ignore_ascii_case(known));
    match is_heading {
        true if is_alone => line.len(),
        true => start + end,
        false => 0,
    }
}

/// Returns the length of a header of `git log`, `git show` or `git format-patch` at the start of a line: a commit hash,
/// author and date, `[PATCH]`, or the hashes of a file's contents.
fn git_header_length(line: &str) -> usize {
    let is_hash = |text: &str| {
        (7..=64).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_person = |text: &str| text.ends_with('>') && text.contains(" <") && text.contains('@');
    let is_date = |text: &str| {
        let mut words = text.split_whitespace();
        words.any(|word| word.len() == 4 && word.starts_with(['1', '2'])) && words.any(|zone| zone.len() == 5)
    };
    let (key, value) = line.split_once(' ').unwrap_or((line, ""));
    let value = value.trim();
    let first = value.split([' ', '.']).next().unwrap_or_default();
    let is_header = match key {
        "commit" | "index" => is_hash(first),
        "From" => 40 <= first.len() && is_hash(first),
        "Merge:" => value.split(' ').all(is_hash),
        "Author:" | "From:" | "Commit:" | "Signed-off-by:" | "Co-authored-by:" | "Reviewed-by:" => {
            is_person(value)
        }
        "Date:" | "AuthorDate:" | "CommitDate:" => is_date(value),
        "Subject:" if value.starts_with("[PATCH") => {
            return value.find(']').map_or(0, |end| line.len() - value[end + 1..].trim_start().len());
        }
        _ => false,
    };
    if is_header { line.len() } else { 0 }
}

fn starts_with(text: &str, lower: &str) -> bool {
    text.get(..lower.len()).is_some_and(|start| start.eq_ignore_ascii_case(lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, ignored: &str) {
        assert_eq!(&line[..boilerplate_length(line)], ignored, "{line}");
    }

    #[test]
    fn headings_and_prompts_of_templates_are_recognized() {
        for line in [
            "### Describe the bug",
            "**Describe the bug**",
            "**Environment (please complete the following information):**",
            "_No response_",
            "A clear and concise description of what the bug is.",
            "- [x] I have searched the existing issues",
            "- [X] The bug also occurs if the latest version is used.",
            "Steps to reproduce:",
            "## What did you expect to see?",
            "**Is your feature request related to a problem? Please describe.**",
        ] {
            check(line, line);
        }
    }

    #[test]
    fn headers_of_git_around_a_message_are_recognized() {
        for line in [
            "commit 399919f740bfd26cb30d544877fafd03cfcd9091",
            "commit 399919f (HEAD -> main)",
            "Merge: fc5c7f45 3ee9309b",
            "Author: A. Writer <67291205+writer@users.noreply.example.com>",
            "Date:   Sun Aug 16 16:43:41 2026 -0700",
            "Date: Sun, 16 Aug 2026 16:43:41 +0000",
            "From bc32a92cd2ae77afb2352f79ebdf00997f35d333 Mon Sep 17 00:00:00 2001",
            "index 3f1a2b4..9c8d7e6 100644",
            "Signed-off-by: A. Writer <writer@example.com>",
        ] {
            check(line, line);
        }
        check("Subject: [PATCH 2/3] Keep the cursor", "Subject: [PATCH 2/3] ");
        for line in [
            "commit the changes",
            "index of a list",
            "From here on",
            "Date: the field is empty",
            "Author: is lost",
        ] {
            check(line, "");
        }
    }

    #[test]
    fn what_people_write_is_kept() {
        for line in [
            "",
            "### The parser describes the bug wrongly",
            "- [ ] add a parser for tables",
            "Description of a table is lost",
            "version = 3",
            "Bug fixes for parse_header()",
            "Context managers are closed twice",
        ] {
            check(line, "");
        }
        check("**Expected behavior** `run` returns 3", "**Expected behavior");
        check("Expected behavior: it returns 3", "Expected behavior");
    }
}
