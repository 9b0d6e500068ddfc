//! Records of what was written where, so that all of it can be removed again.
//!
//! Each edited file has one record in the folder for the user's state, readable only by the user, because it contains
//! the file's original bytes. A record is written before its file, and deleted after it: wherever a run is interrupted,
//! the next one finds the file in one of the two recorded states.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::edit::{has_entry, remove_entries};
use super::entry::{ConfigEntry, EntryKind, InstallScope};
use super::error::Error;
use super::places::InstallPlaces;
use super::plan::FileChange;
use crate::model::{ContentHash, path_bytes};
use crate::sys::{Disk, RealDisk};

/// The record of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileRecord {
    pub(super) path: PathBuf,
    pub(super) scope: InstallScope,
    /// The project's folder, for files of a project.
    pub(super) project: Option<PathBuf>,
    /// The original bytes of the file in base64; `None` if it did not exist.
    before: Option<String>,
    /// The SHA-256 of the written bytes.
    after: String,
    /// The folders that were created for it, innermost first.
    pub(super) folders: Vec<PathBuf>,
    pub(super) entries: Vec<OwnedEntry>,
}

/// An entry, and the agents for which it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OwnedEntry {
    pub(super) agents: Vec<String>,
    pub(super) entry: ConfigEntry,
}

/// A file that slop has edited.
#[derive(Debug)]
pub struct InstalledFile {
    pub path: PathBuf,
    pub scope: InstallScope,
    pub project: Option<PathBuf>,
    /// The agents that read it.
    pub agents: Vec<String>,
    /// The programs that it names.
    pub programs: Vec<String>,
    /// The entries that are no longer in the file; why that is unknown if the file cannot be parsed.
    pub missing: Result<Vec<String>, Error>,
}

impl FileRecord {
    pub(super) fn new(
        path: &Path,
        (scope, project): (InstallScope, &Path),
        (before, after): (Option<&[u8]>, &[u8]),
        folders: Vec<PathBuf>,
        entries: Vec<OwnedEntry>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            scope,
            project: (scope == InstallScope::Project).then(|| project.to_owned()),
            before: before.map(|bytes| STANDARD.encode(bytes)),
            after: ContentHash::digest(after).to_string(),
            folders,
            entries,
        }
    }

    pub(super) fn bytes_before(&self) -> Option<Vec<u8>> {
        self.before.as_ref().and_then(|before| STANDARD.decode(before).ok())
    }

    /// Returns the bytes of the file without slop's entries: the original bytes if it was not edited since.
    pub(super) fn bytes_without(&self, current: Option<&[u8]>) -> Result<Option<Vec<u8>>, Error> {
        let before = self.bytes_before();
        match current {
            None => Ok(None),
            Some(current) if ContentHash::digest(current).to_string() == self.after => Ok(before),
            Some(current) if before.as_deref() == Some(current) => Ok(before),
            Some(current) => {
                let entries: Vec<_> = self.entries.iter().map(|owned| owned.entry.clone()).collect();
                remove_entries(&self.path, current, before.as_deref(), &entries)
            }
        }
    }

    fn missing_entries(&self) -> Result<Vec<String>, Error> {
        let bytes = read(&self.path)?;
        let mut missing = Vec::new();
        for OwnedEntry { entry, .. } in &self.entries {
            let is_there = match &bytes {
                Some(bytes) => has_entry(&self.path, bytes, entry)?,
                None => false,
            };
            if !is_there {
                missing.push(entry.name());
            }
        }
        // A list may lack several elements.
        missing.dedup();
        Ok(missing)
    }

    fn installed(self) -> InstalledFile {
        let missing = self.missing_entries();
        let mut agents: Vec<String> = self.entries.iter().flat_map(|owned| owned.agents.clone()).collect();
        agents.sort();
        agents.dedup();
        let programs = self.entries.iter().filter_map(|owned| program_of(&owned.entry)).collect();
        InstalledFile { path: self.path, scope: self.scope, project: self.project, agents, programs, missing }
    }
}

/// Returns the program that a server's entry names.
fn program_of(entry: &ConfigEntry) -> Option<String> {
    let command = entry.value.get("command").filter(|_| entry.kind == EntryKind::Property)?;
    let program = command.as_str().or_else(|| command.get(0)?.as_str());
    program.map(str::to_owned)
}

/// Returns all files that slop has edited.
pub fn installed_files(records: &Path) -> Result<Vec<InstalledFile>, Error> {
    Ok(read_records(records)?.into_iter().map(FileRecord::installed).collect())
}

/// Applies one change atomically.
pub fn apply(change: &FileChange, places: &InstallPlaces<'_>) -> Result<(), Error> {
    let path = &change.path;
    let write_error = |source| Error::Write { path: path.clone(), source };
    let record_file = record_path(places.records, path);
    RealDisk.create_private_folder(places.records).map_err(write_error)?;
    let _lock = RealDisk.lock_folder(places.records).map_err(write_error)?;
    if read(path)? != change.current {
        return Err(Error::Changed { path: path.clone() });
    }
    let record_before = read(&record_file)?;
    if let Some(record) = &change.record {
        let json = serde_json::to_vec_pretty(record)
            .map_err(|source| Error::Record { path: record_file.clone(), source })?;
        RealDisk.replace_private(&record_file, &json).map_err(write_error)?;
    }
    let written = match (&change.current, &change.new) {
        (current, new) if current == new => Ok(()),
        (None, Some(new)) => RealDisk.create_new(path, new),
        (Some(_), Some(new)) => RealDisk.replace(path, new),
        (_, None) => RealDisk.unlink(path),
    };
    if change.record.is_none() || written.is_err() {
        for folder in &change.folders {
            // A folder that is not empty is kept.
            let _ = RealDisk.remove_empty_folder(folder);
        }
    }
    if let Err(source) = written {
        // If that fails too, the record is like one of a run that was interrupted before the file was written.
        let _ = match record_before {
            Some(bytes) => RealDisk.replace_private(&record_file, &bytes),
            None => RealDisk.unlink(&record_file),
        };
        return Err(write_error(source));
    }
    if change.record.is_none() && record_file.exists() {
        RealDisk.unlink(&record_file).map_err(write_error)?;
    }
    Ok(())
}

pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    RealDisk.read(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

pub(super) fn read_record(records: &Path, path: &Path) -> Result<Option<FileRecord>, Error> {
    let file = record_path(records, path);
    read(&file)?.map(|bytes| decode(&file, &bytes)).transpose()
}

/// Returns all records, by path.
pub(super) fn read_records(records: &Path) -> Result<Vec<FileRecord>, Error> {
    let names = RealDisk.entry_names(records);
    let names = names.map_err(|source| Error::Read { path: records.to_owned(), source })?;
    let files = names.iter().map(|name| records.join(name));
    let mut found = Vec::new();
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        if let Some(bytes) = read(&file)? {
            found.push(decode(&file, &bytes)?);
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

fn decode(file: &Path, bytes: &[u8]) -> Result<FileRecord, Error> {
    serde_json::from_slice(bytes).map_err(|source| Error::Record { path: file.to_owned(), source })
}

fn record_path(records: &Path, path: &Path) -> PathBuf {
    let name = ContentHash::digest(path_bytes(path));
    records.join(format!("{name}.json"))
}
