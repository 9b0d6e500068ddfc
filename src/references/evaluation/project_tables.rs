//! Fills the tables of all files before any file is joined.

use std::sync::Arc;

use super::evaluate::{Evaluator, ProjectTables};
use super::modules::ModuleTables;
use crate::model::{DefinitionKind, IMPLEMENTED_TYPE, ScopeKind};
use crate::references::lookup::Fixtures;
use crate::references::project::{ProjectIndex, Site};
use crate::references::values::{Value, ValueSet};

impl<'a> ProjectTables<'a> {
    pub(in crate::references) fn new(index: &'a ProjectIndex<'a>) -> Self {
        let tables = Self {
            modules: Arc::new(ModuleTables::new(index)),
            fixtures: Arc::new(Fixtures::new(index)),
            extensions: Arc::default(),
        };
        let mut evaluator = Evaluator::new(index, tables);
        evaluator.add_implementations();
        evaluator.add_extensions();
        evaluator.add_imported_fixtures();
        let Evaluator { modules, fixtures, extensions, .. } = evaluator;
        Self { modules, fixtures, extensions }
    }
}

/// Returns a table that is still being filled and not yet shared.
pub(in crate::references) fn filling<T>(table: &mut Arc<T>) -> &mut T {
    Arc::get_mut(table).expect("tables are shared when they are complete")
}

impl Evaluator<'_> {
    /// Finds the types that implementations elsewhere add members to.
    fn add_implementations(&mut self) {
        for (id, file) in (0..).zip(self.index.files) {
            for (scope, fact) in (0..).zip(&file.facts.scopes) {
                if fact.kind != ScopeKind::Implementation {
                    continue;
                }
                let Some(implemented) = self.bound_in(Site { file: id, scope }, IMPLEMENTED_TYPE) else {
                    continue;
                };
                // An implementation for a type parameter applies to any type that has the bound.
                let implemented = if implemented.is_complete { implemented } else { continue };
                let implemented = implemented.flat_map(|value| match value {
                    Value::Definition(key) if self.index.definition(key).kind == DefinitionKind::Alias => {
                        self.alias(key)
                    }
                    _ => ValueSet::one(value),
                });
                for value in implemented.values {
                    if let Value::Definition(key) = value {
                        filling(&mut self.modules).add_implementation(key, Site { file: id, scope });
                    }
                }
            }
        }
        self.merge_interfaces();
        // Values that were evaluated on the way did not know the implementations yet.
        self.forget();
    }
}
