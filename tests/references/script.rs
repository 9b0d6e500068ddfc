//! TypeScript: members of namespaces, and modules that consist of one value.

use super::references;

#[test]
fn namespaces_of_typescript_have_the_members_that_they_declare() {
    let library = "export namespace util {\n  export type Shape = { a: number };\n  export const equal = (a: number) => a;\n  export function never(): void {\n    equal(1);\n  }\n}\nexport function make() {}\nexport namespace make {\n  export function part() {}\n}\n";
    let user = "import { util, make } from \"./a\";\nutil.equal(1);\nutil.never();\nmake();\nmake.part();\nutil.missing();\nlet s: util.Shape;\n";
    let found = references(&[("a.ts", library), ("b.ts", user)]);
    let expected = [
        "a.ts:5 -> util.equal sure",
        "b.ts:2 -> a.ts/util.equal sure",
        "b.ts:3 -> a.ts/util.never sure",
        "b.ts:4 -> a.ts/make sure",
        "b.ts:5 -> a.ts/make.part likely",
        "b.ts:7 -> a.ts/util.Shape sure",
    ];
    for row in expected {
        assert!(found.iter().any(|found| found == row), "{row} is not in {found:#?}");
    }
    assert!(!found.iter().any(|found| found.contains("missing")), "{found:#?}");
    // Of a function and a namespace with one name, only the function is called.
    assert_eq!(found.iter().filter(|found| found.starts_with("b.ts:4 ")).count(), 1, "{found:#?}");
}

#[test]
fn modules_of_typescript_may_be_one_value_or_be_imported_late() {
    let library = "class Engine {\n  run() {}\n}\nexport = Engine;\n";
    let user = "import Engine = require('./a');\nnew Engine().run();\nasync function late() {\n  const { make } = await import('./c');\n  make();\n}\n";
    let late = "export function make() {}\nif (module) module.exports = other;\n";
    let found = references(&[("a.ts", library), ("b.ts", user), ("c.ts", late)]);
    for row in ["b.ts:2 -> a.ts/Engine sure", "b.ts:2 -> a.ts/Engine.run sure", "b.ts:5 -> c.ts/make sure"] {
        assert!(found.iter().any(|found| found == row), "{row} is not in {found:#?}");
    }
}

#[test]
fn functions_with_a_type_assertion_are_defined() {
    let library = "type Make = () => void;\nexport const make = (() => {}) as Make;\nexport const draw = (function () {}) satisfies Make;\nexport const size = (1) as number;\n";
    let user = "import { make, draw, size } from './a';\nmake();\ndraw();\nsize();\n";
    let found = references(&[("a.ts", library), ("b.ts", user)]);
    let expected = [
        "a.ts:2 -> Make sure",
        "a.ts:3 -> Make sure",
        "b.ts:2 -> a.ts/make sure",
        "b.ts:3 -> a.ts/draw sure",
    ];
    assert_eq!(found, expected);
}

#[test]
fn types_within_functions_have_members_and_members_of_the_dom_are_maybe() {
    let text = "function f(x) {\n  function inner() {}\n  class Local { go() {} }\n  inner();\n  new Local().go();\n  x.go();\n}\nclass Emitter { addEventListener() {} fancyThing() {} }\nfunction g(x) {\n  x.addEventListener();\n  x.fancyThing();\n}\n";
    let expected = [
        "a.ts:4 -> f.inner sure",
        "a.ts:5 -> f.Local.go sure",
        "a.ts:5 -> f.Local sure",
        "a.ts:10 -> Emitter.addEventListener maybe",
        "a.ts:11 -> Emitter.fancyThing likely",
    ];
    assert_eq!(references(&[("a.ts", text)]), expected);
}

#[test]
fn a_star_brings_only_what_the_module_exports() {
    let files = [
        ("a.ts", "export type Back = number;\nexport function one() {}\n"),
        (
            "b.ts",
            "type Back = string;\nfunction one(): Back { return ''; }\nfunction three() {}\none();\nexport { three as two, three };\n",
        ),
        ("index.ts", "export * from './a';\nexport * from './b';\n"),
        ("use.ts", "import { Back, one, three } from './index';\nlet back: Back;\none();\nthree();\n"),
    ];
    let found = references(&files).into_iter().filter(|row| row.starts_with("use.ts")).collect::<Vec<_>>();
    assert_eq!(
        found,
        ["use.ts:2 -> a.ts/Back sure", "use.ts:3 -> a.ts/one sure", "use.ts:4 -> b.ts/three sure"]
    );
}

#[test]
fn default_exports_without_a_name_are_definitions() {
    let function =
        "export default function (x: number) { return helper(x); }\nfunction helper(x: number) {}\n";
    let arrow = "export default () => new Engine();\nclass Engine {\n  run() {}\n}\n";
    let class = "export default class {\n  go() { this.halt(); }\n  halt() {}\n}\n";
    let object = "export default {\n  start() { this.stop(); },\n  stop: () => 1,\n};\n";
    let user = "import run from './f';\nimport make from './g';\nimport Machine from './c';\nimport api from './o';\nfunction f(x) {\n  run(1);\n  make().run();\n  new Machine().go();\n  api.start();\n  x.default();\n}\n";
    let files = [("f.ts", function), ("g.ts", arrow), ("c.ts", class), ("o.ts", object), ("a.ts", user)];
    let found = references(&files);
    let expected = [
        "f.ts:1 -> helper sure",
        "c.ts:2 -> default.halt sure",
        "o.ts:2 -> default.stop sure",
        "a.ts:6 -> f.ts/default sure",
        "a.ts:7 -> g.ts/default sure",
        "a.ts:7 -> g.ts/Engine.run sure",
        "a.ts:8 -> c.ts/default sure",
        "a.ts:8 -> c.ts/default.go sure",
        "a.ts:9 -> o.ts/default.start sure",
    ];
    for row in expected {
        assert!(found.iter().any(|found| found == row), "{row} is not in {found:#?}");
    }
    assert!(!found.iter().any(|found| found.starts_with("a.ts:10 ")), "{found:#?}");
}
