//! The names of views and the numbers of tiers in entries and personas.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::model::{Tier, ViewMode};

/// The views that an item may have. A window is about a line, which an item has no way to name.
pub(super) const ITEM_VIEWS: [&str; 11] = [
    "full", "summary", "outline", "skeleton", "masked", "custom", "diff", "none", "ast_signatures",
    "ast_definitions", "path",
];

/// The views that a tier may have, and so a persona.
pub(super) const TIER_VIEWS: [&str; 7] =
    ["full", "skeleton", "outline", "summary", "ast_signatures", "ast_definitions", "none"];

pub(super) const FOCUS_VIEWS: [&str; 5] = ["full", "skeleton", "outline", "summary", "window"];

/// A view by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewName(pub(super) ViewMode);

impl Serialize for ViewName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

pub(super) fn item_view<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ViewName>, D::Error> {
    read_view(deserializer, &ITEM_VIEWS)
}

pub(super) fn tier_view<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ViewName>, D::Error> {
    read_view(deserializer, &TIER_VIEWS)
}

pub(super) fn focus_view<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ViewName>, D::Error> {
    read_view(deserializer, &FOCUS_VIEWS)
}

fn read_view<'de, D: Deserializer<'de>>(
    deserializer: D,
    allowed: &'static [&'static str],
) -> Result<Option<ViewName>, D::Error> {
    let Some(name) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let mode = ViewMode::from_name(&name).filter(|mode| allowed.contains(&mode.name()));
    mode.map(|mode| Some(ViewName(mode))).ok_or_else(|| D::Error::unknown_variant(&name, allowed))
}

pub(super) fn tier_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    let number = Option::<u8>::deserialize(deserializer)?;
    match number {
        Some(number) if Tier::from_number(number).is_none() => {
            Err(D::Error::custom(format!("no tier {number}, expected 1, 2, 3 or 4")))
        }
        number => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_views_are_those_of_the_settings() {
        for name in [&ITEM_VIEWS[..], &TIER_VIEWS, &FOCUS_VIEWS].concat() {
            assert_eq!(ViewMode::from_name(name).map(ViewMode::name), Some(name));
        }
    }
}
