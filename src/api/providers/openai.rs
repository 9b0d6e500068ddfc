//! `POST /v1/chat/completions` of OpenAI, and of the many servers that speak like it.

use serde_json::{Value, json};

use super::content::{PromptContent, PromptPart};
use crate::model::BodyOptions;

/// How the names of OpenAI's own models begin. Servers of others may refuse a field that they do not know.
const FAMILIES: [&str; 5] = ["gpt-", "chatgpt", "o1", "o3", "o4"];
/// The first models that take breakpoints; others may refuse them.
const FIRST_WITH_BREAKPOINTS: (u32, u32) = (5, 6);

/// Returns the body of a request. Requests with the same `cache_key` are sent to where the same prefix is cached.
pub(in crate::api) fn openai(content: &PromptContent, options: &BodyOptions, cache_key: &str) -> Value {
    let has_breakpoints = version(&options.model).is_some_and(|found| FIRST_WITH_BREAKPOINTS <= found);
    let mut messages = vec![json!({"role": "user", "content": parts(content, has_breakpoints)})];
    if let Some(system) = &options.system {
        messages.insert(0, json!({"role": "system", "content": system}));
    }
    let mut body = json!({
        "model": options.model,
        "max_completion_tokens": options.max_output_tokens,
        "messages": messages,
    });
    if is_of_openai(&options.model) {
        body["prompt_cache_key"] = json!(cache_key);
    }
    if has_breakpoints && !content.prefix.is_empty() {
        // Else a breakpoint of its own would be written behind the discussion, and paid for.
        body["prompt_cache_options"] = json!({"mode": "explicit"});
    }
    if let Some(temperature) = options.temperature {
        body["temperature"] = json!(temperature);
    }
    if let Some(top_p) = options.top_p {
        body["top_p"] = json!(top_p);
    }
    body
}

fn parts(content: &PromptContent, has_breakpoints: bool) -> Vec<Value> {
    let mut parts: Vec<Value> = Vec::with_capacity(content.prefix.len() + 1);
    for block in &content.prefix {
        let mut value = match &block.holds {
            PromptPart::Text(text) => json!({"type": "text", "text": text}),
            PromptPart::Image { media_type, base64 } => {
                let url = format!("data:{media_type};base64,{base64}");
                json!({"type": "image_url", "image_url": {"url": url}})
            }
        };
        if has_breakpoints && block.is_breakpoint {
            value["prompt_cache_breakpoint"] = json!({"mode": "explicit"});
        }
        parts.push(value);
    }
    if !content.suffix.is_empty() {
        parts.push(json!({"type": "text", "text": content.suffix}));
    }
    parts
}

fn is_of_openai(model: &str) -> bool {
    // `gpt-oss` is OpenAI's too, but runs on the servers of others.
    !model.starts_with("gpt-oss") && FAMILIES.iter().any(|family| model.starts_with(family))
}

/// Returns the version in a model's name: `gpt-5.6-luna` is of 5.6, `gpt-6` of 6.0; `None` for `gpt-4o` and strangers.
fn version(model: &str) -> Option<(u32, u32)> {
    let number = model.strip_prefix("gpt-")?.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{is_of_openai, version};

    #[test]
    fn strangers_are_told_no_cache_key() {
        assert!(["gpt-4o", "gpt-6-luna", "chatgpt-4o-latest", "o3", "o4-mini"].into_iter().all(is_of_openai));
        assert!(!["llama3", "my/gpt-6", "gpt-oss-20b", "m", ""].into_iter().any(is_of_openai));
    }

    #[test]
    fn the_version_stands_in_the_name() {
        assert_eq!(version("gpt-5.6-luna"), Some((5, 6)));
        assert_eq!(version("gpt-5.10"), Some((5, 10)));
        assert_eq!(version("gpt-6-luna"), Some((6, 0)));
        assert_eq!(version("gpt-4o"), None);
        assert_eq!(version("o3"), None);
        assert_eq!(version("my/gpt-6"), None);
    }
}
