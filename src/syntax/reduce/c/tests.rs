//! What the scanner makes of each idiom.

use expect_test::Expect;
use expect_test::expect;

use super::Dialect;
use super::scan::Scanner;
use crate::syntax::reduced::Reduced;
use crate::syntax::reduced::Supplied;

fn reduced(text: &str, dialect: Dialect) -> Option<Reduced> {
    Scanner::new(text, dialect).run()
}

/// Shows what is handed to the grammar, then what is supplied, then what is recorded.
#[track_caller]
fn check(dialect: Dialect, text: &str, expected: Expect) {
    let Some(reduced) = reduced(text, dialect) else {
        expected.assert_eq("odd");
        return;
    };
    let mut out = reduced.text.trim().to_owned();
    for supplied in &reduced.supplied {
        if let Supplied::Symbol(symbol) = supplied {
            let kind = symbol.kind.name();
            let scope = if symbol.scope.is_empty() { "" } else { " in " };
            let head = text[symbol.head.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
            out += &format!("\n+ {kind} {}{scope}{} = {head}", symbol.name, symbol.scope);
        }
        if let Supplied::Import(_, name) = supplied {
            out += &format!("\n+ import {}", &text[name.clone()]);
        }
    }
    for record in &reduced.records {
        out += &format!("\n! {} {}", record.kind.name(), record.name);
    }
    expected.assert_eq(&out);
}

#[track_caller]
fn c(text: &str, expected: Expect) {
    check(Dialect::C, text, expected);
}

#[track_caller]
fn cpp(text: &str, expected: Expect) {
    check(Dialect::Cpp, text, expected);
}

#[test]
fn plain_declarations_are_read_at_sight() {
    c(
        "#include <a.h>\nint f(int a) { if (a) { } return '}'; }\nstatic const char *g(void);\nint x = 3, *y;\nstruct s { int a; };\n",
        expect![["
            int x = 3, *y;
            struct s {}
            ;
            + import <a.h>
            + function f = int f(int a)
            + prototype g = static const char *g(void)
            + field a = int a
            ! struct s"]],
    );
}

#[test]
fn macros_around_a_head_are_no_part_of_it() {
    c(
        "PyAPI_FUNC(int) f(int);\nEXPORT(int)\ng(int a);\nstatic __always_inline int h(void) __init { }\nint STRING(k)(int a) { }\nFOO(a)\n#ifdef X\nint i;\n#else\nint j;\n#endif\n",
        expect![["

            + prototype f = PyAPI_FUNC(int) f(int)
            + prototype g = EXPORT(int) g(int a)
            + function h = static __always_inline int h(void) __init
            + function k = int STRING(k)(int a)
            + variable i = int i
            + variable j = int j"]],
    );
}

#[test]
fn parameters_in_the_old_style_belong_to_their_function() {
    c(
        "int f(a, b) const char *a; struct x *b; { }\n#pragma a\nint g(int a)\n#pragma b\n{ }\n",
        expect![["

        + function f = int f(a, b)
        + function g = int g(int a)"]],
    );
}

#[test]
fn pointers_to_functions_are_values() {
    c(
        "typedef BOOL (WINAPI *T)(int);\nint (*p)(void) = f;\nstruct s { void (*m)(int); };\n",
        expect![["
        struct s {}
        ;
        + typedef T = typedef BOOL (WINAPI *T)(int)
        + variable p = int (*p)(void)
        + field m = void (*m)(int)
        ! struct s"]],
    );
}

#[test]
fn attributes_that_look_like_calls_are_no_names() {
    c(
        "EXPORT void NOTHROW *\nATTR(malloc) ALLOC(1)\nje_malloc(size_t a) { }\nFOO(3.1) typedef int t;\n",
        expect![["

        + function je_malloc = EXPORT void NOTHROW * ATTR(malloc) ALLOC(1) je_malloc(size_t a)
        + typedef t = FOO(3.1) typedef int t"]],
    );
}

#[test]
fn members_may_be_given_their_values_in_brackets() {
    cpp(
        "A::A(B *p)\n    : C<1, 1>{ p }, d_{ nullptr },\n      e_{}\n{\n f(\"a\" \"b\"); }\n",
        expect![["

        + constructor A in A = A::A(B *p)"]],
    );
}

#[test]
fn templates_are_read_with_what_they_are_made_for() {
    cpp(
        "template<> inline __device__ a::b f<0>() { }\ntemplate <class T> using X = std::vector<T>;\ntemplate<typename T> inline Seq<T>::Seq() : seq(0) {}\ntemplate<class T> bool operator<(A<T> a, B b);\nstruct __align__(16) u8 { int a; ~u8(); ::a::b c(); operator bool() const { } };\n",
        expect![["
            struct  u8 {}
            ;
            + function f = template<> inline __device__ a::b f<0>()
            + typedef X = template <class T> using X = std::vector<T>
            + constructor Seq in Seq<T> = template<typename T> inline Seq<T>::Seq()
            + prototype operator< = template<class T> bool operator<(A<T> a, B b)
            + field a = int a
            + destructor ~u8 = ~u8()
            + method c = ::a::b c()
            + method operator bool = operator bool() const
            ! struct u8"]],
    );
}
