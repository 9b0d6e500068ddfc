//! Several edits at once.

use super::*;
use crate::config::load::revision_of;
use crate::engine::CoveringEntry;
use crate::model::{DocumentDefaults, Tier};

fn file(path: &str) -> CoveringEntry {
    CoveringEntry { path: path.to_owned(), folder: None }
}

fn folder(path: &str) -> CoveringEntry {
    CoveringEntry { path: format!("{path}/**"), folder: Some(path.to_owned()) }
}

fn set(entries: &[CoveringEntry], settings: &[ItemSetting], unset: &[&'static str]) -> CurationEdit {
    let (settings, unset) = (settings.to_vec(), unset.to_vec());
    CurationEdit::SetKeys { entries: entries.to_vec(), settings, unset }
}

fn screenshots(add: &[&str], remove: &[&str], order: &[&str]) -> CurationEdit {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    CurationEdit::Screenshots(ScreenshotChange {
        add: texts(add),
        remove: texts(remove),
        order: texts(order),
    })
}

fn edit(disk: &MemoryFiles, edits: &[CurationEdit]) -> Result<EditOutcome, Error> {
    let revision = revision_of(disk.project.lock().unwrap().as_deref().unwrap_or_default());
    edit_curation(disk, Path::new(PROJECT), &revision, edits, false)
}

#[track_caller]
fn check_edits(before: &str, edits: &[CurationEdit], written: usize, after: &Expect) {
    let disk = MemoryFiles::new(before);
    let outcome = edit(&disk, edits).unwrap();
    assert_eq!(
        outcome,
        EditOutcome { revision: revision_of(disk.text().as_bytes()), entries_written: written }
    );
    after.assert_eq(&disk.text());
}

#[test]
fn an_entry_for_a_folder_changes_the_entries_in_it() {
    check_edits(
        "# Head.\n[[files]]\npath = 'src/net/tcp.c' # mine\nforce_full = true\n\n[[files]]\npath = 'src-old/a.c'\nforce_full = true\n",
        &[set(&[folder("src"), file("README.md")], &[ItemSetting::Signatures(true)], &["force_full"])],
        3,
        &expect![[r#"
            # Head.
            [[files]]
            path = 'src/net/tcp.c' # mine
            ast_signatures = true

            [[files]]
            path = 'src-old/a.c'
            force_full = true

            [[files]]
            path = "src/**"
            ast_signatures = true

            [[files]]
            path = "README.md"
            ast_signatures = true
        "#]],
    );
    // The folder itself already has an entry, in a different spelling; entries that become empty are removed.
    check_edits(
        "files = [{ path = 'src', tier = 3 }, { path = 'src/a.c', tier = 3, selected = true }]\n",
        &[
            set(&[folder("src")], &[], &["tier"]),
            set(&[folder("lib")], &[ItemSetting::Tier(Tier::Worker)], &[]),
        ],
        3,
        &expect![[r#"
            files = [ { path = 'src/a.c', selected = true }, { path = "lib/**", tier = 3 }]
        "#]],
    );
}

#[test]
fn either_all_edits_are_made_or_none() {
    let disk = MemoryFiles::new("[[files]]\npath = 'a.c'\n");
    let before = disk.text();
    let edits = [
        set(&[file("b.c")], &[ItemSetting::ForceFull(true)], &[]),
        CurationEdit::RemoveSlice { path: "a.c".to_owned(), index: 0 },
    ];
    let error = edit(&disk, &edits).unwrap_err();
    assert_eq!(error.to_string(), "`a.c` has no slice 0");
    assert_eq!((disk.text(), disk.writes()), (before.clone(), 0));

    let trial = edit_curation(&disk, Path::new(PROJECT), &revision_of(before.as_bytes()), &edits[..1], true);
    let trial = trial.unwrap();
    assert_eq!((trial.entries_written, trial.revision), (1, revision_of(before.as_bytes())));
    let moved = edit_curation(&disk, Path::new(PROJECT), &revision_of(b"other"), &edits[..1], false);
    assert!(matches!(moved, Err(Error::Moved { .. })), "{moved:?}");
    assert_eq!((disk.text(), disk.writes()), (before, 0));
}

#[test]
fn slices_and_masks_are_changed_in_place() {
    let lines = Slice { start_line: 7, end_line: 9, ..slice(7, 9) };
    let change = |index, lines: Option<&Slice>, tag: Option<&str>| CurationEdit::ChangeSlice {
        path: "a.c".to_owned(),
        index,
        change: SliceChange { lines: lines.cloned(), tag: tag.map(str::to_owned), comment: None },
    };
    let mask = |set: &[(&str, MaskMode)], unset: &[&str]| CurationEdit::Mask {
        path: "a.c".to_owned(),
        set: set.iter().map(|(name, mode)| ((*name).to_owned(), *mode)).collect(),
        unset: unset.iter().map(|name| (*name).to_owned()).collect(),
    };
    check_edits(
        "[[files]]\npath = 'a.c'\nast_mask = { f = 'sig', g = 'def' }\n\n# One.\n[[files.custom_slices]]\nstart_line = 1 # here\nend_line = 2\ntag = 't'\ncopies = 2\nx = 1\n\n[[files.custom_slices]]\nstart_line = 3\nend_line = 4\n",
        &[
            change(0, Some(&lines), None),
            change(1, None, Some("u")),
            change(0, None, Some("")),
            mask(&[("h", MaskMode::Hide)], &["f"]),
        ],
        4,
        &expect![[r#"
            [[files]]
            path = 'a.c'
            ast_mask = { g = 'def', h = "hide" }

            # One.
            [[files.custom_slices]]
            start_line = 7 # here
            end_line = 9
            x = 1

            [[files.custom_slices]]
            start_line = 3
            end_line = 4
            tag = "u"
        "#]],
    );
    let inline = "files = [{ path = 'a.c', custom_slices = [{ start_line = 1, end_line = 2 }, { start_line = 3, end_line = 4 }] }]\n";
    let remove = CurationEdit::RemoveSlice { path: "a.c".to_owned(), index: 0 };
    check_edits(
        inline,
        &[remove, change(0, None, Some("u"))],
        2,
        &expect![[r#"
            files = [{ path = 'a.c', custom_slices = [ { start_line = 3, end_line = 4, tag = "u" }] }]
        "#]],
    );
}

#[test]
fn screenshots_are_added_removed_and_reordered() {
    check_edits(
        "screenshots = [\n    'a.png', # first\n    'b.png',\n]\n",
        &[screenshots(&["c.png", "a.png"], &["b.png"], &["c.png"])],
        1,
        &expect![[r#"
            screenshots = [
                "c.png", # first
                "a.png",
            ]
        "#]],
    );
    let disk = MemoryFiles::new("[project]\nname = 'x'\n");
    edit(&disk, &[screenshots(&["a.png"], &[], &[])]).unwrap();
    assert_eq!(disk.load().curation.screenshots, ["a.png"]);
    edit(&disk, &[screenshots(&[], &["a.png"], &[])]).unwrap();
    assert_eq!(disk.text(), "[project]\nname = 'x'\n");
    assert!(edit(&disk, &[screenshots(&[], &["a.png"], &[])]).is_err());
}

#[test]
fn the_document_table_is_created_changed_and_removed() {
    let document =
        |to: DocumentDefaults, unset: &[&'static str]| CurationEdit::Document { to, unset: unset.to_vec() };
    let worker = DocumentDefaults {
        tier: Some(Tier::Worker),
        focus: vec!["src/a.c".to_owned()],
        budget_tokens: Some(9000),
        ..DocumentDefaults::default()
    };
    check_edits(
        "[project]\nname = 'x'\n\n# The end.\n",
        &[document(worker.clone(), &[])],
        1,
        &expect![[r#"
            [project]
            name = 'x'

            # The end.

            [document]
            tier = 3
            focus = ["src/a.c"]
            budget_tokens = 9000
        "#]],
    );
    let persona = DocumentDefaults { persona: Some("p".to_owned()), ..DocumentDefaults::default() };
    check_edits(
        "[document]\ntier = 3 # now\nfocus = ['b'] # mine\n",
        &[document(DocumentDefaults { tier: None, ..worker }, &["budget_tokens"]), document(persona, &[])],
        2,
        &expect![[r#"
            [document]
            focus = ["src/a.c"] # mine
            budget_tokens = 9000
            persona = "p"
        "#]],
    );
    let all = ["tier", "focus"];
    let disk = MemoryFiles::new("# Kept.\n\n[document]\ntier = 3\nfocus = ['b']\n");
    edit(&disk, &[document(DocumentDefaults::default(), &all)]).unwrap();
    assert_eq!(disk.text(), "# Kept.\n");
}

#[test]
fn a_file_that_becomes_empty_is_removed() {
    let disk = MemoryFiles::default();
    edit(&disk, &[set(&[file("a.c")], &[ItemSetting::ForceFull(true)], &[])]).unwrap();
    assert_eq!(disk.text(), "[[files]]\npath = \"a.c\"\nforce_full = true\n");
    let outcome = edit(&disk, &[CurationEdit::RemoveItems { entries: vec![file("a.c")] }]).unwrap();
    assert_eq!(outcome, EditOutcome { revision: revision_of(b""), entries_written: 1 });
    assert_eq!(*disk.project.lock().unwrap(), None);
}
