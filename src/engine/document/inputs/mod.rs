//! The inputs of a document: its files, those in focus, its attachments and its task. Reports what a request names that
//! is absent or cannot be shown. May import `rendering`, `routing`, `cache` and `run`.

mod absent_items;
mod focus;
mod image_patterns;
mod ineffective_masks;
mod sections;
mod select;
mod task;
mod unshown_items;

pub(in crate::engine::document) use absent_items::unmatched_items;
pub(in crate::engine::document) use focus::resolve_focus;
pub(in crate::engine::document) use ineffective_masks::{note_ineffective_masks, shows_nothing};
pub(in crate::engine) use sections::project_image;
#[cfg(test)]
pub(in crate::engine::document) use sections::sections;
pub use select::{DocumentInputs, InputsDigest};
pub(in crate::engine::document) use task::{ParsedTask, task_problems, task_receipt};
