//! The web page that `slop ui` opens: its own files, built into the program.
//!
//! Knows: which files there are, their types, and what of them is sent. Does not know: who serves them, and to whom. The page
//! is HTML, CSS and ES modules as they are in `page/`, without a build step: modules are joined, and comments and spaces are
//! left out, when the program starts. Everything that the page shows comes from the API.
//!
//! Start with `page/main.js`; `files` is the table of files, `sent` makes them smaller.

mod files;
mod sent;

pub use files::page_files;
