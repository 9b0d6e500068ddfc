//! What files are compared with in a diff.

use std::collections::HashMap;
use std::collections::VecDeque;

use super::view::BaseText;
use crate::engine::error::Error;
use crate::engine::history::{Baseline, RevisionText, baseline, texts_at};
use crate::engine::workspace::Workspace;
use crate::model::RelPath;

/// So many old contents are held in memory at once: few, for each may be as large as a file that is read.
const CONTENTS_AT_ONCE: usize = 32;

/// The revision that a diff is against where none is named.
pub(in crate::engine) const HEAD: &str = "HEAD";

/// What files were. Git is asked for some of them at a time, in the order in which they are wanted.
pub(in crate::engine) struct BaseTexts {
    pub(in crate::engine) baseline: Baseline,
    pub(in crate::engine) wanted: VecDeque<RelPath>,
    pub(in crate::engine) known: HashMap<RelPath, RevisionText>,
}

/// Prepares to ask git what files were that an aggregation shows as diffs.
pub(in crate::engine) fn base_texts(
    workspace: &Workspace<'_>,
    against: Option<&str>,
    wanted: VecDeque<RelPath>,
) -> Result<BaseTexts, Error> {
    let baseline = match (against, wanted.is_empty()) {
        (None, true) => Baseline::Nothing(""),
        (revision, _) => baseline(workspace, revision.unwrap_or(HEAD))?,
    };
    Ok(BaseTexts { baseline, wanted, known: HashMap::new() })
}

/// Returns what a file is compared with.
pub(in crate::engine) fn base_text(
    workspace: &Workspace<'_>,
    pasts: &mut BaseTexts,
    path: &RelPath,
) -> BaseText {
    let (id, label) = match &pasts.baseline {
        Baseline::Nothing(why) => return BaseText::Nothing(why),
        Baseline::Commit { id, label } => (id, label.clone()),
    };
    while !pasts.known.contains_key(path) && !pasts.wanted.is_empty() {
        let count = CONTENTS_AT_ONCE.min(pasts.wanted.len());
        let some: Vec<RelPath> = pasts.wanted.drain(..count).collect();
        pasts.known.extend(texts_at(workspace, id, &some.iter().collect::<Vec<_>>()));
    }
    BaseText::Known(pasts.known.remove(path).unwrap_or(RevisionText::Absent), label)
}
