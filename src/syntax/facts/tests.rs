//! Facts of small texts, as a reader would state them.

use expect_test::expect;

use super::source_facts;
use crate::model::{BindingValue, DefinitionFlags, ExpressionFact, SourceFacts};

fn facts(language: &str, text: &str) -> SourceFacts {
    source_facts(language, text, &mut || false).unwrap()
}

#[test]
fn hostile_texts_of_c_are_read_to_their_ends() {
    for piece in [
        "R\"a(\n", "// \\\n", "/*", "\"\\\n", "#if 0\n", "#define a \\\n", "a(", "a{", "a<", "a::", "(*",
        "struct ",
    ] {
        for language in ["c", "cpp"] {
            // In quadratic time, this would take minutes.
            let text = piece.repeat(320_000 / piece.len()) + "\n#include <last.h>\n";
            let read = facts(language, &text);
            assert!(read.imports.len() <= 1, "{language} {piece:?}");
        }
    }
}

/// Each definition with its lines.
fn definitions(facts: &SourceFacts) -> Vec<String> {
    let row = |(at, fact): (u32, &crate::model::DefinitionFact)| {
        format!("{} {}:{}-{}", facts.qualified_name(at), fact.first_line, fact.name_line, fact.last_line)
    };
    (0..).zip(&facts.definitions).map(row).collect()
}

/// Each use with its line; a call has brackets, a member a dot.
fn uses(facts: &SourceFacts) -> Vec<String> {
    let row = |found: &crate::model::UseFact| {
        let dot = if found.receiver.is_some() { "." } else { "" };
        let brackets = if found.is_call { "()" } else { "" };
        format!("{dot}{}{brackets} {}", facts.name(found.name), found.line)
    };
    facts.uses.iter().map(row).collect()
}

#[test]
fn definitions_have_the_lines_of_their_decorators_and_names() {
    let text = "class A:\n    @property\n    def b(self):\n        return 1\n\ndef c():\n    def d(): ...\n";
    assert_eq!(definitions(&facts("python", text)), ["A 1:1-4", "A.b 2:3-4", "c 6:6-7", "c.d 7:7-7"]);
}

#[test]
fn attributes_of_self_are_bound_in_the_class() {
    let found = facts("python", "class A:\n    def __init__(self):\n        self.b = B()\n");
    let body = found.definitions[0].body.unwrap();
    let bindings = found.bindings_of(body, found.find_name("b").unwrap());
    let BindingValue::Value(value) = bindings[0].value else { panic!("{bindings:?}") };
    assert!(matches!(found.expression(value), ExpressionFact::Call(_)));
}

#[test]
fn uses_of_python_have_their_receivers() {
    let found = facts("python", "import a\na.b.c(d)\ne = f()\n");
    assert_eq!(uses(&found), [".c() 2", ".b 2", "a 2", "d 2", "f() 3"]);
}

#[test]
fn c_fields_labels_and_locals_are_not_uses_of_functions() {
    let text = "static int run(int (*stop)(void), T *t) {\n  int go = 1;\n  t->run(); t.go = stop();\n  return other(go);\n}\n";
    let found = facts("c", text);
    assert_eq!(definitions(&found), ["run 1:1-5"]);
    assert!(found.definitions[0].flags.has(DefinitionFlags::PRIVATE));
    let calls: Vec<String> = uses(&found).into_iter().filter(|usage| usage.contains("()")).collect();
    assert_eq!(calls, ["stop() 3", "other() 4"]);
}

#[test]
fn branches_of_a_conditional_do_not_unbalance_a_function() {
    let text = "int a(void) {\n#ifdef X\n  if (b()) {\n#else\n  if (c()) {\n#endif\n  }\n}\nint d(void) { return e(); }\n";
    assert_eq!(definitions(&facts("c", text)), ["a 1:1-8", "d 9:9-9"]);
}

#[test]
fn a_macro_around_parameters_does_not_name_a_function_of_c() {
    let text = "int f PARAMS((int));\nEXTERN int f PARAMS((int a))\n{\n    return g(a);\n}\n";
    let found = facts("c", text);
    assert_eq!(definitions(&found), ["f 1:1-1", "f 2:2-5"]);
    assert_eq!(uses(&found), ["g() 4", "a 4"]);
}

#[test]
fn a_function_of_c_may_have_a_head_in_each_branch_of_a_conditional() {
    let heads = "#if A\nint f(int a) {\n#elif B\nint f(void) {\n#else\nint f(char a) {\n#endif\n";
    let text =
        format!("{heads}    if (g()) {{ h(); }}\n    return 0;\n}}\nint last(void) {{ return f(1); }}\n");
    let found = facts("c", &text);
    assert_eq!(definitions(&found), ["f 1:2-10", "last 11:11-11"]);
    assert_eq!(uses(&found), ["g() 8", "h() 8", "f() 11"]);
    // Another branch may have no head.
    let text = "#if A\nint f(void) {\n#else\n#endif\n    if (a) { g(); }\n}\nint last(void) { return 1; }\n";
    assert_eq!(definitions(&facts("c", text)), ["f 1:2-6", "last 7:7-7"]);
}

#[test]
fn parameters_of_c_in_the_old_style_belong_to_their_function() {
    let text = "static int f(c)\nint c;\n{ return c; }\npublic int\ng(c, d)\n\tint c;\n\tint (*d)();\n{ return f(c); }\n\
                MODULE(name) static int name;\nint h(size_t);\n";
    let found = facts("c", text);
    assert_eq!(definitions(&found), ["f 1:1-3", "g 4:5-8", "h 10:10-10"]);
    assert!(!found.definitions[0].flags.has(DefinitionFlags::PROTOTYPE));
    let heads = "#if A\nf(int a, ...)\n#else\nf(a, va_alist)\n     int a;\n     va_dcl\n#endif\n";
    assert_eq!(definitions(&facts("c", &format!("{heads}{{ g(a); }}\n"))), ["f 1:2-8"]);
}

#[test]
fn a_macro_around_a_function_of_c_does_not_name_it() {
    let text =
        "UNUSED(static int f(int a)) {\n    return a;\n}\nTEST(f(a)) { }\nvoid on(int done(int)) { }\n";
    assert_eq!(definitions(&facts("c", text)), ["f 1:1-3", "TEST 4:4-4", "on 5:5-5"]);
}

#[test]
fn braces_that_no_compiler_sees_do_not_count_in_c() {
    let text = "int f(void) {\n#if 0\n    if (a) {\n#endif\n}\nint g(void) {\n#if 0\n}\n#else\n    if (a) { }\n#endif\n}\n";
    assert_eq!(definitions(&facts("c", text)), ["f 1:1-5", "g 6:6-12"]);
}

#[test]
fn prototypes_and_macros_of_c_are_definitions_of_their_kinds() {
    let found = facts("c", "#define old new\nint new(int);\ntypedef struct s { int a; } s_t;\n");
    assert_eq!(definitions(&found), ["old 1:1-1", "new 2:2-2", "s 3:3-3", "s_t 3:3-3"]);
    assert!(found.definitions[1].flags.has(DefinitionFlags::PROTOTYPE));
}

#[test]
fn functions_of_c_may_be_declared_in_parentheses() {
    let found = facts(
        "c",
        "API void (one)(int a);\nAPI size_t (two) (int *a);\nAPI int *(three)(void);\nint (four)(int a) { return a; }\nint (*five)(int a);\nHEAD(six)(int a);\n",
    );
    assert_eq!(definitions(&found)[..4], ["one 1:1-1", "two 2:2-2", "three 3:3-3", "four 4:4-4"]);
    let prototypes = found.definitions.iter().map(|fact| fact.flags.has(DefinitionFlags::PROTOTYPE));
    assert_eq!(prototypes.take(4).collect::<Vec<_>>(), [true, true, true, false]);
    assert!(
        ["five", "size_t"].iter().all(|name| !definitions(&found).iter().any(|row| row.starts_with(name)))
    );
}

#[test]
fn hostile_texts_take_no_longer_than_others() {
    for language in ["python", "c", "cpp", "java", "rust", "go", "toml", "go-mod"] {
        for piece in
            ["(", "{", "a.", "a(", "#if\n", "def a(", "x = (", "\"", "f(a)(", "class A(", "[a for a in "]
        {
            let found = facts(language, &piece.repeat(6_000));
            assert!(found.names.len() < 100_000);
        }
    }
}

#[test]
fn hostile_scopes_and_macros_take_no_longer_than_others() {
    for language in ["rust", "go", "javascript"] {
        for piece in [
            "exports.a = ",
            "module.exports = {a: ",
            "a.b = {",
            "require('a')(",
            "let a = a; ",
            "m!{",
            "|a: ",
            "a := a\n",
            "use a::{",
            "a::",
            "impl A {",
        ] {
            let found = facts(language, &piece.repeat(6_000));
            assert!(found.names.len() < 100_000);
        }
    }
}

#[test]
fn fields_and_methods_of_rust_do_not_share_names() {
    let text = "#[derive(Clone)]\npub struct A { b: B }\nimpl A {\n    #[inline]\n    fn b(&self) -> B { self.b }\n}\n";
    let found = facts("rust", text);
    assert_eq!(definitions(&found), ["A 1:2-2", "A.b 4:5-5"]);
    assert_eq!(uses(&found), ["B 2", "A 3", "B 5"]);
}

#[test]
fn an_implementation_for_a_type_of_another_file_has_a_placeholder_definition() {
    let found = facts("rust", "impl super::A {\n    fn b() {}\n}\n");
    assert_eq!(definitions(&found), ["A 1:1-3", "A.b 2:2-2"]);
    assert!(found.definitions[0].flags.has(DefinitionFlags::PROTOTYPE));
    let found = facts("go", "package a\nfunc (t *T) B() {}\n");
    assert_eq!(definitions(&found), ["T 2:2-2", "T.B 2:2-2"]);
    let found = facts("go", "package a\nfunc (t *T) B() {}\ntype T struct{}\n");
    assert_eq!(found.qualified_name(1), "T.B");
}

#[test]
fn a_manifest_has_the_name_of_its_package() {
    let text =
        "[package]\nname = \"my-parts\"\n[lib]\nname = 'parts'\npath = \"lib.rs\"\n[[bin]]\nname = \"x\"\n";
    let found = facts("toml", text);
    assert_eq!(found.names, ["lib.name", "lib.path", "lib.rs", "my-parts", "package.name", "parts"]);
    assert_eq!(facts("go-mod", "module \"a.b/c\" // d\n").names, ["a.b/c", "module.name"]);
}

/// Returns the uses on the lines of the template of a component.
fn template_uses(language: &str, text: &str, lines: std::ops::RangeInclusive<u32>) -> Vec<String> {
    let found = facts(language, text);
    let is_in =
        |row: &String| row.rsplit(' ').next().is_some_and(|line| lines.contains(&line.parse().unwrap()));
    uses(&found).into_iter().filter(is_in).collect()
}

#[test]
fn expressions_in_a_template_use_the_names_of_the_scripts() {
    let vue = include_str!("../../../tests/fixtures/vue/setup.vue");
    expect![[r"
        current 36
        total 37
        SongRow 38
        songs 39
        .id 40
        song 40
        song 41
        play() 42
        song 42
        log() 42
        index 42
        reason 45
        SongRow 46
        stop 46
        format() 47
        total 47
        label 47"]]
    .assert_eq(&template_uses("vue", vue, 36..=52).join("\n"));
    let svelte = include_str!("../../../tests/fixtures/svelte/player.svelte");
    expect![[r"
        song 16
        queue 16
        at 16
        at 20
        at 20
        step 20
        .length 20
        queue 20
        HTMLElement 23
        .title 24
        node 24
        title 24
        title 30
        .length 35
        queue 35
        tooltip 36
        fade 36
        wide 36
        queue 37
        Row 38
        entry 38
        next() 38
        index 38
        at 38
        .rest 38
        entry 38
        .Empty 40
        icons 40
        song 43
        next() 46
        render() 48
        song 48
        load() 50
        title 50
        loaded 50"]]
    .assert_eq(&template_uses("svelte", svelte, 15..=54).join("\n"));
    let astro = include_str!("../../../tests/fixtures/astro/page.astro");
    expect![[r"
        Layout 21
        title 21
        title 22
        .map() 25
        newest 25
        li 26
        Card 27
        post 27
        .title 27
        .data 27
        post 27
        li 28"]]
    .assert_eq(&template_uses("astro", astro, 21..=32).join("\n"));
}

#[test]
fn hostile_components_are_read_in_linear_time() {
    for piece in ["{", "{{ ", "<template", "<a {", "<b c=\"", "<!--", "{#if '", "<script>", "$", "日{"] {
        for language in ["vue", "svelte", "astro"] {
            let text = format!(
                "<p>{}</p>\n<script>\nfunction last() {{}}\n</script>\n",
                piece.repeat(400_000 / piece.len())
            );
            facts(language, &text);
        }
    }
}
