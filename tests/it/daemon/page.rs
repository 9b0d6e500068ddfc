//! `slop ui`: the web page's port, and the browser that is opened on it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::super::sandbox::{Sandbox, run, text};
use super::harness::{TestDaemon, wait_until};

/// Returns the status line of a request to the page's port.
fn request(host: &str, line: &str, rest: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(host)?;
    write!(stream, "{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{rest}")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned())
}

#[test]
fn slop_ui_starts_the_daemon_and_opens_the_page_in_the_users_browser() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def one():\n    return 1\n");
    let programs = sandbox.outside("programs");
    fs::create_dir(&programs).unwrap();
    let install = |name: &str, text: &str| {
        let file = programs.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    };
    let opened = sandbox.outside("opened");
    let browser = install("browser", &format!("#!/bin/sh\necho \"$1 $2\" >> {}\n", opened.display()));
    let broken = install("broken", "#!/bin/sh\nexit 3\n");

    let printed = sandbox.stdout_of(&["ui", "--print"]);
    let (host, ticket) = printed.trim().strip_prefix("http://").unwrap().split_once("/#").unwrap();
    assert_eq!(request(host, "GET /", "\r\n").unwrap(), "HTTP/1.1 200 OK");
    assert_eq!(request(host, "GET /v1/status", "\r\n").unwrap(), "HTTP/1.1 401 Unauthorized");
    let body = format!("{{\"ticket\":\"{ticket}\"}}");
    let head = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    assert_eq!(request(host, "POST /ui/session", &(head + &body)).unwrap(), "HTTP/1.1 200 OK");
    assert!(!opened.exists());

    let mut command = sandbox.command(&["ui"]);
    command.env("BROWSER", format!("{}:{} --new %s", broken.display(), browser.display()));
    let ran = run(command);
    assert_eq!(ran.code, 0, "{ran:?}");
    // All tickets are for one port; the browser gets the address that is printed.
    assert!(ran.out.starts_with(&format!("http://{host}/#")) && !ran.out.contains(ticket), "{ran:?}");
    assert_eq!(fs::read_to_string(&opened).unwrap(), format!("--new {}", ran.out));

    let mut command = sandbox.command(&["ui"]);
    command.env("BROWSER", &broken).env("SSH_CONNECTION", "192.0.2.1 1 192.0.2.2 22");
    let ran = run(command);
    assert!(ran.out.starts_with(&format!("http://{host}/#")), "{ran:?}");
    let port = host.rsplit_once(':').unwrap().1;
    assert!(ran.err.contains("no browser could be opened"), "{ran:?}");
    assert!(ran.err.contains(&format!("ssh -L {port}:127.0.0.1:{port} ")), "{ran:?}");

    assert_eq!(sandbox.slop(&["daemon", "stop"]).code, 0);
    assert!(request(host, "GET /", "\r\n").is_err());
}

#[test]
fn the_table_of_a_large_project_is_updated_from_events_on_request() {
    let sandbox = Sandbox::repo();
    for file in 0..2_001 {
        sandbox.write(format!("src/file_{file:04}.py"), "");
    }
    let daemon = TestDaemon::start(&sandbox);
    let ask = |since: &Value, trust_events: bool| {
        let query = json!({"choice": {"tier": 3}, "since": since, "trust_events": trust_events});
        daemon.query("/v1/table", &query)
    };
    let whole = ask(&Value::Null, false);
    assert_eq!(whole["freshness"], "fresh");
    let mut delta = whole;
    let mut edits = 0;
    // A daemon that has just started compares all files until each has been checked.
    wait_until("it trusts events", || {
        edits += 1;
        // Each text has a different number of lines, which its row shows.
        sandbox.write("src/file_0007.py", "x = 1\n".repeat(edits));
        delta = ask(&delta["data"]["clock"], true);
        delta["freshness"] == "stale"
    });
    assert_eq!(delta["data"]["rows"], json!([7]), "{delta}");
    assert_eq!(delta["reason"], "only files reported by file events were checked");
    let same = ask(&delta["data"]["clock"], false);
    assert_eq!((&same["freshness"], &same["reason"]), (&json!("fresh"), &Value::Null), "{same}");
}

#[test]
fn the_table_has_all_files_and_then_the_changes() {
    let sandbox = Sandbox::repo();
    sandbox.write("src/a.py", "def one():\n    return 1\n");
    sandbox.write("src/deep/b.py", "def two():\n    return 2\n");
    sandbox.write("z\nz.py", "def odd():\n    return 3\n");
    sandbox.write(".env", "KEY=1\n");
    let daemon = TestDaemon::start(&sandbox);
    let ask = |since: Option<&Value>| {
        let query = json!({"choice": {"tier": 3, "focus": ["src/a.py"]}, "since": since});
        daemon.query("/v1/table", &query)["data"].take()
    };
    let whole = ask(None);
    assert_eq!(whole["folders"], json!(["", "src", "src/deep"]));
    assert_eq!(whole["starts"], json!([0, 2, 3]));
    assert_eq!(whole["names"], ".env\nz\\u{a}z.py\na.py\nb.py\n");
    assert_eq!(whole["hex"], json!({"1": "7a0a7a2e7079"}));
    let named = |table: &Value, column: &str, list: &str, row: usize| {
        let position = table[column][row].as_u64().unwrap();
        text(&table[list][usize::try_from(position).unwrap()])
    };
    assert_eq!(named(&whole, "state", "states", 0), "left_out");
    assert_eq!(named(&whole, "why", "whys", 0), "secret");
    assert_eq!(named(&whole, "state", "states", 2), "fresh");
    assert_eq!(
        (named(&whole, "view", "views", 2), named(&whole, "rule", "rules", 2)),
        ("full".into(), "focus".into())
    );

    let same = ask(Some(&whole["clock"]));
    assert_eq!(
        (&same["clock"], &same["since"], &same["rows"]),
        (&whole["clock"], &whole["clock"], &json!([]))
    );
    assert!(same.get("names").is_none());

    sandbox.write("src/a.py", "def one():\n    return 1\n\n\ndef three():\n    return 3\n");
    let changed = ask(Some(&whole["clock"]));
    assert_eq!((&changed["since"], &changed["rows"]), (&whole["clock"], &json!([2])));
    assert_ne!(changed["clock"], whole["clock"]);
    assert!(whole["tokens"][2].as_u64() < changed["tokens"][0].as_u64(), "{changed}");

    sandbox.write("src/c.py", "def four():\n    return 4\n");
    let grown = ask(Some(&changed["clock"]));
    assert_eq!((&grown["since"], &grown["files"]), (&Value::Null, &json!(5)));
    assert_eq!(grown["names"], ".env\nz\\u{a}z.py\na.py\nc.py\nb.py\n");
}
