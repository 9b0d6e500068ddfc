//! The remembered state of the team's cache: `team_miss`, the summaries that it lacks, and `team_state`, its recent
//! failures.

use rusqlite::{OptionalExtension, params};

use super::db::AgentDb;
use crate::model::{ContentHash, SummaryKey};
use crate::store::error::Error;

/// The remembered state of a team's cache.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TeamState {
    /// How often it has failed in a row.
    pub failures: u32,
    /// Until when it is paused; 0 if it is not.
    pub rests_until_ms: i64,
    /// How many entries the last pull refused, by reason, as JSON; empty before the first pull.
    pub refused: String,
}

impl AgentDb {
    /// Returns the remembered state of this cache.
    pub fn team_state(&self, cache: &ContentHash) -> Result<TeamState, Error> {
        let query = "SELECT failures, rests_until_ms, refused FROM team_state WHERE id = 1 AND cache = ?1";
        let mut statement = self.database.connection.prepare_cached(query)?;
        let found = statement
            .query_row([cache.as_bytes()], |row| {
                Ok(TeamState { failures: row.get(0)?, rests_until_ms: row.get(1)?, refused: row.get(2)? })
            })
            .optional()?;
        Ok(found.unwrap_or_default())
    }

    /// Replaces the remembered state of this cache. Misses in a different cache are forgotten.
    pub fn set_team_state(&mut self, cache: &ContentHash, state: &TeamState) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        let other = "DELETE FROM team_miss WHERE NOT EXISTS (SELECT 1 FROM team_state WHERE cache = ?1)";
        transaction.execute(other, [cache.as_bytes()])?;
        let TeamState { failures, rests_until_ms, refused } = state;
        transaction.execute(
            "INSERT OR REPLACE INTO team_state (id, cache, failures, rests_until_ms, refused)
             VALUES (1, ?1, ?2, ?3, ?4)",
            params![cache.as_bytes(), failures, rests_until_ms, refused],
        )?;
        Ok(transaction.commit()?)
    }

    /// Returns the keys that this cache is not known to lack. Misses that expire after `latest_ms` were recorded with a
    /// clock that was ahead, and are ignored.
    pub fn unknown_to_team(
        &self,
        cache: &ContentHash,
        keys: Vec<SummaryKey>,
        now_ms: i64,
        latest_ms: i64,
    ) -> Result<Vec<SummaryKey>, Error> {
        let query = "SELECT 1 FROM team_miss, team_state
             WHERE team_miss.key = ?1 AND until_ms > ?2 AND until_ms <= ?3 AND cache = ?4";
        let mut statement = self.database.connection.prepare_cached(query)?;
        let mut unknown = Vec::new();
        for key in keys {
            if !statement.exists(params![key.0.as_bytes(), now_ms, latest_ms, cache.as_bytes()])? {
                unknown.push(key);
            }
        }
        Ok(unknown)
    }

    /// Records that the cache lacks these keys until a time, and deletes misses that expired before `now_ms`.
    pub fn record_team_misses(
        &mut self,
        keys: &[SummaryKey],
        now_ms: i64,
        until_ms: i64,
    ) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        transaction.execute("DELETE FROM team_miss WHERE until_ms <= ?1", [now_ms])?;
        for key in keys {
            let query = "INSERT OR REPLACE INTO team_miss (key, until_ms) VALUES (?1, ?2)";
            transaction.prepare_cached(query)?.execute(params![key.0.as_bytes(), until_ms])?;
        }
        Ok(transaction.commit()?)
    }

    /// Deletes all misses.
    pub fn forget_team_misses(&mut self) -> Result<(), Error> {
        self.database.connection.execute("DELETE FROM team_miss", [])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::agent::testing::TempAgentDb;

    #[test]
    fn misses_are_remembered_for_one_cache_and_a_limited_time() {
        let file = TempAgentDb::new();
        let (ours, theirs) = (ContentHash::digest(b"ours"), ContentHash::digest(b"theirs"));
        let key = |name: &str| SummaryKey(ContentHash::digest(name.as_bytes()));
        let mut db = file.open();
        let state = TeamState { failures: 3, rests_until_ms: 90, refused: "{}".to_owned() };
        db.set_team_state(&ours, &state).unwrap();
        db.record_team_misses(&[key("a"), key("b")], 0, 100).unwrap();
        // As read by another process.
        let mut db = file.open();
        assert_eq!((db.team_state(&ours).unwrap(), db.team_state(&theirs).unwrap().failures), (state, 0));
        let unknown = |db: &AgentDb, cache, now| {
            db.unknown_to_team(cache, vec![key("a"), key("c")], now, now + 100).unwrap()
        };
        assert_eq!(unknown(&db, &ours, 50), [key("c")]);
        assert_eq!(unknown(&db, &ours, 100), [key("a"), key("c")]);
        assert_eq!(unknown(&db, &ours, -50), [key("a"), key("c")], "the clock was ahead");
        assert_eq!(unknown(&db, &theirs, 50), [key("a"), key("c")]);
        // A different cache starts empty, and so does the first one when it is used again.
        db.set_team_state(&theirs, &TeamState::default()).unwrap();
        db.set_team_state(&ours, &TeamState::default()).unwrap();
        assert_eq!(unknown(&db, &ours, 50), [key("a"), key("c")]);
        db.record_team_misses(&[key("a")], 50, 150).unwrap();
        db.forget_team_misses().unwrap();
        assert_eq!(unknown(&db, &ours, 100), [key("a"), key("c")]);
    }
}
