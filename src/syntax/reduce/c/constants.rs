//! Constants of enumerations.

use super::scan::CScanner;
use super::tokens::CToken;
use super::tokens::CTokenKind;
use crate::model::SymbolKind;
use crate::syntax::reduced::SynthesizedSymbol;

impl CScanner<'_> {
    /// Ends a constant of an enumeration: with a comma, or where the enumeration ends.
    pub(super) fn end_constant(&mut self) {
        let count = self.tokens.len();
        let has_comma = self.tokens.kind(count.saturating_sub(1)) == Some(CTokenKind::Comma);
        let parts = if has_comma { count - 1 } else { count };
        let name = self.constant_name(parts);
        let mut value = name + 1;
        // `A [[deprecated]] = 1`, `A __attribute__((unused))`
        while matches!(
            self.tokens.kind(value),
            Some(CTokenKind::Bracket | CTokenKind::Word | CTokenKind::Paren)
        ) {
            value += 1;
        }
        // `X(a)`: what a macro makes has a name that nobody here knows.
        let is_made = self.tokens.kind(name + 1) == Some(CTokenKind::Paren);
        let is_plain = name < parts
            && !is_made
            && self.tokens.kind(name) == Some(CTokenKind::Word)
            && (value == parts || self.tokens.kind(value) == Some(CTokenKind::Equals) && value + 1 < parts);
        if !is_plain {
            if 0 < parts {
                // An X-macro makes constants that nobody here can name.
                self.discard_item();
            }
            self.clear_item();
            return;
        }
        let start = self.tokens.top_level(name).map_or(0, CToken::start);
        let range = start..self.tokens.top_end(parts - 1);
        self.synthesize(SynthesizedSymbol {
            kind: SymbolKind::EnumMember,
            name: self.top_text(name).to_owned(),
            scope: String::new(),
            signature: range.clone(),
            range,
            cut: None,
            has_type: true,
        });
    }

    /// Returns where in the row of a constant its name stands: behind the calls of macros that make other constants.
    fn constant_name(&self, parts: usize) -> usize {
        let mut name = 0;
        while name + 2 < parts
            && self.tokens.kind(name) == Some(CTokenKind::Word)
            && self.tokens.kind(name + 1) == Some(CTokenKind::Paren)
            && self.tokens.kind(name + 2) == Some(CTokenKind::Word)
        {
            name += 2;
        }
        name
    }
}
