//! How deep a text is nested by its indent.
//!
//! The grammar's scanner writes the columns of all open blocks into a buffer of 1,024 bytes, and ends the whole process
//! where they do not fit: some 200 levels. Nobody has written a tenth of that by hand.

/// So many blocks may be open at once.
const MOST_OPEN: usize = 100;

/// Says whether more blocks are open at once than the grammar can bear.
pub(super) fn is_too_deep(text: &str) -> bool {
    let mut open: Vec<usize> = Vec::new();
    text.lines().any(|line| {
        let mut column = line.len() - line.trim_start_matches([' ', '\t']).len();
        let mut rest = &line[column..];
        if rest.is_empty() {
            return false;
        }
        open.truncate(open.partition_point(|other| *other < column));
        open.push(column);
        // `- - a` opens a block for each dash, and so do `? ` and `: `.
        while rest.starts_with(['-', '?', ':'])
            && rest[1..].starts_with([' ', '\t'])
            && open.len() <= MOST_OPEN
        {
            let own = rest.len() - rest[1..].trim_start_matches([' ', '\t']).len();
            column += own;
            rest = &rest[own..];
            open.push(column);
        }
        MOST_OPEN < open.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_by_blocks_that_are_open_at_once() {
        let steps = |count: usize| (0..count).fold(String::new(), |text, at| text + &" ".repeat(at) + "k:\n");
        assert!(!is_too_deep(&steps(100)));
        assert!(is_too_deep(&steps(101)));
        assert!(is_too_deep(&"- ".repeat(400)));
        assert!(!is_too_deep(&"a:\n  - b: c\n    d: e\n".repeat(1_000)));
    }

    #[test]
    fn what_the_grammar_cannot_bear_does_not_reach_it() {
        let text = (0..3_000).fold(String::new(), |text, at| text + &" ".repeat(at) + "k:\n");
        let structure = crate::syntax::derive("yaml", &text, &mut || false).unwrap();
        assert_eq!(structure.outline.health.fallback, Some(crate::model::ParseFallback::TooDeep));
    }
}
