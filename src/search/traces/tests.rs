//! The frames in the output of real tools, and properties of the detectors on any text.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use expect_test::expect_file;
use proptest::prelude::*;

use super::{ProjectNames, TraceFrame, find_traces};
use crate::model::RelPath;
use crate::search::plain_text;

fn describe(frames: &[TraceFrame]) -> String {
    let mut text = String::new();
    for (at, frame) in frames.iter().enumerate() {
        if 0 < at && frames[at - 1].trace != frame.trace {
            text.push('\n');
        }
        let column = frame.column.map_or_else(String::new, |column| format!(":{column}"));
        let function = frame.function.as_deref().map_or_else(String::new, |name| format!(" in {name}"));
        writeln!(text, "{} {:?} {}:{}{column}{function}", frame.rank, frame.tool, frame.path, frame.line)
            .unwrap();
    }
    text
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads its fixtures")]
fn the_frames_in_the_output_of_tools_are_found() {
    let folder = Path::new("tests/fixtures/traces");
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|ending| ending == "txt"));
    assert!(50 < names.len(), "{}", names.len());
    for path in names {
        let text = fs::read_to_string(&path).unwrap();
        let expected =
            fs::canonicalize(folder).unwrap().join(path.with_extension("frames").file_name().unwrap());
        expect_file![expected]
            .assert_eq(&describe(&find_traces(&plain_text(&text).text, &ProjectNames::default()).frames));
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let found = find_traces(text, &ProjectNames::default());
    assert_eq!(describe(&found.frames), expected, "{text}");
}

#[test]
fn formats_of_other_platforms_and_versions_are_parsed() {
    // MSVC, Gradle's Kotlin plugin before and since Kotlin 1.8, GHC, .NET and Firefox.
    check("C:\\code\\src\\cart.cpp(12,5): error C2065: 'x'", "0 CCompiler C:/code/src/cart.cpp:12:5\n");
    check("src\\cart.h(3): warning C4101: 'x'", "1 CCompiler src/cart.h:3\n");
    check("e: /srv/app/Main.kt: (3, 5): Unresolved", "0 JavaCompiler /srv/app/Main.kt:3:5\n");
    check("e: file:///srv/app/Main.kt:3:5 Unresolved", "0 JavaCompiler /srv/app/Main.kt:3:5\n");
    check("app/Main.hs:4:7: error:", "0 Other app/Main.hs:4:7\n");
    check(
        "   at Shop.Cart.Total(Int32 n) in /srv/app/Cart.cs:line 20",
        "0 DotNet /srv/app/Cart.cs:20 in Shop.Cart.Total\n",
    );
    let maven = "[ERROR] Failures: \n[ERROR]   OwnerTests.create:98 Status expected:<200> but was:<500>\n\
                 [ERROR]   CartTest$Empty>ShopTest.total:7->check:12 expected: <3>\n[ERROR] Tests run: 3, Failures: 2\n";
    check(
        maven,
        "0 Java OwnerTests.java:98 in OwnerTests.create\n\n0 Java ShopTest.java:7 in ShopTest.total\n",
    );
    check("Program.cs(10,13): error CS0103: no such name", "0 DotNet Program.cs:10:13\n");
    check("  1>main.cpp(12,5): error C2065: 'x'", "0 CCompiler main.cpp:12:5\n");
    check("C:\\dev\\My Shop\\a.cs(12,5): error CS1002: x", "0 DotNet C:/dev/My Shop/a.cs:12:5\n");
    check("/Users/me/My Shop/a.swift:3:5: error: x", "0 Other /Users/me/My Shop/a.swift:3:5\n");
    check("total@http://localhost:3000/src/a.js:3:14", "0 JavaScript src/a.js:3:14 in total\n");
    check("thread 'main' panicked at 'oops', src/main.rs:5:14", "0 Rust src/main.rs:5:14\n");
}

#[test]
fn the_traces_of_dart_are_parsed() {
    check(
        "#0      Cart.total (package:shop/cart.dart:12:5)\n<asynchronous suspension>\n\
         #1      main.<anonymous closure> (file:///srv/bin/main.dart:3:8)\n",
        "0 Other shop/lib/cart.dart:12:5 in Cart.total\n1 Other /srv/bin/main.dart:3:8 in main.<anonymous closure>\n",
    );
    check(
        "  package:shop/cart.dart 12:5   Cart.total\n  test/cart_test.dart 8:12  main.<fn>\n",
        "0 Other shop/lib/cart.dart:12:5 in Cart.total\n1 Other test/cart_test.dart:8:12 in main.<fn>\n",
    );
}

#[test]
fn locations_that_are_described_in_prose_are_parsed() {
    let terraform = "╷\n│ Error: Invalid for_each argument\n│ \n│   on modules/a/main.tf line 601, in resource \"b\" \"c\":\n\
                     │  601:   for_each = { }\n╵\n╷\n│ Warning: Deprecated\n│\n│   on main.tf line 3:\n╵\n";
    check(terraform, "0 Other modules/a/main.tf:601\n\n1 Other main.tf:3\n");
    let ansible = "The error appears to be in '/srv/app/roles/web/tasks/main.yml': line 244, column 3, but may\nbe \
                   elsewhere in the file";
    check(ansible, "0 Other /srv/app/roles/web/tasks/main.yml:244:3\n");
    check("Origin: /srv/app/main.yml:3:5", "0 Other /srv/app/main.yml:3:5\n");
    check("  in \"conf/a.yaml\", line 3, column 5", "0 Other conf/a.yaml:3:5\n");
    check("::error file=web/app.ts,line=242,endLine=243,col=5::x: y", "0 Other web/app.ts:242:5\n");
    check("::warning title=a,file=a.go,line=2::x", "1 Other a.go:2\n");
    check("##[error]web/app.ts(242,5): error TS2345: x", "0 TypeScript web/app.ts:242:5\n");
    check("Error: template: app/templates/a.yaml:44:12: executing", "0 Other app/templates/a.yaml:44:12\n");
    check("ERROR: /srv/app/BUILD.bazel:600:1: no such target", "0 Other /srv/app/BUILD.bazel:600:1\n");
}

#[test]
fn the_formats_of_game_engines_and_typesetters_are_parsed() {
    let godot = "SCRIPT ERROR: Invalid access\n   at: _process (res://2d/player.gd:25)\n   GDScript backtrace \
                 (most recent call first):\n       [0] _process (res://2d/player.gd:25)\n       [1] run (res://a.gd:3)";
    check(godot, "0 Other 2d/player.gd:25 in _process\n1 Other a.gd:3 in run\n");
    check("Player.cs:41 @ void Player._Process(double)", "0 Other Player.cs:41 in void Player._Process\n");
    let tex = "(./src/main.tex\nLaTeX2e <2023> (see above)\n(/usr/share/article.cls (/usr/share/size10.clo))\n\
               (./src/intro.tex) [1]\nLaTeX Warning: Reference `x' undefined on input line 9.\n\
               ! Undefined control sequence.\nl.203 \\foo\n          {a}\n";
    check(tex, "1 Other src/main.tex:9\n\n0 Other src/main.tex:203\n");
    check("./src/main.tex:203: Undefined control sequence.", "0 Other src/main.tex:203\n");
    check("l.203 is the line", "");
    check("It was published on Monday line 3, in print:", "");
}

#[test]
fn a_trace_in_a_quotation_or_a_log_is_read() {
    check("> File \"a.py\", line 3, in run\n> ValueError", "0 Python a.py:3 in run\n");
    check("> | a.go:3:5: undefined: x", "0 GoCompiler a.go:3:5\n");
}

#[test]
fn log_entries_about_progress_are_not_diagnostics() {
    let told = "DEBUG|rg::args|crates/core/args.rs:527: not reading config files\n\
                [2024-05-01T10:00:00Z TRACE server] src/server.rs:3: accepted\n[INFO] src/A.java:[5,23] compiled\n";
    check(told, "");
    assert_eq!(
        find_traces(told, &ProjectNames::default()).lines.len(),
        3,
        "their locations are not mentions of files either"
    );
    check("ERROR|rg::args|crates/core/args.rs:527: no such file", "0 RustCompiler crates/core/args.rs:527\n");
}

#[test]
fn frames_in_boxes_tables_and_logs_of_many_tasks_are_read() {
    let rich = "╭── Traceback (most recent call last) ──╮\n│ /app/a.py:11 in main                  │\n│ ❱ 11 │   run()  │\n\
                │ /app/b.py:7 in run                    │\n╰───────────────────────────────────────╯\nValueError: x\n";
    check(rich, "0 Python /app/b.py:7 in run\n1 Python /app/a.py:11 in main\n");
    let php_stan = " ------ ----------------- \n  Line   src/App.php      \n ------ ----------------- \n  55     Method run() has no type.  \n  120    Unreachable.   \n ------ ----------------- \n";
    check(php_stan, "0 Php src/App.php:55\n\n0 Php src/App.php:120\n");
    check("ERROR in ./src/a.ts 75:8-20\nTS2322: x", "0 TypeScript src/a.ts:75:8\n");
    let turbo = "web:test: Error: x\nweb:test:     at run (/srv/a.js:3:5)\n@acme/web:lint: src/b.ts:9:3 - error TS1: x\n";
    check(turbo, "0 JavaScript /srv/a.js:3:5 in run\n\n0 TypeScript src/b.ts:9:3\n");
}

#[test]
fn only_a_call_above_a_go_location_is_its_function() {
    check("Error Trace:\t/srv/a_test.go:302\n\t\t/srv/b_test.go:99\n", "0 Go /srv/b_test.go:99\n");
    check("a.(*B).Run(0x1)\n\t/srv/b.go:9 +0x1\n", "0 Go /srv/b.go:9 in a.(*B).Run\n");
    check("created by a.Run in goroutine 1\n\t/srv/b.go:9 +0x1\n", "0 Go /srv/b.go:9 in a.Run\n");
}

#[test]
fn prose_has_no_frames() {
    for text in [
        "The server listens on localhost:8080 and example.com:443.",
        "At 12:30:45 it stopped (see #12).",
        "Version 1.2.3: nothing changed",
        "File a bug at the tracker, line 3",
        "See my notes a.c:3: it fails",
        "src/Cart.lean:3:5: error: x",
        "https://example.com/a.py:3: no",
        "<stdin>:3: error: x",
    ] {
        check(text, "");
    }
}

#[test]
fn diagnostics_of_the_projects_own_files_are_found() {
    let paths = ["src/Cart.lean", "My Shop/a.cs"].map(|path| RelPath::new(path.as_bytes()).unwrap());
    let names = ProjectNames::new(paths.iter());
    let text = "src/Cart.lean:3:5: error: x\nMy Shop\\a.cs(12,5): error CS1002: x\nsee My Shop/a.cs:3: x\n";
    let frames = find_traces(text, &names).frames;
    assert_eq!(describe(&frames), "0 Other src/Cart.lean:3:5\n\n0 DotNet My Shop/a.cs:12:5\n");
}

proptest! {
    #[test]
    fn any_text_is_read_and_ranges_are_lines_of_it(
        pieces in prop::collection::vec(
            prop_oneof![
                "\\PC{0,12}",
                "[ :()#@\"'`\\[\\]|>\t\u{1b}]{1,4}",
                prop::sample::select(vec![
                    "File \"", "\", line 3", ", in f", "at ", "a.py:3", "a.rs:3:5", "\n", "\r\n", "#0 0x1 in f ",
                    " panicked at ", "Caused by: ", "frame #0: ", "==1== at 0x1: f (", "(a.js:3:4)", "goroutine ",
                    "\u{1b}[31m", " on line 3", " in ", "--> ", "  3:4  error  x", "from ", ": Assertion ", "é",
                ]).prop_map(str::to_owned),
            ],
            0..40,
        ),
    ) {
        let text = pieces.concat();
        for frame in find_traces(&text, &ProjectNames::default()).frames {
            prop_assert!(text.get(frame.range.clone()).is_some_and(|line| !line.contains('\n')), "{frame:?}");
            prop_assert!(0 < frame.line && !frame.path.is_empty(), "{frame:?}");
        }
    }
}

#[test]
fn hostile_texts_are_searched_to_their_ends() {
    for piece in [":1", "(1", "at ", "\" ", "#0 ", "' ", "a.py:1:", "|", "> ", "\u{1b}[", " in ", "::", "./"]
    {
        for piece in [piece.to_owned(), piece.replace(' ', "\n")] {
            // In quadratic time, this would take minutes.
            find_traces(&piece.repeat(320_000 / piece.len()), &ProjectNames::default());
        }
    }
}
