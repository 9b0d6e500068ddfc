//! Manifests: by what name other packages import a package of Cargo or a module of Go.
//!
//! What is read is bound in the file's scope, under a name that no identifier is: [`PACKAGE_NAME`], [`LIBRARY_NAME`],
//! [`LIBRARY_PATH`] or [`MODULE_NAME`].

use std::borrow::Cow;

use super::builder::FactsBuilder;
use crate::model::{BindingValue, ExpressionFact, SourceFacts};

/// The name of a package of Cargo.
const PACKAGE_NAME: &str = "package.name";
/// The name of its library, where it is another one.
const LIBRARY_NAME: &str = "lib.name";
/// The root file of its library, where it is another one than `src/lib.rs`.
const LIBRARY_PATH: &str = "lib.path";
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
            let name = match (table, key.trim()) {
                ("package", "name") => PACKAGE_NAME,
                ("lib", "name") => LIBRARY_NAME,
                ("lib", "path") => LIBRARY_PATH,
                _ => continue,
            };
            // A name that the workspace gives, `name.workspace = true`, is none of these keys.
            if let Some(value) = value.split(['"', '\'']).nth(1) {
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
            bind(&mut facts, MODULE_NAME, path, number);
            break;
        }
    }
    facts.finish()
}

fn bind<'t>(facts: &mut FactsBuilder<'t>, name: &'static str, value: &'t str, line: u32) {
    let (name, value) = (facts.any_name(Cow::Borrowed(name)), facts.name(value));
    let value = facts.expression(ExpressionFact::Name(value));
    facts.bind(0, name, BindingValue::Value(value), line);
}
