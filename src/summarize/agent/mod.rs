//! What a language model is asked about one content, and what of its answer is kept.
//!
//! Knows: which kinds of files are worth a question, how it is worded, what of a long file is sent, by which key the
//! answer is found again, and which answers are no summaries. Does not know: who is asked, what that costs, where the
//! file lies. No path and no name of a file enters a question, so that a file that is moved is not asked about again.
//!
//! What is sent is two texts: [`instructions`], the same for all files of a kind, and [`material()`], which is data. What
//! comes back is data too, and passes [`check()`].
//!
//! Start with [`Strategy`].

mod boundary;
mod check;
mod code;
mod config;
mod cut;
mod folder;
mod key;
mod material;
mod prose;
mod strategy;

pub use check::AnswerFlaw;
pub use check::check;
pub use folder::FolderChild;
pub use folder::folder_material;
pub use key::KeyParts;
pub use key::PromptLimits;
pub use key::SummaryKeyBuilder;
pub use material::PromptMaterial;
pub use material::material;
pub use strategy::PromptStrategy;
pub use strategy::instructions;
