//! Which files and symbols of the project matter for a task, for files in focus, or in general.
//!
//! `signals` collects what is known of each file, `foreign` determines which files the project declares vendored or
//! generated, `rank` scores files and, on the texts of the best ones, symbols, `frozen` does so for an earlier commit,
//! whose contents `earlier` reads, and `search` lists the results. May import `workspace`, `artifacts` and `history`.
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
    ProjectRanking, RankedSymbol, RankingRequest, SymbolSignature, path_classes, rank_project,
};
pub(in crate::engine) use search::{SearchCaches, search};
pub(in crate::engine) use source::{SourceCache, SourceText};
