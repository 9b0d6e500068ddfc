//! The languages that have structure, and those that were left out of this build, because grammars are most of the
//! program's size.

use std::sync::OnceLock;

use crate::syntax::outline::{CompiledLanguage, Language};

/// Makes [`LANGUAGES`] and [`OPTIONAL`] of one table, because `cfg` needs a literal for each feature: the id of the
/// file type, the feature of Cargo that brings the language, and where its table is.
macro_rules! optional_languages {
    ($($id:ident: $feature:literal $module:ident::$table:ident,)*) => {
        /// Every language that has structure in this build.
        pub(in crate::syntax) const LANGUAGES: &[&Language] = &[
            &super::c::C,
            &super::c::CPP,
            &super::python::PYTHON,
            $(#[cfg(feature = $feature)] &super::$module::$table,)*
        ];

        /// Every language that is behind a feature: its id, the feature, and whether this build has it.
        const OPTIONAL: &[(&str, &str, bool)] = &[$((stringify!($id), $feature, cfg!(feature = $feature)),)*];
    };
}

optional_languages! {
    astro: "lang-typescript" components::ASTRO,
    cmake: "lang-cmake" cmake::CMAKE,
    csharp: "lang-csharp" csharp::CSHARP,
    css: "lang-css" css::CSS,
    dockerfile: "lang-dockerfile" dockerfile::DOCKERFILE,
    go: "lang-go" go::GO,
    html: "lang-html" html::HTML,
    java: "lang-java" java::JAVA,
    javascript: "lang-javascript" javascript::JAVASCRIPT,
    json: "lang-json" json::JSON,
    kotlin: "lang-kotlin" kotlin::KOTLIN,
    lua: "lang-lua" lua::LUA,
    make: "lang-makefile" make::MAKE,
    markdown: "lang-markdown" markdown::MARKDOWN,
    php: "lang-php" php::PHP,
    protobuf: "lang-protobuf" protobuf::PROTOBUF,
    ruby: "lang-ruby" ruby::RUBY,
    rust: "lang-rust" rust::RUST,
    scala: "lang-scala" scala::SCALA,
    shell: "lang-shell" shell::SHELL,
    sql: "lang-sql" sql::SQL,
    svelte: "lang-typescript" components::SVELTE,
    swift: "lang-swift" swift::SWIFT,
    toml: "lang-toml" toml::TOML,
    tsx: "lang-typescript" typescript::TSX,
    typescript: "lang-typescript" typescript::TYPESCRIPT,
    vue: "lang-typescript" components::VUE,
    yaml: "lang-yaml" yaml::YAML,
    zig: "lang-zig" zig::ZIG,
}

/// How many languages have structure in this build.
pub const LANGUAGE_COUNT: usize = LANGUAGES.len();

/// Returns the compiled language of that id.
pub(in crate::syntax) fn compiled_language(language: &str) -> Option<&'static CompiledLanguage> {
    // Compiled on first use: a project has few of these languages, and a table takes a pass over all kinds of its
    // grammar.
    static COMPILED: [OnceLock<CompiledLanguage>; LANGUAGES.len()] =
        [const { OnceLock::new() }; LANGUAGES.len()];
    let at = LANGUAGES.iter().position(|known| known.id == language)?;
    Some(COMPILED[at].get_or_init(|| CompiledLanguage::new(LANGUAGES[at])))
}

/// Returns the Cargo feature that would enable the structure of a file type, if it is disabled in this build.
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
    fn a_disabled_language_has_no_structure_and_names_its_feature() {
        for (id, feature, is_built) in OPTIONAL {
            assert_eq!(missing_feature(id), (!is_built).then_some(*feature));
            assert!(*is_built || !has_structure(id), "{id}");
        }
        assert_eq!(missing_feature("python"), None);
        assert_eq!(missing_feature("perl"), None);
    }

    #[test]
    fn every_feature_is_declared_in_the_manifest() {
        let manifest = include_str!("../../../Cargo.toml");
        for (_, feature, _) in OPTIONAL {
            assert!(manifest.contains(&format!("\n{feature} = [\"dep:")), "{feature}");
        }
    }

    #[test]
    fn every_node_that_a_table_names_is_one_of_its_grammar() {
        for language in LANGUAGES {
            let compiled = compiled_language(language.id).unwrap();
            let rows = language.node_tables.iter().copied().flatten();
            for kind in rows.flat_map(|(kinds, _)| kinds.split(' ')) {
                assert_ne!(compiled.grammar.id_for_node_kind(kind, true), 0, "{}: {kind}", language.id);
            }
        }
    }

    #[test]
    fn every_step_of_a_rule_exists_in_its_grammar() {
        for language in LANGUAGES {
            let unknown = unknown_steps(language);
            assert!(unknown.is_empty(), "{}: {unknown:?}", language.id);
        }
    }

    #[test]
    fn every_language_has_its_own_file_type() {
        let mut ids: Vec<_> = LANGUAGES.iter().map(|language| language.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), LANGUAGES.len());
    }

    #[test]
    fn the_versions_in_the_keys_are_the_linked_ones() {
        let lock = include_str!("../../../Cargo.lock");
        for language in LANGUAGES {
            let (name, version) = language.grammar_version.split_once(' ').unwrap();
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"");
            assert!(lock.contains(&entry), "{} is not what Cargo.lock pins", language.grammar_version);
        }
    }
}
