//! Tests of the page's own files without a browser: the modules that touch no document, run by an embedded JavaScript
//! engine; the colors; and what files have to agree on.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test looks at real files and may stop"
)]

mod colors;
mod files;
mod modules;
