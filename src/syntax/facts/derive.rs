//! Text to facts, by the walker of its language.

use tree_sitter::Node;

use super::builder::FactsBuilder;
use super::{c, go, manifest, python, rust, script};
use crate::model::{ArtifactKind, Producer, SourceFacts};
use crate::syntax::languages::compiled_language;
use crate::syntax::outline::parse;

/// Version of the code here: raise it when the same text gives other facts.
const VERSION: u32 = 2;

type Walker = for<'t> fn(&mut FactsBuilder<'t>, Node<'t>);

/// Returns the producer of facts of that language; `None` where its names are not read.
pub fn facts_producer(language: &'static str) -> Option<Producer> {
    if !has_facts(language) {
        return None;
    }
    let artifact = ArtifactKind::Facts;
    let mut version = format!("{}/{VERSION}", artifact.name());
    // C is read by a scanner of its own, whatever its grammar is.
    if let Some(compiled) = compiled_language(language).filter(|_| language != "c") {
        version.push(' ');
        version.push_str(compiled.language.grammar_version);
    }
    Some(Producer { artifact, language, version })
}

/// Returns whether the names of this language are read.
pub fn has_facts(language: &str) -> bool {
    matches!(language, "c" | "toml" | "go-mod")
        || walker(language).is_some() && compiled_language(language).is_some()
}

/// Returns the facts of a text; `None` where its language has none. A text that cannot be parsed, or for which
/// `give_up` returns true, has no definitions and no uses.
pub fn source_facts(language: &str, text: &str, give_up: &mut dyn FnMut() -> bool) -> Option<SourceFacts> {
    match language {
        "c" => return Some(c::source_facts(text)),
        "toml" => return Some(manifest::toml_facts(text)),
        "go-mod" => return Some(manifest::go_module_facts(text)),
        _ => {}
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

fn walker(language: &str) -> Option<Walker> {
    match language {
        "python" => Some(python::walk),
        "javascript" | "typescript" | "tsx" => Some(script::walk),
        "rust" => Some(rust::walk),
        "go" => Some(go::walk),
        _ => None,
    }
}
