//! Google's generateContent.

use serde::Serialize;
use serde_json::Value;

use super::kinds::Answer;
use super::kinds::Lack;
use super::kinds::Stop;
use super::kinds::count;
use super::kinds::rest;
use crate::llm::Class;
use crate::llm::Model;
use crate::llm::Soft;
use crate::llm::encode::path_part;
use crate::model::Prompt;
use crate::model::Tokens;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    generation_config: Config,
    system_instruction: Content<'a>,
    contents: [Content<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Part<'a> {
    text: &'a str,
}

/// Returns what is appended to the provider's address: the model stands in it.
pub(super) fn path(name: &str) -> String {
    let name = name.strip_prefix("models/").unwrap_or(name);
    format!("/v1beta/models/{}:generateContent", path_part(name))
}

pub(super) fn body(model: &Model, prompt: &Prompt) -> Vec<u8> {
    let body = Body {
        generation_config: Config {
            max_output_tokens: model.max_output_tokens.unwrap_or(prompt.answer_tokens),
            temperature: model.temperature,
            top_p: model.top_p,
        },
        system_instruction: Content { role: None, parts: [Part { text: &prompt.instructions }] },
        contents: [Content { role: Some("user"), parts: [Part { text: &prompt.material }] }],
    };
    serde_json::to_vec(&body).expect("texts and numbers are JSON")
}

pub(super) fn answer(value: &Value) -> Result<Answer, Lack> {
    let declined = Answer { text: String::new(), stop: Stop::Lack(Class::Soft(Soft::Declined)) };
    let Some(candidate) = value.pointer("/candidates/0") else {
        return match value.pointer("/promptFeedback/blockReason") {
            Some(_) => Ok(declined),
            None => Err(Lack::garbled("the answer has no `candidates`")),
        };
    };
    let stop = match candidate.get("finishReason").and_then(Value::as_str) {
        Some("MAX_TOKENS") => Stop::Lack(Class::Soft(Soft::CutOff)),
        Some("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE") => {
            declined.stop
        }
        Some(_) | None => Stop::Done,
    };
    // A candidate that was stopped early may have no content at all.
    let Some(content) = candidate.get("content") else {
        return match candidate.get("finishReason") {
            Some(Value::String(_)) => Ok(Answer { text: String::new(), stop }),
            Some(_) | None => Err(Lack::garbled("the answer's candidate has no `content`")),
        };
    };
    let mut text = String::new();
    match content.get("parts") {
        Some(Value::Array(parts)) => {
            for part in parts.iter().filter(|part| part.get("thought") != Some(&Value::Bool(true))) {
                text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
            }
        }
        // An empty list is left out, as Google's JSON does with all that is empty.
        None => {}
        Some(_) => return Err(Lack::garbled("the answer's `parts` are no list")),
    }
    Ok(Answer { text, stop })
}

pub(super) fn tokens(value: &Value) -> Tokens {
    let read = count(value, "/usageMetadata/cachedContentTokenCount");
    let written = count(value, "/usageMetadata/candidatesTokenCount");
    let thought = count(value, "/usageMetadata/thoughtsTokenCount");
    Tokens {
        input: rest(count(value, "/usageMetadata/promptTokenCount"), read, None),
        cache_read: read,
        cache_write: None,
        // What it thought is not in the first of them; a number that is 0 is left out by Google's JSON.
        output: match (written, thought) {
            (None, None) => None,
            (Some(_), _) | (_, Some(_)) => Some(written.unwrap_or(0).saturating_add(thought.unwrap_or(0))),
        },
    }
}
