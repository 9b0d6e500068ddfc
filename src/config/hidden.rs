//! Hides passwords in displayed settings.

use crate::share::ShareUrl;

/// The settings that may contain a password.
pub(super) const SHARE_URL: &str = "share.url";
pub(super) const SHARE_ENDPOINT: &str = "share.endpoint";

/// Returns the text to show instead of a setting's value; `None` if the value itself may be shown.
pub(super) fn shown_value(key: &str, value: &str) -> Option<String> {
    match key {
        SHARE_URL => Some(match ShareUrl::parse(value) {
            Ok(url) => url.to_string(),
            Err(_) if value.is_empty() => String::new(),
            Err(_) => "(hidden)".to_owned(),
        }),
        // Such an address cannot contain a password, so nothing is hidden.
        SHARE_ENDPOINT if value.contains('@') => Some("(hidden)".to_owned()),
        _ => None,
    }
}
