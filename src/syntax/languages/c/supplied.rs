//! What a skeleton does without of what the scanner has read: the same as of what the grammar has.

use super::declarations::cut_initializer;
use super::functions::cut_body;
use super::preprocessor::cut_value;
use crate::model::SymbolKind;
use crate::syntax::reduced::SynthesizedItem;
use crate::syntax::walk::OutlineWalk;

/// Takes out the body, the value or the rows of what the scanner supplies.
pub(in crate::syntax::languages) fn cut_supplied(walk: &mut OutlineWalk<'_>, supplied: &SynthesizedItem) {
    match supplied {
        SynthesizedItem::Import(..) | SynthesizedItem::Ignored(_) => {}
        SynthesizedItem::MacroValue(value) => cut_value(walk, value.clone(), 3),
        SynthesizedItem::Symbol(symbol) => {
            let Some(cut) = symbol.cut.clone() else { return };
            if symbol.kind == SymbolKind::Macro {
                cut_value(walk, cut, 1);
            } else if symbol.kind.is_callable() {
                let is_typed = symbol.has_type || walk.scope_kind().is_some_and(SymbolKind::is_type);
                cut_body(walk, is_typed, cut);
            } else {
                cut_initializer(walk, cut);
            }
        }
    }
}
