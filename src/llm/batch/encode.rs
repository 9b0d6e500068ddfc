//! Encodes the requests about batches.

use secrecy::SecretString;
use serde_json::json;
use serde_json::value::RawValue;

use crate::llm::call::Model;
use crate::llm::provider::WireFormat;
use crate::llm::wire;
use crate::llm::wire::{JsonObject, path_part, request};
use crate::model::{ContentHash, HttpMethod, HttpRequest, ModelPrompt};

/// The content type of JSON bodies.
const JSON: &str = "application/json";

#[derive(Debug, Clone, Copy)]
pub struct BatchEntry<'a> {
    /// Its id, by which its result is found: at most 64 letters and digits.
    pub id: &'a str,
    pub prompt: &'a ModelPrompt,
}

/// Returns whether a model's provider supports batches.
pub fn is_possible(model: &Model) -> bool {
    let is_known = match model.provider.wire {
        WireFormat::Anthropic | WireFormat::Chat | WireFormat::Responses => true,
        WireFormat::Gemini | WireFormat::Ollama | WireFormat::Command => false,
    };
    is_known && model.provider.has_batches
}

pub fn most_items(model: &Model) -> usize {
    // The documented limits. A larger batch would be rejected as a whole.
    if is_anthropic(model) { 100_000 } else { 50_000 }
}

pub fn most_bytes(model: &Model) -> usize {
    if is_anthropic(model) { 256_000_000 } else { 200_000_000 }
}

/// Returns a tag for a batch of items with these ids, regardless of their order.
pub fn tag<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let mut ids: Vec<&str> = ids.into_iter().collect();
    ids.sort_unstable();
    ContentHash::digest(ids.join("\n").as_bytes()).to_string()
}

/// Returns the request that submits items or, at OpenAI, uploads them.
pub fn encode_submit(model: &Model, items: &[BatchEntry<'_>], key: Option<&SecretString>) -> HttpRequest {
    if !is_anthropic(model) {
        return upload(model, items, key);
    }
    let entry = |item: &BatchEntry<'_>| {
        JsonObject::new().field("custom_id", item.id).field("params", &body(model, item)).nested()
    };
    let requests: Vec<_> = items.iter().map(entry).collect();
    let body = JsonObject::new().field("requests", &requests).finish();
    request(model, HttpMethod::Post, "/v1/messages/batches", Some(("content-type", JSON)), body, key)
}

/// Returns the request that creates a batch from an uploaded file. `tag` is the tag of its items.
pub fn encode_create(model: &Model, file: &str, tag: &str, key: Option<&SecretString>) -> HttpRequest {
    let body = JsonObject::new()
        .field("input_file_id", file)
        .field("endpoint", endpoint(model))
        .field("completion_window", "24h")
        // Identifies a batch whose id was never received.
        .field("metadata", &json!({"slop": tag}))
        .finish();
    request(model, HttpMethod::Post, "/batches", Some(("content-type", JSON)), body, key)
}

/// Returns the request for a batch's progress.
pub fn encode_poll(model: &Model, id: &str, key: Option<&SecretString>) -> HttpRequest {
    get(model, &format!("{}/{}", batches(model), path_part(id)), key)
}

/// Returns the request for one of the result files of a batch that has ended.
pub fn encode_results(model: &Model, name: &str, key: Option<&SecretString>) -> HttpRequest {
    let name = path_part(name);
    // Anthropic returns a full URL for the results, but the key is sent only to the configured address.
    let path = if is_anthropic(model) {
        format!("{}/{name}/results", batches(model))
    } else {
        format!("/files/{name}/content")
    };
    get(model, &path, key)
}

/// Returns the request for the newest batches, or for those before the one with this id.
pub fn encode_list(model: &Model, before: Option<&str>, key: Option<&SecretString>) -> HttpRequest {
    let parameter = if is_anthropic(model) { "after_id" } else { "after" };
    let before = before.map(|id| format!("&{parameter}={}", path_part(id))).unwrap_or_default();
    get(model, &format!("{}?limit=100{before}", batches(model)), key)
}

/// Returns whether the model uses Anthropic's format.
pub(super) fn is_anthropic(model: &Model) -> bool {
    model.provider.wire == WireFormat::Anthropic
}

fn batches(model: &Model) -> &'static str {
    if is_anthropic(model) { "/v1/messages/batches" } else { "/batches" }
}

fn endpoint(model: &Model) -> &'static str {
    if model.provider.wire == WireFormat::Responses { "/v1/responses" } else { "/v1/chat/completions" }
}

fn get(model: &Model, path: &str, key: Option<&SecretString>) -> HttpRequest {
    request(model, HttpMethod::Get, path, None, Vec::new(), key)
}

fn body(model: &Model, item: &BatchEntry<'_>) -> Box<RawValue> {
    let body = String::from_utf8(wire::body(model, item.prompt)).expect("JSON is UTF-8");
    RawValue::from_string(body).expect("a body is valid JSON")
}

/// Returns the request that uploads items as a file of lines, encoded as multipart form data.
fn upload(model: &Model, items: &[BatchEntry<'_>], key: Option<&SecretString>) -> HttpRequest {
    let tag = tag(items.iter().map(|item| item.id));
    // No line of JSON begins with two dashes, so the boundary cannot occur in the file.
    let boundary = format!("slop-{}", &tag[..32]);
    let mut body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--{boundary}\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"slop.jsonl\"\r\n\
         Content-Type: application/jsonl\r\n\r\n"
    )
    .into_bytes();
    for item in items {
        let line = JsonObject::new()
            .field("custom_id", item.id)
            .field("method", "POST")
            .field("url", endpoint(model))
            .field("body", &self::body(model, item));
        body.extend(line.finish());
        body.push(b'\n');
    }
    body.extend(format!("\r\n--{boundary}--\r\n").into_bytes());
    let content_type = format!("multipart/form-data; boundary={boundary}");
    request(model, HttpMethod::Post, "/files", Some(("content-type", &content_type)), body, key)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::llm::testing::{of_provider, prompt};

    const IDS: [&str; 2] = ["a1", "b2"];

    fn submitted(provider: &str) -> HttpRequest {
        let prompts = [prompt("fn main() {}"), prompt("--slop\r\n--\u{2603}")];
        let items: Vec<BatchEntry<'_>> =
            IDS.iter().zip(&prompts).map(|(id, prompt)| BatchEntry { id, prompt }).collect();
        encode_submit(&of_provider(provider, "m"), &items, Some(&SecretString::from("sentinel")))
    }

    #[test]
    fn anthropic_is_sent_all_items_in_one_request() {
        let request = submitted("anthropic");
        assert_eq!(request.url, "https://api.anthropic.com/v1/messages/batches");
        let expected = expect![[
            r#"{"requests":[{"custom_id":"a1","params":{"model":"m","max_tokens":700,"system":[{"type":"text","text":"Say what it is for."}],"messages":[{"role":"user","content":"fn main() {}"}]}},{"custom_id":"b2","params":{"model":"m","max_tokens":700,"system":[{"type":"text","text":"Say what it is for."}],"messages":[{"role":"user","content":"--slop\r\n--☃"}]}}]}"#
        ]];
        expected.assert_eq(&String::from_utf8(request.body).unwrap());
        let names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["content-type", "anthropic-version"]);
        assert_eq!(request.secret_headers[0].0, "x-api-key");
    }

    #[test]
    fn openai_is_sent_a_file_of_items() {
        for (provider, endpoint) in [("openai", "/v1/responses"), ("openai-chat", "/v1/chat/completions")] {
            let request = submitted(provider);
            assert_eq!(request.url, "https://api.openai.com/v1/files");
            let body = String::from_utf8(request.body).unwrap();
            let content_type = &request.headers.iter().find(|(name, _)| name == "content-type").unwrap().1;
            let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
            assert!(boundary.len() <= 70);
            let parts: Vec<&str> = body.split(&format!("--{boundary}")).collect();
            assert_eq!(parts.len(), 4, "before, purpose, file, after");
            assert_eq!((parts[0], parts[3]), ("", "--\r\n"));
            assert!(parts[1].ends_with("\r\n\r\nbatch\r\n"));
            let (head, file) = parts[2].split_once("\r\n\r\n").unwrap();
            assert!(head.contains("name=\"file\"; filename=\"slop.jsonl\""));
            let lines: Vec<serde_json::Value> =
                file.trim_end().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(lines.len(), 2);
            assert_eq!(lines[1]["custom_id"], "b2");
            assert_eq!(lines[1]["url"], endpoint);
            assert!(lines[1]["body"].to_string().contains("--slop"));
        }
    }

    #[test]
    fn a_batch_is_created_from_a_file_with_the_tag_of_its_items() {
        let request = encode_create(&of_provider("openai", "m"), "file-1", &tag(IDS), None);
        assert_eq!(request.url, "https://api.openai.com/v1/batches");
        let expected = expect![[
            r#"{"input_file_id":"file-1","endpoint":"/v1/responses","completion_window":"24h","metadata":{"slop":"2e0846cb773d2f690816d956102a28245b721e1076d31ee6a7d43db5185507ad"}}"#
        ]];
        expected.assert_eq(&String::from_utf8(request.body).unwrap());
        assert_eq!(tag(IDS), tag(["b2", "a1"]));
        assert_ne!(tag(IDS), tag(["a1"]));
    }

    #[test]
    fn requests_about_batches_use_only_the_configured_address() {
        let (anthropic, openai) = (of_provider("anthropic", "m"), of_provider("openai", "m"));
        let url = |request: HttpRequest| {
            assert!(request.body.is_empty() && request.method == HttpMethod::Get);
            request.url
        };
        let of_anthropic = "https://api.anthropic.com/v1/messages/batches";
        assert_eq!(url(encode_poll(&anthropic, "b_1", None)), format!("{of_anthropic}/b_1"));
        assert_eq!(url(encode_results(&anthropic, "b_1", None)), format!("{of_anthropic}/b_1/results"));
        assert_eq!(url(encode_list(&anthropic, None, None)), format!("{of_anthropic}?limit=100"));
        assert_eq!(
            url(encode_list(&anthropic, Some("b&1"), None)),
            format!("{of_anthropic}?limit=100&after_id=b%261")
        );
        assert_eq!(url(encode_poll(&anthropic, "../../x", None)), format!("{of_anthropic}/..%2F..%2Fx"));
        assert_eq!(url(encode_poll(&anthropic, "..", None)), format!("{of_anthropic}/%2E%2E"));
        let of_openai = "https://api.openai.com/v1";
        assert_eq!(url(encode_poll(&openai, "b_1", None)), format!("{of_openai}/batches/b_1"));
        assert_eq!(url(encode_results(&openai, "file-2", None)), format!("{of_openai}/files/file-2/content"));
        assert_eq!(
            url(encode_list(&openai, Some("b_1"), None)),
            format!("{of_openai}/batches?limit=100&after=b_1")
        );
    }

    #[test]
    fn only_providers_with_batches_are_sent_any() {
        for (provider, possible) in
            [("anthropic", true), ("openai", true), ("minimax", false), ("gemini", false)]
        {
            assert_eq!(is_possible(&of_provider(provider, "m")), possible, "{provider}");
        }
    }
}
