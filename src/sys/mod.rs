//! The I/O traits: clock, files, processes, network.
//!
//! Knows: system calls. Does not know: what any file means. Each trait is small and object-safe, with an implementation
//! for the real machine next to it, so that a test can substitute another. Where systems differ, a folder has a file
//! for each (`file_access`, `local_socket`, `process_control`, `root_folder`). I/O that libraries do themselves is in
//! three other places: the walks over the tree (`discover/walk.rs`, `watched_folders.rs`), the database file
//! (`store/database.rs`) and the system's events (`watch/inotify.rs`).
//!
//! Start with [`Files`].

mod clock;
mod commands;
mod disk;
mod file_access;
mod file_stat;
mod files;
mod http;
mod local_socket;
mod lock;
mod process_control;
mod processes;
mod programs;
mod root_folder;
mod scratch;
mod user_key;
#[cfg(windows)]
mod win32;

pub use clock::{Clock, WallClock};
pub use commands::{Commands, RealCommands};
#[cfg(test)]
pub use disk::WriteContent;
pub use disk::{Disk, RealDisk};
pub use file_access::{
    create_private_folder, device_id, file_identity, is_other_users, is_own, is_private_file,
    open_file_identity, open_folder_lock, private_file_options, program_in, user_tag,
};
pub use file_stat::{FileKind, FileStat};
pub use files::{FileContent, Files, ReadError, RealFiles};
pub use http::{HttpClient, HttpLimits, HttpTransport, is_loopback};
pub use local_socket::{
    BindError, BoundSocket, ClientStream, LocalListener, PORTABLE_SOCKET_PATH_BYTES, ServerStream,
    bind_local, connect_local,
};
pub use lock::FileLock;
pub use process_control::{
    InterruptFlag, ProcessUsage, ShutdownSignals, detach_terminal, disable_core_dumps, ensure_open_files,
    host_name, is_alive, kill_self, redirect_output, start_detached, terminate,
};
pub use processes::{ProcessOutput, Processes, RealProcesses, run_viewer};
pub use scratch::ScratchFolder;
pub use user_key::user_key;
