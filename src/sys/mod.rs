//! The windows to the world: clock, files, processes, network.
//!
//! Knows: system calls. Does not know: what any file means. Each window is a small object-safe trait with the real
//! one beside it, so that a test can put another in its place. Three more windows exist elsewhere, for their
//! libraries open them themselves: the tree walk (`discover/walk.rs`), the database file (`store/database.rs`) and the
//! system's events (`watch/source.rs`).
//!
//! Start with [`Files`].

mod clock;
mod command;
mod detached;
mod disk;
mod files;
mod git;
mod interrupt;
mod lock;
mod network;
mod processes;
mod usage;
mod web;

pub use clock::Clock;
pub use clock::WallClock;
pub use command::Commands;
pub use detached::detach_terminal;
pub use detached::disable_core_dumps;
pub use detached::is_alive;
pub use detached::kill_self;
pub use detached::redirect_output;
pub use detached::start_detached;
pub use detached::terminate;
pub use disk::Disk;
pub use disk::RealDisk;
pub use files::FileContent;
pub use files::FileKind;
pub use files::FileStat;
pub use files::Files;
pub use files::ReadError;
pub use files::RealFiles;
pub use git::run_git;
pub use interrupt::InterruptFlag;
pub use lock::FileLock;
pub use network::HttpLimits;
pub use network::HttpTransport;
pub use processes::ProcessOutput;
pub use processes::Processes;
pub use processes::RealProcesses;
pub use usage::ProcessUsage;
pub use usage::user_id;
pub use web::HttpClient;
