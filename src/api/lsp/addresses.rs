//! Converts between paths and addresses of files (`file:///…`).

use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use crate::api::wire::encode_uri_path;
use crate::model::{address_as_path, address_bytes};

/// The client's spelling of the project's paths.
#[derive(Debug, Clone, Default)]
pub(super) struct Addresses {
    /// The folder that the client has opened, as the client spells it and without links, if these differ.
    pub(super) opened: Option<(PathBuf, PathBuf)>,
}

impl Addresses {
    /// Returns the absolute path of an address, with links above the opened folder resolved; `None` if it is not a
    /// file's.
    pub(super) fn path(&self, uri: &str) -> Option<PathBuf> {
        let path = parse(uri)?;
        let inside = self.opened.as_ref().and_then(|(spelled, real)| {
            let inside = path.strip_prefix(spelled).ok()?;
            Some(if inside.as_os_str().is_empty() { real.clone() } else { real.join(inside) })
        });
        Some(inside.unwrap_or(path))
    }

    /// Returns the address of an absolute path, as the client spells it.
    pub(super) fn uri(&self, path: &Path) -> String {
        let spelled = self.opened.as_ref().and_then(|(spelled, real)| {
            let inside = path.strip_prefix(real).ok()?;
            Some(spelled.join(inside))
        });
        let path = spelled.as_deref().unwrap_or(path);
        format!("file://{}", encode_uri_path(&address_bytes(path)))
    }
}

/// Returns the absolute path of an address; `None` if it is not that of a local file.
pub(super) fn parse(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once(':')?;
    // The host may be left out, as in `file:/a`.
    let rest = rest.strip_prefix("//").or_else(|| rest.starts_with('/').then_some(rest))?;
    let path = &rest[rest.find('/')?..];
    let host = &rest[..rest.len() - path.len()];
    if !scheme.eq_ignore_ascii_case("file") || !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
        return None;
    }
    let path = path.split(['?', '#']).next()?;
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    let is_plain = !bytes.contains(&0) && !bytes.split(|byte| *byte == b'/').any(|part| part == b"..");
    is_plain.then(|| address_as_path(&bytes).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_files_have_paths() {
        let path = |uri| parse(uri).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(path("file:///a%20b/%C3%BC%25.rs").as_deref(), Some("/a b/ü%.rs"));
        assert_eq!(path("FILE://localhost/a").as_deref(), Some("/a"));
        assert_eq!(path("file:/a").as_deref(), Some("/a"));
        for uri in [
            "untitled:Untitled-1",
            "git:///a",
            "file://host/a",
            "file:a",
            "file:///a/../b",
            "file:///a%00",
            "/a",
            "",
        ] {
            assert_eq!(path(uri), None, "{uri}");
        }
    }

    #[test]
    fn a_file_below_a_link_keeps_the_clients_address() {
        let addresses = Addresses { opened: Some((PathBuf::from("/link"), PathBuf::from("/real/p"))) };
        assert_eq!(addresses.path("file:///link/a.py"), Some(PathBuf::from("/real/p/a.py")));
        assert_eq!(addresses.uri(Path::new("/real/p/[a] b.py")), "file:///link/%5Ba%5D%20b.py");
        assert_eq!(addresses.path("file:///elsewhere"), Some(PathBuf::from("/elsewhere")));
        assert_eq!(addresses.uri(Path::new("/real/other")), "file:///real/other");
    }
}
