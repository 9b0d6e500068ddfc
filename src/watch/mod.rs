//! The system's events become settled sets of changes; says so when it lost track.
//!
//! Knows: inotify, folders, cookies. Does not know: which files count (it is told which folders to look at), what a
//! file is, who wants to know.
