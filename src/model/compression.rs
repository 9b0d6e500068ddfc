//! Compression of values of which there are many: in the store, and in memory while a large document is composed.
//!
//! Zstandard, because it decompresses twice as fast as DEFLATE and compresses as well: a document of a whole project
//! decompresses all of its skeletons.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe;

/// The quickest level: the next ones save two to five percent more, and writing an index would take longer.
const LEVEL: i32 = 1;

/// Shorter values do not become smaller.
const MIN_BYTES: usize = 64;

thread_local! {
    // A context takes more time to create than a small value to compress. `None` where one cannot be created.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(LEVEL).ok());
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = RefCell::new(Decompressor::new().ok());
}

/// Returns a frame with the value; `None` if that is not smaller.
pub fn compress(value: &[u8]) -> Option<Vec<u8>> {
    if value.len() < MIN_BYTES {
        return None;
    }
    let frame = COMPRESSOR.with_borrow_mut(|compressor| compressor.as_mut()?.compress(value).ok())?;
    (frame.len() < value.len()).then(|| frame.into_boxed_slice().into_vec())
}

/// Returns the value of a frame; `None` if it is damaged, or claims a value of more than `max_bytes`, for which nothing is
/// allocated.
pub fn decompress(frame: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
    let bytes = zstd_safe::get_frame_content_size(frame).ok().flatten()?;
    let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= max_bytes)?;
    DECOMPRESSOR.with_borrow_mut(|decompressor| decompressor.as_mut()?.decompress(frame, bytes).ok())
}
