//! Compression of many small values: in the store, and in memory while a large document is composed.
//!
//! Zstandard, because it decompresses twice as fast as DEFLATE and compresses equally well: a document of a whole
//! project decompresses all of its skeletons.

use std::cell::RefCell;
use std::sync::Mutex;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe;

use crate::model::lock;

/// The fastest level: the next ones save two to five percent more, and writing an index would take longer.
const LEVEL: i32 = 1;

/// Shorter values do not become smaller.
const MIN_BYTES: usize = 64;

/// Shared by all threads, because it takes about a megabyte and only one thread writes the store. Creating a context
/// takes longer than compressing a small value. `None` until the first use.
static COMPRESSOR: Mutex<Option<Compressor<'static>>> = Mutex::new(None);

thread_local! {
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = RefCell::new(Decompressor::new().ok());
}

/// Returns a compressed frame of the value; `None` if that is not smaller.
pub fn compress(value: &[u8]) -> Option<Vec<u8>> {
    if value.len() < MIN_BYTES {
        return None;
    }
    // Each value begins a new frame, even if the previous one failed.
    let mut compressor = lock(&COMPRESSOR);
    let frame = match &mut *compressor {
        Some(compressor) => compressor.compress(value).ok()?,
        none => none.insert(Compressor::new(LEVEL).ok()?).compress(value).ok()?,
    };
    drop(compressor);
    (frame.len() < value.len()).then(|| frame.into_boxed_slice().into_vec())
}

/// Returns the value of a frame; `None` if it is damaged, or claims to be longer than `max_bytes`, in which case
/// nothing is allocated.
pub fn decompress(frame: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
    let bytes = zstd_safe::get_frame_content_size(frame).ok().flatten()?;
    let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= max_bytes)?;
    DECOMPRESSOR.with_borrow_mut(|decompressor| decompressor.as_mut()?.decompress(frame, bytes).ok())
}
