//! The languages that have structure.

use super::c::C;
use super::cpp::CPP;
#[cfg(feature = "lang-csharp")]
use super::csharp::CSHARP;
#[cfg(feature = "lang-go")]
use super::go::GO;
#[cfg(feature = "lang-javascript")]
use super::javascript::JAVASCRIPT;
#[cfg(feature = "lang-java")]
use super::java::JAVA;
#[cfg(feature = "lang-kotlin")]
use super::kotlin::KOTLIN;
use super::python::PYTHON;
#[cfg(feature = "lang-rust")]
use super::rust::RUST;
#[cfg(feature = "lang-typescript")]
use super::typescript::TSX;
#[cfg(feature = "lang-typescript")]
use super::typescript::TYPESCRIPT;
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
    #[cfg(feature = "lang-javascript")]
    &JAVASCRIPT,
    #[cfg(feature = "lang-java")]
    &JAVA,
    #[cfg(feature = "lang-kotlin")]
    &KOTLIN,
    &PYTHON,
    #[cfg(feature = "lang-rust")]
    &RUST,
    #[cfg(feature = "lang-typescript")]
    &TSX,
    #[cfg(feature = "lang-typescript")]
    &TYPESCRIPT,
    #[cfg(feature = "lang-zig")]
    &ZIG,
];
