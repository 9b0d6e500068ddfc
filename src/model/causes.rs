//! Errors in words.

use std::error::Error;

/// Returns an error with its causes, on one line: each room says what it attempted, and the cause says why not.
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
