//! A row as it is read: its columns, and the checksum that it carries.
//!
//! SQLite's own checks detect neither a flipped bit within a value nor a row that is stored under another row's key. So a
//! checksum is taken over all that a row holds *and* over what it is about, and compared on every read.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Params, Row};
use sha2::{Digest, Sha256};

use super::Error;
use crate::model::{ContentHash, ModelName, Money, SummaryKey, TokenUsage};

/// The first 16 bytes of a SHA-256.
pub(in crate::store) type RowChecksum = [u8; 16];

/// Hashes the fields of a row, each with its length before it, so that no two lists of fields give the same bytes.
pub(in crate::store) struct ChecksumBuilder(Sha256);

impl ChecksumBuilder {
    /// Starts the checksum of a row of that kind. The kind carries a version, which rises when the meaning of a field
    /// or the encoding of a body changes: then the rows written before are misses, not nonsense.
    pub(in crate::store) fn new(kind: &str) -> Self {
        Self(Sha256::new()).bytes(kind.as_bytes())
    }

    /// Adds bytes.
    pub(in crate::store) fn bytes(mut self, field: &[u8]) -> Self {
        self.0.update((field.len() as u64).to_le_bytes());
        self.0.update(field);
        self
    }

    /// Adds a text.
    pub(in crate::store) fn text(self, field: &str) -> Self {
        self.bytes(field.as_bytes())
    }

    /// Adds a number.
    pub(in crate::store) fn number(self, field: i64) -> Self {
        self.bytes(&field.to_le_bytes())
    }

    /// Adds a text that may be absent, which is not the same as an empty one.
    pub(in crate::store) fn optional_text(self, field: Option<&str>) -> Self {
        match field {
            Some(text) => self.number(1).text(text),
            None => self.number(0),
        }
    }

    /// Adds a number that may be absent, which is not the same as 0.
    pub(in crate::store) fn optional_number(self, field: Option<i64>) -> Self {
        match field {
            Some(number) => self.number(1).number(number),
            None => self.number(0),
        }
    }

    /// Adds the columns of a call's tokens.
    pub(in crate::store) fn tokens(self, tokens: &TokenUsage) -> Self {
        tokens_to_columns(tokens).into_iter().fold(self, Self::optional_number)
    }

    /// Adds the two columns of a model's name.
    pub(in crate::store) fn model(self, name: &ModelName) -> Self {
        self.text(&name.provider).text(&name.model)
    }

    /// Returns the checksum.
    pub(in crate::store) fn finish(self) -> RowChecksum {
        let digest: [u8; 32] = self.0.finalize().into();
        let mut checksum = [0; 16];
        checksum.copy_from_slice(&digest[..16]);
        checksum
    }
}

/// The columns of a row. A value of another type than was once written is `None`.
pub(in crate::store) struct RowColumns<'r>(Vec<ValueRef<'r>>);

impl<'r> RowColumns<'r> {
    /// Returns the columns of a row from `first` on.
    pub(in crate::store) fn from_row(row: &'r Row<'_>, first: usize) -> Result<Self, rusqlite::Error> {
        (first..row.as_ref().column_count())
            .map(|index| row.get_ref(index))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns the columns after the first `count`.
    pub(in crate::store) fn after(&self, count: usize) -> Self {
        Self(self.0.get(count..).unwrap_or_default().to_vec())
    }

    pub(in crate::store) fn number(&self, index: usize) -> Option<i64> {
        self.0.get(index)?.as_i64().ok()
    }

    #[expect(clippy::option_option, reason = "a value that is absent is not one that is damaged")]
    pub(in crate::store) fn optional_number(&self, index: usize) -> Option<Option<i64>> {
        self.0.get(index)?.as_i64_or_null().ok()
    }

    pub(in crate::store) fn text(&self, index: usize) -> Option<&'r str> {
        self.0.get(index)?.as_str().ok()
    }

    #[expect(clippy::option_option, reason = "a value that is absent is not one that is damaged")]
    pub(in crate::store) fn optional_text(&self, index: usize) -> Option<Option<&'r str>> {
        self.0.get(index)?.as_str_or_null().ok()
    }

    pub(in crate::store) fn bytes(&self, index: usize) -> Option<&'r [u8]> {
        self.0.get(index)?.as_blob().ok()
    }

    pub(in crate::store) fn hash(&self, index: usize) -> Option<ContentHash> {
        Some(ContentHash::from_bytes(self.bytes(index)?.try_into().ok()?))
    }

    pub(in crate::store) fn key(&self, index: usize) -> Option<SummaryKey> {
        self.hash(index).map(SummaryKey)
    }

    pub(in crate::store) fn money(&self, index: usize) -> Option<Money> {
        self.number(index)?.try_into().ok().map(Money::from_nanos)
    }

    /// Reads the name of a model from two columns.
    pub(in crate::store) fn model(&self, index: usize) -> Option<ModelName> {
        Some(ModelName { provider: self.text(index)?.to_owned(), model: self.text(index + 1)?.to_owned() })
    }

    /// Reads tokens from four columns.
    pub(in crate::store) fn tokens(&self, index: usize) -> Option<TokenUsage> {
        let count = |index| Some(self.optional_number(index)?.map(i64::cast_unsigned));
        Some(TokenUsage {
            input: count(index)?,
            cache_read: count(index + 1)?,
            cache_write: count(index + 2)?,
            output: count(index + 3)?,
        })
    }

    /// Returns `None` where the checksum in that column is not this one.
    pub(in crate::store) fn verify_checksum(&self, index: usize, sum: RowChecksum) -> Option<()> {
        (self.bytes(index)? == sum).then_some(())
    }
}

/// Returns the values of the four columns that hold the tokens of a call.
pub(in crate::store) fn tokens_to_columns(tokens: &TokenUsage) -> [Option<i64>; 4] {
    let TokenUsage { input, cache_read, cache_write, output } = *tokens;
    [input, cache_read, cache_write, output].map(|count| count.map(u64::cast_signed))
}

/// Returns the value of the column that holds an amount.
pub(in crate::store) fn money_to_column(amount: Money) -> i64 {
    i64::try_from(amount.nanos()).unwrap_or(i64::MAX)
}

/// Returns what `read` makes of the first row of a query; `None` where there is no row, or a damaged one.
pub(in crate::store) fn select_first<T>(
    connection: &Connection,
    query: &str,
    values: impl Params,
    read: fn(&RowColumns<'_>) -> Option<T>,
) -> Result<Option<T>, Error> {
    let mut statement = connection.prepare_cached(query)?;
    let found = statement.query_row(values, |row| Ok(read(&RowColumns::from_row(row, 0)?)));
    Ok(found.optional()?.flatten())
}

/// Calls `each` with what `read` makes of each row of a query; `None` for a damaged row.
pub(in crate::store) fn select_each<T>(
    connection: &Connection,
    query: &str,
    values: impl Params,
    read: fn(&RowColumns<'_>) -> Option<T>,
    each: &mut dyn FnMut(Option<T>),
) -> Result<(), Error> {
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        each(read(&RowColumns::from_row(row, 0)?));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_join_to_the_same_bytes_differ() {
        let sum = |fields: [&str; 2]| ChecksumBuilder::new("row").text(fields[0]).text(fields[1]).finish();
        assert_ne!(sum(["ab", "c"]), sum(["a", "bc"]));
        assert_eq!(sum(["ab", "c"]), sum(["ab", "c"]));
    }

    #[test]
    fn an_absent_text_is_not_an_empty_one() {
        let sum = |text| ChecksumBuilder::new("row").optional_text(text).finish();
        assert_ne!(sum(None), sum(Some("")));
    }

    #[test]
    fn a_checksum_knows_its_kind() {
        assert_ne!(ChecksumBuilder::new("file/1").finish(), ChecksumBuilder::new("content/1").finish());
    }
}
