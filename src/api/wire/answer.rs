//! What an ask is answered by, on either side of the wire.

use schemars::JsonSchema;
use schemars::Schema;
use schemars::SchemaGenerator;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::de::Error as _;

use super::cache::AuditResult;
use super::cache::CacheFreed;
use super::cache::CacheSize;
use super::cache::CacheVerdict;
use super::document::ComposedDocument;
use super::explained::FileExplanation;
use super::files::FileState;
use super::files::FileStates;
use super::files::FileView;
use super::files::IndexRun;
use super::receipt::DocumentReceipt;
use super::structure::FileOutline;
use super::structure::FoundSymbol;
use crate::api::ask::AnyQuery;
use crate::api::response::QueryResponse;

/// Levels of JSON at most in an answer: two for each level of symbols, of which an outline has no more than 121.
const MAX_NESTING: usize = 300;

/// The answer to an ask: the `data` of the envelope.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AnyAnswer {
    /// What an index run did.
    Indexed(IndexRun),
    /// What is known of every file.
    Files(FileStates),
    /// Outlines, by path.
    Outlines(Vec<FileOutline>),
    /// Views, in the order in which they were asked for.
    Views(Vec<FileView>),
    /// Symbols, by path and line.
    Symbols(Vec<FoundSymbol>),
    /// A document, or the receipt of one.
    Aggregated(Box<ComposedDocument>),
    /// Explanations, by path.
    Explained(Vec<FileExplanation>),
    /// How much is cached.
    CacheStatus(CacheSize),
    /// What was deleted from the cache.
    Cleared(CacheFreed),
    /// What a check of the cache found.
    Verified(CacheVerdict),
    /// How the index differs from the files themselves.
    Audited(AuditResult),
}

impl AnyAnswer {
    /// Makes an answer of a response, whose texts move into it; `None` for what no ask is answered by.
    pub fn from_response(response: QueryResponse) -> Option<Self> {
        Some(match response {
            QueryResponse::Indexed(report) => Self::Indexed(IndexRun::from(&report)),
            QueryResponse::Outlines(answers) => Self::Outlines(convert_all(answers)),
            QueryResponse::Views(answers) => Self::Views(convert_all(answers)),
            QueryResponse::Symbols(answers) => Self::Symbols(convert_all(answers)),
            QueryResponse::Aggregated(aggregated) => {
                Self::Aggregated(Box::new(ComposedDocument::from_written(aggregated.written)))
            }
            QueryResponse::Planned(receipt) => Self::Aggregated(Box::new(ComposedDocument {
                receipt: DocumentReceipt::from(&*receipt),
                text: None,
            })),
            QueryResponse::Explained(explanations) => Self::Explained(convert_all(explanations)),
            QueryResponse::Status(files) => {
                Self::Files(FileStates { files: convert_all::<_, FileState>(files) })
            }
            QueryResponse::CacheStatus(size) => Self::CacheStatus(size.into()),
            QueryResponse::Cleared(freed) => Self::Cleared(freed.into()),
            QueryResponse::Verified(verdict) => Self::Verified(verdict.into()),
            QueryResponse::Audited(report) => Self::Audited(report.into()),
            QueryResponse::Exported(_)
            | QueryResponse::SliceMade(_)
            | QueryResponse::SliceResolved(_)
            | QueryResponse::SlicesResolved(_) => return None,
        })
    }

    /// Returns the answer as JSON.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("answers have texts as keys, and so always become JSON")
    }

    /// Returns the schema of the answers to an ask, for documents that describe them.
    pub fn schema(ask: &AnyQuery, schemas: &mut SchemaGenerator) -> Schema {
        match ask {
            AnyQuery::Index(_) => schemas.subschema_for::<IndexRun>(),
            AnyQuery::Files => schemas.subschema_for::<FileStates>(),
            AnyQuery::Outline(_) => schemas.subschema_for::<Vec<FileOutline>>(),
            AnyQuery::View(_) => schemas.subschema_for::<Vec<FileView>>(),
            AnyQuery::Symbols(_) => schemas.subschema_for::<Vec<FoundSymbol>>(),
            AnyQuery::Aggregate(_) => schemas.subschema_for::<ComposedDocument>(),
            AnyQuery::Explain(_) => schemas.subschema_for::<Vec<FileExplanation>>(),
            AnyQuery::CacheStatus => schemas.subschema_for::<CacheSize>(),
            AnyQuery::CacheClear(_) | AnyQuery::CacheCollect(_) => schemas.subschema_for::<CacheFreed>(),
            AnyQuery::CacheVerify => schemas.subschema_for::<CacheVerdict>(),
            AnyQuery::Audit => schemas.subschema_for::<AuditResult>(),
        }
    }

    /// Reads the answer to an ask from JSON.
    pub fn decode(ask: &AnyQuery, data: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(match ask {
            AnyQuery::Index(_) => Self::Indexed(decode_json(data)?),
            AnyQuery::Files => Self::Files(decode_json(data)?),
            AnyQuery::Outline(_) => Self::Outlines(decode_nested(data)?),
            AnyQuery::View(_) => Self::Views(decode_json(data)?),
            AnyQuery::Symbols(_) => Self::Symbols(decode_nested(data)?),
            AnyQuery::Aggregate(_) => Self::Aggregated(decode_json(data)?),
            AnyQuery::Explain(_) => Self::Explained(decode_json(data)?),
            AnyQuery::CacheStatus => Self::CacheStatus(decode_json(data)?),
            AnyQuery::CacheClear(_) | AnyQuery::CacheCollect(_) => Self::Cleared(decode_json(data)?),
            AnyQuery::CacheVerify => Self::Verified(decode_json(data)?),
            AnyQuery::Audit => Self::Audited(decode_json(data)?),
        })
    }
}

fn convert_all<T, W: From<T>>(items: Vec<T>) -> Vec<W> {
    items.into_iter().map(Into::into).collect()
}

fn decode_json<T: DeserializeOwned>(data: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(data)
}

/// Reads what may be nested as deeply as an outline is, which is more than the 128 levels that the parser allows.
fn decode_nested<T: DeserializeOwned>(data: &[u8]) -> Result<T, serde_json::Error> {
    if MAX_NESTING < nesting_depth(data) {
        return Err(serde_json::Error::custom("an answer that is nested deeper than outlines are"));
    }
    let mut reader = serde_json::Deserializer::from_slice(data);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Returns how deeply JSON is nested, without reading it.
fn nesting_depth(data: &[u8]) -> usize {
    let (mut level, mut deepest) = (0_usize, 0);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in data {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                level += 1;
                deepest = deepest.max(level);
            }
            b']' | b'}' if !in_text => level = level.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ask::OutlineAsk;

    #[test]
    fn levels_are_those_outside_of_texts() {
        assert_eq!(nesting_depth(b"1"), 0);
        assert_eq!(nesting_depth(br#"[{"a[{": "]\"[[", "b": [1]}, []]"#), 3);
        assert_eq!(nesting_depth(b"]]][["), 2);
    }

    #[test]
    fn an_answer_that_is_nested_without_end_is_refused() {
        let hostile = "[".repeat(1_000_000);
        let error =
            AnyAnswer::decode(&AnyQuery::Outline(OutlineAsk::default()), hostile.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("nested deeper"), "{error}");
        assert!(AnyAnswer::decode(&AnyQuery::Files, hostile.as_bytes()).is_err());
    }
}
