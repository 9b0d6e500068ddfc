//! Text to facts, by the walker of its language.

use tree_sitter::Node;

use super::builder::FactsBuilder;
use super::{by_name, c, cpp, java, python, script};
use crate::model::SourceFacts;
use crate::syntax::languages::compiled_language;
use crate::syntax::outline::parse;

/// Version of the code here: raise it when the same text gives other facts.
const VERSION: u32 = 2;

type Walker = for<'t> fn(&mut FactsBuilder<'t>, Node<'t>);

/// Returns the version of facts of any language.
pub fn facts_version() -> u32 {
    VERSION
}

/// Returns whether the names of this language are read.
pub fn has_facts(language: &str) -> bool {
    matches!(language, "c" | "cpp") || walker(language).is_some() || is_read_by_name(language)
}

/// Returns the facts of a text; `None` where its language has none. A text that cannot be parsed, or for which
/// `give_up` returns true, has no definitions and no uses.
pub fn source_facts(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<SourceFacts> {
    if language == "c" {
        return Some(c::source_facts(text));
    }
    if language == "cpp" {
        return Some(cpp::source_facts(text));
    }
    if is_read_by_name(language) {
        let compiled = compiled_language(language)?;
        let tree = parse(compiled, text, give_up).ok();
        let read = tree.map(|tree| by_name::source_facts(compiled, text, tree.root_node()));
        return Some(read.unwrap_or_else(|| FactsBuilder::new(text).finish()));
    }
    let walk = walker(language)?;
    let compiled = compiled_language(language)?;
    let tree = parse(compiled, text, give_up).ok();
    let mut builder = FactsBuilder::new(text);
    if let Some(tree) = &tree {
        walk(&mut builder, tree.root_node());
    }
    Some(builder.finish())
}

/// Returns whether the names of this language are only compared.
fn is_read_by_name(language: &str) -> bool {
    let is_known = matches!(
        language,
        "cmake"
            | "csharp"
            | "dockerfile"
            | "kotlin"
            | "lua"
            | "make"
            | "php"
            | "protobuf"
            | "ruby"
            | "scala"
            | "shell"
            | "sql"
            | "swift"
            | "zig"
    );
    is_known && compiled_language(language).is_some()
}

fn walker(language: &str) -> Option<Walker> {
    match language {
        "java" => Some(java::walk),
        "python" => Some(python::walk),
        "javascript" | "typescript" | "tsx" => Some(script::walk),
        _ => None,
    }
}
