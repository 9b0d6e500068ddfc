//! Questions about single files: they look at those files alone, so that an answer comes in milliseconds.

use crate::aggregate;
use crate::engine::artifacts::{ArtifactCache, ContentRef};
use crate::engine::error::Error;
use crate::engine::index::{FileSelection, Trust, select_named};
use crate::engine::workspace::{KnownFile, KnownState};
use crate::model::ContentHash;
use crate::model::FileType;
use crate::model::Outline;
use crate::model::RelPath;
use crate::model::ViewMode;

/// The outline of one file.
#[derive(Debug, Clone)]
pub struct OutlineAnswer {
    /// The file.
    pub path: RelPath,
    /// Its content.
    pub hash: ContentHash,
    /// Its type.
    pub file_type: &'static FileType,
    /// Lines of its text.
    pub lines: u32,
    /// The outline.
    pub outline: Outline,
}

impl OutlineAnswer {
    /// Returns the symbols, one a line.
    pub fn text(&self) -> String {
        aggregate::render_outline(&self.outline)
    }
}

/// Returns the outlines of the files that are named, or of all files that have one, by path.
pub(in crate::engine) fn outlines(
    cache: &mut ArtifactCache<'_>,
    words: &[String],
    trust: Trust,
) -> Result<Vec<OutlineAnswer>, Error> {
    let FileSelection { mut files, named: by_name, .. } = select_named(cache, words, trust, &|_| false)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    for file in files.iter().filter(|file| by_name.contains(&file.path)) {
        must_have_outline(file)?;
    }
    let outlines = outlines_of(cache, &files);
    cache.workspace.check_cancelled()?;
    Ok(outlines)
}

/// Returns the outlines of those files that have one.
pub(in crate::engine) fn outlines_of(
    cache: &mut ArtifactCache<'_>,
    files: &[KnownFile],
) -> Vec<OutlineAnswer> {
    let mut answers = Vec::new();
    for subject in files.iter().filter_map(ContentRef::from_file) {
        if cache.workspace.world.progress.is_cancelled() {
            // The caller is to look whether these are all.
            break;
        }
        let answer = cache.outline(&subject).map(|outline| OutlineAnswer {
            path: subject.path.clone(),
            hash: subject.hash,
            file_type: subject.file_type,
            lines: subject.facts.lines,
            outline,
        });
        answers.extend(answer);
    }
    answers
}

fn must_have_outline(file: &KnownFile) -> Result<(), Error> {
    let path = file.path.clone();
    match &file.state {
        KnownState::LeftOut(reason) => Err(Error::LeftOut { path, reason: *reason }),
        KnownState::Content { file_type, .. } if crate::syntax::has_structure(file_type.id) => Ok(()),
        KnownState::Content { file_type, .. } => {
            let feature = crate::syntax::missing_feature(file_type.id);
            Err(Error::NoSuchView { path, view: ViewMode::Outline, file_type: file_type.name, feature })
        }
    }
}
