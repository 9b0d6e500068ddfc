//! What is shown of a setting that may hold a password.

use crate::share::ShareUrl;

/// The settings that may hold one.
pub(super) const SHARE_URL: &str = "share.url";
pub(super) const SHARE_ENDPOINT: &str = "share.endpoint";

/// Returns what is shown in place of a setting's value; `None` if the value itself may be shown.
pub(super) fn shown_value(key: &str, value: &str) -> Option<String> {
    match key {
        SHARE_URL => Some(match ShareUrl::parse(value) {
            Ok(url) => url.to_string(),
            Err(_) if value.is_empty() => String::new(),
            Err(_) => "(hidden)".to_owned(),
        }),
        // It has no place for one, so that nothing else is hidden.
        SHARE_ENDPOINT if value.contains('@') => Some("(hidden)".to_owned()),
        _ => None,
    }
}
