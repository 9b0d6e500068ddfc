//! A summary under construction: lines, up to a number of bytes.

use super::words;

/// The most bytes of a summary: about 150 tokens.
pub(super) const BUDGET: usize = 600;

/// Bytes reserved for the ellipsis line.
const RESERVE: usize = "\n…".len();

/// A summary under construction; it never exceeds [`BUDGET`].
pub(super) struct SummaryPage {
    text: String,
}

impl SummaryPage {
    /// Starts a summary with its first line.
    pub(super) fn new(first: &str) -> Self {
        Self { text: words::clip(first, BUDGET - RESERVE) }
    }

    /// Returns how many bytes another line may have.
    pub(super) fn room(&self) -> usize {
        (BUDGET - RESERVE).saturating_sub(self.text.len() + 1)
    }

    /// Adds a line if it fits as a whole, and returns whether it did.
    pub(super) fn push(&mut self, line: &str) -> bool {
        if self.room() < line.len() {
            return false;
        }
        self.text.push('\n');
        self.text.push_str(line);
        true
    }

    /// Adds as much of a line as fits, up to `most` bytes; nothing if only a stump would fit.
    pub(super) fn push_clipped(&mut self, line: &str, most: usize) {
        const STUMP: usize = 24;
        let room = self.room().min(most);
        if !line.is_empty() && (line.len() <= room || STUMP <= room) {
            self.push(&words::clip(line, room));
        }
    }

    /// Adds a line with an ellipsis.
    pub(super) fn push_ellipsis(&mut self) {
        self.text.push('\n');
        self.text.push(words::ELLIPSIS);
    }

    /// Returns the text.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_page_takes_no_more_but_the_ellipsis() {
        let mut page = SummaryPage::new("first");
        while page.push("another line") {}
        page.push_clipped(&"long ".repeat(100), 400);
        page.push_ellipsis();
        let text = page.into_text();
        assert!(text.len() <= BUDGET);
        assert!(text.ends_with("\n…"));
    }

    #[test]
    fn a_line_of_any_length_is_clipped_to_what_it_may_have() {
        let mut page = SummaryPage::new(&"x".repeat(10_000));
        assert_eq!(page.room(), 0);
        page.push_clipped("no room", 100);
        assert_eq!(page.into_text().len(), BUDGET - RESERVE);
    }
}
