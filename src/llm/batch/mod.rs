//! Batches of requests at half the price: Anthropic's message batches and OpenAI's batch API.
//!
//! OpenAI requires the items to be uploaded as a file first: [`decode_submitted`] then returns its id, and
//! [`encode_create`] is the second step. All functions expect a model for which [`is_possible`] returns `true`;
//! providers other than Anthropic are assumed to speak OpenAI's format.

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
