//! Documents, from the selected files to the text that is delivered.

mod cache;
mod compose;
mod delivery;
mod explain;
mod fit;
mod gather;
mod ladders;
mod output;
mod overrides;
mod render;
mod sections;
mod stability;
mod view_cache;

pub use cache::CachedDocument;
pub use cache::DocumentInputs;
pub use cache::InputsDigest;
pub use compose::PreparedDocument;
pub use delivery::DocumentHistory;
pub use explain::Explanation;
pub use explain::LimitedView;
pub use gather::AggregationRequest;
pub use output::PriorOutputs;
pub use overrides::ViewRequest;
pub use sections::DiscussionSource;
pub use sections::ImageFile;
pub use sections::SectionRequest;

pub(in crate::engine) use cache::DocumentCache;
pub(in crate::engine) use delivery::PendingDelivery;
pub(in crate::engine) use overrides::{BaseText, ViewOverrides};
pub(in crate::engine) use render::{ViewParams, block};
pub(in crate::engine) use view_cache::ViewCache;
