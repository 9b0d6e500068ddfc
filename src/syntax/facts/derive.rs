//! Derives facts from a text, with the reader of its language.

use tree_sitter::Node;

use super::builder::FactsBuilder;
use super::{by_name, c, go, java, manifest, python, rust, rust_macros, script};
use crate::model::{ArtifactKind, Producer, SourceFacts, is_component_type};
use crate::syntax::languages::compiled_language;
use crate::syntax::outline::parse;

/// The version of the code here: increment it when the same text gives other facts, and, for languages that are read by
/// name, when the outline gives other symbols.
const VERSION: u32 = 24;

type Walker = for<'t> fn(&mut FactsBuilder<'t>, Node<'t>);

/// Returns the producer of facts of a language; `None` if its names are not read.
pub fn facts_producer(language: &'static str) -> Option<Producer> {
    if !has_reader(language) {
        return None;
    }
    let artifact = ArtifactKind::Facts;
    let mut version = format!("{}/{VERSION}", artifact.name());
    // C and C++ are scanned, whatever their grammars are.
    if let Some(compiled) = compiled_language(language).filter(|_| !matches!(language, "c" | "cpp")) {
        version.push(' ');
        version.push_str(compiled.language.grammar_version);
    }
    Some(Producer { artifact, language, version })
}

/// Returns whether the names of a file of this language are read; in JSON and YAML only those of manifests.
pub fn has_facts(language: &str, file_name: &[u8]) -> bool {
    match language {
        "json" => script::is_json_manifest(file_name),
        "yaml" => script::is_yaml_manifest(file_name),
        _ => has_reader(language),
    }
}

fn has_reader(language: &str) -> bool {
    matches!(language, "c" | "cpp" | "toml" | "go-mod" | "json" | "yaml")
        || walker(language).is_some() && compiled_language(language).is_some()
        || is_read_by_name(language)
}

/// Returns the facts of a text; `None` if its language has none. A text that cannot be parsed, or for which `give_up`
/// returns true, has no definitions and no uses.
pub fn source_facts(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<SourceFacts> {
    match language {
        "c" => return Some(c::c_facts(text)),
        "cpp" => return Some(c::cpp_facts(text)),
        "toml" => return Some(manifest::toml_facts(text)),
        "go-mod" => return Some(manifest::go_module_facts(text)),
        "json" => return Some(script::json_facts(text)),
        "yaml" => return Some(script::yaml_facts(text)),
        _ => {}
    }
    if is_read_by_name(language) {
        let compiled = compiled_language(language)?;
        let tree = parse(compiled, text, give_up).ok();
        let read = tree.map(|tree| by_name::source_facts(compiled, text, tree.root_node()));
        return Some(read.unwrap_or_else(|| FactsBuilder::new(text).finish()));
    }
    let walk = walker(language)?;
    let compiled = compiled_language(language)?;
    let repaired = match language {
        "typescript" | "tsx" => {
            compiled.language.preprocess.and_then(|repair| repair(text)).map(|repaired| repaired.text)
        }
        // The names in a template are those of its scripts.
        _ if is_component_type(language) => compiled.language.respell.and_then(|respell| respell(text)),
        _ => None,
    };
    // The line numbers must be those of the original.
    let has_same_lines = |repaired: &&String| repaired.lines().count() == text.lines().count();
    let text = repaired.as_ref().filter(has_same_lines).map_or(text, String::as_str);
    let tree = parse(compiled, text, give_up).ok();
    let items = tree
        .as_ref()
        .filter(|_| language == "rust")
        .map(|tree| rust_macros::item_trees(compiled, text, tree, give_up));
    let mut builder = FactsBuilder::new(text);
    builder.macro_items = items.as_ref();
    if let Some(tree) = &tree {
        walk(&mut builder, tree.root_node());
    }
    Some(builder.finish())
}

/// The languages of which only names are compared.
const COMPARED_BY_NAME: [&str; 14] = [
    "cmake", "csharp", "dockerfile", "kotlin", "lua", "make", "php", "protobuf", "ruby", "scala", "shell",
    "sql", "swift", "zig",
];

/// Returns whether only the names of this language are compared.
fn is_read_by_name(language: &str) -> bool {
    COMPARED_BY_NAME.contains(&language) && compiled_language(language).is_some()
}

fn walker(language: &str) -> Option<Walker> {
    match language {
        "java" => Some(java::walk),
        "python" => Some(python::walk),
        "javascript" | "typescript" | "tsx" => Some(script::walk),
        "rust" => Some(rust::walk),
        "go" => Some(go::walk),
        _ if is_component_type(language) => Some(script::walk_component),
        _ => None,
    }
}
