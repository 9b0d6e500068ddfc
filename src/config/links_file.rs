//! The user's own file of links: which folder is linked to which project, and by whom.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::{Error, SettingOrigin};
use super::section::line_at;

/// The value of `consent` for a link that the user added.
pub(super) const BY_USER: &str = "user";

/// A link in the user's own file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The project's folder, an absolute path without links.
    pub project: String,
    pub name: String,
    /// The name of a kind of resource.
    pub kind: String,
    /// The linked folder, an absolute path without links.
    pub path: String,
    pub dev: u64,
    pub ino: u64,
    /// When it was added, in seconds since the epoch.
    pub added_at: i64,
    /// `user`, or the digest of the proposal that the user consented to.
    pub consent: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinksFile {
    #[serde(default)]
    link: Vec<Link>,
}

/// Reads the file of links.
pub(super) fn read_links(path: &Path, bytes: &[u8]) -> Result<Vec<Link>, Error> {
    let line =
        |offset: usize| SettingOrigin::UserFile { path: path.to_owned(), line: line_at(bytes, offset) };
    let text = std::str::from_utf8(bytes)
        .map_err(|source| Error::NotUtf8 { origin: line(source.valid_up_to()), source })?;
    let file: LinksFile = toml::from_str(text).map_err(|error| Error::Syntax {
        origin: line(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    Ok(file.link)
}

/// Returns the text of a file of links.
pub fn links_text(links: Vec<Link>) -> Option<String> {
    const HEAD: &str = "# Folders that are linked to projects. Written by `slop link`.\n\n";
    Some(format!("{HEAD}{}", toml::to_string(&LinksFile { link: links }).ok()?))
}
