//! The languages that have structure.

use super::c::C;
#[cfg(feature = "lang-cmake")]
use super::cmake::CMAKE;
use super::cpp::CPP;
#[cfg(feature = "lang-csharp")]
use super::csharp::CSHARP;
#[cfg(feature = "lang-css")]
use super::css::CSS;
#[cfg(feature = "lang-dockerfile")]
use super::dockerfile::DOCKERFILE;
#[cfg(feature = "lang-go")]
use super::go::GO;
#[cfg(feature = "lang-html")]
use super::html::HTML;
#[cfg(feature = "lang-java")]
use super::java::JAVA;
#[cfg(feature = "lang-javascript")]
use super::javascript::JAVASCRIPT;
#[cfg(feature = "lang-json")]
use super::json::JSON;
#[cfg(feature = "lang-kotlin")]
use super::kotlin::KOTLIN;
#[cfg(feature = "lang-lua")]
use super::lua::LUA;
#[cfg(feature = "lang-makefile")]
use super::make::MAKE;
#[cfg(feature = "lang-markdown")]
use super::markdown::MARKDOWN;
#[cfg(feature = "lang-php")]
use super::php::PHP;
#[cfg(feature = "lang-protobuf")]
use super::protobuf::PROTOBUF;
use super::python::PYTHON;
#[cfg(feature = "lang-ruby")]
use super::ruby::RUBY;
#[cfg(feature = "lang-rust")]
use super::rust::RUST;
#[cfg(feature = "lang-scala")]
use super::scala::SCALA;
#[cfg(feature = "lang-shell")]
use super::shell::SHELL;
#[cfg(feature = "lang-sql")]
use super::sql::SQL;
#[cfg(feature = "lang-swift")]
use super::swift::SWIFT;
#[cfg(feature = "lang-toml")]
use super::toml::TOML;
#[cfg(feature = "lang-typescript")]
use super::typescript::TSX;
#[cfg(feature = "lang-typescript")]
use super::typescript::TYPESCRIPT;
#[cfg(feature = "lang-yaml")]
use super::yaml::YAML;
#[cfg(feature = "lang-zig")]
use super::zig::ZIG;
use crate::syntax::language::Language;

/// Every language that has structure in this build.
pub(in crate::syntax) const LANGUAGES: &[&Language] = &[
    &C,
    #[cfg(feature = "lang-cmake")]
    &CMAKE,
    &CPP,
    #[cfg(feature = "lang-csharp")]
    &CSHARP,
    #[cfg(feature = "lang-css")]
    &CSS,
    #[cfg(feature = "lang-dockerfile")]
    &DOCKERFILE,
    #[cfg(feature = "lang-go")]
    &GO,
    #[cfg(feature = "lang-html")]
    &HTML,
    #[cfg(feature = "lang-java")]
    &JAVA,
    #[cfg(feature = "lang-javascript")]
    &JAVASCRIPT,
    #[cfg(feature = "lang-json")]
    &JSON,
    #[cfg(feature = "lang-kotlin")]
    &KOTLIN,
    #[cfg(feature = "lang-lua")]
    &LUA,
    #[cfg(feature = "lang-makefile")]
    &MAKE,
    #[cfg(feature = "lang-markdown")]
    &MARKDOWN,
    #[cfg(feature = "lang-php")]
    &PHP,
    #[cfg(feature = "lang-protobuf")]
    &PROTOBUF,
    &PYTHON,
    #[cfg(feature = "lang-ruby")]
    &RUBY,
    #[cfg(feature = "lang-rust")]
    &RUST,
    #[cfg(feature = "lang-scala")]
    &SCALA,
    #[cfg(feature = "lang-shell")]
    &SHELL,
    #[cfg(feature = "lang-sql")]
    &SQL,
    #[cfg(feature = "lang-swift")]
    &SWIFT,
    #[cfg(feature = "lang-toml")]
    &TOML,
    #[cfg(feature = "lang-typescript")]
    &TSX,
    #[cfg(feature = "lang-typescript")]
    &TYPESCRIPT,
    #[cfg(feature = "lang-yaml")]
    &YAML,
    #[cfg(feature = "lang-zig")]
    &ZIG,
];
