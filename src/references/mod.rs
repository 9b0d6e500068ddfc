//! Joins the facts of all files into references: the definition that each use of a name refers to, and how certain that
//! is.
//!
//! Knows: the scopes, imports, inheritance and types of each language, as far as they decide what a name means. Does
//! not know: texts, syntax trees, the cache. It needs no compiler, no build and no compilation database.
//!
//! | part | responsibility |
//! |---|---|
//! | `project` | The files of a project, and lookups of files and definitions by name |
//! | `values` | What an expression may be: a type, a value of a type, a module |
//! | `lookup` | Tables of modules and definitions, by language |
//! | `evaluation` | Evaluates expressions to values |
//! | `found` | References with their grades, and unresolved uses |
//! | `common_members` | Names of members that standard libraries have too |
//! | `python`, `rust`, `java`, `script`, `cpp`, `go` | What only these languages have; `script` is JavaScript and TypeScript |
//! | `joining` | Joins uses to references |
//! | `codec` | Encodes and decodes facts |
//!
//! Folders import only parts above them. Start with [`find_references`].

mod codec;
mod common_members;
mod cpp;
mod evaluation;
mod found;
mod go;
mod java;
mod joining;
mod lookup;
mod project;
mod python;
mod rust;
mod script;
mod values;

#[cfg(test)]
mod tests;

pub use codec::{decode_facts, encode_facts};
pub use evaluation::InheritedDefinition;
pub use found::{ProjectReferences, Reference, ReferenceGrade, UnresolvedUse};
pub use joining::find_changed_references;
pub use joining::find_references;
pub use project::ProjectFile;
