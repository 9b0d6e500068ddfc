//! Caches that came with a project are not trusted.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;

use super::sandbox::{CommandOutput, Sandbox, run};

const NOTE: &str = "note: the cache was rebuilt: file is not of this user, or of an earlier version; \
                    the old file is now index.db.damaged";

/// A project with a cache that another user has created.
fn project_with_a_cache() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def harmless():\n    return 1\n");
    sandbox.commit_all("one");
    assert_eq!(slop_of_other(&sandbox, &["index"]).code, 0);
    sandbox
}

/// Runs the program like another user, with another home folder.
fn slop_of_other(sandbox: &Sandbox, arguments: &[&str]) -> CommandOutput {
    let mut command = sandbox.command(arguments);
    command.env("HOME", sandbox.outside("other_home"));
    run(command)
}

#[test]
fn a_cache_of_another_user_is_moved_aside_with_one_note() {
    let sandbox = project_with_a_cache();
    sandbox.git(&["add", "-f", ".slop_cache"]);
    sandbox.git(&["commit", "-q", "-m", "with its cache"]);
    fs::remove_file(sandbox.cache_key()).unwrap();
    let first = sandbox.slop(&["outline", "a.py"]);
    assert_eq!((first.code, first.err.trim_end()), (0, NOTE), "{first:?}");
    let second = sandbox.slop(&["outline", "a.py"]);
    assert_eq!((second.out, second.err.as_str()), (first.out, ""));
    let mode = fs::metadata(sandbox.cache_key()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn forged_rows_in_the_users_own_cache_are_not_shown() {
    let sandbox = project_with_a_cache();
    let cache = sandbox.path(".slop_cache");
    // Artifacts that another user's slop derived from another text, in the rows of this text.
    sandbox.write("a.py", "def forged():\n    return 1\n");
    assert_eq!(slop_of_other(&sandbox, &["index"]).code, 0);
    fs::rename(cache.join("index.db"), sandbox.outside("forged.db")).unwrap();
    sandbox.write("a.py", "def harmless():\n    return 1\n");
    let right = sandbox.stdout_of(&["outline", "a.py"]);
    let database = Connection::open(cache.join("index.db")).unwrap();
    database.execute("ATTACH ?1 AS forged", [sandbox.outside("forged.db").to_str().unwrap()]).unwrap();
    for table in ["content", "artifact", "file", "meta"] {
        let copied =
            database.execute(&format!("INSERT OR REPLACE INTO {table} SELECT * FROM forged.{table}"), []);
        assert!(0 < copied.unwrap(), "{table}");
    }
    drop(database);
    assert_eq!(sandbox.stdout_of(&["outline", "a.py"]), right);
    assert!(right.contains("harmless"), "{right}");
}

#[test]
fn summaries_that_this_user_did_not_request_are_not_shown() {
    let shown = |sandbox: &Sandbox| {
        let questions = [&["cache", "export"][..], &["aggregate", "--tier", "2", "--stdout"]];
        questions.iter().any(|question| sandbox.stdout_of(question).contains("It returns one."))
    };
    let sandbox = super::cache::summarized_project();
    assert!(shown(&sandbox));
    fs::remove_file(sandbox.cache_key()).unwrap();
    assert!(!shown(&sandbox));
}

#[test]
fn without_a_home_folder_a_cache_is_valid_for_the_session() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "x = 1\n");
    let session = sandbox.outside("session");
    fs::create_dir(&session).unwrap();
    let slop = |home: Option<&str>| {
        let mut command = sandbox.command(&["status"]);
        command.env_remove("HOME").envs(home.map(|home| ("HOME", home))).env("XDG_RUNTIME_DIR", &session);
        run(command)
    };
    for home in [None, Some("/proc")] {
        for _ in 0..2 {
            let ran = slop(home);
            assert_eq!((ran.code, ran.err.contains("rebuilt")), (0, false), "{ran:?}");
        }
    }
    fs::remove_dir_all(session.join(format!("slop-{}", rustix::process::getuid().as_raw()))).unwrap();
    assert!(slop(None).err.contains(NOTE));
}
