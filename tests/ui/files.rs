//! What the page's files have to agree on, and how long they may be.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const MOST_LINES: usize = 300;

/// Returns the names and texts of the page's files.
pub(crate) fn page_files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ui/page");
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// Returns the texts between two marks.
fn between<'t>(text: &'t str, start: &'t str, end: char) -> impl Iterator<Item = &'t str> {
    text.split(start).skip(1).filter_map(move |rest| rest.split_once(end).map(|(found, _)| found))
}

#[test]
fn no_module_is_long() {
    for (name, text) in page_files() {
        assert!(text.lines().count() <= MOST_LINES, "{name} has more than {MOST_LINES} lines");
    }
}

#[test]
fn text_gets_into_the_page_as_text_only() {
    let refused = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "DOMParser",
        "eval(",
        "new Function",
        "setAttribute(\"style\"",
        "javascript:",
        "document.cookie",
        "localStorage.setItem(\"token\"",
    ];
    for (name, text) in page_files() {
        for part in refused {
            assert!(!text.contains(part), "{name} has {part}");
        }
    }
    let (_, html) = page_files().into_iter().find(|(name, _)| name == "index.html").unwrap();
    let has_handler = html.split_whitespace().any(|word| word.starts_with("on") && word.contains('='));
    assert!(!has_handler && !html.contains("style=") && !html.contains("<style"), "{html}");
    assert!(!html.contains("<script>"), "{html}");
}

#[test]
fn ids_and_modules_that_are_named_exist() {
    let files = page_files();
    let html = &files.iter().find(|(name, _)| name == "index.html").unwrap().1;
    let ids: BTreeSet<&str> = between(html, "id=\"", '"').collect();
    let used: BTreeSet<&str> = files.iter().flat_map(|(_, text)| between(text, "byId(\"", '"')).collect();
    assert!(used.is_subset(&ids), "not in index.html: {:?}", used.difference(&ids));
    let modules: BTreeSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    for (name, text) in &files {
        for imported in between(text, "from \"./", '"') {
            assert!(modules.contains(imported), "{name} imports {imported}");
        }
    }
}

#[test]
fn routes_that_are_named_are_in_the_description_of_the_api() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let described = fs::read_to_string(folder.join("docs/openapi.json")).unwrap();
    let mut found = 0;
    for (name, text) in page_files() {
        for quote in ['"', '`'] {
            for route in between(&text, &format!("{quote}/v1/"), quote).filter(|route| !route.contains("${"))
            {
                found += 1;
                assert!(described.contains(&format!("\"/v1/{route}\"")), "{name} asks /v1/{route}");
            }
        }
    }
    assert!(10 < found, "{found} routes");
}
