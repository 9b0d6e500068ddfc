//! Which names a file speaks of.

/// The names of one file, each as the number that `syntax::name_number` gives it; every list ascends and names each
/// once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileReferences {
    /// What it defines for others to use: types, functions, methods, macros, variables of the top level.
    pub defines: Vec<u32>,
    /// Every identifier in it, those in comments and texts too.
    pub uses: Vec<u32>,
    /// What it imports, each by its last name: `path` of `import os.path`, `Python` of `#include "Python.h"`.
    pub imports: Vec<u32>,
}

/// Says whether a name, by its number, could be a plain word of English as well: lower-case letters alone.
pub const fn is_plain_word(name: u32) -> bool {
    name & 1 == 1
}
