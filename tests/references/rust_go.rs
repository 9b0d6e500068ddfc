//! References of Rust and Go.

use super::references;

/// Returns the references of one line of a file, without the prefix for the line.
fn at(texts: &[(&str, &str)], place: &str) -> Vec<String> {
    let prefix = format!("{place} -> ");
    references(texts).iter().filter_map(|row| row.strip_prefix(&prefix)).map(str::to_owned).collect()
}

#[test]
fn a_method_of_rust_is_that_of_the_constructed_type() {
    let text = "struct A;\nimpl A {\n    fn new() -> Self { A }\n    fn run(&self) {}\n}\nstruct B;\nimpl B { fn run(&self) {} }\nfn main() {\n    let a = A::new();\n    a.run();\n    B.run();\n}\n";
    let files = [("src/main.rs", text)];
    assert_eq!(at(&files, "src/main.rs:9"), ["A.new sure", "A sure"]);
    assert_eq!(at(&files, "src/main.rs:10"), ["A.run sure"]);
    assert_eq!(at(&files, "src/main.rs:11"), ["B sure", "B.run sure"]);
}

#[test]
fn a_let_that_hides_a_name_takes_effect_from_there_on() {
    let text = "struct A;\nimpl A { fn to(self) -> B { B } fn go(&self) {} }\nstruct B;\nimpl B { fn go(&self) {} }\nfn f(x: A) {\n    x.go();\n    let x = x.to();\n    x.go();\n    if let Some(x) = Some(A) { x.go(); }\n    x.go();\n}\n";
    let files = [("src/lib.rs", text)];
    assert_eq!(at(&files, "src/lib.rs:6"), ["A.go sure"]);
    assert_eq!(at(&files, "src/lib.rs:7"), ["A.to sure"]);
    assert_eq!(at(&files, "src/lib.rs:8"), ["B.go sure"]);
    assert_eq!(at(&files, "src/lib.rs:9"), ["A sure", "A.go sure"]);
    assert_eq!(at(&files, "src/lib.rs:10"), ["B.go sure"]);
}

#[test]
fn modules_are_files_and_re_exports_are_followed() {
    let files = [
        ("src/lib.rs", "mod a;\npub use a::b::*;\npub use self::a::Kind as Sort;\npub fn top() {}\n"),
        ("src/a/mod.rs", "pub mod b;\npub enum Kind { One, Two }\n"),
        ("src/a/b.rs", "use super::Kind;\npub fn deep() {\n    crate::top();\n    Kind::One;\n}\n"),
        ("src/use.rs", "use crate::{Sort, deep};\n"),
        ("src/main.rs", "mod r#use;\n"),
    ];
    assert_eq!(at(&files, "src/a/b.rs:3"), ["src/lib.rs/top sure"]);
    assert_eq!(at(&files, "src/a/b.rs:4"), ["src/a/mod.rs/Kind.One sure", "src/a/mod.rs/Kind sure"]);
    let user = "fn f() {\n    crate::deep();\n    let s: crate::Sort;\n}\n";
    let files = [files[0], files[1], files[2], ("src/a/c.rs", user), ("src/a/b/x.rs", "")];
    // No module declares the file, so it is a root of its own.
    assert_eq!(at(&files, "src/a/c.rs:2"), [""; 0]);
    let root = "mod a;\nmod c;\npub use a::b::*;\npub use self::a::Kind as Sort;\npub fn top() {}\n";
    let files = [("src/lib.rs", root), files[1], files[2], ("src/c.rs", user)];
    assert_eq!(at(&files, "src/c.rs:2"), ["src/a/b.rs/deep sure"]);
    assert_eq!(at(&files, "src/c.rs:3"), ["src/a/mod.rs/Kind sure"]);
}

#[test]
fn a_crate_is_imported_by_the_name_in_its_manifest() {
    let user = "use my_parts::Engine;\nuse regex::Regex;\nfn main() {\n    Engine::start();\n    Regex::start();\n}\n";
    let files = [
        ("app/src/main.rs", user),
        ("crates/regex/Cargo.toml", "[package]\nname = \"my-parts\"\n"),
        (
            "crates/regex/src/lib.rs",
            "pub struct Engine;\npub struct Regex;\nimpl Engine { pub fn start() {} }\nimpl Regex { pub fn start() {} }\n",
        ),
    ];
    assert_eq!(
        at(&files, "app/src/main.rs:4"),
        ["crates/regex/src/lib.rs/Engine.start sure", "crates/regex/src/lib.rs/Engine sure"]
    );
    // The package of that name belongs to another project, whatever the folder's name.
    assert_eq!(at(&files, "app/src/main.rs:5"), [""; 0]);
    // Without a manifest the folder's name is the only evidence.
    let files =
        [("app/src/main.rs", "fn main() { regex::run(); }\n"), ("regex/src/lib.rs", "pub fn run() {}\n")];
    assert_eq!(at(&files, "app/src/main.rs:1"), ["regex/src/lib.rs/run likely"]);
}

#[test]
fn a_type_has_the_methods_of_its_traits_and_its_own_come_first() {
    let text = "trait T {\n    fn a(&self) {}\n    fn b(&self);\n}\nstruct S;\nimpl T for S { fn b(&self) { self.a(); Self::c(); } }\nimpl S { fn c() {} fn b(&self) {} }\nfn f(s: &S, t: &dyn T) {\n    s.a();\n    s.b();\n    t.b();\n}\n";
    let files = [("src/lib.rs", text)];
    assert_eq!(at(&files, "src/lib.rs:6"), ["T sure", "S sure", "T.a sure", "S.c sure"]);
    assert_eq!(at(&files, "src/lib.rs:9"), ["T.a sure"]);
    assert_eq!(at(&files, "src/lib.rs:10"), ["S.b sure"]);
    assert_eq!(at(&files, "src/lib.rs:11"), ["T.b sure"]);
}

#[test]
fn a_type_parameter_has_the_methods_of_its_bounds_and_is_no_reference() {
    let text = "trait T { fn a(&self); }\nfn f<M: T>(m: M) {\n    m.a();\n}\nfn g<M>(m: M) where M: T {\n    m.a();\n    let n: M = m;\n}\n";
    let files = [("src/lib.rs", text)];
    assert_eq!(at(&files, "src/lib.rs:3"), ["T.a likely"]);
    assert_eq!(at(&files, "src/lib.rs:6"), ["T.a likely"]);
    assert_eq!(at(&files, "src/lib.rs:7"), [""; 0]);
}

#[test]
fn fields_patterns_and_wrappers_have_the_types_that_are_declared() {
    let text = "struct A { b: Vec<B>, c: Option<Box<C>> }\nstruct B;\nimpl B { fn go(&self) -> Result<C, String> { Ok(C) } }\nstruct C;\nimpl C { fn b(&self) {} }\nenum E { X(C), Y { c: C } }\nfn f(a: A, e: E) -> Option<()> {\n    for b in &a.b { b.go()?.b(); }\n    if let Some(c) = &a.c { c.b(); }\n    match e {\n        E::X(c) => c.b(),\n        E::Y { c } => c.b(),\n    }\n    a.b.iter().map(|b| b.go());\n    a.b.first().unwrap().go();\n}\n";
    let files = [("src/lib.rs", text)];
    assert_eq!(at(&files, "src/lib.rs:8"), ["B.go sure", "C.b sure"]);
    assert_eq!(at(&files, "src/lib.rs:9"), ["C.b sure"]);
    assert_eq!(at(&files, "src/lib.rs:11"), ["E.X sure", "E sure", "C.b sure"]);
    assert_eq!(at(&files, "src/lib.rs:12"), ["E.Y sure", "E sure", "C.b sure"]);
    assert_eq!(at(&files, "src/lib.rs:14"), ["B.go likely"]);
    assert_eq!(at(&files, "src/lib.rs:15"), ["B.go likely"]);
}

#[test]
fn names_of_types_values_and_macros_do_not_hide_each_other() {
    let text = "mod walk { pub fn walk() {} }\nuse walk::walk;\nmacro_rules! check { () => {} }\nfn check() {}\nfn main() {\n    let walk = walk::walk();\n    check!();\n    check();\n}\n";
    let files = [("src/main.rs", text)];
    assert_eq!(at(&files, "src/main.rs:6"), ["walk.walk sure", "walk sure"]);
    let lines = references(&files);
    assert!(lines.contains(&"src/main.rs:7 -> check sure".to_owned()), "{lines:?}");
    assert_eq!(at(&files, "src/main.rs:8"), ["check sure"]);
}

#[test]
fn the_tokens_of_a_macro_are_read() {
    let text = "struct A;\nimpl A { fn b(&self) -> A { A } }\nfn make() -> A { A }\nfn main() {\n    assert!(make().b().b() == A::c(), \"{}\", Self::x);\n    case!(|a: A, n| { let x = a.b(); x.b(); n.b() });\n}\n";
    let files = [("src/main.rs", text)];
    assert_eq!(at(&files, "src/main.rs:5"), ["make sure", "A.b sure", "A.b sure", "A sure"]);
    assert_eq!(at(&files, "src/main.rs:6"), ["A sure", "A.b sure", "A.b sure", "A.b maybe"]);
}

#[test]
fn type_arguments_of_calls_in_macros_do_not_end_a_path() {
    let text = "struct A;\nimpl A { fn get<T>(&self) -> A { A } fn go(&self) {} }\nstruct S;\nfn make<T>() -> A { A }\nfn main() {\n    assert_eq!(A.get::<Option<S>>().go(), make::<S>().go());\n}\n";
    let found = at(&[("src/main.rs", text)], "src/main.rs:6");
    assert_eq!(found, ["A sure", "A.get sure", "S sure", "A.go sure", "make sure", "S sure", "A.go sure"]);
}

#[test]
fn a_dependency_may_be_imported_by_another_name() {
    let user = "use jcore::Date;\nfn f() {\n    jcore::days();\n    Date::new();\n    other::days();\n}\n";
    let library = "pub struct Date;\nimpl Date { pub fn new() -> Date { Date } }\npub fn days() {}\n";
    let manifest = "[dependencies]\njcore = { package = \"my-core\", path = \"../core\" }\n[dependencies.far-other]\npackage = \"far\"\n";
    let files = [
        ("app/Cargo.toml", manifest),
        ("app/src/lib.rs", user),
        ("core/Cargo.toml", "[package]\nname = \"my-core\"\n"),
        ("core/src/lib.rs", library),
        ("free/src/lib.rs", "fn f() {\n    jcore::days();\n}\n"),
    ];
    assert_eq!(at(&files, "app/src/lib.rs:3"), ["core/src/lib.rs/days sure"]);
    assert_eq!(
        at(&files, "app/src/lib.rs:4"),
        ["core/src/lib.rs/Date.new sure", "core/src/lib.rs/Date sure"]
    );
    assert_eq!(at(&files, "app/src/lib.rs:5"), [""; 0]);
    assert_eq!(at(&files, "free/src/lib.rs:2"), [""; 0]);
}

#[test]
fn definitions_for_several_platforms_are_maybe() {
    let text = "#[cfg(unix)]\nfn open() {}\n#[cfg(windows)]\nfn open() {}\nfn main() { open(); }\n";
    assert_eq!(at(&[("src/main.rs", text)], "src/main.rs:5"), ["open maybe", "open maybe"]);
}

#[test]
fn a_name_of_go_is_that_of_its_package_and_an_import_path_is_below_its_module() {
    let files = [
        ("go.mod", "module example.com/shop // the shop\n\ngo 1.21\n"),
        (
            "main.go",
            "package main\n\nimport (\n\t\"fmt\"\n\t\"example.com/shop/cart\"\n)\n\nfunc main() {\n\tc := cart.New()\n\tc.Add(1).Total()\n\tfmt.Println(helper())\n\tvar t cart.Total\n}\n",
        ),
        ("help.go", "package main\n\nfunc helper() int { return 1 }\n"),
        (
            "cart/cart.go",
            "package cart\n\ntype Cart struct { items []Item }\n\nfunc New() *Cart { return &Cart{} }\n\nfunc (c *Cart) Add(n int) *Cart {\n\tfor _, item := range c.items {\n\t\titem.Price()\n\t}\n\treturn c\n}\n",
        ),
        (
            "cart/item.go",
            "package cart\n\ntype Item struct{}\n\ntype Total int\n\nfunc (i Item) Price() int { return 1 }\n\nfunc (c *Cart) Total() {}\n",
        ),
    ];
    assert_eq!(at(&files, "main.go:9"), ["cart/cart.go/New sure"]);
    assert_eq!(at(&files, "main.go:10"), ["cart/item.go/Cart.Total sure", "cart/cart.go/Cart.Add sure"]);
    assert_eq!(at(&files, "main.go:11"), ["help.go/helper sure"]);
    assert_eq!(at(&files, "main.go:12"), ["cart/item.go/Total sure"]);
    assert_eq!(at(&files, "cart/cart.go:9"), ["cart/item.go/Item.Price sure"]);
    // Without a manifest the end of the path decides.
    assert_eq!(at(&files[1..], "main.go:9"), ["cart/cart.go/New likely"]);
}

#[test]
fn go_members_of_embedded_types_interfaces_and_results_are_found() {
    let text = "package a\n\ntype Base struct{}\n\nfunc (b *Base) Run() {}\n\ntype Child struct {\n\t*Base\n\tnext *Child\n}\n\ntype Runner interface { Run() }\n\nfunc pair() (*Child, error) { return nil, nil }\n\nfunc use(r Runner, x interface{}) {\n\tc, err := pair()\n\tc.Run()\n\tc.next.Base.Run()\n\tr.Run()\n\tif c, ok := x.(*Base); ok {\n\t\tc.Run()\n\t}\n\tswitch v := x.(type) {\n\tcase *Child:\n\t\tv.Run()\n\t}\n\terr.Run()\n\tm := map[string]*Child{}\n\tm[\"a\"].Run()\n\tuse := func() {}\n\tuse()\n}\n";
    let files = [("a.go", text)];
    assert_eq!(at(&files, "a.go:17"), ["pair sure"]);
    assert_eq!(at(&files, "a.go:18"), ["Base.Run sure"]);
    assert_eq!(at(&files, "a.go:19"), ["Base.Run sure"]);
    assert_eq!(at(&files, "a.go:20"), ["Runner.Run sure"]);
    assert_eq!(at(&files, "a.go:22"), ["Base.Run sure"]);
    assert_eq!(at(&files, "a.go:26"), ["Base.Run sure"]);
    assert_eq!(at(&files, "a.go:28"), [""; 0]);
    assert_eq!(at(&files, "a.go:30"), ["Base.Run sure"]);
    assert_eq!(at(&files, "a.go:32"), [""; 0]);
}

#[test]
fn unnamed_go_structs_have_fields() {
    let text = "package a\n\ntype M struct{}\n\nfunc (m M) Match(s string) {}\n\ntype P struct{}\n\nfunc (p *P) Match(s string) {}\n\nvar All = struct{ A, B M }{}\n\nfunc f(x struct{ in struct{ p P } }) {\n\tfor _, tc := range []struct {\n\t\tm M\n\t}{{}} {\n\t\ttc.m.Match(\"x\")\n\t}\n\tfor _, tc := range map[string]struct{ make func() *P }{} {\n\t\ttc.make().Match(\"y\")\n\t}\n\tx.in.p.Match(\"z\")\n\tAll.A.Match(\"w\")\n}\n";
    let files = [("a.go", text)];
    assert_eq!(at(&files, "a.go:15"), ["M sure"]);
    assert_eq!(at(&files, "a.go:17"), ["M.Match sure"]);
    assert_eq!(at(&files, "a.go:20"), ["P.Match sure"]);
    assert_eq!(at(&files, "a.go:22"), ["P.Match sure"]);
    assert_eq!(at(&files, "a.go:23"), ["M.Match sure"]);
}

#[test]
fn generic_and_unnamed_go_functions_return_values() {
    let files = [
        ("go.mod", "module m\n"),
        (
            "a.go",
            "package a\n\nimport \"m/b\"\n\nfunc f(all chan b.Other) {\n\tq := b.New[string](3)\n\tq.Add(1)\n\tb.New[string](3).Add(2)\n\trun := func() *b.Other { return nil }\n\trun().Add(3)\n\tfor o := range all {\n\t\to.Add(4)\n\t}\n}\n",
        ),
        (
            "b/b.go",
            "package b\n\ntype Queue[T any] struct{}\n\nfunc New[T any](n int) *Queue[T] { return nil }\n\nfunc (q *Queue[T]) Add(n int) {}\n\ntype Other struct{}\n\nfunc (o *Other) Add(n int) {}\n",
        ),
    ];
    assert_eq!(at(&files, "a.go:7"), ["b/b.go/Queue.Add sure"]);
    assert_eq!(at(&files, "a.go:8"), ["b/b.go/Queue.Add sure", "b/b.go/New sure"]);
    assert_eq!(at(&files, "a.go:10"), ["b/b.go/Other.Add sure"]);
    assert_eq!(at(&files, "a.go:12"), ["b/b.go/Other.Add sure"]);
}

#[test]
fn a_variable_of_go_is_not_the_function_that_it_holds() {
    let files = [
        ("go.mod", "module m\n"),
        ("a/a.go", "package a\n\nimport \"m/b\"\n\nvar With = b.With\n"),
        ("b/b.go", "package b\n\nfunc With() {}\n"),
        ("c.go", "package c\n\nimport \"m/a\"\n\nfunc f() { a.With() }\n"),
    ];
    assert_eq!(at(&files, "a/a.go:5"), ["b/b.go/With sure"]);
    assert_eq!(at(&files, "c.go:5"), [""; 0]);
}

#[test]
fn go_files_that_need_a_tag_come_after_those_that_do_not() {
    let with = |constraint: &str| {
        format!("{constraint}package a\n\ntype Binding interface {{\n\tName() string\n}}\n")
    };
    let constraints = [
        ("//go:build nomsgpack\n\n", "//go:build !nomsgpack\n\n", true),
        ("//go:build linux && (extra || other)\n\n", "", true),
        ("//go:build linux\n\n", "//go:build !linux\n\n", false),
        ("//go:build go1.18 || extra\n\n", "", false),
    ];
    for (left, right, is_ranked) in constraints {
        let (left, right) = (with(left), with(right));
        let files = [
            ("go.mod", "module example.org/m\n"),
            ("left.go", &*left),
            ("right.go", &*right),
            ("use.go", "package a\n\nfunc show(b Binding) string {\n\treturn b.Name()\n}\n"),
        ];
        let mut found = at(&files, "use.go:4");
        found.sort();
        let best = if is_ranked { "likely" } else { "maybe" };
        assert_eq!(found, ["left.go/Binding.Name maybe", &format!("right.go/Binding.Name {best}")]);
    }
}

#[test]
fn types_in_a_go_signature_see_type_parameters_but_no_parameters() {
    let text = "package app\nimport \"example.com/m/logger\"\ntype T struct{}\nfunc F(logger *logger.Logger, other logger.Logger) (err logger.Logger) {\n\tlogger.Info()\n\tother.Info()\n\treturn\n}\nfunc G[T logger.Info](t T) T { return t }\nfunc (s *S[T]) Push(t T) { _ = T(t) }\ntype S[T any] struct{}\nfunc H() { f := func(logger *logger.Logger) { logger.Info() }; f(nil) }\n";
    let files = [
        ("go.mod", "module example.com/m\n"),
        ("logger/logger.go", "package logger\ntype Logger struct{}\nfunc (l *Logger) Info() {}\n"),
        ("app/app.go", text),
    ];
    let types = ["logger/logger.go/Logger sure"; 3];
    assert_eq!(at(&files, "app/app.go:4"), types);
    assert_eq!(at(&files, "app/app.go:5"), ["logger/logger.go/Logger.Info sure"]);
    assert_eq!(at(&files, "app/app.go:6"), ["logger/logger.go/Logger.Info sure"]);
    assert_eq!(at(&files, "app/app.go:9"), [""; 0]);
    assert_eq!(at(&files, "app/app.go:10"), ["S sure"]);
    assert_eq!(
        at(&files, "app/app.go:12"),
        ["logger/logger.go/Logger sure", "logger/logger.go/Logger.Info sure"]
    );
}

#[test]
fn a_rust_name_that_is_conditionally_imported_from_elsewhere_is_likely() {
    let library = "#[cfg(no_std)]\nmod sync;\n#[cfg(std)]\nuse std::sync;\nmod lock;\nuse crate::sync::Once;\nextern crate std;\nfn f() {\n    Once::make();\n    crate::lock::Lock::make();\n}\n";
    let lock = "#[cfg(std)]\npub use std::Lock;\n#[cfg(no_std)]\npub use self::own::*;\nmod own {\n    pub struct Lock;\n    impl Lock {\n        pub fn make() {}\n    }\n}\n";
    let files = [
        ("src/lib.rs", library),
        ("src/sync.rs", "pub struct Once;\nimpl Once {\n    pub fn make() {}\n}\n"),
        ("src/lock.rs", lock),
    ];
    assert_eq!(at(&files, "src/lib.rs:9"), ["src/sync.rs/Once.make likely", "src/sync.rs/Once likely"]);
    assert!(at(&files, "src/lib.rs:10").contains(&"src/lock.rs/own.Lock.make likely".to_owned()));
}

#[test]
fn go_methods_for_several_systems_are_maybe() {
    let method = |system: &str| format!("//go:build {system}\n\npackage a\n\nfunc (t *T) Run() {{}}\n");
    let (left, right) = (method("linux"), method("!linux"));
    let files = [
        ("left.go", &*left),
        ("right.go", &*right),
        ("use.go", "package a\n\ntype T struct{}\n\nfunc use(t *T) {\n\tt.Run()\n}\n"),
    ];
    assert_eq!(at(&files, "use.go:6"), ["left.go/T.Run maybe", "right.go/T.Run maybe"]);
}

#[test]
fn a_loop_over_a_go_type_of_a_map_has_its_keys() {
    let text = "package a\n\ntype ID int\n\nfunc (i ID) Run() {}\n\ntype Set map[ID]struct{}\n\nfunc use(s Set) {\n\tfor id := range s {\n\t\tid.Run()\n\t}\n}\n";
    assert_eq!(at(&[("a.go", text)], "a.go:11"), ["ID.Run sure"]);
}

#[test]
fn a_rust_module_is_found_by_another_name_and_several_modules_above() {
    let user = "fn f(t: super::super::alpha::T) {\n    super::super::alpha::go();\n    super::super::alpha::T::new();\n    t.run();\n    assert!(super::super::alpha::go());\n}\nmod inner {\n    fn g() { super::super::super::alpha::go(); }\n}\n";
    let system = "mod unix;\n#[cfg(unix)]\nuse unix as imp;\n#[cfg(windows)]\nuse other as imp;\nfn f() { imp::open(); }\n";
    let files = [
        ("src/lib.rs", "mod alpha;\nmod q;\nmod system;\nuse alpha as imp;\npub fn u() { imp::go(); }\n"),
        (
            "src/alpha.rs",
            "pub struct T;\nimpl T { pub fn new() -> T { T } pub fn run(&self) {} }\npub fn go() {}\n",
        ),
        ("src/q/mod.rs", "mod w;\npub mod alpha { pub fn go() {} }\n"),
        ("src/q/w.rs", user),
        ("src/system.rs", system),
        ("src/system/unix.rs", "pub fn open() {}\n"),
    ];
    assert_eq!(at(&files, "src/lib.rs:5"), ["src/alpha.rs/go sure"]);
    assert_eq!(at(&files, "src/q/w.rs:1"), ["src/alpha.rs/T sure"]);
    assert_eq!(at(&files, "src/q/w.rs:2"), ["src/alpha.rs/go sure"]);
    assert_eq!(at(&files, "src/q/w.rs:3"), ["src/alpha.rs/T.new sure", "src/alpha.rs/T sure"]);
    assert_eq!(at(&files, "src/q/w.rs:4"), ["src/alpha.rs/T.run sure"]);
    assert_eq!(at(&files, "src/q/w.rs:5"), ["src/alpha.rs/go sure"]);
    assert_eq!(at(&files, "src/q/w.rs:8"), ["src/alpha.rs/go sure"]);
    assert_eq!(at(&files, "src/system.rs:6"), ["src/system/unix.rs/open likely"]);
}

#[test]
fn the_result_of_a_method_of_a_generic_go_type_is_not_lost() {
    let text = "package x\ntype Req struct{}\nfunc (r *Req) Done() {}\ntype Pool[T any] struct{ items []T }\nfunc (p *Pool[T]) Get() T { return p.items[0] }\nfunc a(p *Pool[*Req]) { p.Get().Done() }\nfunc b(p *Pool[*Req]) {\n\tr := p.Get()\n\tr.Done()\n}\n";
    let files = [("a.go", text)];
    assert!(at(&files, "a.go:6").contains(&"Req.Done maybe".to_owned()));
    assert_eq!(at(&files, "a.go:9"), ["Req.Done maybe"]);
}
