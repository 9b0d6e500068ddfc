//! Scopes of worktrees: facts and deliveries of different worktrees are separated by a prefix of their names.

use std::borrow::Cow;

use rusqlite::Connection;

use crate::store::error::Error;

/// The character around a worktree's name in a key.
const SEPARATOR: char = '\u{1}';

/// Returns the stored form of a key for a worktree, or for the checkout that contains the cache.
pub(super) fn scoped<'k>(worktree: Option<&str>, key: &'k str) -> Cow<'k, str> {
    match worktree {
        None => Cow::Borrowed(key),
        Some(name) => Cow::Owned(format!("{SEPARATOR}{name}{SEPARATOR}{key}")),
    }
}

/// Splits a stored key into the worktree and the key.
pub(super) fn split_scope(stored: &str) -> (Option<&str>, &str) {
    match stored.strip_prefix(SEPARATOR).and_then(|rest| rest.split_once(SEPARATOR)) {
        Some((name, key)) => (Some(name), key),
        None => (None, stored),
    }
}

/// Returns the names of the linked worktrees that have files.
pub(super) fn worktree_names(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut names = connection.prepare_cached("SELECT name FROM worktree ORDER BY name")?;
    let names = names.query_map([], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}
