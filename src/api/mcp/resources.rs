//! Files as resources: `slop://view/full/src/a.py` is the text of `src/a.py`, and other modes are other views of it.

use percent_encoding::percent_decode_str;
use rmcp::model::{ListResourcesResult, Resource, ResourceContents, ResourceTemplate};

use super::structured::page_of_files;
use super::{hydration, kept};
use crate::api::choices::ModeName;
use crate::api::queries::ViewQuery;
use crate::api::wire::{FileState, FileStates, FileView, encode_uri_path, spelled_path};
use crate::model::{RelPath, path_text};

/// The most resources that are listed in one answer.
const MAX_RESOURCES: usize = 200;

const PREFIX: &str = "slop://view/";

/// The views that only need a path.
const MODES: [(&str, ModeName); 7] = [
    ("full", ModeName::Full),
    ("skeleton", ModeName::Skeleton),
    ("outline", ModeName::Outline),
    ("summary", ModeName::Summary),
    ("diff", ModeName::Diff),
    ("ast_signatures", ModeName::AstSignatures),
    ("ast_definitions", ModeName::AstDefinitions),
];

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let modes: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
    let view = ResourceTemplate::new(format!("{PREFIX}{{mode}}/{{+path}}"), "view")
        .with_title("A view of a file")
        .with_description(format!(
            "A file of the project, by its path from the root. mode is one of {}.",
            modes.join(", "),
        ));
    let part = ResourceTemplate::new(kept::TEMPLATE, "answer")
        .with_title("A part of a long answer")
        .with_description(
            "Parts are counted from 1, and kept until many others are. Answers name their ids.",
        );
    let [hydrated, fragments, simulate] = hydration::templates();
    vec![view, part, hydrated, fragments, simulate]
}

/// Returns a page of the files that can be shown: those after the path `cursor`.
pub(super) fn list(states: FileStates, cursor: Option<&str>) -> ListResourcesResult {
    let FileStates { mut files, .. } = states;
    files.retain(|file| file.state != "left_out");
    let (files, next_cursor) = page_of_files(files, cursor, MAX_RESOURCES);
    let mut page = ListResourcesResult::with_all_items(files.iter().map(resource).collect());
    page.next_cursor = next_cursor;
    page
}

fn resource(file: &FileState) -> Resource {
    let address = format!("{PREFIX}full/{}", encode_uri_path(file.path.as_bytes()));
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    Resource::new(address, name).with_title(&file.path).with_mime_type(mime_type(file.language.as_deref()))
}

/// Returns the media type of a file's text. There are no standard types for source code.
fn mime_type(language: Option<&str>) -> &'static str {
    match language {
        Some("markdown") => "text/markdown",
        Some("json") => "application/json",
        Some("html") => "text/html",
        Some("css") => "text/css",
        Some("csv") => "text/csv",
        _ => "text/plain",
    }
}

/// Returns the path in an address, and the question for it; `None` if it is not the address of a resource.
pub(super) fn parse_address(address: &str) -> Option<(String, ViewQuery)> {
    let (mode, path) = address.strip_prefix(PREFIX)?.split_once('/')?;
    let (_, mode) = MODES.iter().find(|(name, _)| *name == mode)?;
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    // A resource is one file below the root, so patterns and `..` are rejected.
    RelPath::new(&bytes).ok()?;
    let path = path_text(&bytes);
    let query = ViewQuery { files: vec![path.clone()], mode: Some(*mode), ..ViewQuery::default() };
    Some((path, query))
}

/// Returns the view of the file; `None` if the answer does not contain it because the path is a folder or a pattern.
pub(super) fn contents(views: Vec<FileView>, path: &str, address: &str) -> Option<ResourceContents> {
    let view = views.into_iter().find(|view| spelled_path(&view.path, view.path_hex.as_deref()) == path)?;
    let mime_type = if view.view == "full" { mime_type(Some(&view.language)) } else { "text/plain" };
    Some(ResourceContents::text(view.text, address).with_mime_type(mime_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_refer_to_single_files_below_the_root() {
        let path = |address| parse_address(address).map(|(path, _)| path);
        assert_eq!(path("slop://view/full/src/a.py").as_deref(), Some("src/a.py"));
        assert_eq!(path("slop://view/summary/a%20b/%C3%BC%25.md").as_deref(), Some("a b/ü%.md"));
        assert_eq!(path("slop://view/full/%FF.py").as_deref(), Some("\\xff.py"));
        assert_eq!(path("slop://view/full/%5Cxff.py").as_deref(), Some("\\xff.py"));
        for address in [
            "slop://view/full/",
            "slop://view/full",
            "slop://view/window/a.py",
            "slop://other/full/a.py",
            "file:///etc/passwd",
            "slop://view/full//etc/passwd",
            "slop://view/full/../a.py",
            "slop://view/full/%2e%2e/a.py",
            "slop://view/full/a%00.py",
            "",
        ] {
            assert_eq!(path(address), None, "{address}");
        }
    }

    #[test]
    fn every_path_round_trips_through_its_address() {
        for path in ["a b.py", "ü/ö.md", "100%.txt", "a?b#c", "[id].tsx", "a\nb", "a%20b"] {
            let address = format!("{PREFIX}full/{}", encode_uri_path(path.as_bytes()));
            assert!(address.is_ascii() && !address.contains([' ', '?', '#', '\n']), "{address}");
            assert_eq!(parse_address(&address).map(|(path, _)| path).as_deref(), Some(path));
        }
    }
}
