//! Settings that are partly wrong lose only the wrong part, and a daemon survives settings that are completely wrong.

use std::fs;

use super::daemon::harness::TestDaemon;
use super::samples::sample_project;
use super::sandbox::{data, list, text};
use serde_json::json;

const SETTINGS: &str = "[[files]]\npath = 'README.md'\nview_mode = 'sumary'\n\
    [[files]]\npath = 'src/engine.py'\nview_mode = 'outline'\n[presets.p]\nfiles = 3\n";

#[test]
fn an_invalid_entry_is_left_out_and_reported_wherever_it_would_matter() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", SETTINGS);
    let ran = sandbox.slop(&["aggregate", "--tier", "3", "--stdout", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let receipt = data(&ran.out)["receipt"].take();
    let view = |path: &str| {
        let entry = list(&receipt["files"]).find(|file| file["path"] == path).unwrap();
        text(&entry["view"])
    };
    assert_eq!((view("src/engine.py").as_str(), view("src/fast.c").as_str()), ("outline", "skeleton"));
    let problems: Vec<String> = list(&receipt["problems"]).map(|problem| text(&problem["why"])).collect();
    let [first, second] = &problems[..] else { panic!("{problems:?}") };
    assert!(first.contains("slop.toml:3: `files.view_mode` is 'sumary', not \"full\""), "{first}");
    assert!(second.contains("slop.toml:8: `presets.p.files` is 3"), "{second}");
    for problem in &problems {
        assert_eq!(ran.err.matches(problem.as_str()).count(), 1, "{}", ran.err);
    }
    let status = sandbox.json(&["status"]);
    let status: Vec<String> = list(&status["problems"]).map(text).collect();
    assert_eq!(status, problems);
    assert!(sandbox.stdout_of(&["status"]).contains(&format!("settings: {first}")));
    // Edits of other entries keep it as it is, and one of its own repairs it.
    sandbox.stdout_of(&["mask", "set", "src/fast.c", "twice=sig"]);
    let written = sandbox.read("slop.toml");
    let (before, presets) = SETTINGS.split_once("[presets.p]").unwrap();
    assert!(written.starts_with(before) && written.ends_with(presets), "{written}");
    sandbox.stdout_of(&["item", "set", "README.md", "--view", "summary"]);
    assert_eq!(sandbox.json(&["status"])["problems"].as_array().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_settings_file_that_links_to_a_missing_file_is_an_error() {
    let sandbox = sample_project();
    std::os::unix::fs::symlink("gone/slop.toml", sandbox.path("slop.toml")).unwrap();
    sandbox.slop(&["aggregate", "--stdout"]).assert_fails(1, &["slop.toml cannot be read", "missing file"]);
}

#[test]
fn a_key_without_effect_is_reported_like_an_invalid_value() {
    let sandbox = sample_project();
    sandbox.write(
        "slop.toml",
        "[[files]]\npath = 'README.md'\nforce_ful = true\n[[files]]\npath = 'README.md'\n",
    );
    let expected =
        ["unknown key `files.force_ful` has no effect", "an earlier entry for `README.md` has no effect"];
    let daemon = TestDaemon::start(&sandbox);
    let answer = daemon.connect().query("/v1/aggregate", &json!({"tier": 3}));
    let status = sandbox.slop(&["daemon", "status"]).out;
    let ran = sandbox.slop(&["aggregate", "--tier", "3", "--stdout"]);
    for words in expected {
        assert!(answer["notes"].to_string().contains(words), "{answer}");
        assert!(status.contains(words), "{status}");
        assert_eq!(ran.err.matches(words).count(), 1, "{}", ran.err);
    }
}

#[test]
fn a_settings_file_of_an_older_program_is_edited_in_the_new_format() {
    let sandbox = sample_project();
    let older = "# mine\n[project]\nname = \"things\"\n\n[files]\nbase_dir = \"src\"\npaths = [\"engine.py\"]\n\n\
        # shots\n[screenshots]\nbase_dir = \"shots\"\npaths = [\"a.png\"]\n";
    sandbox.write("slop.toml", older);
    let shown = sandbox.slop(&["aggregate", "--tier", "3", "--stdout"]);
    assert!(shown.out.contains("ERROR: screenshot shots/a.png: file not found"), "{shown:?}");
    sandbox.stdout_of(&["item", "set", "src/fast.c", "--force-full"]);
    let written = sandbox.read("slop.toml");
    let lists =
        "[[files]]\npath = \"src/engine.py\"\n\n[[files]]\npath = \"src/fast.c\"\nforce_full = true\n";
    assert!(
        written.ends_with(lists) && written.contains("# shots\nscreenshots = [\"shots/a.png\"]\n"),
        "{written}"
    );
    assert!(written.contains("# mine\n[project]\nname = \"things\"\n"), "{written}");
    sandbox.write("old.toml", older);
    fs::remove_file(sandbox.path("slop.toml")).unwrap();
    sandbox.stdout_of(&["init", "--from", "old.toml"]);
    assert!(sandbox.read("slop.toml").starts_with("screenshots = [\"shots/a.png\"]\n"));
}

#[test]
fn a_daemon_answers_by_the_last_good_settings_while_the_file_is_broken() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[[files]]\npath = 'src/engine.py'\nview_mode = 'outline'\n");
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    let question = json!({"choice": {"tier": 3}, "files": ["src/engine.py"]});
    let mut ask = || connection.query("/v1/aggregate", &question);
    let view = |answer: &serde_json::Value| text(&answer["data"]["receipt"]["files"][0]["view"]);
    let good = ask();
    assert_eq!((view(&good).as_str(), good["notes"].clone()), ("outline", json!([])));
    for broken in ["this is = = no TOML", "[tiers.3]\nview = 'sideways'\n"] {
        sandbox.write("slop.toml", broken);
        // Each of its threads may be the first to notice.
        for _ in 0..6 {
            let answer = ask();
            assert_eq!(view(&answer), "outline", "{answer}");
            let notes = answer["notes"].to_string();
            assert!(
                notes.contains("slop.toml:") && notes.contains("answers use the settings from before"),
                "{notes}"
            );
            assert_eq!(answer["data"]["receipt"]["problems"][0]["section"], "settings");
        }
        let status = sandbox.slop(&["daemon", "status"]);
        assert!(status.out.contains("answers use the settings from before"), "{status:?}");
    }
    sandbox.write("slop.toml", "");
    let mended = ask();
    assert_eq!((view(&mended).as_str(), mended["notes"].clone()), ("skeleton", json!([])));
}

#[test]
fn a_settings_file_of_an_older_program_is_converted() {
    let sandbox = sample_project();
    sandbox.write(
        "old.toml",
        "[project]\nname = \"things\"\ngit_dir = \".\"\n[output]\noutput_dir = \"./gen\"\n[files]\nbase_dir = \".\"\n\
         paths = [\"src/engine.py\", { path = \"src/fast.c\", force_full = true, ast_mask = { twice = \"full\" } }]\n\
         [screenshots]\npaths = []\n[discussion.discussions.main]\nhistory = []\n",
    );
    let ran = sandbox.slop(&["init", "--from", "old.toml"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("old.toml:3: `project.git_dir` has no effect"), "{}", ran.err);
    let written = sandbox.read("slop.toml");
    let items = "\n[[files]]\npath = \"src/engine.py\"\n\n[[files]]\npath = \"src/fast.c\"\nforce_full = true\n\
        ast_mask = { twice = \"def\" }\n";
    assert!(written.ends_with(items), "{written}");
    let settings = sandbox.stdout_of(&["config", "show"]);
    assert!(settings.contains("project.name = \"things\"") && settings.contains("gen\""), "{settings}");
    let document = sandbox.aggregate_json(&["--tier", "1", "src/fast.c"]);
    assert_eq!(document["receipt"]["files"][0]["rule"], "force_full");
    sandbox.slop(&["init", "--from", "gone.toml"]).assert_fails(1, &["gone.toml", "hint:"]);
}
