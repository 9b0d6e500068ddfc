//! The rare terms of files in focus, which other files and their symbols are ranked by.
//!
//! Files that change together share names that few others have: a test with what it tests, an implementation with its
//! interface, and the variants of one thing. No parser is needed for that, and the term vectors are stored anyway.

use std::collections::BTreeMap;

use super::files::RankedFile;
use crate::search::query::{RankingQuery, WeightedTerm};
use crate::search::terms::{QueryTerms, Term, inverse_frequency, ln};

/// A term that more than one in this many files have says nothing about what a file is about.
const COMMON_SHARE: usize = 10;
/// Only the terms of that many files in focus are used: more are about no particular thing.
const MAX_FOCUS_FILES: usize = 64;

/// Returns the rare terms of the files in focus as a query: each is weighted by its count there, and by its rarity. It is
/// empty without a focus. A damaged vector has no terms.
pub fn query_of_focus(files: &[RankedFile<'_>]) -> RankingQuery {
    let mut counts: BTreeMap<Term, u32> = BTreeMap::new();
    for file in files.iter().filter(|file| file.in_focus).take(MAX_FOCUS_FILES) {
        let Some(vector) = file.vector else { continue };
        let _damaged = vector.read_terms(|term, count| *counts.entry(term).or_default() += u32::from(count));
    }
    if counts.is_empty() {
        return RankingQuery::empty();
    }
    let (terms, counts): (Vec<Term>, Vec<u32>) = counts.into_iter().unzip();
    let mut files_with = vec![0; terms.len()];
    // Stored terms are distinct and in order, so positions of the query are those of the terms.
    let (query, _) = QueryTerms::new(&terms);
    let mut documents = 0;
    for vector in files.iter().filter_map(|file| file.vector) {
        documents += 1;
        let _damaged = vector.match_terms(&query, |position, _| files_with[position] += 1);
    }
    let most = (documents / COMMON_SHARE).max(2);
    let weighted = terms.into_iter().zip(counts).zip(files_with).filter(|(_, with)| *with <= most);
    let weighted = weighted.map(|((term, count), with)| {
        let weight = (1.0 + ln(f64::from(count))) * inverse_frequency(documents, with);
        WeightedTerm { term, weight, in_title: false }
    });
    RankingQuery::new(weighted.collect(), Vec::new(), Vec::new(), Vec::new())
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums of nothing and quotients of equal numbers are exact")]
mod tests {
    use super::super::files::FileSignals;
    use super::super::path_class::PathClass;
    use super::super::text_matches::TextMatches;
    use super::*;
    use crate::model::RelPath;
    use crate::search::terms::{TermVector, VectorBuilder};

    /// Returns the similarity of each text to the first one.
    fn similarities<const N: usize>(texts: [&str; N]) -> [f64; N] {
        let mut builder = VectorBuilder::default();
        let stored = texts.map(|text| builder.build(text.as_bytes()));
        let vectors: Vec<_> = stored.iter().map(|bytes| TermVector::from_bytes(bytes).ok()).collect();
        let path = RelPath::new(b"a").unwrap();
        let (class, signals) = (PathClass::Source, FileSignals::default());
        let files = vectors.iter().enumerate();
        let files = files.map(|(at, vector)| {
            let in_focus = at == 0;
            RankedFile { path: &path, class, vector: *vector, in_focus, signals }
        });
        let files: Vec<RankedFile<'_>> = files.collect();
        let matches = TextMatches::find(&query_of_focus(&files), &vectors);
        std::array::from_fn(|at| matches.contributions(at).sum())
    }

    #[test]
    fn texts_are_similar_by_terms_that_few_files_have() {
        let texts = ["open parse_url", "close parse_url", "open proxy", "open header", "nothing", ""];
        let [_, shares, common, other, none, empty] = similarities(texts);
        assert!(0.0 < shares);
        assert_eq!([common, other, none, empty], [0.0; 4]);
    }

    #[test]
    fn a_term_that_a_text_in_focus_has_often_counts_more() {
        let texts = ["proxy proxy proxy header", "proxy", "header", "alpha beta"];
        let [_, often, once, _] = similarities(texts);
        assert!(once < often);
    }
}
