//! Which files of a folder count, and what each one is.
//!
//! Knows: git's list, the walk outside of git, names that hold secrets, text encodings, the table of file types.
//! Does not know: what a file's structure is, what is stored of it, where settings come from. It opens no file of
//! the project itself, ignore files excepted: bytes are handed in.
//!
//! Start with [`list()`]; then [`read_as_text`] and [`file_type_of`] for a file that it found.

mod dialect;
mod error;
mod exclude;
mod file_type;
mod file_types;
mod folders;
mod git;
mod list;
mod neighbors;
mod rules;
mod shebang;
#[cfg(test)]
mod testing;
mod text;
mod walk;

pub use error::Error;
pub use exclude::NameRules;
pub use exclude::Options;
pub use file_type::all_file_types;
pub use file_type::detect_file_type;
pub use file_type::file_type_by_id;
pub use file_type::is_header;
pub use file_type::unknown_type;
pub use folders::watchable_folders;
pub use list::DiscoveredFile;
pub use list::FileListing;
pub use list::ListingSource;
pub use list::list;
pub use neighbors::HeaderNeighbors;
pub use rules::rule_files;
pub use text::DecodedText;
pub use text::content_facts;
pub use text::read_as_text;
