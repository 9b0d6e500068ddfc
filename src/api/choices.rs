//! The enumerated values in questions, and their conversions to model types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    AggregationStrategy, CacheLifetime, DocsDetail, DocumentPart, FileOrder, MaskMode, ViewMode,
};

/// A view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModeName {
    /// The text.
    Full,
    /// A short description of the file.
    Summary,
    /// The symbols, one per line.
    Outline,
    /// Signatures, docs and types, without bodies.
    Skeleton,
    /// The symbols of a mask.
    Masked,
    /// A range of lines.
    Custom,
    /// The changes.
    Diff,
    /// Only a note that the file is excluded.
    None,
    /// The signatures of all symbols.
    AstSignatures,
    /// The definitions of all symbols.
    AstDefinitions,
}

/// How a symbol is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaskName {
    /// Its definition; `full` means the same.
    #[serde(alias = "full")]
    Def,
    /// Its signature.
    Sig,
    /// Its signature, and the first sentence of its doc.
    Agg,
    /// Hidden.
    Hide,
}

/// How views are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StrategyName {
    /// By tier, focus and the entry of each file.
    Auto,
    /// Summaries.
    Summarize,
    /// Texts.
    Full,
}

/// How much of the docs skeletons show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocsName {
    /// The first paragraph of each comment and docstring.
    Brief,
    /// All of them.
    Full,
    /// None.
    None,
}

/// How long a provider keeps the cached prefix of a prompt after its last use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CacheLifetimeName {
    /// Five minutes.
    #[serde(rename = "5m")]
    FiveMinutes,
    /// One hour; writing to the cache costs more.
    #[serde(rename = "1h")]
    OneHour,
}

/// The order of a document's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderName {
    /// Rarely changed files first.
    Stable,
    /// By path.
    Path,
    /// In the order of the request.
    Given,
}

/// The format of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormatName {
    /// Markdown.
    #[default]
    Markdown,
    /// JSON: sections, files and the receipt.
    Json,
    /// The body of a request to Anthropic's Messages API.
    Anthropic,
    /// The body of a request to OpenAI's Chat Completions API.
    Openai,
    /// The body of a request to Gemini's generateContent.
    Gemini,
}

impl FormatName {
    pub(crate) const fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json | Self::Anthropic | Self::Openai | Self::Gemini => "json",
        }
    }
}

/// The files that a receipt lists. Its totals cover all files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptScope {
    /// Every file, in the document or not.
    All,
    /// The files of which the document shows more than the name, and those omitted because of an error or an entry.
    #[default]
    Shown,
    /// No file.
    None,
}

/// A part of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartName {
    /// The whole text.
    #[default]
    Whole,
    /// The part that a provider caches: everything except the discussion.
    Prefix,
    /// Only the discussion.
    Suffix,
}

impl ModeName {
    /// Returns the name of a mode; `None` for modes that cannot be requested.
    pub const fn from_mode(mode: ViewMode) -> Option<Self> {
        match mode {
            ViewMode::Full => Some(Self::Full),
            ViewMode::Summary => Some(Self::Summary),
            ViewMode::Outline => Some(Self::Outline),
            ViewMode::Skeleton => Some(Self::Skeleton),
            ViewMode::Masked => Some(Self::Masked),
            ViewMode::Custom => Some(Self::Custom),
            ViewMode::Diff => Some(Self::Diff),
            ViewMode::None => Some(Self::None),
            ViewMode::Signatures => Some(Self::AstSignatures),
            ViewMode::Definitions => Some(Self::AstDefinitions),
            ViewMode::Window | ViewMode::Delta | ViewMode::Excerpt | ViewMode::Names | ViewMode::Path => None,
        }
    }
}

impl From<ModeName> for ViewMode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Full => Self::Full,
            ModeName::Summary => Self::Summary,
            ModeName::Outline => Self::Outline,
            ModeName::Skeleton => Self::Skeleton,
            ModeName::Masked => Self::Masked,
            ModeName::Custom => Self::Custom,
            ModeName::Diff => Self::Diff,
            ModeName::None => Self::None,
            ModeName::AstSignatures => Self::Signatures,
            ModeName::AstDefinitions => Self::Definitions,
        }
    }
}

/// Declares the conversions between the names in questions and the values in `model`, which are never serialized.
macro_rules! same_names {
    ($($name:ident = $value:ident { $($variant:ident = $of:ident),* })*) => {$(
        impl From<$name> for $value {
            fn from(name: $name) -> Self {
                match name { $($name::$variant => Self::$of,)* }
            }
        }

        impl From<$value> for $name {
            fn from(value: $value) -> Self {
                match value { $($value::$of => Self::$variant,)* }
            }
        }
    )*};
}

same_names! {
    MaskName = MaskMode { Def = Definition, Sig = Signature, Agg = Summary, Hide = Hide }
    CacheLifetimeName = CacheLifetime { FiveMinutes = FiveMinutes, OneHour = OneHour }
    DocsName = DocsDetail { Brief = Brief, Full = Full, None = None }
    StrategyName = AggregationStrategy { Auto = Auto, Summarize = Summarize, Full = Full }
    OrderName = FileOrder { Stable = Stable, Path = Path, Given = Given }
    PartName = DocumentPart { Whole = Whole, Prefix = Prefix, Suffix = Suffix }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_that_can_be_requested_has_its_own_name_in_json() {
        for mode in ViewMode::ALL {
            let Some(name) = ModeName::from_mode(mode) else { continue };
            assert_eq!(ViewMode::from(name), mode);
            assert_eq!(serde_json::to_value(name).unwrap(), mode.name());
        }
    }

    #[test]
    fn other_names_equal_those_of_the_settings() {
        for mode in MaskMode::ALL {
            assert_eq!(serde_json::to_value(MaskName::from(mode)).unwrap(), mode.name());
        }
        for strategy in AggregationStrategy::ALL {
            assert_eq!(serde_json::to_value(StrategyName::from(strategy)).unwrap(), strategy.name());
        }
        for detail in DocsDetail::ALL {
            assert_eq!(serde_json::to_value(DocsName::from(detail)).unwrap(), detail.name());
        }
        for lifetime in CacheLifetime::ALL {
            assert_eq!(serde_json::to_value(CacheLifetimeName::from(lifetime)).unwrap(), lifetime.name());
        }
        for order in FileOrder::ALL {
            assert_eq!(serde_json::to_value(OrderName::from(order)).unwrap(), order.name());
        }
    }
}
