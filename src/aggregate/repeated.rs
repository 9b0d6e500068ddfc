//! What a signature has shown already: parameters that are members too, and names that are declared together.

use std::collections::HashSet;

use super::regions::SymbolRegion;
use crate::model::{MaskMode, Symbol, SymbolKind};

/// The parameters of a longer head are shown again.
const MAX_HEAD: usize = 8192;

/// Removes the members that the head of their type or of its constructor shows: `data class User(val id: Int)`.
pub(super) fn remove_parameters(regions: &mut [SymbolRegion<'_>], text: &str) {
    for region in regions {
        if region.has_mode(Some(MaskMode::Signature)) {
            let (start, symbols) = (region.span.start, &region.symbols);
            region.inside.retain(|inside| {
                let before = text.get(start..inside.span.start).unwrap_or_default();
                !symbols.iter().any(|(owner, _)| is_shown_by(owner, inside, before))
            });
        }
        remove_parameters(&mut region.inside, text);
    }
}

/// Returns the symbols of a region of which a head is shown: of those that are declared together one, and of several with
/// one head the one at `holder`, which has the members.
pub(super) fn distinct_heads<'o>(symbols: &[&'o Symbol], holder: usize) -> Vec<(usize, &'o Symbol)> {
    let mut seen: HashSet<&str> =
        symbols.get(holder).map(|symbol| symbol.signature.as_str()).into_iter().collect();
    let all = symbols.iter().copied().enumerate();
    all.filter(|(at, symbol)| *at == holder || seen.insert(symbol.signature.as_str())).collect()
}

/// Returns whether a member is a part of its owner's signature; `before` is the text between where the two begin.
fn is_shown_by(owner: &Symbol, inside: &SymbolRegion<'_>, before: &str) -> bool {
    let is_repeated = |member: &Symbol| {
        is_compact_constructor(owner, member)
            || is_value(member) && owner.signature.contains(&member.signature) && is_in_parentheses(before)
    };
    (owner.kind.is_type() || owner.kind.is_callable())
        && inside
            .symbols
            .iter()
            .all(|(member, mode)| *mode == Some(MaskMode::Signature) && is_repeated(member))
}

/// Returns whether a text opens parentheses, and in them no braces.
fn is_in_parentheses(text: &str) -> bool {
    let count = |c: char| text.matches(c).count();
    text.len() <= MAX_HEAD && count(')') < count('(') && count('{') == count('}')
}

/// Returns whether a constructor of Java repeats the parameters of its record: `public Point { … }`.
fn is_compact_constructor(owner: &Symbol, member: &Symbol) -> bool {
    let is_record = owner.signature.split_whitespace().any(|word| word == "record");
    is_record && member.kind == SymbolKind::Constructor && !member.signature.contains('(')
}

const fn is_value(symbol: &Symbol) -> bool {
    matches!(
        symbol.kind,
        SymbolKind::Field | SymbolKind::Property | SymbolKind::Variable | SymbolKind::Constant
    )
}
