//! Joins the facts of all files into references: which definition each use of a name means, and how sure that is.
//!
//! Knows: the scopes, imports, inheritance and types of each language, as far as they decide what a name means. Does not
//! know: texts, trees, the cache. No compiler, no build and no list of commands is consulted.
//!
//! | part | what it does |
//! |---|---|
//! | `project` | The files of a project, and what finds a file or a definition by its name |
//! | `project_tables` | Fills the tables of what is known of all files before one of them is joined |
//! | `modules` | What an import means, by language |
//! | `values` | What an expression may be: a type, a value of a type, a module |
//! | `evaluate` | Expressions to values |
//! | `calls` | Calls to values |
//! | `instances` | Types to their values |
//! | `containers` | Elements of containers, parts of tuples, contents of wrappers |
//! | `members` | Members of types, of their bases, and of modules |
//! | `receivers` | What inherited members of Python give on the type that they are used on |
//! | `fixtures` | Fixtures of pytest by their names, with their `fixture_uses` by the parameters of tests |
//! | `variables` | What variables of modules of Python contain, for those that use them |
//! | `inheritance` | Types and members that stand in for those that they inherit |
//! | `rust` | Namespaces and paths of Rust, with its `rust_modules` and what its `rust_library` does with types |
//! | `rust_calls` | What calls of Rust give: of methods, closures and macros, and of implementations by their argument |
//! | `rust_extensions` | Methods that traits of Rust add to types of other projects, with its `rust_extension_tables` |
//! | `go` | Names of Go, with its `go_packages` |
//! | `common_js` | Exports of JavaScript that are assigned, and members of its objects, with its `common_js_modules` |
//! | `script_modules` | Files that a module's name means in JavaScript and TypeScript, with the `script_packages` of manifests |
//! | `script_types` | Types of functions of TypeScript and their parameters, with the `script_globals` that no import names and their `script_tables` |
//! | `c` | Names of C, which need no values |
//! | `includes` | The files that C and C++ include |
//! | `cpp` | Namespaces and bare names of C++, with its `cpp_tables` and `cpp_containers` |
//! | `java` | Bare names of Java, with its `java_packages` |
//! | `java_types` | Types of expressions of Java with their arguments, in `java_tables`, with what is known of its `java_library` |
//! | `java_calls` | Overloads of Java, chosen by what `java_fits` says of their parameters |
//! | `common_members` | Names of members that standard libraries have too |
//! | `codec` | Facts to bytes and back |
//! | `join` | Uses to references |
//! | `found` | References with their grades, and uses without a reading |
//! | `by_name` | What a use may mean by its name alone |
//! | `edits` | The references of changed files alone, where others see the same of them |
//!
//! Start with [`find_references`].

mod by_name;
mod c;
mod calls;
mod codec;
mod common_js;
mod common_js_modules;
mod common_members;
mod containers;
mod cpp;
mod cpp_containers;
mod cpp_tables;
mod edits;
mod evaluate;
mod fixture_uses;
mod fixtures;
mod found;
mod go;
mod go_packages;
mod includes;
mod inheritance;
mod instances;
mod java;
mod java_calls;
mod java_fits;
mod java_library;
mod java_packages;
mod java_tables;
mod java_types;
mod join;
mod members;
mod modules;
mod project;
mod project_tables;
mod receivers;
mod rust;
mod rust_calls;
mod rust_extension_tables;
mod rust_extensions;
mod rust_library;
mod rust_modules;
mod script_globals;
mod script_modules;
mod script_packages;
mod script_tables;
mod script_types;
mod values;
mod variables;

#[cfg(test)]
mod tests;

pub use codec::{decode_facts, encode_facts};
pub use edits::find_changed_references;
pub use found::{ProjectReferences, Reference, ReferenceGrade, UnresolvedUse};
pub use inheritance::InheritedDefinition;
pub use join::find_references;
pub use project::ProjectFile;
