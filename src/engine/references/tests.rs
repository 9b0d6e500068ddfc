//! References of small projects on the disk.
