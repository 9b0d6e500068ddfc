//! The symbols of an outline by the text that they take up, with what is to be shown of each.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use super::masks::{SymbolsByName, is_name_of};
use crate::model::{MaskMode, Outline, Symbol};

/// Symbols that take up the same text, as `a` and `b` of `int a, b;` do, and those whose text lies within it.
pub(super) struct SymbolRegion<'o> {
    /// The text, from its first byte to the one after its last.
    pub(super) span: Range<usize>,
    /// The symbols, with what is to be shown of each; nothing if nobody said.
    pub(super) symbols: Vec<(&'o Symbol, Option<MaskMode>)>,
    /// What lies within, in the order of the text.
    pub(super) inside: Vec<Self>,
}

impl SymbolRegion<'_> {
    pub(super) fn has_mode(&self, mode: Option<MaskMode>) -> bool {
        self.symbols.iter().any(|(_, own)| *own == mode)
    }

    /// Returns whether the text is hidden: of several symbols that share it, one that is shown shows it.
    pub(super) fn is_hidden(&self) -> bool {
        let is_shown = self.has_mode(Some(MaskMode::Definition)) || self.has_head();
        self.has_mode(Some(MaskMode::Hide)) && !is_shown
    }

    /// Returns whether a signature is shown of it, with or without words about it.
    pub(super) fn has_head(&self) -> bool {
        self.symbols.iter().any(|(_, mode)| is_head(*mode))
    }
}

/// What is to be shown of the symbols of an outline. A symbol is known by where it is in memory: two overloads may
/// be alike in all else.
pub(super) struct SymbolModes(HashMap<*const Symbol, MaskMode>);

impl SymbolModes {
    /// Returns the modes of a mask. A key that picks one overload takes precedence over one that means all of a name; of two
    /// equally specific ones the later decides.
    pub(super) fn from_mask(outline: &Outline, mask: &[(String, MaskMode)]) -> Self {
        let (mut modes, symbols) = (HashMap::new(), SymbolsByName::new(outline));
        let found: Vec<_> = mask.iter().map(|(key, mode)| (key.trim(), *mode, symbols.select(key))).collect();
        // General keys first, so that specific ones overwrite what they say.
        for wants_exact in [false, true] {
            for (key, mode, found) in &found {
                let meant = found.iter().filter(|symbol| is_name_of(symbol, key) != wants_exact);
                modes.extend(meant.map(|symbol| (std::ptr::from_ref(*symbol), *mode)));
            }
        }
        Self(modes)
    }

    /// Returns the same mode for all symbols down to a depth, from 0.
    pub(super) fn uniform(outline: &Outline, mode: MaskMode, max_depth: usize) -> Self {
        let mut modes = HashMap::new();
        outline.walk(|symbol, depth| {
            if depth <= max_depth {
                modes.insert(std::ptr::from_ref(symbol), mode);
            }
        });
        Self(modes)
    }
}

/// Returns the symbols of `outline` by the text that they take up. Not by parents and children: of
/// `enum { RED } color;` the outline makes two siblings, and one lies within the other.
pub(super) fn nest_symbols<'o>(
    outline: &'o Outline,
    text: &str,
    modes: &SymbolModes,
) -> Vec<SymbolRegion<'o>> {
    let mut flat = Vec::new();
    outline.walk(|symbol, _| {
        // Moved to the boundaries of characters, because slicing anywhere else panics.
        let end = text.floor_char_boundary(symbol.span.end_byte);
        let start = text.floor_char_boundary(symbol.span.start_byte).min(end);
        flat.push((start..end, symbol));
    });
    // Of symbols that begin together the longest comes first, so that the others are found within it.
    flat.sort_by_key(|(span, _)| (span.start, Reverse(span.end)));
    let (mut top, mut open): (Vec<SymbolRegion<'o>>, Vec<SymbolRegion<'o>>) = (Vec::new(), Vec::new());
    for (span, symbol) in flat {
        // The pointer is only compared: the outline is borrowed throughout, so its symbols stay where they are.
        let mode = modes.0.get(&std::ptr::from_ref(symbol)).copied();
        if let Some(last) = open.last_mut().filter(|last| last.span == span) {
            last.symbols.push((symbol, mode));
            continue;
        }
        while open.last().is_some_and(|last| last.span.end < span.end) {
            close_region(&mut open, &mut top);
        }
        open.push(SymbolRegion { span, symbols: vec![(symbol, mode)], inside: Vec::new() });
    }
    while !open.is_empty() {
        close_region(&mut open, &mut top);
    }
    top
}

fn close_region<'o>(open: &mut Vec<SymbolRegion<'o>>, top: &mut Vec<SymbolRegion<'o>>) {
    let Some(done) = open.pop() else { return };
    match open.last_mut() {
        Some(around) => around.inside.push(done),
        None => top.push(done),
    }
}

/// Returns whether a signature is shown, with or without words about the symbol.
pub(super) const fn is_head(mode: Option<MaskMode>) -> bool {
    matches!(mode, Some(MaskMode::Signature | MaskMode::Summary))
}
