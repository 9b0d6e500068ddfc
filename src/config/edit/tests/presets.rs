//! Saving, applying and deleting presets.

use super::*;

#[test]
fn a_preset_of_all_items_restores_them_when_applied() {
    let text = "[[files]]\npath = 'a' # first\n# Mine.\nodd = 1\n[[files.custom_slices]]\nstart_line = 1\nend_line = 2\n\
                \n[[files]]\npath = 'b'\nast_mask = { f = 'def' }\n";
    let disk = MemoryFiles::new(text);
    let items = disk.load().curation.files;
    assert_eq!(save(&disk, PROJECT, "my set", &[], false).unwrap(), 2);
    let expected = expect![[r#"

        [presets."my set"]

        [[presets."my set".files]]
        path = 'a' # first
        # Mine.
        odd = 1
        [[presets."my set".files.custom_slices]]
        start_line = 1
        end_line = 2

        [[presets."my set".files]]
        path = 'b'
        ast_mask = { f = 'def' }
    "#]];
    expected.assert_eq(disk.text().strip_prefix(text).unwrap());
    assert_eq!(disk.load().curation.preset("my set").unwrap().value.files, items);
    assert_eq!(apply(&disk, "my set", &[], false).unwrap(), ["a", "b"]);
    assert_eq!(disk.load().curation.files, items);
}

#[test]
fn a_preset_of_named_files_includes_their_settings() {
    let disk = MemoryFiles::new("[[files]]\npath = 'a'\ntier = 3\n");
    save(&disk, PROJECT, "both", &["./a", "c"], false).unwrap();
    save(&disk, PROJECT, "plain", &["c", "d"], false).unwrap();
    assert!(disk.text().ends_with("\n[presets.plain]\nfiles = [\"c\", \"d\"]\n"), "{}", disk.text());
    let curation = disk.load().curation;
    assert_eq!(curation.preset("both").unwrap().value.files[0].tier, crate::model::Tier::from_number(3));
    assert_eq!(curation.preset("plain").unwrap().value.files[1], FileItem::plain("d"));
    check_error(
        &MemoryFiles::new(""),
        save(&MemoryFiles::new(""), PROJECT, "x", &[], false).map(drop),
        "slop.toml has no [[files]] to save as a preset",
    );
}

#[test]
fn a_preset_in_the_users_file_can_be_saved_and_applied() {
    let disk = MemoryFiles::new("[[files]]\npath = 'a'\ntier = 3\n");
    save(&disk, USER, "p", &[], false).unwrap();
    assert_eq!(disk.text(), "[[files]]\npath = 'a'\ntier = 3\n");
    assert_eq!(disk.load().curation.preset("p").unwrap().origin.to_string(), "user.toml:1");
    *disk.project.lock().unwrap() = None;
    let (project, user) = (Path::new(PROJECT), Path::new(USER));
    apply_preset(&disk, project, user, "p", &[], false).unwrap();
    assert_eq!(disk.text(), "[[files]]\npath = 'a'\ntier = 3\n");
}

#[test]
fn a_preset_is_overwritten_only_on_request_and_keeps_its_position_and_unknown_keys() {
    let text = "[presets.p] # mine\ndescription = 'd' # why\nodd = 1\nfiles = ['x']\n\n# Next.\n[project]\nname = 'n'\n";
    let disk = MemoryFiles::new(text);
    let refused = save(&disk, PROJECT, "p", &["y"], false).map(drop);
    check_error(&disk, refused, "preset `p` already exists in slop.toml");
    save(&disk, PROJECT, "p", &["y"], true).unwrap();
    assert_eq!(disk.text(), text.replace("files = ['x']", "files = [\"y\"]"));
    for text in [
        "presets = { p = { files = ['x'] }, q = {} }\n",
        "presets.p.files = ['x']\n",
        "[presets]\np.files = []\n",
    ] {
        let disk = MemoryFiles::new(text);
        save(&disk, PROJECT, "p", &["y"], true).unwrap();
        save(&disk, PROJECT, "new", &["z"], false).unwrap();
        let curation = disk.load().curation;
        assert_eq!(curation.preset("p").unwrap().value.files, [FileItem::plain("y")], "{text}");
        assert_eq!(curation.preset("new").unwrap().value.files, [FileItem::plain("z")], "{text}");
    }
}

#[test]
fn applying_loses_no_curation_unless_confirmed() {
    let text = "# Top.\n\n[[files]]\npath = 'a'\ntier = 3\n\n[[files]]\npath = 'plain'\n\n[presets.p]\nfiles = ['x', 'y']\n";
    let disk = MemoryFiles::new(text);
    check_error(&disk, apply(&disk, "p", &[], false).map(drop), "curated items would be lost: a");
    assert_eq!(apply(&disk, "p", &["y"], true).unwrap(), ["x"]);
    let expected = "# Top.\n\n[presets.p]\nfiles = ['x', 'y']\n\n[[files]]\npath = \"x\"\n";
    assert_eq!(disk.text(), expected);
    let unknown = apply(&disk, "q", &[], true).map(drop);
    check_error(&disk, unknown, "no preset named `q`; known: `p`");
}

#[test]
fn applying_equal_items_loses_nothing_in_any_syntax() {
    let disk = MemoryFiles::new(
        "[[files]]\npath = './a'\ntier = 3\n[files.ast_mask]\nf = 'def'\n[[files.custom_slices]]\nstart_line = 1\n\
         end_line = 2\nstart_context = ['x']\n\n[presets]\np.files = [{ path = './a', tier = 3, ast_mask = { f = \"def\" }, \
         custom_slices = [{ end_line = 2, start_line = 1, start_context = [\"x\"] }] }]\n",
    );
    let before = disk.load().curation.files;
    apply(&disk, "p", &[], false).unwrap();
    assert_eq!(disk.load().curation.files, before);
}

#[test]
fn a_preset_is_deleted_and_the_rest_stays() {
    for (text, left) in [
        ("[presets.p]\nfiles = []\n[[presets.q.files]]\npath = 'x'\n", "[[presets.q.files]]\npath = 'x'\n"),
        ("a.b = 1\npresets.p.files = []\npresets.q.files = []\n", "a.b = 1\npresets.q.files = []\n"),
        ("# Top.\n\n# P.\n[presets.p]\n# End.\n", "# Top.\n# End.\n"),
        ("presets = { p = {}, q = {} }\n", "presets = { q = {} }\n"),
    ] {
        let disk = MemoryFiles::new(text);
        delete_preset(&disk, Path::new(PROJECT), "p").unwrap();
        assert_eq!(disk.text(), left);
        let gone = delete_preset(&disk, Path::new(PROJECT), "p").unwrap_err().to_string();
        assert!(gone.starts_with("no preset named `p`"), "{gone}");
    }
}

#[test]
fn a_preset_is_shown_as_saved() {
    let disk = MemoryFiles::new("# No.\n[presets.'a b']\n# Yes.\nfiles = ['x']\n[presets.c]\n");
    let text = saved_text(&disk, Path::new(PROJECT), "presets", "a b").unwrap();
    assert_eq!(text.as_deref(), Some("# No.\n[presets.'a b']\n# Yes.\nfiles = ['x']\n"));
    assert_eq!(saved_text(&disk, Path::new(PROJECT), "presets", "d").unwrap(), None);
    assert_eq!(disk.writes(), 0);
}
