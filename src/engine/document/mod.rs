//! Documents, from the request to the text that is delivered.
//!
//! The steps hand their results on: `select` finds the files, `gather` routes and renders them (`render`, `view`), `pack`
//! selects what a limited document has room for (`pack_costs`, `named_files`, `excerpts`, `parsed_texts`, `placed_files`,
//! `fit`), `delivery` leaves out what the reader has (`delta` shows what has changed of it, and `known_views` compares it
//! with what another request wants), `stability` orders, and `compose` puts the document together, which `measure`
//! measures; `symbol_counts` counts for the receipt. `ineffective_masks` finds entries of a question that hide or show
//! nothing, and `unshown_items` those for files of which nothing can be shown. `placement` says how a document shows each
//! file, for a table of all files. `cache` keeps documents and views for the next answer, `opened` those that a client looks
//! at, and `given` says what has changed since one was delivered.
//! `hydrate` places fragments, `hydrated_order` orders those that are HOT, and `fragments` has what is asked of them
//! between hydrations. May import all other folders.

#[cfg(test)]
mod budget_tests;
mod cache;
#[cfg(test)]
mod cancel_tests;
mod compose;
mod delivery;
mod delta;
mod excerpts;
mod explain;
mod fit;
mod focus;
mod fragments;
mod gather;
mod given;
mod hydrate;
#[cfg(test)]
mod hydrate_tests;
mod hydrated_order;
mod image_patterns;
mod ineffective_masks;
mod known_views;
#[cfg(test)]
mod masked_tests;
mod measure;
mod named_files;
mod opened;
mod output;
mod overview;
mod pack;
mod pack_costs;
mod pack_stable;
mod parsed_texts;
mod placed_files;
mod placement;
mod render;
mod request;
mod sections;
mod select;
mod stability;
#[cfg(test)]
mod summary_tests;
mod symbol_counts;
mod task;
#[cfg(test)]
mod tests;
mod unshown_items;
mod view;
mod views;

pub use cache::CachedDocument;
pub use compose::PreparedDocument;
pub use explain::{Explanation, LimitedView, RankedName, RecentChanges};
pub use fragments::NamedFragments;
pub use given::{GivenChange, GivenFile, GivenFileState, RecordName};
pub use hydrate::{HydrationAnswer, HydrationRequest};
pub use opened::OpenedDocument;
pub use output::PriorOutputs;
pub(in crate::engine) use placement::{ComposedPlacements, FilePlacement, Placements};
pub use request::{
    AggregationRequest, BeadsRequest, DiscussionSource, DiscussionText, DocumentCacheKey, DocumentHistory,
    HydratedPlaces, ImageFile, SectionRequest, ViewRequest,
};
pub use select::{DocumentInputs, InputsDigest};
pub use view::{UNKNOWN_SYMBOLS, ViewAnswer};

pub(in crate::engine) use cache::{DocumentCaches, InputsKey};
pub(in crate::engine) use delivery::{PendingDelivery, confirm_delivery};
pub(in crate::engine) use fragments::{count_uses, fragments, with_places};
pub(in crate::engine) use gather::merged_items;
pub(in crate::engine) use opened::OpenedDocuments;
pub(in crate::engine) use output::{prior_outputs, prune_outputs, write_file, write_numbered};
pub(in crate::engine) use render::DocumentRun;
pub(in crate::engine) use sections::project_image;
