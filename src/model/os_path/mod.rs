//! Conversion between the system's paths and bytes with `/` as separator.
//!
//! Knows: the bytes of the system's names, and its reserved names. Does not know: any file.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
#[cfg(any(windows, test))]
mod windows_names;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub(super) use platform::usable_path;
pub use platform::{address_as_path, address_bytes, bytes_as_path, path_bytes, slashed_bytes};
