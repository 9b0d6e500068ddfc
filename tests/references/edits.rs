//! Which files are joined again after an edit.

use slop::internals::references::{Reference, find_changed_references, find_references};

use super::project;

const HEADER: (&str, &str) = ("a.h.c", "#define alias helper\nvoid run(int n);\n");
const CALLER: (&str, &str) = ("b.c", "#include \"a.h.c\"\nvoid go(void) {\n  run(1);\n}\n");
const BODY: &str = "#include \"a.h.c\"\nstatic void helper(void) {}\nvoid run(int n) {\n  helper();\n}\n";
const TEMPLATE: (&str, &str) = ("d.cpp", "void run(int n);\nvoid call() {\n  run(2);\n}\n");

/// Returns whether only the last file is joined again when its text changes; if so, with the references that it has then.
#[track_caller]
fn is_enough(others: &[(&str, &str)], (path, before, after): (&str, &str, &str)) -> bool {
    let files_with = |text| project(&[others, &[(path, text)]].concat());
    let (before, after) = (files_with(before), files_with(after));
    let last = u32::try_from(others.len()).unwrap();
    let Some(found) = find_changed_references(&after, &[(last, &before[last as usize].facts)]) else {
        return false;
    };
    let is_of_last = |reference: &&Reference| reference.from_file == last;
    let (all_before, all) = (find_references(&before), find_references(&after));
    assert_eq!(found.references, all.references.iter().filter(is_of_last).copied().collect::<Vec<_>>());
    assert!(found.unresolved.iter().eq(all.unresolved.iter().filter(|unresolved| unresolved.file == last)));
    let of_others = |all: &[Reference]| -> Vec<Reference> {
        all.iter().filter(|reference| !is_of_last(reference)).copied().collect()
    };
    assert_eq!(of_others(&all_before.references), of_others(&all.references));
    true
}

#[test]
fn an_edit_of_a_body_in_c_has_the_file_alone_joined_again() {
    let others = [HEADER, CALLER];
    let is_alone = |after: &str| is_enough(&others, ("c.c", BODY, after));
    assert!(is_alone(BODY));
    // Names of variables, and what only a macro elsewhere stands for.
    assert!(is_alone(&BODY.replace("  helper();", "\n  int go = 1;\n  alias();\n  run(go);")));
    assert!(is_alone(&BODY.replace("void run", "/* A. */\n\nvoid run")));
    for (from, to) in [
        ("void run(", "void walk("),
        ("static void helper", "void helper"),
        ("#include \"a.h.c\"\n", ""),
        ("void run(int n) {\n", "void added(void) {}\nvoid run(int n) {\n"),
    ] {
        assert!(!is_alone(&BODY.replace(from, to)), "{to}");
    }
    let macros = "#define first helper\n";
    assert!(!is_enough(&others, ("c.c", macros, &macros.replace("helper", "run"))));
}

#[test]
fn cpp_sees_what_functions_of_c_bind() {
    let others = [HEADER, TEMPLATE];
    assert!(is_enough(&others, ("c.c", BODY, &BODY.replace("helper();", "run(3);"))));
    assert!(!is_enough(&others, ("c.c", BODY, &BODY.replace("helper();", "int local = 3;"))));
    // It is joined in its turn, as are all languages whose names have values.
    let text = "void more() {\n  run(3);\n}\n";
    assert!(!is_enough(&[HEADER], ("e.cpp", text, &text.replace('3', "4"))));
}

#[cfg(feature = "lang-ruby")]
#[test]
fn a_language_whose_names_are_compared_has_the_file_alone_joined_again() {
    let text = "def one\n  two\nend\n";
    let others = [("b.rb", "def two\n  one\nend\n")];
    assert!(is_enough(&others, ("c.rb", text, &text.replace("two", "one\n  two"))));
    assert!(!is_enough(&others, ("c.rb", text, &text.replace("def one", "def three"))));
}
