//! Documents, from the selected files to the text that is delivered.

mod base_texts;
mod cache;
mod compose;
mod delivery;
mod draft;
mod explain;
mod fit;
mod gather;
mod ladders;
mod output;
mod partial_views;
mod render;
mod request;
mod run;
mod sections;
mod select;
mod stability;
mod view;
mod view_cache;
mod views;

pub use cache::CachedDocument;
pub use compose::PreparedDocument;
pub use explain::Explanation;
pub use explain::LimitedView;
pub use output::PriorOutputs;
pub use request::AggregationRequest;
pub use request::DocumentHistory;
pub use sections::DiscussionSource;
pub use sections::ImageFile;
pub use sections::SectionRequest;
pub use select::DocumentInputs;
pub use select::InputsDigest;
pub use views::ViewAnswer;
pub use views::ViewRequest;

pub(in crate::engine) use cache::DocumentCaches;
pub(in crate::engine) use delivery::{PendingDelivery, confirm_delivery};
pub(in crate::engine) use output::{prior_outputs, prune_outputs, write_file, write_numbered};
pub(in crate::engine) use run::DocumentRun;
#[cfg(test)]
pub(in crate::engine) use sections::sections;
