//! Measures documents as they are written.

use super::costs::BudgetUnit;
use crate::engine::artifacts::ArtifactCache;
use crate::model::{Document, DocumentBlock, ViewMode, on_all_cores};
use crate::{aggregate, render};

/// The maximum size of the texts of blocks that are in memory at once.
const BYTES_AT_ONCE: usize = 16 << 20;
/// The number of blocks below which one thread is faster than two.
const BLOCKS_FOR_A_THREAD: usize = 512;

/// Writes the sizes of a document and of its files into its receipt; tokens are estimated unless they must be `exact`.
pub(in crate::engine::document) fn measure(
    cache: &mut ArtifactCache<'_>,
    document: &mut Document,
    exact: bool,
    images_apart: bool,
) {
    let sizes = piece_sizes(document, images_apart, &mut |texts| {
        let tokens = if exact { cache.count_tokens(texts) } else { estimates(texts) };
        texts.iter().map(|text| text.len() as u64).zip(tokens).collect()
    });
    let bytes = total_bytes(document, &sizes, images_apart);
    let receipt = &mut document.receipt;
    receipt.bytes = bytes;
    receipt.counter = if exact { cache.workspace.options.counter.name() } else { aggregate::ESTIMATE };
    receipt.tokens = sizes.iter().map(|(_, tokens)| tokens).sum();
    let blocks = document.blocks.len();
    for (entry, (bytes, tokens)) in receipt.files.iter_mut().zip(&sizes).take(blocks) {
        (entry.bytes, entry.tokens) = (*bytes, *tokens);
    }
    // A line of the tree is shared by the folders above it, so paths have no size of their own.
    let stable_rows = document.stable.iter().filter_map(|stable| stable.rows.as_ref());
    let rows = stable_rows.chain(&document.more_files).flat_map(|rows| rows.split_inclusive('\n'));
    let mut named = receipt.files.iter_mut().skip(blocks).filter(|entry| entry.view == ViewMode::Names);
    for (row, files) in rows.zip(&document.files_of_rows) {
        let bytes = row.len() as u64;
        let tokens = if exact {
            cache.workspace.options.counter.count(row)
        } else {
            aggregate::estimate_tokens(bytes)
        };
        // Files that share a row have equal shares of it; the first one also gets the remainder.
        let of_one = |size: u64| size / *files as u64;
        for (at, entry) in named.by_ref().take(*files).enumerate() {
            let others = if at == 0 { *files as u64 - 1 } else { 0 };
            entry.bytes = if at == 0 { bytes - others * of_one(bytes) } else { of_one(bytes) };
            entry.tokens = if at == 0 { tokens - others * of_one(tokens) } else { of_one(tokens) };
        }
    }
}

/// Returns the size of a document, which may never be written.
pub(in crate::engine::document) fn size(
    cache: &mut ArtifactCache<'_>,
    document: &Document,
    unit: BudgetUnit,
    images_apart: bool,
) -> u64 {
    let is_exact = matches!(unit, BudgetUnit::Tokens(_));
    let sizes = piece_sizes(document, images_apart, &mut |texts| {
        let tokens = if is_exact { cache.count_draft_tokens(texts) } else { vec![0; texts.len()] };
        texts.iter().map(|text| text.len() as u64).zip(tokens).collect()
    });
    if is_exact {
        return sizes.iter().map(|(_, tokens)| tokens).sum();
    }
    total_bytes(document, &sizes, images_apart)
}

/// The bytes and the tokens of a text.
type TextSize = (u64, u64);

/// Returns the sizes of the parts of a written document: of each block, and then of what surrounds them.
fn piece_sizes(
    document: &Document,
    images_apart: bool,
    text_sizes: &mut dyn FnMut(&[&str]) -> Vec<TextSize>,
) -> Vec<TextSize> {
    let mut frame = vec![heading(document)];
    if let Some(text) = render::after_stable(document).strip_prefix('\n') {
        frame.push(format!("{text}\n"));
    }
    let attached = render::attachments(document, images_apart);
    // A block includes the empty line after it; the last part has none.
    let mut is_last_shortened = false;
    match attached.strip_prefix('\n') {
        Some(sections) if document.part.has_prefix() => frame.push(sections.to_owned()),
        Some(_) => frame.push(attached),
        None if document.blocks.is_empty() => pop_final_newline(frame.last_mut()),
        None => is_last_shortened = true,
    }
    // A limited number of blocks at a time, because all of them may be far more than should be in memory.
    let mut sizes: Vec<TextSize> = Vec::with_capacity(document.blocks.len() + frame.len());
    let mut left = document.blocks.as_slice();
    while let Some((blocks, rest)) = split_blocks(left) {
        let mut texts: Vec<String> = if blocks.len() < BLOCKS_FOR_A_THREAD {
            blocks.iter().map(render::block_text).collect()
        } else {
            on_all_cores(blocks, render::block_text)
        };
        left = rest;
        if left.is_empty() && is_last_shortened {
            pop_final_newline(texts.last_mut());
        }
        if left.is_empty() {
            texts.append(&mut frame);
        }
        sizes.extend(text_sizes(&texts.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    sizes.extend(text_sizes(&frame.iter().map(String::as_str).collect::<Vec<_>>()));
    sizes
}

fn total_bytes(document: &Document, sizes: &[TextSize], images_apart: bool) -> u64 {
    if images_apart {
        return render::markdown_bytes(document) as u64;
    }
    sizes.iter().map(|(bytes, _)| bytes).sum()
}

fn estimates(texts: &[&str]) -> Vec<u64> {
    texts.iter().map(|text| aggregate::estimate_tokens(text.len() as u64)).collect()
}

/// Returns what precedes the files, with the empty line after it.
fn heading(document: &Document) -> String {
    if document.part.has_prefix() { format!("{}\n", render::files_heading(document)) } else { String::new() }
}

/// Splits off the blocks that are measured together; `None` if there are none.
fn split_blocks(blocks: &[DocumentBlock]) -> Option<(&[DocumentBlock], &[DocumentBlock])> {
    let mut bytes = 0;
    let next = blocks.iter().position(|block| {
        bytes += block.body.len();
        BYTES_AT_ONCE < bytes
    });
    // A block that is larger than that is measured by itself.
    let end = next.map_or(blocks.len(), |next| next.max(1));
    (!blocks.is_empty()).then(|| blocks.split_at(end))
}

/// Removes the final newline of the last part of a document.
fn pop_final_newline(text: Option<&mut String>) {
    text.map(String::pop);
}
