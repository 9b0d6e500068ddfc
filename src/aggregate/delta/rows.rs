//! Groups symbols in rows: several of the same container below its name.

use std::collections::BTreeMap;

use super::version::{FileVersion, clip};

/// The maximum number of symbols of one container that are listed below it.
const FEW_SIBLINGS: usize = 3;

/// A symbol in a row of a delta.
pub(super) struct SymbolEntry {
    pub(super) at: usize,
    /// Its signature; empty if it is only named.
    pub(super) head: String,
    pub(super) suffix: String,
}

/// Returns symbols in rows: several of the same container below its name, the others by their qualified names.
pub(super) fn rows(version: &FileVersion<'_>, entries: Vec<SymbolEntry>, separator: &str) -> Vec<String> {
    let mut siblings: BTreeMap<Option<usize>, Vec<SymbolEntry>> = BTreeMap::new();
    for entry in entries {
        siblings.entry(version.heads[entry.at].parent).or_default().push(entry);
    }
    let mut single = Vec::new();
    let mut rows = Vec::new();
    for (parent, entries) in siblings {
        match parent {
            Some(parent) if FEW_SIBLINGS <= entries.len() => {
                let texts = entries.iter().map(|entry| {
                    let name = &version.heads[entry.at].name;
                    let head = if entry.head.is_empty() { clip(name) } else { entry.head.clone() };
                    head + &entry.suffix
                });
                let texts: Vec<String> = texts.collect();
                rows.push(format!("in {}: {}", version.name(parent), texts.join(separator)));
            }
            _ => single.extend(entries),
        }
    }
    single.sort_by_key(|entry| entry.at);
    let single: Vec<String> = single.iter().map(|entry| qualified_head(version, entry)).collect();
    if !single.is_empty() {
        rows.insert(0, single.join(separator));
    }
    rows
}

/// Returns the signature of a symbol, or its name, qualified with the names of its containers.
fn qualified_head(version: &FileVersion<'_>, entry: &SymbolEntry) -> String {
    let (name, qualified) = (&version.heads[entry.at].name, version.name(entry.at));
    let head = match entry.head.find(name.as_str()) {
        _ if entry.head.is_empty() => qualified,
        _ if entry.head.contains(&qualified) => entry.head.clone(),
        Some(found) if !name.is_empty() => {
            let (before, rest) = entry.head.split_at(found);
            format!("{before}{qualified}{}", &rest[name.len()..])
        }
        Some(_) | None => format!("{qualified}: {}", entry.head),
    };
    head + &entry.suffix
}

/// Returns the marked symbols that are not inside another marked one, each with the marked symbols inside it.
pub(super) fn outermost(version: &FileVersion<'_>, marked: &[bool]) -> Vec<(usize, Vec<usize>)> {
    let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut group_of: Vec<Option<usize>> = vec![None; marked.len()];
    for (at, is_marked) in marked.iter().enumerate() {
        if !is_marked {
            continue;
        }
        if let Some(group) = version.heads[at].parent.and_then(|parent| group_of[parent]) {
            group_of[at] = Some(group);
            found[group].1.push(at);
        } else {
            group_of[at] = Some(found.len());
            found.push((at, Vec::new()));
        }
    }
    found
}
