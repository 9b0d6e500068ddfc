//! `POST /v1beta/models/{model}:generateContent` of Gemini; the model is part of the address.

use serde_json::{Value, json};

use super::content::{PromptContent, PromptPart};
use crate::model::BodyOptions;

/// Returns the body of a request. Gemini caches common prefixes automatically.
pub(in crate::api) fn gemini(content: &PromptContent, options: &BodyOptions) -> Value {
    let part = |holds: &PromptPart| match holds {
        PromptPart::Text(text) => json!({"text": text}),
        PromptPart::Image { media_type, base64 } => {
            json!({"inlineData": {"mimeType": media_type, "data": base64}})
        }
    };
    let mut parts: Vec<Value> = content.prefix.iter().map(|block| part(&block.holds)).collect();
    if !content.suffix.is_empty() {
        parts.push(json!({"text": content.suffix}));
    }
    let mut generation = json!({"maxOutputTokens": options.max_output_tokens});
    if let Some(temperature) = options.temperature {
        generation["temperature"] = json!(temperature);
    }
    if let Some(top_p) = options.top_p {
        generation["topP"] = json!(top_p);
    }
    let mut body = json!({
        "contents": [{"role": "user", "parts": parts}],
        "generationConfig": generation,
    });
    if let Some(system) = &options.system {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    body
}
