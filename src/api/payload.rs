//! The data of an answer, which is only encoded when it leaves the process, and decoded when it arrives.

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::fault::ApiError;
use super::wire::{AnswerShape, ComposedDocument, ReceiptFaults, encode_document};
use crate::engine::CachedDocument;

/// The value of an answer, in the form in which it was made.
pub enum Payload {
    /// A value of the question's own type of answer.
    Value(Box<dyn AnswerValue>),
    /// A document. Its JSON is kept with it, because encoding it takes longer than checking that it is still valid.
    Document(Arc<CachedDocument>, AnswerShape),
    /// JSON, as a daemon sent it.
    Json(Bytes),
    /// A value that has no JSON, for the process that asked.
    Local(Box<dyn Any + Send>),
}

/// An answer that can be encoded, and turned back into the type that it has.
pub trait AnswerValue: Any + Send {
    fn encode(&self) -> Vec<u8>;
}

impl<A: Serialize + Any + Send> AnswerValue for A {
    fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("answers have string keys, so they can be serialized")
    }
}

impl Payload {
    pub fn value(value: impl AnswerValue) -> Self {
        Self::Value(Box::new(value))
    }

    pub fn local(value: impl Any + Send) -> Self {
        Self::Local(Box::new(value))
    }

    pub fn downcast_ref<A: 'static>(&self) -> Option<&A> {
        match self {
            Self::Value(value) => (&**value as &dyn Any).downcast_ref(),
            Self::Local(value) => value.downcast_ref(),
            Self::Document(..) | Self::Json(_) => None,
        }
    }

    /// Returns the payload as JSON, and the text of a document. With `only_text`, the faults in the receipt replace the
    /// JSON of a document.
    pub(super) fn encode(self, only_text: bool) -> Result<EncodedPayload, ApiError> {
        let (data, text, faults) = match self {
            Self::Value(value) => (value.encode().into(), None, ReceiptFaults::default()),
            Self::Document(document, shape) => {
                let text = Some(document.text.to_bytes());
                // The JSON contains the text again, escaped, which a client that only reads the text does not need.
                if only_text {
                    (Bytes::new(), text, ReceiptFaults::from_receipt(&document.receipt))
                } else {
                    (encode_document(&document, shape), text, ReceiptFaults::default())
                }
            }
            Self::Json(data) => {
                let faults = if only_text { receipt_faults(&data) } else { ReceiptFaults::default() };
                (data, None, faults)
            }
            // No transport accepts a question without a route, so this is a bug of slop.
            Self::Local(_) => return Err(ApiError::bug()),
        };
        Ok(EncodedPayload { data, text, faults })
    }

    /// Returns the value of an answer of type `A`; `decode` is used if it is JSON.
    pub(super) fn into_value<A: 'static>(
        self,
        decode: impl FnOnce(&[u8]) -> Result<A, serde_json::Error>,
    ) -> Result<A, ApiError> {
        // Within a process, the value itself is passed, and neither encoded nor decoded.
        let value: Box<dyn Any> = match self {
            Self::Json(data) => return decode(&data).map_err(|error| ApiError::unreadable_answer(&error)),
            Self::Document(document, shape) => Box::new(ComposedDocument::from_written(document, shape)),
            Self::Value(value) => value,
            Self::Local(value) => value,
        };
        // A service that returns the answer to a different question has a bug.
        value.downcast().map(|value| *value).map_err(|_| ApiError::bug())
    }
}

/// A payload as it is sent.
pub(super) struct EncodedPayload {
    /// JSON; empty for a document of which only the text is needed.
    pub(super) data: Bytes,
    /// The text of a document, if it need not be decoded.
    pub(super) text: Option<Bytes>,
    /// The faults in the receipt, for a caller that only gets the text.
    pub(super) faults: ReceiptFaults,
}

/// Returns the faults in the receipt of a document's JSON.
fn receipt_faults(answer: &[u8]) -> ReceiptFaults {
    #[derive(Deserialize)]
    struct Answer {
        receipt: ReceiptFaults,
    }
    serde_json::from_slice(answer).map(|Answer { receipt }| receipt).unwrap_or_default()
}

impl std::fmt::Debug for Payload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Value(_) => "Payload::Value",
            Self::Document(..) => "Payload::Document",
            Self::Json(_) => "Payload::Json",
            Self::Local(_) => "Payload::Local",
        })
    }
}
