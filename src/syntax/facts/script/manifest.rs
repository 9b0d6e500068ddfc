//! Manifests of JavaScript and TypeScript: the names by which files import packages, and the files that those names
//! mean.
//!
//! `package.json` and `tsconfig.json` are read alike, because facts do not depend on a file's name. As in `manifest`,
//! values are bound in the file's scope:
//!
//! | name | value |
//! |---|---|
//! | `package.name` | The name of the package |
//! | `package.main` | The files that the name means, unless `exports` says so |
//! | `package.workspaces` | Patterns of the folders of packages that import each other by their names |
//! | `exports ./a` | The files that `NAME/a` means; `exports .` has those of the name itself |
//! | `imports #a` | The files that `#a` means within the package |
//! | `tsconfig.extends` | The configurations that this one extends |
//! | `tsconfig.baseUrl` | The folder that modules are tried in |
//! | `paths a/*` | The paths that are tried for `a/*` |

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use crate::model::{BindingValue, ExpressionFact, SourceFacts};
use crate::syntax::facts::builder::FactsBuilder;

const PACKAGE_NAME: &str = "package.name";
const PACKAGE_MAIN: &str = "package.main";
const WORKSPACES: &str = "package.workspaces";
const EXTENDS: &str = "tsconfig.extends";
const BASE_URL: &str = "tsconfig.baseUrl";

/// The keys of a package for the file that its name means; sources come first.
const MAIN_KEYS: [&str; 5] = ["source", "types", "typings", "module", "main"];

/// Returns whether a JSON file of this name is read.
pub(in crate::syntax::facts) fn is_json_manifest(name: &[u8]) -> bool {
    matches!(name, b"package.json" | b"jsconfig.json")
        || name.starts_with(b"tsconfig") && name.ends_with(b".json")
}

/// Returns whether a YAML file of this name is read.
pub(in crate::syntax::facts) fn is_yaml_manifest(name: &[u8]) -> bool {
    name == b"pnpm-workspace.yaml"
}

/// Reads a `package.json` or a `tsconfig.json`, which may have comments and trailing commas.
pub(in crate::syntax::facts) fn json_facts(text: &str) -> SourceFacts {
    let mut facts = FactsBuilder::new(text);
    let options = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    let parsed = parse_to_ast(text, &options, &ParseOptions::default()).ok();
    if let Some(Value::Object(root)) = parsed.and_then(|parsed| parsed.value) {
        read_package(&mut facts, &root);
        read_config(&mut facts, &root);
    }
    facts.finish()
}

/// Reads the patterns of `packages` in a `pnpm-workspace.yaml`.
pub(in crate::syntax::facts) fn yaml_facts(text: &str) -> SourceFacts {
    let mut facts = FactsBuilder::new(text);
    let mut is_in_packages = false;
    for line in text.lines() {
        if let Some(pattern) = line.trim_start().strip_prefix("- ") {
            if is_in_packages {
                let pattern = pattern.split(" #").next().unwrap_or_default().trim();
                bind(&mut facts, WORKSPACES, pattern.trim_matches(['"', '\'']));
            }
        } else if line.starts_with(char::is_alphabetic) {
            is_in_packages = line.starts_with("packages:");
        }
    }
    facts.finish()
}

fn read_package(facts: &mut FactsBuilder<'_>, root: &Object<'_>) {
    if let Some(Value::StringLit(name)) = value_of(root, "name") {
        bind(facts, PACKAGE_NAME, &name.value);
    }
    for key in MAIN_KEYS {
        if let Some(Value::StringLit(path)) = value_of(root, key) {
            bind(facts, PACKAGE_MAIN, &path.value);
        }
    }
    let workspaces = match value_of(root, "workspaces") {
        Some(Value::Object(workspaces)) => value_of(workspaces, "packages"),
        workspaces => workspaces,
    };
    bind_all(facts, WORKSPACES, workspaces);
    match value_of(root, "exports") {
        Some(Value::Object(exports))
            if exports.properties.iter().any(|part| key_of(part).starts_with('.')) =>
        {
            bind_each(facts, "exports", exports);
        }
        exports => bind_all(facts, "exports .", exports),
    }
    if let Some(Value::Object(imports)) = value_of(root, "imports") {
        bind_each(facts, "imports", imports);
    }
}

fn read_config(facts: &mut FactsBuilder<'_>, root: &Object<'_>) {
    bind_all(facts, EXTENDS, value_of(root, "extends"));
    let Some(Value::Object(options)) = value_of(root, "compilerOptions") else { return };
    if let Some(Value::StringLit(folder)) = value_of(options, "baseUrl") {
        bind(facts, BASE_URL, &folder.value);
    }
    if let Some(Value::Object(paths)) = value_of(options, "paths") {
        bind_each(facts, "paths", paths);
    }
}

/// Binds the values of each key of an object, under the name of the object and the key.
fn bind_each(facts: &mut FactsBuilder<'_>, name: &str, object: &Object<'_>) {
    for part in &object.properties {
        bind_all(facts, &format!("{name} {}", key_of(part)), Some(&part.value));
    }
}

/// Binds every string of a value, regardless of the conditions under which it applies.
fn bind_all(facts: &mut FactsBuilder<'_>, name: &str, value: Option<&Value<'_>>) {
    match value {
        Some(Value::StringLit(text)) => bind(facts, name, &text.value),
        Some(Value::Array(array)) => {
            array.elements.iter().for_each(|element| bind_all(facts, name, Some(element)));
        }
        Some(Value::Object(conditions)) => {
            conditions.properties.iter().for_each(|part| bind_all(facts, name, Some(&part.value)));
        }
        _ => {}
    }
}

fn bind(facts: &mut FactsBuilder<'_>, name: &str, value: &str) {
    let (name, value) = (facts.composed_name(name), facts.composed_name(value));
    let value = facts.expression(ExpressionFact::Name(value));
    facts.bind(0, name, BindingValue::Value(value), 1);
}

fn value_of<'o, 't>(object: &'o Object<'t>, key: &str) -> Option<&'o Value<'t>> {
    object.properties.iter().find(|part| key_of(part) == key).map(|part| &part.value)
}

fn key_of<'o>(part: &'o ObjectProp<'_>) -> &'o str {
    part.name.as_str()
}
