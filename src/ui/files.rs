//! The table of the page's files.

use super::bundle::{program, styles};
use crate::model::PageFile;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Declares a table of files in `page/`.
macro_rules! declare_files {
    ($table:ident: $($name:literal,)*) => {
        const $table: &[(&str, &str)] = &[$(($name, include_str!(concat!("page/", $name))),)*];
    };
}

declare_files! {
    MODULES:
    "api.js",
    "bar.js",
    "batch.js",
    "budget.js",
    "cache.js",
    "curated.js",
    "daemon.js",
    "document.js",
    "dom.js",
    "door.js",
    "download.js",
    "file_rows.js",
    "files.js",
    "find.js",
    "format.js",
    "help.js",
    "inspect.js",
    "keys.js",
    "main.js",
    "map.js",
    "menu.js",
    "page.js",
    "palette.js",
    "pane.js",
    "pick.js",
    "rows.js",
    "slices.js",
    "spending.js",
    "table.js",
    "takes.js",
    "task.js",
    "treemap.js",
}

/// The modules that a browser loads: the page, and its worker.
const PROGRAMS: [&str; 2] = ["main.js", "map.js"];

/// Returns the files of the page as they are served. `index.html` refers to others by relative URLs.
pub fn page_files() -> Vec<PageFile> {
    let mut files = vec![
        PageFile { name: "icon.svg", content_type: SVG, text: include_str!("page/icon.svg").into() },
        PageFile { name: "index.html", content_type: HTML, text: include_str!("page/index.html").into() },
        PageFile { name: "slop.css", content_type: CSS, text: styles(include_str!("page/slop.css")).into() },
    ];
    files.extend(PROGRAMS.map(|name| PageFile {
        name,
        content_type: JAVASCRIPT,
        text: program(MODULES, name).into(),
    }));
    files
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::Write;
    use std::path::Path;

    use rquickjs::{CatchResultExt, Context, Module, Runtime};

    use super::*;

    /// The size limit in the contract of the page.
    const MAX_BYTES: usize = 120 * 1024;
    const MAX_GZIPPED: usize = 40 * 1024;

    #[test]
    fn every_file_of_the_page_is_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ui/page");
        let there: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let modules = MODULES.iter().map(|(name, _)| (*name).to_owned());
        let others = page_files().into_iter().map(|file| file.name.to_owned());
        assert_eq!(modules.chain(others).collect::<BTreeSet<_>>(), there);
    }

    #[test]
    fn every_module_is_in_a_program_that_compiles() {
        let files = page_files();
        let context = Context::full(&Runtime::new().unwrap()).unwrap();
        for file in files.iter().filter(|file| file.content_type == JAVASCRIPT) {
            // Fails if two modules define the same name, or a required space was removed.
            context.with(|context| {
                let compiled = Module::declare(context.clone(), file.name, &*file.text);
                if let Err(error) = compiled.catch(&context) {
                    panic!("{}: {error}", file.name);
                }
            });
            assert!(!file.text.contains("import {") && !file.text.contains("\nexport"), "{}", file.name);
        }
        for (name, _) in MODULES.iter().filter(|(name, _)| !PROGRAMS.contains(name)) {
            let import = format!("from \"./{name}\"");
            assert!(MODULES.iter().any(|(_, text)| text.contains(&import)), "nothing imports {name}");
        }
    }

    #[test]
    fn no_string_of_a_module_spans_lines() {
        for (name, text) in MODULES {
            for line in text.lines() {
                assert!(line.matches('`').count() % 2 == 0, "{name}: {line}");
            }
        }
    }

    #[test]
    fn the_page_is_small() {
        let files = page_files();
        let bytes: usize = files.iter().map(|file| file.text.len()).sum();
        assert!(bytes <= MAX_BYTES, "{bytes} bytes");
        let gzipped = |file: &PageFile| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(file.text.as_bytes()).unwrap();
            encoder.finish().unwrap().len()
        };
        let gzipped: usize = files.iter().map(gzipped).sum();
        assert!(gzipped <= MAX_GZIPPED, "{gzipped} bytes compressed");
    }
}
