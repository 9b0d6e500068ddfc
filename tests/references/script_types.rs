//! TypeScript: parameters whose types depend on where a function is passed, patterns, and global declarations.

use super::references;

#[track_caller]
fn assert_found(found: &[String], expected: &[&str]) {
    for row in expected {
        assert!(found.iter().any(|found| found == row), "{row} is not in {found:#?}");
    }
}

#[test]
fn the_parameters_of_a_function_have_the_types_of_its_context() {
    let text = [
        "interface Builder { query(): void }",
        "interface Other { query(): void }",
        "function create(o: { ends: (b: Builder) => object; setup?(b: Builder): void }, ...all: ((b: Builder) => void)[]) {}",
        "create({ ends: (b) => ({ a: b.query() }), setup(b) { b.query(); } });",
        "create(null, null, function (b) { b.query(); });",
        "type Make = (b: Builder) => Builder;",
        "const make: Make = (b) => b;",
        "make(null).query();",
        "function outer(): Make { return (b) => { b.query(); return b; }; }",
        "const list: Builder[] = [];",
        "list.forEach((b) => b.query());",
        "",
        "",
        "function bound<T extends Builder>(t: T) { t.query(); }",
        "let result: ReturnType<typeof make>;",
        "result.query();",
        "app.use((b) => b.query());",
        "class Host { constructor(run: (b: Builder) => void) {} }",
        "new Host((b) => b.query());",
        "interface Calls { (b: Builder): Other }",
        "function called(calls: Calls) { calls(null).query(); }",
        "class Field { run: Make = (b) => { b.query(); return b; }; }",
    ];
    let found = references(&[("a.ts", &text.join("\n"))]);
    assert_found(
        &found,
        &[
            "a.ts:4 -> Builder.query sure",
            "a.ts:5 -> Builder.query sure",
            "a.ts:8 -> Builder.query sure",
            "a.ts:9 -> Builder.query sure",
            "a.ts:11 -> Builder.query sure",
            "a.ts:14 -> Builder.query likely",
            "a.ts:16 -> Builder.query sure",
            // Nothing is known of `app`.
            "a.ts:17 -> Builder.query maybe",
            "a.ts:17 -> Other.query maybe",
            "a.ts:19 -> Builder.query sure",
            "a.ts:21 -> Other.query sure",
            "a.ts:22 -> Make sure",
            "a.ts:22 -> Builder.query sure",
        ],
    );
    let others: Vec<&String> = found.iter().filter(|found| found.contains("Other.query")).collect();
    assert_eq!(others, ["a.ts:17 -> Other.query maybe", "a.ts:21 -> Other.query sure"]);
}

#[test]
fn destructuring_uses_a_member_and_an_object_does_not_bind_its_methods_outside() {
    let text = [
        "interface Context { push(): void; pop(): void }",
        "function pop() {}",
        "function f(context: Context) {",
        "  const { push, pop: take } = context;",
        "  push();",
        "  pop();",
        "}",
        "const options = { pop() { pop(); }, run: (pop: () => void) => pop() };",
        "function g(o: { pop: () => void }, push: typeof pop) { pop(); push(); }",
    ];
    let found = references(&[("a.ts", &text.join("\n"))]);
    let expected = [
        "a.ts:3 -> Context sure",
        "a.ts:4 -> Context.push sure",
        "a.ts:4 -> Context.pop sure",
        "a.ts:6 -> pop sure",
        "a.ts:8 -> pop sure",
        "a.ts:9 -> pop sure",
        "a.ts:9 -> pop sure",
    ];
    assert_eq!(found, expected);
}

#[test]
fn global_declarations_need_no_import() {
    let globals = "interface Window { open(): void }\ndeclare function start(): void;\n";
    let module = "export {};\ndeclare global {\n  interface Window { extra(): void }\n}\ndeclare module './c' {\n  interface Store { added(): void }\n}\ndeclare module 'foreign' {\n  export function walk(): void;\n}\n";
    let store = "export interface Store { own(): void }\n";
    let user = "import { Store } from './c';\nimport { walk } from 'foreign';\nexport function f(w: Window, s: Store) {\n  w.open();\n  w.extra();\n  s.own();\n  s.added();\n  walk();\n  start();\n}\n";
    let local = "interface Window { other(): void }\n";
    let found = references(&[
        ("a.d.ts", globals),
        ("b.ts", module),
        ("c.ts", store),
        ("d.ts", user),
        ("e.ts", local),
    ]);
    assert_found(
        &found,
        &[
            "d.ts:3 -> a.d.ts/Window sure",
            "d.ts:4 -> a.d.ts/Window.open sure",
            "d.ts:5 -> b.ts/Window.extra sure",
            "d.ts:6 -> c.ts/Store.own sure",
            "d.ts:7 -> b.ts/./c.Store.added sure",
            "d.ts:8 -> b.ts/foreign.walk sure",
            "d.ts:9 -> a.d.ts/start sure",
        ],
    );
    assert!(!found.iter().any(|found| found.contains("e.ts/")), "{found:#?}");
}

#[test]
fn modules_that_re_export_each_other_are_searched_completely() {
    let index = "export * from './config';\nexport * from './types';\n";
    let config = "import { Options } from './index';\nexport interface Config { options: Options }\n";
    let types = "export type * from './options';\nexport const one = 1;\n";
    let options = "export interface Options { run(): void }\n";
    let user = "import { Options, Config } from './index';\nfunction f(o: Options, c: Config) {\n  o.run();\n  c.options.run();\n}\n";
    let found = references(&[
        ("index.ts", index),
        ("user.ts", user),
        ("config.ts", config),
        ("types.ts", types),
        ("options.ts", options),
    ]);
    assert_found(
        &found,
        &[
            "user.ts:3 -> options.ts/Options.run sure",
            "user.ts:4 -> options.ts/Options.run sure",
            "config.ts:2 -> options.ts/Options sure",
        ],
    );
}

#[test]
fn keys_of_mapped_types_and_inferred_types_are_names_of_their_scope() {
    let text = [
        "export class K {}",
        "export class U {}",
        "export class V {}",
        "type Keys<T> = { [K in keyof T]: K };",
        "type Renamed<T> = { readonly [K in keyof T as `x${K}`]?: (k: K) => V };",
        "type Item<T> = T extends (infer U)[] ? U : U;",
        "type Both<T> = T extends (a: infer V) => infer U ? [U, V] : K;",
        "type Nested<T> = T extends Array<infer K> ? K extends Array<infer U> ? [K, U] : U : never;",
        "function f(o: { [K in 'a' | 'b']: K }): K { return o.a; }",
    ];
    let found = references(&[("a.ts", &text.join("\n"))]);
    let expected =
        ["a.ts:5 -> V sure", "a.ts:6 -> U sure", "a.ts:7 -> K sure", "a.ts:8 -> U sure", "a.ts:9 -> K sure"];
    assert_eq!(found, expected);
}

#[test]
fn this_in_a_static_method_is_the_class() {
    let text = [
        "class A { run() {} static one() { return new this(); }",
        "  static from(a) { return a instanceof this ? a : new this(a); }",
        "  static two() { const a = new this(); a.run(); this.one(); } }",
        "class B { run() {} one() {} }",
        "A.one().run();",
        "A.from(1).run();",
    ];
    let found = references(&[("a.js", &text.join("\n"))]);
    assert_found(
        &found,
        &["a.js:3 -> A.run sure", "a.js:3 -> A.one sure", "a.js:5 -> A.run sure", "a.js:6 -> A.run likely"],
    );
    assert!(!found.iter().any(|row| row.contains("-> B.")), "{found:#?}");
}

#[test]
fn a_typescript_field_has_its_declared_type_whatever_is_assigned() {
    let text = "interface Log { write(): void }\nclass File implements Log { write() {} }\nclass A {\n  log: Log;\n  constructor() { this.log = new File(); }\n  run() { this.log.write(); }\n}\n";
    let found = references(&[("a.ts", text)]);
    let of_call: Vec<_> = found.iter().filter(|row| row.starts_with("a.ts:6")).collect();
    assert_eq!(of_call, ["a.ts:6 -> Log.write sure"]);
}

#[test]
fn a_method_that_returns_this_returns_the_type_that_it_is_called_on() {
    let text = "class Base {\n  set(): this { return this; }\n  put() { return this; }\n  run() {}\n}\nclass Derived extends Base {\n  run() {}\n}\nfunction f(d: Derived, b: Base) {\n  d.set().put().run();\n  b.set().run();\n}\n";
    let found = references(&[("a.ts", text)]);
    for row in ["a.ts:10 -> Derived.run sure", "a.ts:11 -> Base.run sure"] {
        assert!(found.iter().any(|found| found == row), "{row} is not in {found:#?}");
    }
    assert!(!found.iter().any(|found| found == "a.ts:10 -> Base.run sure"), "{found:#?}");
}
