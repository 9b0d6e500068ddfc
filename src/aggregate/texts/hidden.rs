//! The text of a file without the symbols that a mask hides.
//!
//! Where positions matter, hidden lines are replaced rather than removed, so that all other lines keep their numbers.

use super::masked::{DefinitionCut, hidden_names, names_hidden};
use super::masks::{SymbolsByName, nearest_keys};
use super::page::SourcePage;
use super::regions::{SymbolModes, SymbolRegion, nest_symbols};
use crate::model::{MaskMode, Outline, Symbol};

/// What replaces the lines that a mask hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HiddenLines {
    /// A note only.
    Removed,
    /// A note, and enough blank lines to keep the numbers of the lines that follow.
    Blank,
}

/// Returns whether a mask hides anything.
pub fn hides_symbols(mask: &[(String, MaskMode)]) -> bool {
    mask.iter().any(|(_, mode)| *mode == MaskMode::Hide)
}

/// Returns whether a mask shows no symbol explicitly, so that everything it does not hide is shown.
pub(super) fn only_hides(mask: &[(String, MaskMode)]) -> bool {
    mask.iter().all(|(_, mode)| *mode == MaskMode::Hide)
}

/// Returns a text without the symbols that `mask` hides, including their members.
pub fn hide_symbols(
    text: &str,
    outline: &Outline,
    mask: &[(String, MaskMode)],
    language: &str,
    lines: HiddenLines,
) -> String {
    let page = SourcePage::new(text, language);
    let regions = nest_symbols(outline, text, &SymbolModes::from_mask(outline, mask));
    let mut cuts = Vec::new();
    collect_hidden(&page, &regions, &mut cuts);
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for DefinitionCut { range, .. } in &cuts {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str(&page.hidden_marker(range));
        if lines == HiddenLines::Blank {
            let ends = text[range.clone()].matches('\n').count();
            (0..ends).for_each(|_| out.push_str(page.line_end));
        }
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Returns a text without the lines that mention a symbol that `mask` hides. Used where the structure is unknown, or
/// not known well enough to find the symbol. The remaining lines keep their numbers.
pub fn hide_mentions(text: &str, keys: &[&str]) -> String {
    let names: Vec<&str> = keys.iter().map(|key| last_name(key)).filter(|name| !name.is_empty()).collect();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if names.iter().any(|name| line.contains(name)) {
            let end = line.len() - line.trim_end_matches(['\r', '\n']).len();
            out.push_str(&line[line.len() - end..]);
        } else {
            out.push_str(line);
        }
    }
    out
}

/// A text, and its outline where its structure is known.
#[derive(Clone, Copy)]
pub struct OutlinedText<'t> {
    pub text: &'t str,
    pub outline: Option<&'t Outline>,
}

/// Returns whether a key hides at least as much of an earlier text as of the current one, and no other symbol of the
/// earlier text could be the one that is hidden now, under a former name. Where a structure is unknown, lines which
/// mention a name are hidden.
pub fn hides_same_earlier(
    OutlinedText { text: old, outline: old_outline }: OutlinedText<'_>,
    OutlinedText { text: new, outline: new_outline }: OutlinedText<'_>,
    mask: &[(String, MaskMode)],
) -> bool {
    let hidden = || mask.iter().filter(|(_, mode)| *mode == MaskMode::Hide).map(|(key, _)| key.as_str());
    let (Some(old_outline), Some(new_outline)) = (old_outline, new_outline) else {
        let mentions = |text: &str, key: &str| {
            let name = last_name(key);
            if name.is_empty() { 0 } else { text.lines().filter(|line| line.contains(name)).count() }
        };
        return hidden().all(|key| mentions(new, key) <= mentions(old, key));
    };
    let (old_symbols, new_symbols) = (SymbolsByName::new(old_outline), SymbolsByName::new(new_outline));
    let text_of = |text: &str, symbol: &Symbol| {
        text.get(symbol.span.start_byte..symbol.span.end_byte).map(str::to_owned)
    };
    let mut is_same = true;
    for key in hidden() {
        let (old_parts, new_parts) = (old_symbols.select(key), new_symbols.select(key));
        if old_parts.len() < new_parts.len() {
            return false;
        }
        is_same &= new_parts
            .iter()
            .zip(&old_parts)
            .all(|(new_part, old_part)| text_of(new, new_part) == text_of(old, old_part));
    }
    // If one of two symbols is gone, either may have become the one that has the name now.
    let hidden = hidden_names(old_outline, mask);
    let gone = |name: &&str| new_symbols.has_none(name) && !hidden.contains(name);
    is_same || !old_symbols.names().any(|name| gone(&name))
}

/// Returns the keys with which `mask` would hide symbols, but which name no symbol of the outline.
pub fn unmatched_hidden_keys<'m>(outline: &Outline, mask: &'m [(String, MaskMode)]) -> Vec<&'m str> {
    let symbols = SymbolsByName::new(outline);
    let hidden = mask.iter().filter(|(_, mode)| *mode == MaskMode::Hide);
    let gone = hidden.filter(|(key, _)| symbols.has_none(key));
    gone.map(|(key, _)| key.as_str()).collect()
}

/// Returns the keys with which `mask` hides nothing in a text; the first `suggested` come with the nearest names. Where
/// the structure is unknown, or not known well enough, these are the keys whose names no line mentions.
pub fn ineffective_hides(
    text: &str,
    outline: Option<&Outline>,
    mask: &[(String, MaskMode)],
    suggested: usize,
) -> Vec<(String, Vec<String>)> {
    let is_mentioned = |key: &str| {
        let name = last_name(key);
        !name.is_empty() && text.contains(name)
    };
    let Some(outline) = outline else {
        let hidden = mask.iter().filter(|(_, mode)| *mode == MaskMode::Hide).map(|(key, _)| key);
        return hidden.filter(|key| !is_mentioned(key)).map(|key| (key.clone(), Vec::new())).collect();
    };
    let mut gone = unmatched_hidden_keys(outline, mask);
    if !outline.health.is_perfect() {
        gone.retain(|key| !is_mentioned(key));
    }
    let hidden = hidden_names(outline, mask);
    let with_nearest = |(at, key): (usize, &str)| {
        let mut near = if at < suggested { nearest_keys(outline, key) } else { Vec::new() };
        near.retain(|key| !names_hidden(key, &hidden));
        (key.to_owned(), near)
    };
    gone.into_iter().enumerate().map(with_nearest).collect()
}

/// Returns the keys with which `mask` shows nothing, because they name no symbol of the outline; the first `suggested`
/// come with the nearest names, except those that `hiding` hides.
pub fn unmatched_shown_keys(
    outline: &Outline,
    mask: &[(String, MaskMode)],
    hiding: &[(String, MaskMode)],
    suggested: usize,
) -> Vec<(String, Vec<String>)> {
    let symbols = SymbolsByName::new(outline);
    let shown = mask.iter().filter(|(_, mode)| *mode != MaskMode::Hide);
    let gone = shown.filter(|(key, _)| symbols.has_none(key));
    let hidden = hidden_names(outline, hiding);
    let with_nearest = |(at, (key, _)): (usize, &(String, MaskMode))| {
        let mut near = if at < suggested { nearest_keys(outline, key) } else { Vec::new() };
        near.retain(|key| !names_hidden(key, &hidden));
        (key.clone(), near)
    };
    gone.enumerate().map(with_nearest).collect()
}

/// Returns the last part of a mask's key, without parameters or a number.
fn last_name(key: &str) -> &str {
    let end = key.find(['(', '#']).filter(|at| 0 < *at).unwrap_or(key.len());
    key[..end].rsplit(['.', ':', '\\', '/']).next().unwrap_or_default().trim()
}

fn collect_hidden(page: &SourcePage<'_>, regions: &[SymbolRegion<'_>], cuts: &mut Vec<DefinitionCut>) {
    for region in regions {
        if region.is_hidden() {
            page.hide_range(page.commented_span(&region.span), cuts);
        } else {
            collect_hidden(page, &region.inside, cuts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_structure_loses_the_lines_that_mention_what_is_hidden() {
        let text = "key\r\nEngine._debug(1)\r\nrun()\n_debug";
        assert_eq!(hide_mentions(text, &["Engine._debug"]), "key\r\n\r\nrun()\n");
        assert_eq!(hide_mentions(text, &["ns::run(int)"]), "key\r\nEngine._debug(1)\r\n\n_debug");
        assert_eq!(hide_mentions(text, &[""]), text);
    }
}
