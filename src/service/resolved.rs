//! Resolved questions, and what they are resolved with.

use std::path::Path;

use serde::Serialize;

use crate::api::{ApiError, MissingPath, Payload, Query};
use crate::config::LoadedConfig;
use crate::engine::Project;

/// Where a question comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryOrigin {
    /// The command line, whose user may name every file that the operating system lets them read.
    CommandLine,
    /// A program on a socket or a pipe, which may only name files in the project.
    Remote,
}

/// What a question is resolved with.
#[derive(Clone, Copy)]
pub struct QuerySettings<'s> {
    pub loaded: &'s LoadedConfig,
    pub root: &'s Path,
    pub origin: QueryOrigin,
}

/// An answer, and the requested paths that have none.
pub struct AnswerWithMissing<A> {
    pub answer: A,
    pub missing: Vec<MissingPath>,
}

impl<A> AnswerWithMissing<A> {
    /// Returns an answer about all that was asked for.
    pub(super) const fn all(answer: A) -> Self {
        Self { answer, missing: Vec::new() }
    }

    pub(super) fn into_payload<Q: Query<Answer: Serialize>>(
        self,
        convert: impl FnOnce(A) -> Q::Answer,
    ) -> AnswerWithMissing<Payload> {
        AnswerWithMissing { answer: Payload::value(convert(self.answer)), missing: self.missing }
    }
}

/// A question in which nothing is left open.
pub struct ResolvedQuery {
    /// Whether the answer uses the cache. If not, it is neither opened nor created.
    pub uses_cache: bool,
    answer: Box<AnswerFn>,
}

type AnswerFn = dyn FnOnce(&mut Project<'_>) -> Result<AnswerWithMissing<Payload>, ApiError>;

impl ResolvedQuery {
    pub fn answer(self, project: &mut Project<'_>) -> Result<AnswerWithMissing<Payload>, ApiError> {
        (self.answer)(project)
    }

    pub(super) fn without_cache(self) -> Self {
        Self { uses_cache: false, ..self }
    }

    pub(super) fn new(
        answer: impl FnOnce(&mut Project<'_>) -> Result<AnswerWithMissing<Payload>, ApiError> + 'static,
    ) -> Self {
        Self { uses_cache: true, answer: Box::new(answer) }
    }
}

/// Returns a question that is answered completely or not at all. The type of the question is a parameter so that the
/// compiler checks the type of the answer, which the payload hides.
pub(super) fn complete<Q: Query<Answer: Serialize>>(
    answer: impl FnOnce(&mut Project<'_>) -> Result<Q::Answer, ApiError> + 'static,
) -> ResolvedQuery {
    ResolvedQuery::new(move |project| Ok(AnswerWithMissing::all(Payload::value(answer(project)?))))
}

/// Returns a question as [`complete`] does, whose answer has no JSON.
pub(super) fn complete_local<Q: Query>(
    answer: impl FnOnce(&mut Project<'_>) -> Result<Q::Answer, ApiError> + 'static,
) -> ResolvedQuery {
    ResolvedQuery::new(move |project| Ok(AnswerWithMissing::all(Payload::local(answer(project)?))))
}

pub(super) fn bad_query(message: &str, hint: &'static str) -> ApiError {
    ApiError::user("bad_ask", message.to_owned(), hint)
}
