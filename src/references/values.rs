//! The possible values of an expression.

use super::project::{DefinitionKey, FileId, Site};
use crate::model::ExpressionId;

/// With more alternatives than this, none is worth following.
pub(super) const MAX_ALTERNATIVES: usize = 8;

/// One possible value of an expression, as far as the project defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Value {
    /// A definition itself: a type, a function.
    Definition(DefinitionKey),
    /// A value of a type.
    Instance(DefinitionKey),
    /// The bases of a type, as by `super`.
    Super(DefinitionKey),
    /// The module that a file is.
    Module(FileId),
    /// A folder of modules.
    Folder(u32),
    /// A package of Java.
    Package(u32),
    /// A namespace of C++.
    Namespace(u32),
    /// A value of another project's type. The expression is an `Apply`, or, in Rust, a type without arguments.
    Generic { site: Site, expression: ExpressionId },
    /// The entries of a dictionary of such a type, or one of them.
    Entries { site: Site, expression: ExpressionId },
}

/// All possible values of an expression. If it is complete and empty, the value belongs to another project or to the
/// language itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValueSet {
    pub(super) values: Vec<Value>,
    /// Whether it can be nothing else of this project.
    pub(super) is_complete: bool,
}

impl ValueSet {
    pub(super) const UNKNOWN: Self = Self { values: Vec::new(), is_complete: false };
    pub(super) const FOREIGN: Self = Self { values: Vec::new(), is_complete: true };

    pub(super) fn one(value: Value) -> Self {
        Self { values: vec![value], is_complete: true }
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.values.is_empty() && !self.is_complete
    }

    /// Adds the alternatives of another set.
    pub(super) fn merge(&mut self, other: Self) {
        self.is_complete &= other.is_complete;
        for value in other.values {
            if self.values.contains(&value) {
                continue;
            }
            if MAX_ALTERNATIVES <= self.values.len() {
                self.is_complete = false;
                return;
            }
            self.values.push(value);
        }
    }

    /// Returns the union of the results of `step` for all alternatives.
    pub(super) fn flat_map(self, mut step: impl FnMut(Value) -> Self) -> Self {
        let mut result = Self { values: Vec::new(), is_complete: self.is_complete };
        for value in self.values {
            result.merge(step(value));
        }
        result
    }
}
