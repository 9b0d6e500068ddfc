//! Readings of whole texts, and properties on any text.

use std::fmt::Write;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::model::RelPath;
use crate::search::traces::{ProjectNames, TraceTool};

fn read(text: &str) -> Result<TaskReading, Error> {
    read_task(text, &ProjectNames::default())
}

fn describe(text: &str) -> String {
    let reading = read(text).unwrap();
    let mut out = String::new();
    writeln!(out, "title: {}", &text[reading.title.clone()]).unwrap();
    for term in &reading.terms {
        writeln!(out, "term {} {:.2} {}x", term.text, term.weight, term.count).unwrap();
    }
    for name in &reading.names {
        let flags = [(name.is_in_title, "title"), (name.is_ticked, "ticked"), (name.is_called, "called")];
        let flags: Vec<_> = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| *flag).collect();
        writeln!(out, "name {} {}", name.name, flags.join(" ")).unwrap();
    }
    out + &describe_mentions(text, &reading)
}

fn describe_mentions(text: &str, reading: &TaskReading) -> String {
    let mut out = String::new();
    for path in &reading.paths {
        writeln!(out, "{:?} {} {:?}", path.kind, path.path, path.lines).unwrap();
    }
    for frame in &reading.frames {
        writeln!(out, "frame {} {}:{}", frame.rank, frame.path, frame.line).unwrap();
    }
    for quote in &reading.quotes {
        writeln!(out, "{} {}", if quote.is_error { "error" } else { "quote" }, quote.text).unwrap();
    }
    for ignored in &reading.ignored {
        writeln!(out, "{:?} {}", ignored.reason, &text[ignored.range.clone()]).unwrap();
    }
    out
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "so that the macro is written in the call")]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&describe(text));
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "so that the macro is written in the call")]
fn check_mentions(text: &str, expected: Expect) {
    expected.assert_eq(&describe_mentions(text, &read(text).unwrap()));
}

#[test]
fn a_commit_message_is_read() {
    check(
        "Fix parse_header for empty files\n\nThe parser stops: `EmptyFile` is raised by read(path).\n",
        expect![[r"
        title: Fix parse_header for empty files
        term empty 3.46 2x
        term files 3.46 2x
        term Fix 3.20 1x
        term parse_header 3.20 1x
        term EmptyFile 2.26 1x
        term Fix 2.00 1x
        term parse 2.00 1x
        term header 2.00 1x
        term parser 1.00 1x
        term stops 1.00 1x
        term raised 1.00 1x
        term read 1.00 1x
        term path 1.00 1x
        name parse_header title
        name empty title
        name files title
        name parser 
        name stops 
        name EmptyFile ticked
        name raised 
        name read called
        name path 
    "]],
    );
}

#[test]
fn the_title_is_the_meaningful_part_of_the_first_line() {
    for (text, title) in [
        (
            "From bc32a92cd2ae77afb2352f79ebdf00997f35d333 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] Keep it\n\nMore\n",
            "Keep it",
        ),
        ("commit 399919f\nDate:   Sun Aug 16 16:43:41 2026 -0700\n\n    Keep it\n", "    Keep it"),
        ("https://example.com/7 fails\nMore\n", "fails"),
        ("# Keep it\n", "# Keep it"),
        ("https://example.com/7\n", ""),
    ] {
        let found = read(text).unwrap().title;
        assert_eq!(&text[found], title, "{text}");
    }
}

#[test]
fn an_issue_with_a_template_is_read() {
    check_mentions(
        "Crash in the cart\n\n### Describe the bug\n<!-- Be\nbrief -->\nSee https://github.com/a/b/blob/main/src/x.py#L3-L9 \
         and [docs](https://example.com/a).\n\n```pytb\nTraceback (most recent call last):\n  File \"/srv/app/shop/cart.py\", \
         line 17, in total\n    return 1 / 0\nZeroDivisionError: division by zero\n```\n- [x] I have searched\n\n\
         <details><summary>Log</summary>\nit says \"no price was given\" and Vec<Item>\n</details>\n**Version**\n3.4\n",
        expect![[r"
            Link src/x.py Some((3, 9))
            frame 0 /srv/app/shop/cart.py:17
            error division by zero
            quote no price was given
            Template ### Describe the bug
            Comment <!-- Be
            Comment brief -->
            Url https://github.com/a/b/blob/main/src/x.py#L3-L9
            Url https://example.com/a
            Markup ```pytb
            Template - [x] I have searched
            Markup <details>
            Markup <summary>
            Markup </summary>
            Markup </details>
            Template **Version**
        "]],
    );
}

#[test]
fn paths_and_modules_are_found_as_they_are_written() {
    check_mentions(
        "Look at src/a.py, a/b.c:41 and ./docs/index.md.\nIn C:\\code\\src\\main.cpp:12:5 or src\\cart.h; `src/search` and \
         docs/ too.\npkg.mod.func() calls crate::search::words, tests/test_a.py::test_b fails, config.toml and Makefile; \
         src/a.rs#L3-L9.\n",
        expect![[r"
            Path src/a.py None
            Path a/b.c Some((41, 41))
            Path docs/index.md None
            Path C:/code/src/main.cpp Some((12, 12))
            Path src/cart.h None
            Path src/search None
            Path docs/ None
            Module pkg.mod.func None
            Module crate::search::words None
            Path tests/test_a.py None
            Path config.toml None
            Path Makefile None
            Path src/a.rs Some((3, 9))
        "]],
    );
}

#[test]
fn lines_are_found_in_the_notations_of_prose() {
    check_mentions(
        "src/x.py line 12, `x.pl` on lines 3-9. At (x.erl, line 12), a.go:3-9, _src/a.js_ and ~~a.ts~~; src\\\\b.ts, \
         package:shop/cart.dart:3, a.py lines end, src/a.cs(12,5)",
        expect![[r"
            Path src/x.py Some((12, 12))
            Path x.pl Some((3, 9))
            Path x.erl Some((12, 12))
            Path a.go Some((3, 9))
            Path src/a.js None
            Path a.ts None
            Path src/b.ts None
            Path shop/lib/cart.dart Some((3, 3))
            Path a.py None
            Path src/a.cs Some((12, 12))
        "]],
    );
}

#[test]
fn links_to_lines_are_read_on_each_host() {
    check_mentions(
        "(https://github.com/o/r/blob/main/app/(shop)/%5Bid%5D/page.tsx#L3) https://raw.githubusercontent.com/o/r/main/a.py \
         https://bitbucket.org/o/r/src/0123abcd/a.cs#lines-3:9 https://codeberg.org/o/r/src/commit/0123abcd/a.go#L12 \
         https://dev.azure.com/o/p/_git/r?path=/a/b.cs&version=GBmain&line=12 https://example.com/src/site/a.html",
        expect![[r"
            Link app/(shop)/[id]/page.tsx Some((3, 3))
            Link a.py None
            Link a.cs Some((3, 9))
            Link a.go Some((12, 12))
            Link a/b.cs Some((12, 12))
            Url https://github.com/o/r/blob/main/app/(shop)/%5Bid%5D/page.tsx#L3
            Url https://raw.githubusercontent.com/o/r/main/a.py
            Url https://bitbucket.org/o/r/src/0123abcd/a.cs#lines-3:9
            Url https://codeberg.org/o/r/src/commit/0123abcd/a.go#L12
            Url https://dev.azure.com/o/p/_git/r?path=/a/b.cs&version=GBmain&line=12
            Url https://example.com/src/site/a.html
        "]],
    );
}

#[test]
fn only_what_is_closed_outside_of_code_is_a_comment() {
    check_mentions(
        "It ends after `<!--` in\na.py\n<!-- b.py `c.py`\n--> and d.py, not <!-- in e.py\n",
        expect![[r"
            Path a.py None
            Path d.py None
            Path e.py None
            Comment <!-- b.py `c.py`
            Comment -->
        "]],
    );
}

#[test]
fn paths_are_found_between_words_without_spaces() {
    check_mentions(
        "修复src/a.py的错误，见a/b.c:41。docs/中文.md",
        expect![[r"
            Path src/a.py None
            Path 见a/b.c Some((41, 41))
            Path a/b.c Some((41, 41))
            Path docs/中文.md None
        "]],
    );
}

#[test]
fn prose_mentions_no_paths() {
    check_mentions(
        "Either read/write and TCP/IP or and/or, e.g. version 1.2.3 of i.e. it... At 12:30 on 1/2/2024, see #12.",
        expect![[""]],
    );
}

#[test]
fn quotations_and_messages_are_found() {
    check_mentions(
        "It doesn't say \"cannot open file\" but 'it isn't there' and “wrong format”.\nerror[E0308]: mismatched types\n\
         shop.cart.CartError: cannot read the cart\n",
        expect![[r"
            Module shop.cart.CartError None
            quote cannot open file
            quote wrong format
            error mismatched types
            error cannot read the cart
        "]],
    );
}

#[test]
fn a_text_without_content_is_an_error() {
    for text in ["", " \n\t\r\n"] {
        assert_eq!(read(text), Err(Error::Empty));
    }
    assert!(read("?").unwrap().terms.is_empty());
}

#[test]
fn the_innermost_frame_of_a_trace_in_a_task_is_known() {
    let text = include_str!("../../../tests/fixtures/traces/python_simple.txt");
    let reading = read(text).unwrap();
    let innermost = &reading.frames[0];
    assert_eq!(
        (innermost.line, innermost.function_name(), innermost.tool),
        (17, Some("total"), TraceTool::Python)
    );
}

#[test]
fn folders_of_the_machine_that_wrote_a_trace_are_not_terms_of_the_task() {
    let text = "Orders are lost\n\nTraceback (most recent call last):\n  \
        File \"/home/ci/venv/lib/python3/site-packages/shop/cart.py\", line 17, in total\n    return sum(self.prices)\n";
    let reading = read(text).unwrap();
    let has = |word: &str| reading.terms.iter().any(|term| term.text == word);
    assert_eq!(["shop", "cart", "total", "prices"].map(has), [true; 4]);
    assert_eq!(["home", "venv", "site", "packages"].map(has), [false; 4]);
    assert!(!reading.names.iter().any(|name| name.name == "packages"), "{:?}", reading.names);
    // A path below the project's folder is about the project.
    assert!(read("src/shop/cart.py:17: error: bad").unwrap().terms.iter().any(|term| term.text == "shop"));
}

proptest! {
    #[test]
    fn any_text_is_read_and_ranges_are_inside_of_it(
        pieces in prop::collection::vec(
            prop_oneof![
                "\\PC{0,12}",
                prop::sample::select(vec![
                    "`", "```", "~~~\n", "\n", "<!--", "-->", "https://a.b/blob/m/a.py#L3", "<details>", "<", "\"", "'", "“",
                    "”", "### Version", "- [x] I ", "a/b.py:3", "C:\\a\\b.c", "é", "Error: ", "a::b", "**", "_", "fooBar(",
                ]).prop_map(str::to_owned),
            ],
            0..40,
        ),
    ) {
        let text = pieces.concat();
        let Ok(reading) = read(&text) else { return Ok(()) };
        let ranges = reading.paths.iter().map(|path| &path.range)
            .chain(reading.quotes.iter().map(|quote| &quote.range))
            .chain(reading.terms.iter().map(|term| &term.range))
            .chain(reading.names.iter().map(|name| &name.range))
            .chain(reading.ignored.iter().map(|ignored| &ignored.range))
            .chain([&reading.title]);
        for range in ranges {
            prop_assert!(text.get(range.clone()).is_some(), "{range:?}");
        }
        prop_assert!(reading.ignored.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start), "{reading:?}");
        prop_assert_eq!(read(&text).unwrap(), reading);
    }
}

#[test]
fn hostile_texts_are_read_to_their_ends() {
    let paths = ["(a)/a b/c.py", "((/b.py"].map(|path| RelPath::new(path.as_bytes()).unwrap());
    let names = ProjectNames::new(paths.iter());
    for piece in [
        "`", "``` ", "<p ", "<!--", "“", "'a ", "a/", "://", "a.", "::", "**", "Error: ", "[x] ", "\"",
        "` `` ", "(a)", "a b ", "(",
    ] {
        for piece in [piece.to_owned(), piece.replace(' ', "\n")] {
            // In quadratic time, this would take minutes.
            read_task(&piece.repeat(256 * 1024 / piece.len()), &names).unwrap();
        }
    }
}
