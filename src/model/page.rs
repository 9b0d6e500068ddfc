//! The files of the web page, as built into the program.

use std::borrow::Cow;

/// A file of the web page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFile {
    /// The name that other files of the page refer to it by.
    pub name: &'static str,
    pub content_type: &'static str,
    pub text: Cow<'static, str>,
}
