//! For systems whose file events slop does not use, because it is not proven yet that they report every change.

use std::io;
use std::path::Path;

use super::source::{EventHandler, EventSource, WatchQueue};

/// No source of events, so that each answer is checked against the files.
#[derive(Debug)]
pub(super) struct NoEvents;

impl EventSource for NoEvents {
    fn open(&self, _handler: EventHandler) -> io::Result<Box<dyn WatchQueue>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn limit(&self) -> Option<u64> {
        None
    }

    fn file_system(&self, _folder: &Path) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
