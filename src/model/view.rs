//! How files are shown, and to whom.

use std::fmt;

use super::named_enum::named_enum;

named_enum! {
    /// How one file is rendered.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ViewMode {
        /// The text.
        Full = "full",
        /// The text with the bodies taken out.
        Skeleton = "skeleton",
        /// The symbols, one a line.
        Outline = "outline",
        /// Words about the file.
        Summary = "summary",
        /// Some lines around those that were named; the whole text where none were.
        Window = "window",
        /// The definitions and signatures that a mask asks for.
        Masked = "masked",
        /// The lines that a person marked.
        Custom = "custom",
        /// What has changed since a revision.
        Diff = "diff",
        /// The signatures of all symbols.
        Signatures = "ast_signatures",
        /// The definitions of all symbols.
        Definitions = "ast_definitions",
        /// The symbols that have changed since the file was last delivered.
        Delta = "delta",
        /// The text with some of the bodies taken out: those that matter least for the document.
        Excerpt = "excerpt",
        /// The names of its most important symbols, on one line.
        Names = "names",
        /// Its path alone: what is left of a file when there is no room for more.
        Path = "path",
        /// Nothing: the file is not even read.
        None = "none",
    }
}

impl ViewMode {
    /// The views that an item may have. A window is about a line, which an item has no way to name.
    pub const OF_ITEMS: [Self; 11] = [
        Self::Full,
        Self::Summary,
        Self::Outline,
        Self::Skeleton,
        Self::Masked,
        Self::Custom,
        Self::Diff,
        Self::None,
        Self::Signatures,
        Self::Definitions,
        Self::Path,
    ];

    /// The views that a tier may have, and so a persona.
    pub const OF_TIERS: [Self; 7] = [
        Self::Full,
        Self::Skeleton,
        Self::Outline,
        Self::Summary,
        Self::Signatures,
        Self::Definitions,
        Self::None,
    ];

    /// The views that a tier or a persona may have of files in focus.
    pub const OF_FOCUS: [Self; 5] = [Self::Full, Self::Skeleton, Self::Outline, Self::Summary, Self::Window];

    /// Returns whether the view shows less than the text and could be mistaken for it, so that its head must say so.
    pub const fn is_reduced_text(self) -> bool {
        match self {
            Self::Skeleton
            | Self::Outline
            | Self::Window
            | Self::Masked
            | Self::Custom
            | Self::Diff
            | Self::Signatures
            | Self::Definitions
            | Self::Excerpt => true,
            // The labels of a delta cannot be mistaken for a text.
            Self::Full | Self::Summary | Self::Delta | Self::Names | Self::Path | Self::None => false,
        }
    }

    /// Returns whether the file's text must be read for it: it cannot be made from what is cached.
    pub const fn needs_text(self) -> bool {
        match self {
            // Outlines, skeletons and summaries are cached; these views are made from the text itself.
            Self::Full
            | Self::Window
            | Self::Masked
            | Self::Custom
            | Self::Diff
            | Self::Signatures
            | Self::Definitions
            | Self::Excerpt => true,
            Self::Skeleton
            | Self::Outline
            | Self::Summary
            | Self::Delta
            | Self::Names
            | Self::Path
            | Self::None => false,
        }
    }

    /// Returns whether the view is made of a file's symbols.
    pub const fn needs_structure(self) -> bool {
        match self {
            Self::Skeleton
            | Self::Outline
            | Self::Masked
            | Self::Signatures
            | Self::Definitions
            | Self::Names => true,
            // A summary shows structure where there is some, but every text has one.
            Self::Summary
            | Self::Full
            | Self::Window
            | Self::Custom
            | Self::Diff
            | Self::Delta
            | Self::Excerpt
            | Self::Path
            | Self::None => false,
        }
    }

    /// Returns whether a person or a request can ask for the view; the others are what documents make of files.
    pub const fn is_requestable(self) -> bool {
        !matches!(self, Self::Window | Self::Delta | Self::Excerpt | Self::Names | Self::Path)
    }
}

impl fmt::Display for ViewMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An agent's rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Tier 1: sees the whole project from afar.
    Orchestrator,
    /// Tier 2: plans the work on a part.
    TechLead,
    /// Tier 3: works on some files.
    Worker,
    /// Tier 4: finds out why something fails.
    Qa,
}

impl Tier {
    /// Every tier there is, from 1 to 4.
    pub const ALL: [Self; 4] = [Self::Orchestrator, Self::TechLead, Self::Worker, Self::Qa];

    /// Returns the number of the tier, from 1 to 4.
    pub const fn number(self) -> u8 {
        match self {
            Self::Orchestrator => 1,
            Self::TechLead => 2,
            Self::Worker => 3,
            Self::Qa => 4,
        }
    }

    /// Returns the tier of that number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.number() == number)
    }
}

named_enum! {
    /// How an aggregation picks the views of its files.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum AggregationStrategy {
        /// As the file's own settings and the tier say.
        Auto = "auto",
        /// A summary of each, but for the files in focus.
        Summarize = "summarize",
        /// The text of each.
        Full = "full",
    }
}

named_enum! {
    /// The order of the files in an aggregation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum FileOrder {
        /// What seldom changes first, so that the prompt cache of a provider stays warm.
        Stable = "stable",
        /// By the bytes of the path.
        Path = "path",
        /// As the request named them; the rest by path.
        Given = "given",
    }
}

named_enum! {
    /// What a summary view shows below the summary.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SummaryDetail {
        /// Nothing.
        Words = "words",
        TopLevel = "top_level",
        /// The signatures of the symbols of the top level, one a line.
        Signatures = "signatures",
    }
}

named_enum! {
    /// How much of the docs a skeleton shows: comments and docstrings.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum DocsDetail {
        /// The first paragraph of each.
        Brief = "brief",
        /// All of them.
        Full = "full",
        /// None of them.
        None = "none",
    }
}
