//! Conversion between the names in questions and the values in `model`: modes, strategies, orders.

use super::document::DocumentFormat;
use super::queries::{FormatName, MaskName, ModeName, OrderName, PartName, StrategyName};
use crate::model::{AggregationStrategy, DocumentPart, FileOrder, MaskMode, ViewMode};

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
            ViewMode::Window | ViewMode::Path => None,
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

impl From<MaskMode> for MaskName {
    fn from(mode: MaskMode) -> Self {
        match mode {
            MaskMode::Definition => Self::Def,
            MaskMode::Signature => Self::Sig,
            MaskMode::Hide => Self::Hide,
        }
    }
}

impl From<MaskName> for MaskMode {
    fn from(name: MaskName) -> Self {
        match name {
            MaskName::Def => Self::Definition,
            MaskName::Sig => Self::Signature,
            MaskName::Hide => Self::Hide,
        }
    }
}

impl From<AggregationStrategy> for StrategyName {
    fn from(strategy: AggregationStrategy) -> Self {
        match strategy {
            AggregationStrategy::Auto => Self::Auto,
            AggregationStrategy::Summarize => Self::Summarize,
            AggregationStrategy::Full => Self::Full,
        }
    }
}

impl From<StrategyName> for AggregationStrategy {
    fn from(name: StrategyName) -> Self {
        match name {
            StrategyName::Auto => Self::Auto,
            StrategyName::Summarize => Self::Summarize,
            StrategyName::Full => Self::Full,
        }
    }
}

impl From<FileOrder> for OrderName {
    fn from(order: FileOrder) -> Self {
        match order {
            FileOrder::Stable => Self::Stable,
            FileOrder::Path => Self::Path,
            FileOrder::Given => Self::Given,
        }
    }
}

impl From<OrderName> for FileOrder {
    fn from(name: OrderName) -> Self {
        match name {
            OrderName::Stable => Self::Stable,
            OrderName::Path => Self::Path,
            OrderName::Given => Self::Given,
        }
    }
}

impl From<PartName> for DocumentPart {
    fn from(name: PartName) -> Self {
        match name {
            PartName::Whole => Self::Whole,
            PartName::Prefix => Self::Prefix,
            PartName::Suffix => Self::Suffix,
        }
    }
}

impl From<FormatName> for DocumentFormat {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Markdown => Self::Markdown,
            FormatName::Json => Self::Json,
            FormatName::Anthropic => Self::Anthropic,
            FormatName::Openai => Self::OpenAi,
            FormatName::Gemini => Self::Gemini,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_that_can_be_asked_for_has_its_own_name_in_json() {
        for mode in ViewMode::ALL {
            let Some(name) = ModeName::from_mode(mode) else { continue };
            assert_eq!(ViewMode::from(name), mode);
            assert_eq!(serde_json::to_value(name).unwrap(), mode.name());
        }
    }

    #[test]
    fn the_other_names_are_those_of_the_settings() {
        for mode in MaskMode::ALL {
            assert_eq!(serde_json::to_value(MaskName::from(mode)).unwrap(), mode.name());
        }
        for strategy in AggregationStrategy::ALL {
            assert_eq!(serde_json::to_value(StrategyName::from(strategy)).unwrap(), strategy.name());
        }
        for order in FileOrder::ALL {
            assert_eq!(serde_json::to_value(OrderName::from(order)).unwrap(), order.name());
        }
    }
}
