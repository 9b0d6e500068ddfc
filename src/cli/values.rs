//! Value parsers for flags.

use std::ops::{Bound, RangeBounds};

use clap::builder::{OsStringValueParser, PossibleValuesParser, StringValueParser, TypedValueParser};

use crate::model::{
    AggregationStrategy, CacheLifetime, DocsDetail, FileOrder, MaskMode, ResourceKind, ViewMode, path_text,
};

/// Reads `A-B`, or `A` for one line.
pub(super) fn line_range(word: &str) -> Result<(u32, u32), String> {
    let (start, end) = word.split_once('-').unwrap_or((word, word));
    let number = |digits: &str| {
        // `parse` alone would accept a plus sign.
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse::<u32>().ok().filter(|_| is_number);
        number.ok_or_else(|| format!("`{digits}` is not a line number"))
    };
    let (start, end) = (number(start)?, number(end)?);
    match (start, end) {
        (0, _) => Err("lines are numbered from 1".to_owned()),
        _ if end < start => Err(format!("the range ends at {end}, before its start at {start}")),
        range => Ok(range),
    }
}

/// Returns the parser of view modes, without those that a view of a named file cannot have.
///
/// A window needs a line, which `view` cannot name, and a path alone repeats what the user typed.
pub(super) fn mode() -> impl TypedValueParser<Value = ViewMode> {
    let modes = ViewMode::ALL.into_iter().filter(|mode| mode.is_requestable());
    named(modes.map(ViewMode::name), ViewMode::from_name)
}

/// Returns a parser of a file argument: bytes that are not UTF-8 are escaped as slop prints them.
pub(super) fn file_word() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|word| path_text(word.as_encoded_bytes()))
}

/// Reads `SYMBOL=def`, `SYMBOL=sig`, `SYMBOL=agg` or `SYMBOL=hide`.
pub(super) fn mask(word: &str) -> Result<(String, MaskMode), String> {
    let expected = || "expected SYMBOL=def, SYMBOL=sig, SYMBOL=agg or SYMBOL=hide".to_owned();
    // The last `=` is the separator, because names such as `operator==` contain it.
    let (symbol, mode) = word.rsplit_once('=').ok_or_else(expected)?;
    let mode = MaskMode::from_word(mode).ok_or_else(expected)?;
    if symbol.trim().is_empty() { Err(expected()) } else { Ok((symbol.trim().to_owned(), mode)) }
}

/// Returns a parser of whole numbers in a range.
pub(super) fn whole_number<T: TryFrom<u64> + Clone + Send + Sync + 'static>(
    range: impl RangeBounds<u64> + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    StringValueParser::new().try_map(move |word| {
        let number = word.parse::<u64>().ok().filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            match (range.start_bound(), range.end_bound()) {
                (Bound::Included(least), Bound::Included(most)) => {
                    format!("expected a number from {least} to {most}")
                }
                (Bound::Included(least), _) => format!("expected a number from {least} up"),
                _ => "expected a number".to_owned(),
            }
        })
    })
}

pub(super) fn strategy() -> impl TypedValueParser<Value = AggregationStrategy> {
    named(AggregationStrategy::ALL.into_iter().map(AggregationStrategy::name), AggregationStrategy::from_name)
}

pub(super) fn docs() -> impl TypedValueParser<Value = DocsDetail> {
    named(DocsDetail::ALL.into_iter().map(DocsDetail::name), DocsDetail::from_name)
}

pub(super) fn resource_kind() -> impl TypedValueParser<Value = ResourceKind> {
    named(ResourceKind::ALL.into_iter().map(ResourceKind::name), ResourceKind::from_name)
}

pub(super) fn cache_lifetime() -> impl TypedValueParser<Value = CacheLifetime> {
    named(CacheLifetime::ALL.into_iter().map(CacheLifetime::name), CacheLifetime::from_name)
}

pub(super) fn order() -> impl TypedValueParser<Value = FileOrder> {
    named(FileOrder::ALL.into_iter().map(FileOrder::name), FileOrder::from_name)
}

/// Returns a parser that accepts `names`, which help and completions list.
fn named<T: Clone + Send + Sync + 'static>(
    names: impl Iterator<Item = &'static str>,
    from_name: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    let parser = PossibleValuesParser::new(names.collect::<Vec<_>>());
    parser.try_map(move |word| from_name(&word).ok_or("not one of the possible values"))
}
