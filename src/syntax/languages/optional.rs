//! The languages that a build may be without, for grammars are most of a program's size.

/// A language, the feature of Cargo that brings it, and whether this build has that feature.
type OptionalLanguage = (&'static str, &'static str, bool);

/// Says of each language what brings it: the feature is named twice, for `cfg!` wants it spelled.
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
    use crate::syntax::languages::LANGUAGES;

    #[test]
    fn what_brings_a_language_is_known_of_each() {
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
}
