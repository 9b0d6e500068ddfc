//! Why a project's files could not be listed.

use std::io;

/// Why a project's files could not be listed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The project's folder cannot be read, or is none.
    #[error("look into the project's folder")]
    Root(#[source] io::Error),
    /// A glob of the settings is none.
    #[error("read the glob `{glob}`")]
    Glob {
        /// The glob as it was given.
        glob: String,
        /// What is wrong with it.
        source: globset::Error,
    },
    /// An ignore file in the project's folder can be no such thing: a FIFO, a device, a folder or a huge file.
    #[error("read the project's `{name}`, which is no regular file of a sane size")]
    IgnoreFile {
        /// Name of the ignore file.
        name: &'static str,
    },
}
