//! Evaluates expressions to values, in all languages.
//!
//! | part | responsibility |
//! |---|---|
//! | `evaluate` | Names in their scopes, annotations, attributes |
//! | `modules` | What an import means, by language |
//! | `calls`, `instances` | Calls of values; types to their values |
//! | `members`, `inheritance` | Members of types, of their bases and of modules; overrides and implementations |
//! | `containers` | Elements of containers, parts of tuples, contents of wrappers |
//! | `project_tables` | Fills the tables that the evaluators of all threads share |

mod calls;
mod containers;
mod evaluate;
mod inheritance;
mod instances;
mod members;
mod modules;
mod project_tables;

pub(in crate::references) use evaluate::{Evaluator, ProjectTables, ScopedName};
pub use inheritance::InheritedDefinition;
pub(in crate::references) use modules::{ModuleTables, is_other_name};
pub(in crate::references) use project_tables::filling;
