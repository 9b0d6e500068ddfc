//! The web page that `slop ui` opens: its own files, built into the program.
//!
//! Knows: which files there are, and their types. Does not know: who serves them, and to whom. The page is HTML, CSS and
//! ES modules as they are in `page/`, without a build step, but for comments and indentation, which are left out when the
//! program starts; everything that it shows comes from the API.
//!
//! Start with `page/main.js`.

mod files;

pub use files::page_files;
