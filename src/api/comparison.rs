//! Compares two documents from the perspective of a provider's prompt cache: how much of the second one is cached from
//! the first.

use std::collections::{HashMap, HashSet};

use super::prompt_cache::{CommonPrefix, PromptCache, PromptCacheUse, SentDocument};
use super::wire::{ComparedBlock, DifferenceReason, DocumentComparison, FirstDifference, GivenStep};
use crate::model::{
    ContentHash, DocumentLayout, DocumentPiece, PieceSubject, PrefixCaching, RelPath, longest_ascending,
    path_text,
};

/// One of two documents that are compared.
#[derive(Debug, Clone)]
pub struct ComparedSide {
    pub document: SentDocument,
    /// How it is cached.
    pub caching: PrefixCaching,
    /// When it was opened or delivered, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// Compares a document with one that was sent before, both to a provider with the second one's caching.
pub fn compare_documents(from: &ComparedSide, to: &ComparedSide) -> DocumentComparison {
    let (before, after) = (&from.document.layout, &to.document.layout);
    let sent = send_after(from, to);
    let common = sent.common.unwrap_or_default();
    DocumentComparison {
        kept_bytes: sent.read.bytes,
        kept_tokens: sent.read.tokens,
        common_bytes: common.prefix.bytes,
        common_tokens: common.prefix.tokens,
        of_bytes: after.bytes(),
        of_tokens: after.tokens(),
        first: first_difference(before, after, common),
        blocks: compared_blocks(before, after),
        cached_minimum_tokens: to.caching.min_tokens,
        as_of_ms: from.at_ms,
    }
}

/// Returns a document of a history, compared with the previous one, if there is one.
pub fn given_step(from: Option<&ComparedSide>, to: &ComparedSide) -> GivenStep {
    let sent = from.map(|from| send_after(from, to));
    let first = from.zip(sent).and_then(|(from, sent)| {
        first_difference(&from.document.layout, &to.document.layout, sent.common.unwrap_or_default())
    });
    GivenStep {
        at_ms: to.at_ms,
        bytes: to.document.layout.bytes(),
        tokens: to.document.layout.tokens(),
        kept_bytes: sent.map(|sent| sent.read.bytes),
        kept_tokens: sent.map(|sent| sent.read.tokens),
        first,
    }
}

fn send_after(from: &ComparedSide, to: &ComparedSide) -> PromptCacheUse {
    let mut cache = PromptCache::default();
    cache.send(from.document.clone(), to.caching);
    cache.send(to.document.clone(), to.caching)
}

/// Returns the first difference; `None` if there is none.
fn first_difference(
    before: &DocumentLayout,
    after: &DocumentLayout,
    common: CommonPrefix,
) -> Option<FirstDifference> {
    let (old, new) = (before.pieces.get(common.pieces), after.pieces.get(common.pieces));
    let (subject, reason) = match (old.map(|old| &old.subject), new.map(|new| &new.subject)) {
        (None, None) => return None,
        (Some(old), None) => (old, removed(old)),
        (None, Some(new)) => (new, added(new)),
        (Some(old), Some(new)) => difference(old, new, before, after),
    };
    let lines = after.first_lines();
    let heading = lines.get(common.pieces).copied();
    // Past the end, there is no piece and so no heading.
    let end = || 1 + after.pieces.iter().map(|piece| piece.lines).sum::<u64>();
    let start = 1 + after.pieces[..common.pieces].iter().map(|piece| piece.lines).sum::<u64>();
    // For blocks of different files, the common prefix is meaningless.
    let file = |piece: Option<&DocumentPiece>| piece.and_then(|piece| piece.subject.file().cloned());
    let within = common.within.filter(|_| file(old) == file(new));
    let document_line = within.map(|within| start + within.newlines).or(heading).unwrap_or_else(end);
    let line = within.and_then(|within| within.shown_line).filter(|_| reason == DifferenceReason::Edited);
    Some(FirstDifference::new(subject, line, document_line, reason))
}

/// Returns which of two different pieces at the same position causes the difference, and how.
fn difference<'p>(
    old: &'p PieceSubject,
    new: &'p PieceSubject,
    before: &DocumentLayout,
    after: &DocumentLayout,
) -> (&'p PieceSubject, DifferenceReason) {
    match (old, new) {
        (_, PieceSubject::File { path, .. }) if block_of(before, path).is_none() => {
            (new, DifferenceReason::Added)
        }
        (PieceSubject::File { path, view }, _) => match block_of(after, path) {
            None => (old, DifferenceReason::Removed),
            Some((PieceSubject::File { view: now, .. }, _)) if view != now => (old, DifferenceReason::View),
            // An edit may also move a file, but the edit is the more relevant difference.
            Some((_, hash)) if block_of(before, path).is_some_and(|(_, before)| before != hash) => {
                (old, DifferenceReason::Edited)
            }
            Some(_) if is_moved(path, before, after) => (old, DifferenceReason::Moved),
            Some(_) => (new, DifferenceReason::Moved),
        },
        (PieceSubject::Section(_), PieceSubject::File { .. }) => (new, DifferenceReason::Moved),
        (PieceSubject::Section(_), PieceSubject::Section(_)) => (new, DifferenceReason::Section),
    }
}

/// Returns the block of a file, and the hash of its text.
fn block_of<'l>(layout: &'l DocumentLayout, file: &RelPath) -> Option<(&'l PieceSubject, &'l ContentHash)> {
    let piece = layout.pieces.iter().find(|piece| piece.subject.file() == Some(file))?;
    Some((&piece.subject, &piece.hash))
}

/// Returns whether this block was moved relative to the others.
fn is_moved(file: &RelPath, before: &DocumentLayout, after: &DocumentLayout) -> bool {
    let file = path_text(file.as_bytes());
    compared_blocks(before, after).iter().any(|block| block.file == file)
}

const fn removed(subject: &PieceSubject) -> DifferenceReason {
    match subject {
        PieceSubject::File { .. } => DifferenceReason::Removed,
        PieceSubject::Section(_) => DifferenceReason::Section,
    }
}

const fn added(subject: &PieceSubject) -> DifferenceReason {
    match subject {
        PieceSubject::File { .. } => DifferenceReason::Added,
        PieceSubject::Section(_) => DifferenceReason::Section,
    }
}

/// A block: its file, and a hash of its text.
type Block<'l> = (&'l RelPath, &'l ContentHash);

fn blocks(layout: &DocumentLayout) -> Vec<Block<'_>> {
    layout.pieces.iter().filter_map(|piece| Some((piece.subject.file()?, &piece.hash))).collect()
}

/// Returns the blocks that differ between the documents, or were moved relative to the common ones.
fn compared_blocks(before: &DocumentLayout, after: &DocumentLayout) -> Vec<ComparedBlock> {
    let (old, new) = (blocks(before), blocks(after));
    let places: HashMap<&RelPath, usize> =
        old.iter().enumerate().map(|(at, (file, _))| (*file, at)).collect();
    let pair = |(to, (file, _)): (usize, &Block<'_>)| Some((to, *places.get(file)?));
    let pairs: Vec<(usize, usize)> = new.iter().enumerate().filter_map(pair).collect();
    let in_order: HashSet<usize> = longest_ascending(&pairs).into_iter().map(|(to, _)| to).collect();
    let mut found = Vec::new();
    for (to, (file, hash)) in new.iter().enumerate() {
        let from = places.get(file).copied();
        let same = from.is_some_and(|from| old[from].1 == *hash);
        if !same || !in_order.contains(&to) {
            found.push(ComparedBlock { file: path_text(file.as_bytes()), from, to: Some(to), same });
        }
    }
    let remaining: HashSet<usize> = pairs.iter().map(|(_, from)| *from).collect();
    let gone = old.iter().enumerate().filter(|(from, _)| !remaining.contains(from));
    found.extend(gone.map(|(from, (file, _))| ComparedBlock {
        file: path_text(file.as_bytes()),
        from: Some(from),
        to: None,
        same: false,
    }));
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::ViewMode;

    /// Returns a document of sections and files, given as `path text` or `path:view text`.
    fn side(pieces: &[&str], marks: Option<u8>) -> ComparedSide {
        let mut text = String::new();
        let pieces: Vec<_> = pieces
            .iter()
            .map(|spelled| {
                let (subject, piece) = if let Some((file, shown)) = spelled.split_once(' ') {
                    let (file, view) = file.split_once(':').unwrap_or((file, "full"));
                    let path = RelPath::new(file.as_bytes()).unwrap();
                    let view = ViewMode::from_name(view).unwrap();
                    let shown = shown.replace(' ', "\n");
                    let piece = format!("\n### {path}\n{view}\n\n```\n{shown}\n```\n");
                    (PieceSubject::File { path, view }, piece)
                } else {
                    let gap = if text.is_empty() { "" } else { "\n" };
                    (PieceSubject::Section((*spelled).to_owned().into()), format!("{gap}## {spelled}\n"))
                };
                text.push_str(&piece);
                let lines = piece.lines().count() as u64;
                let (bytes, hash) = (piece.len() as u64, ContentHash::digest(piece.as_bytes()));
                DocumentPiece { subject, bytes, lines, tokens: 2 * bytes, hash }
            })
            .collect();
        let layout = DocumentLayout { prefix: pieces.len(), stable: None, pieces };
        let document = SentDocument { layout: Arc::new(layout), text: Some(text.into()) };
        ComparedSide { document, caching: PrefixCaching { marks, min_tokens: 0 }, at_ms: 7 }
    }

    fn without_text(mut side: ComparedSide) -> ComparedSide {
        side.document.text = None;
        side
    }

    /// Returns the first difference, and the blocks that differ.
    fn shown(comparison: &DocumentComparison) -> String {
        let first = comparison.first.as_ref().map_or("-".to_owned(), |first| {
            let subject = first.file.as_ref().or(first.section.as_ref()).unwrap();
            let line = first.line.map_or(String::new(), |line| format!(":{line}"));
            format!("{subject}{line} {:?} at {}", first.reason, first.document_line)
        });
        let place = |place: Option<usize>| place.map_or("-".to_owned(), |place| place.to_string());
        let block = |block: &ComparedBlock| {
            let same = if block.same { "=" } else { "" };
            format!("; {} {}>{}{same}", block.file, place(block.from), place(block.to))
        };
        first + &comparison.blocks.iter().map(block).collect::<String>()
    }

    #[track_caller]
    fn check(before: &[&str], after: &[&str], expected: &str) {
        assert_eq!(shown(&compare_documents(&side(before, None), &side(after, None))), expected);
    }

    #[test]
    fn the_first_difference_has_a_reason() {
        let whole = ["Files", "a.c 1 2 3", "b.c 1", "c.c 1", "Tree"];
        check(&whole, &whole, "-");
        check(&whole, &["Files", "a.c 1 2 4", "b.c 1", "c.c 1", "Tree"], "a.c:3 Edited at 9; a.c 0>0");
        check(&whole, &["Files", "a.c:skeleton 1", "b.c 1", "c.c 1", "Tree"], "a.c View at 4; a.c 0>0");
        check(&whole, &["Files", "a.c 1 2 3", "c.c 1", "b.c 1", "Tree"], "c.c Moved at 12; c.c 2>1=");
        check(&whole, &["Files", "a.c 1 2 3", "c.c 1", "Tree"], "b.c Removed at 12; b.c 1>-");
        check(
            &whole,
            &["Files", "a.c 1 2 3", "a1.c 1", "b.c 1", "c.c 1", "Tree"],
            "a1.c Added at 12; a1.c ->1",
        );
        check(&whole, &["Files", "a.c 1 2 3", "b.c 1", "Tree"], "c.c Removed at 19; c.c 2>-");
        check(&whole, &whole[..4], "Tree Section at 25");
        // In the stable order, an edited file comes after the others.
        check(&whole, &["Files", "b.c 1", "c.c 1", "a.c 2", "Tree"], "a.c Edited at 3; a.c 0>2");
        check(&whole, &["Files", "b.c 1", "c.c 1", "a.c 1 2 3", "Tree"], "a.c Moved at 3; a.c 0>2=");
        check(&whole, &["More", "a.c 1 2 3", "b.c 1", "c.c 1", "Tree"], "More Section at 1");
    }

    #[test]
    fn documents_without_texts_are_compared_by_blocks() {
        let (before, after) = (["Files", "a.c 1", "b.c 1 2"], ["Files", "a.c 1", "b.c 1 3"]);
        let exact = compare_documents(&side(&before, None), &side(&after, None));
        let coarse = compare_documents(&without_text(side(&before, None)), &side(&after, None));
        assert_eq!(shown(&exact), "b.c:2 Edited at 15; b.c 1>1");
        assert_eq!(shown(&coarse), "b.c Edited at 10; b.c 1>1");
        let head = side(&after[..2], None).document.layout.bytes();
        assert_eq!((coarse.common_bytes, coarse.kept_bytes, coarse.kept_tokens), (head, head, 2 * head));
        assert!(head < exact.common_bytes && exact.common_bytes == exact.kept_bytes);
        assert_eq!((exact.of_bytes, exact.as_of_ms), (side(&after, None).document.layout.bytes(), 7));
    }

    #[test]
    fn a_provider_with_marks_caches_up_to_a_mark() {
        let large = format!("a.c {}", "x ".repeat(20_000));
        let before = ["Files", &large, "b.c 1", "c.c 1"];
        let after = ["Files", &large, "b.c 1", "c.c 2"];
        let kept = compare_documents(&side(&before, Some(3)), &side(&after, Some(3)));
        // The prefix ends after 32 KiB, which is after the large file.
        assert_eq!(kept.kept_bytes, side(&after[..2], None).document.layout.bytes());
        assert!(kept.kept_bytes < kept.common_bytes);
        assert_eq!(compare_documents(&side(&before, Some(1)), &side(&after, Some(1))).kept_bytes, 0);
        let mut demanding = side(&after, None);
        demanding.caching.min_tokens = 1 << 40;
        let nothing = compare_documents(&side(&before, None), &demanding);
        assert_eq!((nothing.kept_bytes, nothing.kept_tokens), (0, 0));
        assert!(0 < nothing.common_bytes);
    }
}
