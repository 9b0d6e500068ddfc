//! The columns of a row, whether SQLite read it or it was found in the bytes of a damaged file.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::super::checksum::ChecksumBuilder;
use super::super::checksum::RowChecksum;
use crate::model::ContentHash;
use crate::model::ModelName;
use crate::model::Money;
use crate::model::SummaryKey;
use crate::model::TokenUsage;

/// Values that are not what was once written are `None`, whatever they are instead.
pub(super) struct RowColumns<'r>(Vec<ValueRef<'r>>);

impl<'r> RowColumns<'r> {
    /// Takes columns as they are.
    pub(super) const fn new(values: Vec<ValueRef<'r>>) -> Self {
        Self(values)
    }

    /// Takes `count` columns of a row, from `first` on.
    pub(super) fn from_row(row: &'r Row<'_>, first: usize, count: usize) -> Result<Self, rusqlite::Error> {
        (first..first + count).map(|index| row.get_ref(index)).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn number(&self, index: usize) -> Option<i64> {
        self.0.get(index)?.as_i64().ok()
    }

    #[expect(clippy::option_option, reason = "a value that is absent is not one that is damaged")]
    pub(super) fn optional_number(&self, index: usize) -> Option<Option<i64>> {
        self.0.get(index)?.as_i64_or_null().ok()
    }

    pub(super) fn text(&self, index: usize) -> Option<&'r str> {
        self.0.get(index)?.as_str().ok()
    }

    #[expect(clippy::option_option, reason = "a value that is absent is not one that is damaged")]
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

    /// Says whether the checksum in that column is this one.
    pub(super) fn verify_checksum(&self, index: usize, sum: RowChecksum) -> Option<()> {
        (self.bytes(index)? == sum).then_some(())
    }
}

/// Returns tokens as four columns hold them.
pub(super) fn tokens_to_columns(tokens: &TokenUsage) -> [Option<i64>; 4] {
    let TokenUsage { input, cache_read, cache_write, output } = *tokens;
    [input, cache_read, cache_write, output].map(|count| count.map(u64::cast_signed))
}

/// Returns an amount as a column holds it.
pub(super) fn money_to_column(amount: Money) -> i64 {
    i64::try_from(amount.nanos()).unwrap_or(i64::MAX)
}

/// Takes a number that may be absent into a checksum, which is not the same as 0.
pub(super) fn hash_optional_number(sum: ChecksumBuilder, number: Option<i64>) -> ChecksumBuilder {
    match number {
        Some(number) => sum.number(1).number(number),
        None => sum.number(0),
    }
}

/// Takes in the columns of tokens.
pub(super) fn hash_tokens(sum: ChecksumBuilder, tokens: &TokenUsage) -> ChecksumBuilder {
    tokens_to_columns(tokens).into_iter().fold(sum, hash_optional_number)
}

/// Takes in the columns of a model.
pub(super) fn hash_model(sum: ChecksumBuilder, by: &ModelName) -> ChecksumBuilder {
    sum.text(&by.provider).text(&by.model)
}
