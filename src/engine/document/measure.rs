//! Measures documents as they are written.

use crate::engine::artifacts::ArtifactCache;
use crate::engine::parallel::on_all_cores;
use crate::model::{Document, ViewMode};
use crate::{aggregate, render};

/// Below so many blocks one thread is faster than two.
const BLOCKS_FOR_A_THREAD: usize = 512;

/// Writes the sizes of a document and of its files into its receipt; tokens are estimated unless they are to be
/// `exact`.
pub(super) fn measure(
    cache: &mut ArtifactCache<'_>,
    document: &mut Document,
    exact: bool,
    images_apart: bool,
) {
    let mut texts: Vec<String> = if document.blocks.len() < BLOCKS_FOR_A_THREAD {
        document.blocks.iter().map(render::block_text).collect()
    } else {
        on_all_cores(&document.blocks, render::block_text)
    };
    let attached = attachment_text(document, images_apart);
    let after_stable = render::after_stable(document);
    texts.push(heading(document));
    if let Some(text) = after_stable.strip_prefix('\n') {
        texts.push(format!("{text}\n"));
    }
    // A block takes the empty line behind it; behind the last part there is none.
    match attached.strip_prefix('\n') {
        Some(sections) if document.part.has_prefix() => texts.push(sections.to_owned()),
        Some(_) => texts.push(attached),
        None => shorten_the_last(&mut texts),
    }
    let tokens: Vec<u64> = if exact {
        cache.count_tokens(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    } else {
        texts.iter().map(|text| aggregate::estimate_tokens(text.len() as u64)).collect()
    };
    let bytes = if images_apart {
        render::render_markdown(document).len()
    } else {
        texts.iter().map(String::len).sum()
    };
    let receipt = &mut document.receipt;
    receipt.bytes = bytes as u64;
    receipt.counter = if exact { cache.workspace.options.counter.name() } else { aggregate::ESTIMATE };
    receipt.tokens = tokens.iter().sum();
    let blocks = document.blocks.len();
    for (entry, (text, tokens)) in receipt.files.iter_mut().zip(texts.iter().zip(&tokens)).take(blocks) {
        entry.bytes = text.len() as u64;
        entry.tokens = *tokens;
    }
    // A line of the tree is shared by the folders above it, so that paths have no size of their own.
    let stable_rows = document.stable.iter().filter_map(|stable| stable.rows.as_ref());
    let rows = stable_rows.chain(&document.more_files).flat_map(|rows| rows.split_inclusive('\n'));
    let named = receipt.files.iter_mut().skip(blocks).filter(|entry| entry.view == ViewMode::Names);
    for (entry, row) in named.zip(rows) {
        entry.bytes = row.len() as u64;
        entry.tokens = aggregate::estimate_tokens(entry.bytes);
        if exact {
            entry.tokens = cache.workspace.options.counter.count(row);
        }
    }
}

/// Returns what precedes the files, with the empty line behind it.
fn heading(document: &Document) -> String {
    if document.part.has_prefix() { format!("{}\n", render::files_heading(document)) } else { String::new() }
}

/// Returns the text of the attachments as a model reads it.
fn attachment_text(document: &Document, images_apart: bool) -> String {
    if images_apart { render::attachments_without_images(document) } else { render::attachments(document) }
}

/// Removes the final newline from the last part: the last file, or the heading if there is none.
fn shorten_the_last(texts: &mut [String]) {
    let last = texts.len().saturating_sub(2);
    if let Some(text) = texts.get_mut(last) {
        text.pop();
    }
}
