//! What is derived from file contents, and the cache that keeps it.

mod agent_db;
mod cache;
mod derive;
mod importance;
mod lookup;
mod maintenance;
mod shared_rows;
mod skeletons;
mod tokens;

pub use cache::make_cache_folder;
pub use maintenance::CacheStatus;
pub use maintenance::ClearedCache;
pub use maintenance::ExportedArtifacts;

pub(in crate::engine) use agent_db::salvage_agent_db;
pub(in crate::engine) use cache::ArtifactCache;
pub(in crate::engine) use derive::{derive, identify, outline_producers, producer, producers};
pub(in crate::engine) use importance::{ImportanceInputs, importance};
pub(in crate::engine) use lookup::ContentRef;
pub(in crate::engine) use maintenance::{
    cache_status, clear_artifacts, clear_cache, clear_files, collect_garbage, export_cache, verify_cache,
};
pub(in crate::engine) use skeletons::{SkeletonPrefetch, checked_skeleton};
