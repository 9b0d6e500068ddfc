//! Control sequences in the text of files.

use std::process::Command;

use super::sandbox::{Sandbox, report_skipped, run};

#[test]
fn no_escape_sequence_in_a_file_reaches_a_terminal() {
    if Command::new("python3").arg("--version").output().is_err() {
        return report_skipped("there is no python3");
    }
    let sandbox = Sandbox::new();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[31m\u{9b}2J\u{7f}";
    sandbox.write("a.py", format!("def f(x=\"{evil}\"):\n    \"\"\"Doc {evil}.\"\"\"\n    return 1\n"));
    sandbox.write("README.md", format!("# Title {evil}\n"));
    sandbox.write("slop.toml", "[project]\noutput_dir = \"o\\u001b]0;owned\\u0007\"\n");
    for arguments in [
        "view a.py --bare",
        "aggregate --stdout",
        "outline",
        "symbol f",
        "symbol f --definition",
        "search Doc",
        "--json view a.py",
        "--json outline",
        "cache export",
        "aggregate",
    ] {
        let piped = sandbox.stdout_of(&arguments.split(' ').collect::<Vec<_>>());
        // Without standard error, on which a terminal gets a progress bar.
        let program = format!("exec \\\"\\$SLOP\\\" --color never {arguments} 2>/dev/null");
        let spawn = "import pty, sys; sys.exit(pty.spawn([\"sh\", \"-c\", sys.argv[1]]) >> 8)";
        let script = format!("python3 -c '{spawn}' \"{program}\"");
        let shown = run(sandbox.script(&script));
        assert_eq!(shown.code, 0, "{arguments}: {shown:?}");
        assert!(!shown.out.contains(['\u{1b}', '\u{7}', '\u{7f}', '\u{9b}']), "{arguments}: {:?}", shown.out);
        if arguments.starts_with("view") {
            assert!(piped.contains(evil) && shown.out.contains("␛]0;owned␇␛[31m"), "{:?}", shown.out);
        }
    }
}

#[test]
fn too_few_open_files_are_a_clear_error() {
    let sandbox = Sandbox::new();
    for command in ["status", "watch", "mcp"] {
        let ran = run(sandbox.script(&format!("ulimit -n 16; exec $SLOP {command}")));
        ran.assert_fails(3, &["at most 16 files can be open at a time", "ulimit -n 1024"]);
    }
    // A soft limit is raised automatically.
    assert_eq!(run(sandbox.script("ulimit -S -n 16; exec $SLOP status")).code, 0);
}
