//! Lists the relevant files of a folder, and determines the type of each.
//!
//! Knows: git's list, the walk outside of git, names of files with secrets, text encodings, the table of file types.
//! Does not know: the structure of files, what is stored about them, where settings come from. It opens no file of the
//! project except ignore files; bytes are passed in.
//!
//! Start with [`list()`]; then read [`read_as_text`] and [`detect_file_type`] for a single file.

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
