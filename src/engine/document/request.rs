//! Requests for documents and views.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::aggregate::{DocumentLimits, HydratedDepths, TierOptions};
use crate::engine::fingerprint::Fingerprint;
use crate::engine::index::Trust;
use crate::model::{
    AggregationStrategy, ContentHash, DocsDetail, DocumentPart, FileItem, FileOrder, FragmentName, MaskMode,
    RelPath, ViewMode,
};

/// What is to be aggregated, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregationRequest {
    /// The view of the project for the agent's tier, if a tier was requested.
    pub tier: Option<TierOptions>,
    /// How the views of the files are chosen.
    pub strategy: AggregationStrategy,
    /// The view where nothing else decides.
    pub default_mode: ViewMode,
    /// Whether a document about the whole project begins with an overview.
    pub overview: bool,
    /// How much documentation a skeleton shows.
    pub docs: DocsDetail,
    /// The order of the files in the document.
    pub order: FileOrder,
    /// Words for the files in focus.
    pub focus: Vec<String>,
    /// The task of the reader, in words; it decides what a limited document shows.
    pub task: Option<String>,
    /// Words for the files that are wanted. If empty, the files of the preset, or all files without a preset.
    pub files: Vec<String>,
    /// Patterns of which each file has to match one, if there are any.
    pub include: Vec<String>,
    /// Patterns of files to leave out.
    pub exclude: Vec<String>,
    /// The base revision of diffs; `None` for the last commit.
    pub base: Option<String>,
    /// The curated items of single files; the last one wins.
    pub items: Vec<FileItem>,
    /// The files of a preset, with its items, which override the others. Missing files are reported, and are not an
    /// error.
    pub preset: Option<Vec<FileItem>>,
    /// Items for this document alone: the one that applies to a file replaces all others.
    pub overrides: Vec<FileItem>,
    /// The places of files, if the document should contain those that are HOT; filled in by
    /// [`Project::with_places`](crate::engine::Project::with_places).
    pub hydrated: Option<HydratedPlaces>,
    /// The maximum size of the document.
    pub limits: DocumentLimits,
    /// Whether the receipt has exact token counts, which take time.
    pub exact_tokens: bool,
    /// Whether the receipt counts symbols, which requires the outlines of all shown files.
    pub counts_symbols: bool,
    /// Whether an unchanged stamp saves reading a file.
    pub trust: Trust,
    /// The attachments.
    pub sections: SectionRequest,
    /// How the document is recorded, if it is.
    pub history: Option<DocumentHistory>,
}

impl AggregationRequest {
    /// Returns whether the document is about the whole project.
    pub(in crate::engine) fn is_whole(&self) -> bool {
        self.files.is_empty() && self.preset.is_none() && self.include.is_empty() && self.exclude.is_empty()
    }

    /// Returns whether a task or a focus says what matters.
    pub(super) fn is_guided(&self) -> bool {
        self.task.is_some() || !self.focus.is_empty()
    }
}

impl AggregationRequest {
    /// Returns a hash of everything that selects files and decides how they are shown. What fits a default limit
    /// depends on the project alone.
    pub(super) fn choice_hash(&self) -> ContentHash {
        let mut hash = Fingerprint::default();
        for name in [self.strategy.name(), self.default_mode.name(), self.docs.name()] {
            hash.bytes(name.as_bytes());
        }
        if let Some(tier) = &self.tier {
            let TierOptions { view, focus_view, summary_detail, by_model, .. } = tier;
            hash.number(tier.tier.number().into()).number(u64::from(*by_model));
            hash.bytes(view.name().as_bytes()).bytes(focus_view.name().as_bytes());
            hash.bytes(summary_detail.name().as_bytes());
            for (language, view) in &tier.language_views {
                hash.bytes(language.as_bytes()).bytes(view.name().as_bytes());
            }
        }
        let preset: Vec<&String> = self.preset.iter().flatten().map(|item| &item.path).collect();
        let lists = [&self.focus, &self.files, &self.include, &self.exclude];
        for list in lists.map(|list| list.iter().collect()).into_iter().chain([preset]) {
            hash.number(list.len() as u64);
            for word in list {
                hash.bytes(word.as_bytes());
            }
        }
        for text in [&self.task, &self.base] {
            hash.bytes(text.as_deref().unwrap_or_default().as_bytes());
        }
        let DocumentLimits { tokens, bytes, is_ceiling, .. } = self.limits;
        let limits = [tokens, bytes]
            .map(|limit| limit.filter(|_| !is_ceiling).map_or(0, |limit| limit.saturating_add(1)));
        hash.number(u64::from(is_ceiling)).number(limits[0]).number(limits[1]);
        hash.finish()
    }
}

/// The places of fragments, as hydration has stored them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HydratedPlaces {
    /// The HOT fragments.
    pub hot: HydratedDepths,
    /// The WARM fragments, which are named or counted, the best first.
    pub warm: Vec<FragmentName>,
    /// The places of the HOT files in the document.
    pub order: BTreeMap<RelPath, HydratedPlace>,
}

/// The place of a file in a hydrated document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HydratedPlace {
    /// Its position among all files, from 0.
    pub position: u64,
    /// The content that was placed; `None` if its slices were.
    pub content: Option<ContentHash>,
}

/// The part of a cached document's key that does not depend on its inputs.
#[derive(Debug, PartialEq)]
pub struct DocumentCacheKey {
    pub request: AggregationRequest,
    /// The format of the document, as the caller names it.
    pub written_as: String,
}

/// The separator between a document's name and its curation in a key. It cannot be typed, so a name never matches
/// another one's record.
pub(super) const CURATION_MARK: char = '\u{1f}';

/// How a document is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentHistory {
    /// The name that it is recorded under.
    pub name: String,
    /// Distinguishes documents of one name with different curation; `None` for the curation of the settings.
    pub curation: Option<ContentHash>,
    /// Whether to leave out what the reader has from the last document of that name.
    pub since_last: bool,
}

impl DocumentHistory {
    /// Returns the key of the document's record. Documents with different curation are never compared: what one hides
    /// would be shown as removed by the other.
    pub(super) fn record_key(&self) -> String {
        let key = |hash: ContentHash| format!("{}{CURATION_MARK}{}", self.name, hash.short_hex());
        self.curation.map_or_else(|| self.name.clone(), key)
    }
}

/// The requested attachments.
#[derive(Debug, Clone, PartialEq)]
pub struct SectionRequest {
    /// Which part of the document is wanted.
    pub part: DocumentPart,
    /// The screenshots, in their order.
    pub screenshots: Vec<ImageFile>,
    /// Whether the images themselves are wanted, rather than links to them.
    pub inline: bool,
    /// Whether the images are sent separately from the text, so that they do not count as tokens of it. Set by the
    /// session that writes the document.
    pub images_apart: bool,
    /// Media types of images that the recipient does not accept. Set by the session too.
    pub refused_images: &'static [&'static str],
    /// Whether the issues that Beads tracks are wanted.
    pub beads: BeadsRequest,
    /// The discussion, if one is wanted.
    pub discussion: Option<DiscussionSource>,
}

/// The file of an image, or a pattern that matches several, as it was named: relative to the project's root, or
/// absolute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ImageFile {
    /// Named by the request; it may be anywhere.
    Asked(PathBuf),
    /// Named by the project's own files; it must be in the project.
    OfProject(String),
}

/// Whether the issues that Beads tracks are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeadsRequest {
    None,
    Included,
    /// Only the project itself asks for the issues, whose text it would supply: they are left out, with a note.
    Withheld,
}

/// The discussion at the end of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscussionSource {
    /// The source of the text.
    pub text: DiscussionText,
    /// The name of the take to use, unless the file decides that itself.
    pub take: Option<String>,
    /// Whether it was not requested, so that the file may be missing or broken.
    pub is_optional: bool,
    /// Whether the user asked for it, in the request or in the user's own settings. If not, the file must not be one
    /// that came with the project.
    pub is_vouched_for: bool,
}

/// The source of a discussion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiscussionText {
    /// A file: relative to the project's root, or absolute.
    File {
        /// The file.
        path: PathBuf,
        /// Whether the request names it, so that it may be anywhere. If not, it must be in the project.
        is_named: bool,
    },
    /// The request itself, as a JSON list; no file is read.
    Request {
        /// The list.
        messages: Vec<u8>,
        /// The file that it replaces, which is then not a file of the document either.
        instead_of: Option<PathBuf>,
    },
}

impl DiscussionText {
    /// Returns the file that contains or would contain the discussion.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::Request { instead_of, .. } => instead_of.as_deref(),
        }
    }
}

impl SectionRequest {
    /// Returns the request for no attachments.
    pub const fn nothing() -> Self {
        Self {
            part: DocumentPart::Whole,
            screenshots: Vec::new(),
            inline: false,
            images_apart: false,
            refused_images: &[],
            beads: BeadsRequest::None,
            discussion: None,
        }
    }

    /// Returns whether a file of the project in the folder `root` is the discussion.
    pub(super) fn is_discussion(&self, root: &Path, path: &RelPath) -> bool {
        let Some(file) = self.discussion.as_ref().and_then(|discussion| discussion.text.file()) else {
            return false;
        };
        // Compared by components, so that `./talk.json` matches too.
        let named = file.strip_prefix(root).unwrap_or(file);
        named.components().filter(|part| *part != Component::CurDir).eq(path.as_path().components())
    }
}

#[derive(Debug, Clone)]
pub struct ViewRequest {
    pub files: Vec<String>,
    /// The view; `None` for the text, or the largest view that the limits allow.
    pub mode: Option<ViewMode>,
    /// How much documentation a skeleton shows.
    pub docs: DocsDetail,
    /// The symbols of a masked view, by qualified name; empty for the curated mask.
    pub mask: Vec<(String, MaskMode)>,
    /// Whether what the curated mask hides stays hidden even if `mask` names it.
    pub keeps_hidden: bool,
    /// First and last line, from 1 and inclusive, of each part that a custom view shows; empty for the marked slices.
    pub lines: Vec<(u32, u32)>,
    /// The base revision of a diff; `None` for the last commit.
    pub base: Option<String>,
    /// The curated items of single files; they fill in what is empty above.
    pub items: Vec<FileItem>,
    /// Items for this answer alone: the one that applies to a file replaces the curated one.
    pub overrides: Vec<FileItem>,
    /// Whether an unchanged stamp saves reading a file.
    pub trust: Trust,
}
