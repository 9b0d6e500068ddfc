//! Python: scopes of annotations and classes, values in containers, aliases, imports.

use super::references;

/// Two types with the same methods, so that a guess by the name has two candidates.
const TYPES: &str = "class A:\n    def go(self): ...\nclass B:\n    def go(self): ...\n";

/// Returns the references to the methods of [`TYPES`] from a text that is appended to them, with the lines of that
/// text.
fn calls(text: &str) -> Vec<String> {
    let found = references(&[("a.py", &format!("{TYPES}{text}"))]);
    let rows = found.iter().filter_map(|row| {
        let (line, target) = row.strip_prefix("a.py:")?.split_once(" -> ")?;
        let line: usize = line.parse().unwrap();
        (4 < line && target.contains(".go ")).then(|| format!("{} {target}", line - 4))
    });
    rows.collect()
}

#[test]
fn annotations_and_defaults_of_methods_see_the_names_of_the_class() {
    let text = "class Info: ...\nclass C:\n    class Info:\n        def go(self): ...\n    def m(self, i: Info, d=Info) -> Info:\n        i.go()\n        self.m().go()\n";
    let found = references(&[("a.py", text)]);
    let expected = [
        "a.py:5 -> C.Info sure",
        "a.py:5 -> C.Info sure",
        "a.py:5 -> C.Info sure",
        "a.py:6 -> C.Info.go sure",
        "a.py:7 -> C.Info.go sure",
        "a.py:7 -> C.m sure",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_constant_whose_annotation_names_no_type_has_the_type_of_its_value() {
    let text = "from typing import ClassVar, Final\nimport typing as t\nX: Final = A()\nY: t.Final = B()\nclass C:\n    z: ClassVar = A()\ndef f(c: C):\n    X.go()\n    Y.go()\n    c.z.go()\n";
    assert_eq!(calls(text), ["8 A.go sure", "9 B.go sure", "10 A.go sure"]);
}

#[test]
fn a_generic_context_manager_does_not_return_itself() {
    let text = "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass G(Generic[T]):\n    def go(self): ...\n    def __enter__(self) -> T: ...\nclass S:\n    def go(self): ...\n    def __enter__(self: T) -> T: ...\ndef f(g: G[A], s: S):\n    with g as r:\n        r.go()\n    with s as t:\n        t.go()\n";
    let found = calls(text);
    assert!(found.contains(&"13 S.go sure".to_owned()), "{found:?}");
    assert!(!found.iter().any(|row| row.starts_with("11 ") && row.ends_with("sure")), "{found:?}");
}

#[test]
fn a_renamed_import_of_a_package_is_its_member() {
    let package = "from ._impl import do_it as run, Thing as Widget\n";
    let module = "def do_it(): ...\nclass Thing:\n    def go(self): ...\n";
    let user = "import lib\ndef a(): lib.run()\ndef b(): lib.Widget().go()\nclass D(lib.Widget): ...\n";
    let found = references(&[("lib/__init__.py", package), ("lib/_impl.py", module), ("use.py", user)]);
    let of_user: Vec<_> = found.iter().filter(|row| row.starts_with("use.py:")).collect();
    let expected = [
        "use.py:2 -> lib/_impl.py/do_it sure",
        "use.py:3 -> lib/_impl.py/Thing.go sure",
        "use.py:3 -> lib/_impl.py/Thing sure",
        "use.py:4 -> lib/_impl.py/Thing sure",
    ];
    assert_eq!(of_user, expected);
}

#[test]
fn a_class_body_sees_names_that_are_bound_before_it() {
    let text = "from b import json\nclass A:\n    j = json\n    def json(self): ...\n    def list(self) -> list[int]: ...\n";
    let found = references(&[("a.py", text), ("b.py", "def json(): ...\n")]);
    assert_eq!(found, ["a.py:3 -> b.py/json sure"]);
}

#[test]
fn an_absolute_import_does_not_mean_a_module_of_the_same_package() {
    let text = "import asyncio\nasync def sleep(n):\n    await asyncio.sleep(n)\n";
    assert_eq!(references(&[("pkg/__init__.py", ""), ("pkg/asyncio.py", text)]), [""; 0]);
    let script = references(&[("x/a.py", "import b\nb.f()\n"), ("x/b.py", "def f(): ...\n")]);
    assert_eq!(script, ["x/a.py:2 -> x/b.py/f sure"]);
}

#[test]
fn parts_of_tuples_are_distinguished() {
    let text = "def pair():\n    a = A()\n    return a, 1\na, n = pair()\na.go()\nc, d = A(), B()\nd.go()\n";
    assert_eq!(calls(text), ["5 A.go sure", "7 B.go sure"]);
    let text = "def f(many: tuple[A, ...], one: \"tuple[A, B]\"):\n    for a in many:\n        a.go()\n    one[0].go()\n    one[1].go()\n";
    assert_eq!(calls(text), ["3 A.go sure", "4 A.go sure", "5 B.go sure"]);
    let text = "def f(xs: list[A]):\n    first, *rest = xs\n    first.go()\n    for x in rest[1:]:\n        x.go()\nx = y = B()\nx.go()\ny.go()\n";
    assert_eq!(calls(text), ["3 A.go sure", "5 A.go sure", "7 B.go sure", "8 B.go sure"]);
}

#[test]
fn elements_of_displays_and_of_iterators_over_them_are_known() {
    let text = "for x in [A(), A()]:\n    x.go()\nfor y in {B() for n in range(3)}:\n    y.go()\nd = {1: A()}\nd[1].go()\nfor k, v in sorted(d.items()):\n    v.go()\n";
    assert_eq!(calls(text), ["2 A.go sure", "4 B.go sure", "6 A.go sure", "8 A.go sure"]);
    let text = "def f(xs: set[B]):\n    for i, x in enumerate(list(xs)):\n        x.go()\n    for a, b in zip(range(3), [x for x in xs]):\n        b.go()\n    next(iter(xs)).go()\n    max(xs, key=len).go()\n";
    assert_eq!(calls(text), ["3 B.go sure", "5 B.go sure", "6 B.go sure", "7 B.go sure"]);
    // Elements that are added to an empty list later are not known, and the list itself is a built-in value.
    let text = "xs = []\nxs.go()\nfor x in xs:\n    x.go()\n";
    assert_eq!(calls(text), ["4 A.go maybe", "4 B.go maybe"]);
}

#[test]
fn aliases_of_types_and_functions_are_followed() {
    let text = "Map = dict[str, A]\nEither = A | B\ndef f(m: Map, e: Either):\n    m[0].go()\n    e.go()\n";
    assert_eq!(calls(text), ["4 A.go sure", "5 A.go likely", "5 B.go likely"]);
    let text = "class New: ...\nOld = New\nclass H:\n    def __copy__(self): ...\n    copy = __copy__\ndef f(h: H, copy):\n    raise Old(copy)\n    h.copy()\n";
    let found = references(&[("a.py", text), ("b.py", "from a import Old\nOld()\n")]);
    let expected = [
        "a.py:2 -> New sure",
        "a.py:5 -> H.__copy__ sure",
        "a.py:6 -> H sure",
        "a.py:7 -> New sure",
        "a.py:8 -> H.__copy__ sure",
        "b.py:2 -> a.py/New sure",
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_attribute_that_a_base_declares_has_the_declared_type() {
    let text = "class Base:\n    kids: list[A]\nclass N(Base):\n    def __init__(self, kids):\n        self.kids = list(kids)\ndef f(n: N):\n    n.kids[0].go()\n";
    assert_eq!(calls(text), ["7 A.go sure"]);
}

#[test]
fn standard_wrappers_and_constructors_are_known() {
    let text = "import contextlib, threading\nwith contextlib.closing(A()) as s:\n    s.go()\nthreading.Event().go()\n";
    assert_eq!(calls(text), ["3 A.go sure"]);
    let text = "class C:\n    def __init__(self, jar):\n        self.jar = jar\n    def extract_cookies(self, r):\n        self.jar.extract_cookies(r)\n";
    assert_eq!(references(&[("a.py", text)]), ["a.py:5 -> C.extract_cookies maybe"]);
}

#[test]
fn a_method_that_is_named_like_a_test_requests_fixtures_only_in_a_test_file() {
    let fixtures = "import pytest\n@pytest.fixture\ndef db():\n    return 1\n";
    let user = "class M:\n    def test_all(self, db): ...\n";
    let found = references(&[("conftest.py", fixtures), ("a.py", user), ("test_a.py", user)]);
    assert_eq!(found, ["test_a.py:2 -> conftest.py/db likely"]);
}

#[test]
fn star_imports_in_branches_are_alternatives() {
    let modules = [
        ("p/a.py", "def f(): ...\ndef _g(): ...\ndef only(): ...\n"),
        ("p/b.py", "__all__ = ['f', '_g']\ndef f(): ...\ndef _g(): ...\n"),
        ("p/again.py", "from .a import f\n__all__ = ['f']\n"),
    ];
    let of_user = |text: &str| -> Vec<String> {
        let found = references(&[modules[0], modules[1], modules[2], ("p/user.py", text)]);
        found.iter().filter_map(|row| row.strip_prefix("p/user.py:")).map(str::to_owned).collect()
    };
    let branches = "import sys\nif sys.platform == 'win32':\n    from .a import *\nelse:\n    from .b import *\nf()\nonly()\n";
    assert_eq!(of_user(branches), ["6 -> p/a.py/f maybe", "6 -> p/b.py/f maybe", "7 -> p/a.py/only sure"]);
    let fallback = "try:\n    from .a import *\nexcept ImportError:\n    def f(): ...\nf()\n";
    assert_eq!(of_user(fallback), ["5 -> p/a.py/f maybe", "5 -> f maybe"]);
    let replaced = "try:\n    from .a import *\nexcept ImportError:\n    pass\ndef f(): ...\nf()\n";
    assert_eq!(of_user(replaced), ["6 -> f sure"]);
    let replacing = "def f(): ...\ntry:\n    from .a import *\nexcept ImportError:\n    pass\nf()\n";
    assert_eq!(of_user(replacing), ["6 -> p/a.py/f maybe", "6 -> f maybe"]);
    // The last one wins; a module with an export list may leave the name out.
    assert_eq!(
        of_user("from .b import *\nfrom .a import *\nf()\n_g()\n"),
        ["3 -> p/a.py/f sure", "4 -> p/b.py/_g sure"]
    );
    assert_eq!(of_user("from .a import *\nfrom .again import *\nf()\n"), ["3 -> p/a.py/f sure"]);
    assert_eq!(of_user("from .a import *\nfrom .b import *\nf()\n"), ["3 -> p/b.py/f likely"]);
}

#[test]
fn a_call_of_a_callable_returns_the_annotated_type() {
    let text = "from typing import Callable, Optional\nclass C:\n    make: Callable[[int, str], B]\ndef f(a: Callable[..., A], o: Optional[\"Callable[[], B]\"], c: C):\n    a().go()\n    o().go()\n    c.make(1, '').go()\n    x = a()\n    x.go()\n";
    assert_eq!(calls(text), ["5 A.go sure", "6 B.go sure", "7 B.go sure", "9 A.go sure"]);
}

#[test]
fn await_returns_the_result_of_a_coroutine_and_with_the_entered_value() {
    let text = "from typing import Any, Awaitable, Callable, Generator\nclass M:\n    async def __aenter__(self) -> A: ...\n    def go(self): ...\nclass F:\n    def __await__(self) -> Generator[Any, None, B]: ...\nasync def connect() -> M: ...\nasync def many() -> list[A]: ...\nasync def f(later: Callable[[], Awaitable[B]]):\n    m = await connect()\n    m.go()\n    async with await connect() as a:\n        a.go()\n    (await F()).go()\n    (await many())[0].go()\n    (await later()).go()\n";
    let expected = ["11 M.go sure", "13 A.go sure", "14 B.go sure", "15 A.go sure", "16 B.go sure"];
    assert_eq!(calls(text), expected);
}

#[test]
fn the_result_of_awaiting_a_generic_class_is_unknown() {
    let text = "from typing import Any, Generator, Generic, TypeVar\nT = TypeVar('T')\nclass G(Generic[T]):\n    def __await__(self) -> Generator[Any, None, T]: ...\nasync def f(g: G[A]):\n    (await g).go()\n";
    assert_eq!(calls(text), ["6 A.go maybe", "6 B.go maybe"]);
}

#[test]
fn modules_that_star_import_each_other_are_each_queried_once() {
    let names: Vec<String> = (0..24).map(|at| format!("p/m{at}.py")).collect();
    let texts: Vec<String> = (0..24)
        .map(|at| {
            let others = (0..24).filter(|other| *other != at);
            let stars: Vec<String> = others.map(|other| format!("from .m{other} import *\n")).collect();
            format!("{}def f{at}(): ...\nf1()\nmissing()\n", stars.concat())
        })
        .collect();
    let files: Vec<(&str, &str)> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let found = references(&files);
    assert_eq!(found.len(), 24, "{found:?}");
    assert!(found.contains(&"p/m5.py:25 -> p/m1.py/f1 sure".to_owned()), "{found:?}");
}

#[test]
fn definitions_in_the_branches_of_one_statement_are_alternatives() {
    let found = |text: &str| references(&[("b.py", "def f(): ...\n"), ("a.py", text)]);
    let both =
        "import sys\nif sys.version_info < (3, 9):\n    def f(): ...\nelif sys:\n    def f(): ...\nf()\n";
    assert_eq!(found(both), ["a.py:6 -> f likely", "a.py:6 -> f likely"]);
    let foreign = "try:\n    from typing import f\nexcept ImportError:\n    def f(): ...\nf()\n";
    assert_eq!(found(foreign), ["a.py:5 -> f likely"]);
    let own = "try:\n    from b import f\nexcept ImportError:\n    def f(): ...\nf()\n";
    assert_eq!(found(own), ["a.py:5 -> b.py/f likely", "a.py:5 -> f likely"]);
    let declared = "if TYPE_CHECKING:\n    def f(): ...\nelse:\n    def f(): ...\nf()\n";
    assert_eq!(found(declared), ["a.py:5 -> f sure"]);
    let in_turn =
        "if x:\n    def f(): ...\nif y:\n    def f(): ...\ndef g():\n    if x:\n        def f(): ...\nf()\n";
    assert_eq!(found(in_turn), ["a.py:8 -> f sure"]);
}

#[test]
fn a_decorated_function_is_the_result_of_its_outermost_decorator() {
    let text = "from typing import Callable\ndef make(name=None) -> Callable[[Callable], B] | B: ...\ndef same(f): return f\nclass Field:\n    def __get__(self, owner, kind): ...\n    def go(self): ...\n@make('x')\n@same\ndef one(): ...\n@make\ndef two(): ...\n@same\ndef three(): ...\n@Field\ndef four(): ...\none.go()\ntwo.go()\nthree.go()\nfour.go()\n";
    assert_eq!(calls(text), ["16 B.go likely", "17 B.go likely"]);
}

#[test]
fn a_function_that_a_class_binds_is_its_member() {
    let text = "def make(): return A()\ndef other(): return B()\nclass C:\n    make = staticmethod(make)\n    build = staticmethod(other)\n    def run(self):\n        self.make().go()\n        self.build().go()\n";
    let expected = ["7 A.go sure", "8 B.go sure"];
    assert_eq!(calls(text), expected);
}

#[test]
fn a_value_of_a_type_variable_has_the_type_of_its_bound() {
    let text = "from typing import TypeVar\nT = TypeVar('T', bound=A)\nC = TypeVar('C', A, B)\nF = TypeVar('F')\ndef f(t: T, c: C, u: F):\n    t.go()\n    c.go()\n    u.go()\n";
    let expected = ["6 A.go likely", "7 A.go likely", "7 B.go likely", "8 A.go maybe", "8 B.go maybe"];
    assert_eq!(calls(text), expected);
    let parameters = "class New[U]:\n    item: U\n    def get(self) -> U: ...\nclass Sub(New[A]):\n    def run(self):\n        self.get().go()\n        self.item.go()\ndef f[W: B](x: W):\n    x.go()\ndef g[U](x: U):\n    x.go()\n";
    let expected = ["6 A.go sure", "7 A.go likely", "9 B.go likely", "11 A.go maybe", "11 B.go maybe"];
    assert_eq!(calls(parameters), expected);
}

#[test]
fn the_value_of_an_inherited_member_depends_on_the_type_that_it_is_used_on() {
    let text = "from typing import Any, Generic, Self, TypeVar\nT = TypeVar('T')\nclass Base:\n    kind: Any\n    def setup(self):\n        self.made = self.kind()\n    def copy(self) -> Self: ...\n    def bound(self: T) -> T: ...\n    def same(self): return self\n    @classmethod\n    def make(cls):\n        new = cls()\n        return new\n    def get(self, other: T) -> T: ...\nclass Sub(Base, A):\n    kind = B\nclass Rest(Generic[T]):\n    value: T\n    def read(self) -> T: ...\nclass Of(Rest[T]): ...\nclass OfB(Of[B]): ...\nSub().made.go()\nSub().copy().go()\nSub().bound().go()\nSub().same().go()\nSub.make().go()\nOfB().read().go()\nOfB().value.go()\nSub().get(1).go()\nBase().made.go()\n";
    let expected = [
        "22 B.go likely", "23 A.go sure", "24 A.go sure", "25 A.go sure", "26 A.go sure", "27 B.go sure",
        "28 B.go likely", "29 A.go maybe", "29 B.go maybe", "30 A.go maybe", "30 B.go maybe",
    ];
    assert_eq!(calls(text), expected);
}

#[test]
fn a_list_that_depends_on_itself_is_evaluated_once() {
    let text = "def f(g):\n    a = [A()]\n    if isinstance(g, A):\n        a = [x for x in a if x is not g]\n    if isinstance(g, B):\n        a = [x for x in a if not isinstance(x, B)]\n    for x in a:\n        x.go()\n";
    assert_eq!(calls(text), ["8 A.go likely"]);
}

#[test]
fn an_inherited_context_manager_returns_the_type_that_it_is_used_on() {
    let text = "class Base:\n    def go(self): ...\n    def __enter__(self):\n        return self\nclass C(Base):\n    def go(self): ...\ndef f(c: C):\n    with c as d:\n        d.go()\n";
    assert_eq!(calls(text), ["9 C.go sure"]);
}

#[test]
fn instances_have_the_elements_that_their_iterator_methods_return() {
    let text = "class As:\n    def __iter__(self) -> Iterator[A]: ...\nclass Bs:\n    def __getitem__(self, at) -> B: ...\nclass Both:\n    def __iter__(self):\n        return iter([A()])\n    def __getitem__(self, at) -> B: ...\nclass Next:\n    def __iter__(self):\n        return self\n    def __next__(self) -> A: ...\ndef f(a: As, b: Bs, c: Both, d: Next):\n    for x in a:\n        x.go()\n    b['b'].go()\n    b[0].go()\n    c[0].go()\n    for y in d:\n        y.go()\n";
    let expected =
        ["15 A.go sure", "16 B.go sure", "17 B.go sure", "18 A.go maybe", "18 B.go maybe", "20 A.go sure"];
    assert_eq!(calls(text), expected);
}

#[test]
fn a_method_that_is_replaced_on_the_instance_is_not_sure() {
    let text = "class Base:\n    def __init__(self):\n        self.run = self.once\n        self.stop = None\n    def run(self): ...\n    def once(self): ...\nclass C(Base):\n    def run(self): ...\n    def stop(self): ...\ndef f(b: Base, c: C):\n    b.run()\n    c.run()\n    c.stop()\n";
    let found = references(&[("a.py", text)]);
    let of_calls: Vec<_> = found.iter().filter(|row| row.contains(":1") && row.contains("->")).collect();
    let expected = [
        "a.py:10 -> Base sure",
        "a.py:10 -> C sure",
        "a.py:11 -> Base.run likely",
        "a.py:11 -> Base.once likely",
        "a.py:12 -> Base.once likely",
        "a.py:12 -> C.run likely",
        "a.py:13 -> C.stop sure",
    ];
    assert_eq!(of_calls, expected);
}

#[test]
fn a_star_import_brings_other_names_of_classes() {
    let files =
        [("m.py", "class Connect: ...\nconnect = Connect\n"), ("a.py", "from m import *\nconnect()\n")];
    assert_eq!(references(&files), ["m.py:2 -> Connect sure", "a.py:2 -> m.py/Connect sure"]);
}

#[test]
fn names_that_a_case_binds_have_the_types_of_its_pattern() {
    let text = "class O:\n    a: A\ndef f(x, many: list[B]):\n    match x:\n        case A() as e:\n            e.go()\n        case O(a=inner):\n            inner.go()\n        case B() as e if e.go():\n            e.go()\n        case A() as e:\n            e = B()\n            e.go()\n        case str(text):\n            text.go()\n        case other:\n            other.go()\n    match many:\n        case [first, *rest]:\n            first.go()\n";
    let expected = [
        "6 A.go sure", "8 A.go sure", "9 B.go sure", "10 B.go sure", "13 A.go likely", "13 B.go likely",
        "17 A.go maybe", "17 B.go maybe", "20 B.go sure",
    ];
    assert_eq!(calls(text), expected);
}
