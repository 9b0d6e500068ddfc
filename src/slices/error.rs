//! Why no slice can be made.

/// Why no slice can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There are no such lines.
    #[error("lines {start_line}-{end_line} are wanted, and it has {lines}")]
    NoSuchLines {
        /// The first line that was asked for.
        start_line: u32,
        /// The last line that was asked for.
        end_line: u32,
        /// How many there are.
        lines: u32,
    },
}
