//! The files of the web page, as they are built into the program.

/// A file of the web page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageFile {
    /// The name that other files of the page refer to it by.
    pub name: &'static str,
    pub content_type: &'static str,
    pub text: &'static str,
}
