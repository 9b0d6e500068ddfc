//! Paths as the system has them, and as bytes with `/` between the parts.
//!
//! Knows: which bytes a system's names are, and which names it takes for something else. Does not know: any file.

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
