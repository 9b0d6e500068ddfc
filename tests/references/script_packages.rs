//! JavaScript and TypeScript: modules by the names of packages and by `paths` of `tsconfig.json`.

use super::references;

const LIBRARY: &str = "export function fetchAll(n: number) {\n  return n;\n}\n";

/// Returns the references from the user's file.
fn found_from(user: &str, texts: &[(&str, &str)]) -> Vec<String> {
    references(texts).into_iter().filter(|found| found.starts_with(user)).collect()
}

fn user_of(module: &str) -> String {
    format!("import {{ fetchAll }} from '{module}';\nfetchAll(3);\n")
}

#[test]
fn paths_of_the_nearest_configuration_decide_which_file_a_module_is() {
    let root = r#"{
        // Comments and trailing commas are fine here.
        "compilerOptions": {
            "baseUrl": ".",
            "paths": {
                "xa": ["missing.ts", "packages/a/src"],
                "@x/*": ["./packages/*/src/index.ts"],
                "@x/a/*": ["./packages/a/src/*"],
                "~/*": ["packages/a/src/*"],
            },
        },
    }"#;
    let inner = r#"{ "extends": "../../tsconfig", "compilerOptions": { "strict": true } }"#;
    for module in ["xa", "@x/a", "@x/a/index", "~/index.js", "packages/a/src"] {
        let user = user_of(module);
        let found = found_from(
            "packages/b",
            &[
                ("packages/a/src/index.ts", LIBRARY),
                ("packages/b/tsconfig.json", inner),
                ("packages/b/use.ts", &user),
                ("tsconfig.json", root),
            ],
        );
        assert_eq!(found, ["packages/b/use.ts:2 -> packages/a/src/index.ts/fetchAll sure"], "{module}");
    }
    // A nearer configuration without paths maps nothing.
    let user = user_of("xa");
    let texts = [
        ("a/tsconfig.json", "{}"),
        ("a/use.ts", &user),
        ("packages/a/src/index.ts", LIBRARY),
        ("tsconfig.json", root),
    ];
    assert!(found_from("a/", &texts).is_empty());
}

#[test]
fn a_package_of_the_workspace_is_imported_by_its_name() {
    let manifest = |fields: &str| format!(r#"{{ "name": "@x/a"{fields} }}"#);
    let user = user_of("@x/a");
    let workspaces = r#"{ "name": "root", "workspaces": { "packages": ["packages/*"] } }"#;
    let cases = [
        (r#", "exports": "./src/index.ts""#, "sure"),
        (r#", "exports": { "import": { "types": "./src/index.ts" }, "default": "./src/index.js" }"#, "sure"),
        (r#", "main": "./dist/index.js", "types": "dist/types/index.d.ts""#, "likely"),
        (r#", "source": "src/index.ts", "main": "src/index""#, "sure"),
        ("", "likely"),
    ];
    for (fields, grade) in cases {
        let (manifest, expected) =
            (manifest(fields), format!("packages/b/use.ts:2 -> packages/a/src/index.ts/fetchAll {grade}"));
        let package = [("packages/a/package.json", manifest.as_str()), ("packages/a/src/index.ts", LIBRARY)];
        let user = ("packages/b/use.ts", user.as_str());
        let yaml = "packages:\n  - 'packages/**' # all\nonlyBuilt:\n  - x\n";
        for workspace in [("package.json", workspaces), ("pnpm-workspace.yaml", yaml)] {
            let found = found_from("packages/b", &[package[0], package[1], user, workspace]);
            assert_eq!(found, [expected.as_str()], "{fields} {workspace:?}");
        }
        // Without a workspace the name may mean a published version.
        let found = found_from("packages/b", &[package[0], package[1], user]);
        assert_eq!(found, [expected.replace("sure", "likely")], "{fields}");
    }
}

#[test]
fn paths_in_a_package_are_those_that_it_exports() {
    let manifest = r##"{
        "name": "xa",
        "exports": { ".": "./dist/main.js", "./links/*": "./dist/links/*.mjs", "./hidden/*": null },
        "imports": { "#inner/*": { "default": "./src/links/*.js" } },
    }"##;
    let user = "const { run } = require('xa/links/one');\nrun();\nconst xa = require('xa');\nxa.start();\nconst own = require('#inner/one');\nown.run();\nrequire('other').run();\n";
    let found = found_from(
        "a/test",
        &[
            ("a/package.json", manifest),
            ("a/src/links/one.js", "exports.run = function () {};\n"),
            ("a/src/main.js", "exports.start = function () {};\n"),
            ("a/test/use.js", user),
        ],
    );
    let expected = [
        "a/test/use.js:2 -> a/src/links/one.js/run likely",
        "a/test/use.js:4 -> a/src/main.js/start likely",
        "a/test/use.js:6 -> a/src/links/one.js/run sure",
    ];
    for row in expected {
        assert!(found.iter().any(|found| found == row), "{row} is not in {found:#?}");
    }
    assert!(!found.iter().any(|found| found.contains(":7 ")), "{found:#?}");
}

#[test]
fn the_nearest_of_two_packages_with_one_name_counts_and_one_without_files_is_unresolved() {
    let user = user_of("xa");
    let found = found_from(
        "one/b",
        &[
            ("one/a/index.ts", LIBRARY),
            ("one/a/package.json", r#"{ "name": "xa" }"#),
            ("one/b/use.ts", &user),
            ("two/a/index.ts", LIBRARY),
            ("two/a/package.json", r#"{ "name": "xa" }"#),
        ],
    );
    assert_eq!(found, ["one/b/use.ts:2 -> one/a/index.ts/fetchAll likely"]);
    let texts = [
        ("a/package.json", r#"{ "name": "xa", "main": "./generated.js" }"#),
        ("b/use.ts", user.as_str()),
        ("c/other.ts", LIBRARY),
        ("c/use.ts", "import { fetchAll } from 'yb';\nfetchAll(3);\n"),
    ];
    assert_eq!(super::unresolved(&texts), ["b/use.ts:2 fetchAll"]);
}

#[test]
fn modules_that_re_export_each_other_are_queried_for_each_name() {
    let found = found_from(
        "a/",
        &[
            ("use.ts", "import { one } from 'xa';\none.run();\n"),
            ("a/index.ts", "export * from './one';\nexport * from 'xb';\nexport * from './two';\n"),
            (
                "a/one.ts",
                "import { Two } from '.';\nexport class One {\n  two: Two;\n}\nexport const one = new One().two.run();\n",
            ),
            ("a/package.json", r#"{ "name": "xa", "exports": "./index.ts" }"#),
            ("a/two.ts", "export class Two {\n  run() {}\n}\n"),
            ("b/index.ts", "export * from 'xa';\n"),
            ("b/package.json", r#"{ "name": "xb", "exports": "./index.ts" }"#),
            ("package.json", r#"{ "workspaces": ["*"] }"#),
        ],
    );
    for row in ["a/one.ts:3 -> a/two.ts/Two sure", "a/one.ts:5 -> a/two.ts/Two.run sure"] {
        assert!(found.iter().any(|found| found == row), "{row} is not in {found:#?}");
    }
}
