//! Prompts for language models about one content each, and the checks of their answers.
//!
//! Knows: which kinds of files deserve a prompt, its wording, which parts of a long file are sent, the key under
//! which the summary is cached, and which answers are not summaries. Does not know: the provider, the cost, where the
//! file is. No path and no file name enters a prompt, so that a moved file keeps its summary.
//!
//! A prompt consists of two texts: [`instructions`], the same for all files of a kind, and [`material()`], which is
//! data. The answer is data too, and must pass [`check()`].
//!
//! Start with [`PromptStrategy`].

mod check;
mod excerpt;
mod material;
mod strategy;

pub use check::{AnswerFlaw, check};
pub use material::{FolderChild, PromptMaterial, folder_material, material};
pub use strategy::{KeyParts, PromptLimits, PromptStrategy, SummaryKeyBuilder, instructions};
