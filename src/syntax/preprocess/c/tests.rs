//! The output of the scanner for each idiom.

use std::fmt::Write;

use expect_test::{Expect, expect};

use super::scanner::{CScanner, Dialect};
use crate::syntax::text::{PreprocessedText, SynthesizedItem};

fn preprocessed(text: &str, dialect: Dialect) -> Option<PreprocessedText> {
    CScanner::new(text, dialect).preprocess()
}

/// Shows what is given to the grammar, then what is synthesized, then what is expected.
#[track_caller]
fn check(dialect: Dialect, text: &str, expected: &Expect) {
    let Some(preprocessed) = preprocessed(text, dialect) else {
        expected.assert_eq("unsupported");
        return;
    };
    let mut out = preprocessed.text.trim().to_owned();
    for synthesized in &preprocessed.synthesized {
        if let SynthesizedItem::Symbol(symbol) = synthesized {
            let kind = symbol.kind.name();
            let scope = if symbol.scope.is_empty() { "" } else { " in " };
            let head = text[symbol.signature.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
            write!(out, "\n+ {kind} {}{scope}{} = {head}", symbol.name, symbol.scope).unwrap();
        }
        if let SynthesizedItem::Import(_, name) = synthesized {
            write!(out, "\n+ import {}", &text[name.clone()]).unwrap();
        }
    }
    for expected in &preprocessed.expected_symbols {
        write!(out, "\n! {} {}", expected.kind.name(), expected.name).unwrap();
    }
    expected.assert_eq(&out);
}

#[track_caller]
fn c(text: &str, expected: &Expect) {
    check(Dialect::C, text, expected);
}

#[track_caller]
fn cpp(text: &str, expected: &Expect) {
    check(Dialect::Cpp, text, expected);
}

#[test]
fn plain_declarations_are_synthesized() {
    c(
        "#include <a.h>\nint f(int a) { if (a) { } return '}'; }\nstatic const char *g(void);\nint x = 3, *y;\nstruct s { int a; };\n",
        &expect![["
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
fn macros_around_a_head_are_not_part_of_it() {
    c(
        "PyAPI_FUNC(int) f(int);\nEXPORT(int)\ng(int a);\nstatic __always_inline int h(void) __init { }\nint STRING(k)(int a) { }\nFOO(a)\n#ifdef X\nint i;\n#else\nint j;\n#endif\n",
        &expect![["

            + prototype f = PyAPI_FUNC(int) f(int)
            + prototype g = EXPORT(int) g(int a)
            + function h = static __always_inline int h(void) __init
            + function k = int STRING(k)(int a)
            + variable i = int i
            + variable j = int j"]],
    );
}

#[test]
fn a_macro_around_a_function_does_not_name_it() {
    c(
        "UNUSED(static void f(int a)) {\n}\nTEST(g(a)) {\n}\n",
        &expect![["

        + function f = UNUSED(static void f(int a))
        + function g.a = TEST(g(a))"]],
    );
}

#[test]
fn a_macro_with_a_type_or_a_fixture_names_a_function() {
    cpp(
        "struct A {\n STDMETHOD(f)(int a) PURE;\n STDMETHOD_(B<int>, g)();\n STDMETHOD_(const char *, h)() { }\n};\n\
         BENCHMARK_F(Fixture, i)(State& s) { }\nBENCHMARK_TEMPLATE_F(Fixture, j, int)(State& s) { }\n",
        &expect![[r"
            struct A {}
            ;
            + method f = STDMETHOD(f)(int a) PURE
            + method g = STDMETHOD_(B<int>, g)()
            + method h = STDMETHOD_(const char *, h)()
            + function Fixture.i = BENCHMARK_F(Fixture, i)(State& s)
            + function Fixture.j = BENCHMARK_TEMPLATE_F(Fixture, j, int)(State& s)
            ! struct A"]],
    );
}

#[test]
fn parameters_in_the_old_style_belong_to_their_function() {
    c(
        "int f(a, b) const char *a; struct x *b; { }\n#pragma a\nint g(int a)\n#pragma b\n{ }\n\
         int (*h(n, p))() int n; int (*p)(); { }\n",
        &expect![[r"

            + function f = int f(a, b) const char *a; struct x *b;
            + function g = int g(int a)
            + function h = int (*h(n, p))() int n; int (*p)();"]],
    );
}

#[test]
fn assembler_code_between_pragmas_is_skipped() {
    c(
        "#pragma asm\n_f:\n  MOV A, 'x\n  #if X\n  RET ; {\n#pragma endasm\nint g(void) {\n#asm\n  LD (\n#endasm\n}\n\
         #pragma asm\nint h(void) { }\n",
        &expect![[r"

            + function g = int g(void)
            + function h = int h(void)"]],
    );
}

#[test]
fn cpp_keywords_are_names_in_c() {
    let text = "delete() { }\nnew(x) { }\nvoid catch(int a) { }\n";
    c(
        text,
        &expect![["

            + function delete = delete()
            + function new = new(x)
            + function catch = void catch(int a)"]],
    );
}

#[test]
fn pointers_to_functions_are_values() {
    c(
        "typedef BOOL (WINAPI *T)(int);\nint (*p)(void) = f;\nstruct s { void (*m)(int); };\n",
        &expect![["
        struct s {}
        ;
        + typedef T = typedef BOOL (WINAPI *T)(int)
        + variable p = int (*p)(void)
        + field m = void (*m)(int)
        ! struct s"]],
    );
}

#[test]
fn attributes_that_look_like_calls_are_not_names() {
    c(
        "EXPORT void NOTHROW *\nATTR(malloc) ALLOC(1)\nje_malloc(size_t a) { }\nFOO(3.1) typedef int t;\n",
        &expect![["

        + function je_malloc = EXPORT void NOTHROW * ATTR(malloc) ALLOC(1) je_malloc(size_t a)
        + typedef t = FOO(3.1) typedef int t"]],
    );
}

#[test]
fn members_may_have_initializers_in_braces() {
    cpp(
        "A::A(B *p)\n    : C<1, 1>{ p }, d_{ nullptr },\n      e_{}\n{\n f(\"a\" \"b\"); }\n",
        &expect![["

        + constructor A in A = A::A(B *p)"]],
    );
}

#[test]
fn template_specializations_are_read() {
    cpp(
        "template<> inline __device__ a::b f<0>() { }\ntemplate <class T> using X = std::vector<T>;\ntemplate<typename T> inline Seq<T>::Seq() : seq(0) {}\ntemplate<class T> bool operator<(A<T> a, B b);\nstruct __align__(16) u8 { int a; ~u8(); ::a::b c(); operator bool() const { } };\n",
        &expect![["
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

#[test]
fn unterminated_macro_calls_are_not_part_of_what_follows() {
    c(
        "static PATH_FUNC(a, \"b\")\nstatic PATH_FUNC(c, \"d\")\n\nstruct s { int a; };\nIMPLEMENT(X)\nint f(void) { }\n",
        &expect![["
            struct s {}
            ;
            + field a = int a
            + function f = int f(void)
            ! struct s"]],
    );
}

#[test]
fn the_first_branch_of_a_condition_that_splits_an_item_is_read() {
    c(
        "int f(int a)\n#if A\n{ if (a) {\n#else\n{ {\n#endif\n} }\n#if B\nint g(void) {\n#else\nint g(int a) {\n#endif\n}\nint h(void);\n",
        &expect![["

            + function f = int f(int a)
            + function g = int g(void)
            + prototype h = int h(void)"]],
    );
}

#[test]
fn text_excluded_by_if_0_may_be_anything() {
    c(
        "#if 0\nThis isn't { code\n#else\nint a;\n#endif\n#if 0\nint b;\n#endif\n#if A\nint c;\n#else\n}\n#endif\nint d;\n",
        &expect![["

            + variable a = int a
            + variable b = int b
            + variable c = int c
            + variable d = int d"]],
    );
}

#[test]
fn unmatched_brackets_are_unsupported() {
    c("int f(void) { \n", &expect![["unsupported"]]);
    c("int a; }\n", &expect![["unsupported"]]);
    c("int a[3);\n", &expect![["unsupported"]]);
    c("#if A\n", &expect![["unsupported"]]);
    c("/* a", &expect![["unsupported"]]);
}

#[test]
fn the_body_of_a_function_left_to_the_grammar_is_elided() {
    cpp(
        "friend int f(A a) { return 1; }\nstatic int t[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 }, u;\n",
        &expect![["
            friend int f(A a) {;}
            static int t[] = {}, u;"]],
    );
}

#[test]
fn functions_whose_heads_are_macros_have_the_names_that_readers_ask_for() {
    cpp(
        "TEST(Foo, Bar) { }\nSYSCALL_DEFINE2(open, int, a) { }\nDEFINE_X(y) { }\nPHP_METHOD(PDO, query) { }\n\
         PROXY_CALL(void, const T& self) { }\nDEFINE_Y(void) { }\n",
        &expect![["

            + function Foo.Bar = TEST(Foo, Bar)
            + function sys_open = SYSCALL_DEFINE2(open, int, a)
            + function y = DEFINE_X(y)
            + function PDO.query = PHP_METHOD(PDO, query)
            + function PROXY_CALL = PROXY_CALL(void, const T& self)
            + function DEFINE_Y = DEFINE_Y(void)"]],
    );
}

#[test]
fn attributes_after_the_members_of_a_type_are_not_names() {
    c(
        "typedef struct {\n    int a;\n} PACKED hdr_t;\ntypedef struct {\n    int a;\n} ALIGNED(8) dma_t;\n\
         struct v { int c; } __read_mostly vv;\nstruct t { int a; } __packed __aligned(4);\n\
         struct w { int a; } DECLARE_ALIGNED(16) ww[3];\ntypedef struct { int a; } HDR PACKED;\n\
         struct x { int a; } *p, NAME;\n",
        &expect![["
            typedef struct {}
              hdr_t;
            typedef struct {}
              dma_t;
            struct v {}
              vv;
            struct t {}
              ;
            struct w {}
              ww[3];
            typedef struct {}
             HDR ;
            struct x {}
             *p, NAME;
            + field a = int a
            + field a = int a
            + field c = int c
            + field a = int a
            + field a = int a
            + field a = int a
            + field a = int a
            ! struct v
            ! struct t
            ! struct w
            ! struct x"]],
    );
}

#[test]
fn elided_ranges_map_back_to_the_original() {
    let text = "int a, /* b */ c;\nstruct EXPORT s { int d; } e, f;\n";
    let preprocessed = preprocessed(text, Dialect::C).unwrap();
    for name in ["a,", "c;", "s ", "e,", "f;"] {
        let at = preprocessed.text.find(name).unwrap();
        assert_eq!(&text[preprocessed.original_range(at..at + 1)], &name[..1]);
    }
    assert_eq!((preprocessed.elided_comments.len(), &preprocessed.elided_comments[0]), (1, &(7..14)));
}

#[test]
fn template_requirements_may_be_in_parentheses() {
    cpp(
        "template <class T> requires (sizeof(T) > 2)\nclass A { int a; };\ntemplate <class T> requires requires(T t) { t.x(); }\nvoid f(T t) { }\ntemplate <class T> void g(T t) requires requires { { t.y() } -> C; } { }\nvoid h() && requires (a) { }\nint b;\n",
        &expect![[r"
            template <class T> 
            class A {}
            ;
            + field a = int a
            + function f = template <class T> requires requires(T t) { t.x(); } void f(T t)
            + function g = template <class T> void g(T t) requires requires { { t.y() } -> C; }
            + function h = void h() && requires (a)
            + variable b = int b
            ! class A"]],
    );
}

#[test]
fn a_macro_below_another_is_not_part_of_what_follows() {
    c(
        "G_BEGIN_DECLS\nG_DEFINE_TYPE (A, a, B)\nstatic void\nf (int a)\n{ }\nIN_2_58\nG_DECLARE (A)\nIN_ALL\nint g (void);\n",
        &expect![[r"

            + function f = static void f (int a)
            + prototype g = IN_ALL int g (void)"]],
    );
}

#[test]
fn a_name_before_a_macro_that_holds_its_parameters_may_be_that_of_a_type() {
    c(
        "typedef struct v *f PARAMS((struct v *));\n",
        &expect![[r"

        + typedef f = typedef struct v *f PARAMS((struct v *))"]],
    );
}

#[test]
fn a_function_whose_parameters_are_in_a_macro_has_its_own_name() {
    c(
        "ZEXTERN int ZEXPORT z_reset _Z_OF((z_streamp a,\n    int b))\n{ }\nint f PARAMS((void))\n{ }\nint g;\n",
        &expect![[r"

            + function z_reset = ZEXTERN int ZEXPORT z_reset _Z_OF((z_streamp a, int b))
            + function f = int f PARAMS((void))
            + variable g = int g"]],
    );
}

#[test]
fn a_macro_around_a_name_in_a_typedef_or_a_structure_is_not_a_function() {
    c(
        "typedef int CALLBACK(write_cb)(int a);\nstruct s {\n    void *CALLBACK(write)(int a);\n    int b;\n};\nint g;\n",
        &expect![[r"
            struct s {}
            ;
            + typedef write_cb = typedef int CALLBACK(write_cb)(int a)
            + field write = void *CALLBACK(write)(int a)
            + field b = int b
            + variable g = int g
            ! struct s"]],
    );
}

#[test]
fn an_attribute_with_arguments_before_a_name_is_not_a_function() {
    c(
        "void printflike(1, 2) f(const char *, ...);\nstatic void printflike(3, 4)\ng(char **a, const char *b)\n{ }\nint h;\n",
        &expect![[r"

            + prototype f = void printflike(1, 2) f(const char *, ...)
            + function g = static void printflike(3, 4) g(char **a, const char *b)
            + variable h = int h"]],
    );
}

#[test]
fn a_test_with_a_title_has_the_name_of_its_macro() {
    cpp(
        "TEST_CASE(\"sizes of vectors\", \"[vector]\") { }\nTEST_CASE_METHOD(Fixture, \"no name\") { }\nTEST_F(Fixture, Runs) { }\n",
        &expect![[r#"

            + function TEST_CASE = TEST_CASE("sizes of vectors", "[vector]")
            + function TEST_CASE_METHOD = TEST_CASE_METHOD(Fixture, "no name")
            + function Fixture.Runs = TEST_F(Fixture, Runs)"#]],
    );
}

#[test]
fn placeholders_of_a_build_are_skipped() {
    c(
        "@PRAGMA_SYSTEM_HEADER@\n@PRAGMA_COLUMNS@\nint f(int a);\n",
        &expect![[r"

        + prototype f = int f(int a)"]],
    );
}

#[test]
fn constants_that_a_macro_makes_have_no_names() {
    c(
        "enum e { X(A) Y(B, C), LAST, Z(D) M(E), F DEPRECATED(\"a\") = 1 };\n",
        &expect![[r#"
        enum e {}
        ;
        + enum_member LAST = LAST
        + enum_member F = F DEPRECATED("a") = 1
        ! enum e"#]],
    );
}

#[test]
fn templates_are_read_in_headers_for_both_languages() {
    c(
        "#ifdef __cplusplus\ntemplate <typename T> inline T *\nf(T *p)\n{ }\n#endif\nint a;\n",
        &expect![[r"

        + function f = template <typename T> inline T * f(T *p)
        + variable a = int a"]],
    );
}

#[test]
fn macros_after_an_array_are_not_its_name() {
    c(
        "const char a[] PROGMEM = \"x\";\nstatic int b[] my_attr = { 1 };\nint c[2] ALIGNED(16);\nint d[] __initdata;\n",
        &expect![[r"

            + variable a = const char a[] PROGMEM
            + variable b = static int b[] my_attr
            + variable c = int c[2] ALIGNED(16)
            + variable d = int d[] __initdata"]],
    );
}

#[test]
fn the_time_for_many_macros_on_lines_of_their_own_is_linear() {
    let text = "AB\n".repeat(200_000);
    assert!(preprocessed(&text, Dialect::C).is_some());
}

#[test]
fn members_after_a_macro_with_code_are_read() {
    cpp(
        "class X {\n D(\n  void f(E& e) { }\n )\nprotected:\n int a() const { }\n M(void g(), return 1; )\n int b();\n};\n",
        &expect![[r"
        class X {}
        ;
        + method a = int a() const
        + method b = int b()
        ! class X"]],
    );
}

#[test]
fn a_string_in_a_skipped_branch_does_not_begin_a_comment() {
    let branch = "        g(\"a/*\", \"\\\"/*\"); // and /*\n";
    c(
        &format!(
            "char *f(void)\n{{\n#ifdef A\n    h();\n#else\n    {{\n{branch}    }}\n#endif\n}}\nint a;\n"
        ),
        &expect![[r"

            + function f = char *f(void)
            + variable a = int a"]],
    );
}

#[test]
fn a_macro_may_be_an_access_label() {
    cpp(
        "class A {\n PRIVATE_UNLESS_TESTED:\n union B { bool c; B(bool d) : c(d) {} };\n TESTED: int e;\n};\n\
         struct F { UINT32 : 4; UINT32 : WIDTH; int g; };\n",
        &expect![["
            class A { union B {}
            ;}
            ;
            struct F { UINT32 : 4; UINT32 : WIDTH;}
            ;
            + field c = bool c
            + constructor B = B(bool d)
            + field e = int e
            + field g = int g
            ! class A
            ! union B
            ! struct F"]],
    );
}

#[test]
fn a_function_that_returns_an_array_has_its_own_name() {
    cpp(
        "const Enum (&f())[3] { }\nconst Enum (&g(int a))[3];\nint (*h(void))[2];\n",
        &expect![["

            + function f = const Enum (&f())[3]
            + prototype g = const Enum (&g(int a))[3]
            + prototype h = int (*h(void))[2]"]],
    );
}

#[test]
fn macros_after_the_parameters_of_a_constructor_are_not_members() {
    cpp(
        "class A {\n lib_constexpr A(long a) lib_noexcept : b_(a), c_(1) {}\n int d() { }\n};\n",
        &expect![["
            class A {}
            ;
            + constructor A = lib_constexpr A(long a) lib_noexcept
            + method d = int d()
            ! class A"]],
    );
}

#[test]
fn a_class_may_begin_with_a_macro_or_an_attribute() {
    cpp(
        "ALIGNED_STRUCT(8) A FINAL_CLASS {\n private:\n  int a_;\n public:\n  int a() { }\n};\n\
         class _declspec(uuid(\"7E\"))\nB final : public C { int b() { } };\n",
        &expect![["
            struct A  {}
            ;
            class 
            B final : public C {}
            ;
            + field a_ = int a_
            + method a = int a()
            + method b = int b()
            ! struct A
            ! class B"]],
    );
}
