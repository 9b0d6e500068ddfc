//! View flags that select symbols, lines or changes of files.

use std::fs;
use std::process::Stdio;

use super::sandbox::{Sandbox, run};

const ENGINE: &str = r#""""An engine."""
import os

LIMIT = 3


class Engine(Base):
    """Moves."""

    @property
    def speed(self):
        return self._speed

    @speed.setter
    def speed(self, value):
        self._speed = value

    def run(self, a: int,
            b=1) -> str:
        return a  # as it is

    def _debug(self):
        print(1)
        print(2)

    def _more(self):
        pass


def helper():
    return 1


if LIMIT:
    def conditional():
        return 2
"#;

const HEADER: &str = r"#pragma once

namespace shapes {

/** A shape. */
class Shape : public Base {
public:
    Shape(int sides);
    void scale(int by) { scale(by * 1.0); }
    void scale(double by);
    int a, b;
private:
    // Nobody needs this.
    int secret_;
};

template <typename T>
T area(T side) {
    return side * side;
}

extern C_LINKAGE int old(int a);
}
";

fn python_project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("e.py", ENGINE);
    sandbox
}

fn cpp_project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("s.hpp", HEADER);
    sandbox
}

#[track_caller]
fn check(sandbox: &Sandbox, file: &str, masks: &[&str], expected: &str) {
    let flags = masks.iter().flat_map(|mask| ["--mask", mask]);
    let arguments: Vec<&str> = ["view", file, "--bare"].into_iter().chain(flags).collect();
    assert_eq!(sandbox.stdout_of(&arguments), expected, "{masks:?}");
}

#[test]
fn a_mask_shows_definitions_within_their_containers() {
    let masks = ["Engine=sig", "Engine.run=def", "Engine._debug=hide", "LIMIT=def"];
    let expected = "LIMIT = 3\n\nclass Engine(Base):\n    def run(self, a: int,\n            b=1) -> str:\n        return a  # as it is\n";
    check(&python_project(), "e.py", &masks, expected);
    let masks = ["shapes::Shape=sig", "shapes::Shape::secret_=def"];
    let expected =
        "// in shapes\nclass Shape : public Base {\n    // Nobody needs this.\n    int secret_;\n};\n";
    check(&cpp_project(), "s.hpp", &masks, expected);
}

#[test]
fn hidden_parts_of_a_definition_leave_a_mark() {
    let masks =
        ["Engine=def", "Engine._debug=hide", "Engine._more=hide", "Engine.run=sig", "Engine.speed=hide"];
    let expected = "class Engine(Base):\n    \"\"\"Moves.\"\"\"\n\n    ...  # 7 lines hidden\n\n    def run(self, a: int, b=1) -> str: ...\n\n    ...  # 6 lines hidden\n";
    check(&python_project(), "e.py", &masks, expected);
    let masks = [
        "shapes::Shape=def",
        "shapes::Shape::scale=hide",
        "shapes::Shape::secret_=hide",
        "shapes::Shape::a=hide",
    ];
    let expected = "// in shapes\n/** A shape. */\nclass Shape : public Base {\npublic:\n    Shape(int sides);\n    // 2 lines hidden\n    int a, b;\nprivate:\n    // 2 lines hidden\n};\n";
    check(&cpp_project(), "s.hpp", &masks, expected);
}

#[test]
fn overloads_are_distinguished_by_parameters_and_by_number() {
    let sandbox = cpp_project();
    let one = "    // in shapes::Shape\n    void scale(double by);\n";
    for key in [
        "shapes::Shape::scale(double by)=def",
        "shapes::Shape::scale( double  by )=sig",
        "shapes::Shape::scale#2=def",
    ] {
        check(&sandbox, "s.hpp", &[key], one);
    }
    // A key for one overload takes precedence over a key for all, regardless of order.
    let masks = ["shapes::Shape::scale#1=hide", "shapes::Shape::scale=sig"];
    check(&sandbox, "s.hpp", &masks, one);
    let expected = "    # in Engine\n    @speed.setter\n    def speed(self, value): ...\n";
    check(&python_project(), "e.py", &["Engine.speed#2=sig"], expected);
    let template = "// in shapes\ntemplate <typename T>\nT area(T side) {\n    return side * side;\n}\n";
    check(&sandbox, "s.hpp", &["shapes::area=def"], template);
}

#[test]
fn ast_signatures_and_ast_definitions_show_all_symbols() {
    let sandbox = python_project();
    let signatures = "LIMIT = 3\n\nclass Engine(Base):\n    @property\n    def speed(self): ...\n\n    @speed.setter\n    def speed(self, value): ...\n\n    def run(self, a: int, b=1) -> str: ...\n    def _debug(self): ...\n    def _more(self): ...\n\ndef helper(): ...\ndef conditional(): ...\n";
    assert_eq!(sandbox.stdout_of(&["view", "e.py", "--bare", "--mode", "ast_signatures"]), signatures);
    let definitions = sandbox.stdout_of(&["view", "e.py", "--bare", "--mode", "ast_definitions"]);
    let from = ENGINE.find("class Engine").unwrap()..ENGINE.find("\n\ndef helper").unwrap();
    assert!(definitions.starts_with("LIMIT = 3\n\nclass Engine"), "{definitions}");
    assert!(definitions.contains(&ENGINE[from]) && !definitions.contains("import os"), "{definitions}");
    assert!(
        definitions.ends_with("\n    # in a block: if LIMIT:\n    def conditional():\n        return 2\n")
    );
    let head = sandbox.stdout_of(&["view", "e.py", "--mode", "ast_definitions"]);
    assert!(head.lines().next().unwrap().contains("not the file's text"), "{head}");
}

#[test]
fn a_missing_symbol_is_reported_with_similar_names() {
    let sandbox = python_project();
    sandbox.write("notes.txt", "# Words\n");
    let told = sandbox.stdout_of(&["view", "e.py", "--mask", "Engine.runn=def", "--mask", "LIMIT=def"]);
    assert!(
        told.contains("`Engine.runn` (nearest: Engine.run)") && told.ends_with("\nLIMIT = 3\n"),
        "{told}"
    );
    for masks in [&["--mask", "Engine.runn=def"][..], &["--mode", "masked"]] {
        let data = sandbox.json(&[&["view", "e.py"], masks].concat());
        assert_eq!(data[0]["view"], "summary", "{data}");
        assert!(data[0]["why"].as_str().unwrap().starts_with("no masked view: "), "{data}");
    }
    let data = sandbox.json(&["view", "notes.txt", "--mask", "Words=def"]);
    assert_eq!(
        (data[0]["view"].as_str(), data[0]["why"].as_str()),
        (Some("summary"), Some("no masked view for this type of file"))
    );
}

#[test]
fn lines_are_shown_as_slices() {
    let sandbox = python_project();
    let shown =
        sandbox.stdout_of(&["view", "e.py", "--bare", "--lines", "2-4", "--lines", "7", "--lines", "99-100"]);
    let expected = "---\n[Slice]\nLines 2-4:\nimport os\n\nLIMIT = 3\n\n---\n[Slice]\nLines 7-7:\nclass Engine(Base):\n\n---\n[Slice]\nLines 99-100:\n(no such lines: the text ends with line 36)\n";
    assert_eq!(shown, expected);
}

#[test]
fn contradictory_view_flags_are_usage_errors() {
    let sandbox = python_project();
    for wrong in [
        &["--mask", "Engine"][..],
        &["--mask", "=def"],
        &["--mask", "Engine=all"],
        &["--lines", "0-3"],
        &["--lines", "9-2"],
        &["--lines", "a"],
        &["--mask", "Engine=def", "--lines", "1-2"],
        &["--mask", "Engine=def", "--base", "HEAD"],
        &["--lines", "1", "--base", "HEAD"],
        &["--mask", "Engine=def", "--mode", "full"],
        &["--lines", "1", "--mode", "masked"],
        &["--base", "HEAD", "--mode", "ast_signatures"],
    ] {
        let ran = sandbox.slop(&[&["view", "e.py"], wrong].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{wrong:?} {ran:?}");
    }
}

/// Returns a repository in which each file has changed in a different way since the only commit.
fn changed_project() -> Sandbox {
    let sandbox = Sandbox::repo();
    for (file, text) in [
        ("e.py", ENGINE),
        ("crlf.txt", "one\r\ntwo\r\nthree\r\n"),
        ("end.txt", "no end"),
        ("sub/gone one.txt", "é\nlast"),
        ("staged.txt", "x\n"),
        ("same.txt", "same\n"),
        ("odd \"é\".txt", "a\nb\n"),
    ] {
        sandbox.write(file, text);
    }
    sandbox.commit_all("one");
    sandbox.write("e.py", ENGINE.replace("return a ", "return b ").replace("import os\n", ""));
    sandbox.write("crlf.txt", "one\r\n2\r\nthree\n");
    sandbox.write("end.txt", "no end\n");
    fs::remove_dir_all(sandbox.path("sub")).unwrap();
    sandbox.git(&["rm", "-q", "staged.txt"]);
    sandbox.write("new.txt", "ä\r\nwithout an end");
    sandbox.write("odd \"é\".txt", "a\nc\n");
    sandbox
}

#[test]
fn git_can_apply_the_diffs() {
    let sandbox = changed_project();
    let after = sandbox.tree();
    let ran = sandbox.slop(&["view", ".", "--mode", "diff", "--bare"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("files that have not changed: 1"), "{ran:?}");
    assert!(!ran.out.contains("same"), "{ran:?}");
    fs::write(sandbox.outside("all.diff"), &ran.out).unwrap();
    sandbox.git(&["reset", "-q", "--hard"]);
    sandbox.git(&["clean", "-qfd"]);
    assert_ne!(sandbox.tree(), after);
    sandbox.git(&["apply", "--whitespace=nowarn", sandbox.outside("all.diff").to_str().unwrap()]);
    assert_eq!(sandbox.tree(), after);
}

#[test]
fn a_single_file_can_be_compared_with_any_revision() {
    let sandbox = changed_project();
    let shown = sandbox.stdout_of(&["view", "e.py", "--mode", "diff"]);
    assert!(shown.contains("not the file's text · against HEAD\n--- a/e.py\n+++ b/e.py\n@@ -1,5 +1,4 @@\n"));
    sandbox.commit_all("two");
    sandbox.git(&["tag", "v2"]);
    let shown = sandbox.stdout_of(&["view", "e.py", "--base", "v2", "--bare"]);
    assert_eq!(shown, "(no changes since v2)\n");
    let shown = sandbox.stdout_of(&["view", "e.py", "--base", "HEAD~1", "--bare"]);
    assert!(shown.contains("-        return a  # as it is\n+        return b  # as it is\n"), "{shown}");
    let shown = sandbox.stdout_of(&["view", "staged.txt", "--base", "HEAD~1", "--bare"]);
    assert_eq!(shown, "--- a/staged.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
    sandbox.slop(&["view", "staged.txt", "--mode", "diff"]).assert_fails(1, &["staged.txt"]);
}

#[test]
fn a_revision_cannot_be_an_option_or_a_path() {
    let sandbox = changed_project();
    let before = sandbox.tree();
    for wrong in
        ["nope", "--all", "--output=x", "-h", "", "HEAD:e.py", "HEAD e.py", "HEAD\n--all", "HEAD^{tree}"]
    {
        let against = format!("--base={wrong}");
        sandbox.slop(&["view", "e.py", &against]).assert_fails(1, &["no revision", "hint:"]);
    }
    assert_eq!(sandbox.tree(), before);
}

#[test]
fn without_a_base_the_summary_is_shown_with_the_reason() {
    let why = |sandbox: &Sandbox, file: &str| {
        let data = sandbox.json(&["view", file, "--mode", "diff"]);
        assert_eq!(data[0]["view"], "summary", "{data}");
        data[0]["why"].as_str().unwrap().to_owned()
    };
    assert_eq!(why(&python_project(), "e.py"), "no diff view: the project is in no git repository");
    let sandbox = Sandbox::repo();
    sandbox.write("e.py", ENGINE);
    assert_eq!(why(&sandbox, "e.py"), "no diff view: the git repository has no commit yet");
    sandbox.write("b.txt", b"\0\x01\x02");
    sandbox.commit_all("one");
    sandbox.write("b.txt", "text\n");
    assert!(why(&sandbox, "b.txt").contains("at HEAD, "));
}

#[test]
fn a_deleted_file_with_secrets_is_not_shown_in_a_diff() {
    let sandbox = Sandbox::repo();
    sandbox.write(".env", "TOKEN=hunter2\n");
    sandbox.write("a.py", "x = 1\n");
    sandbox.commit_all("one");
    fs::remove_file(sandbox.path(".env")).unwrap();
    for arguments in [&["view", ".", "--mode", "diff"][..], &["view", ".env", "--mode", "diff"]] {
        let ran = run(sandbox.command(arguments));
        assert!(!ran.out.contains("hunter2") && !ran.err.contains("hunter2"), "{ran:?}");
    }
}

#[test]
fn a_diff_in_a_subfolder_project_covers_only_that_folder() {
    let sandbox = Sandbox::repo();
    sandbox.write("below/a.py", "x = 1\n");
    sandbox.write("other.py", "y = 1\n");
    sandbox.commit_all("one");
    sandbox.write("below/a.py", "x = 2\n");
    sandbox.write("other.py", "y = 2\n");
    let mut command = sandbox.command(&["view", ".", "--mode", "diff", "--bare", "--project", "below"]);
    command.stdin(Stdio::null());
    let ran = run(command);
    assert_eq!((ran.code, ran.out.as_str()), (0, "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"));
}

#[test]
fn an_untracked_file_is_not_shown_as_deleted() {
    let sandbox = Sandbox::repo();
    for file in ["kept.txt", "gone.txt", "folder", "slop_out/a.md"] {
        sandbox.write(file, format!("{file}\n"));
    }
    std::os::unix::fs::symlink("gone.txt", sandbox.path("link")).unwrap();
    sandbox.commit_all("one");
    sandbox.git(&["rm", "-q", "--cached", "kept.txt"]);
    sandbox.write(".git/info/exclude", "kept.txt\n");
    sandbox.git(&["rm", "-q", "gone.txt", "link", "folder", "slop_out/a.md"]);
    sandbox.write("folder/new.txt", "new\n");
    let shown = sandbox.stdout_of(&["view", ".", "--mode", "diff", "--bare"]);
    let deleted: Vec<&str> = shown.lines().filter(|line| line.starts_with("--- a/")).collect();
    assert_eq!(deleted, ["--- a/folder", "--- a/gone.txt"], "{shown}");
}

#[test]
fn no_filter_configured_in_the_checkout_is_run() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.txt", "one\n");
    sandbox.write(".gitattributes", "*.txt filter=evil\n");
    sandbox.commit_all("one");
    for name in ["evil", "e=vil"] {
        sandbox.write(".gitattributes", format!("*.txt filter={name}\n"));
        let touch = format!("touch {}; cat", sandbox.outside("ran").display());
        for key in ["clean", "process"] {
            sandbox.git(&["config", &format!("filter.{name}.{key}"), &touch]);
        }
        sandbox.git(&["config", &format!("filter.{name}.required"), "true"]);
        sandbox.write("a.txt", "two\n");
        let shown = sandbox.stdout_of(&["view", ".", "--mode", "diff", "--bare"]);
        assert!(shown.contains("-one\n+two\n"), "{shown}");
        sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]);
        assert!(!sandbox.outside("ran").exists(), "{name}");
    }
}

#[test]
fn one_missing_path_does_not_prevent_answers_about_the_others() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.h", "int a;\n");
    let viewed = sandbox.slop(&["view", "--bare", "a.h", "nope.h"]);
    assert_eq!((viewed.code, viewed.out.as_str()), (4, "int a;\n"), "{viewed:?}");
    assert!(viewed.err.contains("nope.h"), "{}", viewed.err);
    let viewed = sandbox.slop(&["--json", "view", "nope.h", "a.h"]);
    let envelope: serde_json::Value = serde_json::from_str(&viewed.out).unwrap();
    assert_eq!((viewed.code, &envelope["missing"][0]["path"]), (4, &"nope.h".into()), "{viewed:?}");
    assert_eq!(envelope["data"][0]["path"], "a.h");
    let outlined = sandbox.slop(&["outline", "a.h", "nope.h"]);
    assert_eq!(outlined.code, 4, "{outlined:?}");
    assert!(outlined.out.contains("a.h") && outlined.err.contains("nope.h"), "{outlined:?}");
    sandbox.slop(&["view", "nope.h"]).assert_fails(1, &["nope.h", "hint:"]);
}

#[test]
fn the_old_flag_for_the_base_is_accepted_with_a_note() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "x = 1\n");
    sandbox.commit_all("first");
    sandbox.write("a.py", "x = 2\n");
    let [old, new] = ["--against", "--base"].map(|flag| sandbox.slop(&["view", "a.py", flag, "HEAD"]));
    assert_eq!((old.code, &old.out), (0, &new.out), "{old:?}");
    assert!(old.err.contains("use --base") && !new.err.contains("deprecated"), "{old:?} {new:?}");
}
