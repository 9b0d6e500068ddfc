//! How files are shown, and to whom.

use std::fmt;

use super::named_enum::named_enum;

named_enum! {
    /// How one file is rendered.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ViewMode {
        /// The text.
        Full = "full",
        /// The text without bodies.
        Skeleton = "skeleton",
        /// The symbols, one per line.
        Outline = "outline",
        /// A summary.
        Summary = "summary",
        /// The lines around the requested ones; the whole text if none are requested.
        Window = "window",
        /// The definitions and signatures that a mask selects.
        Masked = "masked",
        /// The lines that a person marked.
        Custom = "custom",
        /// The changes since a revision.
        Diff = "diff",
        /// The signatures of all symbols.
        Signatures = "ast_signatures",
        /// The definitions of all symbols.
        Definitions = "ast_definitions",
        /// The symbols that have changed since the last delivery of the file.
        Delta = "delta",
        /// The text without the bodies that matter least for the document.
        Excerpt = "excerpt",
        /// The names of its most important symbols, on one line.
        Names = "names",
        /// Only its path, if nothing more fits.
        Path = "path",
        /// Nothing: the file is not even read.
        None = "none",
    }
}

impl ViewMode {
    /// The views that an item may have. A window is around a line, which an item cannot name.
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

    /// The views that a tier or a persona may have.
    pub const OF_TIERS: [Self; 7] = [
        Self::Full,
        Self::Skeleton,
        Self::Outline,
        Self::Summary,
        Self::Signatures,
        Self::Definitions,
        Self::None,
    ];

    /// The views that a tier or a persona may have for files in focus.
    pub const OF_FOCUS: [Self; 5] = [Self::Full, Self::Skeleton, Self::Outline, Self::Summary, Self::Window];

    /// Returns whether the view is incomplete but could be mistaken for the whole text, so that its heading must say
    /// so.
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

    /// Returns whether the view needs the file's text, because it cannot be made from cached artifacts.
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

    /// Returns whether the view is made from a file's symbols.
    pub const fn needs_structure(self) -> bool {
        match self {
            Self::Skeleton
            | Self::Outline
            | Self::Masked
            | Self::Signatures
            | Self::Definitions
            | Self::Names => true,
            // A summary shows structure if there is any, but every text has a summary.
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

    /// Returns whether a person or a request can ask for the view; the others are chosen when documents are composed.
    pub const fn is_requestable(self) -> bool {
        !matches!(self, Self::Window | Self::Delta | Self::Excerpt | Self::Names | Self::Path)
    }
}

impl fmt::Display for ViewMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The role of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Tier 1: has an overview of the whole project.
    Orchestrator,
    /// Tier 2: plans the work on a part.
    TechLead,
    /// Tier 3: works on some files.
    Worker,
    /// Tier 4: finds out why something fails.
    Qa,
}

impl Tier {
    /// All tiers, from 1 to 4.
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
    /// How an aggregation chooses the views of its files.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum AggregationStrategy {
        /// By the file's own settings and the tier.
        Auto = "auto",
        /// A summary of each, except for the files in focus.
        Summarize = "summarize",
        /// The text of each.
        Full = "full",
    }
}

named_enum! {
    /// The order of the files in an aggregation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum FileOrder {
        /// Files that rarely change first, so that a provider's prompt cache remains valid.
        Stable = "stable",
        /// By the bytes of the path.
        Path = "path",
        /// As named in the request; the rest by path.
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
        /// The signatures of the top-level symbols, one per line.
        Signatures = "signatures",
    }
}

named_enum! {
    /// How much documentation (comments and docstrings) a skeleton shows.
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
