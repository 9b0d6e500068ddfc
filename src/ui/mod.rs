//! The web page that `slop ui` opens: its files, built into the program.
//!
//! Knows: the files, their types, and how they are served. Does not know: who serves them, and to whom. The page
//! consists of the HTML, CSS and ES modules in `page/`, without a build step: when the program starts, modules are
//! joined, and comments and spaces are removed. All data on the page comes from the API.
//!
//! Start with `page/main.js`; `files` is the table of files, `sent` makes them smaller.

mod bundle;
mod files;

pub use files::page_files;
