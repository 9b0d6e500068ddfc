//! Words and terms of texts, the vectors of terms that are stored, and how occurrences are scored.

mod bits;
mod bm25;
mod stems;
mod vector;
mod verbatim;
mod words;

pub use bm25::{Saturation, inverse_frequency, real};
pub(in crate::search) use bm25::{greatest, ln, normalized, rarity};
pub use stems::{TERMS_VERSION, Term};
pub(in crate::search) use vector::QueryTerms;
pub use vector::{TermVector, VECTOR_VERSION, VectorBuilder};
pub(in crate::search) use verbatim::{SharedPiece, VerbatimText};
pub use words::terms;
pub(in crate::search) use words::{Word, words};
