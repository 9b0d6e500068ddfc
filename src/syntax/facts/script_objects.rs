//! JavaScript: what a walk remembers of objects whose members are assigned to them, and of what is around a node.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{ExpressionId, NameId, ScopeId};

/// The objects of a file of JavaScript whose members are assigned to them.
#[derive(Default)]
pub(super) struct ScriptObjects<'t> {
    /// Whether the file exports by statements of ECMAScript, so that `exports` is a name like others.
    pub(super) has_export_statements: bool,
    /// The scope of the exports, once there are some.
    pub(super) exports: Option<ScopeId>,
    /// The scope of the members of each object of the file's scope; the file's own until the object is declared.
    pub(super) members: FxHashMap<NameId, ScopeId>,
    /// The scopes of arrow functions, in which `this` is that of what is around them.
    pub(super) arrows: FxHashSet<ScopeId>,
    /// The scopes of static methods, in which `this` is the type.
    pub(super) statics: FxHashSet<ScopeId>,
    /// What has been assigned.
    pub(super) assigned: FxHashSet<(ScopeId, NameId)>,
    /// The uses of parts of objects in patterns, with the variables that get them.
    pub(super) parts: Vec<(usize, NameId)>,
    /// What the place of the node that is visited next says about its value.
    pub(super) context: ExpressionId,
    /// The type parameters of the types of functions that are being read.
    pub(super) own_types: Vec<&'t str>,
    /// The scope of the names that `infer` introduces in the condition that is being read.
    pub(super) inferred: Option<ScopeId>,
    /// What the function around returns, by its declaration or its context.
    pub(super) returned: ExpressionId,
}

impl ScriptObjects<'_> {
    /// Returns the context of the node that is visited, which is not that of what is in it.
    pub(super) fn take_context(&mut self) -> ExpressionId {
        std::mem::take(&mut self.context)
    }
}
