//! The I/O traits: clock, files, processes, network.
//!
//! Knows: system calls. Does not know: what any file means. Each trait is small and object-safe, with an implementation
//! for the real machine next to it, so that a test can substitute another. I/O that a library does itself is in three
//! other places: the walks over the tree (`discover/walk.rs`, `watched_folders.rs`), the database file
//! (`store/database.rs`) and the system's events (`watch/inotify.rs`).
//!
//! Start with [`Files`].

mod clock;
mod commands;
mod disk;
mod files;
mod http;
mod lock;
mod process_control;
mod processes;
mod programs;
mod scratch;
mod user_key;

pub use clock::{Clock, WallClock};
pub use commands::{Commands, RealCommands};
#[cfg(test)]
pub use disk::WriteContent;
pub use disk::{Disk, RealDisk, is_private_file, owner_without_links};
pub use files::{FileContent, FileKind, FileStat, Files, ReadError, RealFiles, device_id, inode};
pub use http::{HttpClient, HttpLimits, HttpTransport, is_loopback};
pub use lock::FileLock;
pub use process_control::{
    InterruptFlag, ProcessUsage, detach_terminal, disable_core_dumps, ensure_open_files, host_name, is_alive,
    kill_self, redirect_output, start_detached, terminate, user_id,
};
pub use processes::{ProcessOutput, Processes, RealProcesses, run_viewer};
pub use scratch::ScratchFolder;
pub use user_key::user_key;
