//! Inspects, verifies, exports and clears the cache.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::cache::ArtifactCache;
use super::derive::{all_producers, producers};
use crate::aggregate::CuratedItems;
use crate::engine::error::Error;
use crate::model::{
    ArtifactKind, ContentHash, FileType, Money, Outline, Producer, RelPath, SECONDS_A_DAY, error_chain,
};
use crate::store::agent::{AGENT_DATABASE, AgentDb, AgentDbSize, OpenedAgentDb, StoredSummary};
use crate::store::{
    ClearScope, DeletedRows, Error as StoreError, FileRow, IntegrityReport, Store, StoreSize, StoredFileState,
};
use crate::sys::Files;
use crate::{aggregate, discover, store};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheStatus {
    pub size: StoreSize,
    /// Summaries by models; `None` if there never were any.
    pub paid: Option<AgentDbSize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClearedCache {
    pub freed: DeletedRows,
    pub paid: ClearedSummaries,
}

#[derive(Debug, Clone)]
pub struct ExportedArtifacts {
    pub path: RelPath,
    pub hash: ContentHash,
    pub file_type: Option<&'static FileType>,
    pub summary: Option<String>,
    pub outline: Option<Outline>,
    /// When that was derived, in seconds since the epoch.
    pub made_at_s: Option<i64>,
    /// Summaries of it by models, for each tier.
    pub by_models: Vec<StoredSummary>,
    /// Whether a mask hides symbols of the file, so that none of its cached artifacts is shown.
    pub is_masked: bool,
}

pub(in crate::engine) fn cache_status(cache: &mut ArtifactCache<'_>) -> Result<CacheStatus, Error> {
    let size = with_store(cache, |store| store.size())?;
    Ok(CacheStatus { size, paid: with_reader(cache, AgentDb::size) })
}

pub(in crate::engine) fn clear_cache(
    cache: &mut ArtifactCache<'_>,
    with_paid: bool,
) -> Result<ClearedCache, Error> {
    let paid = if with_paid {
        clear_paid(cache, None)?
    } else {
        let kept = with_reader(cache, AgentDb::size).map_or(0, |size| size.summaries);
        ClearedSummaries { kept, ..ClearedSummaries::default() }
    };
    // After the paid summaries: if they cannot be cleared, nothing is.
    let freed = match change_store(cache, |store| store.clear(&ClearScope::All)) {
        // A full disk prevents opening the store, or writing to it, and is when the cache has to be cleared.
        Err(error @ (Error::NoCache | Error::Store(StoreError::Full(_)))) => {
            cache.clear_store_in_place().ok_or(error)?
        }
        freed => freed?,
    };
    Ok(ClearedCache { freed, paid })
}

pub(in crate::engine) fn clear_artifacts(
    cache: &mut ArtifactCache<'_>,
    kinds: &[ArtifactKind],
    with_paid: bool,
) -> Result<ClearedCache, Error> {
    let paid = if with_paid { clear_paid(cache, None)? } else { ClearedSummaries::default() };
    if kinds.is_empty() {
        return Ok(ClearedCache { freed: DeletedRows::default(), paid });
    }
    // The files' rows are kept, including stamps that would keep a scan from reading: hence the producers are
    // forgotten.
    let freed = change_store(cache, |store| store.clear(&ClearScope::Artifacts(kinds.to_vec())))?;
    cache.forget_producers()?;
    Ok(ClearedCache { freed, paid })
}

pub(in crate::engine) fn clear_files(
    cache: &mut ArtifactCache<'_>,
    words: &[String],
    paid_alone: bool,
) -> Result<ClearedCache, Error> {
    let mut paths = Vec::new();
    let mut contents = Vec::new();
    let known = with_store(cache, |store| store.files())?;
    for word in words {
        let selector = crate::aggregate::Selector::new(word)?;
        let before = paths.len();
        for row in known.iter().filter(|row| selector.selects(&row.path)) {
            paths.push(row.path.clone());
            if let StoredFileState::Content { hash, .. } = &row.state {
                contents.push(*hash);
            }
        }
        // A file that is not cached has nothing to delete.
        let is_there =
            || selector.literal_path().is_some_and(|path| cache.workspace.files.stat(&path).is_ok());
        if before == paths.len() && !is_there() {
            return Err(Error::NothingSelected { word: word.clone() });
        }
    }
    if paid_alone {
        return Ok(ClearedCache { freed: DeletedRows::default(), paid: clear_paid(cache, Some(&contents))? });
    }
    // The files' rows are deleted with their artifacts, so the next scan reads only these again.
    let freed = change_store(cache, |store| store.clear(&ClearScope::Files(paths)))?;
    Ok(ClearedCache { freed, paid: ClearedSummaries::default() })
}

pub(in crate::engine) fn verify_cache(cache: &mut ArtifactCache<'_>) -> Result<IntegrityReport, Error> {
    let mut verdict = change_store(cache, Store::verify)?;
    if verdict.structure_error.is_some() {
        cache.rebuild_store("its structure is damaged");
    }
    if !verdict.damaged_rows.is_empty() {
        // The next run derives the deleted artifacts again.
        cache.forget_producers()?;
    }
    verify_paid(cache, &mut verdict)?;
    Ok(verdict)
}

pub(in crate::engine) fn collect_garbage(
    cache: &mut ArtifactCache<'_>,
    days: u32,
) -> Result<ClearedCache, Error> {
    let before = cache.workspace.world.clock.now_s() - i64::from(days) * SECONDS_A_DAY;
    let current: Vec<Producer> = discover::all_file_types().flat_map(all_producers).collect();
    // Zero days means now: what became idle this very second is deleted too.
    let before = if days == 0 { i64::MAX } else { before };
    // Contents that only they used become idle now, and are kept as long as any others.
    cache.delete_lost_worktrees();
    let freed = change_store(cache, |store| store.collect_garbage(before, &current))?;
    // Summaries that were paid for do not become worthless with age.
    Ok(ClearedCache { freed, paid: ClearedSummaries::default() })
}

/// Fails if there is nothing to export of what one of the words selects: no such file, or one that was not read yet.
pub(in crate::engine) fn require_cached(
    cache: &mut ArtifactCache<'_>,
    words: &[String],
) -> Result<(), Error> {
    let known = with_store(cache, |store| store.files())?;
    for word in words {
        let selector = crate::aggregate::Selector::new(word)?;
        let is_cached = |row: &FileRow| {
            matches!(row.state, StoredFileState::Content { .. }) && selector.selects(&row.path)
        };
        if !known.iter().any(is_cached) {
            return Err(Error::NothingCached { word: word.clone() });
        }
    }
    Ok(())
}

pub(in crate::engine) fn export_cache(
    cache: &mut ArtifactCache<'_>,
    words: &[String],
    after: Option<&[u8]>,
    each: &mut dyn FnMut(ExportedArtifacts) -> ControlFlow<()>,
) -> Result<(), Error> {
    let mut selectors = Vec::with_capacity(words.len());
    for word in words {
        selectors.push(crate::aggregate::Selector::new(word)?);
    }
    let is_exported = |path: &RelPath| {
        let is_selected = selectors.is_empty() || selectors.iter().any(|selector| selector.selects(path));
        is_selected && after.is_none_or(|after| after < path.as_bytes())
    };
    let items = CuratedItems::new(cache.workspace.relative_items(&cache.workspace.options.items));
    let is_masked =
        |path: &RelPath| items.find(path).is_some_and(|item| aggregate::hides_symbols(&item.ast_mask));
    let current: Vec<Producer> = discover::all_file_types().flat_map(producers).collect();
    let written = model_summaries(cache);
    with_store(cache, |store| {
        store.export_rows(&current, &is_exported, &mut |row| {
            // Artifacts in the store are of the whole file, and contain names that a mask hides.
            if is_masked(&row.path) {
                return each(ExportedArtifacts {
                    path: row.path,
                    hash: row.hash,
                    file_type: discover::file_type_by_id(&row.language),
                    summary: None,
                    outline: None,
                    made_at_s: None,
                    by_models: Vec::new(),
                    is_masked: true,
                });
            }
            // The same bytes may be read as two languages, and models were asked about each.
            let by_models = written.get(&row.hash).into_iter().flatten();
            let by_models = by_models.filter(|summary| summary.language == row.language).cloned().collect();
            each(ExportedArtifacts {
                path: row.path,
                hash: row.hash,
                file_type: discover::file_type_by_id(&row.language),
                summary: row.summary,
                outline: row.outline,
                made_at_s: row.made_at_s,
                by_models,
                is_masked: false,
            })
        })
    })
}

fn with_store<T>(
    cache: &mut ArtifactCache<'_>,
    work: impl FnOnce(&mut Store) -> Result<T, StoreError>,
) -> Result<T, Error> {
    let store = cache.store.as_mut().ok_or(Error::NoCache)?;
    Ok(work(store)?)
}

/// Runs an operation that may delete rows, and invalidates what is cached between answers.
fn change_store<T>(
    cache: &mut ArtifactCache<'_>,
    work: impl FnOnce(&mut Store) -> Result<T, StoreError>,
) -> Result<T, Error> {
    let tree = cache.workspace.tracker.clone();
    let _alone = tree.as_ref().map(|tree| tree.lock_writes());
    let done = with_store(cache, work);
    if let Some(tree) = &tree {
        tree.drop_rows();
    }
    done
}

/// How many summaries by models were kept or deleted when the cache was cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClearedSummaries {
    pub summaries: u64,
    /// Summaries that were kept, because their deletion was not requested.
    pub kept: u64,
    pub cost: Money,
    /// The bytes by which the database shrank on disk.
    pub bytes: u64,
}

pub(in crate::engine) fn salvage_agent_db(cache: &mut ArtifactCache<'_>) -> Result<(), Error> {
    open_agent_db(cache).map(drop)
}

/// Deletes the summaries by models: all, or those of some contents. The ledger is kept.
fn clear_paid(
    cache: &mut ArtifactCache<'_>,
    subjects: Option<&[ContentHash]>,
) -> Result<ClearedSummaries, Error> {
    let Some((mut paid, _)) = open_agent_db(cache)? else { return Ok(ClearedSummaries::default()) };
    let freed = paid.clear_summaries(subjects).map_err(Error::Paid)?;
    let kept = paid.size().map_err(Error::Paid)?.summaries;
    Ok(ClearedSummaries { summaries: freed.summaries, kept, cost: freed.cost, bytes: freed.bytes })
}

/// Checks every byte of the summaries by models, and adds the result to the report. A broken database is salvaged.
fn verify_paid(cache: &mut ArtifactCache<'_>, verdict: &mut IntegrityReport) -> Result<(), Error> {
    // Opening it checks its structure, and salvages it if that is broken.
    let Some((mut paid, recovered)) = open_agent_db(cache)? else { return Ok(()) };
    if let Some(reason) = recovered {
        verdict.structure_error.get_or_insert(format!("{AGENT_DATABASE}: {reason}"));
    }
    let found = paid.verify().map_err(Error::Paid)?;
    verdict.rows += found.rows;
    verdict.damaged_rows.extend(found.damaged_rows);
    Ok(())
}

/// Returns the summaries of files by models, by content, newest last.
fn model_summaries(cache: &mut ArtifactCache<'_>) -> HashMap<ContentHash, Vec<StoredSummary>> {
    let mut words: HashMap<ContentHash, Vec<StoredSummary>> = HashMap::new();
    for summary in with_reader(cache, AgentDb::summaries).unwrap_or_default() {
        words.entry(summary.subject).or_default().push(summary);
    }
    words
}

fn with_reader<T>(
    cache: &mut ArtifactCache<'_>,
    ask: impl FnOnce(&AgentDb) -> Result<T, store::Error>,
) -> Option<T> {
    let opened = AgentDb::open_reader(&cache.workspace.agent_db_path());
    let answer = opened.and_then(|mut paid| {
        if let Some(db) = &mut paid {
            db.trust_writers(&cache.workspace.options.summary_lookup.writers);
        }
        paid.as_ref().map(ask).transpose()
    });
    answer.unwrap_or_else(|error| {
        let reason = error_chain(&error);
        cache
            .workspace
            .note(format!("what models wrote cannot be read: {reason}; `slop cache verify` repairs it"));
        None
    })
}

/// Opens the database, if there is one, in whatever state, and records what was salvaged. Returns the reason for
/// salvaging.
fn open_agent_db(cache: &mut ArtifactCache<'_>) -> Result<Option<(AgentDb, Option<String>)>, Error> {
    let opened = AgentDb::open_if_exists(&cache.workspace.agent_db_path()).map_err(Error::Paid)?;
    Ok(opened.map(|OpenedAgentDb { db, recovery }| {
        let reason = recovery.map(|recovery| {
            cache.workspace.note(recovery.to_string());
            recovery.reason
        });
        (db, reason)
    }))
}
