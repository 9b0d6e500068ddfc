//! Tables of modules and definitions by language, built once for each join.
//!
//! | table | content |
//! |---|---|
//! | `common_js` | Objects that CommonJS modules export by assignment |
//! | `cpp`, `includes` | Namespaces of C++; the files that C and C++ include |
//! | `fixtures` | Fixtures of pytest, by name |
//! | `go` | Packages of Go |
//! | `java_packages`, `java` | Packages of Java; types of its expressions with their arguments |
//! | `rust`, `rust_extensions` | Modules of Rust; methods that its traits add to types of other projects |
//! | `script`, `script_packages` | Globals of TypeScript; packages of JavaScript by their manifests |

mod common_js;
mod cpp;
mod fixtures;
mod go;
mod includes;
mod java;
mod java_packages;
mod rust;
mod rust_extensions;
mod script;
mod script_packages;

pub(in crate::references) use common_js::{CommonJsModules, is_object, of_named_object};
pub(in crate::references) use cpp::{CppTables, MAX_DECLARATIONS, joined_namespace, outer_namespace};
pub(in crate::references) use fixtures::{
    FixturePlace, Fixtures, classes_around, folders_of, marked_fixtures, place_of_file,
};
pub(in crate::references) use go::{GoPackages, PackageKey};
pub(in crate::references) use includes::IncludePaths;
pub(in crate::references) use java::{
    BOXES, JavaCall, JavaSignature, JavaTables, JavaType, JavaTyped, has_parameters, is_same_erased,
    lambda_parameters, promoted, result_of_operation, substituted, type_of_language, unboxed,
};
pub(in crate::references) use java_packages::JavaPackages;
pub(in crate::references) use rust::{Namespace, RustModules, child_of_folder, fits, module_scope};
pub(in crate::references) use rust_extensions::{Extension, ExtensionPlace, RustExtensions};
pub(in crate::references) use script::{CONTAINERS, ScriptGlobals, bindings_in};
pub(in crate::references) use script_packages::{ScriptPackages, best_pattern, manifest_keys, relative_path};
