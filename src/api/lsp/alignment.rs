//! Maps lines of an edited text to lines of the file on disk.

use similar::DiffOp;

use super::text::IndexedText;
use crate::model::compare_lines;

/// The lines that two texts share.
#[derive(Debug)]
pub(super) struct LineAlignment {
    /// Runs of shared lines: the first one in the file, the first one in the edited text, and the length.
    runs: Vec<(usize, usize, usize)>,
}

impl LineAlignment {
    /// Compares the text on disk with an edited one; `None` if they are equal.
    pub(super) fn new(disk: &IndexedText, edited: &IndexedText) -> Option<Self> {
        if disk.text == edited.text {
            return None;
        }
        let (disk, edited): (Vec<&str>, Vec<&str>) = (disk.lines().collect(), edited.lines().collect());
        let runs = compare_lines(&disk, &edited).into_iter().filter_map(|step| match step {
            DiffOp::Equal { old_index, new_index, len } => Some((old_index, new_index, len)),
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => None,
        });
        Some(Self { runs: runs.collect() })
    }

    /// Returns the line of the edited text for a line of the file, counted from 0.
    pub(super) fn edited_line(&self, disk_line: usize) -> Option<usize> {
        let in_run = |(disk, _, len): &&(usize, usize, usize)| (*disk..disk + len).contains(&disk_line);
        self.runs.iter().find(in_run).map(|(disk, edited, _)| disk_line - disk + edited)
    }

    /// Returns the line of the file for a line of the edited text, counted from 0.
    pub(super) fn disk_line(&self, edited_line: usize) -> Option<usize> {
        let in_run =
            |(_, edited, len): &&(usize, usize, usize)| (*edited..edited + len).contains(&edited_line);
        self.runs.iter().find(in_run).map(|(disk, edited, _)| edited_line - edited + disk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_around_an_edit_are_mapped() {
        let disk = IndexedText::new("a\nb\nc\nd");
        let edited = IndexedText::new("new\na\nB\nc\nd");
        let alignment = LineAlignment::new(&disk, &edited).unwrap();
        let all = |map: &dyn Fn(usize) -> Option<usize>| (0..6).map(map).collect::<Vec<_>>();
        assert_eq!(all(&|line| alignment.edited_line(line)), [Some(1), None, Some(3), Some(4), None, None]);
        assert_eq!(all(&|line| alignment.disk_line(line)), [None, Some(0), None, Some(2), Some(3), None]);
        assert!(LineAlignment::new(&disk, &disk.clone()).is_none());
    }
}
