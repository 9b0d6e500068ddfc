//! Where the files of an agent are on this machine.

use std::path::{Path, PathBuf};

use super::agents::{AgentFiles, CodingAgent, UserPath};
use super::entry::InstallScope;
use super::error::Error;
use crate::sys::RealDisk;

/// The base folders of the agents' paths.
pub struct InstallPlaces<'e> {
    /// The project's folder, without links.
    pub project: &'e Path,
    pub home: Option<&'e Path>,
    /// Returns the folder in an environment variable.
    pub variable: &'e dyn Fn(&str) -> Option<PathBuf>,
    /// The folder for the records of what was written.
    pub records: &'e Path,
}

impl InstallPlaces<'_> {
    /// Returns whether the agent has been used on this machine or in this project.
    pub fn has_agent(&self, agent: &CodingAgent) -> bool {
        let in_home = self.user_path(&agent.sign).is_ok_and(|folder| folder.is_dir());
        let files = agent.servers.project.iter().chain(agent.skills.project);
        // `.agents` belongs to no particular agent.
        let own = files.filter(|file| !file.starts_with(".agents/"));
        in_home || own.into_iter().any(|file| first_part(self.project, file).exists())
    }

    /// Returns the file for one purpose; `None` if the agent has none in this scope.
    pub(super) fn file(&self, files: &AgentFiles, scope: InstallScope) -> Result<Option<PathBuf>, Error> {
        let candidates: Vec<PathBuf> = match scope {
            InstallScope::Project => files.project.iter().map(|file| self.project.join(file)).collect(),
            InstallScope::User => {
                files.user.iter().map(|path| self.user_path(path)).collect::<Result<_, _>>()?
            }
        };
        let existing = candidates.iter().find(|path| path.exists());
        let Some(path) = existing.or(candidates.first()) else { return Ok(None) };
        self.check(path, scope)?;
        Ok(Some(path.clone()))
    }

    fn user_path(&self, path: &UserPath) -> Result<PathBuf, Error> {
        let named = (!path.variable.is_empty()).then(|| (self.variable)(path.variable)).flatten();
        let folder = match named.filter(|folder| folder.is_absolute()) {
            Some(folder) => folder,
            None => self.home.ok_or(Error::NoHome)?.join(path.folder),
        };
        Ok(if path.file.is_empty() { folder } else { folder.join(path.file) })
    }

    /// Rejects dangling links, and in a project those that lead out of it, because the user who checked it out did not
    /// choose them.
    fn check(&self, path: &Path, scope: InstallScope) -> Result<(), Error> {
        if let Some(link) = path.ancestors().find(|above| above.is_symlink() && !above.exists()) {
            return Err(Error::DanglingLink { path: link.to_owned() });
        }
        if scope == InstallScope::User {
            return Ok(());
        }
        let existing = path.ancestors().find_map(|above| dunce::canonicalize(above).ok());
        let is_inside = existing.is_some_and(|existing| existing.starts_with(self.project));
        if is_inside { Ok(()) } else { Err(Error::OutsideProject { path: path.to_owned() }) }
    }
}

/// Returns the path of the first component of `file` in a folder.
fn first_part(folder: &Path, file: &str) -> PathBuf {
    folder.join(file.split('/').next().unwrap_or(file))
}

/// Returns the missing folders above a file, innermost first.
pub(super) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1);
    above.take_while(|folder| RealDisk.identity(folder).is_none()).map(Path::to_owned).collect()
}
