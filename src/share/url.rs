//! Where a team's cache is: `share.url`.

use std::fmt;
use std::path::PathBuf;

use reqwest::Url;

/// The schemes of `share.url`.
pub const SCHEMES: &str = "file:///FOLDER";

/// Where a team's cache is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShareUrl {
    /// A folder that all members of the team can reach.
    Folder(PathBuf),
}

/// Why a text is not the address of a team's cache. It does not repeat the text, which may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an address of the form {SCHEMES}")]
pub struct UrlError;

impl ShareUrl {
    /// Reads an address.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let url = Url::parse(text).map_err(|_| UrlError)?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(UrlError);
        }
        match url.scheme() {
            "file" => {
                let folder = url.to_file_path().map_err(|()| UrlError)?;
                // The whole machine is no cache.
                if folder.parent().is_some() { Ok(Self::Folder(folder)) } else { Err(UrlError) }
            }
            _ => Err(UrlError),
        }
    }
}

impl fmt::Display for ShareUrl {
    /// Writes the address without anything that is secret in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "file://{}", folder.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_folder() {
        let folder = |text: &str| ShareUrl::parse(text).map(|url| url.to_string());
        assert_eq!(folder("file:///srv/team%20a").as_deref(), Ok("file:///srv/team a"));
        for wrong in ["", "/srv", "file:///", "file://host/x", "http://host/x", "file:///x?y", "redis//x"] {
            assert_eq!(folder(wrong), Err(UrlError), "{wrong}");
        }
    }
}
