//! The cache's own files: whatever is done to them, answers stay right, and nothing else is written.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;

use super::sandbox::Sandbox;
use super::tiers::project;

const QUESTIONS: [&[&str]; 5] = [
    &["outline", "--json"],
    &["view", "src/engine.py", "--mode", "skeleton"],
    &["aggregate", "--tier", "1", "--stdout"],
    &["aggregate", "--tier", "3", "--focus", "engine.py", "--stdout"],
    &["symbol", "Engine.run", "--definition"],
];

fn answers(sandbox: &Sandbox) -> Vec<String> {
    QUESTIONS.iter().map(|question| sandbox.stdout_of(question)).collect()
}

/// Does harm to the cache; then the first answer comes with one note, and all of them are right.
#[track_caller]
fn check_rebuilt(harm: impl Fn(&Sandbox)) {
    let sandbox = project();
    let right = answers(&sandbox);
    for question in QUESTIONS {
        harm(&sandbox);
        let ran = sandbox.slop(question);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.err.contains("note: the cache was rebuilt: "), "{}", ran.err);
        assert!(ran.err.contains("the old file is now index.db."), "{}", ran.err);
        let again = sandbox.slop(question);
        assert_eq!((again.out, again.err.as_str()), (ran.out, ""));
    }
    assert_eq!(answers(&sandbox), right);
    sandbox.stdout_of(&["cache", "verify"]);
}

#[test]
fn garbage_instead_of_the_store_is_moved_aside() {
    check_rebuilt(|sandbox| sandbox.write(".slop_cache/index.db", "this is no database\n".repeat(500)));
}

#[test]
fn a_truncated_store_is_moved_aside() {
    check_rebuilt(|sandbox| {
        sandbox.stdout_of(&["index"]);
        let file = fs::File::options().write(true).open(sandbox.path(".slop_cache/index.db")).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    });
}

#[test]
fn a_database_of_another_program_is_moved_aside_intact() {
    check_rebuilt(|sandbox| {
        let path = sandbox.path(".slop_cache/index.db");
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(sandbox.path(format!(".slop_cache/index.db{end}")));
        }
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
    });
    let sandbox = project();
    sandbox.write(".slop_cache/nothing", "");
    let path = sandbox.path(".slop_cache/index.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = fs::read(&path).unwrap();
    sandbox.stdout_of(&["index"]);
    let kept = fs::read_dir(sandbox.path(".slop_cache")).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<_> = kept.filter(|path| fs::read(path).unwrap() == before).collect();
    assert_eq!(kept.len(), 1);
}

#[test]
fn a_store_of_a_newer_slop_is_refused_and_unchanged() {
    let sandbox = project();
    sandbox.stdout_of(&["index"]);
    let path = sandbox.path(".slop_cache/index.db");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&path).unwrap();
    let commands = [&["index"][..], &["status"], &["cache", "clear"], &["cache", "verify"]];
    for command in QUESTIONS.iter().chain(&commands) {
        let ran = sandbox.slop(command);
        assert_eq!(ran.code, 1, "{command:?} {ran:?}");
        assert!(
            ran.err.contains("store has schema 99") && ran.err.contains("hint: use the newer slop"),
            "{}",
            ran.err
        );
    }
    let ran = sandbox.slop(&["index", "--json"]);
    assert!(ran.out.contains("\"code\":\"store_too_new\""), "{}", ran.out);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_deleted_store_is_recreated() {
    let sandbox = project();
    let right = answers(&sandbox);
    fs::remove_file(sandbox.path(".slop_cache/index.db")).unwrap();
    assert_eq!(answers(&sandbox), right);
    fs::remove_dir_all(sandbox.path(".slop_cache")).unwrap();
    assert_eq!(answers(&sandbox), right);
}

#[test]
fn without_a_cache_the_answers_are_the_same() {
    let sandbox = project();
    let right = answers(&sandbox);
    let other = project();
    other.git(&["config", "core.excludesFile", "/dev/null"]);
    fs::write(other.path(".git/info/exclude"), "slop.toml\n").unwrap();
    other.write("slop.toml", "[aggregation]\ncache_enabled = false\n");
    assert_eq!(answers(&other), right);
    assert!(!other.path(".slop_cache").exists());
}

/// Puts something in the place of the cache's folder; the answers are right, with a note.
#[track_caller]
fn check_without_folder(harm: impl Fn(&Sandbox)) {
    let sandbox = project();
    let right = answers(&sandbox);
    fs::remove_dir_all(sandbox.path(".slop_cache")).unwrap();
    fs::write(sandbox.path(".git/info/exclude"), ".slop_cache\n").unwrap();
    harm(&sandbox);
    for (question, right) in QUESTIONS.iter().zip(right) {
        let ran = sandbox.slop(question);
        assert_eq!((ran.code, ran.out), (0, right), "{}", ran.err);
        assert!(ran.err.contains("nothing is kept"), "{}", ran.err);
    }
}

#[test]
fn a_file_or_a_link_in_place_of_the_cache_is_untouched() {
    check_without_folder(|sandbox| sandbox.write(".slop_cache", "mine\n"));
    check_without_folder(|sandbox| {
        let outside = sandbox.outside("outside");
        let _ = fs::create_dir(&outside);
        std::os::unix::fs::symlink(&outside, sandbox.path(".slop_cache")).unwrap();
    });
}

#[test]
fn a_read_only_cache_does_not_affect_answers() {
    let sandbox = project();
    let right = answers(&sandbox);
    sandbox.write("src/new.py", "def fresh(): pass\n");
    let folder = sandbox.path(".slop_cache");
    for entry in fs::read_dir(&folder).unwrap() {
        fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(0o444)).unwrap();
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let said = sandbox.stdout_of(&["outline", "--json"]);
    assert!(said.contains("fresh") && said.len() > right[0].len());
    let again = answers(&sandbox);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(again[2].contains("src/new.py"));
    assert_eq!(again[4], right[4]);
}

#[test]
fn the_cache_folder_hides_itself_from_git_and_from_backups() {
    let sandbox = project();
    sandbox.stdout_of(&["index"]);
    assert_eq!(sandbox.read(".slop_cache/.gitignore"), "*\n");
    let tag = sandbox.read(".slop_cache/CACHEDIR.TAG");
    assert!(tag.starts_with("Signature: 8a477f597d28d172789f06886806bc55\n"));
    let mode = fs::metadata(sandbox.path(".slop_cache")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), b"");
}

#[test]
fn no_read_only_command_writes_outside_of_the_cache() {
    let sandbox = project();
    let before = sandbox.tree();
    let git_before = fs::metadata(sandbox.path(".git/index")).unwrap().modified().unwrap();
    let others: [&[&str]; 10] = [
        &["index"],
        &["status"],
        &["explain", "src"],
        &["cache", "status"],
        &["cache", "verify"],
        &["cache", "gc"],
        &["cache", "export"],
        &["config", "show"],
        &["man"],
        &["cache", "clear"],
    ];
    for command in QUESTIONS.iter().chain(&others) {
        sandbox.stdout_of(command);
    }
    assert!(sandbox.tree() == before);
    assert_eq!(fs::metadata(sandbox.path(".git/index")).unwrap().modified().unwrap(), git_before);
    for folder in ["home", "config"] {
        assert_eq!(fs::read_dir(sandbox.outside(folder)).unwrap().count(), 0);
    }
}

#[test]
fn the_cache_is_in_the_configured_folder() {
    let sandbox = project();
    sandbox.write("slop.toml", "[aggregation]\ncache_dir = \"var/cache\"\n");
    sandbox.stdout_of(&["index"]);
    assert!(sandbox.path("var/cache/index.db").is_file());
    assert!(!sandbox.path(".slop_cache").exists());
    assert!(sandbox.status().iter().all(|(path, _)| !path.starts_with("var/")));
}
