//! pytest fixtures: those that a test requests, and those that every test uses.

use super::{references, rows};

const CLASSES: &str = "import pytest\nclass TestA:\n    @pytest.fixture\n    def thing(self): ...\n    def test_one(self, thing): ...\n    class TestIn:\n        def test_in(self, thing): ...\nclass TestB:\n    @pytest.fixture\n    def thing(self): ...\n    def test_two(self, thing): ...\nclass TestC(TestA):\n    @pytest.fixture\n    def thing(self, thing): ...\n    def test_three(self, thing): ...\ndef test_none(thing): ...\n";

#[test]
fn a_test_uses_the_fixtures_of_its_class_and_of_its_bases() {
    let expected = [
        "test_a.py:5 -> TestA.thing likely",
        "test_a.py:7 -> TestA.thing likely",
        "test_a.py:11 -> TestB.thing likely",
        "test_a.py:14 -> TestA.thing likely",
        "test_a.py:15 -> TestC.thing likely",
    ];
    let fixtures = |texts: &[(&str, &str)]| -> Vec<String> {
        references(texts).into_iter().filter(|row| row.contains("thing")).collect()
    };
    assert_eq!(fixtures(&[("test_a.py", CLASSES)]), expected);
    let shared = ("conftest.py", "import pytest\n@pytest.fixture\ndef thing(): ...\n");
    let found = fixtures(&[("test_a.py", CLASSES), shared]);
    assert_eq!(found[..5], expected);
    assert_eq!(found[5..], ["test_a.py:16 -> conftest.py/thing likely"]);
}

#[test]
fn uses_of_an_autouse_fixture_are_implied() {
    let text = "import pytest\n@pytest.fixture(autouse=True)\ndef clean(): ...\nclass TestA:\n    @pytest.fixture(autouse=True)\n    def reset(self): ...\n    def test_one(self): ...\nclass TestB:\n    def test_two(self, clean): ...\n";
    let files = [("test_a.py", text)];
    let implied = rows(&files, |found| found.is_implied);
    let expected =
        ["test_a.py:7 -> TestA.reset likely", "test_a.py:7 -> clean likely", "test_a.py:9 -> clean likely"];
    assert_eq!(implied, expected);
    assert_eq!(rows(&files, |found| !found.is_implied), ["test_a.py:9 -> clean likely"]);
}

#[test]
fn marks_of_classes_and_files_request_fixtures() {
    let shared = (
        "conftest.py",
        "import pytest\n@pytest.fixture\ndef thing(): ...\n@pytest.fixture\ndef other(): ...\n",
    );
    let text = "import pytest\npytestmark = [pytest.mark.usefixtures(\"other\")]\n@pytest.mark.usefixtures(\"thing\")\nclass TestA:\n    def test_one(self): ...\ndef test_two(): ...\n";
    let files = [shared, ("test_a.py", text)];
    let named = rows(&files, |found| !found.is_implied);
    assert_eq!(named, ["test_a.py:2 -> conftest.py/other likely", "test_a.py:3 -> conftest.py/thing likely"]);
    let expected = [
        "test_a.py:5 -> conftest.py/thing likely",
        "test_a.py:5 -> conftest.py/other likely",
        "test_a.py:6 -> conftest.py/other likely",
    ];
    assert_eq!(rows(&files, |found| found.is_implied), expected);
}

#[test]
fn fixtures_are_imported_and_listed_as_plugins() {
    let defined = "import pytest\n@pytest.fixture\ndef thing(): ...\n@pytest.fixture(name=\"given\")\ndef made(): ...\n@pytest.fixture(autouse=True)\ndef clean(): ...\n";
    let fixtures = ("tests/fixtures.py", defined);
    let asks = "def test_one(thing, given): ...\n";
    let expected = |start: &str| {
        [
            format!("{start}:1 -> tests/fixtures.py/made likely"),
            format!("{start}:1 -> tests/fixtures.py/thing likely"),
        ]
    };
    let found = |texts: &[(&str, &str)]| -> Vec<String> {
        let found = rows(texts, |found| found.is_call);
        found.into_iter().filter(|row| row.contains("test_a")).collect()
    };
    let test = ("tests/test_a.py", asks);
    assert_eq!(found(&[fixtures, test]), [""; 0]);
    let imports = ("tests/conftest.py", "from .fixtures import thing, made\n");
    assert_eq!(found(&[fixtures, test, imports]), expected("tests/test_a.py"));
    let star = ("conftest.py", "from tests.fixtures import *\n");
    let clean = "tests/test_a.py:1 -> tests/fixtures.py/clean likely".to_owned();
    assert_eq!(found(&[fixtures, test, star])[..2], expected("tests/test_a.py"));
    assert_eq!(found(&[fixtures, test, star])[2..], [clean]);
    let plugins = ("conftest.py", "pytest_plugins = [\"tests.fixtures\"]\n");
    assert_eq!(found(&[fixtures, test, plugins])[..2], expected("tests/test_a.py"));
}

#[test]
fn the_value_of_a_test_parameter_is_the_result_of_its_fixture() {
    let text = "import pytest\nclass A:\n    def go(self): ...\nclass B:\n    def go(self): ...\n@pytest.fixture\ndef thing():\n    return A()\n@pytest.fixture\ndef other() -> A: ...\ndef test_one(thing, other):\n    thing.go()\n    other.go()\n@pytest.mark.parametrize(\"other, thing\", [(1, B())])\ndef test_two(thing):\n    thing.go()\n@pytest.mark.parametrize(\"thing\", [1], indirect=True)\ndef test_three(thing):\n    thing.go()\nclass TestBase:\n    def test_four(self, thing):\n        thing.go()\nclass TestSub(TestBase):\n    @pytest.fixture\n    def thing(self): ...\n";
    let found = references(&[("test_a.py", text)]);
    let of_line = |line: u32| -> Vec<&str> {
        let start = format!("test_a.py:{line} -> ");
        found.iter().filter_map(|row| row.strip_prefix(start.as_str())).collect()
    };
    assert_eq!(of_line(12), ["A.go sure"]);
    assert_eq!(of_line(13), ["A.go sure"]);
    assert_eq!(of_line(15), [""; 0]);
    assert_eq!(of_line(16), ["A.go maybe", "B.go maybe"]);
    assert_eq!(of_line(19), ["A.go sure"]);
    assert_eq!(of_line(22), ["A.go likely"]);
}
