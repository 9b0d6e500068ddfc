//! Manifests: by what name other packages import a package of Cargo or a module of Go.
//!
//! What is read is bound in the file's scope, under a name that no identifier is: [`PACKAGE_NAME`], [`LIBRARY_NAME`],
//! [`LIBRARY_PATH`], [`MODULE_NAME`], or [`DEPENDENCY`] and the name by which a dependency with another name is imported.

use std::borrow::Cow;

use super::builder::FactsBuilder;
use crate::model::{BindingValue, ExpressionFact, NameId, SourceFacts};

/// The name of a package of Cargo.
const PACKAGE_NAME: &str = "package.name";
/// The name of its library, where it is another one.
const LIBRARY_NAME: &str = "lib.name";
/// The root file of its library, where it is another one than `src/lib.rs`.
const LIBRARY_PATH: &str = "lib.path";
/// The package of a dependency that is imported by another name, which follows.
const DEPENDENCY: &str = "dependency.";
/// The path of a module of Go.
const MODULE_NAME: &str = "module.name";

/// Reads a file of TOML, which has facts where it is a manifest of Cargo.
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
            // A name that the workspace gives, `name.workspace = true`, is none of these keys.
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

/// Returns the name of a dependency and that of its package, where a line gives it both: `a = { package = "b" }`, or
/// `package = "b"` in a table of its own.
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
