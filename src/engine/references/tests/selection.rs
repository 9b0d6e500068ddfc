//! The tests that a change may break, and their order.

use super::{impact, project, uses};
use crate::engine::project::Project;
use crate::engine::testing::TestProject;
use crate::store::write_coverage;

#[test]
fn fixtures_connect_tests_with_what_they_make() {
    let sandbox = TestProject::new(&[
        (
            "app.py",
            "class App:\n    def run(self):\n        return 1\n\n    def idle(self): ...\n\n\nclass Admin(App):\n    def idle(self): ...\n",
        ),
        (
            "tests/conftest.py",
            "import pytest\nfrom app import App\n\n\n@pytest.fixture(name=\"app\")\ndef make_app(monkeypatch):\n    yield App()\n",
        ),
        (
            "tests/test_app.py",
            "def test_run(app, tmp_path):\n    assert app.run() == 1\n\n\ndef test_other(app):\n    app.idle()\n\n\ndef test_nothing():\n    pass\n",
        ),
    ]);
    let mut project = sandbox.project(true);
    assert_eq!(uses(&mut project, "App.run"), ["tests/test_app.py:2 sure"]);
    assert_eq!(uses(&mut project, "make_app"), ["tests/test_app.py:1 likely", "tests/test_app.py:5 likely"]);
    // The test that runs it comes before one that only uses the same app.
    assert_eq!(impact(&mut project, Some("App.run"), None, true), ["test_run 1", "test_other 2"]);
    // An overriding member runs where the member is called.
    assert_eq!(impact(&mut project, Some("Admin.idle"), None, true)[0], "test_other 1");
}

#[test]
fn an_autouse_fixture_has_no_visible_use_and_selects_all_tests() {
    let sandbox = TestProject::new(&[
        (
            "tests/conftest.py",
            "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef clean():\n    wipe()\n\n\ndef wipe(): ...\n",
        ),
        ("tests/test_app.py", "def test_one():\n    pass\n\n\ndef helper():\n    pass\n"),
    ]);
    let mut project = sandbox.project(true);
    assert_eq!(uses(&mut project, "clean"), [""; 0]);
    assert_eq!(impact(&mut project, Some("wipe"), None, true), ["test_one 2"]);
    let graph = project.reference_graph().unwrap();
    assert_eq!(graph.references().map(|found| found.line).collect::<Vec<_>>(), [6]);
}

#[test]
fn tests_that_a_class_inherits_are_named_after_it() {
    let lib = "def sign(): ...\n\n\ndef stamp(): ...\n\n\ndef load(): ...\n";
    let base = "import lib\n\n\nclass SignerMixin:\n    def make(self):\n        raise NotImplementedError\n\n    def test_make(self):\n        self.make()\n\n\nclass TestLoad:\n    def test_load(self):\n        lib.load()\n\n    def test_again(self):\n        lib.load()\n";
    let derived = "import lib\nfrom base import SignerMixin, TestLoad\n\n\nclass TestSigner(SignerMixin):\n    def make(self):\n        lib.sign()\n\n\nclass TestStamp(TestSigner):\n    def make(self):\n        lib.stamp()\n\n\nclass TestMore(TestLoad):\n    def test_again(self):\n        lib.stamp()\n";
    let case = "import lib\nfrom unittest import TestCase\n\n\nclass Loading:\n    def test_it(self):\n        lib.load()\n\n\nclass FastLoading(Loading, TestCase):\n    speed = 1\n";
    let sandbox = TestProject::new(&[
        ("lib.py", lib),
        ("tests/base.py", base),
        ("tests/test_derived.py", derived),
        ("tests/test_case.py", case),
    ]);
    let mut project = sandbox.project(true);
    let mut tests = |symbol: &str| {
        let mut found = impact(&mut project, Some(symbol), None, true);
        found.sort();
        found
    };
    // The mixin does not run its tests, and only the class that signs runs the signing test.
    assert_eq!(tests("sign"), ["TestSigner.test_make 2", "TestStamp.test_make 2"]);
    let expected =
        ["FastLoading.test_it 1", "TestLoad.test_again 1", "TestLoad.test_load 1", "TestMore.test_load 1"];
    assert_eq!(tests("load"), expected);
    assert_eq!(tests("stamp"), ["TestMore.test_again 1", "TestStamp.test_make 2"]);
    assert_eq!(tests("TestSigner"), ["TestSigner.test_make 0", "TestStamp.test_make 0"]);
    // pytest names the class that runs the test.
    write_coverage(
        &sandbox.path(".coverage"),
        "/elsewhere/lib.py",
        &[7],
        "tests/test_derived.py::TestMore::test_load|run",
    );
    let found = impact(&mut sandbox.project(true), Some("load"), None, true);
    assert_eq!((found[0].as_str(), found.len()), ("TestMore.test_load 1", expected.len()));
}

#[test]
fn tests_are_found_by_the_conventions_of_each_language() {
    let sandbox = TestProject::new(&[
        (
            "src/lib.rs",
            "pub fn size() -> u8 { 1 }\n#[cfg(test)]\nmod tests {\n    use super::size;\n    #[test]\n    fn it_is_one() { helper(); }\n    fn helper() { size(); }\n}\n",
        ),
        ("go.mod", "module example.com/m\n"),
        ("m.go", "package m\n\nfunc Area() int { return 1 }\n"),
        (
            "m_test.go",
            "package m\n\nimport \"testing\"\n\nfunc TestArea(t *testing.T) { check() }\n\nfunc check() { Area() }\n",
        ),
        ("src/main/java/p/A.java", "package p;\nclass A {\n  static void go() {}\n}\n"),
        ("src/test/java/p/ATest.java", "package p;\nclass ATest {\n  @Test\n  void works() { A.go(); }\n}\n"),
        ("web/draw.ts", "export function draw(): number {\n  return 1;\n}\n"),
        ("web/draw.test.ts", "import { draw } from \"./draw\";\n\nit(\"draws\", () => {\n  draw();\n});\n"),
    ]);
    let mut project = sandbox.project(true);
    assert_eq!(impact(&mut project, Some("size"), None, true), ["tests.it_is_one 2"]);
    assert_eq!(impact(&mut project, Some("Area"), None, true), ["TestArea 2"]);
    assert_eq!(impact(&mut project, Some("A.go"), None, true), ["ATest.works 1"]);
    assert_eq!(impact(&mut project, Some("draw"), None, true), ["web/draw.test.ts 1"]);
}

#[test]
fn tests_reached_by_equal_paths_are_ordered_by_words_of_the_change_and_its_callers() {
    let app = "def main(args):\n    show_help(args)\n    show_version(args)\n\n\ndef show_help(args):\n    write_lines(args)\n\n\ndef show_version(args): ...\n\n\ndef write_lines(args): ...\n";
    let tests = "from app import main\n\n\ndef test_one():\n    main('--version')\n\n\ndef test_two():\n    main('--help')\n\n\ndef test_alone(): ...\n";
    let sandbox = TestProject::new(&[("app.py", app), ("tests/test_cli.py", tests)]);
    let mut project = sandbox.project(true);
    assert_eq!(impact(&mut project, Some("write_lines"), None, true), ["test_two 3", "test_one 3"]);
    assert_eq!(impact(&mut project, Some("show_version"), None, true), ["test_one 2", "test_two 2"]);
    // A test that has changed itself comes first, whatever the words of the others.
    sandbox.write(
        "tests/test_cli.py",
        &tests.replace("): ...", "): main(1)").replace("test_one", "test_alone_too"),
    );
    assert_eq!(impact(&mut project, Some("test_alone"), None, true)[0], "test_alone 0");
}

#[test]
fn a_fixture_is_a_shorter_path_than_a_call_in_sources() {
    let lib = "def make(): ...\n\n\ndef w():\n    make()\n";
    let shared = "import pytest\nfrom lib import make\n\n\n@pytest.fixture\ndef f():\n    return make()\n";
    let tests = "from lib import w\n\n\ndef test_one():\n    w()\n\n\ndef test_two(f): ...\n";
    let files = [("lib.py", lib), ("tests/conftest.py", shared), ("tests/test_lib.py", tests)];
    let sandbox = TestProject::new(&files);
    let mut project = sandbox.project(true);
    assert_eq!(impact(&mut project, Some("make"), None, true), ["test_two 2", "test_one 2"]);
}

#[test]
fn tests_that_resemble_the_best_ones_come_earlier() {
    let lib = "def run(args):\n    render_table(args)\n\n\ndef render_table(args): ...\n";
    let tests = "from lib import run\n\n\ndef test_one():\n    run('render table zebra giraffe')\n\n\ndef test_two():\n    run('apple')\n\n\ndef test_three():\n    run('zebra giraffe')\n";
    let sandbox = TestProject::new(&[("lib.py", lib), ("tests/test_lib.py", tests)]);
    let mut project = sandbox.project(true);
    let expected = ["test_one 2", "test_three 2", "test_two 2"];
    assert_eq!(impact(&mut project, Some("render_table"), None, true), expected);
}

#[test]
fn tests_with_a_value_of_the_type_come_before_others_that_reach_its_members() {
    let lib = "class Field:\n    def serialize(self, value):\n        return self.convert(value)\n\n    def convert(self, value): ...\n\n\nclass Text(Field):\n    def convert(self, value): ...\n\n\nclass Digits(Field):\n    def convert(self, value): ...\n\n\ndef dump(fields: list[Field]):\n    return [field.serialize(1) for field in fields]\n";
    let tests = "from lib import Digits, Text, dump\n\n\nclass Table:\n    fields = [Digits()]\n\n\ndef test_one():\n    dump([Text()])\n\n\ndef test_two():\n    dump(Table.fields)\n";
    let sandbox = TestProject::new(&[("lib.py", lib), ("tests/test_lib.py", tests)]);
    let mut project = sandbox.project(true);
    let first =
        |symbol: &str, project: &mut Project<'_>| impact(project, Some(symbol), None, true)[0].clone();
    assert_eq!(first("Text.convert", &mut project), "test_one 3");
    assert_eq!(first("Digits.convert", &mut project), "test_two 3");
}

#[test]
fn tests_that_no_use_leads_to_do_not_count_as_changed() {
    let sandbox = TestProject::new(&[
        ("one.py", "class A:\n    def go(self):\n        return 1\n\n\nclass B(A):\n    pass\n"),
        (
            "test_one.py",
            "from one import A, B\n\n\ndef test_other():\n    class C(B):\n        pass\n\n\ndef test_go():\n    \
             assert A().go()\n",
        ),
    ]);
    let mut project = sandbox.project(true);
    assert_eq!(impact(&mut project, Some("one.py:A.go"), None, true), ["test_go 1", "test_other 0"]);
    assert_eq!(impact(&mut project, Some("test_other"), None, true)[0], "test_other 0");
}

#[test]
fn tests_that_a_coverage_file_names_come_first() {
    let sandbox = project();
    let path = sandbox.path(".coverage");
    let tests = |project: &mut Project<'_>| impact(project, Some("Engine.step"), None, true);
    let alone = tests(&mut sandbox.project(true));
    assert_eq!(alone[0], "test_main 4");
    sandbox.write(".coverage", "no database");
    let mut project = sandbox.project(true);
    assert_eq!(tests(&mut project), alone);
    let notes = project.take_notes();
    assert!(notes[0].starts_with(".coverage is not used: "), "{notes:?}");
    std::fs::remove_file(&path).unwrap();
    // By a test name as with `dynamic_context = test_function`, and from another machine.
    write_coverage(&path, "/elsewhere/engine.py", &[8, 9], "tests.test_app.test_nothing");
    let found = tests(&mut sandbox.project(true));
    assert_eq!(found[..2], ["test_nothing 1", "test_main 4"]);
}
