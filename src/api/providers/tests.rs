//! What is configured is sent in each provider's words.

use serde_json::{Value, json};

use super::content::PromptContent;
use crate::model::BodyOptions;

fn told() -> BodyOptions {
    BodyOptions {
        model: "m".to_owned(),
        system: Some("Be brief.".to_owned()),
        temperature: Some(0.5),
        top_p: Some(0.25),
        max_output_tokens: 9,
    }
}

fn said() -> PromptContent {
    PromptContent { prefix: Vec::new(), suffix: "hello".to_owned() }
}

#[test]
fn anthropic_is_told_in_its_words() {
    let expected = json!({
        "model": "m",
        "max_tokens": 9,
        "system": "Be brief.",
        "temperature": 0.5,
        "top_p": 0.25,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
    });
    assert_eq!(super::anthropic(&said(), &told()), expected);
}

#[test]
fn openai_is_told_in_its_words() {
    let expected = json!({
        "model": "m",
        "max_completion_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.25,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        ],
    });
    assert_eq!(super::openai(&said(), &told(), "k"), expected);
}

#[test]
fn a_model_of_openai_is_told_where_its_prefix_is_cached() {
    let own = BodyOptions { model: "o3".to_owned(), ..told() };
    assert_eq!(super::openai(&said(), &own, "k")["prompt_cache_key"], "k");
    assert!(super::openai(&said(), &told(), "k").get("prompt_cache_key").is_none());
}

#[test]
fn gemini_is_told_in_its_words() {
    let expected: Value = json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
        "generationConfig": {"maxOutputTokens": 9, "temperature": 0.5, "topP": 0.25},
    });
    assert_eq!(super::gemini(&said(), &told()), expected);
}
