//! Lists the files of a folder that count, and determines what each one is.
//!
//! Knows: git's list, the walk outside of git, names that hold secrets, text encodings, the table of file types.
//! Does not know: what a file's structure is, what is stored of it, where settings come from. It opens no file of
//! the project itself, ignore files excepted: bytes are handed in.
//!
//! Start with [`list()`]; then [`read_as_text`] and [`detect_file_type`] for a file that it found.

mod checkout;
mod dialect;
mod file_type;
mod file_types;
mod git_command;
mod git_files;
mod header_neighbors;
mod linked_worktree;
mod list;
mod listing;
mod rule_files;
mod shared_extensions;
#[cfg(test)]
mod testing;
mod text;
mod walk;
mod watched_folders;

pub use checkout::enclosing_checkout;
pub use file_type::{all_file_types, detect_file_type, file_type_by_id, is_header, unknown_type};
pub use git_command::run_git;
pub use header_neighbors::HeaderNeighbors;
pub use linked_worktree::{
    LinkedWorktree, are_of_one_repository, folder_name, has_linked_worktree, linked_worktree,
};
pub use list::{list, list_folder, list_linked};
pub use listing::{DiscoveredFile, Error, FileListing, KeptFolders, ListingSource, NameRules, Options};
pub use rule_files::rule_files;
pub use text::{DecodedText, content_facts, read_as_text};
pub use watched_folders::watchable_folders;
