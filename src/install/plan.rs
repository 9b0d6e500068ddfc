//! Plans the changes of an installation, file by file. Nothing is written before all changes are known to be possible.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::agents::CodingAgent;
use super::edit::insert_entries;
use super::entry::{ConfigEntry, InstallScope};
use super::error::Error;
use super::places::{InstallPlaces, missing_folders};
use super::record::{FileRecord, OwnedEntry, read, read_record, read_records};

/// The planned change of one file.
#[derive(Debug)]
pub struct FileChange {
    pub path: PathBuf,
    /// The file that the path leads to, if it is a link.
    pub target: Option<PathBuf>,
    pub agents: Vec<String>,
    /// The current bytes of the file; `None` if it does not exist.
    pub current: Option<Vec<u8>>,
    /// The new bytes of the file; `None` to delete it.
    pub new: Option<Vec<u8>>,
    /// The entries that are not written because a different one exists.
    pub kept: Vec<String>,
    /// The record to store; `None` if nothing of slop is left in the file.
    pub(super) record: Option<FileRecord>,
    /// The folders to delete if they are empty.
    pub(super) folders: Vec<PathBuf>,
}

impl FileChange {
    /// Returns whether the bytes of the file change.
    pub fn is_change(&self) -> bool {
        self.current != self.new
    }
}

/// Returns the changes that install slop for these agents, replacing earlier installations for them.
pub fn plan_install(
    agents: &[&CodingAgent],
    scope: InstallScope,
    program: &str,
    places: &InstallPlaces<'_>,
) -> Result<Vec<FileChange>, Error> {
    let mut wanted: BTreeMap<PathBuf, Vec<OwnedEntry>> = BTreeMap::new();
    for agent in agents {
        for (files, entry) in agent.entries(program) {
            if let Some(path) = places.file(files, scope)? {
                add_owner(wanted.entry(path).or_default(), agent.name, entry);
            }
        }
    }
    let names: Vec<&str> = agents.iter().map(|agent| agent.name).collect();
    let plan = |(path, entries): (&PathBuf, &Vec<OwnedEntry>)| {
        let record = read_record(places.records, path)?;
        let folders = record.as_ref().map_or_else(|| missing_folders(path), |record| record.folders.clone());
        let mut all = record.as_ref().map_or_else(Vec::new, |record| others(record, &names));
        for OwnedEntry { agents, entry } in entries {
            for agent in agents {
                add_owner(&mut all, agent, entry.clone());
            }
        }
        plan_file(path, scope, record.as_ref(), all, folders, places)
    };
    wanted.iter().map(plan).collect()
}

/// Returns the changes that remove slop for these agents, or for all if none are named: from the user's files, and from
/// those of one project or of all. A file that cannot be edited does not stop the others.
pub fn plan_uninstall(
    agents: &[&CodingAgent],
    scope: Option<InstallScope>,
    places: &InstallPlaces<'_>,
) -> Result<Vec<Result<FileChange, Error>>, Error> {
    let names: Vec<&str> = agents.iter().map(|agent| agent.name).collect();
    let is_meant = |record: &FileRecord| {
        let is_named = |owned: &OwnedEntry| owned.agents.iter().any(|agent| names.contains(&agent.as_str()));
        let is_here = record.project.as_deref().is_none_or(|project| project == places.project);
        is_here
            && scope.is_none_or(|scope| record.scope == scope)
            && (names.is_empty() || record.entries.iter().any(is_named))
    };
    let records = read_records(places.records)?;
    let plan = |record: &FileRecord| {
        let left = if names.is_empty() { Vec::new() } else { others(record, &names) };
        plan_file(&record.path, record.scope, Some(record), left, record.folders.clone(), places)
    };
    Ok(records.iter().filter(|record| is_meant(record)).map(plan).collect())
}

/// Plans the change of a file to exactly these entries of slop.
fn plan_file(
    path: &Path,
    scope: InstallScope,
    record: Option<&FileRecord>,
    entries: Vec<OwnedEntry>,
    folders: Vec<PathBuf>,
    places: &InstallPlaces<'_>,
) -> Result<FileChange, Error> {
    let current = read(path)?;
    let before = match record {
        Some(record) => record.bytes_without(current.as_deref())?,
        None => current.clone(),
    };
    let plain: Vec<ConfigEntry> = entries.iter().map(|owned| owned.entry.clone()).collect();
    let inserted = insert_entries(path, before.as_deref(), &plain)?;
    let mut agents: Vec<String> = entries.iter().flat_map(|owned| owned.agents.clone()).collect();
    agents.extend(record.iter().flat_map(|record| &record.entries).flat_map(|owned| owned.agents.clone()));
    agents.sort();
    agents.dedup();
    let added: Vec<OwnedEntry> =
        entries.into_iter().filter(|owned| inserted.added.contains(&owned.entry)).collect();
    let record = match &inserted.bytes {
        Some(after) if !added.is_empty() => {
            let versions = (before.as_deref(), after.as_slice());
            Some(FileRecord::new(path, (scope, places.project), versions, folders.clone(), added))
        }
        Some(_) | None => None,
    };
    let refused = inserted.refused.iter();
    let new = if record.is_some() { inserted.bytes } else { before };
    let target = path.is_symlink().then(|| dunce::canonicalize(path).ok()).flatten();
    Ok(FileChange {
        path: path.to_owned(),
        target,
        agents,
        current,
        new,
        kept: refused.map(ConfigEntry::name).collect(),
        record,
        folders,
    })
}

/// Returns the entries of a record that other agents need.
fn others(record: &FileRecord, names: &[&str]) -> Vec<OwnedEntry> {
    let is_other = |agent: &String| !names.contains(&agent.as_str());
    let entries = record.entries.iter().map(|owned| {
        let agents = owned.agents.iter().filter(|agent| is_other(agent)).cloned().collect();
        OwnedEntry { agents, entry: owned.entry.clone() }
    });
    entries.filter(|owned| !owned.agents.is_empty()).collect()
}

/// Adds an agent to the owners of an entry.
fn add_owner(entries: &mut Vec<OwnedEntry>, agent: &str, entry: ConfigEntry) {
    match entries.iter_mut().find(|owned| owned.entry == entry) {
        Some(owned) => owned.agents.push(agent.to_owned()),
        None => entries.push(OwnedEntry { agents: vec![agent.to_owned()], entry }),
    }
}
