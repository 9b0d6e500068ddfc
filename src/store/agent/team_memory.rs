//! The tables of what is remembered of the team's cache between processes: `team_miss`, what it lacks, and `team_state`,
//! whether it has failed lately.

use rusqlite::{OptionalExtension, params};

use super::db::AgentDb;
use crate::model::{ContentHash, SummaryKey};
use crate::store::error::Error;

/// What is remembered of a team's cache.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TeamState {
    /// How often it has failed in a row.
    pub failures: u32,
    /// Until when it is left alone; 0 if it is not.
    pub rests_until_ms: i64,
    /// How many entries were refused for which reasons by the last pull, as JSON; empty before the first one.
    pub refused: String,
}

impl AgentDb {
    /// Returns what is remembered of this cache.
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

    /// Replaces what is remembered of this cache. What was found missing in another one is forgotten.
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

    /// Returns those of these keys that this cache is not known to lack. What lasts until after `latest_ms` was remembered
    /// with a clock that was ahead, and does not hold.
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

    /// Remembers until a time that the cache lacks these keys, and forgets what was remembered until before `now_ms`.
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

    /// Forgets what the cache lacks.
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
    fn what_is_missing_is_remembered_for_one_cache_and_a_time() {
        let file = TempAgentDb::new();
        let (ours, theirs) = (ContentHash::digest(b"ours"), ContentHash::digest(b"theirs"));
        let key = |name: &str| SummaryKey(ContentHash::digest(name.as_bytes()));
        let mut db = file.open();
        let state = TeamState { failures: 3, rests_until_ms: 90, refused: "{}".to_owned() };
        db.set_team_state(&ours, &state).unwrap();
        db.record_team_misses(&[key("a"), key("b")], 0, 100).unwrap();
        // As another process finds it.
        let mut db = file.open();
        assert_eq!((db.team_state(&ours).unwrap(), db.team_state(&theirs).unwrap().failures), (state, 0));
        let unknown = |db: &AgentDb, cache, now| {
            db.unknown_to_team(cache, vec![key("a"), key("c")], now, now + 100).unwrap()
        };
        assert_eq!(unknown(&db, &ours, 50), [key("c")]);
        assert_eq!(unknown(&db, &ours, 100), [key("a"), key("c")]);
        assert_eq!(unknown(&db, &ours, -50), [key("a"), key("c")], "the clock was ahead");
        assert_eq!(unknown(&db, &theirs, 50), [key("a"), key("c")]);
        // Another cache begins with nothing, and the first one after it as well.
        db.set_team_state(&theirs, &TeamState::default()).unwrap();
        db.set_team_state(&ours, &TeamState::default()).unwrap();
        assert_eq!(unknown(&db, &ours, 50), [key("a"), key("c")]);
        db.record_team_misses(&[key("a")], 50, 150).unwrap();
        db.forget_team_misses().unwrap();
        assert_eq!(unknown(&db, &ours, 100), [key("a"), key("c")]);
    }
}
