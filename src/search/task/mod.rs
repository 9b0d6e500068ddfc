//! Parses the text of a task: terms with weights, and the paths, names, lines and messages that it mentions.
//!
//! The text is prose with Markdown, source code and logs in it, such as an issue or a commit message. All results keep
//! their byte ranges, including ignored parts, so that they can be reported. The time is linear in the text.
//!
//! Start with [`read_task`]. Each file imports only those before it: `boilerplate`, `markup`, `mentions`, `quotes`,
//! `reading`.

mod boilerplate;
mod markup;
mod mentions;
mod quotes;
mod reading;
#[cfg(test)]
mod tests;

pub use markup::{IgnoredText, IgnoredTextReason};
pub use mentions::{MentionedPath, MentionedPathKind};
pub use reading::{Error, TaskReading, read_task};
