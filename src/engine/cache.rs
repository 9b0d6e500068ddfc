//! Looking after the cache itself.

use std::ops::ControlFlow;

use super::derive::all_producers;
use super::derive::producers;
use super::error::Error;
use super::project::Project;
use crate::discover;
use crate::model::Artifact;
use crate::model::ContentHash;
use crate::model::FileType;
use crate::model::Outline;
use crate::model::Producer;
use crate::model::RelPath;
use crate::store::Clear;
use crate::store::Error as StoreError;
use crate::store::Freed;
use crate::store::Size;
use crate::store::Store;
use crate::store::Verdict;

const SECONDS_A_DAY: i64 = 86_400;

/// How much is cached.
pub type CacheStatus = Size;

/// What is cached of one file.
#[derive(Debug, Clone)]
pub struct Exported {
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
}

impl Project<'_> {
    /// Says how much is cached.
    pub fn cache_status(&mut self) -> Result<CacheStatus, Error> {
        self.on_store(|store| store.size())
    }

    /// Empties the cache.
    pub fn clear_cache(&mut self) -> Result<Freed, Error> {
        self.change_store(|store| store.clear(&Clear::All))
    }

    /// Deletes what was derived, of these kinds.
    pub fn clear_artifacts(&mut self, kinds: &[Artifact]) -> Result<Freed, Error> {
        let freed = self.change_store(|store| store.clear(&Clear::Artifacts(kinds.to_vec())))?;
        self.forget_producers()?;
        Ok(freed)
    }

    /// Deletes what is known of the files that words mean.
    pub fn clear_files(&mut self, words: &[String]) -> Result<Freed, Error> {
        let mut paths = Vec::new();
        let known = self.on_store(|store| store.files())?;
        for word in words {
            let selector = crate::aggregate::Selector::new(word)?;
            let before = paths.len();
            let rows = known.iter().filter(|row| selector.selects(&row.path));
            paths.extend(rows.map(|row| row.path.clone()));
            if before == paths.len() {
                return Err(Error::NothingSelected { word: word.clone() });
            }
        }
        self.change_store(|store| store.clear(&Clear::Files(paths)))
    }

    /// Checks every byte that is cached; deletes what is damaged.
    pub fn verify_cache(&mut self) -> Result<Verdict, Error> {
        let verdict = self.change_store(Store::verify)?;
        if verdict.structure.is_some() {
            self.rebuild_store("its structure is damaged");
        }
        if !verdict.damaged.is_empty() {
            // What was deleted is made anew by the next run.
            self.forget_producers()?;
        }
        Ok(verdict)
    }

    /// Deletes what no file has held for so many days, and what older versions of this program made.
    pub fn collect_garbage(&mut self, days: u32) -> Result<Freed, Error> {
        let before = self.world.clock.now_s() - i64::from(days) * SECONDS_A_DAY;
        let current: Vec<Producer> = discover::file_types().flat_map(all_producers).collect();
        // A day of zero length means now: what became idle this very second goes too.
        let before = if days == 0 { i64::MAX } else { before };
        self.change_store(|store| store.collect(before, &current))
    }

    /// Calls `each` with all that is cached, by path, until it breaks off.
    pub fn export_cache(&mut self, each: &mut dyn FnMut(Exported) -> ControlFlow<()>) -> Result<(), Error> {
        let current: Vec<Producer> = discover::file_types().flat_map(producers).collect();
        self.on_store(|store| {
            store.export(&current, &mut |row| {
                each(Exported {
                    path: row.path,
                    hash: row.hash,
                    file_type: discover::file_type(&row.language),
                    summary: row.summary,
                    outline: row.outline,
                    made_at_s: row.made_at_s,
                })
            })
        })
    }

    fn on_store<T>(&mut self, work: impl FnOnce(&mut Store) -> Result<T, StoreError>) -> Result<T, Error> {
        let store = self.store.as_mut().ok_or(Error::NoCache)?;
        Ok(work(store)?)
    }

    /// Does what may delete rows, of which nothing is known then between answers.
    fn change_store<T>(
        &mut self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, Error> {
        let tree = self.tree.clone();
        let _alone = tree.as_ref().map(|tree| tree.save_alone());
        let done = self.on_store(work);
        if let Some(tree) = &tree {
            tree.drop_rows();
        }
        done
    }
}
