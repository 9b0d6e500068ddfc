//! Where a document is written to.

use std::io;
use std::path::Path;
use std::path::PathBuf;

use super::error::Error;
use super::project::Project;

/// Another process may take a number first; so often the next one is tried.
const TRIES: usize = 1000;

impl Project<'_> {
    /// Writes a document to `{folder}/{name}_{NNN}.{extension}` and returns the path. The number is one higher than
    /// the highest there is, at least three digits, and belongs to this document alone.
    pub fn write_numbered(
        &self,
        folder: &Path,
        name: &str,
        extension: &str,
        text: &str,
    ) -> Result<PathBuf, Error> {
        let folder = self.root.join(folder);
        let disk = self.world.disk;
        let names = disk.names(&folder).map_err(|source| Error::Write { path: folder.clone(), source })?;
        let taken = names.iter().filter_map(|file| number_of(file.to_str()?, name)).max().unwrap_or(0);
        let mut path = folder.clone();
        for number in (taken + 1..).take(TRIES) {
            path = folder.join(format!("{name}_{number:03}.{extension}"));
            match disk.create_new(&path, text.as_bytes()) {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(Error::Write { path, source }),
            }
        }
        let source = io::Error::new(io::ErrorKind::AlreadyExists, "every number tried was taken");
        Err(Error::Write { path, source })
    }

    /// Writes a document in place of whatever is there, whole or not at all.
    pub fn write_file(&self, path: &Path, text: &str) -> Result<(), Error> {
        let written = self.world.disk.replace(path, text.as_bytes());
        written.map_err(|source| Error::Write { path: path.to_owned(), source })
    }
}

/// Returns the number in `{name}_{NNN}.{extension}`.
fn number_of(file: &str, name: &str) -> Option<u64> {
    let rest = file.strip_prefix(name)?.strip_prefix('_')?;
    let (number, _) = rest.split_once('.')?;
    if number.len() < 3 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    number.parse().ok().filter(|number| *number < u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::number_of;

    #[test]
    fn only_names_that_slop_wrote_count() {
        assert_eq!(number_of("app_007.md", "app"), Some(7));
        assert_eq!(number_of("app_1234.json", "app"), Some(1234));
        assert_eq!(number_of("app_x_007.md", "app"), None);
        assert_eq!(number_of("app_07.md", "app"), None);
        assert_eq!(number_of("app_007", "app"), None);
    }
}
