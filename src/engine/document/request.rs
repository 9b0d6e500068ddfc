//! What is asked of a document.

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
    /// How the agent's tier sees the project, if a tier was asked for.
    pub tier: Option<TierOptions>,
    /// The strategy.
    pub strategy: AggregationStrategy,
    /// The view where nothing else decides.
    pub default_mode: ViewMode,
    /// Whether a document about the whole project begins with what the project is.
    pub overview: bool,
    /// How much of the docs a skeleton shows.
    pub docs: DocsDetail,
    /// The order of the files.
    pub order: FileOrder,
    /// Words for the files in focus.
    pub focus: Vec<String>,
    /// What the reader is about to do, in words; it decides what a limited document shows.
    pub task: Option<String>,
    /// Words for the files that are wanted; none for those of the preset, and for all where there is none.
    pub files: Vec<String>,
    /// Patterns of which each file has to match one, if there are any.
    pub include: Vec<String>,
    /// Patterns of files to leave out.
    pub exclude: Vec<String>,
    /// The revision that diffs are against; `None` for the last commit.
    pub base: Option<String>,
    /// The curated items of single files; the last one wins.
    pub items: Vec<FileItem>,
    /// The files of a preset, with its items, which win over the others: what is gone is reported, and the
    /// rest goes on.
    pub preset: Option<Vec<FileItem>>,
    /// Items for this document alone: the one that applies to a file takes the place of all others.
    pub overrides: Vec<FileItem>,
    /// The places of files, if the document is to have those that are HOT; filled in by
    /// [`Project::with_places`](crate::engine::Project::with_places).
    pub hydrated: Option<HydratedPlaces>,
    /// The most that the document may be.
    pub limits: DocumentLimits,
    /// Whether the receipt holds exact token counts, which cost time.
    pub exact_tokens: bool,
    /// Whether the receipt counts symbols, for which the outlines of all shown files are read.
    pub counts_symbols: bool,
    /// Whether stamps may save a reading.
    pub trust: Trust,
    /// What is attached to the files.
    pub sections: SectionRequest,
    /// How the document is remembered, if it is.
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
    /// Returns a hash of all that selects files, and how they are shown. What a limit by default lets through depends on the
    /// project alone.
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

/// Where hydration has placed fragments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HydratedPlaces {
    /// What is HOT.
    pub hot: HydratedDepths,
    /// What is WARM, and named or counted: the best first.
    pub warm: Vec<FragmentName>,
    /// Where the HOT files are in the document.
    pub order: BTreeMap<RelPath, HydratedPlace>,
}

/// Where a file is in a hydrated document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HydratedPlace {
    /// Its position among all, from 0.
    pub position: u64,
    /// The content that was placed; `None` if its slices were.
    pub content: Option<ContentHash>,
}

/// What a document is cached by, besides what it is composed of.
#[derive(Debug, PartialEq)]
pub struct DocumentCacheKey {
    pub request: AggregationRequest,
    /// How the document is written, in the caller's words.
    pub written_as: String,
}

/// What is between a document's name and its curation. Nobody types it, so no name is taken for another one's record.
pub(super) const CURATION_MARK: char = '\u{1f}';

/// How a document is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentHistory {
    /// The name that it is remembered by.
    pub name: String,
    /// Tells apart the documents of one name that are curated differently; `None` for the curation of the settings.
    pub curation: Option<ContentHash>,
    /// Whether what the reader has of the last document of that name is left out.
    pub since_last: bool,
}

impl DocumentHistory {
    /// Returns what the document is recorded under. Documents of different curation are never compared: what the one hides
    /// would be shown as removed by the other.
    pub(super) fn record_key(&self) -> String {
        let key = |hash: ContentHash| format!("{}{CURATION_MARK}{}", self.name, hash.short_hex());
        self.curation.map_or_else(|| self.name.clone(), key)
    }
}

/// The attachments that are wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct SectionRequest {
    /// Which part of the document is wanted.
    pub part: DocumentPart,
    /// The screenshots, in their order.
    pub screenshots: Vec<ImageFile>,
    /// Whether the images themselves are wanted, and not only links to them.
    pub inline: bool,
    /// Whether the document is sent with its images separate from its text, so that they do not count as tokens of it.
    /// Set by the session that writes the document.
    pub images_apart: bool,
    /// Media types of images that the recipient does not accept. The session sets them too.
    pub refused_images: &'static [&'static str],
    /// Whether the work that Beads tracks is wanted.
    pub beads: BeadsRequest,
    /// The discussion, if one is wanted.
    pub discussion: Option<DiscussionSource>,
}

/// The file of an image, or a pattern that names several, as it was named: from the project's root, or absolute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ImageFile {
    /// By the request; it may be anywhere.
    Asked(PathBuf),
    /// By the project's own files; it must lie in the project.
    OfProject(String),
}

/// Whether the work that Beads tracks is included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeadsRequest {
    None,
    Included,
    /// Only the project itself asks for it, whose words it would be: it is left out, with a note.
    Withheld,
}

/// A discussion that a document ends with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscussionSource {
    /// Where it is written down.
    pub text: DiscussionText,
    /// Name of the take that is meant, if the file is not to decide that itself.
    pub take: Option<String>,
    /// Whether it was not asked for, so that the file may be missing or broken.
    pub is_optional: bool,
    /// Whether the user asked for it, by the request or by settings of the user's own. If not, it must be no file that
    /// came with the project.
    pub is_vouched_for: bool,
}

/// Where a discussion is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiscussionText {
    /// In a file: from the project's root, or absolute.
    File {
        /// The file.
        path: PathBuf,
        /// Whether the request names it; then it may be anywhere. If not, it must be in the project.
        is_named: bool,
    },
    /// In the request, as a JSON list; no file is read.
    Request {
        /// The list.
        messages: Vec<u8>,
        /// The file whose place it takes, which is then no file of the document either.
        instead_of: Option<PathBuf>,
    },
}

impl DiscussionText {
    /// Returns the file that holds the discussion, or would.
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
        // Compared by its parts, so that `./talk.json` is the file as well.
        let named = file.strip_prefix(root).unwrap_or(file);
        named.components().filter(|part| *part != Component::CurDir).eq(path.as_path().components())
    }
}

#[derive(Debug, Clone)]
pub struct ViewRequest {
    pub files: Vec<String>,
    /// The view; `None` for the text, or the largest view that the limits allow.
    pub mode: Option<ViewMode>,
    /// How much of the docs a skeleton shows.
    pub docs: DocsDetail,
    /// What a masked view shows of single symbols, by their qualified names; empty for the curated mask.
    pub mask: Vec<(String, MaskMode)>,
    /// Whether what the curated mask hides stays hidden, although `mask` names it.
    pub keeps_hidden: bool,
    /// First and last line, from 1 and inclusive, of each part that a custom view shows; empty for what people
    /// marked.
    pub lines: Vec<(u32, u32)>,
    /// The revision that a diff is against; `None` for the last commit.
    pub base: Option<String>,
    /// The curated items of single files; they fill in what is empty above.
    pub items: Vec<FileItem>,
    /// Items for this answer alone: the one that applies to a file takes the place of the curated one.
    pub overrides: Vec<FileItem>,
    /// Whether stamps may save a reading.
    pub trust: Trust,
}
