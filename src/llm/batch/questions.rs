//! What is sent.

use secrecy::SecretString;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::llm::Model;
use crate::llm::Wire;
use crate::llm::encode::path_part;
use crate::llm::encode::request;
use crate::llm::wire;
use crate::model::ContentHash;
use crate::model::Method;
use crate::model::Prompt;
use crate::model::WebRequest;

/// The content type of what is sent in JSON.
const JSON: &str = "application/json";

/// One question of many.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// Its name, by which its answer is found again: at most 64 letters and digits.
    pub id: &'a str,
    /// The question.
    pub prompt: &'a Prompt,
}

#[derive(Serialize)]
struct AnthropicBatch<'a> {
    requests: Vec<AnthropicItem<'a>>,
}

#[derive(Serialize)]
struct AnthropicItem<'a> {
    custom_id: &'a str,
    params: Box<RawValue>,
}

#[derive(Serialize)]
struct OpenAiItem<'a> {
    custom_id: &'a str,
    method: &'static str,
    url: &'static str,
    body: Box<RawValue>,
}

#[derive(Serialize)]
struct OpenAiBatch<'a> {
    input_file_id: &'a str,
    endpoint: &'static str,
    completion_window: &'static str,
    metadata: Metadata<'a>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    /// By it a batch is found again whose name was never heard.
    slop: &'a str,
}

/// Says whether a model's provider takes many questions at once.
pub fn is_possible(model: &Model) -> bool {
    let is_known = match model.provider.wire {
        Wire::Anthropic | Wire::Chat | Wire::Responses => true,
        Wire::Gemini | Wire::Ollama | Wire::Command => false,
    };
    is_known && model.provider.has_batches
}

/// Returns the most questions of one batch.
pub fn most_items(model: &Model) -> usize {
    if is_anthropic(model) { 100_000 } else { 50_000 }
}

/// Returns the most bytes of a body by which a batch is submitted.
pub fn most_bytes(model: &Model) -> usize {
    if is_anthropic(model) { 256_000_000 } else { 200_000_000 }
}

/// Returns a name for a batch of questions with these names, whatever their order is.
pub fn tag<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let mut ids: Vec<&str> = ids.into_iter().collect();
    ids.sort_unstable();
    ContentHash::of(ids.join("\n").as_bytes()).to_string()
}

/// Returns the request that submits questions, or, at OpenAI, uploads them.
pub fn encode_submit(model: &Model, items: &[Item<'_>], key: Option<&SecretString>) -> WebRequest {
    if !is_anthropic(model) {
        return upload(model, items, key);
    }
    let requests =
        items.iter().map(|item| AnthropicItem { custom_id: item.id, params: body(model, item) }).collect();
    let body = serde_json::to_vec(&AnthropicBatch { requests }).expect("texts are JSON");
    request(model, Method::Post, "/v1/messages/batches", Some(("content-type", JSON)), body, key)
}

/// Returns the request that makes a batch of an uploaded file. `tag` is that of its questions.
pub fn encode_create(model: &Model, file: &str, tag: &str, key: Option<&SecretString>) -> WebRequest {
    let batch = OpenAiBatch {
        input_file_id: file,
        endpoint: endpoint(model),
        completion_window: "24h",
        metadata: Metadata { slop: tag },
    };
    let body = serde_json::to_vec(&batch).expect("texts are JSON");
    request(model, Method::Post, "/batches", Some(("content-type", JSON)), body, key)
}

/// Returns the request that asks how far a batch is.
pub fn encode_poll(model: &Model, id: &str, key: Option<&SecretString>) -> WebRequest {
    get(model, &format!("{}/{}", batches(model), path_part(id)), key)
}

/// Returns the request for one of the lists of answers that a batch has when it has ended.
pub fn encode_results(model: &Model, name: &str, key: Option<&SecretString>) -> WebRequest {
    let name = path_part(name);
    // Anthropic says the whole address of the answers; the key goes to the address that the settings name alone.
    let path = if is_anthropic(model) {
        format!("{}/{name}/results", batches(model))
    } else {
        format!("/files/{name}/content")
    };
    get(model, &path, key)
}

/// Returns the request for the newest batches, or for those before the one of that name.
pub fn encode_list(model: &Model, before: Option<&str>, key: Option<&SecretString>) -> WebRequest {
    let parameter = if is_anthropic(model) { "after_id" } else { "after" };
    let before = before.map(|id| format!("&{parameter}={}", path_part(id))).unwrap_or_default();
    get(model, &format!("{}?limit=100{before}", batches(model)), key)
}

/// Says whether it is Anthropic that is spoken to.
pub(super) fn is_anthropic(model: &Model) -> bool {
    model.provider.wire == Wire::Anthropic
}

fn batches(model: &Model) -> &'static str {
    if is_anthropic(model) { "/v1/messages/batches" } else { "/batches" }
}

fn endpoint(model: &Model) -> &'static str {
    if model.provider.wire == Wire::Responses { "/v1/responses" } else { "/v1/chat/completions" }
}

fn get(model: &Model, path: &str, key: Option<&SecretString>) -> WebRequest {
    request(model, Method::Get, path, None, Vec::new(), key)
}

fn body(model: &Model, item: &Item<'_>) -> Box<RawValue> {
    let body = String::from_utf8(wire::body(model, item.prompt)).expect("JSON is UTF-8");
    RawValue::from_string(body).expect("a body is JSON")
}

/// Returns the request that uploads questions as a file of lines, in the one way in which browsers send files.
fn upload(model: &Model, items: &[Item<'_>], key: Option<&SecretString>) -> WebRequest {
    let tag = tag(items.iter().map(|item| item.id));
    // No line of JSON begins with two dashes, so this cannot occur in the file.
    let boundary = format!("slop-{}", &tag[..32]);
    let mut body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--{boundary}\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"slop.jsonl\"\r\n\
         Content-Type: application/jsonl\r\n\r\n"
    )
    .into_bytes();
    for item in items {
        let line = OpenAiItem {
            custom_id: item.id,
            method: "POST",
            url: endpoint(model),
            body: self::body(model, item),
        };
        serde_json::to_writer(&mut body, &line).expect("texts are JSON, and a vector takes all of it");
        body.push(b'\n');
    }
    body.extend(format!("\r\n--{boundary}--\r\n").into_bytes());
    let content_type = format!("multipart/form-data; boundary={boundary}");
    request(model, Method::Post, "/files", Some(("content-type", &content_type)), body, key)
}
