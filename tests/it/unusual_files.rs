//! Files that are not UTF-8 text or have unusual names: each is listed with its kind, and none blocks a run.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};

use super::daemon::harness::TestDaemon;
use super::mcp::McpClient;
use super::sandbox::{Sandbox, list, report_skipped, run, text};

#[test]
fn a_name_that_is_not_utf_8_is_found_in_every_spelling_by_every_client() {
    let sandbox = Sandbox::repo();
    sandbox.write(b"odd\xff/b\xfe.py", "def f():\n    return 1\n");
    sandbox.write("a.py", "def a():\n    return 1\n");
    sandbox.write(b"talk\xff.json", "[\"said\"]");
    let printed = "odd\\xff/b\\xfe.py";
    let daemon = TestDaemon::start(&sandbox);
    let shown = format!("{printed} · ");
    for flags in ["", "--no-daemon"] {
        for script in [
            r#"$SLOP view "$(printf 'odd\377/b\376.py')""#,
            r"$SLOP view 'odd\xff/b\xfe.py'",
            r"$SLOP view './odd\xff//b\xfe.py'",
            r"$SLOP view 'odd\xff'",
            r#"$SLOP view "$(printf '%s/odd\377/b\376.py' "$PWD")""#,
            r#"cd "$(printf 'odd\377')" && $SLOP view "$(printf 'b\376.py')""#,
            r#"cd "$(printf 'odd\377')" && $SLOP view 'b\xfe.py'"#,
        ] {
            let ran = run(sandbox.script(&format!("{script} {flags}")));
            assert!(ran.code == 0 && ran.out.starts_with(&shown), "{script}: {ran:?}");
        }
    }
    let status = sandbox.stdout_of(&["status", "--all"]);
    assert!(status.contains(printed), "{status}");
    let script = r#"$SLOP aggregate --stdout --history "$(printf 'talk\377.json')" --history-only"#;
    let ran = run(sandbox.script(script));
    assert!(ran.out.contains("said"), "{ran:?}");
    sandbox.write("slop.toml", "[[files]]\npath = 'odd\\xff/b\\xfe.py'\nview_mode = 'outline'\n");
    let explained = sandbox.stdout_of(&["explain", printed]);
    assert!(explained.contains("view_mode: outline"), "{explained}");

    let answer = daemon.query("/v1/view", &json!({"files": [printed]}));
    assert_eq!(answer["data"][0]["path_hex"], "6f6464ff2f62fe2e7079", "{answer}");
    let mut agent = McpClient::start(&sandbox);
    let call = |files: Value| json!({"name": "slop_view", "arguments": {"files": files}});
    let answer = agent.request("tools/call", &call(json!([printed])));
    let text = text(&answer["result"]["content"][0]["text"]);
    assert!(text.starts_with(&format!("### {printed}\n")), "{text}");
    for uri in ["slop://view/full/odd%FF/b%FE.py", "slop://view/full/odd%5Cxff/b%5Cxfe.py"] {
        let answer = agent.request("resources/read", &json!({"uri": uri}));
        assert_eq!(answer["result"]["contents"][0]["text"], "def f():\n    return 1\n", "{answer}");
    }
    agent.close();
}

#[test]
fn a_name_that_looks_escaped_is_used_literally() {
    let sandbox = Sandbox::repo();
    sandbox.write("b\\xff.py", "plain = 1\n");
    assert!(sandbox.stdout_of(&["view", "--bare", "b\\xff.py", "-m", "full"]).contains("plain = 1"));
}

/// Writes one file of each kind that has no text.
fn write_unusual_files(sandbox: &Sandbox) {
    sandbox.write("a.py", "def a():\n    return 1\n");
    sandbox.write("slop.toml", "[limits]\nstructure_max_bytes = 1000\nmax_bytes = 500\n");
    sandbox.write("binary.dat", b"\0\x01\x02\x03\xff\xfe\xfd");
    sandbox.write("large.txt", "line\n".repeat(300));
    sandbox.write(".env", "TOKEN=hunter2\n");
    sandbox.write("keys/id_rsa", "hunter2\n");
    sandbox.write("history.toml", "hunter2 = 1\n");
    sandbox.write("my_history.toml", "hunter2 = 1\n");
    sandbox.write("undecodable.txt", b"\xff\xfea\0b\0\x00\xd8");
    fs::write(sandbox.outside("outside.txt"), "hunter2\n").unwrap();
    symlink("a.py", sandbox.path("inside_link.py")).unwrap();
    symlink("../outside.txt", sandbox.path("outside_link.txt")).unwrap();
    symlink("nowhere", sandbox.path("dangling_link")).unwrap();
    symlink("..", sandbox.path("folder_link")).unwrap();
}

fn add_special_files(sandbox: &Sandbox) -> UnixListener {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let fifo = sandbox.path("pipe.py");
    rustix::fs::mknodat(rustix::fs::CWD, fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    UnixListener::bind(sandbox.path("socket.py")).unwrap()
}

const LEFT_OUT: [(&str, &str); 11] = [
    (".env", "secret"),
    ("binary.dat", "binary"),
    ("dangling_link", "symlink"),
    ("folder_link", "symlink"),
    ("history.toml", "history"),
    ("inside_link.py", "symlink"),
    ("keys/id_rsa", "secret"),
    ("large.txt", "too_large"),
    ("my_history.toml", "history"),
    ("outside_link.txt", "symlink"),
    ("undecodable.txt", "undecodable"),
];

#[test]
fn files_without_text_are_listed_with_the_reason() {
    let sandbox = Sandbox::repo();
    write_unusual_files(&sandbox);
    let ran = sandbox.slop(&["index"]);
    assert_eq!(ran.code, 4, "an undecodable file is reported by the exit code: {ran:?}");
    let status = sandbox.status();
    for (path, reason) in LEFT_OUT {
        assert!(status.contains(&(path.to_owned(), reason.to_owned())), "{path} {reason}: {status:?}");
    }
    assert_eq!(status.len(), LEFT_OUT.len() + 2);
}

#[test]
fn skipped_files_are_never_shown_and_all_are_in_the_receipt() {
    let sandbox = Sandbox::repo();
    write_unusual_files(&sandbox);
    for tier in ["1", "2", "3", "4"] {
        let flags = ["aggregate", "--tier", tier, "--strategy", "full", "--stdout"];
        let ran = sandbox.slop(&flags);
        assert_eq!(ran.code, 4);
        assert!(!ran.out.contains("hunter2"), "{}", ran.out);
        let ran = sandbox.slop(&[&flags[..], &["--json"]].concat());
        let receipt = super::sandbox::data(&ran.out)["receipt"].take();
        let again =
            super::sandbox::data(&sandbox.slop(&[&flags[..], &["--json"]].concat()).out)["receipt"].take();
        assert_eq!(receipt, again, "the listing may differ");
        let large = list(&receipt["left_out"]).find(|file| file["path"] == "large.txt").unwrap();
        assert_eq!((&large["reason"], &large["size"]), (&json!("too_large"), &json!(1_500)));
        let mut paths: Vec<String> = list(&receipt["files"])
            .chain(list(&receipt["left_out"]))
            .map(|file| text(&file["path"]))
            .collect();
        paths.sort();
        let listed: Vec<String> = sandbox.status().into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, listed);
    }
}

#[test]
fn viewing_a_skipped_file_by_name_is_refused() {
    let sandbox = Sandbox::repo();
    write_unusual_files(&sandbox);
    for (path, _) in LEFT_OUT {
        let ran = sandbox.slop(&["view", path]);
        ran.assert_fails(1, &[path, "hint:"]);
    }
    sandbox.slop(&["view", ".env"]).assert_fails(1, &["secrets.allow"]);
    sandbox.slop(&["view", "folder_link/outside.txt"]).assert_fails(1, &["folder_link/outside.txt"]);
    sandbox.slop(&["outline", "folder_link/project/a.py"]).assert_fails(1, &["folder_link/project/a.py"]);
}

#[test]
fn a_file_that_the_project_allows_is_shown_without_its_secrets() {
    let sandbox = Sandbox::repo();
    sandbox.write(".env", "TOKEN=hunter2\n");
    sandbox.write(".env.example", "TOKEN=\n");
    sandbox.write("slop.toml", "[secrets]\nallow = [\".env\"]\n");
    let shown = sandbox.stdout_of(&["view", ".env"]);
    assert!(shown.contains("TOKEN=(redacted:") && !shown.contains("hunter2"), "{shown}");
    sandbox.slop(&["view", ".env.example"]).assert_fails(1, &["holds secrets"]);
}

#[test]
fn fifos_and_sockets_are_never_opened() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "x = 1\n");
    let _listener = add_special_files(&sandbox);
    for (path, state) in sandbox.status() {
        assert_eq!(state, if path == "a.py" { "new" } else { "special" }, "{path}");
    }
    assert_eq!(sandbox.json(&["index"])["left_out"]["special"], 2);
    for name in ["pipe.py", "socket.py"] {
        sandbox.slop(&["view", name]).assert_fails(1, &[name, "never opened"]);
    }
}

#[test]
fn a_tracked_file_replaced_by_a_fifo_is_never_opened() {
    let sandbox = Sandbox::repo();
    sandbox.write("pipe.py", "x = 1\n");
    sandbox.commit_all("first");
    sandbox.stdout_of(&["index"]);
    fs::remove_file(sandbox.path("pipe.py")).unwrap();
    let _listener = add_special_files(&sandbox);
    let status = sandbox.status();
    assert!(status.contains(&("pipe.py".to_owned(), "special".to_owned())), "{status:?}");
    assert_eq!(sandbox.json(&["index"])["left_out"]["special"], 1);
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
}

#[test]
fn a_deleted_tracked_file_is_listed_as_vanished() {
    let sandbox = Sandbox::repo();
    sandbox.write("gone.py", "x = 1\n");
    sandbox.commit_all("first");
    fs::remove_file(sandbox.path("gone.py")).unwrap();
    assert_eq!(sandbox.status(), [("gone.py".to_owned(), "vanished".to_owned())]);
}

#[test]
fn a_tracked_folder_replaced_by_an_outside_link_is_not_followed() {
    let sandbox = Sandbox::repo();
    sandbox.write("src/secret.txt", "x\n");
    sandbox.commit_all("first");
    fs::remove_dir_all(sandbox.path("src")).unwrap();
    let outside = sandbox.outside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.txt"), "hunter2\n").unwrap();
    symlink(&outside, sandbox.path("src")).unwrap();
    let ran = sandbox.slop(&["aggregate", "--strategy", "full", "--stdout"]);
    assert!(!ran.out.contains("hunter2"), "{}", ran.out);
    assert!(!sandbox.slop(&["view", "src/secret.txt"]).out.contains("hunter2"));
}

#[test]
fn an_unreadable_file_is_listed_as_such() {
    let sandbox = Sandbox::repo();
    sandbox.write("closed.py", "x = 1\n");
    fs::set_permissions(sandbox.path("closed.py"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(sandbox.path("closed.py")).is_ok() {
        report_skipped("this user may read everything, so that no file is unreadable");
        return;
    }
    let ran = sandbox.slop(&["index", "--json"]);
    assert_eq!(ran.code, 4);
    assert_eq!(super::sandbox::data(&ran.out)["left_out"]["unreadable"], 1);
    let says = |args: &[&str]| sandbox.slop(args).err.contains("closed.py cannot be read");
    for question in [&["symbol", "x"][..], &["search", "x"], &["outline"], &["refs", "x"], &["find", "x"]] {
        assert!(says(question), "{question:?}");
    }
    sandbox.slop(&["view", "closed.py"]).assert_fails(1, &["cannot be read", "check the permissions"]);
}

#[test]
fn an_unreadable_folder_is_listed_as_such() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "x = 1\n");
    sandbox.write("closed/b.py", "y = 1\n");
    let set_mode = |mode| {
        fs::set_permissions(sandbox.path("closed"), fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(0o000);
    if fs::read_dir(sandbox.path("closed")).is_ok() {
        report_skipped("this user may read everything, so that no folder is unreadable");
        return;
    }
    let ran = sandbox.slop(&["index", "--json"]);
    let status = sandbox.slop(&["status", "--all"]);
    let document = sandbox.slop(&["aggregate", "--stdout"]);
    set_mode(0o700);
    assert_eq!((ran.code, &super::sandbox::data(&ran.out)["left_out"]["unreadable"]), (4, &1.into()));
    assert!(status.out.contains("left out  closed  (unreadable"), "{status:?}");
    assert!(
        document.code == 4 && document.err.contains("could not show closed: cannot be read"),
        "{document:?}"
    );
    // Without an edit in it.
    assert_eq!(sandbox.json(&["index"])["parsed"], 1);
}

#[track_caller]
fn check_text(bytes: &[u8], expected: &str, remark: &str) {
    let sandbox = Sandbox::repo();
    sandbox.write("a.txt", bytes);
    let view = &sandbox.json(&["view", "a.txt"])[0];
    assert_eq!(text(&view["text"]), expected);
    assert!(text(&view["head"]).contains(remark), "{view}");
    assert_eq!(sandbox.stdout_of(&["view", "a.txt", "--bare"]), expected);
}

#[test]
fn texts_in_other_encodings_are_shown_and_marked() {
    check_text(b"\xef\xbb\xbfgr\xc3\xbcn\n", "grün\n", "");
    check_text(b"\xff\xfeg\0r\0\xfc\0n\0\n\0", "grün\n", "UTF-16");
    check_text(b"\xfe\xff\0g\0r\0\xfc\0n\0\n", "grün\n", "UTF-16");
    check_text(b"gr\xfcn und gelb\n", "grün und gelb\n", "windows-1252");
    check_text(b"", "", "");
}

/// Writes files whose names break careless code.
const NAMES: [&[u8]; 12] = [
    b"not\xffutf8.py",
    b"new\nline.py",
    b"\x1b[31mred.py",
    b"--tier.py",
    b"-x.py",
    b"with space.py",
    b" lead.py",
    "caf\u{e9}.py".as_bytes(),
    "cafe\u{301}.py".as_bytes(),
    b"star*[a]{b}?.py",
    b"back\\slash.py",
    b"a:12.py",
];

fn write_unusual_names(sandbox: &Sandbox) {
    for (number, name) in NAMES.iter().enumerate() {
        sandbox.write(name, format!("def f{number}(): pass\n"));
    }
    sandbox.write([b'n'; 255], "long\n");
}

#[test]
fn files_with_unusual_names_are_read_like_others() {
    for sandbox in [Sandbox::new(), Sandbox::repo()] {
        write_unusual_names(&sandbox);
        assert_eq!(sandbox.json(&["index"])["files"], NAMES.len() + 1);
        assert_eq!(sandbox.json_lines(&["outline"]).len(), NAMES.len());
        let receipt = sandbox.json(&["aggregate", "--tier", "1", "--stdout"])["receipt"].take();
        assert_eq!(list(&receipt["files"]).count(), NAMES.len() + 1);
        let hex = list(&receipt["files"]).find_map(|file| file["path_hex"].as_str()).unwrap();
        assert_eq!(hex, "6e6f74ff757466382e7079");
        assert!(sandbox.stdout_of(&["symbol", "f1"]).starts_with("new\\u{a}line.py:1-1 "));
    }
}

#[test]
fn a_file_name_can_neither_break_a_line_nor_color_the_terminal() {
    let sandbox = Sandbox::repo();
    write_unusual_names(&sandbox);
    for command in [&["status"][..], &["outline"], &["aggregate", "--tier", "1", "--stdout"]] {
        let said = sandbox.stdout_of(command);
        assert!(!said.contains('\u{1b}'), "{said}");
        assert!(!said.contains("new\nline"), "{said}");
    }
}

#[test]
fn a_file_with_an_unusual_name_is_found_by_that_name() {
    let sandbox = Sandbox::repo();
    write_unusual_names(&sandbox);
    for (number, name) in NAMES.iter().enumerate().skip(1) {
        let arguments = [OsStr::new("view"), OsStr::new("--bare"), OsStr::new("--"), OsStr::from_bytes(name)];
        let ran = sandbox.slop(&arguments);
        assert_eq!(ran.out, format!("def f{number}(): pass\n"), "{ran:?}");
    }
}

#[test]
fn a_file_with_an_unusual_name_can_be_focused() {
    let sandbox = Sandbox::repo();
    write_unusual_names(&sandbox);
    // An invalid pattern is refused even if a file has that name.
    for name in NAMES.iter().skip(1).filter(|name| !name.starts_with(b"\x1b[")) {
        let focus = [&b"--focus="[..], name].concat();
        let arguments = ["aggregate", "--tier=3", "--stdout", "--json"].map(OsStr::new);
        let ran = sandbox.slop(&[&arguments[..], &[OsStr::from_bytes(&focus)]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        let receipt = super::sandbox::data(&ran.out)["receipt"].take();
        let focused: Vec<String> = list(&receipt["files"])
            .filter(|file| file["rule"] == "focus")
            .map(|file| text(&file["path"]))
            .collect();
        assert_eq!(focused, [String::from_utf8(name.to_vec()).unwrap()]);
    }
}

#[test]
fn an_argument_that_is_not_utf8_names_its_file() {
    let sandbox = Sandbox::repo();
    write_unusual_names(&sandbox);
    let ran = sandbox.slop(&[OsStr::new("view"), OsStr::from_bytes(NAMES[0])]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(ran.out.ends_with("def f0(): pass\n"), "{ran:?}");
}
