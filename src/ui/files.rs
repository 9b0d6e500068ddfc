//! The table of the page's files.

use std::borrow::Cow;

use crate::model::PageFile;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Declares a table of files of `page/` by their names and types.
macro_rules! declare_files {
    ($($name:literal: $content_type:ident,)*) => {
        const FILES: &[(&str, &str, &str)] = &[$(($name, $content_type, include_str!(concat!("page/", $name))),)*];
    };
}

declare_files! {
    "api.js": JAVASCRIPT,
    "bar.js": JAVASCRIPT,
    "batch.js": JAVASCRIPT,
    "budget.js": JAVASCRIPT,
    "cache.js": JAVASCRIPT,
    "curated.js": JAVASCRIPT,
    "daemon.js": JAVASCRIPT,
    "document.js": JAVASCRIPT,
    "dom.js": JAVASCRIPT,
    "door.js": JAVASCRIPT,
    "file_rows.js": JAVASCRIPT,
    "files.js": JAVASCRIPT,
    "find.js": JAVASCRIPT,
    "format.js": JAVASCRIPT,
    "help.js": JAVASCRIPT,
    "icon.svg": SVG,
    "index.html": HTML,
    "inspect.js": JAVASCRIPT,
    "keys.js": JAVASCRIPT,
    "main.js": JAVASCRIPT,
    "map.js": JAVASCRIPT,
    "menu.js": JAVASCRIPT,
    "page.js": JAVASCRIPT,
    "palette.js": JAVASCRIPT,
    "pick.js": JAVASCRIPT,
    "rows.js": JAVASCRIPT,
    "slices.js": JAVASCRIPT,
    "slop.css": CSS,
    "spending.js": JAVASCRIPT,
    "table.js": JAVASCRIPT,
    "takes.js": JAVASCRIPT,
    "task.js": JAVASCRIPT,
    "treemap.js": JAVASCRIPT,
}

/// Returns the files of the page, without the comments and the indentation that are for those who read the code.
/// `index.html` refers to others by relative addresses.
pub fn page_files() -> Vec<PageFile> {
    let file = |&(name, content_type, text)| {
        let text = match content_type {
            JAVASCRIPT => code_alone(text).into(),
            _ => Cow::Borrowed(text),
        };
        PageFile { name, content_type, text }
    };
    FILES.iter().map(file).collect()
}

/// Returns a module without comments that have lines of their own, and without indentation.
fn code_alone(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut is_comment = false;
    for line in text.lines().map(str::trim) {
        is_comment |= line.starts_with("/*");
        if !is_comment && !line.is_empty() && !line.starts_with("//") {
            code.push_str(line);
            code.push('\n');
        }
        is_comment &= !line.ends_with("*/");
    }
    code
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;

    use super::*;

    // FIXME: the aim is 120 KB, and 40 KB compressed.
    const MOST_BYTES: usize = 152 * 1024;
    const MOST_GZIPPED: usize = 54 * 1024;

    #[test]
    fn every_file_of_the_page_is_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ui/page");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        there.sort();
        assert_eq!(page_files().iter().map(|file| file.name).collect::<Vec<_>>(), there);
    }

    #[test]
    fn the_page_is_small() {
        let files = page_files();
        let bytes: usize = files.iter().map(|file| file.text.len()).sum();
        assert!(bytes <= MOST_BYTES, "{bytes} bytes");
        let gzipped = |file: &PageFile| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(file.text.as_bytes()).unwrap();
            encoder.finish().unwrap().len()
        };
        let gzipped: usize = files.iter().map(gzipped).sum();
        assert!(gzipped <= MOST_GZIPPED, "{gzipped} bytes compressed");
    }

    #[test]
    fn comments_and_indentation_are_left_out_and_nothing_else() {
        let text = "// What it is.\n\n/** Doc. @param {number} a */\nexport function f(a) {\n  /*\n   * Why.\n   */\n  return a; // twice\n}\n";
        assert_eq!(code_alone(text), "export function f(a) {\nreturn a; // twice\n}\n");
        for (name, _, text) in FILES.iter().filter(|(_, content_type, _)| *content_type == JAVASCRIPT) {
            for line in text.lines() {
                assert!(line.matches('`').count() % 2 == 0, "{name} has a text of several lines: {line}");
            }
        }
    }
}
