//! Keeps answers that are too large for one message for a while, to be read in parts as resources.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use rmcp::model::{ContentBlock, Resource};

use super::show::{MAX_CHARACTERS, truncate};
use crate::model::{ContentHash, lock};

/// The most bytes of all kept answers. The oldest are deleted first.
const MAX_BYTES: usize = 16 << 20;

/// The most files that the description of a part names.
const MAX_NAMED: usize = 12;

const PREFIX: &str = "slop://answer/";

/// The address template of the parts of an answer.
pub(super) const TEMPLATE: &str = "slop://answer/{id}/{part}";

/// The kept answers of one server, which all of its clients may read.
#[derive(Debug, Default)]
pub(super) struct KeptAnswers {
    answers: Mutex<VecDeque<KeptAnswer>>,
}

#[derive(Debug)]
struct KeptAnswer {
    id: String,
    parts: Arc<[AnswerPart]>,
}

/// A part of an answer that fits one message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AnswerPart {
    pub(super) text: String,
    /// The files that begin in it.
    files: Vec<String>,
}

/// An answer in parts, the first of which may already be in the message.
#[derive(Debug)]
pub(super) struct LongAnswer {
    parts: Arc<[AnswerPart]>,
    shown: usize,
}

impl LongAnswer {
    /// Returns an answer whose first part is shown in the message.
    pub(super) fn after_first(text: &str) -> Self {
        Self { parts: split(text).into(), shown: 1 }
    }

    /// Returns an answer of which nothing is shown in the message.
    pub(super) fn of_all(text: &str) -> Self {
        Self { parts: split(text).into(), shown: 0 }
    }
}

impl KeptAnswers {
    /// Keeps an answer. Returns a notice about it, and links to its parts.
    pub(super) fn keep(&self, answer: &LongAnswer) -> (String, Vec<ContentBlock>) {
        let LongAnswer { parts, shown } = answer;
        // Identified by its content, so that a repeated answer is kept once.
        let all: String = parts.iter().map(|part| part.text.as_str()).collect();
        let id = ContentHash::digest(all.as_bytes()).to_string()[..16].to_owned();
        let (first, last) = (shown + 1, parts.len());
        let range = if first == last { String::new() } else { format!(" to {PREFIX}{id}/{last}") };
        let notice = format!("[read as resources: {PREFIX}{id}/{first}{range}]");
        let links = (first..).zip(&parts[*shown..]).map(|(number, part)| part.link(&id, number, last));
        let links = links.collect();
        self.insert(KeptAnswer { id, parts: Arc::clone(parts) });
        (notice, links)
    }

    fn insert(&self, answer: KeptAnswer) {
        // Each change leaves a valid list, so it can be used even after a panic.
        let mut answers = lock(&self.answers);
        answers.retain(|kept| kept.id != answer.id);
        answers.push_back(answer);
        while 1 < answers.len() && MAX_BYTES < answers.iter().map(KeptAnswer::bytes).sum::<usize>() {
            answers.pop_front();
        }
    }

    /// Returns a part by its address; `None` if nothing is kept there.
    pub(super) fn read(&self, address: &str) -> Option<String> {
        let (id, number) = address.strip_prefix(PREFIX)?.split_once('/')?;
        let index = number.parse::<usize>().ok()?.checked_sub(1)?;
        let answers = lock(&self.answers);
        let answer = answers.iter().find(|answer| answer.id == id)?;
        answer.parts.get(index).map(|part| part.text.clone())
    }
}

/// Returns whether an address is that of a part, kept or not.
pub(super) fn is_part(address: &str) -> bool {
    address.starts_with(PREFIX)
}

impl KeptAnswer {
    fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.text.len()).sum()
    }
}

impl AnswerPart {
    fn link(&self, id: &str, number: usize, of: usize) -> ContentBlock {
        let mut files = self.files.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        if MAX_NAMED < self.files.len() {
            files = format!("{files} and {} more", self.files.len() - MAX_NAMED);
        }
        let link = Resource::new(format!("{PREFIX}{id}/{number}"), format!("part {number} of {of}"));
        let link = link.with_mime_type("text/markdown").with_size(self.text.len() as u64);
        ContentBlock::resource_link(if files.is_empty() { link } else { link.with_description(files) })
    }
}

/// Splits a text into parts, between files if possible, else between lines.
fn split(text: &str) -> Vec<AnswerPart> {
    let mut parts = vec![AnswerPart { text: String::new(), files: Vec::new() }];
    let mut characters = 0;
    for (file, mut block) in blocks(text) {
        let length = block.chars().count();
        if 0 < characters && MAX_CHARACTERS < characters + length {
            parts.push(AnswerPart { text: String::new(), files: Vec::new() });
            characters = 0;
        }
        let mut last = parts.last_mut().expect("there is a part from the beginning");
        last.files.extend(file.map(str::to_owned));
        while let Some(cut) = truncate(block, MAX_CHARACTERS) {
            last.text.push_str(cut.head);
            block = &block[cut.head.len()..];
            parts.push(AnswerPart { text: String::new(), files: Vec::new() });
            last = parts.last_mut().expect("one was added just now");
            characters = 0;
        }
        last.text.push_str(block);
        characters += block.chars().count();
    }
    parts
}

/// Splits a text at the headings of files, and returns each piece with its file. Headings within a fence do not count.
fn blocks(text: &str) -> Vec<(Option<&str>, &str)> {
    let mut blocks = Vec::new();
    let (mut file, mut start, mut at) = (None, 0, 0);
    let mut fence: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(opened) if opened <= ticks && line[ticks..].trim().is_empty() => fence = None,
            None if 3 <= ticks => fence = Some(ticks),
            None => {
                if let Some(path) = line.strip_prefix("### ") {
                    blocks.push((file, &text[start..at]));
                    (file, start) = (Some(path.trim_end()), at);
                }
            }
            Some(_) => {}
        }
        at += line.len();
    }
    blocks.push((file, &text[start..]));
    blocks.retain(|(_, block)| !block.is_empty());
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_split_between_files_without_loss() {
        let file = |name: &str, lines: usize| {
            format!("### {name}\n\n````python\n{}````\n\n", "### x = 1\n".repeat(lines))
        };
        let text = format!(
            "# Project\n\n## Files\n\n{}{}{}",
            file("a.py", 1),
            file("b.py", 3_995),
            file("c.py", 9_000)
        );
        let parts = split(&text);
        let files: Vec<&[String]> = parts.iter().map(|part| &part.files[..]).collect();
        assert_eq!(files, [&["a.py".to_owned()][..], &["b.py".to_owned()], &["c.py".to_owned()], &[], &[]]);
        assert_eq!(parts.iter().map(|part| part.text.as_str()).collect::<String>(), text);
        assert!(parts.iter().all(|part| part.text.len() <= MAX_CHARACTERS));
        assert!(parts.iter().all(|part| part.text.ends_with('\n')));
    }

    #[test]
    fn the_oldest_answers_are_deleted_first() {
        let kept = KeptAnswers::default();
        let address =
            |notice: &str| notice.split_once(": ").unwrap().1.split([' ', ']']).next().unwrap().to_owned();
        let first = address(&kept.keep(&LongAnswer::of_all("first")).0);
        assert_eq!(kept.read(&first).as_deref(), Some("first"));
        for answer in 0..3 {
            kept.keep(&LongAnswer::of_all(&answer.to_string().repeat(MAX_BYTES / 2)));
        }
        assert_eq!(kept.read(&first), None);
        for odd in ["slop://answer/", "slop://answer/x/0", "slop://answer/x/-1", "slop://view/full/a"] {
            assert_eq!(kept.read(odd), None);
        }
    }
}
