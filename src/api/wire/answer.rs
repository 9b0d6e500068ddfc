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
use crate::api::ask::Ask;
use crate::api::response::Response;

/// Levels of JSON at most in an answer: two for each level of symbols, of which an outline has no more than 121.
const MOST_LEVELS: usize = 300;

/// The answer to an ask: the `data` of the envelope.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Answer {
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

impl Answer {
    /// Makes an answer of a response, whose texts move into it; `None` for what no ask is answered by.
    pub fn of(response: Response) -> Option<Self> {
        Some(match response {
            Response::Indexed(report) => Self::Indexed(IndexRun::from(&report)),
            Response::Outlines(answers) => Self::Outlines(all(answers)),
            Response::Views(answers) => Self::Views(all(answers)),
            Response::Symbols(answers) => Self::Symbols(all(answers)),
            Response::Aggregated(aggregated) => {
                Self::Aggregated(Box::new(ComposedDocument::of(aggregated.written)))
            }
            Response::Planned(receipt) => Self::Aggregated(Box::new(ComposedDocument {
                receipt: DocumentReceipt::from(&*receipt),
                text: None,
            })),
            Response::Explained(explanations) => Self::Explained(all(explanations)),
            Response::Status(files) => Self::Files(FileStates { files: all::<_, FileState>(files) }),
            Response::CacheStatus(size) => Self::CacheStatus(size.into()),
            Response::Cleared(freed) => Self::Cleared(freed.into()),
            Response::Verified(verdict) => Self::Verified(verdict.into()),
            Response::Audited(report) => Self::Audited(report.into()),
            Response::Exported(_)
            | Response::SliceMade(_)
            | Response::SliceResolved(_)
            | Response::SlicesResolved(_) => return None,
        })
    }

    /// Returns the answer as JSON.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("answers have texts as keys, and so always become JSON")
    }

    /// Returns the schema of the answers to an ask, for documents that describe them.
    pub fn schema(ask: &Ask, schemas: &mut SchemaGenerator) -> Schema {
        match ask {
            Ask::Index(_) => schemas.subschema_for::<IndexRun>(),
            Ask::Files => schemas.subschema_for::<FileStates>(),
            Ask::Outline(_) => schemas.subschema_for::<Vec<FileOutline>>(),
            Ask::View(_) => schemas.subschema_for::<Vec<FileView>>(),
            Ask::Symbols(_) => schemas.subschema_for::<Vec<FoundSymbol>>(),
            Ask::Aggregate(_) => schemas.subschema_for::<ComposedDocument>(),
            Ask::Explain(_) => schemas.subschema_for::<Vec<FileExplanation>>(),
            Ask::CacheStatus => schemas.subschema_for::<CacheSize>(),
            Ask::CacheClear(_) | Ask::CacheCollect(_) => schemas.subschema_for::<CacheFreed>(),
            Ask::CacheVerify => schemas.subschema_for::<CacheVerdict>(),
            Ask::Audit => schemas.subschema_for::<AuditResult>(),
        }
    }

    /// Reads the answer to an ask from JSON.
    pub fn decode(ask: &Ask, data: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(match ask {
            Ask::Index(_) => Self::Indexed(read(data)?),
            Ask::Files => Self::Files(read(data)?),
            Ask::Outline(_) => Self::Outlines(read_nested(data)?),
            Ask::View(_) => Self::Views(read(data)?),
            Ask::Symbols(_) => Self::Symbols(read_nested(data)?),
            Ask::Aggregate(_) => Self::Aggregated(read(data)?),
            Ask::Explain(_) => Self::Explained(read(data)?),
            Ask::CacheStatus => Self::CacheStatus(read(data)?),
            Ask::CacheClear(_) | Ask::CacheCollect(_) => Self::Cleared(read(data)?),
            Ask::CacheVerify => Self::Verified(read(data)?),
            Ask::Audit => Self::Audited(read(data)?),
        })
    }
}

fn all<T, W: From<T>>(items: Vec<T>) -> Vec<W> {
    items.into_iter().map(Into::into).collect()
}

fn read<T: DeserializeOwned>(data: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(data)
}

/// Reads what may be nested as deeply as an outline is, which is more than the 128 levels that the parser allows.
fn read_nested<T: DeserializeOwned>(data: &[u8]) -> Result<T, serde_json::Error> {
    if MOST_LEVELS < levels(data) {
        return Err(serde_json::Error::custom("an answer that is nested deeper than outlines are"));
    }
    let mut reader = serde_json::Deserializer::from_slice(data);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Returns how deeply JSON is nested, without reading it.
fn levels(data: &[u8]) -> usize {
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
        assert_eq!(levels(b"1"), 0);
        assert_eq!(levels(br#"[{"a[{": "]\"[[", "b": [1]}, []]"#), 3);
        assert_eq!(levels(b"]]][["), 2);
    }

    #[test]
    fn an_answer_that_is_nested_without_end_is_refused() {
        let hostile = "[".repeat(1_000_000);
        let error = Answer::decode(&Ask::Outline(OutlineAsk::default()), hostile.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("nested deeper"), "{error}");
        assert!(Answer::decode(&Ask::Files, hostile.as_bytes()).is_err());
    }
}
