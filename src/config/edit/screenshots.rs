//! Edits of the list of screenshots.

use toml_edit::{Array, Item, Value};

use super::format::{push_formatted, text_value};
use super::page::SettingsDocument;
use crate::config::error::Error;

pub(super) const SCREENSHOTS_KEY: &str = "screenshots";

/// A change of the list of screenshots.
#[derive(Debug, Clone, Default)]
pub struct ScreenshotChange {
    /// Paths to append; those already in the list stay where they are.
    pub add: Vec<String>,
    pub remove: Vec<String>,
    /// Paths to move to the front, in this order.
    pub order: Vec<String>,
}

pub(super) fn change_screenshots(
    page: &mut SettingsDocument,
    change: &ScreenshotChange,
) -> Result<(), Error> {
    let document = &mut page.document;
    let mut list = document.get(SCREENSHOTS_KEY).and_then(Item::as_array).cloned().unwrap_or_default();
    for path in &change.add {
        if position(&list, path).is_none() {
            push_formatted(&mut list, text_value(path));
        }
    }
    for path in &change.remove {
        let at = required_position(&list, path)?;
        remove_value(&mut list, at);
    }
    if !change.order.is_empty() {
        list = in_order(list, &change.order)?;
    }
    if list.is_empty() {
        document.remove(SCREENSHOTS_KEY);
    } else if let Some(old) = document.get_mut(SCREENSHOTS_KEY).and_then(Item::as_array_mut) {
        *old = list;
    } else {
        document.insert(SCREENSHOTS_KEY, Item::Value(Value::Array(list)));
    }
    Ok(())
}

/// Removes a value. A comment before it on the same line belongs to the value above, and is kept there.
fn remove_value(list: &mut Array, at: usize) {
    let removed = list.remove(at);
    let prefix = removed.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
    let comment = prefix.split('\n').next().filter(|line| line.contains('#')).unwrap_or_default();
    if let Some(next) = list.get_mut(at) {
        let own = next.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
        let prefix = format!("{comment}{own}");
        next.decor_mut().set_prefix(prefix);
    } else {
        let trailing = format!("{comment}{}", list.trailing().as_str().unwrap_or_default());
        list.set_trailing(trailing);
    }
}

/// Returns the list with the paths in `order` first. The layout belongs to positions, not to paths.
fn in_order(mut list: Array, order: &[String]) -> Result<Array, Error> {
    for (to, path) in order.iter().enumerate() {
        let from = required_position(&list, path)?;
        if from < to {
            // It occurred before.
            continue;
        }
        let moved: Vec<String> =
            (to..from).filter_map(|at| list.get(at)?.as_str().map(str::to_owned)).collect();
        for (at, text) in (to..=from).zip(std::iter::once(path.clone()).chain(moved)) {
            let old = list.get_mut(at).expect("the place is within the list");
            let mut value = text_value(&text);
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
    }
    Ok(list)
}

fn position(list: &Array, path: &str) -> Option<usize> {
    list.iter().position(|value| value.as_str() == Some(path))
}

fn required_position(list: &Array, path: &str) -> Result<usize, Error> {
    position(list, path).ok_or_else(|| Error::NoSuchScreenshot { screenshot: path.to_owned() })
}
