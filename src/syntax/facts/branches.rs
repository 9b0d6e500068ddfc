//! The branches of statements of Python that definitions and imports are in.

use rustc_hash::FxHashMap;

use crate::model::{DefinitionId, NameId, ScopeId};

/// A branch of a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Branch {
    /// Where the statement begins.
    pub(super) statement: usize,
    /// Where the branch does.
    pub(super) start: usize,
}

/// What binds a name in a branch: a definition, or an import, with the branches around it.
pub(super) type BranchBinding = (Option<DefinitionId>, Vec<Branch>);

/// The branches around the definitions of a file.
#[derive(Default)]
pub(super) struct Branches {
    /// Those around the current node, within the function or the class that it is in.
    pub(super) open: Vec<Branch>,
    /// The definitions and imports that are in some.
    pub(super) bindings: FxHashMap<(ScopeId, NameId), Vec<BranchBinding>>,
}
