//! No byte from outside the project is shown to a client, however it is requested (F80).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use super::super::mcp::McpClient;
use super::super::sandbox::Sandbox;
use super::harness::{TestDaemon, rounds};

/// Markers in the outside files, in each form in which they could be shown.
const CANARY: &str = "canary_4e1f";

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("src/a.py", "def a():\n    return 1\n");
    fs::create_dir(sandbox.outside("out")).unwrap();
    for file in ["outside.py", "out/inner.py", "project.py"] {
        fs::write(sandbox.outside(file), format!("def {CANARY}():\n    \"\"\"{CANARY}\"\"\"\n")).unwrap();
    }
    fs::write(sandbox.outside("talk.json"), format!("[\"User: {CANARY}\"]")).unwrap();
    let links = [
        ("link.py", sandbox.outside("outside.py")),
        ("relative.py", Path::new("../outside.py").to_owned()),
        ("src/up.py", Path::new("../../outside.py").to_owned()),
        ("folder", sandbox.outside("out")),
        ("root", Path::new("/").to_owned()),
        ("twice.py", Path::new("link.py").to_owned()),
        ("talk.json", sandbox.outside("talk.json")),
        ("history.toml", sandbox.outside("talk.json")),
        ("process", Path::new("/proc/self/root").to_owned()),
    ];
    for (name, target) in links {
        symlink(target, sandbox.path(name)).unwrap();
    }
    sandbox
}

/// Returns the ways to name outside files.
fn escape_vectors(sandbox: &Sandbox) -> Vec<String> {
    let outside = sandbox.outside("outside.py").to_str().unwrap().to_owned();
    let beside = sandbox.outside("").to_str().unwrap().trim_end_matches('/').to_owned();
    let root = sandbox.root().to_str().unwrap().to_owned();
    let ups = [
        "../",
        "./../",
        "src/../../",
        "src/./../../",
        "..//",
        ".//..//",
        "../project/../",
        "..\\",
        "src\\..\\..\\",
        "%2e%2e/",
        "%2e%2e%2f",
        "..%2f",
        "..%5c",
        "%252e%252e/",
        "..%c0%af",
        "\u{ff0e}\u{ff0e}/",
        "..\u{2215}",
        "..\0/",
        "\0../",
        " ../",
        "../ ",
        "~/../",
        "$HOME/../",
        "{..,.}/",
        "[.][.]/",
        "?./",
        "*/../../",
        "**/../../",
        "!../",
        ":../",
        "-/../",
        "src/../../project/../",
        "link.py/../../",
        "folder/../",
        "folder/../../",
        "root/../",
        "../../../../../../../../../..",
        "src/a.py/../../../",
        "nothing/../../",
        "./././../",
        ".../../../",
        "\u{202e}../",
        "..;/",
        "../\r\n",
        "\t../",
    ];
    let targets = ["outside.py", "out/inner.py", "out", "project.py", "*.py"];
    let mut found: Vec<String> =
        ups.iter().flat_map(|up| targets.iter().map(move |target| format!("{up}{target}"))).collect();
    for link in [
        "link.py", "relative.py", "src/up.py", "folder", "folder/inner.py", "folder/", "folder/*", "twice.py",
    ] {
        found.extend([
            link.to_owned(),
            format!("./{link}"),
            format!("{root}/{link}"),
            format!("src/../{link}"),
        ]);
    }
    for scheme in [
        "", "file:", "file://", "file://localhost", "/", "//", "\\\\?\\", "slop://view/full", "root",
        "process",
    ] {
        found.extend([
            format!("{scheme}{outside}"),
            format!("{scheme}{beside}/out/inner.py"),
            format!("{scheme}{beside}"),
        ]);
        found.push(format!("{scheme}{root}/../outside.py"));
    }
    found.extend(
        ["/proc/self/cwd/../outside.py", "/proc/self/root", "/dev/fd/0", "..", "/", "~"].map(str::to_owned),
    );
    found.extend(["outside.py:1", "../outside.py:1", "link.py:1", "../outside.py:1-2"].map(str::to_owned));
    found
}

#[track_caller]
fn assert_nothing_leaked(said: &str, vector: &str, how: &str) {
    assert!(!said.contains(CANARY), "{vector:?} by {how}: {said}");
}

#[test]
fn files_outside_the_project_are_not_shown_over_http() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    let vectors = escape_vectors(&sandbox);
    assert!(200 <= vectors.len(), "{}", vectors.len());
    let mut shown = 0;
    for (number, vector) in vectors.iter().enumerate() {
        let often = [
            ("/v1/view", json!({"files": [vector], "mode": "full"})),
            ("/v1/aggregate", json!({"files": [vector], "choice": {"strategy": "full"}})),
        ];
        let seldom = [
            ("/v1/outline", json!({"files": [vector]})),
            ("/v1/aggregate", json!({"choice": {"focus": [vector], "tier": 3}})),
            ("/v1/explain", json!({"file": vector, "choice": {"tier": 1}})),
            ("/v1/view", json!({"files": [vector], "mode": "diff", "against": vector})),
            ("/v1/aggregate", json!({"files": ["src"], "beside": {"history": vector}})),
            (
                "/v1/aggregate",
                json!({"files": ["src"], "beside": {"screenshots": [vector], "screenshots_inline": true}}),
            ),
            ("/v1/aggregate", json!({"choice": {"preset": vector, "persona": vector}})),
        ];
        let seldom = seldom.into_iter().filter(|_| number % rounds(6, 1) == 0);
        for (route, ask) in often.into_iter().chain(seldom) {
            let (code, envelope) = connection.try_query(route, &ask);
            assert!([200, 404, 422].contains(&code), "{ask}: {code} {envelope}");
            assert_nothing_leaked(&envelope.to_string(), vector, route);
            shown += usize::from(code == 200);
        }
        // The path of a request names only a route.
        let path: String = vector.bytes().fold(String::new(), |path, byte| path + &format!("%{byte:02x}"));
        let (code, envelope) = connection.exchange("GET", &format!("/v1/{path}"), None).unwrap();
        assert_eq!(code, 404, "{vector:?}");
        assert_nothing_leaked(&envelope.to_string(), vector, "path");
    }
    // Most are refused; links, and paths that `src/../` keeps inside, are reported as what they are.
    assert!(shown < vectors.len() * 2, "{shown}");
    assert_eq!(connection.text("src/a.py").as_deref(), Some("def a():\n    return 1\n"));
}

#[test]
fn files_outside_the_project_are_not_shown_over_mcp() {
    for has_daemon in [true, false] {
        let sandbox = project();
        let _daemon = has_daemon.then(|| TestDaemon::start(&sandbox));
        let mut agent = McpClient::start(&sandbox);
        for vector in escape_vectors(&sandbox).iter().step_by(rounds(if has_daemon { 5 } else { 30 }, 1)) {
            let calls = [
                ("slop_view", json!({"files": [vector], "mode": "full"})),
                ("slop_outline", json!({"files": [vector]})),
                ("slop_aggregate", json!({"files": [vector], "focus": [vector]})),
                ("slop_view", json!({"files": ["src/a.py"], "mode": "diff", "against": vector})),
            ];
            for (tool, arguments) in calls {
                let answer = agent.request("tools/call", &json!({"name": tool, "arguments": arguments}));
                assert_nothing_leaked(&answer.to_string(), vector, tool);
            }
            for address in [format!("slop://view/full/{vector}"), vector.clone(), format!("file://{vector}")]
            {
                let answer = agent.request("resources/read", &json!({"uri": address}));
                assert_nothing_leaked(&answer.to_string(), vector, "resources/read");
                assert_ne!(answer["error"]["code"], Value::Null, "{answer}");
            }
        }
        agent.close();
    }
}

#[test]
fn files_outside_the_project_are_not_shown_by_any_command() {
    let sandbox = project();
    let _daemon = TestDaemon::start(&sandbox);
    for vector in
        escape_vectors(&sandbox).iter().filter(|vector| !vector.contains('\0')).step_by(rounds(9, 1))
    {
        let commands: [&[&str]; 4] = [
            &["view", "--mode", "full", "--", vector],
            &["outline", "--", vector],
            &["aggregate", "--stdout", "--tier", "3", "--focus", vector],
            &["aggregate", "--stdout", "--no-daemon", "--", vector],
        ];
        for command in commands {
            let ran = sandbox.slop(command);
            // 4: the discussion is a link and is therefore left out.
            assert!([0, 1, 2, 4].contains(&ran.code), "{command:?}: {ran:?}");
            assert_nothing_leaked(&ran.out, vector, command[0]);
            assert_nothing_leaked(&ran.err, vector, command[0]);
        }
    }
}

#[test]
fn outside_files_named_by_project_settings_are_not_shown() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    for path in ["link.py", "folder/inner.py", "../outside.py", "src/../../outside.py", "root/etc/passwd"] {
        let file = format!("[[presets.escape.files]]\npath = \"{path}\"\nview_mode = \"full\"\n");
        let history = format!("[sections]\nhistory = \"{path}\"\n");
        for settings in [&file, &file.replace("view_mode = \"full\"\n", ""), &history] {
            sandbox.write("slop.toml", settings);
            for choice in [json!({"preset": "escape"}), json!({"tier": 3})] {
                let (_, envelope) = daemon.connect().try_query("/v1/aggregate", &json!({"choice": choice}));
                assert_nothing_leaked(&envelope.to_string(), settings, "aggregate");
            }
        }
        sandbox.write("slop.toml", &file);
        let ran = sandbox.slop(&["aggregate", "--preset", "escape", "--stdout"]);
        assert_nothing_leaked(&format!("{ran:?}"), path, "aggregate");
    }
}
