//! The files that the agent works on.

use super::selector::Error;
use super::selector::Selector;
use crate::model::RelPath;

/// The words of `--focus`.
#[derive(Debug, Clone, Default)]
pub struct Focus {
    selectors: Vec<(Selector, Option<u32>)>,
}

/// The lines of a file in focus that were named, from 1; empty where the whole file is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FocusLines(pub Vec<u32>);

impl Focus {
    /// Reads words such as `src/a.py`, `engine`, `src/a.py:120`.
    pub fn new(words: &[String]) -> Result<Self, Error> {
        let words = words.iter().map(|word| {
            let (path, line) = split_line(word);
            Ok((Selector::new(path)?, line))
        });
        Ok(Self { selectors: words.collect::<Result<_, Error>>()? })
    }

    /// Says whether nothing is in focus.
    pub fn is_empty(&self) -> bool {
        self.selectors.is_empty()
    }

    /// Returns the lines in focus, if the file is in focus.
    pub fn lines(&self, path: &RelPath) -> Option<FocusLines> {
        let touching: Vec<_> = self.selectors.iter().filter(|(selector, _)| selector.touches(path)).collect();
        if touching.is_empty() {
            return None;
        }
        let mut lines: Vec<u32> = touching.iter().filter_map(|(_, line)| *line).collect();
        lines.sort_unstable();
        lines.dedup();
        Some(FocusLines(lines))
    }
}

fn split_line(word: &str) -> (&str, Option<u32>) {
    match word.rsplit_once(':') {
        Some((path, line)) if !path.is_empty() => match line.parse() {
            Ok(line) => (path, Some(line)),
            Err(_) => (word, None),
        },
        Some(_) | None => (word, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_gathered_from_all_words_that_touch_a_file() {
        let words = ["a.py:30", "src/a.py:7", "b.py", "c:d"].map(str::to_owned);
        let focus = Focus::new(&words).unwrap();
        let lines = |path: &str| focus.lines(&RelPath::new(path.as_bytes()).unwrap());
        assert_eq!(lines("src/a.py"), Some(FocusLines(vec![7, 30])));
        assert_eq!(lines("b.py"), Some(FocusLines(vec![])));
        assert_eq!(lines("x.py"), None);
        assert_eq!(lines("c:d"), Some(FocusLines(vec![])));
    }
}
