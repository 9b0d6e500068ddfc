//! References of small projects on disk.

mod selection;

use std::sync::Arc;
use std::time::Duration;

use super::graph::ReferenceGraph;
use super::queries::{CallDirection, CallRequest, ImpactRequest};
use super::reach::{ReachedNode, ReachedSymbol};
use super::test_items::name_of_test;
use crate::engine::error::{Code, Error};
use crate::engine::project::Project;
use crate::engine::shared::WorkspaceCache;
use crate::engine::testing::{TestProject, options};
use crate::engine::{Options, Trust};

const ENGINE: &str = "class Engine:\n    def __init__(self):\n        self.speed = limit()\n\n    def run(self):\n        return self.step()\n\n    def step(self):\n        return 1\n\n\ndef limit():\n    return 9\n";
const APP: &str = "from engine import Engine\n\n\ndef main():\n    engine = Engine()\n    return engine.run()\n\n\ndef idle():\n    return None\n";
const TEST: &str = "from app import main\n\n\ndef helper():\n    return main()\n\n\ndef test_main():\n    assert helper()\n\n\ndef test_nothing():\n    assert True\n";

fn project() -> TestProject {
    TestProject::new(&[("engine.py", ENGINE), ("app.py", APP), ("tests/test_app.py", TEST)])
}

/// Each use of a symbol as `path:line grade`.
fn uses(project: &mut Project<'_>, symbol: &str) -> Vec<String> {
    let found = project.uses(symbol).unwrap();
    let row = |reference: &super::GraphReference| {
        format!("{}:{} {}", found.graph.path(reference.file), reference.line, reference.grade.name())
    };
    found.references.iter().map(row).collect()
}

fn reached(graph: &ReferenceGraph, found: &[ReachedSymbol]) -> Vec<String> {
    let row = |reached: &ReachedSymbol| match reached.node {
        ReachedNode::Symbol(symbol) => {
            format!("{} {}", name_of_test(graph, symbol, reached.subclass), reached.distance)
        }
        ReachedNode::File(file) => format!("{} {}", graph.path(file), reached.distance),
    };
    found.iter().map(row).collect()
}

fn calls(project: &mut Project<'_>, symbol: &str, direction: CallDirection, depth: u32) -> Vec<String> {
    let found = project.calls(&CallRequest { symbol: symbol.to_owned(), direction, depth }).unwrap();
    reached(&found.graph, &found.reached)
}

fn impact(project: &mut Project<'_>, target: Option<&str>, base: Option<&str>, tests: bool) -> Vec<String> {
    let request = ImpactRequest {
        target: target.map(str::to_owned),
        base: base.map(str::to_owned),
        depth: 9,
        only_tests: tests,
    };
    let found = project.impact(&request).unwrap();
    reached(&found.graph, &found.affected)
}

#[test]
fn a_symbol_is_spelled_by_its_name_its_qualified_name_or_its_file() {
    let sandbox = project();
    let mut project = sandbox.project(true);
    for spelling in ["run", "Engine.run", "Engine::run", "engine.py:run", "engine.py:Engine.run"] {
        assert_eq!(uses(&mut project, spelling), ["app.py:6 sure"], "{spelling}");
    }
    for spelling in ["", "un", "app.py:run", "Engine.", "engine.py:"] {
        let error = project.uses(spelling).unwrap_err();
        assert!(matches!(error, Error::NoSuchSymbol { .. }), "{spelling}: {error}");
    }
    let error = project.uses("Engine.rnu").unwrap_err().to_string();
    assert!(error.ends_with(", the nearest is `run`"), "{error}");
}

#[test]
fn an_anonymous_type_is_not_found_by_the_name_of_the_symbol_that_contains_it() {
    let sandbox = TestProject::new(&[
        (
            "parse.ts",
            "export function parse(text: string): { rest: string } {\n  return { rest: text };\n}\n",
        ),
        (
            "App.java",
            "class App {\n  Runnable task() {\n    return new Runnable() { public void run() {} };\n  }\n}\n",
        ),
    ]);
    let mut project = sandbox.project(true);
    for spelling in ["parse", "App.task"] {
        assert_eq!(project.uses(spelling).unwrap().definitions.len(), 1, "{spelling}");
    }
}

#[test]
fn members_that_are_only_declared_are_found_by_their_name_like_those_that_implement_them() {
    let sandbox = TestProject::new(&[
        (
            "App.java",
            "interface Runner { void step(); }\nclass Own implements Runner { public void step() {} }\nclass Use {\n    \
             void f(Runner r) { r.step(); }\n}\n",
        ),
        (
            "run.cpp",
            "struct Base { virtual void run() = 0; };\nstruct Own : Base { void run() override {} };\n\
             void f(Base& b) { b.run(); }\n",
        ),
        (
            "drive.ts",
            "export abstract class Vehicle { abstract go(): void; }\nexport class Car extends Vehicle { go() {} }\n\
             export function drive(v: Vehicle) { v.go(); }\n",
        ),
    ]);
    let mut project = sandbox.project(true);
    for (name, expected) in
        [("step", "App.java:4 sure"), ("run", "run.cpp:3 sure"), ("go", "drive.ts:3 sure")]
    {
        assert_eq!(uses(&mut project, name), [expected]);
        assert_eq!(project.uses(name).unwrap().definitions.len(), 2, "{name}");
    }
}

#[test]
fn a_cpp_definition_represents_its_declaration_by_any_end_of_its_name() {
    let sandbox = TestProject::new(&[(
        "a.cpp",
        "namespace app {\nint free_fn(int);\nstruct W { void show(); };\n}\nint app::free_fn(int x) { return x; }\n\
         void app::W::show() {}\nint main() {\n  app::W w;\n  w.show();\n  return app::free_fn(2);\n}\n",
    )]);
    let mut project = sandbox.project(true);
    for (names, line, expected) in [
        (["free_fn", "app::free_fn", "app.free_fn"], 5, "a.cpp:10 sure"),
        (["show", "W::show", "app::W::show"], 6, "a.cpp:9 sure"),
    ] {
        for name in names {
            assert_eq!(uses(&mut project, name), [expected], "{name}");
            let found = project.uses(name).unwrap();
            let lines: Vec<u32> = found.definitions.iter().map(|id| found.graph.symbol(*id).line).collect();
            assert_eq!(lines, [line], "{name}");
        }
    }
    assert_eq!(project.uses("W").unwrap().definitions.len(), 1, "a qualifier is not a symbol");
}

#[test]
fn a_property_with_the_name_of_another_types_field_is_not_likely() {
    let shapes = ("shapes.py", "class Box:\n    @property\n    def wide_side(self):\n        return 1\n");
    let usage = ("show.py", "def show(row):\n    return row.wide_side\n");
    let sandbox = TestProject::new(&[shapes, usage]);
    assert_eq!(uses(&mut sandbox.project(true), "wide_side"), ["show.py:2 likely"]);
    let fields = [
        "class Row:\n    wide_side: int = 0\n",
        "class Row:\n    def __init__(self):\n        self.wide_side = 0\n",
    ];
    for fields in fields {
        let sandbox = TestProject::new(&[shapes, usage, ("rows.py", fields)]);
        assert_eq!(uses(&mut sandbox.project(true), "wide_side"), ["show.py:2 maybe"], "{fields}");
    }
}

#[test]
fn many_overloads_in_a_copy_of_all_headers_do_not_hide_those_that_a_file_includes() {
    let overloads =
        [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|at| format!("inline int run(Row<{at}>) {{ return {at}; }}\n"));
    let overloads = overloads.concat();
    let header = format!("namespace lib {{\ntemplate<int At> struct Row {{}};\n{overloads}}}\n");
    let sandbox = TestProject::new(&[
        ("all/lib.hpp", header.as_str()),
        ("src/lib/run.hpp", header.as_str()),
        ("tests/run.cpp", "#include <lib/run.hpp>\nint main() {\n    return lib::run({});\n}\n"),
    ]);
    let mut project = sandbox.project(true);
    assert!(!uses(&mut project, "src/lib/run.hpp:run").is_empty());
    assert_eq!(uses(&mut project, "all/lib.hpp:run"), [""; 0]);
}

#[test]
fn a_getter_that_lombok_generates_returns_the_field() {
    let sandbox = TestProject::new(&[
        ("Door.java", "class Door {\n    boolean getOpen() { return true; }\n}\n"),
        ("Spec.java", "import lombok.Data;\n@Data class Spec {\n    boolean open;\n    void shut() {}\n}\n"),
        ("Shop.java", "import lombok.Data;\n@Data class Shop {\n    Spec spec;\n}\n"),
        (
            "App.java",
            "class App {\n    void run(Shop shop) {\n        shop.getSpec().shut();\n        \
             shop.getSpec().getOpen();\n        other().getOpen();\n    }\n}\n",
        ),
    ]);
    let mut project = sandbox.project(true);
    assert_eq!(uses(&mut project, "Spec.shut"), ["App.java:3 sure"]);
    assert_eq!(uses(&mut project, "Door.getOpen"), ["App.java:5 maybe"], "the value may have a field `open`");
}

#[test]
fn modules_that_all_import_each_other_are_each_queried_once() {
    let names: Vec<String> = (0..24).map(|at| format!("m{at}")).collect();
    let globs: Vec<String> = names.iter().map(|name| format!("use super::{name}::*;\n")).collect();
    let globs = globs.concat();
    let modules: Vec<String> =
        names.iter().map(|name| format!("mod {name};\npub use {name}::*;\n")).collect();
    let modules = modules.concat();
    let user = "pub fn run() {\n    stop();\n    missing();\n    std::mem::drop(1);\n}\n";
    let mut files = vec![
        ("Cargo.toml".to_owned(), "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n".to_owned()),
        ("src/lib.rs".to_owned(), modules),
        ("src/m0.rs".to_owned(), format!("{globs}{user}")),
        ("src/m23.rs".to_owned(), format!("{globs}pub fn stop() {{}}\n")),
    ];
    files.extend((1..23).map(|at| (format!("src/m{at}.rs"), globs.clone())));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let sandbox = TestProject::new(&files);
    assert_eq!(uses(&mut sandbox.project(true), "stop"), ["src/m0.rs:26 sure"]);
}

#[test]
fn a_member_is_not_that_of_a_copy_of_all_headers() {
    let header =
        "namespace lib {\nclass Row {\npublic:\n    int run();\n};\ninline int Row::run() { return 1; }\n}\n";
    let sandbox = TestProject::new(&[
        ("all/lib.hpp", header),
        ("src/lib/row.hpp", header),
        (
            "tests/row.cpp",
            "#include <lib/row.hpp>\nint main() {\n    lib::Row row;\n    return row.run();\n}\n",
        ),
    ]);
    let mut project = sandbox.project(true);
    assert_eq!(uses(&mut project, "src/lib/row.hpp:Row.run"), ["tests/row.cpp:4 sure"]);
    assert_eq!(uses(&mut project, "all/lib.hpp:Row.run"), [""; 0]);
}

#[test]
fn a_package_that_imports_its_own_module_has_it_as_a_member() {
    let sandbox = TestProject::new(&[
        ("pkg/__init__.py", "from . import parts\nfrom . import parts as pieces\n"),
        ("pkg/parts.py", "def cut():\n    return 1\n"),
        ("other.py", "def cut():\n    return 2\n"),
        ("use.py", "import pkg\n\n\ndef run():\n    pkg.parts.cut()\n    pkg.pieces.cut()\n"),
    ]);
    let mut project = sandbox.project(true);
    assert_eq!(uses(&mut project, "pkg/parts.py:cut"), ["use.py:5 sure", "use.py:6 sure"]);
}

#[test]
fn calls_are_followed_in_both_directions() {
    let sandbox = project();
    let mut project = sandbox.project(true);
    assert_eq!(calls(&mut project, "step", CallDirection::Callers, 1), ["Engine.run 1"]);
    let expected = ["Engine.run 1", "main 2", "helper 3", "test_main 4"];
    assert_eq!(calls(&mut project, "step", CallDirection::Callers, 9), expected);
    // Creating an instance calls the constructor.
    assert_eq!(calls(&mut project, "Engine.__init__", CallDirection::Callers, 1), ["main 1"]);
    let expected = ["Engine 1", "Engine.run 1", "Engine.step 2", "limit 2"];
    assert_eq!(calls(&mut project, "main", CallDirection::Callees, 2), expected);
}

#[test]
fn callers_of_an_overridden_member_may_call_the_one_that_overrides_it() {
    let sandbox = TestProject::new(&[
        (
            "A.java",
            "interface A { int go(int n); }\nclass B implements A { public int go(int n) { return n; } }\nclass U { int use(A a) { return a.go(1); } }\n",
        ),
        (
            "a.ts",
            "interface Store { load(id: number): string }\nclass FileStore implements Store {\n  load(id: number) { return \"x\" }\n}\nfunction show(store: Store) { return store.load(1) }\n",
        ),
        (
            "a.py",
            "class Base:\n    def save(self): return 1\nclass One(Base):\n    def save(self): return super().save()\nclass Two(Base):\n    def save(self): return super().save()\ndef store(item: Base): return item.save()\n",
        ),
        ("go.mod", "module example.com/m\n"),
        (
            "a.go",
            "package m\ntype Put interface { Put(n int) string }\ntype Wide interface { Put(n int) string; Get() }\ntype Mem struct{}\nfunc (m *Mem) Put(n int) string { return \"x\" }\nfunc Use(p Put) { p.Put(1) }\nfunc UseWide(w Wide) { w.Put(1) }\n",
        ),
        (
            "w.h",
            "struct Widget { virtual int paint(int n); };\nstruct Dial : Widget { int paint(int n) override; };\n",
        ),
        (
            "w.cpp",
            "#include \"w.h\"\nint Widget::paint(int n) { return n; }\nint Dial::paint(int n) { return Widget::paint(n) + 1; }\nint draw(Widget* w) { return w->paint(2); }\n",
        ),
    ]);
    let mut project = sandbox.project(true);
    let through = [
        ("B.go", "U.use", "A.go"),
        ("FileStore.load", "show", "Store.load"),
        ("Two.save", "store", "Base.save"),
        ("Mem.Put", "Use", "Put.Put"),
        ("Dial.paint", "draw", "Widget.paint"),
    ];
    for (symbol, caller, base) in through {
        assert_eq!(
            calls(&mut project, symbol, CallDirection::Callers, 1),
            [format!("{caller} 1")],
            "{symbol}"
        );
        assert_eq!(impact(&mut project, Some(symbol), None, false)[0], format!("{caller} 1"), "{symbol}");
        let request = CallRequest { symbol: symbol.to_owned(), direction: CallDirection::Callers, depth: 1 };
        let found = project.calls(&request).unwrap();
        assert_eq!(found.reached[0].grade.name(), "likely");
        assert_eq!(&*found.graph.symbol(found.reached[0].through.unwrap()).qualified_name, base);
        assert_eq!(uses(&mut project, symbol), [""; 0], "{symbol}");
        // The member itself is called.
        let found = project.calls(&CallRequest { symbol: base.to_owned(), ..request }).unwrap();
        assert!(found.reached.iter().all(|caller| caller.through.is_none()), "{base}");
    }
}

#[test]
fn a_change_reaches_those_that_use_it_and_tests_come_by_distance() {
    let sandbox = project();
    let mut project = sandbox.project(true);
    let all = ["main 1", "helper 2", "test_main 3"];
    assert_eq!(impact(&mut project, Some("engine.py"), None, false), all);
    assert_eq!(impact(&mut project, Some("Engine.run"), None, true), ["test_main 3"]);
    assert_eq!(impact(&mut project, Some("idle"), None, false), [""; 0]);
    assert_eq!(impact(&mut project, Some("tests"), None, true), ["test_main 0", "test_nothing 0"]);
    let request =
        ImpactRequest { target: Some("no/such".to_owned()), base: None, depth: 1, only_tests: false };
    assert_eq!(project.impact(&request).unwrap_err().code(), Code::NotFound);
}

#[test]
fn only_the_symbols_that_differ_from_a_revision_count_as_changed() {
    let sandbox = project();
    let head = ImpactRequest { target: None, base: Some("HEAD".to_owned()), depth: 1, only_tests: false };
    let without_git = sandbox.project(true).impact(&head).unwrap_err();
    assert_eq!(without_git.to_string(), "the project is in no git repository");
    sandbox.git(&["init", "-q"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "one"]);
    let mut project = sandbox.project(true);
    assert_eq!(impact(&mut project, None, Some("HEAD"), false), [""; 0]);
    sandbox.write("app.py", &APP.replace("return None", "return 3"));
    assert_eq!(impact(&mut project, None, Some("HEAD"), false), [""; 0]);
    sandbox.write("engine.py", &ENGINE.replace("return 9", "return 10"));
    let expected = ["Engine.__init__ 1", "main 2", "helper 3", "test_main 4"];
    assert_eq!(impact(&mut project, None, Some("HEAD"), false), expected);
    sandbox.write("engine.py", &ENGINE.replace("def limit():\n    return 9\n", ""));
    let request = ImpactRequest { target: None, base: Some("HEAD".to_owned()), depth: 1, only_tests: false };
    let removed = project.impact(&request).unwrap().removed;
    assert_eq!(removed.iter().map(|removed| &*removed.qualified_name).collect::<Vec<_>>(), ["limit"]);
    let request = ImpactRequest { base: Some("nowhere".to_owned()), ..request };
    assert_eq!(project.impact(&request).unwrap_err().code(), Code::NoSuchRevision);
}

#[test]
fn an_edit_makes_one_file_be_read_again_and_cached_facts_are_used() {
    let sandbox = project();
    let shared = Arc::new(WorkspaceCache::new());
    let mut project = sandbox.open_shared(&shared);
    assert_eq!(uses(&mut project, "limit"), ["engine.py:3 sure"]);
    sandbox.rest();
    let first = project.reference_graph().unwrap();
    sandbox.reads();
    let second = project.reference_graph().unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(sandbox.reads(), [""; 0]);
    sandbox.write("app.py", &APP.replace("engine.run()", "engine.step()"));
    assert_eq!(uses(&mut project, "step"), ["app.py:6 sure", "engine.py:6 sure"]);
    let reads = sandbox.reads();
    assert!(reads.iter().all(|path| path == "app.py"), "{reads:?}");
    // Another process finds the facts in the store.
    sandbox.rest();
    sandbox.project(true).index(Trust::Stamps).unwrap();
    sandbox.reads();
    assert_eq!(uses(&mut sandbox.project(true), "step"), ["app.py:6 sure", "engine.py:6 sure"]);
    assert_eq!(sandbox.reads(), [""; 0]);
}

#[test]
fn without_a_store_everything_is_derived_again() {
    let sandbox = project();
    assert_eq!(uses(&mut sandbox.project(false), "limit"), ["engine.py:3 sure"]);
}

#[test]
fn uses_that_cannot_be_resolved_are_counted() {
    let sandbox = TestProject::new(&[(
        "a.py",
        "class A:\n    def run(self): ...\n\ndef f(x):\n    x.run()\n    x.run()\n",
    )]);
    let mut project = sandbox.project(true);
    assert_eq!(project.uses("A.run").unwrap().unresolved, 2);
    assert_eq!(project.uses("A").unwrap().unresolved, 0);
    let request = CallRequest { symbol: "f".to_owned(), direction: CallDirection::Callees, depth: 1 };
    assert_eq!(project.calls(&request).unwrap().unresolved, 2);
    assert_eq!(project.reference_graph().unwrap().unresolved(), 2);
}

#[test]
fn a_target_that_ends_like_a_file_is_reported_as_a_missing_file() {
    let sandbox = project();
    let mut project = sandbox.project(true);
    let mut missing = |target: &str| {
        let target = Some(target.to_owned());
        let request = ImpactRequest { target, base: None, depth: 1, only_tests: false };
        project.impact(&request).unwrap_err()
    };
    assert!(matches!(missing("nosuch.py"), Error::NothingSelected { .. }));
    assert!(matches!(missing("Engine.nosuch"), Error::NoSuchSymbol { .. }));
}

#[test]
fn a_use_outside_of_all_symbols_leads_to_the_symbols_of_that_file() {
    let codec = "class Codec:\n    def encode(self): ...\n";
    let sessions = "from codec import Codec\n\ncodec = Codec()\n\n\ndef save():\n    codec.encode()\n";
    let tests = "from sessions import save\n\n\ndef test_save():\n    save()\n\n\ndef test_other(): ...\n";
    let files = [("codec.py", codec), ("sessions.py", sessions), ("tests/test_all.py", tests)];
    let sandbox = TestProject::new(&files);
    let mut project = sandbox.project(true);
    assert_eq!(impact(&mut project, Some("Codec"), None, true), ["test_save 2"]);
    assert_eq!(impact(&mut project, Some("codec.py"), None, true), ["test_save 2"]);
}

#[test]
fn users_of_a_module_variable_may_run_what_the_variable_contains() {
    let filters = "def do_upper(): ...\n\n\ndef do_lower(): ...\n\n\ndef alone(): ...\n\n\nFILTERS = {\n    'upper': do_upper,\n    'lower': do_lower,\n}\nOTHER = 1\nalone()\n";
    let tests = "def test_odd(value): ...\n\n\nTESTS = {'odd': test_odd}\n";
    let defaults = "from app.filters import FILTERS as DEFAULT_FILTERS, OTHER\nfrom app import tests\n";
    let engine = "from app.defaults import DEFAULT_FILTERS, OTHER\nfrom app import tests\n\n\ndef make():\n    return DEFAULT_FILTERS, tests.TESTS\n\n\ndef other():\n    return OTHER\n\n\ndef hidden(DEFAULT_FILTERS):\n    return DEFAULT_FILTERS\n";
    let user = "from app.engine import make, other\n\n\ndef test_make():\n    make()\n\n\ndef test_other():\n    other()\n";
    let files = [
        ("app/__init__.py", ""),
        ("app/filters.py", filters),
        ("app/tests.py", tests),
        ("app/defaults.py", defaults),
        ("app/engine.py", engine),
        ("tests/test_engine.py", user),
    ];
    let sandbox = TestProject::new(&files);
    let mut project = sandbox.project(true);
    assert_eq!(uses(&mut project, "do_upper"), ["app/filters.py:11 sure"]);
    let expected = ["app/filters.py 1", "make 1", "test_make 2"];
    assert_eq!(impact(&mut project, Some("do_lower"), None, false), expected);
    assert_eq!(impact(&mut project, Some("alone"), None, false), ["app/filters.py 1"]);
    // A module of a package is not a test file.
    assert_eq!(impact(&mut project, Some("test_odd"), None, true), ["test_make 2"]);
}

#[test]
fn a_large_text_whose_parse_was_given_up_is_not_parsed_again_for_its_names() {
    let large = format!("{APP}\n\n{}", "def filler():\n    return 1\n\n\n".repeat(10_000));
    let sandbox = TestProject::new(&[("engine.py", ENGINE), ("app.py", &large), ("small.py", APP)]);
    let no_time = Options { parse_timeout: Duration::ZERO, ..options() };
    sandbox.open(no_time).index(Trust::Stamps).unwrap();
    let mut project = sandbox.project(true);
    assert_eq!(uses(&mut project, "engine.py:Engine.run"), ["small.py:6 sure"]);
}
