//! Matches the stored term vectors of all files with a query, for the text part of a file's score.

use crate::search::query::RankingQuery;
use crate::search::terms::{Saturation, TermVector, inverse_frequency};

/// The occurrences of a query's terms in the texts of some files.
#[derive(Clone, Debug)]
pub(in crate::search) struct TextMatches {
    /// The position of a term and its count, grouped by file. Four bytes each: a large project has millions.
    matches: Vec<(u16, u8)>,
    /// Where the matches of each file end, and the length of its text.
    files: Vec<(usize, u64)>,
    files_with: Vec<usize>,
    /// The weight of each term in the query, times its rarity in the project.
    weights: Vec<f64>,
    saturation: Saturation,
}

impl TextMatches {
    /// Matches the vectors of all files with the query. A file with a damaged vector is ranked as if it had no text.
    pub(in crate::search) fn find(query: &RankingQuery, vectors: &[Option<TermVector<'_>>]) -> Self {
        let mut texts = Self {
            matches: Vec::new(),
            files: Vec::with_capacity(vectors.len()),
            files_with: vec![0; query.terms().len()],
            weights: Vec::new(),
            saturation: Saturation::new(vectors.iter().flatten().map(TermVector::length)),
        };
        for vector in vectors {
            let before = texts.matches.len();
            let matched = vector.map_or(Ok(()), |vector| {
                let to_u16 = |position| u16::try_from(position).unwrap_or(u16::MAX);
                vector.match_terms(query.terms(), |position, count| {
                    texts.matches.push((to_u16(position), count));
                })
            });
            if matched.is_err() {
                texts.matches.truncate(before);
            }
            for (position, _) in &texts.matches[before..] {
                texts.files_with[usize::from(*position)] += 1;
            }
            texts.files.push((texts.matches.len(), vector.map_or(0, |vector| vector.length())));
        }
        let documents = vectors.iter().flatten().count();
        let of_term = |(position, with): (usize, &usize)| {
            query.weighted(position).weight * inverse_frequency(documents, *with)
        };
        texts.weights = texts.files_with.iter().enumerate().map(of_term).collect();
        texts
    }

    /// Returns how many files have a term of the query.
    pub(super) fn files_with(&self, position: usize) -> usize {
        self.files_with[position]
    }

    /// Returns the length of a file's text, in words.
    pub(in crate::search) fn length(&self, file: usize) -> u64 {
        self.files[file].1
    }

    /// Returns what each term of the query adds to the score of a file's text.
    pub(super) fn contributions(&self, file: usize) -> impl Iterator<Item = f64> {
        let (end, length) = self.files[file];
        let start = file.checked_sub(1).map_or(0, |before| self.files[before].0);
        self.matches[start..end].iter().map(move |(position, count)| {
            self.weights[usize::from(*position)] * self.saturation.score(u32::from(*count), length)
        })
    }
}
