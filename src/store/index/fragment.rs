//! The table `fragment`: the placements of the project's files and slices by hydration.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use super::meta;
use super::open::Store;
use super::scope::scoped;
use crate::model::{ContentHash, Depth, Fragment, FragmentName, Pin, RelPath, Warmth};
use crate::store::database::IntegrityReport;
use crate::store::error::Error;
use crate::store::row::{RowColumns, RowFields, delete_damaged, execute};

const COLUMNS: &str =
    "worktree, path, part, sha, bytes, tokens, shown, warmth, depth, score, pin, uses, used_at, since, why";
/// The key of the record of the last hydration.
const HYDRATION: &str = "hydration";
/// The key of the order of the HOT files in their document. It is kept when placements are determined again, so that a
/// pin moves no other file.
const HYDRATED_ORDER: &str = "hydrated_order";
/// The value in the column of a pin without a fixed depth.
const ANY_DEPTH: i64 = -1;

/// Changes of the placements of fragments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlacementUpdate {
    pub changed: Vec<Fragment>,
    pub removed: Vec<FragmentName>,
    /// The record of the hydration; `None` if placements have to be determined again.
    pub hydration: Option<HydrationRecord>,
    /// The HOT files in the order of their document; `None` if it is unchanged.
    pub order: Option<Vec<RelPath>>,
}

/// The record of the hydration that determined the placements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HydrationRecord {
    /// A hash of the inputs of the placements.
    pub inputs: ContentHash,
    /// How many fragments of each folder are not placed.
    pub beyond: BTreeMap<String, u64>,
}

#[derive(Serialize, Deserialize)]
struct StoredHydration {
    inputs: [u8; 32],
    beyond: BTreeMap<String, u64>,
}

impl Store {
    /// Returns the fragments of the project, by name.
    pub fn fragments(&self) -> Result<Vec<Fragment>, Error> {
        let query = format!("SELECT {COLUMNS}, ck FROM fragment WHERE worktree = ?1 ORDER BY path, part");
        let mut statement = self.database.connection.prepare_cached(&query)?;
        let mut rows = statement.query([self.worktree.as_deref().unwrap_or_default()])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            match from_row(row) {
                Some((_, fragment)) => found.push(fragment),
                None => self.record_damage(),
            }
        }
        Ok(found)
    }

    /// Returns the record of the hydration that determined the placements.
    pub fn hydration(&self) -> Result<Option<HydrationRecord>, Error> {
        let stored = self.get_meta(HYDRATION)?;
        let stored = stored.and_then(|bytes| postcard::from_bytes::<StoredHydration>(&bytes).ok());
        Ok(stored.map(|StoredHydration { inputs, beyond }| HydrationRecord {
            inputs: ContentHash::from_bytes(inputs),
            beyond,
        }))
    }

    /// Returns the files that were HOT after the last hydration, in the order of their document.
    pub fn hydrated_order(&self) -> Result<Vec<RelPath>, Error> {
        let stored = self.get_meta(HYDRATED_ORDER)?.unwrap_or_default();
        // NUL is the only byte that no path contains.
        Ok(stored.split(|byte| *byte == 0).filter_map(|path| RelPath::new(path).ok()).collect())
    }

    /// Counts a use of all HOT fragments by an agent.
    pub fn count_uses(&mut self, at_s: i64) -> Result<(), Error> {
        let hot = self.fragments()?.into_iter().filter(|fragment| fragment.warmth == Some(Warmth::Hot));
        let used = hot.map(|fragment| Fragment {
            uses: fragment.uses.saturating_add(1),
            used_at_s: Some(at_s),
            ..fragment
        });
        let used: Vec<Fragment> = used.collect();
        let worktree = self.worktree.clone();
        let transaction = self.begin()?;
        used.iter().try_for_each(|fragment| upsert(&transaction, worktree.as_deref(), fragment))?;
        Ok(transaction.commit()?)
    }

    /// Stores changes of the placements atomically.
    pub fn record_places(&mut self, update: &PlacementUpdate) -> Result<(), Error> {
        let worktree = self.worktree.clone();
        let worktree = worktree.as_deref();
        let transaction = self.begin()?;
        for FragmentName { path, part } in &update.removed {
            let query = "DELETE FROM fragment WHERE worktree = ?1 AND path = ?2 AND part = ?3";
            let part = part.as_deref().unwrap_or_default();
            execute(&transaction, query, params![name_of(worktree), path.as_bytes(), part])?;
        }
        update.changed.iter().try_for_each(|fragment| upsert(&transaction, worktree, fragment))?;
        match &update.hydration {
            Some(HydrationRecord { inputs, beyond }) => {
                let stored = StoredHydration { inputs: *inputs.as_bytes(), beyond: beyond.clone() };
                let bytes = postcard::to_stdvec(&stored).expect("writing to memory does not fail");
                meta::upsert(&transaction, &scoped(worktree, HYDRATION), &bytes)?;
            }
            None => forget_hydration(&transaction, worktree)?,
        }
        if let Some(order) = &update.order {
            let paths: Vec<&[u8]> = order.iter().map(RelPath::as_bytes).collect();
            meta::upsert(&transaction, &scoped(worktree, HYDRATED_ORDER), &paths.join(&0))?;
        }
        Ok(transaction.commit()?)
    }
}

/// Returns the value of the first column for a worktree.
fn name_of(worktree: Option<&str>) -> &str {
    worktree.unwrap_or_default()
}

/// Deletes the placements of all worktrees, except pinned ones.
pub(super) fn clear(connection: &Connection) -> Result<(), Error> {
    execute(connection, "DELETE FROM fragment WHERE pin IS NULL", []).map(drop)
}

/// Deletes the placements of one worktree, except pinned ones.
pub(super) fn clear_worktree(connection: &Connection, worktree: Option<&str>) -> Result<(), Error> {
    let query = "DELETE FROM fragment WHERE worktree = ?1 AND pin IS NULL";
    execute(connection, query, [name_of(worktree)]).map(drop)
}

/// Deletes everything of a worktree that is gone.
pub(super) fn delete_worktree(connection: &Connection, name: &str) -> Result<(), Error> {
    execute(connection, "DELETE FROM fragment WHERE worktree = ?1", [name]).map(drop)
}

/// Deletes the placements of these files, except pinned ones.
pub(super) fn delete_files(
    connection: &Connection,
    worktree: Option<&str>,
    paths: &[RelPath],
) -> Result<(), Error> {
    for path in paths {
        let query = "DELETE FROM fragment WHERE worktree = ?1 AND path = ?2 AND pin IS NULL";
        execute(connection, query, params![name_of(worktree), path.as_bytes()])?;
    }
    forget_hydration(connection, worktree)
}

/// Makes the next hydration determine all placements again.
fn forget_hydration(connection: &Connection, worktree: Option<&str>) -> Result<(), Error> {
    let key = scoped(worktree, HYDRATION);
    execute(connection, "DELETE FROM meta WHERE key = ?1", [&key]).map(drop)
}

/// Deletes the rows that are damaged.
pub(super) fn verify(connection: &Connection, report: &mut IntegrityReport) -> Result<(), Error> {
    let query = format!("SELECT {COLUMNS}, ck FROM fragment");
    let delete = "DELETE FROM fragment WHERE worktree = ?1 AND path = ?2 AND part = ?3";
    let damaged = |row: &Row<'_>| from_row(row).is_none().then(|| "the place of a fragment".to_owned());
    if 0 < delete_damaged(connection, &query, delete, &[0, 1, 2], damaged, report)? {
        // The worktree of a damaged row is uncertain.
        let query = "DELETE FROM meta WHERE key = ?1 OR substr(key, -length(?1) - 1) = char(1) || ?1";
        execute(connection, query, [HYDRATION])?;
    }
    Ok(())
}

fn upsert(connection: &Connection, worktree: Option<&str>, fragment: &Fragment) -> Result<(), Error> {
    fields(name_of(worktree), fragment).upsert(connection, "fragment", COLUMNS)
}

fn fields<'f>(worktree: &'f str, fragment: &'f Fragment) -> RowFields<'f> {
    let pin = fragment.pin.map(|pin| pin.depth().map_or(ANY_DEPTH, |depth| i64::from(depth.number())));
    RowFields::keyed("fragment/2")
        .text(worktree)
        .bytes(fragment.name.path.as_bytes())
        .text(fragment.name.part.as_deref().unwrap_or_default())
        .bytes(fragment.content.as_bytes())
        .number(fragment.bytes.cast_signed())
        .number(fragment.tokens.cast_signed())
        .number(fragment.shown_bytes.cast_signed())
        .optional_text(fragment.warmth.map(Warmth::name))
        .number(i64::from(fragment.depth.number()))
        .number(i64::from(fragment.score))
        .optional_number(pin)
        .number(fragment.uses.cast_signed())
        .optional_number(fragment.used_at_s)
        .number(fragment.since_s)
        .text(&fragment.why)
}

/// Reads a row, with its worktree, from its columns and its checksum; `None` if they are damaged.
fn from_row(row: &Row<'_>) -> Option<(String, Fragment)> {
    let columns = RowColumns::from_row(row).ok()?;
    let depth = |number: i64| u8::try_from(number).ok().and_then(Depth::at_most);
    let pin = match columns.optional_number(10)? {
        None => None,
        Some(ANY_DEPTH) => Some(Pin::AnyDepth),
        Some(number) => Some(Pin::At(depth(number)?)),
    };
    let warmth = match columns.optional_text(7)? {
        None => None,
        Some(name) => Some(Warmth::from_name(name)?),
    };
    let part = Some(columns.text(2)?).filter(|part| !part.is_empty()).map(str::to_owned);
    let fragment = Fragment {
        name: FragmentName { path: RelPath::new(columns.bytes(1)?).ok()?, part },
        content: columns.hash(3)?,
        bytes: columns.number(4)?.cast_unsigned(),
        tokens: columns.number(5)?.cast_unsigned(),
        shown_bytes: columns.number(6)?.cast_unsigned(),
        warmth,
        depth: depth(columns.number(8)?)?,
        score: columns.number(9)?.try_into().ok()?,
        pin,
        uses: columns.number(11)?.cast_unsigned(),
        used_at_s: columns.optional_number(12)?,
        since_s: columns.number(13)?,
        why: columns.text(14)?.to_owned(),
    };
    let worktree = columns.text(0)?;
    let is_intact = columns.bytes(15)? == fields(worktree, &fragment).checksum();
    is_intact.then(|| (worktree.to_owned(), fragment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::index::testing::TempStore;

    fn fragment((path, part): (&str, Option<&str>), pin: Option<Pin>) -> Fragment {
        Fragment {
            name: FragmentName {
                path: RelPath::new(path.as_bytes()).unwrap(),
                part: part.map(str::to_owned),
            },
            content: ContentHash::digest(path.as_bytes()),
            bytes: 5,
            tokens: 2,
            shown_bytes: 4,
            warmth: Some(Warmth::Hot),
            depth: Depth::OUTLINE,
            score: 612,
            pin,
            uses: 3,
            used_at_s: None,
            since_s: 7,
            why: "rank 1 of 2\nhot_tokens".to_owned(),
        }
    }

    #[test]
    fn damaged_placements_are_determined_again_and_pins_survive_a_cleared_cache() {
        let folder = TempStore::new();
        let mut store = folder.open();
        let pins = [None, Some(Pin::AnyDepth), Some(Pin::At(Depth::SKELETON))];
        let names = [("a", None), ("b", None), ("b", Some("push"))];
        let all: Vec<Fragment> = names.into_iter().zip(pins).map(|(name, pin)| fragment(name, pin)).collect();
        let record = HydrationRecord {
            inputs: ContentHash::digest(b"inputs"),
            beyond: [("src".to_owned(), 3)].into(),
        };
        let order = ["b", "a"].map(|path| RelPath::new(path.as_bytes()).unwrap()).to_vec();
        let update = PlacementUpdate {
            changed: all.clone(),
            removed: Vec::new(),
            hydration: Some(record.clone()),
            order: Some(order.clone()),
        };
        store.record_places(&update).unwrap();
        assert_eq!(store.hydrated_order().unwrap(), order);
        let stored = (store.fragments().unwrap(), store.hydration().unwrap());
        assert_eq!(stored, (all.clone(), Some(record)));

        let connection = &store.database.connection;
        connection.execute("UPDATE fragment SET score = 1000 WHERE path = x'61'", []).unwrap();
        assert_eq!(store.fragments().unwrap(), all[1..]);
        assert_eq!(store.verify().unwrap().damaged_rows, ["the place of a fragment"]);
        assert_eq!(store.hydration().unwrap(), None, "so placements are determined again");

        store.record_places(&update).unwrap();
        store.count_uses(9).unwrap();
        let used = store.fragments().unwrap();
        assert!(used.iter().all(|fragment| (fragment.uses, fragment.used_at_s) == (4, Some(9))));
        store.clear(&crate::store::ClearScope::All).unwrap();
        assert_eq!((store.fragments().unwrap(), store.hydration().unwrap()), (used[1..].to_vec(), None));

        // Only the slice is removed.
        let removed = vec![used[2].name.clone()];
        store.record_places(&PlacementUpdate { removed, ..PlacementUpdate::default() }).unwrap();
        assert_eq!(store.fragments().unwrap(), used[1..2]);
        assert_eq!(store.hydrated_order().unwrap(), [], "a cleared cache has no order");
        let kept = PlacementUpdate { order: Some(order.clone()), ..PlacementUpdate::default() };
        store.record_places(&kept).unwrap();
        store.record_places(&PlacementUpdate::default()).unwrap();
        assert_eq!(store.hydrated_order().unwrap(), order);
    }
}
