//! Rust references that depend on the results of calls: extension traits, conversions, macros, closures, errors.

use super::references;

/// Returns the references of one line of `src/lib.rs`.
fn at(text: &str, line: u32) -> Vec<String> {
    of(&[("src/lib.rs", text)], &format!("src/lib.rs:{line}"))
}

fn of(files: &[(&str, &str)], place: &str) -> Vec<String> {
    let prefix = format!("{place} -> ");
    references(files).iter().filter_map(|row| row.strip_prefix(&prefix)).map(str::to_owned).collect()
}

#[test]
fn a_trait_of_the_project_adds_methods_to_foreign_types_where_it_is_in_scope() {
    let text = "pub struct Span;\nimpl Span { pub fn round(self) {} }\npub trait ToSpan { fn hours(self) -> Span; }\nimpl ToSpan for i64 { fn hours(self) -> Span { Span } }\npub trait Ext { fn shout(&self) {} }\nimpl Ext for str { fn shout(&self) {} }\nimpl<T> Ext for Vec<T> { fn shout(&self) {} }\nfn f(n: i64, s: &str, v: Vec<u8>, u: u8) {\n    n.hours().round();\n    2.hours().round();\n    s.shout();\n    v.shout();\n    u.shout();\n    assert!(1.hours().round());\n}\nmod other {\n    fn g(n: i64) { n.hours(); }\n    fn h(n: i64) { use super::ToSpan as _; n.hours(); }\n}\n";
    let names = |line| at(text, line).join(", ");
    assert_eq!(names(9), "i64.hours likely, Span.round likely");
    assert_eq!(names(10), "i64.hours likely, Span.round likely");
    assert_eq!(names(11), "str.shout likely");
    assert_eq!(names(12), "Vec.shout likely");
    assert_eq!(names(13), "");
    assert_eq!(names(14), "i64.hours likely, Span.round likely");
    assert_eq!(names(17), "");
    assert!(names(18).contains("i64.hours likely"), "{}", names(18));
}

#[test]
fn the_first_argument_selects_one_of_several_implementations() {
    let text = "use std::fmt;\npub struct Error;\npub enum A { X }\npub struct B;\nimpl From<A> for Error { fn from(a: A) -> Error { Error } }\nimpl From<B> for Error { fn from(b: B) -> Error { Error } }\nimpl From<u8> for Error { fn from(b: u8) -> Error { Error } }\nimpl From<B> for String { fn from(b: B) -> String { String::new() } }\nimpl fmt::Debug for B { fn fmt(&self) {} }\nimpl fmt::Display for B { fn fmt(&self) {} }\nfn f(b: B, c: C) {\n    Error::from(A::X);\n    Error::from(b);\n    Error::from(1);\n    String::from(b);\n    fmt::Display::fmt(&b);\n    Error::from(c);\n}\n";
    let lines = |line| {
        let rows = references(&[("src/lib.rs", text)]);
        let prefix = format!("src/lib.rs:{line} -> ");
        rows.into_iter().filter(|row| row.starts_with(&prefix) && row.ends_with("likely")).count()
    };
    for line in [12, 13, 14, 15, 16] {
        assert_eq!(lines(line), 1, "{line}");
    }
    assert_eq!(at(text, 17).iter().filter(|row| row.contains("from")).count(), 3);
    assert!(at(text, 17).iter().filter(|row| row.contains("from")).all(|row| row.ends_with("maybe")));
}

#[test]
fn macros_define_functions_and_have_values() {
    let text = "pub struct Arg;\nimpl Arg { pub fn new() -> Arg { Arg } pub fn id(&self) {} }\nmacro_rules! handler {\n    ($name:ident, $method:ident) => { handler!(@ $name, $method); };\n    (@ $name:ident, $method:ident) => { pub fn $name(a: u8) -> Arg { make() } };\n}\nhandler!(get, GET);\nhandler!(post, POST);\nmacro_rules! arg { ($name:expr) => {{ let arg = $crate::Arg::new(); arg }}; }\npin_project! {\n    pub struct Pinned { arg: Arg }\n}\nimpl Pinned { fn go(&self) { self.arg.id(); } }\nfn f(p: Pinned) {\n    get(1).id();\n    arg!(\"x\").id();\n    assert!(arg!(\"x\").id());\n    p.go();\n}\n";
    assert_eq!(at(text, 7), ["handler sure"]);
    assert_eq!(at(text, 13), ["Pinned sure", "Arg.id sure"]);
    assert_eq!(at(text, 15), ["get sure", "Arg.id sure"]);
    assert_eq!(at(text, 16), ["arg sure", "Arg.id likely"]);
    assert_eq!(at(text, 17), ["arg sure", "Arg.id likely"]);
    assert_eq!(at(text, 18), ["Pinned.go sure"]);
}

#[test]
fn a_name_among_several_macro_arguments_is_distinguished() {
    let text = "fn base() {}\nmacro_rules! cases {\n    ($($name:ident: $function:ident for $input:expr => $output:expr,)+) => { $( #[test] fn $name() { $function(); } )+ };\n}\ncases! {\n    one: base for \"a\" => \"b\",\n    two: base for \"c\" => \"d\",\n}\nfn f() { two(); base(); }\n";
    assert_eq!(at(text, 6), ["base sure"]);
    assert_eq!(at(text, 7), ["base sure"]);
    assert_eq!(at(text, 9), ["two sure", "base sure"]);
}

#[test]
fn the_error_of_a_result_and_the_result_of_await_are_known() {
    let text = "use std::result::Result as StdResult;\npub struct Error;\nimpl Error { pub fn kind(&self) {} }\npub struct Kind;\nimpl Kind { pub fn kind(&self) {} }\npub type Result<T, E = Error> = StdResult<T, E>;\npub fn plain() -> StdResult<Kind, Error> { Err(Error) }\npub fn alias() -> Result<Kind> { Err(Error) }\nimpl IntoFuture for Kind {\n    type Output = Error;\n}\nasync fn f() {\n    plain().unwrap_err().kind();\n    alias().unwrap_err().kind();\n    plain().map_err(|e| e.kind());\n    if let Err(e) = alias() { e.kind(); }\n    alias().unwrap().kind();\n    Kind.await.kind();\n}\n";
    for line in [13, 14, 15, 16, 18] {
        let found = at(text, line);
        assert!(found.iter().any(|row| row.starts_with("Error.kind ")), "{line} {found:?}");
        assert!(!found.iter().any(|row| row.starts_with("Kind.kind ")), "{line} {found:?}");
    }
    assert!(at(text, 17).contains(&"Kind.kind likely".to_owned()));
}

#[test]
fn closures_have_the_result_of_their_body_and_the_parameters_that_the_callee_declares() {
    let text = "pub struct A;\nimpl A { fn new() -> A { A } fn go(&self) {} fn with(&self, f: impl FnOnce(&A, B)) {} }\npub struct B;\nimpl B { fn go(&self) {} }\nfn each<F>(f: F) where F: Fn(B) {}\nfn f() {\n    let make = || A::new();\n    make().go();\n    let same = |a| a;\n    same(1).go();\n    make().with(|a, b| { a.go(); });\n    make().with(|a, b| { b.go(); });\n    each(|b| b.go());\n}\n";
    assert_eq!(at(text, 8), ["A.go sure"]);
    assert_eq!(at(text, 10), ["A.go maybe", "B.go maybe"]);
    assert!(at(text, 11).iter().any(|row| row.starts_with("A.go ") && !row.ends_with("maybe")));
    assert!(at(text, 12).iter().any(|row| row.starts_with("B.go ") && !row.ends_with("maybe")));
    assert!(at(text, 13).iter().any(|row| row.starts_with("B.go ") && !row.ends_with("maybe")));
}

#[test]
fn a_derived_trait_adds_its_methods() {
    let text = "pub trait Parser { fn parse() {} }\n#[derive(Clone, Parser)]\nstruct Opt;\n#[derive(Clone)]\nstruct Other;\nfn f() {\n    Opt::parse();\n    Other::parse();\n}\n";
    assert_eq!(at(text, 7), ["Parser.parse sure", "Opt sure"]);
    assert_eq!(at(text, 8), ["Other sure"]);
}

#[test]
fn a_macro_declares_a_module_for_each_file_of_a_folder() {
    let files = [
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        ("tests/suite/main.rs", "automod::dir!(\"tests/suite\");\n"),
        ("tests/suite/a.rs", "fn one() { crate::utils::check(); }\n"),
        ("tests/suite/utils.rs", "pub fn check() {}\n"),
    ];
    assert_eq!(of(&files, "tests/suite/a.rs:1"), ["tests/suite/utils.rs/check sure"]);
    assert_eq!(of(&files[2..], "tests/suite/a.rs:1"), [""; 0]);
}

#[test]
fn a_module_has_the_items_of_the_macro_that_expands_in_it() {
    let root = "macro_rules! crate_root {\n    () => {\n        pub mod inner;\n        pub use inner::{Kind, *};\n    };\n}\ncrate_root!();\nfn f(k: Kind) { inner::deep(); }\n";
    let files = [
        ("src/lib.rs", root),
        ("src/inner.rs", "pub struct Kind;\npub fn deep() {}\nfn g() { crate::deep(); }\n"),
    ];
    assert_eq!(of(&files, "src/lib.rs:8"), ["src/inner.rs/Kind sure", "src/inner.rs/deep sure"]);
    assert_eq!(of(&files, "src/inner.rs:3"), ["deep sure"]);
}

#[test]
fn a_field_of_self_has_the_bounds_of_the_implementation() {
    let text = "trait Run { fn run(&self); }
trait Other { fn run(&self); }
struct One<T, U> { base: T, more: Vec<U> }
impl<T: Run, U> Run for One<T, U> where U: Other {
    fn run(&self) {
        self.base.run();
        for one in &self.more {
            one.run();
        }
    }
}
";
    let found = references(&[("src/lib.rs", text)]);
    for row in ["src/lib.rs:6 -> Run.run likely", "src/lib.rs:8 -> Other.run likely"] {
        let place = row.split(" -> ").next().unwrap_or_default();
        let here: Vec<&String> = found.iter().filter(|found| found.starts_with(place)).collect();
        assert_eq!(here, [row]);
    }
}

#[test]
fn a_field_of_self_has_the_type_argument_of_the_implementation() {
    let text = "trait Run { fn run(&self); }\ntrait Other { fn run(&self); }\nstruct Two<A, B> { one: A, two: B }\nimpl<A: Run, X: Other> Two<X, A> {\n    fn go(&self) {\n        self.one.run();\n        self.two.run();\n    }\n}\n";
    assert_eq!(at(text, 6), ["Other.run likely"]);
    assert_eq!(at(text, 7), ["Run.run likely"]);
    let text = "trait Base { fn base(&self); }\ntrait Run: Base { fn run(&self); }\nstruct Two<A: Base> { one: A }\nimpl<A: Run> Two<A> {\n    fn go(&self) {\n        self.one.run();\n        self.one.base();\n    }\n}\n";
    assert_eq!(at(text, 6), ["Run.run likely"]);
    assert_eq!(at(text, 7), ["Base.base likely"]);
}

#[test]
fn methods_of_a_standard_deque_are_not_those_of_the_project() {
    let text = "use std::collections::VecDeque;\npub struct List;\nimpl List { pub fn push_front(&mut self) {} pub fn pop_back(&mut self) {} }\nfn f() {\n    let mut deque = VecDeque::new();\n    deque.push_front(1);\n    deque.pop_back();\n}\n";
    assert!(at(text, 6).iter().chain(&at(text, 7)).all(|row| !row.ends_with("likely")));
}

#[test]
fn a_type_dereferenced_twice_through_self_is_not_the_type_itself() {
    let text = "pub struct Small<T>(T);\npub trait Shrink { fn shrink(&self); }\nimpl<T> std::ops::Deref for Small<T> {\n    type Target = T;\n    fn deref(&self) -> &T { &self.0 }\n}\nimpl<T: Shrink> Shrink for Small<T> {\n    fn shrink(&self) {\n        (**self).shrink();\n        (*self).shrink();\n    }\n}\nimpl Shrink for Vec<u8> { fn shrink(&self) {} }\n";
    assert!(!at(text, 9).contains(&"Small.shrink sure".to_owned()));
    assert_eq!(at(text, 10), ["Small.shrink sure"]);
}
