//! Rust: the methods that traits add to types of other projects.

use rustc_hash::{FxHashMap, FxHashSet};

use super::project::DefinitionKey;

/// The methods of traits by their names.
#[derive(Default)]
pub(super) struct RustExtensions<'a> {
    pub(super) by_name: FxHashMap<&'a str, Vec<Extension<'a>>>,
    /// The types of other projects that each trait is implemented for, and `*` for any type.
    pub(super) implemented: FxHashMap<DefinitionKey, FxHashSet<&'a str>>,
    /// The functions of implementations of foreign traits for foreign types, by their names, each with the name of the
    /// type.
    pub(super) conversions: FxHashMap<&'a str, Vec<(DefinitionKey, &'a str)>>,
}

/// A method of a trait, in the trait or in one of its implementations.
#[derive(Clone, Copy)]
pub(super) struct Extension<'a> {
    pub(super) method: DefinitionKey,
    pub(super) of_trait: DefinitionKey,
    pub(super) place: ExtensionPlace<'a>,
}

/// Where a method of a trait is defined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExtensionPlace<'a> {
    /// The trait itself.
    Trait,
    /// The implementation for a type of another project, by the type's name.
    Foreign(&'a str),
    /// The implementation for any type.
    Blanket,
}
