//! References of Java, C, C++ and languages that are read by name.

use super::{references, source_facts};

/// Compares the references of one line.
#[track_caller]
fn check(texts: &[(&str, &str)], place: &str, expected: &[&str]) {
    let prefix = format!("{place} -> ");
    let found = references(texts);
    let found: Vec<&str> = found.iter().filter_map(|row| row.strip_prefix(&prefix)).collect();
    assert_eq!(found, expected);
}

#[test]
fn java_types_are_imported_or_of_the_same_package() {
    let files = [
        (
            "a/A.java",
            "package p.a;\npublic class A {\n  public static void go() {}\n  static class In {}\n}\n",
        ),
        ("a/B.java", "package p.a;\nclass B {\n  A a;\n  String s;\n}\n"),
        (
            "b/C.java",
            "package p.b;\nimport p.a.A;\nclass C {\n  void f() { A.go(); }\n  A.In in;\n  p.a.B b;\n}\n",
        ),
        ("b/D.java", "package p.b;\nimport p.a.*;\nclass D {\n  B b;\n}\n"),
        ("b/E.java", "package p.b;\nimport q.A;\nclass E {\n  A a;\n  B b;\n}\n"),
    ];
    check(&files, "a/B.java:3", &["a/A.java/A sure"]);
    check(&files, "a/B.java:4", &[]);
    check(&files, "b/C.java:4", &["a/A.java/A.go sure", "a/A.java/A sure"]);
    check(&files, "b/C.java:5", &["a/A.java/A.In sure", "a/A.java/A sure"]);
    check(&files, "b/C.java:6", &["a/B.java/B sure"]);
    check(&files, "b/D.java:4", &["a/B.java/B sure"]);
    check(&files, "b/E.java:4", &[]);
    check(&files, "b/E.java:5", &[]);
}

#[test]
fn java_static_imports_import_methods() {
    let files = [
        ("A.java", "package p;\npublic class A {\n  public static int one(int a) { return a; }\n}\n"),
        ("B.java", "package q;\nimport static p.A.one;\nclass B {\n  int b = one(1);\n}\n"),
        ("C.java", "package q;\nimport static p.A.*;\nclass C {\n  int b = one(1);\n}\n"),
    ];
    check(&files, "B.java:4", &["A.java/A.one sure"]);
    check(&files, "C.java:4", &["A.java/A.one sure"]);
}

#[test]
fn java_methods_are_found_by_the_declared_type_and_the_number_of_arguments() {
    let text = "class A {\n  void run() {}\n  void run(int a) {}\n  void run(int a, int b, Object... c) {}\n}\nclass B {\n  A a;\n  void f(A p) {\n    a.run();\n    p.run(1);\n    this.a.run(1, 2, 3, 4);\n    var v = new A();\n    v.run();\n    A run = p;\n    run.run();\n  }\n}\n";
    let files = [("A.java", text)];
    for line in [9, 13, 15] {
        check(&files, &format!("A.java:{line}"), &["A.run sure"]);
    }
    check(&files, "A.java:10", &["A.run sure"]);
    check(&files, "A.java:11", &["A.run sure"]);
    check(&files, "A.java:12", &["A sure"]);
}

#[test]
fn java_members_are_inherited() {
    let files = [
        (
            "A.java",
            "package p;\nclass A extends Base {\n  void f() { top(); super.own(); }\n  void own() {}\n}\n",
        ),
        ("Base.java", "package p;\nclass Base implements I {\n  void own() {}\n}\n"),
        ("I.java", "package p;\ninterface I {\n  default void top() {}\n}\n"),
    ];
    check(&files, "A.java:3", &["I.java/I.top sure", "Base.java/Base.own sure"]);
}

#[test]
fn java_methods_with_other_parameters_do_not_override() {
    let text = "class A {\n  void run(int a) {}\n}\nclass B extends A {\n  @Override void run(int a) {}\n}\nclass C extends A {\n  void run(String a) {}\n}\nclass D {\n  void f(B b, C c) {\n    b.run(1);\n    c.run(1);\n  }\n}\n";
    check(&[("A.java", text)], "A.java:12", &["B.run sure"]);
    check(&[("A.java", text)], "A.java:13", &["A.run sure"]);
}

#[test]
fn java_names_of_outer_classes_are_likely_if_a_base_is_of_another_project() {
    let text = "class A {\n  void go() {}\n  class B {\n    void f() { go(); }\n  }\n  class C extends Thread {\n    void f() { go(); }\n  }\n  Runnable r = new Runnable() {\n    public void run() { go(); this.run(); }\n  };\n}\n";
    check(&[("A.java", text)], "A.java:4", &["A.go sure"]);
    check(&[("A.java", text)], "A.java:7", &["A.go likely"]);
    check(&[("A.java", text)], "A.java:10", &["A.go likely", "A.run sure"]);
}

#[test]
fn java_chains_follow_return_types_bounds_and_elements() {
    let text = "import java.util.List;\nclass A<T extends B> {\n  T t;\n  List<B> all;\n  A<T> self() { return this; }\n  B[] array;\n  void f(Object o) {\n    self().t.go();\n    all.get(0).go();\n    for (B b : all) b.go();\n    array[0].go();\n    ((B) o).go();\n    if (o instanceof B c) c.go();\n    all.go();\n  }\n}\nclass B {\n  void go() {}\n}\n";
    for line in [9, 11] {
        check(&[("A.java", text)], &format!("A.java:{line}"), &["B.go sure"]);
    }
    check(&[("A.java", text)], "A.java:8", &["B.go sure", "A.self sure"]);
    check(&[("A.java", text)], "A.java:10", &["B sure", "B.go sure"]);
    check(&[("A.java", text)], "A.java:12", &["B.go sure", "B sure"]);
    check(&[("A.java", text)], "A.java:14", &[]);
}

#[test]
fn java_methods_of_unknown_receivers_are_guessed_by_distinctive_names_only() {
    let text = "class A {\n  void goHome() {}\n  void go() {}\n  boolean isEmpty() { return true; }\n  void f() {\n    unknown().stream().map(x -> x.goHome());\n    unknown().map(x -> x.go());\n    unknown().map(x -> x.isEmpty());\n  }\n}\n";
    check(&[("A.java", text)], "A.java:6", &["A.goHome likely"]);
    check(&[("A.java", text)], "A.java:7", &["A.go maybe"]);
    check(&[("A.java", text)], "A.java:8", &["A.isEmpty maybe"]);
}

#[test]
fn cpp_definitions_outside_of_a_type_are_those_of_its_declarations() {
    let files = [
        (
            "a.h",
            "namespace n {\nclass A {\n public:\n  A();\n  void run(int);\n  static A make();\n};\nvoid free(A* a);\n}\n",
        ),
        (
            "a.cc",
            "#include \"a.h\"\nnamespace n {\nA::A() {}\nvoid A::run(int x) {}\nA A::make() { return A(); }\nvoid free(A* a) { a->run(1); }\n}\n",
        ),
        (
            "b.cc",
            "#include \"a.h\"\nint main() {\n  n::A a;\n  a.run(2);\n  auto b = n::A::make();\n  b.run(3);\n  n::free(&a);\n}\n",
        ),
    ];
    check(&files, "a.cc:6", &["a.h/n.A sure", "n.A.run sure"]);
    check(&files, "b.cc:4", &["a.cc/n.A.run sure"]);
    check(&files, "b.cc:5", &["a.h/n.A sure", "a.cc/n.A.make sure"]);
    check(&files, "b.cc:6", &["a.cc/n.A.run sure"]);
    check(&files, "b.cc:7", &["a.cc/n.free sure"]);
}

#[test]
fn cpp_members_are_found_in_bodies_outside_of_their_type() {
    let header = "namespace n {\nstruct Base {\n  void top() {}\n};\nclass A : public Base {\n  struct Item {\n    void reset();\n    void run();\n  };\n  void run();\n  void stop();\n  A* next;\n};\n}\nvoid stop();\n";
    let source = "#include \"a.h\"\nnamespace n {\nvoid A::stop() {}\nvoid A::run() {\n  stop();\n  this->stop();\n  next->stop();\n  top();\n}\nvoid A::Item::reset() {}\nvoid A::Item::run() {\n  reset();\n}\n}\nvoid stop() {}\n";
    let files = [("a.h", header), ("a.cc", source)];
    for line in [5, 6, 7] {
        check(&files, &format!("a.cc:{line}"), &["n.A.stop sure"]);
    }
    check(&files, "a.cc:8", &["a.h/n.Base.top sure"]);
    check(&files, "a.cc:12", &["n.A.Item.reset sure"]);
}

#[test]
fn cpp_definitions_with_several_qualifiers_are_those_of_their_declarations() {
    let header = "namespace app {\nint free_fn(int);\nint helper();\nstruct W {\n  struct In { void go(); };\n  void show();\n  static void fold();\n};\n}\n";
    let source = "#include \"a.h\"\nint app::free_fn(int x) {\n  return helper();\n}\nint app::helper() { return 1; }\nvoid app::W::fold() {}\nvoid app::W::show() {\n  helper();\n}\nvoid app::W::In::go() {\n  helper();\n  fold();\n}\n";
    let user = "#include \"a.h\"\nint main() {\n  app::W w;\n  w.show();\n  app::W::In in;\n  in.go();\n  return app::free_fn(2);\n}\n";
    let files = [("a.h", header), ("a.cc", source), ("b.cc", user)];
    for line in [3, 8, 11] {
        check(&files, &format!("a.cc:{line}"), &["app.helper sure"]);
    }
    check(&files, "a.cc:12", &["app.W.fold sure"]);
    check(&files, "b.cc:4", &["a.cc/app.W.show sure"]);
    check(&files, "b.cc:6", &["a.cc/app.W.In.go sure"]);
    check(&files, "b.cc:7", &["a.cc/app.free_fn sure"]);
}

#[test]
fn a_cpp_qualifier_that_may_be_a_type_is_not_a_namespace_of_another_file() {
    let files = [
        ("a.cc", "namespace n {\nstruct A {\n  int run();\n};\nint A::run() { return 1; }\n}\n"),
        ("b.cc", "namespace A {\nint run();\nint use() {\n  return run();\n}\n}\n"),
    ];
    check(&files, "b.cc:4", &["A.run sure"]);
}

#[test]
fn cpp_types_may_be_defined_outside_of_their_type() {
    let header = "struct A {\n  class Part;\n  void run();\n  Part* part_;\n};\n";
    let source = "#include \"a.h\"\nclass A::Part {\n public:\n  void go() {}\n};\nstruct Other {\n  void go() {}\n};\nvoid A::run() {\n  part_->go();\n  Part part;\n  part.go();\n}\n";
    let files = [("a.h", header), ("a.cc", source)];
    check(&files, "a.cc:10", &["A.Part.go sure"]);
    check(&files, "a.cc:12", &["A.Part.go sure"]);
}

#[test]
fn cpp_annotations_after_variables_do_not_hide_them() {
    let text = "struct Part {\n  void go() {}\n};\nstruct Other {\n  void go() {}\n};\nstruct A {\n  Part part_ GUARDED_BY(mutex_);\n  Part* const held_ GUARDED_BY(mutex_);\n  Part MAKE(int a);\n  void run() {\n    part_.go();\n    held_->go();\n    MAKE(1).go();\n  }\n};\n";
    let files = [("a.cc", text)];
    for line in [12, 13] {
        check(&files, &format!("a.cc:{line}"), &["Part.go sure"]);
    }
    check(&files, "a.cc:14", &["A.MAKE sure", "Part.go sure"]);
}

#[test]
fn cpp_bodies_after_a_macro_see_the_type_in_its_argument_and_are_never_sure() {
    let text = "void close() {}\nvoid open() {}\nstruct Fixture {\n  void close() {}\n};\nTEST_F(Fixture, closes) {\n  close();\n  open();\n}\nTEST(Name, closes) {\n  close();\n}\n";
    let files = [("a.cc", text)];
    check(&files, "a.cc:7", &["Fixture.close likely"]);
    check(&files, "a.cc:8", &["open likely"]);
    check(&files, "a.cc:11", &["close likely"]);
}

#[test]
fn cpp_members_are_inherited_and_this_is_the_enclosing_type() {
    let text = "struct Base {\n  void top() {}\n  int size;\n};\nstruct A : public Base {\n  void run() {\n    top();\n    this->run();\n    other->run();\n    size();\n  }\n  A* other;\n};\nvoid top() {}\nvoid f() { top(); }\n";
    let files = [("a.cc", text)];
    check(&files, "a.cc:7", &["Base.top sure"]);
    check(&files, "a.cc:8", &["A.run sure"]);
    check(&files, "a.cc:9", &["A.run sure"]);
    check(&files, "a.cc:15", &["top sure"]);
}

#[test]
fn cpp_locals_have_the_types_that_they_are_declared_or_constructed_with() {
    let text = "struct A {\n  void go() {}\n};\nstruct B {\n  void go() {}\n};\ntemplate <typename T>\nstruct Box {\n  T item;\n};\nA make();\nvoid f(const A& a, B* b, std::vector<B> all, std::unique_ptr<A> held) {\n  a.go();\n  b->go();\n  auto c = make();\n  c.go();\n  auto d = new B();\n  d->go();\n  for (auto& e : all) e.go();\n  held->go();\n  static_cast<A*>(p)->go();\n  A g{}, *h;\n  h->go();\n  [&](B i) { i.go(); }(x);\n  auto j = B{};\n  j.go();\n}\n";
    let files = [("a.cc", text)];
    for line in [13, 16, 20, 23] {
        check(&files, &format!("a.cc:{line}"), &["A.go sure"]);
    }
    check(&files, "a.cc:21", &["A sure", "A.go sure"]);
    for line in [14, 18, 19, 26] {
        check(&files, &format!("a.cc:{line}"), &["B.go sure"]);
    }
    check(&files, "a.cc:24", &["B sure", "B.go sure"]);
}

#[test]
fn cpp_namespaces_are_searched_from_the_inside_and_by_directives() {
    let text = "namespace a {\nvoid run() {}\nnamespace b {\nvoid run() {}\nvoid f() {\n  run();\n  a::run();\n}\n}\n}\nusing a::b::f;\nnamespace c = a::b;\nvoid g() {\n  f();\n  c::f();\n  using namespace a;\n  run();\n}\n";
    let files = [("a.cc", text)];
    check(&files, "a.cc:6", &["a.b.run likely"]);
    check(&files, "a.cc:7", &["a.run sure"]);
    check(&files, "a.cc:14", &["a.b.f sure"]);
    check(&files, "a.cc:15", &["a.b.f sure"]);
    check(&files, "a.cc:17", &["a.run likely"]);
}

#[test]
fn cpp_names_of_unnamed_namespaces_and_static_functions_stay_in_their_file() {
    let files = [
        (
            "a.cc",
            "namespace {\nvoid hidden() {}\n}\nstatic void own() {}\nvoid f() {\n  hidden();\n  own();\n}\n",
        ),
        ("b.cc", "void g() {\n  hidden();\n  own();\n}\n"),
    ];
    check(&files, "a.cc:6", &["hidden sure"]);
    check(&files, "a.cc:7", &["own sure"]);
    check(&files, "b.cc:2", &[]);
    check(&files, "b.cc:3", &[]);
}

#[test]
fn cpp_overloads_of_one_name_are_all_likely() {
    let text = "void run(int a) {}\nvoid run(long a) {}\nvoid f() {\n  run(1);\n}\n";
    check(&[("a.cc", text)], "a.cc:4", &["run likely", "run likely"]);
}

#[test]
fn cpp_macros_before_declarations_do_not_hide_them() {
    let files = [
        (
            "a.h",
            "#define API __attribute__((visibility(\"default\")))\n#define N_BEGIN namespace n {\n#define N_END }\nN_BEGIN\nclass API A {\n public:\n  API int get() const;\n  MY_DEPRECATED(\"x\") void old() {}\n};\nN_END\n",
        ),
        ("b.cc", "#include \"a.h\"\nvoid f(n::A& a) {\n  a.get();\n  a.old();\n}\n"),
    ];
    check(&files, "b.cc:3", &["a.h/A.get sure"]);
    check(&files, "b.cc:4", &["a.h/A.old sure"]);
}

#[test]
fn cpp_files_call_functions_of_c() {
    let files = [
        (
            "a.h",
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\nvoid run(void);\n#ifdef __cplusplus\n}\n#endif\n",
        ),
        ("a.c", "#include \"a.h\"\nvoid run(void) {}\n"),
        ("b.cc", "#include \"a.h\"\nvoid f() { run(); }\n"),
    ];
    check(&files, "b.cc:2", &["a.c/run sure"]);
}

#[test]
fn cpp_variables_hide_functions_but_not_namespaces() {
    let text = "namespace fmt {\nvoid print() {}\n}\nvoid call() {}\nvoid f(int fmt, int call) {\n  fmt::print();\n  use(call);\n}\n";
    check(&[("a.cc", text)], "a.cc:6", &["fmt.print sure"]);
    check(&[("a.cc", text)], "a.cc:7", &[]);
}

#[test]
fn other_languages_are_read_by_name_and_never_sure() {
    let files = [
        (
            "a.rb",
            "class Engine\n  def start_all\n    prepare # start_all\n  end\n  def prepare\n  end\nend\n",
        ),
        ("b.rb", "def prepare\nend\nEngine.new.start_all\n"),
        ("c.java", "class Engine {}\n"),
    ];
    check(&files, "a.rb:3", &["Engine.prepare maybe"]);
    check(&files, "b.rb:3", &["a.rb/Engine maybe", "a.rb/Engine.start_all maybe"]);
}

#[test]
fn functions_of_ruby_are_called_without_parentheses() {
    let text = "class Pump\n  def self.run(n)\n    ignite n\n    warm_up\n    self.check\n    Pump\n  end\n  def ignite(n) = n\n  def warm_up\n  end\n  def check; end\nend\nPump.run 3\n";
    let calls = super::rows(&[("a.rb", text)], |found| found.is_call);
    let expected = [
        "a.rb:3 -> Pump.ignite maybe",
        "a.rb:4 -> Pump.warm_up maybe",
        "a.rb:5 -> Pump.check maybe",
        "a.rb:13 -> Pump.run maybe",
    ];
    assert_eq!(calls, expected);
}

#[test]
fn symbols_of_ruby_use_the_functions_that_they_name() {
    let text = "class Notes\n  before_action :load_note, only: [:show]\n  def show\n    render \"load_note\"\n  end\n  def load_note\n  end\nend\n";
    check(&[("a.rb", text)], "a.rb:2", &["Notes.load_note maybe", "Notes.show maybe"]);
    check(&[("a.rb", text)], "a.rb:4", &[]);
}

#[test]
fn cpp_macros_before_a_preprocessor_line_end_there() {
    let text = "BEGIN_HEADER\n#include \"b.h\"\nnamespace n {\nvoid one() {}\nvoid two() { one(); }\n}\nWARN(off)\n#define ONE 1\nclass A {\n  void a() { b(); }\n  void b() {}\n};\nquiet\n#define TWO 2\nstruct B {\n  void a() { b(); }\n  void b() {}\n};\n";
    let files = [("a.cc", text)];
    check(&files, "a.cc:5", &["n.one sure"]);
    check(&files, "a.cc:10", &["A.b sure"]);
    check(&files, "a.cc:16", &["B.b sure"]);
}

#[test]
fn cpp_members_are_found_on_pointers_casts_and_unnamed_types() {
    let text = "struct Item {\n  int id() { return 1; }\n};\nstruct Other {\n  int id() { return 1; }\n};\nItem* ptr();\nstruct Pool : Item {\n  union { Item* item_; Other* other_; };\n  struct { Item* s_; } part_;\n  int all() { return item_->id() + part_.s_->id(); }\n  int own() { return this->Item::id(); }\n};\nint f(Item* p, Item** q, void* v) {\n  return (*p).id();\n  return (*q)->id();\n  return 1 + (*ptr()).id();\n  return ((Item*)v)->id();\n}\n";
    let files = [("a.cc", text)];
    check(&files, "a.cc:11", &["Item.id sure", "Item.id sure"]);
    check(&files, "a.cc:12", &["Item sure", "Item.id sure"]);
    check(&files, "a.cc:15", &["Item.id sure"]);
    check(&files, "a.cc:16", &["Item.id sure"]);
    check(&files, "a.cc:17", &["ptr sure", "Item.id sure"]);
    check(&files, "a.cc:18", &["Item sure", "Item.id sure"]);
}

#[test]
fn java_types_within_methods_have_members() {
    let text = "class A {\n  void run() {\n    class Local {\n      void go() {}\n    }\n    Local one = new Local();\n    one.go();\n  }\n  void f(Object one) {\n    one.go();\n  }\n}\n";
    let files = [("A.java", text)];
    check(&files, "A.java:6", &["A.run.Local sure", "A.run.Local sure"]);
    check(&files, "A.java:7", &["A.run.Local.go sure"]);
    check(&files, "A.java:10", &[]);
}

#[test]
fn java_methods_with_the_same_types_of_parameters_are_overridden() {
    let text = "interface Info {\n  boolean isLarge();\n  void put(java.util.List<String> a);\n  void put(int a);\n}\nclass Real implements Info {\n  public boolean isLarge() { return true; }\n  public void put(List<String> b) {}\n  private void own(int a) {}\n}\nclass Sub extends Real {\n  private void own(long a) {}\n  void f() {\n    isLarge();\n    put(null);\n    own(1);\n  }\n}\n";
    let files = [("A.java", text)];
    check(&files, "A.java:14", &["Real.isLarge sure"]);
    check(&files, "A.java:15", &["Real.put sure"]);
    check(&files, "A.java:16", &["Sub.own sure"]);
}

#[test]
fn java_builders_return_the_type_that_they_are_called_on() {
    let text = "abstract class Base<T extends Base<T>> {\n  abstract Object build();\n  T arity(int n) { return null; }\n}\nclass Builder extends Base<Builder> {\n  Object build() { return null; }\n  void own() { arity(1).build(); }\n}\nclass Use {\n  void f() { new Builder().arity(1).arity(2).build(); }\n}\n";
    let files = [("A.java", text)];
    let found = references(&files);
    assert!(found.contains(&"A.java:10 -> Builder.build sure".to_owned()), "{found:#?}");
    assert!(!found.contains(&"A.java:10 -> Base.build sure".to_owned()), "{found:#?}");
    assert!(!found.contains(&"A.java:7 -> Base.build sure".to_owned()), "{found:#?}");
}

#[test]
fn cpp_elements_of_maps_are_pairs_and_indexing_calls_an_operator() {
    let text = "struct Log { void level(); };
struct Cat { void level(); };
struct All {
  Log& operator[](int at);
  Log* begin();
};
struct Reg { std::map<Cat, std::shared_ptr<Log>> logs; std::vector<std::pair<Cat, Log*>> pairs; All all; Log* many[4]; };
void f(Reg& r) {
  for (auto& l : r.logs) l.second->level();
  auto it = r.logs.find(1); it->second->level();
  for (auto& [key, value] : r.logs) { key.level(); value->level(); }
  r.pairs[0].second->level();
  r.all[0].level();
  for (auto& l : r.all) l.level();
  r.many[1]->level();
  auto [one, two] = r.pairs[1]; two->level();
  r.logs[1]->level();
}
";
    let files = [("a.cc", text)];
    for line in [9, 10, 12, 13, 14, 15, 16, 17] {
        check(&files, &format!("a.cc:{line}"), &["Log.level sure"]);
    }
    check(&files, "a.cc:11", &["Cat.level sure", "Log.level sure"]);
}

#[test]
fn cpp_handlers_after_a_body_and_bodies_of_tests_belong_to_a_function() {
    let text = "namespace n::inline v2 {\nint fix() { return 1; }\n}\nint run() try {\n  return n::fix();\n} catch (...) {\n  return n::fix();\n}\nTEST_F(Fixture, fixes) {\n  n::fix();\n}\n";
    let files = super::project(&[("a.cc", text)]);
    let found = super::find_references(&files).references;
    let users = found.iter().map(|found| {
        let user = found.from_definition.map(|definition| files[0].facts.qualified_name(definition));
        (found.from_line, user.unwrap_or_default())
    });
    let users: Vec<(u32, String)> = users.collect();
    assert_eq!(users, [(5, "run".to_owned()), (7, "run".to_owned()), (10, "Fixture.fixes".to_owned())]);
}

#[cfg(all(feature = "lang-kotlin", feature = "lang-shell"))]
#[test]
fn symbols_are_those_of_the_outline_where_a_grammar_fails() {
    let text = "fun helper(x: Int): Int = x\nfun run(q: Any): Int {\n  return when (q) {\n    is Int if q > 1 -> helper(1)\n    else -> helper(2)\n  }\n}\n";
    let files = super::project(&[("b.kt", text)]);
    let names = (0..).take(files[0].facts.definitions.len()).map(|at| files[0].facts.qualified_name(at));
    assert_eq!(names.collect::<Vec<_>>(), ["helper", "run"]);
    let tests = "add() {\n  echo 1\n}\n@test \"sums\" {\n  add 1\n}\n";
    let files = super::project(&[("t.bats", tests)]);
    let found = super::find_references(&files).references;
    let users: Vec<_> = found.iter().filter_map(|found| found.from_definition).collect();
    assert_eq!(users.iter().map(|user| files[0].facts.qualified_name(*user)).collect::<Vec<_>>(), ["sums"]);
}

#[test]
fn hostile_texts_of_java_and_cpp_are_joined_quickly() {
    let pieces = [
        "(", "{", "[", "<", "a<", "a::", "a.b(", "a->", "template<", "class A {", "namespace a {", "A::",
        "#if\n", "#else\n", "auto a = [&] { ", "R\"(", "f(a)(", "x = (", "new A(", "for (", "return ", "a, ",
        "([", "])",
    ];
    for piece in pieces {
        for language in ["java", "cpp"] {
            let facts = source_facts(language, &piece.repeat(2_000), &mut || false).unwrap();
            assert!(facts.names.len() < 100_000);
        }
    }
}

#[test]
fn a_c_macro_counts_only_below_its_definition() {
    let text = "int other(int a) { return a; }\nstatic int f(int a) { return a; }\nint g(void) { return f(1); }\n#define f other\n\
                int h(void) { return f(1); }\n";
    check(&[("a.c", text)], "a.c:3", &["f sure"]);
    check(&[("a.c", text)], "a.c:5", &["other sure", "f sure"]);
}

#[test]
fn c_tags_are_not_names_of_functions_and_variables() {
    let text = "struct foo { int a; };\nint foo(void) { return 0; }\nstruct bar { int a; };\ntypedef struct both { int a; } both;\nint use(struct foo *p, void (*q)(struct foo)) {\n  struct foo x;\n  int n = sizeof(struct foo);\n  foo();\n  run(bar);\n  both *y;\n  struct both z;\n  enum foo w;\n}\n";
    let kind = |line: u32| -> Vec<u32> {
        let files = super::project(&[("a.c", text)]);
        let found = super::find_references(&files).references;
        let of_line = found.iter().filter(|found| found.from_line == line);
        of_line.map(|found| files[0].facts.definitions[found.to_definition as usize].name_line).collect()
    };
    assert_eq!(kind(6), [1]);
    assert_eq!(kind(7), [1]);
    assert_eq!(kind(8), [2]);
    assert_eq!(kind(9), [3]);
    assert_eq!(kind(10), [4]);
    assert_eq!(kind(11), [4]);
    // Without its keyword, it is a tag only if a macro makes it one.
    check(&[("a.c", text)], "a.c:9", &["bar maybe"]);
}

#[test]
fn c_functions_that_macros_of_the_file_define_have_composed_names() {
    let text = "#define FN(name, kind) \\\n  int f_##name##_##kind(int a) { return a; }\n#define BOTH(name) FN(name, x)\n#define HEAD(name) int p_##name(void);\nstatic FN(one, a)\nBOTH(two)\nHEAD(three)\nint main(void) {\n  return f_one_a(1) + f_two_x(2);\n}\n";
    check(&[("a.c", text)], "a.c:9", &["f_one_a sure", "f_two_x sure"]);
    let user = ("b.c", "int use(void) {\n  return f_one_a(1) + f_two_x(2);\n}\n");
    check(&[("a.c", text), user], "b.c:2", &["a.c/f_two_x likely"]);
}

#[test]
fn c_macros_define_functions_that_an_argument_names_and_call_other_such_macros() {
    let text = "#define PLAIN(name, type) \\\n  type name(type a) { return a; }\n#define GET(name) int get_##name(void) { return 1; }\n#define SET(name) void set_##name(int a) {}\n#define BOTH(name) \\\n  GET(name) \\\n  SET(name)\nPLAIN(one, int)\nBOTH(two)\nint main(void) {\n  set_two(get_two() + one(1));\n}\n";
    check(&[("a.c", text)], "a.c:11", &["set_two sure", "get_two sure", "one sure"]);
}

#[test]
fn a_c_definition_that_includes_the_prototype_takes_precedence() {
    let files = [
        ("lib/api.c", "int f(void);\n"),
        ("lib/deep/a.c", "#include \"../api.c\"\nint f(void) { return 1; }\n"),
        ("extra/dummy.c", "int f(void) { return 2; }\n"),
        ("main.c", "#include \"lib/api.c\"\nint main(void) {\n  return f();\n}\n"),
    ];
    check(&files, "main.c:3", &["lib/deep/a.c/f likely"]);
}

#[test]
fn cpp_pointers_from_make_templates_point_to_the_template_argument() {
    let text = "struct A { int size(); };\nstruct B { int size(); };\nvoid f(std::unique_ptr<A> p) {\n  auto a = std::make_shared<A>();\n  a->size();\n  auto b = std::unique_ptr<B>(new B());\n  b->size();\n  auto c = std::move(p);\n  c->size();\n  std::unique_ptr<A, B> d(new A());\n  d->size();\n  std::make_unique<B>()->size();\n}\n";
    let files = [("a.cc", text)];
    for (line, expected) in
        [(5, "A.size sure"), (7, "B.size sure"), (9, "A.size sure"), (11, "A.size sure"), (12, "B.size sure")]
    {
        let found = references(&files);
        let place = format!("a.cc:{line} -> ");
        let found: Vec<&str> = found.iter().filter_map(|row| row.strip_prefix(place.as_str())).collect();
        assert!(found.contains(&expected), "{line}: {found:?}");
        assert!(found.iter().filter(|row| row.contains("size")).count() == 1, "{line}: {found:?}");
    }
}

#[test]
fn a_c_macro_does_not_hide_the_function_declared_in_the_other_branch() {
    let header = "#if HAVE\nint put(int a);\nint end(void);\n#else\n#define put(a) 0\n#define end stop\n#endif\n#define get(a) 0\nint inc(int a);\n";
    let library = "#include \"lib.h.c\"\nint put(int a) { return a; }\nint get(int a) { return a; }\nint end(void) { return stop(); }\nint inc(int a) { return a; }\n";
    let files = [
        ("lib.h.c", header),
        ("lib.c", library),
        ("stop.c", "int stop(void) { return 0; }\n"),
        ("main.c", "#include \"lib.h.c\"\nint main(void) {\n  put(1);\n  get(1);\n  end();\n}\n"),
        ("own.c", "#if HAVE\n#include \"lib.h.c\"\n#else\n#define inc(a)\n#endif\nint f(void) { inc(1); }\n"),
    ];
    check(&files, "main.c:3", &["lib.c/put likely", "lib.h.c/put likely"]);
    check(&files, "main.c:4", &["lib.h.c/get sure"]);
    check(&files, "main.c:5", &["lib.c/end likely", "stop.c/stop likely", "lib.h.c/end likely"]);
    check(&files, "own.c:6", &["lib.c/inc likely", "inc likely"]);
}

#[test]
fn c_definitions_in_the_branches_of_a_conditional_are_likely() {
    let text = "#ifdef _WIN32\nstatic int plat(void) { return 1; }\nint open_it(void) { return 1; }\n#else\nstatic int plat(void) { return 2; }\nint open_it(void) { return 2; }\n#endif\nint use(void) { return plat(); }\n";
    let user = "int open_it(void);\nint main(void) { return open_it(); }\n";
    let files = [("a.c", text), ("b.c", user)];
    check(&files, "a.c:8", &["plat likely", "plat likely"]);
    check(&files, "b.c:2", &["a.c/open_it likely", "a.c/open_it likely"]);
}

#[test]
fn an_inherited_cpp_type_can_be_named_in_derived_types() {
    let text = "struct A { int id(); };\nnamespace n {\ntypedef int A;\nstruct B : public ::A {\n  A* next;\n  int f() { return next->id(); }\n};\n}\n";
    check(&[("a.cc", text)], "a.cc:5", &["A sure"]);
    check(&[("a.cc", text)], "a.cc:6", &["A.id sure"]);
}

#[test]
fn one_of_several_cpp_overloads_may_return_a_foreign_type() {
    let text = "struct S { int size(); };\nstd::string trim(std::string s) { return s; }\nS trim(S s) { return s; }\nvoid f(S s) {\n  auto t = trim(s);\n  t.size();\n}\n";
    check(&[("a.cc", text)], "a.cc:6", &["S.size likely"]);
}

#[test]
fn arguments_of_a_cpp_constructor_are_not_declared_names() {
    let text = "struct Key { Key(int a, int b); };\nstruct S {\n  int flow();\n  int mark();\n  void go(S s);\n};\nvoid S::go(S s) {\n  Key key(1, flow()), more(2, mark());\n  Key other(1, s);\n  s.mark();\n}\n";
    check(&[("a.cc", text)], "a.cc:8", &["Key sure", "S.flow sure", "S.mark sure"]);
    check(&[("a.cc", text)], "a.cc:10", &["S.mark sure"]);
}

#[test]
fn a_cpp_type_may_have_an_attribute_after_a_macro() {
    let text = "class GTEST_API_ [[nodiscard]] Path {\n public:\n  int size() const { return 1; }\n};\nint f(const Path& p) {\n  return p.size();\n}\n";
    check(&[("a.cc", text)], "a.cc:6", &["Path.size sure"]);
}

#[test]
fn cpp_pointers_to_containers_and_iterators_are_told_apart() {
    let text = "struct A { int size(); void go(); };\nvoid f(std::vector<A>* v, std::vector<std::pair<int, A>> pairs) {\n  v->size();\n  v->front().go();\n  for (std::vector<A*>::iterator i = v->begin(); ;)\n    (*i)->go();\n  std::map<int, A*>::const_iterator e;\n  e->second->go();\n  auto p = pairs.begin();\n  p->second.go();\n}\n";
    check(&[("a.cc", text)], "a.cc:3", &[]);
    for line in [4, 6, 8, 10] {
        check(&[("a.cc", text)], &format!("a.cc:{line}"), &["A.go sure"]);
    }
}
