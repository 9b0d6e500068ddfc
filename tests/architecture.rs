//! The floor plan as data: a room may import only what its line says, and nothing else. ARCHITECTURE.md shows it.
//!
//! A new room starts by a line in [`ROOMS`]. For the sake of this test each import is a line of its own
//! (`use crate::room::Item;`), never `crate::{…}`.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test looks at real files and may stop"
)]

use std::fs;
use std::path::Path;
use std::path::PathBuf;

/// Room, its floor, and the rooms that it may import.
const ROOMS: &[(&str, u8, &[&str])] = &[
    ("model", 0, &[]),
    ("sys", 0, &["model"]),
    ("discover", 1, &["model", "sys"]),
    ("syntax", 1, &["model"]),
    ("summarize", 1, &["model"]),
    ("store", 1, &["model"]),
    ("aggregate", 1, &["model"]),
    ("render", 1, &["model"]),
    ("slices", 1, &["model"]),
    ("sections", 1, &["model"]),
    ("watch", 1, &["model", "sys"]),
    ("llm", 1, &["model"]),
    (
        "engine",
        2,
        &[
            "model",
            "sys",
            "discover",
            "syntax",
            "summarize",
            "store",
            "aggregate",
            "slices",
            "sections",
            "render",
        ],
    ),
    ("agent", 3, &["model", "sys", "llm", "summarize", "store", "engine"]),
    ("api", 3, &["model", "engine", "render"]),
    ("config", 4, &["model", "sys", "discover", "aggregate", "llm", "engine", "agent"]),
    ("service", 5, &["model", "sys", "llm", "engine", "agent", "api", "config"]),
    ("daemon", 6, &["model", "sys", "watch", "engine", "agent", "api", "config", "service"]),
    ("cli", 7, &["model", "sys", "config", "agent", "api", "render", "service", "daemon"]),
];

#[test]
fn every_room_imports_only_what_the_floor_plan_allows() {
    let mut wrong = Vec::new();
    for file in sources(Path::new("src")) {
        let Some(room) = room_of(&file) else { continue };
        let Some((_, _, allowed)) = ROOMS.iter().find(|(name, ..)| *name == room) else {
            wrong.push(format!("{}: the room `{room}` is not in the floor plan", file.display()));
            continue;
        };
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            for imported in imports(line) {
                if imported != room && !allowed.contains(&imported) {
                    wrong.push(format!("{}:{}: `{room}` imports `{imported}`", file.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_floor_plan_itself_points_only_downward() {
    for (room, floor, allowed) in ROOMS {
        for other in *allowed {
            let below = ROOMS.iter().find(|(name, ..)| name == other).map(|(_, floor, _)| *floor);
            // Two pairs share a floor by the house page: `sys` stands on `model`, and `config` beside `api`.
            let stands_on_model = *room == "sys" && *other == "model";
            assert!(below < Some(*floor) || stands_on_model, "{room} on floor {floor} imports {other}");
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
    // What tests share stands in their `mod.rs`, which is nobody's face.
    let is_of_tests = |file: &Path| {
        file.parent().is_some_and(|folder| folder.ends_with("tests") || folder.ends_with("tree_tests"))
    };
    for file in
        sources(Path::new("src")).into_iter().filter(|file| file.ends_with("mod.rs") && !is_of_tests(file))
    {
        let text = fs::read_to_string(&file).unwrap();
        for line in text.lines() {
            assert!(!line.trim_start().starts_with("fn "), "{}: {line}", file.display());
        }
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

/// The room of `src/room/file.rs`; none for `src/lib.rs` and `src/main.rs`.
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
