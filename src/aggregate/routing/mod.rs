//! Decides which view each file gets: by rules, curated items and the files in focus.

mod covering;
mod focus;
mod items;
mod rules;
mod selector;

pub use covering::{Covering, CoveringEntry, cover_files};
pub use focus::{AmbiguousFocus, Focus, FocusCandidate, FocusLines, nearest_paths};
pub use items::CuratedItems;
pub use rules::{
    HydratedDepths, RoutedView, RoutingContext, RuleVerdict, SliceDepths, TierOptions, explain_routing,
    limit_to_size, route_file, view_of_item, view_without_mask,
};
pub use selector::{Error, ExclusionPatterns, Selector};
