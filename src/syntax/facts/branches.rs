//! The branches of Python statements that contain definitions and imports.

use rustc_hash::FxHashMap;

use crate::model::{DefinitionId, NameId, ScopeId};

/// A branch of a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Branch {
    /// The start of the statement.
    pub(super) statement: usize,
    /// The start of the branch.
    pub(super) start: usize,
}

/// A binding in a branch: a definition, or `None` for an import, with the branches around it.
pub(super) type BranchBinding = (Option<DefinitionId>, Vec<Branch>);

/// The branches around the definitions of a file.
#[derive(Default)]
pub(super) struct Branches {
    /// Those around the current node, within its function or class.
    pub(super) open: Vec<Branch>,
    /// The definitions and imports in branches.
    pub(super) bindings: FxHashMap<(ScopeId, NameId), Vec<BranchBinding>>,
}
