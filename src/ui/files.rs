//! The table of the page's files.

use crate::model::PageFile;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Declares a table of files of `page/` by their names and types.
macro_rules! page_files {
    ($($name:literal: $content_type:ident,)*) => {
        /// The files of the page. `index.html` refers to others by relative addresses.
        pub const PAGE_FILES: &[PageFile] = &[$(PageFile {
            name: $name,
            content_type: $content_type,
            text: include_str!(concat!("page/", $name)),
        },)*];
    };
}

page_files! {
    "api.js": JAVASCRIPT,
    "bar.js": JAVASCRIPT,
    "budget.js": JAVASCRIPT,
    "cache.js": JAVASCRIPT,
    "daemon.js": JAVASCRIPT,
    "document.js": JAVASCRIPT,
    "dom.js": JAVASCRIPT,
    "door.js": JAVASCRIPT,
    "file_rows.js": JAVASCRIPT,
    "files.js": JAVASCRIPT,
    "find.js": JAVASCRIPT,
    "format.js": JAVASCRIPT,
    "help.js": JAVASCRIPT,
    "history.js": JAVASCRIPT,
    "icon.svg": SVG,
    "index.html": HTML,
    "inspect.js": JAVASCRIPT,
    "keys.js": JAVASCRIPT,
    "main.js": JAVASCRIPT,
    "map.js": JAVASCRIPT,
    "menu.js": JAVASCRIPT,
    "palette.js": JAVASCRIPT,
    "pick.js": JAVASCRIPT,
    "rows.js": JAVASCRIPT,
    "slices.js": JAVASCRIPT,
    "slop.css": CSS,
    "table.js": JAVASCRIPT,
    "treemap.js": JAVASCRIPT,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_page_is_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ui/page");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        there.sort();
        assert_eq!(PAGE_FILES.iter().map(|file| file.name).collect::<Vec<_>>(), there);
    }
}
