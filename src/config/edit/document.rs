//! Edits of `[document]`, the defaults of requests for documents.

use toml_edit::{Item, Table, Value};

use super::format::{detached_comments, insert_comments, place_table, text_array, text_value};
use super::keys::DOCUMENT_KEY;
use super::page::SettingsDocument;
use crate::model::DocumentDefaults;

/// Sets the given keys, and removes others. A tier replaces a persona, and vice versa.
pub(super) fn change_document(page: &mut SettingsDocument, to: &DocumentDefaults, unset: &[&str]) {
    let document = &mut page.document;
    let set: Vec<(&str, Value)> = values(to).into_iter().flatten().collect();
    if document.get(DOCUMENT_KEY).is_none() {
        if set.is_empty() {
            return;
        }
        let mut table = Table::new();
        place_table(document, &mut table, None);
        document.insert(DOCUMENT_KEY, Item::Table(table));
    }
    let table = document.get_mut(DOCUMENT_KEY).and_then(Item::as_table_like_mut);
    let table = table.expect("its type was checked when the file was read");
    let replaced = [to.tier.map(|_| "persona"), to.persona.as_ref().map(|_| "tier")];
    for key in unset.iter().chain(replaced.iter().flatten()) {
        table.remove(key);
    }
    for (key, mut value) in set {
        match table.get_mut(key).and_then(Item::as_value_mut) {
            // The decor of the old value contains the comment after it.
            Some(old) => {
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            None => drop(table.insert(key, Item::Value(value))),
        }
    }
    if table.is_empty()
        && let Some(Item::Table(removed)) = document.remove(DOCUMENT_KEY)
    {
        let (position, comments) = detached_comments(&removed);
        insert_comments(document, position, &comments);
    }
}

fn values(to: &DocumentDefaults) -> [Option<(&'static str, Value)>; 5] {
    let focus = (!to.focus.is_empty()).then(|| text_array(&to.focus).into());
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX).into();
    [
        to.tier.map(|tier| ("tier", i64::from(tier.number()).into())),
        to.persona.as_deref().map(|name| ("persona", text_value(name))),
        to.preset.as_deref().map(|name| ("preset", text_value(name))),
        focus.map(|focus| ("focus", focus)),
        to.budget_tokens.map(|tokens| ("budget_tokens", number(tokens))),
    ]
}
