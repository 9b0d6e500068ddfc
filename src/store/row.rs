//! A row of a table: its columns and its checksum.
//!
//! SQLite's own checks detect neither a flipped bit within a value nor a row that is stored under another row's key. So
//! a checksum covers all columns of a row *and* its subject, and is verified on every read.

use std::sync::OnceLock;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params, Row, params_from_iter};
use sha2::{Digest, Sha256};

use super::database::IntegrityReport;
use super::error::Error;
use crate::model::{ContentHash, ModelName, Money, SummaryKey, TokenUsage};

/// The first 16 bytes of a SHA-256.
pub(super) type RowChecksum = [u8; 16];

/// The fields of a row, as they are written and as they enter its checksum: each prefixed with its length, so that
/// different lists of fields never produce the same bytes.
///
/// One list serves both purposes, so that no column can be written that the checksum does not cover.
pub(super) struct RowFields<'f> {
    sum: Sha256,
    values: Vec<ToSqlOutput<'f>>,
}

/// The state of a hash that begins with the key. Only half of each hash is stored, so it cannot be extended without the
/// key, which makes it a message authentication code.
static KEYED: OnceLock<Sha256> = OnceLock::new();

/// Enables authentication of the rows that decide what is shown: from now on, rows written with a different key or
/// without one count as damaged. Must be called before the first database is opened; later calls have no effect.
pub fn authenticate_rows(key: &[u8; 32]) {
    // A global, because rows are created where no connection is known, and a process has one user.
    KEYED.get_or_init(|| keyed_state(key));
}

/// Returns whether rows are authenticated in this process.
pub(super) fn are_rows_authenticated() -> bool {
    KEYED.get().is_some()
}

/// Returns the state after one whole block with the key, so that starting from it costs nothing.
fn keyed_state(key: &[u8; 32]) -> Sha256 {
    let mut block = [0; 64];
    block[..32].copy_from_slice(key);
    Sha256::new_with_prefix(block)
}

impl<'f> RowFields<'f> {
    /// Begins a row of that kind whose checksum requires the user's key.
    pub(super) fn keyed(kind: &str) -> Self {
        Self::begin(kind, KEYED.get())
    }

    fn begin(kind: &str, keyed: Option<&Sha256>) -> Self {
        let mut fields = Self { sum: keyed.cloned().unwrap_or_default(), values: Vec::new() };
        fields.hash(kind.as_bytes());
        fields
    }

    /// Begins a row of that kind. The kind contains a version, which is incremented when the meaning of a field or the
    /// encoding of a body changes, so that earlier rows are misses instead of being misread.
    pub(super) fn new(kind: &str) -> Self {
        Self::begin(kind, None)
    }

    pub(super) fn bytes(mut self, field: &'f [u8]) -> Self {
        self.hash(field);
        self.push(ValueRef::Blob(field))
    }

    pub(super) fn owned_bytes(mut self, field: Vec<u8>) -> Self {
        self.hash(&field);
        self.values.push(ToSqlOutput::Owned(Value::Blob(field)));
        self
    }

    pub(super) fn text(mut self, field: &'f str) -> Self {
        self.hash(field.as_bytes());
        self.push(ValueRef::Text(field.as_bytes()))
    }

    pub(super) fn number(mut self, field: i64) -> Self {
        self.hash(&field.to_le_bytes());
        self.push(ValueRef::Integer(field))
    }

    /// Adds an optional text; an absent one differs from an empty one.
    pub(super) fn optional_text(mut self, field: Option<&'f str>) -> Self {
        self.hash(&i64::from(field.is_some()).to_le_bytes());
        match field {
            Some(text) => self.text(text),
            None => self.push(ValueRef::Null),
        }
    }

    /// Adds an optional number; an absent one differs from 0.
    pub(super) fn optional_number(mut self, field: Option<i64>) -> Self {
        self.hash(&i64::from(field.is_some()).to_le_bytes());
        match field {
            Some(number) => self.number(number),
            None => self.push(ValueRef::Null),
        }
    }

    pub(super) fn money(self, field: Money) -> Self {
        self.number(money_to_column(field))
    }

    /// Adds the four columns of a call's tokens.
    pub(super) fn tokens(self, tokens: &TokenUsage) -> Self {
        let TokenUsage { input, cache_read, cache_write, output } = *tokens;
        let columns = [input, cache_read, cache_write, output].map(|count| count.map(u64::cast_signed));
        columns.into_iter().fold(self, Self::optional_number)
    }

    /// Adds the two columns of a model's name.
    pub(super) fn model(self, name: &'f ModelName) -> Self {
        self.text(&name.provider).text(&name.model)
    }

    pub(super) fn checksum(self) -> RowChecksum {
        self.finish().0
    }

    /// Inserts or replaces the row. The columns are those of the fields, in their order, followed by the checksum `ck`.
    pub(super) fn upsert(self, connection: &Connection, table: &str, columns: &str) -> Result<(), Error> {
        let values = self.into_values();
        let places = vec!["?"; values.len()].join(", ");
        let query = format!("INSERT OR REPLACE INTO {table} ({columns}, ck) VALUES ({places})");
        connection.prepare_cached(&query)?.execute(params_from_iter(values))?;
        Ok(())
    }

    /// Returns the values of the columns, followed by the checksum.
    pub(super) fn into_values(self) -> Vec<ToSqlOutput<'f>> {
        let (checksum, mut values) = self.finish();
        values.push(ToSqlOutput::Owned(Value::Blob(checksum.to_vec())));
        values
    }

    fn finish(self) -> (RowChecksum, Vec<ToSqlOutput<'f>>) {
        let digest: [u8; 32] = self.sum.finalize().into();
        let mut checksum = [0; 16];
        checksum.copy_from_slice(&digest[..16]);
        (checksum, self.values)
    }

    fn hash(&mut self, field: &[u8]) {
        self.sum.update((field.len() as u64).to_le_bytes());
        self.sum.update(field);
    }

    fn push(mut self, value: ValueRef<'f>) -> Self {
        self.values.push(ToSqlOutput::Borrowed(value));
        self
    }
}

/// A row that can be verified, written and merged.
pub(super) trait StoredRow: Sized {
    const TABLE: &'static str;
    /// The name of such a row in reports.
    const LABEL: &'static str;
    /// The columns of [`StoredRow::fields`], in their order.
    const COLUMNS: &'static str;

    fn fields(&self) -> RowFields<'_>;

    /// Parses the columns, in the order of the table, without verifying the checksum. `None` if they are invalid.
    fn parse(columns: &RowColumns<'_>) -> Option<Self>;

    /// Merges the row from an older or newer state of the database, unless the existing one is better.
    fn merge(&self, connection: &Connection) -> Result<(), Error> {
        self.upsert(connection)
    }

    /// Reads a row whose last column is the checksum; `None` if it is damaged.
    fn from_columns(columns: &RowColumns<'_>) -> Option<Self> {
        let row = Self::parse(columns)?;
        (columns.0.last()?.as_blob().ok()? == row.fields().checksum()).then_some(row)
    }

    fn upsert(&self, connection: &Connection) -> Result<(), Error> {
        self.fields().upsert(connection, Self::TABLE, Self::COLUMNS)
    }

    /// Returns the first row that meets a condition, if it is intact.
    fn select_first(
        connection: &Connection,
        condition: &str,
        values: impl Params,
    ) -> Result<Option<Self>, Error> {
        let query = format!("SELECT * FROM {} WHERE {condition}", Self::TABLE);
        let mut statement = connection.prepare_cached(&query)?;
        let found = statement.query_row(values, |row| Ok(Self::from_columns(&RowColumns::from_row(row)?)));
        Ok(found.optional()?.flatten())
    }

    /// Calls `each` with the rows that meet a condition; `None` for one that is damaged.
    fn select_each(
        connection: &Connection,
        condition: &str,
        values: impl Params,
        each: &mut dyn FnMut(Option<Self>),
    ) -> Result<(), Error> {
        let query = format!("SELECT * FROM {} WHERE {condition}", Self::TABLE);
        let mut statement = connection.prepare_cached(&query)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            each(Self::from_columns(&RowColumns::from_row(row)?));
        }
        Ok(())
    }
}

/// The columns of a row. A value of an unexpected type is `None`.
pub(super) struct RowColumns<'r>(Vec<ValueRef<'r>>);

impl<'r> RowColumns<'r> {
    pub(super) fn from_row(row: &'r Row<'_>) -> Result<Self, rusqlite::Error> {
        let count = row.as_ref().column_count();
        (0..count).map(|index| row.get_ref(index)).collect::<Result<_, _>>().map(Self)
    }

    /// Splits the columns of two joined rows.
    pub(super) fn split_at(mut self, count: usize) -> (Self, Self) {
        let rest = self.0.split_off(count.min(self.0.len()));
        (self, Self(rest))
    }

    pub(super) fn number(&self, index: usize) -> Option<i64> {
        self.0.get(index)?.as_i64().ok()
    }

    #[expect(clippy::option_option, reason = "an absent value differs from a damaged one")]
    pub(super) fn optional_number(&self, index: usize) -> Option<Option<i64>> {
        self.0.get(index)?.as_i64_or_null().ok()
    }

    pub(super) fn text(&self, index: usize) -> Option<&'r str> {
        self.0.get(index)?.as_str().ok()
    }

    #[expect(clippy::option_option, reason = "an absent value differs from a damaged one")]
    pub(super) fn optional_text(&self, index: usize) -> Option<Option<&'r str>> {
        self.0.get(index)?.as_str_or_null().ok()
    }

    pub(super) fn bytes(&self, index: usize) -> Option<&'r [u8]> {
        self.0.get(index)?.as_blob().ok()
    }

    pub(super) fn hash(&self, index: usize) -> Option<ContentHash> {
        Some(ContentHash::from_bytes(self.bytes(index)?.try_into().ok()?))
    }

    pub(super) fn key(&self, index: usize) -> Option<SummaryKey> {
        self.hash(index).map(SummaryKey)
    }

    pub(super) fn money(&self, index: usize) -> Option<Money> {
        self.number(index)?.try_into().ok().map(Money::from_nanos)
    }

    /// Reads the name of a model from two columns.
    pub(super) fn model(&self, index: usize) -> Option<ModelName> {
        Some(ModelName { provider: self.text(index)?.to_owned(), model: self.text(index + 1)?.to_owned() })
    }

    /// Reads tokens from four columns.
    pub(super) fn tokens(&self, index: usize) -> Option<TokenUsage> {
        let count = |index| Some(self.optional_number(index)?.map(i64::cast_unsigned));
        Some(TokenUsage {
            input: count(index)?,
            cache_read: count(index + 1)?,
            cache_write: count(index + 2)?,
            output: count(index + 3)?,
        })
    }
}

/// Checks each row of a query, adds the description that `damaged` returns for a damaged row to the report, and deletes
/// the row. Returns how many were damaged.
///
/// The columns at the given indices are the parameters of the second statement. Their values are passed unchanged,
/// because damaged values may be of any type.
pub(super) fn delete_damaged(
    connection: &Connection,
    query: &str,
    delete: &str,
    key: &[usize],
    damaged: impl Fn(&Row<'_>) -> Option<String>,
    report: &mut IntegrityReport,
) -> Result<usize, Error> {
    let mut doomed: Vec<Vec<Value>> = Vec::new();
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        report.rows += 1;
        if let Some(label) = damaged(row) {
            report.damaged_rows.push(label);
            doomed.push(key.iter().map(|column| row.get(*column)).collect::<Result<_, _>>()?);
        }
    }
    for key in &doomed {
        execute(connection, delete, params_from_iter(key))?;
    }
    Ok(doomed.len())
}

/// Executes a statement and returns how many rows it changed.
pub(super) fn execute(connection: &Connection, query: &str, values: impl Params) -> Result<u64, Error> {
    Ok(connection.prepare_cached(query)?.execute(values)? as u64)
}

/// Returns the value of the column that holds an amount.
pub(super) fn money_to_column(amount: Money) -> i64 {
    i64::try_from(amount.nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_fields_with_the_same_concatenation_differ() {
        let sum = |fields: [&str; 2]| RowFields::new("row").text(fields[0]).text(fields[1]).checksum();
        assert_ne!(sum(["ab", "c"]), sum(["a", "bc"]));
        assert_eq!(sum(["ab", "c"]), sum(["ab", "c"]));
    }

    #[test]
    fn an_absent_text_is_not_an_empty_one() {
        let sum = |text| RowFields::new("row").optional_text(text).checksum();
        assert_ne!(sum(None), sum(Some("")));
    }

    #[test]
    fn a_checksum_is_made_with_the_key() {
        let sum = |key: Option<[u8; 32]>| {
            let keyed = key.map(|key| keyed_state(&key));
            RowFields::begin("row", keyed.as_ref()).text("a").checksum()
        };
        assert_eq!(sum(None), RowFields::new("row").text("a").checksum());
        assert_eq!(sum(Some([1; 32])), sum(Some([1; 32])));
        assert_ne!(sum(Some([1; 32])), sum(Some([2; 32])));
        assert_ne!(sum(Some([0; 32])), sum(None));
    }

    #[test]
    fn a_checksum_depends_on_the_kind() {
        assert_ne!(RowFields::new("file/1").checksum(), RowFields::new("content/1").checksum());
    }
}
