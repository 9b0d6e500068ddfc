//! Commands that show and edit slices, masks, presets and personas in `slop.toml`.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::daemon::harness::TestDaemon;
use super::samples::sample_project;
use super::sandbox::{Sandbox, texts};

const HEAD: &str = "# My project.\n[aggregation] # mine\norder  =  \"path\"\n\n# The end.\n";

#[test]
fn slices_are_added_listed_and_removed() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", HEAD);
    let said = sandbox
        .stdout_of(&["slice", "add", "src/util/text.py", "2-3", "--tag", "cut", "--comment", "why so"]);
    assert_eq!(said, "src/util/text.py:2-3 [cut] (why so)\n");
    let written = sandbox.read("slop.toml");
    assert!(written.starts_with(HEAD), "{written}");
    assert!(
        written.contains("[[files]]\npath = \"src/util/text.py\"\n\n[[files.custom_slices]]\n"),
        "{written}"
    );
    assert_eq!(sandbox.stdout_of(&["slice", "list"]), "src/util/text.py:2-3 exact [cut] (why so)\n");

    let text = sandbox.read("src/util/text.py");
    sandbox.write("src/util/text.py", format!("# One.\n# Two.\n{text}"));
    let said = sandbox.slop_in("src", &["slice", "list", "util/text.py"]).out;
    assert_eq!(said, "src/util/text.py:4-5 moved, was 2-3 [cut] (why so)\n");
    let listed = sandbox.json(&["slice", "list"]);
    let slice = &listed["slices"][0];
    assert_eq!((&slice["status"], &slice["start_line"]), (&json!("moved"), &json!(4)));
    assert_eq!(slice["slice"]["tag"], "cut");

    sandbox
        .slop(&["slice", "remove", "src/util/text.py", "1-2"])
        .assert_fails(1, &["src/util/text.py", "slop slice list"]);
    assert_eq!(sandbox.read("slop.toml"), written);
    assert_eq!(
        sandbox.stdout_of(&["slice", "remove", "src/util/text.py", "4-5"]),
        "src/util/text.py: slices removed: 1\n"
    );
    assert_eq!(sandbox.stdout_of(&["slice", "list"]), "");
    assert_eq!(sandbox.read("slop.toml"), HEAD);
}

#[test]
fn an_entry_for_a_folder_hides_what_the_patterns_in_it_hide() {
    let sandbox = sample_project();
    let secret = "def run():\n    return 1\n\n\ndef hid():\n    return \"zork\"\n";
    sandbox.write("deep/a.py", secret);
    sandbox.write("slop.toml", "[[files]]\npath = \"deep/*.py\"\nast_mask = { hid = \"hide\" }\n");
    let set = sandbox.slop(&["item", "set", "deep", "--view", "full"]);
    assert!(set.err.contains("the entry for deep hides hid, as the one for deep/*.py does"), "{set:?}");
    assert!(!sandbox.stdout_of(&["view", "deep/a.py"]).contains("zork"));
    // Shown only by an explicit edit.
    sandbox.stdout_of(&["mask", "remove", "deep", "hid"]);
    assert!(sandbox.stdout_of(&["view", "deep/a.py"]).contains("zork"));
}

#[test]
fn concurrent_edits_of_the_settings_are_all_kept() {
    let sandbox = sample_project();
    let ranges: Vec<String> = (1..=20).map(|line| line.to_string()).collect();
    sandbox.write("long.py", "x = 1\n".repeat(20));
    let add = |range: &String| {
        sandbox.command(&["slice", "add", "long.py", range]).stdout(Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = ranges.iter().map(add).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(sandbox.json(&["slice", "list"])["slices"].as_array().unwrap().len(), 20);
    let names: Vec<_> =
        fs::read_dir(sandbox.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("lock")), "{names:?}");
}

#[test]
fn takes_are_switched_and_a_broken_slop_toml_is_restored() {
    let sandbox = sample_project();
    sandbox.stdout_of(&["item", "set", "src/fast.c", "--force-full"]);
    sandbox.stdout_of(&["take", "create", "other"]);
    sandbox.stdout_of(&["take", "switch", "other"]);
    assert_eq!(sandbox.stdout_of(&["take", "list"]), "* other (1 entry)\n  main (1 entry)\n");
    assert!(!sandbox.stdout_of(&["aggregate", "--stdout", "--order", "path"]).contains("takes.main"));
    // An editor leaves invalid TOML; undo restores the last state.
    sandbox.stdout_of(&["item", "set", "src/fast.c", "--signatures"]);
    let good = sandbox.read("slop.toml");
    sandbox.write("slop.toml", format!("{good}[[files"));
    sandbox.slop(&["item", "list"]).assert_fails(1, &["not TOML"]);
    assert_eq!(sandbox.json(&["history"])["is_recorded"], false);
    assert!(sandbox.slop(&["undo"]).out.contains("slop.toml is at state"));
    assert_eq!(sandbox.read("slop.toml"), good);
}

#[test]
fn adding_an_invalid_or_duplicate_slice_is_refused() {
    let sandbox = sample_project();
    sandbox.slop(&["slice", "add", "nowhere.py", "1-2"]).assert_fails(1, &["nowhere.py"]);
    sandbox.slop(&["slice", "add", "src/fast.c", "3-900"]).assert_fails(1, &["src/fast.c", "hint:"]);
    assert!(!sandbox.path("slop.toml").exists());
    sandbox.stdout_of(&["slice", "add", "src/fast.c", "3-5"]);
    let written = sandbox.read("slop.toml");
    sandbox.slop(&["slice", "add", "./src/fast.c", "3-5"]).assert_fails(1, &["3-5", "src/fast.c"]);
    sandbox.slop(&["slice", "remove", "src/engine.py", "1-2"]).assert_fails(1, &["src/engine.py"]);
    assert_eq!(sandbox.read("slop.toml"), written);
    assert_eq!(sandbox.slop(&["slice", "add", "src/fast.c", "5-3"]).code, 2);
}

#[test]
fn slices_of_a_deleted_file_are_listed_as_lost() {
    let sandbox = sample_project();
    sandbox.stdout_of(&["slice", "add", "src/fast.c", "2-5", "--tag", "a tag"]);
    fs::remove_file(sandbox.path("src/fast.c")).unwrap();
    let said = sandbox.stdout_of(&["slice", "list"]);
    assert!(said.starts_with("src/fast.c:2-5 stale [a tag]: "), "{said}");
    assert_eq!(sandbox.json(&["slice", "remove", "src/fast.c", "a tag"])["removed"], 1);
}

#[test]
fn a_mask_can_be_set_only_for_existing_symbols() {
    let sandbox = sample_project();
    let said = sandbox.stdout_of(&["mask", "set", "src/util/text.py", "shorten=sig"]);
    assert_eq!(said, "src/util/text.py shorten = sig\n");
    sandbox.stdout_of(&["mask", "set", "src/fast.c", "twice(int x)=def"]);
    let written = sandbox.read("slop.toml");
    assert!(written.contains("path = \"src/util/text.py\"\nast_mask = { shorten = \"sig\" }\n"), "{written}");
    let refused = sandbox.slop(&["mask", "set", "src/util/text.py", "shorten=def", "shortne=sig"]);
    refused.assert_fails(1, &["`shortne`", "the nearest is `shorten`"]);
    sandbox.slop(&["mask", "set", "src/fast.c", "twice(char)=sig"]).assert_fails(1, &["`twice(int x)`"]);
    sandbox.slop(&["mask", "set", "README.md", "x=sig"]).assert_fails(1, &["README.md"]);
    assert_eq!(sandbox.slop(&["mask", "set", "src/fast.c", "twice=all"]).code, 2);
    assert_eq!(sandbox.read("slop.toml"), written);
}

#[test]
fn masks_are_listed_with_missing_symbols_and_removed() {
    let sandbox = sample_project();
    sandbox.stdout_of(&["mask", "set", "src/util/text.py", "shorten=hide"]);
    sandbox.write("src/util/text.py", "def shorter(text):\n    return text\n");
    let said = sandbox.stdout_of(&["mask", "list"]);
    assert_eq!(said, "src/util/text.py shorten = hide  (gone, the nearest is `shorter`)\n");
    let listed = sandbox.json(&["mask", "list"])["masks"][0].take();
    assert_eq!(
        (&listed["found"], &listed["show"], &listed["nearest"]),
        (&json!(0), &json!("hide"), &json!(["shorter"]))
    );
    assert_eq!(sandbox.stdout_of(&["mask", "list", "src/fast.c"]), "");
    sandbox
        .slop(&["mask", "remove", "src/util/text.py", "shorter"])
        .assert_fails(1, &["nearest known is `shorten`"]);
    assert_eq!(sandbox.slop(&["mask", "remove", "src/util/text.py"]).code, 2);
    sandbox.stdout_of(&["mask", "remove", "src/util/text.py", "--all"]);
    assert!(!sandbox.path("slop.toml").exists());
}

#[test]
fn presets_are_saved_listed_shown_applied_and_deleted() {
    let sandbox = sample_project();
    sandbox.slop(&["preset", "save", "empty"]).assert_fails(1, &["[[files]]", "hint:"]);
    sandbox.stdout_of(&["mask", "set", "src/util/text.py", "shorten=sig"]);
    let curated = sandbox.read("slop.toml");
    sandbox.stdout_of(&[
        "preset", "save", "my review", "src/util/text.py", "README.md", "--description", "for review",
    ]);
    sandbox.slop(&["preset", "save", "my review", "README.md"]).assert_fails(1, &["my review", "--force"]);
    sandbox.slop(&["preset", "save", "x", "nowhere.py"]).assert_fails(1, &["nowhere.py"]);
    assert_eq!(sandbox.slop(&["preset", "save", "a/b", "README.md"]).code, 2);
    assert!(sandbox.read("slop.toml").starts_with(&curated));

    let listed = sandbox.stdout_of(&["preset", "list"]);
    assert!(listed.starts_with("my review (2 entries, ") && listed.ends_with("): for review\n"), "{listed}");
    let shown = sandbox.stdout_of(&["preset", "show", "my review"]);
    assert!(shown.starts_with("[presets.\"my review\"]\ndescription = \"for review\"\n"), "{shown}");
    assert!(shown.contains("path = \"src/util/text.py\"\nast_mask = { shorten = \"sig\" }\n"), "{shown}");
    sandbox.slop(&["preset", "show", "my reveiw"]).assert_fails(1, &["nearest known is `my review`"]);

    sandbox.stdout_of(&["slice", "add", "src/fast.c", "2-5"]);
    let before = sandbox.read("slop.toml");
    sandbox.slop(&["preset", "apply", "my review"]).assert_fails(1, &["src/fast.c", "--yes"]);
    assert_eq!(sandbox.read("slop.toml"), before);
    fs::remove_file(sandbox.path("README.md")).unwrap();
    let applied = sandbox.slop(&["preset", "apply", "my review", "--yes", "--json"]);
    assert_eq!(applied.code, 0, "{applied:?}");
    assert!(applied.err.contains("note: missing files of the preset: README.md"), "{applied:?}");
    let data = super::sandbox::data(&applied.out);
    assert_eq!((&data["files"], &data["gone"]), (&json!(["src/util/text.py"]), &json!(["README.md"])));
    assert_eq!(sandbox.stdout_of(&["mask", "list"]), "src/util/text.py shorten = sig\n");
    assert_eq!(sandbox.stdout_of(&["slice", "list"]), "");

    sandbox.stdout_of(&["preset", "delete", "my review"]);
    assert_eq!(sandbox.stdout_of(&["preset", "list"]), "");
    assert_eq!(sandbox.stdout_of(&["mask", "list"]), "src/util/text.py shorten = sig\n");
    sandbox.slop(&["preset", "delete", "my review"]).assert_fails(1, &["my review", "preset list"]);
}

#[test]
fn a_user_preset_is_available_in_every_project() {
    let sandbox = sample_project();
    sandbox.stdout_of(&["preset", "save", "mine", "README.md", "--user"]);
    assert!(!sandbox.path("slop.toml").exists());
    let own = fs::read_to_string(sandbox.outside("config/slop/config.toml")).unwrap();
    assert_eq!(own, "[presets.mine]\nfiles = [\"README.md\"]\n");
    sandbox.stdout_of(&["preset", "apply", "mine"]);
    assert_eq!(sandbox.read("slop.toml"), "[[files]]\npath = \"README.md\"\n");
    sandbox.stdout_of(&["preset", "save", "mine", "src", "tests"]);
    let presets = sandbox.json(&["preset", "list"]);
    assert_eq!(presets["presets"][0]["files"], 2);
    sandbox.stdout_of(&["preset", "delete", "mine"]);
    assert_eq!(sandbox.json(&["preset", "show", "mine"])["files"][0]["path"], "README.md");
}

#[test]
fn personas_are_listed_and_shown() {
    let sandbox = sample_project();
    let persona = "# Careful.\n[personas.dev]\ntier = 3\ncontext_preset = \"gone\"\n\
                   preferred_models = [{ provider = \"anthropic\", model = \"m\" }]\n";
    sandbox.write("slop.toml", persona);
    let said = sandbox.stdout_of(&["persona", "list"]);
    assert!(
        said.starts_with("dev (tier 3, preset gone, m of anthropic, ") && said.ends_with("slop.toml:2)\n"),
        "{said}"
    );
    let shown = sandbox.slop(&["persona", "show", "dev"]);
    assert_eq!(shown.out, persona);
    assert!(shown.err.contains("no preset named `gone`"), "{}", shown.err);
    let data = sandbox.json(&["persona", "show", "dev"]);
    assert_eq!(data["preferred_models"][0]["model"], "m");
    assert_eq!(texts(&sandbox.json(&["persona", "list"])["personas"], "name"), ["dev"]);
    sandbox.slop(&["persona", "show", "dav"]).assert_fails(1, &["nearest known is `dev`"]);
}

#[test]
fn unknown_curation_keys_and_invalid_values_are_reported() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[[files]]\npath = \"README.md\"\nveiw_mode = \"full\"\n");
    let ran = sandbox.slop(&["status"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("slop.toml:3: unknown key `files.veiw_mode`"), "{}", ran.err);
    sandbox.stdout_of(&["slice", "add", "README.md", "1-1"]);
    assert!(sandbox.read("slop.toml").contains("veiw_mode = \"full\"\n"));
    sandbox.write("slop.toml", "[[files]]\npath = \"README.md\"\ntier = 9\n");
    let ran = sandbox.slop(&["slice", "list"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.err.contains("slop.toml:3: `files.tier` is 9, not a whole number from 1 to 4"),
        "{}",
        ran.err
    );
}

#[test]
fn a_settings_file_that_cannot_be_written_is_unchanged() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[[files]\n");
    for command in [&["slice", "add", "README.md", "1-1"][..], &["preset", "save", "x", "README.md"]] {
        sandbox.slop(command).assert_fails(1, &["slop.toml:1"]);
    }
    assert_eq!(sandbox.read("slop.toml"), "[[files]\n");
    let empty = Sandbox::new();
    assert_eq!(empty.stdout_of(&["preset", "list"]), "");
    assert!(!empty.path("slop.toml").exists() && !empty.path(".slop_cache").exists());
}

#[test]
fn text_from_a_project_cannot_control_the_terminal() {
    let sandbox = sample_project();
    let slop = "\
        [[files]]\npath = \"src/fast.c\"\nast_mask = { \"\\u009b2J\\u202e\" = \"hide\" }\n\
        [[files.custom_slices]]\nstart_line = 1\nend_line = 2\ntag = \"\\u001b[31m\"\ncomment = \"\\u202Ex\"\n\
        [presets.evil]\ndescription = \"a\\u001b]0;x\\u0007\u{202e}\"\nfiles = [\"src/fast.c\"]\n\
        [personas.\"\\u001b[2J\"]\nsystem_prompt = \"one\\ttwo\u{202e}\"\ncontext_preset = \"\\u009b\"\n\
        [[personas.\"\\u001b[2J\".preferred_models]]\nprovider = \"\\u001b\"\nmodel = \"m\\u2066\"\n";
    sandbox.write("slop.toml", slop);
    let is_harmful = |c: char| (c.is_control() && !"\n\t".contains(c)) || "\u{202e}\u{2066}".contains(c);
    for command in [
        &["slice", "list"][..],
        &["mask", "list"],
        &["preset", "list"],
        &["preset", "show", "evil"],
        &["persona", "list"],
        &["persona", "show", "\u{1b}[2J"],
    ] {
        let ran = sandbox.slop(command);
        assert_eq!(ran.code, 0, "{command:?}: {ran:?}");
        assert!(!(ran.out.clone() + &ran.err).contains(is_harmful), "{command:?}: {ran:?}");
        assert!(
            ran.out.to_ascii_lowercase().contains("\\u{202e}") || command == ["persona", "list"],
            "{ran:?}"
        );
    }
    // Programs get the raw text.
    assert_eq!(sandbox.json(&["slice", "list"])["slices"][0]["slice"]["tag"], "\u{1b}[31m");
    sandbox.slop(&["persona", "show", "\u{1b}[3J"]).assert_fails(1, &["\\u{1b}[3J"]);
}

#[test]
fn items_are_set_listed_and_removed() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", HEAD);
    let said = sandbox.stdout_of(&["item", "set", "src/engine.py", "src/util/*.py", "--signatures"]);
    assert_eq!(said, "src/engine.py: ast_signatures\nsrc/util/*.py: ast_signatures\n");
    let said = sandbox.slop_in("src", &["item", "set", "engine.py", "--view", "skeleton"]).out;
    assert_eq!(said, "src/engine.py: view_mode skeleton\n");
    let listed = "src/engine.py: view_mode skeleton\nsrc/util/*.py: ast_signatures\n";
    assert_eq!(sandbox.stdout_of(&["item", "list"]), listed);
    let item = &sandbox.json(&["item", "list", "src/engine.py"])["items"][0];
    assert_eq!((&item["view_mode"], &item["ast_signatures"]), (&json!("skeleton"), &json!(false)));
    let explained = sandbox.stdout_of(&["explain", "src/engine.py"]);
    assert!(explained.contains("skeleton"), "{explained}");

    let set = sandbox.json(&["item", "set", "src/engine.py", "src/fast.c", "--force-full"]);
    let items = json!([
        {"path": "src/engine.py", "change": "changed"},
        {"path": "src/fast.c", "change": "added"},
    ]);
    assert_eq!((&set["mode"], &set["items"]), (&json!("force_full"), &items));
    assert_eq!(sandbox.stdout_of(&["item", "set", "src/fast.c", "--clear"]), "src/fast.c: removed\n");
    assert_eq!(sandbox.json(&["item", "remove", "src/engine.py", "src/util/*.py"])["removed"], 2);
    assert_eq!(sandbox.read("slop.toml"), HEAD);
}

#[test]
fn an_item_is_set_only_for_an_existing_file_and_one_mode() {
    let sandbox = sample_project();
    let refused = sandbox.slop(&["item", "set", "src/engine.py", "nowhere.py", "--force-full"]);
    refused.assert_fails(1, &["`nowhere.py`", "hint:"]);
    sandbox.slop(&["item", "set", "../x", "--force-full"]).assert_fails(1, &["`../x`"]);
    sandbox.slop(&["item", "set", "/etc/passwd", "--force-full"]).assert_fails(1, &["`/etc/passwd`"]);
    sandbox.slop(&["item", "remove", "src/engine.py"]).assert_fails(1, &["src/engine.py", "slop item list"]);
    assert_eq!(sandbox.slop(&["item", "set", "src/engine.py"]).code, 2);
    assert_eq!(sandbox.slop(&["item", "set", "src/engine.py", "--force-full", "--definitions"]).code, 2);
    assert!(!sandbox.path("slop.toml").exists());
    sandbox.stdout_of(&["mask", "set", "src/fast.c", "twice=sig"]);
    let said = sandbox.slop(&["item", "set", "src/fast.c", "--definitions"]);
    assert!(said.err.contains("take precedence over ast_definitions"), "{}", said.err);
    sandbox.slop(&["item", "remove", "src/fast.c"]).assert_fails(1, &["would be lost", "--yes"]);
    sandbox.stdout_of(&["item", "remove", "src/fast.c", "--yes"]);
    assert_eq!(sandbox.stdout_of(&["item", "list"]), "");
}

#[test]
fn edits_are_made_all_at_once_by_command_and_by_request() {
    let sandbox = sample_project();
    sandbox.write(
        "edits.json",
        json!([
            {"set": {"files": {"paths": ["src/util"]}, "to": {"ast_signatures": true}}},
            {"slice_add": {"path": "src/fast.c", "start_line": 2, "end_line": 3, "tag": "hot"}},
        ])
        .to_string(),
    );
    let said = sandbox.stdout_of(&["curation", "edit", "edits.json", "--dry-run"]);
    assert!(said.starts_with("entries would be written: 2, files: "), "{said}");
    assert!(!sandbox.path("slop.toml").exists());
    sandbox.stdout_of(&["curation", "edit", "edits.json"]);
    let written = sandbox.read("slop.toml");
    let begins =
        "[[files]]\npath = \"src/util/**\"\nast_signatures = true\n\n[[files]]\npath = \"src/fast.c\"\n";
    assert!(written.starts_with(begins), "{written}");
    sandbox.slop(&["curation", "edit", "edits.json"]).assert_fails(1, &["already has a slice of lines 2-3"]);
    sandbox.write("wrong.json", json!([{"mask": {"path": "a", "sett": {}}}]).to_string());
    sandbox.slop(&["curation", "edit", "wrong.json"]).assert_fails(1, &["[0].mask.sett: unknown field"]);

    let daemon = TestDaemon::start(&sandbox);
    let mut client = daemon.connect();
    let state = client.query("/v1/curation", &json!({}))["data"].take();
    assert_eq!(state["items"][1]["slices"][0]["resolved"]["status"], "exact");
    let edits = json!([{"slice_remove": {"path": "src/fast.c", "index": 0}}]);
    let body = json!({"revision": state["revision"], "edits": edits});
    let done = client.query("/v1/curation/edit", &body)["data"].take();
    assert_eq!((&done["entries_written"], &done["files_affected"]), (&json!(1), &json!(0)));
    assert_eq!(sandbox.json(&["curation", "show"])["revision"], done["revision"]);
    let (status, refused) = client.exchange("POST", "/v1/curation/edit", Some(&body.to_string())).unwrap();
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("revision_moved")));
    let (status, _) = client.exchange("GET", "/v1/curation/edit", None).unwrap();
    assert_eq!(status, 405);
    assert_eq!(sandbox.json(&["slice", "list"])["slices"], json!([]));
}

#[test]
fn commands_requests_and_editors_write_one_history() {
    let sandbox = sample_project();
    let labels = || texts(&sandbox.json(&["history"])["entries"], "label");
    sandbox.slop(&["undo"]).assert_fails(1, &["nothing to undo", "hint:"]);
    sandbox.stdout_of(&["item", "set", "src/fast.c", "--signatures"]);
    sandbox.stdout_of(&["mask", "set", "src/util/text.py", "shorten=sig"]);
    let written = sandbox.read("slop.toml");
    let daemon = TestDaemon::start(&sandbox);
    let mut client = daemon.connect();
    sandbox.write("slop.toml", format!("# typed\n{written}"));
    // The daemon records it without being asked.
    let deadline = Instant::now() + Duration::from_secs(20);
    while labels().last().is_none_or(|label| label != "edited by hand") {
        assert!(Instant::now() < deadline, "{:?}", labels());
        thread::sleep(Duration::from_millis(20));
    }
    let revision = client.query("/v1/curation", &json!({}))["data"]["revision"].take();
    let moved = client.query("/v1/undo", &json!({"revision": revision}))["data"].take();
    assert_eq!(moved["entry"]["label"], "mask of src/util/text.py: shorten");
    assert_eq!(sandbox.read("slop.toml"), written);
    assert_eq!(sandbox.stdout_of(&["undo"]), "slop.toml is at state 2: ast_signatures on src/fast.c\n");
    assert_eq!(sandbox.stdout_of(&["redo"]), "slop.toml is at state 3: mask of src/util/text.py: shorten\n");
    assert_eq!(sandbox.read("slop.toml"), written);
    sandbox.stdout_of(&["jump", "1"]);
    assert!(!sandbox.path("slop.toml").exists());
    let listed = sandbox.stdout_of(&["history"]);
    assert!(listed.starts_with("*    1  ") && listed.ends_with("  edited by hand\n"), "{listed}");
    assert_eq!(labels().len(), 4);
}
