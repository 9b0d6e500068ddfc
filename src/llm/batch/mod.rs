//! Many questions at once, for half the price, within a day: Anthropic's message batches, and OpenAI's.
//!
//! OpenAI wants the questions as a file first: what [`decode_submitted`] makes of the answer to that says so, and
//! [`encode_create`] is the second step. All functions are for models for which [`is_possible`]; those of other
//! providers are spoken to as OpenAI is.

mod answers;
mod questions;

pub use answers::BatchProgress;
pub use answers::ListedBatch;
pub use answers::SubmitStep;
pub use answers::decode_list;
pub use answers::decode_poll;
pub use answers::decode_results;
pub use answers::decode_submitted;
pub use questions::BatchEntry;
pub use questions::encode_create;
pub use questions::encode_list;
pub use questions::encode_poll;
pub use questions::encode_results;
pub use questions::encode_submit;
pub use questions::is_possible;
pub use questions::most_bytes;
pub use questions::most_items;
pub use questions::tag;
