//! `POST /v1/messages` of Anthropic.

use serde_json::{Value, json};

use super::content::{PromptContent, PromptPart};
use crate::model::BodyOptions;

/// Returns the body of a request.
pub(in crate::api) fn anthropic(content: &PromptContent, options: &BodyOptions) -> Value {
    let mut blocks: Vec<Value> = Vec::with_capacity(content.prefix.len() + 1);
    for block in &content.prefix {
        let mut value = match &block.holds {
            PromptPart::Text(text) => json!({"type": "text", "text": text}),
            PromptPart::Image { media_type, base64 } => {
                let source = json!({"type": "base64", "media_type": media_type, "data": base64});
                json!({"type": "image", "source": source})
            }
        };
        if block.is_breakpoint {
            value["cache_control"] = json!({"type": "ephemeral"});
        }
        blocks.push(value);
    }
    if !content.suffix.is_empty() {
        blocks.push(json!({"type": "text", "text": content.suffix}));
    }
    let mut body = json!({
        "model": options.model,
        "max_tokens": options.max_output_tokens,
        "messages": [{"role": "user", "content": blocks}],
    });
    // What is not configured is not sent: some models reject the parameter.
    if let Some(system) = &options.system {
        body["system"] = json!(system);
    }
    if let Some(temperature) = options.temperature {
        body["temperature"] = json!(temperature);
    }
    if let Some(top_p) = options.top_p {
        body["top_p"] = json!(top_p);
    }
    body
}
