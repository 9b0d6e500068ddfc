//! Documents, from the request to the text that is delivered.
//!
//! | step | where |
//! |---|---|
//! | find the files and the attachments | `inputs` |
//! | determine the view of each file | `routing` |
//! | render the files | `gather`, with `rendering` |
//! | rank the files by task, focus and history | `prepare` |
//! | leave out what the reader has | `delivery` |
//! | select what a limited document has room for | `packing` |
//! | order the files | `stability` |
//! | put the document together | `compose`, with `overview` and `symbol_counts` |
//! | write it to a file | `output` |
//!
//! `cache` holds documents and views for the next answer (`cached`), and `opened` the documents that a client reads.
//! `views` shows single files, `explain` says why a file is shown as it is, and `placement` does so for all files.
//! `hydration` places fragments. `run` is their common context.

mod cache;
mod cached;
mod compose;
mod delivery;
mod draft;
mod explain;
mod gather;
mod hydration;
mod inputs;
mod opened;
mod output;
mod overview;
mod packing;
mod placement;
mod prepare;
mod rendering;
mod request;
mod routing;
mod run;
mod stability;
mod symbol_counts;
#[cfg(test)]
mod tests;
mod views;

pub use cache::CachedDocument;
pub use delivery::{DeliveredFileDiff, DeliveredFileState, DeliveredFileStatus, RecordName};
pub use explain::{Explanation, LimitedView, RankedName, RecentChanges};
pub use hydration::{HydrationAnswer, HydrationRequest, NamedFragments};
pub use inputs::{DocumentInputs, InputsDigest};
pub use opened::OpenedDocument;
pub use output::PriorOutputs;
pub use prepare::PreparedDocument;
pub use rendering::{UNKNOWN_SYMBOLS, ViewAnswer};
pub use request::{
    AggregationRequest, BeadsRequest, DiscussionSource, DiscussionText, DocumentCacheKey, DocumentHistory,
    HydratedPlaces, ImageFile, SectionRequest, ViewRequest,
};

pub(in crate::engine) use cache::{DocumentCaches, InputsKey};
pub(in crate::engine) use delivery::{PendingDelivery, confirm_delivery};
pub(in crate::engine) use hydration::{count_uses, fragments, with_places};
pub(in crate::engine) use inputs::project_image;
pub(in crate::engine) use opened::OpenedDocuments;
pub(in crate::engine) use output::{prior_outputs, prune_outputs, write_file, write_numbered};
pub(in crate::engine) use placement::{ComposedPlacements, FilePlacement, Placements};
pub(in crate::engine) use routing::merged_items;
pub(in crate::engine) use run::DocumentRun;
