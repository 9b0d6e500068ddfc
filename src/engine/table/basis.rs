//! The data for updating a table, and the result of an update.

use std::sync::Arc;

use super::rows::TableRow;
use crate::aggregate::Focus;
use crate::engine::document::{AggregationRequest, InputsKey};
use crate::store::FileRow;

/// What a table depends on besides its files. While it is unchanged, unchanged files keep their rows; changed items
/// only affect the rows of the files that they apply to.
#[derive(Clone)]
pub(super) struct TableBasis {
    pub(super) request: AggregationRequest,
    pub(super) inputs: Arc<InputsKey>,
    pub(super) focus: Focus,
    /// The generation of the model summaries.
    pub(super) summaries: Option<u64>,
    /// The row of each file of the listing.
    pub(super) places: Vec<usize>,
}

/// The result of updating a table.
pub(super) struct TableUpdate {
    /// The rows that have changed; `None` if none has.
    pub(super) rows: Option<Vec<(usize, TableRow)>>,
    /// The stored rows of the checked files, by their positions in the listing.
    pub(super) seen: Vec<(usize, Option<Arc<FileRow>>)>,
    pub(super) budget_tokens: Option<u64>,
    /// The request of the new rows, if it has other items.
    pub(super) request: Option<AggregationRequest>,
    /// Whether only files reported by events were checked.
    pub(super) trusted_events: bool,
}
