//! Avoids repeating what a signature shows: parameters that are members too, and names that are declared together.

use std::collections::HashSet;

use super::regions::SymbolRegion;
use crate::model::{MaskMode, Symbol, SymbolKind};

/// If the head is longer, parameters may be repeated.
const MAX_HEAD: usize = 8192;

/// Removes members that the head of their type or of its constructor shows: `data class User(val id: Int)`.
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

/// Returns the symbols of a region whose heads are shown: one for each distinct signature, and the one at `holder`,
/// which has the members.
pub(super) fn distinct_heads<'o>(symbols: &[&'o Symbol], holder: usize) -> Vec<(usize, &'o Symbol)> {
    let mut seen: HashSet<&str> =
        symbols.get(holder).map(|symbol| symbol.signature.as_str()).into_iter().collect();
    let all = symbols.iter().copied().enumerate();
    all.filter(|(at, symbol)| *at == holder || seen.insert(symbol.signature.as_str())).collect()
}

/// Returns whether members are part of their owner's signature; `before` is the text between the starts of both.
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

/// Returns whether a text ends inside parentheses that contain no open brace.
fn is_in_parentheses(text: &str) -> bool {
    let count = |c: char| text.matches(c).count();
    text.len() <= MAX_HEAD && count(')') < count('(') && count('{') == count('}')
}

/// Returns whether this is a compact constructor of a Java record, which repeats its parameters: `public Point { … }`.
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
