//! Owners, permissions and identities of files, and opening files safely where other users may have replaced them.
//!
//! Knows: owners, modes, access lists and open flags. Does not know: what the files are for.

#[cfg(any(windows, test))]
mod access_list;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

#[cfg(windows)]
pub(super) use platform::stamp_of;
pub(super) use platform::{
    check_writable, holder_file, is_open_to_others, is_own_secret, open_without_links, open_without_waiting,
    private_temporary_file, private_temporary_folder, shared_temporary_file, stamp, temporary_file_like,
    write_holder, write_time,
};
pub use platform::{
    create_private_folder, device_id, file_identity, is_other_users, is_own, is_private_file,
    open_file_identity, open_folder_lock, private_file_options, program_in, user_tag,
};
