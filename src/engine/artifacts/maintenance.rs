//! Looking after the cache itself.

use std::ops::ControlFlow;

use super::agent_db::{ClearedSummaries, clear_paid, keep_paid, model_summaries, paid_size, verify_paid};
use super::cache::ArtifactCache;
use super::derive::{all_producers, producers};
use crate::discover;
use crate::engine::error::Error;
use crate::model::ArtifactKind;
use crate::model::ContentHash;
use crate::model::FileType;
use crate::model::ModelName;
use crate::model::Outline;
use crate::model::Producer;
use crate::model::RelPath;
use crate::model::Tier;
use crate::store::ClearScope;
use crate::store::DeletedRows;
use crate::store::Error as StoreError;
use crate::store::IntegrityReport;
use crate::store::Store;
use crate::store::StoreSize;
use crate::store::StoredFileState;
use crate::store::agent::AgentDbSize;

const SECONDS_A_DAY: i64 = 86_400;

/// How much is cached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheStatus {
    /// What was derived from files.
    pub size: StoreSize,
    /// What models wrote; `None` where they never wrote anything.
    pub paid: Option<AgentDbSize>,
}

/// What was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClearedCache {
    /// What was derived from files.
    pub freed: DeletedRows,
    /// What models wrote.
    pub paid: ClearedSummaries,
}

/// What is cached of one file.
#[derive(Debug, Clone)]
pub struct ExportedArtifacts {
    /// The file.
    pub path: RelPath,
    /// Its content.
    pub hash: ContentHash,
    /// Its type.
    pub file_type: Option<&'static FileType>,
    /// Words about it.
    pub summary: Option<String>,
    /// Its symbols.
    pub outline: Option<Outline>,
    /// When that was made, in seconds since the epoch.
    pub made_at_s: Option<i64>,
    /// The model that wrote the words and the tier that it wrote them for; `None` where they are this program's.
    pub by: Option<(ModelName, Tier)>,
}

/// Says how much is cached.
pub(in crate::engine) fn cache_status(cache: &mut ArtifactCache<'_>) -> Result<CacheStatus, Error> {
    let size = with_store(cache, |store| store.size())?;
    Ok(CacheStatus { size, paid: paid_size(cache) })
}

/// Empties the cache. What models wrote costs money to have again, so it goes only where that is wanted too.
pub(in crate::engine) fn clear_cache(
    cache: &mut ArtifactCache<'_>,
    with_paid: bool,
) -> Result<ClearedCache, Error> {
    let paid = if with_paid { clear_paid(cache, None)? } else { keep_paid(cache) };
    let freed = change_store(cache, |store| store.clear(&ClearScope::All))?;
    Ok(ClearedCache { freed, paid })
}

/// Deletes what was derived, of these kinds, and what models wrote where that is wanted.
pub(in crate::engine) fn clear_artifacts(
    cache: &mut ArtifactCache<'_>,
    kinds: &[ArtifactKind],
    with_paid: bool,
) -> Result<ClearedCache, Error> {
    let paid = if with_paid { clear_paid(cache, None)? } else { ClearedSummaries::default() };
    if kinds.is_empty() {
        return Ok(ClearedCache { freed: DeletedRows::default(), paid });
    }
    let freed = change_store(cache, |store| store.clear(&ClearScope::Artifacts(kinds.to_vec())))?;
    cache.forget_producers()?;
    Ok(ClearedCache { freed, paid })
}

/// Deletes what is known of the files that words mean; what models wrote of them, alone.
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
        if before == paths.len() {
            return Err(Error::NothingSelected { word: word.clone() });
        }
    }
    if paid_alone {
        return Ok(ClearedCache { freed: DeletedRows::default(), paid: clear_paid(cache, Some(&contents))? });
    }
    let freed = change_store(cache, |store| store.clear(&ClearScope::Files(paths)))?;
    Ok(ClearedCache { freed, paid: ClearedSummaries::default() })
}

/// Checks every byte that is cached; deletes what is damaged.
pub(in crate::engine) fn verify_cache(cache: &mut ArtifactCache<'_>) -> Result<IntegrityReport, Error> {
    let mut verdict = change_store(cache, Store::verify)?;
    if verdict.structure_error.is_some() {
        cache.rebuild_store("its structure is damaged");
    }
    if !verdict.damaged_rows.is_empty() {
        // What was deleted is made anew by the next run.
        cache.forget_producers()?;
    }
    verify_paid(cache, &mut verdict)?;
    Ok(verdict)
}

/// Deletes what no file has held for so many days, and what older versions of this program made.
pub(in crate::engine) fn collect_garbage(
    cache: &mut ArtifactCache<'_>,
    days: u32,
) -> Result<ClearedCache, Error> {
    let before = cache.workspace.world.clock.now_s() - i64::from(days) * SECONDS_A_DAY;
    let current: Vec<Producer> = discover::all_file_types().flat_map(all_producers).collect();
    // A day of zero length means now: what became idle this very second goes too.
    let before = if days == 0 { i64::MAX } else { before };
    let freed = change_store(cache, |store| store.collect_garbage(before, &current))?;
    // No age makes words worthless that were paid for.
    Ok(ClearedCache { freed, paid: ClearedSummaries::default() })
}

/// Calls `each` with all that is cached, by path, until it breaks off. What models wrote of a file comes after it,
/// each in a row of its own; what they wrote of folders is of no one file.
pub(in crate::engine) fn export_cache(
    cache: &mut ArtifactCache<'_>,
    each: &mut dyn FnMut(ExportedArtifacts) -> ControlFlow<()>,
) -> Result<(), Error> {
    let current: Vec<Producer> = discover::all_file_types().flat_map(producers).collect();
    let written = model_summaries(cache);
    with_store(cache, |store| {
        store.export_rows(&current, &mut |row| {
            let (path, hash) = (row.path.clone(), row.hash);
            let file_type = discover::file_type_by_id(&row.language);
            each(ExportedArtifacts {
                path: row.path,
                hash,
                file_type,
                summary: row.summary,
                outline: row.outline,
                made_at_s: row.made_at_s,
                by: None,
            })?;
            let words = written.get(&hash).into_iter().flatten();
            for summary in words.filter(|summary| summary.language == row.language) {
                each(ExportedArtifacts {
                    path: path.clone(),
                    hash,
                    file_type,
                    summary: Some(summary.text.clone()),
                    outline: None,
                    made_at_s: Some(summary.at_ms.div_euclid(1_000)),
                    by: Some((summary.model.clone(), summary.tier)),
                })?;
            }
            ControlFlow::Continue(())
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

/// Does what may delete rows, of which nothing is known then between answers.
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
