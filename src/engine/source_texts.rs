//! Texts of single files with their outlines for a language server, from the disk or from an editor's buffers.
//!
//! A buffer is shown like its file if it were saved: without secrets, and without what masks hide. Nothing derived from
//! it is stored, because no file has that content.

use std::path::PathBuf;
use std::sync::Arc;

use crate::discover::{HeaderNeighbors, detect_file_type};
use crate::engine::artifacts::{
    ArtifactCache, ContentRef, hide_by_settings, hide_in_buffer, outline_of_text,
};
use crate::engine::error::Error;
use crate::engine::index::{FileSelector, Trust};
use crate::engine::workspace::{KnownFile, KnownState, RawText, Workspace};
use crate::model::{FileType, Outline, RelPath, SkipReason, bytes_as_path, on_all_cores};

/// A file whose text is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRequest {
    /// Its path, absolute or relative to the root; never a pattern.
    pub file: String,
    /// The text in an editor; `None` for that on the disk.
    pub buffer: Option<Arc<String>>,
}

/// The visible text of a file.
#[derive(Debug, Clone)]
pub struct SourceText {
    pub path: RelPath,
    /// The absolute path.
    pub location: PathBuf,
    pub file_type: &'static FileType,
    /// The text without secrets and without what masks hide. Lines keep their numbers.
    pub text: String,
    /// `None` if the type has none, or it was not requested.
    pub outline: Option<Outline>,
}

/// Returns the texts of files, in the order of the requests; `None` for what is not a file of the project, or is not
/// shown.
pub(super) fn source_texts(
    cache: &mut ArtifactCache<'_>,
    requests: &[SourceRequest],
    with_outlines: bool,
) -> Result<Vec<Option<SourceText>>, Error> {
    cache.workspace.hidden.clear();
    let mut selector = FileSelector::new(cache, Trust::Stamps, &|_| false);
    let mut selected = Vec::with_capacity(requests.len());
    for request in requests {
        cache.workspace.check_cancelled()?;
        selected.push(selector.select_path(cache, &request.file).ok().flatten());
    }
    selector.save(cache);
    let on_disk = |(request, file): (&SourceRequest, &Option<KnownFile>)| {
        file.clone().filter(|_| request.buffer.is_none())
    };
    let mut files: Vec<KnownFile> = requests.iter().zip(&selected).filter_map(on_disk).collect();
    hide_by_settings(cache, &mut files);
    let workspace = &cache.workspace;
    let texts = on_all_cores(&files, |file| {
        ContentRef::from_file(file).and_then(|_| workspace.read_text(&file.path).ok())
    });
    let mut on_disk = files.iter().zip(texts);
    let mut found = Vec::with_capacity(requests.len());
    for (request, file) in requests.iter().zip(&selected) {
        found.push(match (file, &request.buffer) {
            (None, _) => None,
            (Some(file), Some(buffer)) => buffer_source(&cache.workspace, file, buffer, with_outlines),
            (Some(_), None) => on_disk.next().and_then(|(file, text)| {
                let (hash, text) = text?;
                let subject = ContentRef::from_file(file)?;
                let outline = match with_outlines {
                    // The file was written between the two reads, and the outline has to match the text.
                    true if hash != subject.hash => {
                        outline_of_text(&cache.workspace, &file.path, &text, subject.file_type)
                    }
                    true => cache.outline(&subject),
                    false => None,
                };
                Some(source(&cache.workspace, &file.path, subject.file_type, text, outline))
            }),
        });
    }
    cache.workspace.check_cancelled()?;
    Ok(found)
}

/// Returns a buffer as if it were saved to its file.
fn buffer_source(
    workspace: &Workspace<'_>,
    file: &KnownFile,
    buffer: &str,
    with_outline: bool,
) -> Option<SourceText> {
    let path = &file.path;
    // A file that does not exist yet may have the name of a secret.
    if workspace.names.skip_reason(path).is_some()
        || workspace.options.structure_max_bytes < buffer.len() as u64
    {
        return None;
    }
    let (text, facts) = RawText::decode(path, buffer.as_bytes()).ok()?;
    let file_type = match &file.state {
        KnownState::Content { file_type, .. } => file_type,
        KnownState::LeftOut(SkipReason::Vanished) => {
            detect_file_type(path, &facts, &HeaderNeighbors::default())
        }
        KnownState::LeftOut(_) => return None,
    };
    let text = text.without_secrets().text.into_owned();
    let text = hide_in_buffer(workspace, path, &text, file_type).unwrap_or(text);
    let outline = with_outline.then(|| outline_of_text(workspace, path, &text, file_type)).flatten();
    Some(source(workspace, path, file_type, text, outline))
}

fn source(
    workspace: &Workspace<'_>,
    path: &RelPath,
    file_type: &'static FileType,
    text: String,
    outline: Option<Outline>,
) -> SourceText {
    let location = match workspace.files.mount_of(path.as_bytes()) {
        Some((mount, inside)) => mount.linked.path.join(bytes_as_path(inside)),
        None => workspace.root.join(path.as_path()),
    };
    SourceText { path: path.clone(), location, file_type, text, outline }
}
