//! Java references that depend on types: overloads, type arguments and lambdas.

use super::references;

/// Checks the lines of the definitions that the uses of a line mean, as `LINE GRADE`, and their names.
#[track_caller]
fn check(text: &str, expected: &[(usize, &[&str])]) {
    let numbered: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    let found = references(&[("A.java", text)]);
    for (line, expected) in expected {
        let prefix = format!("A.java:{line} -> ");
        let rows: Vec<&str> = found.iter().filter_map(|row| row.strip_prefix(&prefix)).collect();
        assert_eq!(rows, *expected, "{}", numbered[line - 1]);
    }
}

/// Overloads that each return a different class; the method `own` of that class shows which one is called.
const OVERLOADS: &str = "class A {
  One run(int a) { return null; }
  Two run(String a) { return null; }
  Three run(Object a) { return null; }
  Four run(long a, B b) { return null; }
  Five run(Integer a, Base b) { return null; }
  Six run(String a, Object... more) { return null; }
  Seven take(char[] a) { return null; }
  Eight take(Runnable a) { return null; }
  Nine take(java.util.function.Function<String, String> a) { return null; }
}
class Base {}
class B extends Base {}
class One { void own() {} }
class Two { void own() {} }
class Three { void own() {} }
class Four { void own() {} }
class Five { void own() {} }
class Six { void own() {} }
class Seven { void own() {} }
class Eight { void own() {} }
class Nine { void own() {} }
class Use {
  String name;
  void f(A a, B b, Base base, Integer box, char[] letters) {
";

#[test]
fn overloads_are_chosen_by_the_types_of_arguments() {
    let calls = [
        ("a.run(1).own();", "One.own sure"),
        ("a.run('c' + 1).own();", "One.own sure"),
        ("a.run(name).own();", "Two.own sure"),
        ("a.run(\"x\" + b).own();", "Two.own sure"),
        ("a.run(null + name).own();", "Two.own sure"),
        ("a.run(b).own();", "Three.own sure"),
        ("a.run(box).own();", "Three.own sure"),
        ("a.run(1L).own();", "Three.own sure"),
        ("a.run(1, b).own();", "Four.own sure"),
        ("a.run(1, base).own();", "Five.own sure"),
        ("a.run(box, new Base()).own();", "Five.own sure"),
        ("a.run(name, base).own();", "Six.own sure"),
        ("a.run(name, 1, 2).own();", "Six.own sure"),
        ("a.take(letters).own();", "Seven.own sure"),
        ("a.take(() -> {}).own();", "Eight.own sure"),
        ("a.take(x -> x).own();", "Nine.own sure"),
    ];
    let first = OVERLOADS.lines().count() + 1;
    let body = calls.iter().map(|(call, _)| format!("    {call}\n")).collect::<Vec<_>>().concat();
    let found = references(&[("A.java", &format!("{OVERLOADS}{body}  }}\n}}\n"))]);
    for (line, (call, expected)) in (first..).zip(calls) {
        let prefix = format!("A.java:{line} -> ");
        let rows = found.iter().filter_map(|row| row.strip_prefix(&prefix));
        let own: Vec<&str> = rows.filter(|row| row.contains(".own")).collect();
        assert_eq!(own, [expected], "{call}");
    }
}

#[test]
fn overloads_are_maybe_where_an_argument_is_not_known() {
    check(
        "class A {
  void run(int a) {}
  void run(String a) {}
  void run(String a, int b) {}
  void run(String a, String b) {}
  void f() { run(unknown()); }
  void g() { run(unknown(), 1); }
}
",
        &[(6, &["A.run maybe", "A.run maybe"]), (7, &["A.run sure"])],
    );
}

#[test]
fn more_than_eight_overloads_are_all_considered() {
    let names = ["int", "long", "double", "float", "boolean", "char", "short", "byte", "String", "A"];
    let methods =
        names.iter().map(|name| format!("  void run({name} a) {{}}\n")).collect::<Vec<_>>().concat();
    let text = format!("class A {{\n{methods}  void f() {{ run(this); }}\n  void g() {{ run(true); }}\n}}\n");
    check(&text, &[(12, &["A.run sure"]), (13, &["A.run sure"])]);
}

#[test]
fn type_arguments_decide_what_methods_return() {
    check(
        "import java.util.*;
class Foo { void go() {} }
class Other { void go() {} }
class Box<T> {
  T item;
  T get() { return item; }
  <R> Box<R> with(R other) { return null; }
  Box<T> same() { return this; }
}
class Foos extends Box<Foo> {}
class All<T extends Foo> extends ArrayList<T> {}
class Builder<B extends Builder<B>> { B name() { return null; } void go() {} }
class OwnBuilder extends Builder<OwnBuilder> { void go() {} }
class Use {
  void f(Box<Foo> box, Foos foos, Box<Box<Foo>> deep, All<Foo> all, OwnBuilder own, Foo[] array) {
    box.get().go();
    foos.item.go();
    deep.get().same().get().go();
    box.with(new Other()).get().go();
    all.get(0).go();
    for (var foo : all) foo.go();
    own.name().go();
    load(\"x\", Foo.class).go();
    array.go();
  }
  <T> T load(String name, Class<T> type) { return null; }
}
",
        &[
            (16, &["Foo.go sure", "Box.get sure"]),
            (17, &["Foo.go sure"]),
            (18, &["Foo.go sure", "Box.get sure", "Box.same sure", "Box.get sure"]),
            (19, &["Other.go sure", "Box.get sure", "Box.with sure", "Other sure"]),
            (20, &["Foo.go sure"]),
            (21, &["Foo.go sure"]),
            (22, &["OwnBuilder.go sure", "Builder.name sure"]),
            (23, &["Foo.go sure", "Use.load sure", "Foo sure"]),
            (24, &[]),
        ],
    );
}

#[test]
fn lambda_parameters_have_the_types_of_their_target() {
    check(
        "import java.util.*;
import java.util.function.*;
class Foo { void go() {} Foo up() { return this; } }
class Other { void go() {} }
interface Filter { boolean head(Foo foo, int depth); }
class Use {
  void take(Filter filter) {}
  void each(Consumer<? super Foo> all) {}
  Filter field = (foo, depth) -> { foo.go(); return true; };
  void f(List<Foo> foos) {
    take((foo, depth) -> { foo.go(); return true; });
    each(foo -> foo.go());
    foos.forEach(foo -> { foo.go(); });
    foos.stream().map(foo -> foo.up()).forEach(up -> up.go());
    foos.stream().map(Foo::up).findFirst().get().go();
    unknown(foo -> foo.go());
  }
}
",
        &[
            (9, &["Filter sure", "Foo.go sure"]),
            (11, &["Use.take sure", "Foo.go sure"]),
            (12, &["Use.each sure", "Foo.go sure"]),
            (13, &["Foo.go sure"]),
            (14, &["Foo.up sure", "Foo.go sure"]),
            (15, &["Foo.go sure", "Foo.up sure", "Foo sure"]),
            (16, &["Foo.go maybe", "Other.go maybe"]),
        ],
    );
}

#[test]
fn static_imports_of_a_name_hide_star_imports() {
    let files = [
        (
            "p/A.java",
            "package p;\npublic class A {\n  public static String format(String a) { return a; }\n}\n",
        ),
        (
            "B.java",
            "import static java.lang.String.format;\nimport static p.A.*;\nclass B {\n  String b = format(\"\");\n}\n",
        ),
        ("C.java", "import static p.A.*;\nclass C {\n  String b = format(\"\");\n}\n"),
    ];
    assert_eq!(references(&files), ["C.java:3 -> p/A.java/A.format sure"]);
}

#[test]
fn mocks_have_the_methods_of_the_mocked_type() {
    let text = "import static org.mockito.Mockito.*;
import static org.mockito.BDDMockito.then;
import org.mockito.InOrder;
import org.mockito.Mockito;
class A { void log() {} }
class B { void log() {} }
class Use {
  void f(A a) {
    verify(a).log();
    Mockito.verify(a, Mockito.never()).log();
    doReturn(1).when(a).log();
    Mockito.doThrow(new Error()).when(a).log();
    spy(a).log();
    var mock = mock(A.class);
    mock.log();
    InOrder order = inOrder(a);
    order.verify(a).log();
    then(a).should().log();
  }
}
";
    for line in [9, 10, 11, 12, 13, 15, 17, 18] {
        check(text, &[(line, &["A.log sure"])]);
    }
}
