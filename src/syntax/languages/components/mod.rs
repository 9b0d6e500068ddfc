//! Single-file components of Vue, Svelte and Astro: scripts in TypeScript between a template and styles.
//!
//! An outline has the symbols of the scripts, and one symbol for the template, each style and each other block, which a
//! skeleton cuts. For facts, the expressions of the template are statements of the script, because that is where their
//! names are defined.
//!
//! | file | what it does |
//! |---|---|
//! | `sections` | Finds the parts of a component |
//! | `statements` | Makes a script of a component and the expressions of its template |
//! | `table` | The languages, which use both |

mod sections;
mod statements;
mod table;

pub(super) use table::{ASTRO, SVELTE, VUE};
