//! The languages that have structure.

use super::c::C;
use super::cpp::CPP;
#[cfg(feature = "lang-csharp")]
use super::csharp::CSHARP;
#[cfg(feature = "lang-go")]
use super::go::GO;
#[cfg(feature = "lang-java")]
use super::java::JAVA;
#[cfg(feature = "lang-kotlin")]
use super::kotlin::KOTLIN;
#[cfg(feature = "lang-lua")]
use super::lua::LUA;
use super::python::PYTHON;
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
#[cfg(feature = "lang-zig")]
use super::zig::ZIG;
use crate::syntax::language::Language;

/// Every language that has structure in this build.
pub(in crate::syntax) const LANGUAGES: &[&Language] = &[
    &C,
    &CPP,
    #[cfg(feature = "lang-csharp")]
    &CSHARP,
    #[cfg(feature = "lang-go")]
    &GO,
    #[cfg(feature = "lang-java")]
    &JAVA,
    #[cfg(feature = "lang-kotlin")]
    &KOTLIN,
    #[cfg(feature = "lang-lua")]
    &LUA,
    &PYTHON,
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
    #[cfg(feature = "lang-zig")]
    &ZIG,
];
