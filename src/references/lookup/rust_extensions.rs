//! Rust: the methods that traits add to types of other projects.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::references::project::DefinitionKey;

/// The methods of traits by their names.
#[derive(Default)]
pub(in crate::references) struct RustExtensions<'a> {
    pub(in crate::references) by_name: FxHashMap<&'a str, Vec<Extension<'a>>>,
    /// The types of other projects that each trait is implemented for, and `*` for any type.
    pub(in crate::references) implemented: FxHashMap<DefinitionKey, FxHashSet<&'a str>>,
    /// The functions of implementations of foreign traits for foreign types, by their names, each with the name of the
    /// type.
    pub(in crate::references) conversions: FxHashMap<&'a str, Vec<(DefinitionKey, &'a str)>>,
}

/// A method of a trait, in the trait or in one of its implementations.
#[derive(Clone, Copy)]
pub(in crate::references) struct Extension<'a> {
    pub(in crate::references) method: DefinitionKey,
    pub(in crate::references) of_trait: DefinitionKey,
    pub(in crate::references) place: ExtensionPlace<'a>,
}

/// Where a method of a trait is defined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::references) enum ExtensionPlace<'a> {
    /// The trait itself.
    Trait,
    /// The implementation for a type of another project, by the type's name.
    Foreign(&'a str),
    /// The implementation for any type.
    Blanket,
}
