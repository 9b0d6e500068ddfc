//! What a model is to be asked about a project, and what of its answers is shown.
//!
//! The engine says which contents lack a summary, in which order they matter, and what a model is to read of each. It
//! asks nobody: that is for the room `agent`.
//!
//! Start with [`Wish`] and `Project::errands`; a [`Preparer`] makes a prompt of each errand, on any thread.

mod eligible;
mod errand;
mod errands;
mod folders;
mod known;
mod lookup;
mod prepare;
mod previewing;
mod quiet;
mod subjects;
#[cfg(test)]
mod tests;
mod words;

#[cfg(test)]
pub use crate::discover::Options as SecretNames;
pub use crate::engine::options::SummaryLookupOptions;
pub use eligible::IneligibleReason;
pub use errand::PreparedPrompt;
pub use errand::SubjectLocation;
pub use errand::SummaryPolicy;
pub use errand::SummaryTask;
pub use errand::SummaryTasks;
pub use errand::WithheldReason;
pub use errand::summary_keys;
pub use folders::SubjectFolder;
pub use folders::SubjectKey;
pub use prepare::PromptPreparer;
pub use previewing::PromptPreview;
pub use quiet::TaskSkipReason;

pub(in crate::engine) use errands::{folder_subjects, summary_subjects, summary_tasks};
pub(in crate::engine) use lookup::SummaryLookup;
pub(in crate::engine) use prepare::preparer;
pub(in crate::engine) use previewing::preview;
pub(in crate::engine) use quiet::skipped_files;
pub(in crate::engine) use words::{ChosenSummary, ModelSummaries, add_summarized_tiers, choose_summaries};
