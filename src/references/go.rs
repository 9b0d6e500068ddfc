//! Go: names of packages.

use super::evaluation::Evaluator;
use super::lookup::PackageKey;
use super::project::{FileId, Site};
use super::values::{Value, ValueSet};

impl Evaluator<'_> {
    /// Returns the folder of a Go file.
    pub(super) fn folder_of_file(&self, file: FileId) -> Option<u32> {
        self.modules.go.package(file).map(|(folder, _)| folder)
    }

    /// Returns the package of an import path.
    pub(super) fn go_import(&self, path: &str) -> ValueSet {
        match self.modules.go.folder(self.index, path) {
            Some((folder, is_declared)) => {
                ValueSet { values: vec![Value::Folder(folder)], is_complete: is_declared }
            }
            None => ValueSet::FOREIGN,
        }
    }

    /// Returns a name of a folder's importable package.
    pub(super) fn go_member(&mut self, folder: u32, name: &str) -> Option<ValueSet> {
        let package = self.modules.go.exported(folder)?;
        Some(self.go_package_member(package, name).unwrap_or(ValueSet::FOREIGN))
    }

    /// Returns a name of the package of a file.
    pub(super) fn go_outside(&mut self, file: FileId, name: &str) -> Option<ValueSet> {
        let key = self.modules.go.package(file)?;
        self.go_package_member(key, name)
    }

    fn go_package_member(&mut self, key: PackageKey<'_>, name: &str) -> Option<ValueSet> {
        let files = self.modules.go.files(key, name)?.to_vec();
        let mut found = ValueSet::FOREIGN;
        for file in files {
            if let Some(bound) = self.bound_in(Site { file, scope: 0 }, name) {
                found.merge(bound);
            }
        }
        Some(found)
    }
}
