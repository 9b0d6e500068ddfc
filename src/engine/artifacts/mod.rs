//! Artifacts derived from file contents, and their cache.
//!
//! [`ArtifactCache`] owns the store and artifacts that could not be stored; every access to the store goes through it.
//! May import `workspace`.

mod cache;
mod derive;
mod facts;
mod hidden;
mod importance;
mod kept_vectors;
mod lookup;
mod maintenance;
mod on_demand;
mod symbol_hashes;
mod terms;
#[cfg(test)]
mod tests;

pub use cache::{cache_folder, make_cache_folder};
pub use maintenance::{CacheStatus, ClearedCache, ExportedArtifacts};

pub(in crate::engine) use cache::{ArtifactCache, ContentKey};
pub(in crate::engine) use derive::{
    IdentifiedBytes, LARGE_BYTES, derive, identify, outline_producers, producer, producers,
};
pub(in crate::engine) use facts::{FactsByContent, load_facts, text_facts};
pub(in crate::engine) use hidden::{
    TextVersions, has_lost_symbols, hide, hide_by_settings, hide_in_buffer, hide_in_earlier,
    hides_by_settings, outline_of_text, type_of_text,
};
pub(in crate::engine) use importance::importance;
pub(in crate::engine) use kept_vectors::KeptVectors;
pub(in crate::engine) use lookup::{ContentRef, SkeletonPrefetch, check_skeleton, checked_skeleton};
pub(in crate::engine) use maintenance::{
    cache_status, clear_artifacts, clear_cache, clear_files, collect_garbage, export_cache, require_cached,
    salvage_agent_db, verify_cache,
};
pub(in crate::engine) use symbol_hashes::{StoredStructure, save_symbol_hashes, stored_structure};
pub(in crate::engine) use terms::term_vectors;
