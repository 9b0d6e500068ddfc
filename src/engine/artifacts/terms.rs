//! The terms of each text, which tasks are matched with.

use std::collections::HashMap;

use super::cache::{ArtifactCache, ContentKey};
use super::lookup::with_content;
use super::on_demand::OnDemandArtifact;
use crate::engine::parallel::on_all_cores;
use crate::engine::workspace::KnownFile;
use crate::model::{ArtifactKind, FileRole, FileType};
use crate::search::VectorBuilder;
use crate::store::{ArtifactBody, Store};

/// Of prose and data, which programs write by the megabyte, only so many bytes are looked at.
const MAX_BYTES_BESIDES_CODE: usize = 128 << 10;

/// Returns the encoded term vectors of those files that have a text.
pub(in crate::engine) fn term_vectors(
    cache: &mut ArtifactCache<'_>,
    files: &[&KnownFile],
) -> HashMap<ContentKey, Vec<u8>> {
    let artifact = OnDemandArtifact {
        kind: ArtifactKind::Terms,
        take: |body| match body {
            ArtifactBody::Terms(terms) => Some(terms),
            _ => None,
        },
        to_body: ArtifactBody::Terms,
        stored: Store::get_terms,
        derive: |cache, subjects| {
            let workspace = &cache.workspace;
            on_all_cores(subjects, |subject| {
                with_content(workspace, subject, |content| {
                    let text = content.text.text.as_bytes();
                    VectorBuilder::default().build(&text[..indexed_bytes(text, subject.file_type)])
                })
            })
        },
    };
    artifact.of_files(cache, files)
}

/// Returns how much of a text is indexed: whole lines, unless the first one is very long.
fn indexed_bytes(text: &[u8], file_type: &FileType) -> usize {
    if file_type.role == FileRole::Code || text.len() <= MAX_BYTES_BESIDES_CODE {
        return text.len();
    }
    memchr::memrchr(b'\n', &text[..MAX_BYTES_BESIDES_CODE]).unwrap_or(MAX_BYTES_BESIDES_CODE)
}
