//! Manifests: the names by which other packages import a Cargo package or a Go module.
//!
//! Values are bound in the file's scope, under names that are not identifiers: [`PACKAGE_NAME`], [`LIBRARY_NAME`],
//! [`LIBRARY_PATH`], [`MODULE_NAME`], or [`DEPENDENCY`] and the name by which a renamed dependency is imported.

use std::borrow::Cow;

use super::builder::FactsBuilder;
use crate::model::{BindingValue, ExpressionFact, NameId, SourceFacts};

/// The name of a Cargo package.
const PACKAGE_NAME: &str = "package.name";
/// The name of its library, if it differs.
const LIBRARY_NAME: &str = "lib.name";
/// The root file of its library, if it is not `src/lib.rs`.
const LIBRARY_PATH: &str = "lib.path";
/// The package of a renamed dependency; followed by the name that it is imported by.
const DEPENDENCY: &str = "dependency.";
/// The path of a Go module.
const MODULE_NAME: &str = "module.name";

/// Reads a TOML file, which has facts if it is a Cargo manifest.
pub(super) fn toml_facts(text: &str) -> SourceFacts {
    let mut facts = FactsBuilder::new(text);
    let mut table = "";
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']']).trim();
        } else if let Some((key, value)) = line.split_once('=') {
            if let Some((name, package)) = renamed_dependency(table, key.trim(), value) {
                let name = facts.any_name(Cow::Owned(format!("{DEPENDENCY}{}", name.replace('-', "_"))));
                bind(&mut facts, name, package, number);
                continue;
            }
            let name = match (table, key.trim()) {
                ("package", "name") => PACKAGE_NAME,
                ("lib", "name") => LIBRARY_NAME,
                ("lib", "path") => LIBRARY_PATH,
                _ => continue,
            };
            // A value that the workspace supplies, as in `name.workspace = true`, is not one of these keys.
            if let Some(value) = value.split(['"', '\'']).nth(1) {
                let name = facts.any_name(Cow::Borrowed(name));
                bind(&mut facts, name, value, number);
            }
        }
    }
    facts.finish()
}

/// Reads a `go.mod`.
pub(super) fn go_module_facts(text: &str) -> SourceFacts {
    let mut facts = FactsBuilder::new(text);
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if let Some(path) = line.strip_prefix("module ") {
            let path = path.split("//").next().unwrap_or_default().trim().trim_matches('"');
            let name = facts.any_name(Cow::Borrowed(MODULE_NAME));
            bind(&mut facts, name, path, number);
            break;
        }
    }
    facts.finish()
}

/// Returns the name of a dependency and that of its package, if a line gives both: `a = { package = "b" }`, or `package
/// = "b"` in a separate table.
fn renamed_dependency<'t>(table: &'t str, key: &'t str, value: &'t str) -> Option<(&'t str, &'t str)> {
    let (name, package) = match table.rsplit_once("dependencies") {
        Some((_, "")) => (key, value.split_once("package")?.1.trim_start().strip_prefix('=')?),
        Some((_, name)) if key == "package" => (name.strip_prefix('.')?, value),
        _ => return None,
    };
    Some((name.trim_matches(['"', '\'']), package.split(['"', '\'']).nth(1)?))
}

fn bind<'t>(facts: &mut FactsBuilder<'t>, name: NameId, value: &'t str, line: u32) {
    let value = facts.name(value);
    let value = facts.expression(ExpressionFact::Name(value));
    facts.bind(0, name, BindingValue::Value(value), line);
}
