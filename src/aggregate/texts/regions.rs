//! The symbols of an outline arranged by their text ranges, each with its mask mode.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use super::masks::{SymbolsByName, is_name_of};
use crate::model::{MaskMode, Outline, Symbol};

/// Symbols with the same text range, such as `a` and `b` of `int a, b;`, and the symbols inside it.
pub(in crate::aggregate) struct SymbolRegion<'o> {
    /// The byte range of the text.
    pub(in crate::aggregate) span: Range<usize>,
    /// The symbols, each with its mode; `None` if the mask does not name it.
    pub(in crate::aggregate) symbols: Vec<(&'o Symbol, Option<MaskMode>)>,
    /// The regions inside, in the order of the text.
    pub(in crate::aggregate) inside: Vec<Self>,
}

impl SymbolRegion<'_> {
    pub(super) fn has_mode(&self, mode: Option<MaskMode>) -> bool {
        self.symbols.iter().any(|(_, own)| *own == mode)
    }

    /// Returns whether the text is hidden: if several symbols share it, any visible one keeps it visible.
    pub(super) fn is_hidden(&self) -> bool {
        let is_shown = self.has_mode(Some(MaskMode::Definition)) || self.has_head();
        self.has_mode(Some(MaskMode::Hide)) && !is_shown
    }

    /// Returns whether its signature is shown, with or without documentation.
    pub(super) fn has_head(&self) -> bool {
        self.symbols.iter().any(|(_, mode)| is_head(*mode))
    }
}

/// The modes of an outline's symbols, keyed by their addresses: two overloads may be equal in everything else.
pub(in crate::aggregate) struct SymbolModes(HashMap<*const Symbol, MaskMode>);

impl SymbolModes {
    /// Returns the modes of a mask. A key for one overload takes precedence over one for all symbols of a name; of two
    /// equally specific keys, the later one wins.
    pub(super) fn from_mask(outline: &Outline, mask: &[(String, MaskMode)]) -> Self {
        let (mut modes, symbols) = (HashMap::new(), SymbolsByName::new(outline));
        let found: Vec<_> = mask.iter().map(|(key, mode)| (key.trim(), *mode, symbols.select(key))).collect();
        // General keys first, so that specific ones overwrite them.
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

/// Nests the symbols of `outline` by their text ranges, not by parents and children: for `enum { RED } color;`, the
/// outline has two siblings, one of which is inside the other.
pub(super) fn nest_symbols<'o>(
    outline: &'o Outline,
    text: &str,
    modes: &SymbolModes,
) -> Vec<SymbolRegion<'o>> {
    let mut flat = Vec::new();
    outline.walk(|symbol, _| {
        // Rounded to character boundaries, because slicing anywhere else panics.
        let end = text.floor_char_boundary(symbol.span.end_byte);
        let start = text.floor_char_boundary(symbol.span.start_byte).min(end);
        flat.push((start..end, symbol));
    });
    // The longest of the symbols that begin together comes first, so that the others are found inside it.
    flat.sort_by_key(|(span, _)| (span.start, Reverse(span.end)));
    let (mut top, mut open): (Vec<SymbolRegion<'o>>, Vec<SymbolRegion<'o>>) = (Vec::new(), Vec::new());
    for (span, symbol) in flat {
        // The pointer is only compared: the outline is borrowed, so its symbols do not move.
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

/// Returns whether a signature is shown, with or without documentation.
pub(super) const fn is_head(mode: Option<MaskMode>) -> bool {
    matches!(mode, Some(MaskMode::Signature | MaskMode::Summary))
}
