//! What is derived from file contents, and the cache that keeps it.

mod agent_db;
mod cache;
mod derive;
mod importance;
mod lookup;
mod maintenance;
mod skeletons;
mod tokens;

pub use agent_db::ClearedSummaries;
pub use cache::make_cache_folder;
pub use maintenance::CacheStatus;
pub use maintenance::ClearedCache;
pub use maintenance::ExportedArtifacts;

pub(in crate::engine) use derive::{
    derive, identify, outline_producers, producer, producers, producers_fingerprint,
};
pub(in crate::engine) use importance::ImportanceInputs;
pub(in crate::engine) use lookup::ContentRef;
