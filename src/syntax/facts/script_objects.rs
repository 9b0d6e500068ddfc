//! JavaScript: the state of a walk: objects with assigned members, and the context of a node.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{ExpressionId, NameId, ScopeId};

/// The objects of a JavaScript file with assigned members.
#[derive(Default)]
pub(super) struct ScriptObjects<'t> {
    /// Whether the file is a component, which is what it exports by default.
    pub(super) is_component: bool,
    /// Whether the file uses ECMAScript exports, so that `exports` is an ordinary name.
    pub(super) has_export_statements: bool,
    /// The scope of the exports, once there are some.
    pub(super) exports: Option<ScopeId>,
    /// The scope of the members of each object of the file's scope; the file's own until the object is declared.
    pub(super) members: FxHashMap<NameId, ScopeId>,
    /// The scopes of arrow functions, in which `this` is that of the enclosing scope.
    pub(super) arrows: FxHashSet<ScopeId>,
    /// The scopes of static methods, in which `this` is the type.
    pub(super) statics: FxHashSet<ScopeId>,
    /// The members that have been assigned.
    pub(super) assigned: FxHashSet<(ScopeId, NameId)>,
    /// The uses of parts of objects in patterns, with the variables that they are bound to.
    pub(super) parts: Vec<(usize, NameId)>,
    /// The context of the node that is visited next, as an expression.
    pub(super) context: ExpressionId,
    /// The type parameters of the function types that are being read.
    pub(super) own_types: Vec<&'t str>,
    /// The scope of the names that `infer` introduces in the condition that is being read.
    pub(super) inferred: Option<ScopeId>,
    /// The result of the enclosing function, by its declaration or its context.
    pub(super) returned: ExpressionId,
}

impl ScriptObjects<'_> {
    /// Takes the context of the visited node; it does not apply to its children.
    pub(super) fn take_context(&mut self) -> ExpressionId {
        std::mem::take(&mut self.context)
    }
}
