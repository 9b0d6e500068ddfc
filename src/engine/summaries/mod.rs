//! Which summaries a model is asked for, and which of them are shown.
//!
//! The engine determines which contents lack a summary, in which order they matter, and what a model should read of
//! each. It does not call models: the room `agent` does.
//!
//! Start with [`SummaryPolicy`] and `Project::summary_tasks`; a [`PromptPreparer`] makes the prompt of each task, on
//! any thread. May import `workspace`, `artifacts` and `index`.

mod lookup;
mod preview;
mod prompt;
mod subjects;
mod task;
mod tasks;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub use crate::discover::Options as SecretNames;
pub use crate::engine::options::SummaryLookupOptions;
pub use preview::{PromptPreview, TaskSkipReason};
pub use prompt::PromptPreparer;
pub use subjects::IneligibleReason;
pub use task::{
    PreparedPrompt, SubjectKey, SubjectLocation, SummaryPolicy, SummaryTask, SummaryTasks, WantedSummary,
    WithheldReason, summary_keys,
};

pub(in crate::engine) use lookup::{
    ChosenSummary, ModelSummaries, SummaryLookup, add_summarized_tiers, choose_summaries,
    summaries_generation,
};
pub(in crate::engine) use preview::{preview, skipped_files};
pub(in crate::engine) use prompt::preparer;
pub(in crate::engine) use tasks::{summary_subjects, summary_tasks, wanted_summaries};
