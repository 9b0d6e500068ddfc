//! Batches of requests at half the price: Anthropic's message batches and OpenAI's batch API.
//!
//! OpenAI requires the items to be uploaded as a file first: [`decode_submitted`] then returns its id, and
//! [`encode_create`] is the second step. All functions expect a model for which [`is_possible`] returns `true`;
//! providers other than Anthropic are assumed to speak OpenAI's format.
//!
//! `encode` makes the requests, `decode` reads the responses.

mod decode;
mod encode;

pub use decode::{
    BatchProgress, ListedBatch, SubmitStep, decode_list, decode_poll, decode_results, decode_submitted,
};
pub use encode::{
    BatchEntry, encode_create, encode_list, encode_poll, encode_results, encode_submit, is_possible,
    most_bytes, most_items, tag,
};
