//! What a comment says, without the marks that make it one.

/// Returns the text of a comment, or of a run of them, without its markers (`//`, `/* … */`, `#`).
pub(super) fn unmark(comment: &str) -> String {
    let mut text = String::with_capacity(comment.len());
    for line in comment.lines() {
        let line = line.trim();
        let line = line.strip_suffix("*/").unwrap_or(line).trim_end();
        let line = line.trim_start_matches(['/', '*', '#', '!', '<']);
        text.push_str(line.trim_end_matches('*').trim());
        text.push('\n');
    }
    text
}

/// Says whether a comment is about who may copy the file, which tells nothing of what the file does.
pub(super) fn is_about_copying(text: &str) -> bool {
    let end = text.char_indices().nth(4000).map_or(text.len(), |(at, _)| at);
    let lower = text[..end].to_lowercase();
    ["copyright", "spdx-license", "licensed under", "all rights reserved", "redistribut", "(c) 19", "(c) 20"]
        .iter()
        .any(|mark| lower.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_taken_off() {
        assert_eq!(unmark("/** Says\n  * hello.\n  */"), "Says\nhello.\n\n");
        assert_eq!(unmark("/// One.\n///< Two."), "One.\nTwo.\n");
    }

    #[test]
    fn a_license_is_told_from_a_description() {
        assert!(is_about_copying("Copyright (C) 2001 Somebody"));
        assert!(!is_about_copying("Reads frames from the wire."));
    }
}
