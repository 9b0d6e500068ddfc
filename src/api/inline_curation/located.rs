//! Reads JSON with errors that name the place of the wrong value.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads JSON. The message of an error begins with the place of the wrong value, such as `items[0].tier`.
pub fn read_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| located(&error))?;
    deserializer.end().map_err(|error| error.to_string())?;
    Ok(value)
}

/// Converts a value as [`read_json`] reads a text.
pub(in crate::api) fn read_value<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| located(&error))
}

fn located(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = error.path();
    // Without a path the error is about the whole, or about its syntax.
    if path.iter().len() == 0 { error.inner().to_string() } else { format!("{path}: {}", error.inner()) }
}
