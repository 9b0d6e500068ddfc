//! The languages that have structure, and those that this build is without: grammars are most of a program's size.

use std::sync::OnceLock;

use crate::syntax::outline::{CompiledLanguage, Language};

/// Every language that has structure in this build.
pub(in crate::syntax) const LANGUAGES: &[&Language] = &[
    &super::c::C,
    #[cfg(feature = "lang-cmake")]
    &super::cmake::CMAKE,
    &super::cpp::CPP,
    #[cfg(feature = "lang-csharp")]
    &super::csharp::CSHARP,
    #[cfg(feature = "lang-css")]
    &super::css::CSS,
    #[cfg(feature = "lang-dockerfile")]
    &super::dockerfile::DOCKERFILE,
    #[cfg(feature = "lang-go")]
    &super::go::GO,
    #[cfg(feature = "lang-html")]
    &super::html::HTML,
    #[cfg(feature = "lang-java")]
    &super::java::JAVA,
    #[cfg(feature = "lang-javascript")]
    &super::javascript::JAVASCRIPT,
    #[cfg(feature = "lang-json")]
    &super::json::JSON,
    #[cfg(feature = "lang-kotlin")]
    &super::kotlin::KOTLIN,
    #[cfg(feature = "lang-lua")]
    &super::lua::LUA,
    #[cfg(feature = "lang-makefile")]
    &super::make::MAKE,
    #[cfg(feature = "lang-markdown")]
    &super::markdown::MARKDOWN,
    #[cfg(feature = "lang-php")]
    &super::php::PHP,
    #[cfg(feature = "lang-protobuf")]
    &super::protobuf::PROTOBUF,
    &super::python::PYTHON,
    #[cfg(feature = "lang-ruby")]
    &super::ruby::RUBY,
    #[cfg(feature = "lang-rust")]
    &super::rust::RUST,
    #[cfg(feature = "lang-scala")]
    &super::scala::SCALA,
    #[cfg(feature = "lang-shell")]
    &super::shell::SHELL,
    #[cfg(feature = "lang-sql")]
    &super::sql::SQL,
    #[cfg(feature = "lang-swift")]
    &super::swift::SWIFT,
    #[cfg(feature = "lang-toml")]
    &super::toml::TOML,
    #[cfg(feature = "lang-typescript")]
    &super::typescript::TSX,
    #[cfg(feature = "lang-typescript")]
    &super::typescript::TYPESCRIPT,
    #[cfg(feature = "lang-yaml")]
    &super::yaml::YAML,
    #[cfg(feature = "lang-zig")]
    &super::zig::ZIG,
];

/// Returns the compiled language of that id.
pub(in crate::syntax) fn compiled_language(language: &str) -> Option<&'static CompiledLanguage> {
    // Compiled on first use: a project has few of these languages, and a table takes a pass over all kinds of its
    // grammar.
    static COMPILED: [OnceLock<CompiledLanguage>; LANGUAGES.len()] =
        [const { OnceLock::new() }; LANGUAGES.len()];
    let at = language_index(language)?;
    Some(COMPILED[at].get_or_init(|| CompiledLanguage::new(LANGUAGES[at])))
}

fn language_index(language: &str) -> Option<usize> {
    LANGUAGES.iter().position(|known| known.id == language)
}

/// A language, the feature of Cargo that brings it, and whether this build has that feature.
type OptionalLanguage = (&'static str, &'static str, bool);

/// Lists the feature that enables each language; a feature is named only once here, though `cfg!` needs a literal.
macro_rules! optional {
    ($($id:literal: $feature:literal),* $(,)?) => {
        [$(($id, $feature, cfg!(feature = $feature))),*]
    };
}

/// Every language that is behind a feature, by its id.
const OPTIONAL: [OptionalLanguage; 26] = optional![
    "cmake": "lang-cmake",
    "csharp": "lang-csharp",
    "css": "lang-css",
    "dockerfile": "lang-dockerfile",
    "go": "lang-go",
    "html": "lang-html",
    "java": "lang-java",
    "javascript": "lang-javascript",
    "json": "lang-json",
    "kotlin": "lang-kotlin",
    "lua": "lang-lua",
    "make": "lang-makefile",
    "markdown": "lang-markdown",
    "php": "lang-php",
    "protobuf": "lang-protobuf",
    "ruby": "lang-ruby",
    "rust": "lang-rust",
    "scala": "lang-scala",
    "shell": "lang-shell",
    "sql": "lang-sql",
    "swift": "lang-swift",
    "toml": "lang-toml",
    "tsx": "lang-typescript",
    "typescript": "lang-typescript",
    "yaml": "lang-yaml",
    "zig": "lang-zig",
];

/// Returns the feature of Cargo that would bring the structure of a type of files, where this build is without it.
pub fn missing_feature(language: &str) -> Option<&'static str> {
    OPTIONAL.iter().find(|(id, _, is_built)| *id == language && !is_built).map(|(_, feature, _)| *feature)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::has_structure;
    use crate::syntax::outline::unknown_steps;

    #[test]
    fn each_optional_language_has_a_feature() {
        for language in LANGUAGES.iter().filter(|language| !["python", "c", "cpp"].contains(&language.id)) {
            assert!(
                OPTIONAL.iter().any(|(id, _, is_built)| *id == language.id && *is_built),
                "{}",
                language.id
            );
        }
    }

    #[test]
    fn a_language_that_is_not_built_in_has_no_structure_and_names_its_feature() {
        for (id, feature, is_built) in OPTIONAL {
            assert_eq!(missing_feature(id), (!is_built).then_some(feature));
            assert!(is_built || !has_structure(id), "{id}");
        }
        assert_eq!(missing_feature("python"), None);
        assert_eq!(missing_feature("perl"), None);
    }

    #[test]
    fn every_feature_is_one_of_the_manifest() {
        let manifest = include_str!("../../../Cargo.toml");
        for (_, feature, _) in OPTIONAL {
            assert!(manifest.contains(&format!("\n{feature} = [\"dep:")), "{feature}");
        }
    }

    #[test]
    fn every_node_that_a_table_names_is_one_of_its_grammar() {
        for language in LANGUAGES {
            let compiled = compiled_language(language.id).unwrap();
            for (kind, _) in language.node_tables.iter().copied().flatten() {
                assert_ne!(compiled.grammar.id_for_node_kind(kind, true), 0, "{}: {kind}", language.id);
            }
        }
    }

    #[test]
    fn every_step_of_a_rule_is_one_of_its_grammar() {
        for language in LANGUAGES {
            let unknown = unknown_steps(language);
            assert!(unknown.is_empty(), "{}: {unknown:?}", language.id);
        }
    }

    #[test]
    fn every_language_is_a_file_type_of_its_own() {
        let mut ids: Vec<_> = LANGUAGES.iter().map(|language| language.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), LANGUAGES.len());
    }

    #[test]
    fn the_versions_in_the_keys_are_those_that_are_linked() {
        let lock = include_str!("../../../Cargo.lock");
        for language in LANGUAGES {
            let (name, version) = language.grammar_version.split_once(' ').unwrap();
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"");
            assert!(lock.contains(&entry), "{} is not what Cargo.lock pins", language.grammar_version);
        }
    }
}
