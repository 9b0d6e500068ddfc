//! JavaScript: what a walk remembers of objects whose members are assigned to them.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{NameId, ScopeId};

/// The objects of a file of JavaScript whose members are assigned to them.
#[derive(Default)]
pub(super) struct ScriptObjects {
    /// Whether the file exports by statements of ECMAScript, so that `exports` is a name like others.
    pub(super) has_export_statements: bool,
    /// The scope of the exports, once there are some.
    pub(super) exports: Option<ScopeId>,
    /// The scope of the members of each object of the file's scope; the file's own until the object is declared.
    pub(super) members: FxHashMap<NameId, ScopeId>,
    /// The scopes of arrow functions, in which `this` is that of what is around them.
    pub(super) arrows: FxHashSet<ScopeId>,
    /// What has been assigned.
    pub(super) assigned: FxHashSet<(ScopeId, NameId)>,
}
