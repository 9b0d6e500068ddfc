//! Records the pieces of a document's text while it is written.

use memchr::memchr_iter;

use crate::model::{ContentHash, Document, DocumentLayout, DocumentPiece, PieceSubject};

pub(super) const DISCUSSION_HEADING: &str = "Discussion History";

/// The subject of a piece that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WrittenPiece {
    Section(&'static str),
    /// The block with that number.
    Block(usize),
    /// The end of the part that stays the same; it has no text.
    StableEnd,
    /// The discussion.
    Suffix,
}

/// Records the pieces of a document while it is written.
#[derive(Default)]
pub(super) struct LayoutBuilder {
    pieces: Vec<(WrittenPiece, DocumentPiece)>,
    stable: Option<usize>,
}

impl LayoutBuilder {
    pub(super) fn push(&mut self, written: WrittenPiece, text: &str) {
        if written == WrittenPiece::StableEnd {
            self.stable = Some(self.pieces.len());
        }
        if text.is_empty() {
            return;
        }
        let section = match written {
            WrittenPiece::Section(section) => section,
            WrittenPiece::Suffix => DISCUSSION_HEADING,
            WrittenPiece::Block(_) | WrittenPiece::StableEnd => "",
        };
        let piece = DocumentPiece {
            subject: PieceSubject::Section(section.into()),
            bytes: text.len() as u64,
            lines: memchr_iter(b'\n', text.as_bytes()).count() as u64,
            tokens: 0,
            hash: ContentHash::digest(text.as_bytes()),
        };
        self.pieces.push((written, piece));
    }

    /// Returns the layout, with the tokens of the document's receipt. Tokens outside of blocks are distributed among
    /// the other pieces by size, because the receipt has only their sum.
    pub(super) fn finish(self, document: &Document) -> DocumentLayout {
        let Self { pieces, stable } = self;
        let is_suffix = |(written, _): &(WrittenPiece, DocumentPiece)| *written == WrittenPiece::Suffix;
        let mut layout =
            DocumentLayout { prefix: pieces.len(), stable, pieces: Vec::with_capacity(pieces.len()) };
        if pieces.last().is_some_and(is_suffix) {
            layout.prefix -= 1;
        }
        let entries = &document.receipt.files;
        let of_blocks: u64 = entries.iter().take(document.blocks.len()).map(|entry| entry.tokens).sum();
        let mut tokens_left = document.receipt.tokens.saturating_sub(of_blocks);
        let is_block = |written: &WrittenPiece| matches!(written, WrittenPiece::Block(_));
        let others = pieces.iter().filter(|(written, _)| !is_block(written));
        let mut bytes_left: u64 = others.map(|(_, piece)| piece.bytes).sum();
        for (written, mut piece) in pieces {
            if let WrittenPiece::Block(at) = written {
                let block = &document.blocks[at];
                piece.subject = PieceSubject::File { path: block.path.clone(), view: block.view };
                piece.tokens = entries.get(at).map_or(0, |entry| entry.tokens);
            } else {
                piece.tokens = part_of(tokens_left, piece.bytes, bytes_left);
                tokens_left -= piece.tokens;
                bytes_left -= piece.bytes;
            }
            layout.pieces.push(piece);
        }
        layout
    }
}

/// Returns the share of `total` that corresponds to `part` of `whole`.
fn part_of(total: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(total) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(total)
}
