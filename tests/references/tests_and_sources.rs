//! Names that sources use and tests define.

use super::references;

/// Compares the references of a source to definitions in another source and in a test.
#[track_caller]
fn check(source: (&str, &str), other: (&str, &str), test: (&str, &str), expected: &[&str]) {
    let prefix = format!("{}:", source.0);
    let found = references(&[source, other, test]);
    let found: Vec<&str> = found.iter().filter_map(|row| row.strip_prefix(&prefix)).collect();
    assert_eq!(found, expected);
}

#[test]
fn for_a_member_of_an_unknown_type_a_source_is_preferred_to_a_test() {
    let source = ("a.py", "def go(x):\n    x.both_have()\n    x.tests_have()\n");
    let other = ("b.py", "class S:\n    def both_have(self): ...\n");
    let test = ("test_a.py", "class F:\n    def both_have(self): ...\n    def tests_have(self): ...\n");
    let expected = ["2 -> b.py/S.both_have likely", "3 -> test_a.py/F.tests_have maybe"];
    check(source, other, test, &expected);
    // A test may mean either.
    let user = ("test_b.py", source.1);
    let expected = [
        "2 -> b.py/S.both_have maybe",
        "2 -> test_a.py/F.both_have maybe",
        "3 -> test_a.py/F.tests_have likely",
    ];
    check(user, other, test, &expected);
}

#[test]
fn for_an_undeclared_c_function_a_source_is_preferred_to_a_test() {
    let source = ("lib/a.c", "void hook(void);\nvoid go(void) {\n  both();\n  only();\n  hook();\n}\n");
    let test = ("test/t.c", "void both(void) {}\nvoid only(void) {}\nvoid hook(void) {}\n");
    let expected = ["3 -> src/b.c/both likely", "4 -> test/t.c/only maybe", "5 -> test/t.c/hook sure"];
    check(source, ("src/b.c", "void both(void) {}\n"), test, &expected);
    let source = ("lib/a.cpp", "#include \"own_test.hpp\"\nvoid go() {\n  both();\n  only();\n  own();\n}\n");
    let test = ("own_test.hpp", "void own() {}\n");
    check(
        source,
        ("src/b.cpp", "void both() {}\n"),
        test,
        &["3 -> src/b.cpp/both sure", "5 -> own_test.hpp/own sure"],
    );
    let test = ("test/t.cpp", "void both() {}\nvoid only() {}\n");
    let expected = ["3 -> src/b.cpp/both likely", "4 -> test/t.cpp/only maybe"];
    check(source, ("src/b.cpp", "void both() {}\n"), test, &expected);
}

#[cfg(feature = "lang-ruby")]
#[test]
fn in_a_language_read_by_name_a_source_is_preferred_to_a_test() {
    let source = ("lib/a.rb", "def go\n  both_have(1)\n  tests_have(1)\nend\n");
    let test = ("test/a_test.rb", "def both_have(x)\nend\ndef tests_have(x)\nend\n");
    let expected = ["2 -> lib/b.rb/both_have maybe", "3 -> test/a_test.rb/tests_have maybe"];
    check(source, ("lib/b.rb", "def both_have(x)\nend\n"), test, &expected);
}
