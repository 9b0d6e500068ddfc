//! By what a table is brought up to date, and what has become of it.

use std::sync::Arc;

use super::rows::TableRow;
use crate::aggregate::Focus;
use crate::engine::document::{AggregationRequest, InputsKey};
use crate::store::FileRow;

/// What a table depends on besides its files. If it is what it was, a file that has not changed has the row that it had;
/// other items make other rows of the files alone that they apply to.
#[derive(Clone)]
pub(super) struct TableBasis {
    pub(super) request: AggregationRequest,
    pub(super) inputs: Arc<InputsKey>,
    pub(super) focus: Focus,
    /// The number of what models had written.
    pub(super) summaries: Option<u64>,
    /// The row of each file of the listing.
    pub(super) places: Vec<usize>,
}

/// What has become of a table.
pub(super) struct TableUpdate {
    /// The rows of files that have changed; `None` if none has.
    pub(super) rows: Option<Vec<(usize, TableRow)>>,
    /// The stored rows of the files that were looked into, by their positions in the listing.
    pub(super) seen: Vec<(usize, Option<Arc<FileRow>>)>,
    pub(super) budget_tokens: Option<u64>,
    /// The request that the rows are of, if it has other items.
    pub(super) request: Option<AggregationRequest>,
    /// Whether only files were looked into that events have reported.
    pub(super) trusted_events: bool,
}
