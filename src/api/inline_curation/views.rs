//! The names of views and the numbers of tiers in entries and personas.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::model::{Tier, ViewMode};

pub(in crate::api) const ITEM_VIEWS: [&str; ViewMode::OF_ITEMS.len()] = names(ViewMode::OF_ITEMS);

pub(super) const TIER_VIEWS: [&str; ViewMode::OF_TIERS.len()] = names(ViewMode::OF_TIERS);

pub(super) const FOCUS_VIEWS: [&str; ViewMode::OF_FOCUS.len()] = names(ViewMode::OF_FOCUS);

const fn names<const N: usize>(views: [ViewMode; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = views[at].name();
        at += 1;
    }
    names
}

/// A view by its name. The allowed names depend on the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewName(pub ViewMode);

impl Serialize for ViewName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

pub(in crate::api) fn item_view<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ViewName>, D::Error> {
    read_view(deserializer, &ITEM_VIEWS)
}

pub(super) fn tier_view<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ViewName>, D::Error> {
    read_view(deserializer, &TIER_VIEWS)
}

pub(super) fn required_tier_view<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ViewName, D::Error> {
    tier_view(deserializer)?.ok_or_else(|| D::Error::custom("expected the name of a view"))
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

pub(in crate::api) fn tier_number<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u8>, D::Error> {
    let number = Option::<u8>::deserialize(deserializer)?;
    match number {
        Some(number) if Tier::from_number(number).is_none() => {
            Err(D::Error::custom(format!("no tier {number}, expected 1, 2, 3 or 4")))
        }
        number => Ok(number),
    }
}
