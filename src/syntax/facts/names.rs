//! What importance needs of a file's facts: the names that it defines, uses and imports, as numbers.

use crate::model::{DefinitionFact, DefinitionFlags, FileReferences, ScopeKind, SourceFacts};
use crate::syntax::references::{import_number, name_number};

/// Of more names those with the highest numbers are left out, which are the same in each file.
const MAX_NAMES: usize = 20_000;

/// Returns the names of a file by its facts. Unlike a scan of the text, it counts no word of a comment or a string.
pub fn facts_references(facts: &SourceFacts) -> FileReferences {
    let exported = facts.definitions.iter().filter(|fact| is_exported(facts, fact));
    let mut references = FileReferences {
        defines: exported.filter_map(|fact| name_number(facts.name(fact.name))).collect(),
        uses: facts.names.iter().filter_map(|name| name_number(name)).collect(),
        imports: Vec::new(),
    };
    for import in &facts.imports {
        references.imports.extend(import_number(module_stem(facts.name(import.module))));
        references.imports.extend(import.name.and_then(|name| import_number(facts.name(name))));
    }
    for list in [&mut references.defines, &mut references.uses, &mut references.imports] {
        list.sort_unstable();
        list.dedup();
        list.truncate(MAX_NAMES);
    }
    references
}

fn is_exported(facts: &SourceFacts, fact: &DefinitionFact) -> bool {
    let name = facts.name(fact.name);
    let is_of_language = name.starts_with("__") && name.ends_with("__");
    let mut scope = fact.scope;
    while scope != 0 {
        let outer = facts.scope(scope);
        if outer.kind == ScopeKind::Function {
            return false;
        }
        scope = outer.parent.min(scope - 1);
    }
    !is_of_language && !fact.flags.has(DefinitionFlags::PROTOTYPE)
}

/// Returns the last name of a module or of a path: `path` of `os.path`, `types` of `sys/types.h`.
fn module_stem(module: &str) -> &str {
    let file = module.rsplit('/').next().unwrap_or_default();
    match file.rsplit_once('.') {
        Some((stem, "h" | "hh" | "hpp" | "hxx" | "inc" | "c" | "cpp" | "js" | "ts")) => stem,
        Some((_, last)) => last,
        None => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::facts::source_facts;

    #[test]
    fn a_file_defines_what_others_may_use_and_imports_by_name() {
        let text = "import os.path\nfrom .a import b\nclass Engine:\n    def run(self): inner()\ndef main():\n    def inner(): ...\n";
        let facts = source_facts("python", text, &mut || false).unwrap();
        let found = facts_references(&facts);
        let numbers = |names: &[&str]| {
            let mut numbers: Vec<u32> = names.iter().filter_map(|name| import_number(name)).collect();
            numbers.sort_unstable();
            numbers
        };
        assert_eq!(found.defines, numbers(&["Engine", "run", "main"]));
        assert_eq!(found.imports, numbers(&["os", "path", "a", "b"]));
        assert!(found.uses.contains(&name_number("inner").unwrap()));
    }
}
