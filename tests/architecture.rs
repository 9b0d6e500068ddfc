//! The import rules as data: a room may import only the rooms on its line. ARCHITECTURE.md shows the same table.
//!
//! A new room starts by a line in [`ROOMS`]. Inside a room no folder needs itself by way of others, and no more than
//! two files need each other. Imports and paths are read with `syn`, so that they may be written in any way.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test looks at real files and may stop"
)]

#[path = "architecture/graph.rs"]
mod graph;
#[path = "architecture/messages.rs"]
mod messages;
#[path = "architecture/source.rs"]
mod source;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::graph::RoomGraph;
use crate::source::Sources;

/// Room, its floor, and the rooms that it may import.
const ROOMS: &[(&str, u8, &[&str])] = &[
    ("model", 0, &[]),
    ("sys", 0, &["model"]),
    ("discover", 1, &["model", "sys"]),
    ("syntax", 1, &["model"]),
    ("summarize", 1, &["model"]),
    ("store", 1, &["model", "sys"]),
    ("aggregate", 1, &["model"]),
    ("render", 1, &["model"]),
    ("references", 1, &["model"]),
    ("slices", 1, &["model"]),
    ("sections", 1, &["model"]),
    ("search", 1, &["model"]),
    ("watch", 1, &["model", "sys"]),
    ("llm", 1, &["model"]),
    ("share", 1, &["model", "sys"]),
    (
        "engine",
        2,
        &[
            "model", "sys", "discover", "syntax", "summarize", "store", "aggregate", "slices", "sections",
            "render", "references", "search",
        ],
    ),
    ("agent", 3, &["model", "sys", "llm", "summarize", "store", "share", "engine"]),
    ("api", 3, &["model", "sys", "engine", "render"]),
    ("config", 4, &["model", "sys", "discover", "aggregate", "llm", "share", "engine", "agent"]),
    ("install", 4, &["model", "sys"]),
    ("ui", 4, &["model"]),
    ("service", 5, &["model", "sys", "llm", "share", "engine", "agent", "api", "config"]),
    ("daemon", 6, &["model", "sys", "watch", "engine", "agent", "api", "config", "ui", "service"]),
    ("cli", 7, &["model", "sys", "config", "install", "agent", "api", "render", "service", "daemon"]),
];

#[test]
fn every_room_imports_only_what_the_floor_plan_allows() {
    let sources = Sources::load(Path::new("src"));
    let mut wrong = BTreeSet::new();
    for file in &sources.files {
        let (Some(room), path) = (file.room(), file.path.display()) else { continue };
        let Some((_, _, allowed)) = ROOMS.iter().find(|(name, ..)| *name == room) else {
            wrong.insert(format!("{path}: the room `{room}` is not in the floor plan"));
            continue;
        };
        let references = file.references(true);
        let found = references.iter().filter_map(|named| Some((named.line, source::room_of(named)?)));
        // What documentation links to is held to the plan as well.
        let comments = file.text.lines().zip(1..).filter(|(line, _)| line.trim_start().starts_with("//"));
        let links = comments.flat_map(|(line, number)| imports(line).map(move |room| (number, room)));
        for (line, imported) in found.chain(links) {
            if imported != room && !allowed.contains(&imported) {
                wrong.insert(format!("{path}:{line}: `{room}` imports `{imported}`"));
            }
        }
    }
    let wrong = Vec::from_iter(wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_is_outside_of_the_tree_of_modules() {
    let loaded = Sources::load(Path::new("src"));
    let loaded: BTreeSet<PathBuf> =
        loaded.files.iter().map(|file| Path::new("src").join(&file.path)).collect();
    let found = sources(Path::new("src")).into_iter().filter(|file| !file.ends_with("main.rs"));
    assert_eq!(found.collect::<BTreeSet<_>>(), loaded);
}

#[test]
fn no_room_has_cycles_of_folders_or_of_more_than_two_files() {
    let rooms = graph::rooms(&Sources::load(Path::new("src")));
    let mut wrong = String::new();
    for (room, graph) in &rooms {
        if 2 < graph.largest_component() || !graph.folder_cycles().is_empty() {
            writeln!(wrong, "`{room}` has cycles:").unwrap();
            wrong.push_str(&cycles(graph));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Lists what a room's cycles are made of; the edges that need the fewest names, which are the easiest to cut, first.
fn cycles(graph: &RoomGraph) -> String {
    let mut text = String::new();
    for component in graph.components().into_iter().filter(|component| 2 < component.len()) {
        writeln!(text, "  {} files need each other:", component.len()).unwrap();
        let is_inside = |(from, to): &(PathBuf, PathBuf)| component.contains(from) && component.contains(to);
        let mut edges: Vec<_> = graph.edges.iter().filter(|(edge, _)| is_inside(edge)).collect();
        edges.sort_by_key(|(_, names)| names.len());
        for ((from, to), names) in edges {
            writeln!(
                text,
                "    {} -> {}: {}",
                from.display(),
                to.display(),
                names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
            )
            .unwrap();
        }
    }
    for cycle in graph.folder_cycles() {
        writeln!(text, "  in {} these need each other:", cycle.folder.display()).unwrap();
        for ((from, to), files) in &cycle.edges {
            let one = files.iter().map(|(from, to)| format!("{} -> {}", from.display(), to.display())).next();
            let one = one.unwrap_or_default();
            writeln!(text, "    {} -> {}: {one}, {} in all", from.display(), to.display(), files.len())
                .unwrap();
        }
    }
    text
}

/// The check itself is held to a crate whose cycles are known.
#[test]
fn a_name_is_found_in_the_file_that_defines_it_however_it_is_written() {
    let files = [
        ("lib.rs", "mod room; mod other;"),
        ("other/mod.rs", "pub struct Elsewhere;"),
        (
            "room/mod.rs",
            "mod a; mod b; mod c; mod deep; mod lonely; pub use a::{A, make}; pub use deep::Deep as Renamed;",
        ),
        (
            "room/a.rs",
            "use crate::{other::Elsewhere, room::b::{self, B}}; pub struct A(B); pub fn make() { b::go() } #[cfg(test)] mod tests { use super::super::lonely::L; }",
        ),
        ("room/b.rs", "pub struct B; pub fn go() { let _ = format!(\"{}\", super::c::C::new()); }"),
        ("room/c.rs", "use super::*; pub struct C; impl C { pub fn new() -> u8 { make(); 0 } }"),
        (
            "room/lonely.rs",
            "pub struct L; #[test] fn is_left_out() { crate::room::make() } fn f(_: crate::room::A) {}",
        ),
        ("room/deep/mod.rs", "mod one; pub use one::Deep;"),
        ("room/deep/one.rs", "pub struct Deep(crate::room::lonely::L); fn g() { use super::super::A; }"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let sources = Sources::load(folder.path());
    let graph = &graph::rooms(&sources)["room"];
    let edges: Vec<String> = graph
        .edges
        .iter()
        .map(|((from, to), names)| {
            let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
            format!("{} -> {}: {names}", from.display(), to.display())
        })
        .collect();
    let expected = [
        "room/a.rs -> room/b.rs: B go",
        "room/b.rs -> room/c.rs: C",
        "room/c.rs -> room/a.rs: make",
        "room/deep/one.rs -> room/a.rs: A",
        "room/deep/one.rs -> room/lonely.rs: L",
        "room/lonely.rs -> room/a.rs: A",
    ];
    assert_eq!(edges, expected);
    assert_eq!(graph.largest_component(), 3);
    assert!(graph.folder_cycles().is_empty());

    fs::write(folder.path().join("room/a.rs"), "use super::{b::B, Renamed}; pub struct A; pub fn make() {}")
        .unwrap();
    let graph = &graph::rooms(&Sources::load(folder.path()))["room"];
    let cycle = &graph.folder_cycles()[0];
    let members: Vec<_> = cycle.members.iter().map(|member| member.to_str().unwrap()).collect();
    assert_eq!(members, ["room/a.rs", "room/b.rs", "room/c.rs", "room/deep", "room/lonely.rs"]);
}

#[test]
fn the_floor_plan_itself_points_only_downward() {
    for (room, floor, allowed) in ROOMS {
        for other in *allowed {
            let below = ROOMS.iter().find(|(name, ..)| name == other).map(|(_, floor, _)| *floor);
            // `sys` and `model` share floor 0.
            let is_on_floor_zero = *room == "sys" && *other == "model";
            assert!(below < Some(*floor) || is_on_floor_zero, "{room} on floor {floor} imports {other}");
        }
    }
}

#[test]
fn the_page_shows_this_floor_plan() {
    let page = fs::read_to_string("ARCHITECTURE.md").unwrap();
    let shown: Vec<_> = page.lines().filter_map(row).collect();
    let held: Vec<_> = ROOMS
        .iter()
        .map(|(room, floor, allowed)| {
            let allowed = allowed.iter().map(|name| (*name).to_owned()).collect();
            ((*room).to_owned(), *floor, allowed)
        })
        .collect();
    assert_eq!(shown, held);
}

#[test]
fn a_face_has_no_logic() {
    // What tests share is in their `mod.rs`, which is no room's face.
    let is_of_tests = |file: &Path| {
        file.parent().is_some_and(|folder| folder.ends_with("tests") || folder.ends_with("tree_tests"))
    };
    for file in
        sources(Path::new("src")).into_iter().filter(|file| file.ends_with("mod.rs") && !is_of_tests(file))
    {
        let text = fs::read_to_string(&file).unwrap();
        let items = syn::parse_file(&text).unwrap().items;
        let has_logic = items.iter().any(|item| matches!(item, syn::Item::Fn(_) | syn::Item::Impl(_)));
        assert!(!has_logic, "{} has functions", file.display());
        assert!(text.starts_with("//!"), "{} does not say what it is for", file.display());
    }
}

#[test]
fn sql_is_written_in_the_store_alone() {
    let words = ["SELECT ", "INSERT INTO", "DELETE FROM", "PRAGMA "];
    for file in sources(Path::new("src")) {
        let text = fs::read_to_string(&file).unwrap();
        let spoken = words.iter().any(|word| text.contains(word));
        assert!(!spoken || room_of(&file).as_deref() == Some("store"), "{} holds SQL", file.display());
    }
}

/// What one system alone has, and the files that may use it: where systems differ, a folder has a file for each, and
/// everything else works with what the folder offers.
const SYSTEMS: &[(&[&str], &[&str])] = &[
    (&["std::os::unix", "rustix::", "sd_notify::"], &["/unix.rs", "src/watch/inotify.rs"]),
    (&["std::os::windows", "windows_sys::", "winapi_util::"], &["/windows.rs", "src/sys/win32.rs"]),
    (&["std::os::fd", "std::os::linux", "std::os::macos"], &["/unix.rs"]),
    (&["unsafe {", "unsafe fn", "unsafe impl"], &["src/sys/win32.rs"]),
    // On Windows, paths without links have a form that few programs take: `dunce` gives the usual one.
    (&["fs::canonicalize(", ".canonicalize()"], &[]),
];

/// Files in which `cfg` may choose by the system.
const CHOOSE_BY_SYSTEM: &[&str] =
    &["/mod.rs", "/unix.rs", "/windows.rs", "src/watch/inotify.rs", "src/lib.rs"];

#[test]
fn what_one_system_has_is_used_where_the_system_is_met() {
    let is_choice = |line: &str| {
        let line = line.trim_start();
        (line.starts_with("#[cfg") || line.starts_with("#![cfg") || line.contains("cfg!("))
            && ["unix", "windows", "target_os"].iter().any(|system| line.contains(system))
    };
    let mut wrong = Vec::new();
    for file in sources(Path::new("src")) {
        let path = file.to_string_lossy();
        let is_test =
            ["tests.rs", "testing.rs"].iter().any(|end| path.ends_with(end)) || path.contains("tests/");
        if is_test {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let program = text.split("#[cfg(test)]\n").next().unwrap();
        let may = |files: &[&str]| files.iter().any(|end| path.ends_with(end));
        for (names, files) in SYSTEMS {
            let found = names.iter().find(|name| program.contains(**name));
            wrong.extend(found.filter(|_| !may(files)).map(|name| format!("{path}: {name}")));
        }
        let choice = program.lines().find(|line| is_choice(line)).filter(|_| !may(CHOOSE_BY_SYSTEM));
        wrong.extend(choice.map(|line| format!("{path}: {line}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_folder_that_chooses_by_the_system_has_a_file_for_each() {
    for file in sources(Path::new("src")).iter().filter(|file| file.ends_with("unix.rs")) {
        assert!(file.with_file_name("windows.rs").is_file(), "{} is alone", file.display());
    }
}

/// The pages that describe the source.
const PAGES: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md", "Cargo.toml", "docs/tour.md"];

#[test]
fn pages_and_comments_name_existing_source_files() {
    let files: Vec<PathBuf> = ["src", "tests"].iter().flat_map(|folder| sources(Path::new(folder))).collect();
    let exists = |name: &str| name == "build.rs" || files.iter().any(|file| file.ends_with(name));
    let has_extension = |name: &str| Path::new(name).extension().is_some_and(|extension| extension == "rs");
    // In capitals: a part that stands for many files, as in `languages/ID.rs`.
    let is_pattern =
        |name: &str| name.chars().any(|c| !(c.is_lowercase() || c.is_numeric() || "_-./".contains(c)));
    let mut missing = Vec::new();
    let mut check = |place: &Path, text: &str| {
        let quoted = text.split('`').skip(1).step_by(2);
        let names = quoted.filter(|name| has_extension(name) && !is_pattern(name));
        missing.extend(names.filter(|name| !exists(name)).map(|name| format!("{}: {name}", place.display())));
    };
    for page in PAGES.iter().map(Path::new) {
        fs::read_to_string(page).unwrap().lines().for_each(|line| check(page, line));
    }
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        text.lines().filter(|line| line.trim_start().starts_with("//")).for_each(|line| check(file, line));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn what_the_build_sets_is_no_setting() {
    // `cargo run` passes it on to the program, which would report each as an unknown setting.
    assert!(!fs::read_to_string("build.rs").unwrap().contains("rustc-env=SLOP_"));
}

/// Reads a row of the page's table: `| floor | `room` | task | `room`, `room` |`.
fn row(line: &str) -> Option<(String, u8, Vec<String>)> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let ["", floor, room, _task, allowed, ""] = cells[..] else { return None };
    let name = |cell: &str| Some(cell.trim().strip_prefix('`')?.strip_suffix('`')?.to_owned());
    Some((name(room)?, floor.parse().ok()?, allowed.split(',').filter_map(name).collect()))
}

fn imports(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

/// The room of `src/ROOM/FILE.rs`; none for `src/lib.rs` and `src/main.rs`.
fn room_of(file: &Path) -> Option<String> {
    let mut parts = file.strip_prefix("src").ok()?.components();
    let room = parts.next()?.as_os_str().to_str()?.to_owned();
    parts.next().map(|_| room)
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}
