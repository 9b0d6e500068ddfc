//! The OpenAPI document.

/// Returns the document.
pub(super) fn text() -> String {
    "{}".to_owned()
}
