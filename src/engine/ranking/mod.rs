//! Which files and symbols of the project matter for a task, for files in focus, or in general.
//!
//! `signals` gathers what is known of each file, `foreign` determines which files the project itself calls vendored or
//! generated, `rank` scores files and, on the texts of the best of them, symbols, `frozen` does so by what they
//! were at an earlier commit, which `earlier` reads, and `search` lists them. May import `workspace`, `artifacts` and
//! `history`.
//!
//! Start with [`rank_project`].

mod earlier;
mod foreign;
mod frozen;
mod rank;
mod search;
mod signals;
mod source;

pub use search::{HitKind, SearchAnswer, SearchHit, SearchRequest};

pub(in crate::engine) use frozen::{FrozenRankings, FrozenRequest};
pub(in crate::engine) use rank::{
    ProjectRanking, RankedSymbol, RankingRequest, SourceTexts, SymbolSignature, path_classes, rank_project,
};
pub(in crate::engine) use search::{SharedHistory, search};
pub(in crate::engine) use source::SourceText;
