//! What is shown of a setting that may hold a password.

use crate::share::ShareUrl;

/// The setting that may hold one.
pub(super) const SHARE_URL: &str = "share.url";

/// Returns what is shown in place of a setting's value; `None` if the value itself may be shown.
pub(super) fn shown_value(key: &str, value: &str) -> Option<String> {
    (key == SHARE_URL).then(|| match ShareUrl::parse(value) {
        Ok(url) => url.to_string(),
        Err(_) if value.is_empty() => String::new(),
        Err(_) => "(hidden)".to_owned(),
    })
}
