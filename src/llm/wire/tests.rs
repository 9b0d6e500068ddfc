//! What each wire format sends and reads.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{answer, body, tokens};
use crate::llm::call::{FailureClass, Model, SoftFailure};
use crate::llm::provider::WireFormat;
use crate::llm::testing::{of_provider, prompt};
use crate::model::TokenUsage;

#[track_caller]
fn check_body(model: &Model, expected: &Expect) {
    expected.assert_eq(&String::from_utf8(body(model, &prompt("fn main() {}"))).unwrap());
}

#[track_caller]
fn lacks(wire: WireFormat, value: &Value, class: FailureClass) {
    assert_eq!(answer(wire, value).unwrap_err().class, class, "{value}");
}

/// Returns the path of a request to a model of Gemini with that name.
fn gemini_path(name: &str) -> String {
    super::dispatch::path(&of_provider("gemini", name))
}

mod anthropic {
    use super::*;

    #[test]
    fn unset_parameters_are_not_sent() {
        check_body(
            &of_provider("anthropic", "claude-haiku-5-5"),
            &expect![[
                r#"{"model":"claude-haiku-5-5","max_tokens":700,"thinking":{"type":"disabled"},"system":[{"type":"text","text":"Say what it is for."}],"messages":[{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
    }

    #[test]
    fn set_parameters_come_before_the_material() {
        let mut model = of_provider("minimax", "MiniMax-M3");
        (model.temperature, model.top_p, model.max_output_tokens) = (Some(0.2), Some(0.9), Some(4_000));
        check_body(
            &model,
            &expect![[
                r#"{"model":"MiniMax-M3","max_tokens":4000,"temperature":0.2,"top_p":0.9,"thinking":{"type":"disabled"},"system":[{"type":"text","text":"Say what it is for."}],"messages":[{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
    }

    #[test]
    fn long_instructions_are_marked_at_their_end_and_short_ones_are_not() {
        let mut model = of_provider("anthropic", "claude-haiku-5-5");
        model.min_cacheable_tokens = Some(4);
        check_body(
            &model,
            &expect![[
                r#"{"model":"claude-haiku-5-5","max_tokens":700,"thinking":{"type":"disabled"},"system":[{"type":"text","text":"Say what it is for."}],"messages":[{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
        let marks = |model: &Model| {
            String::from_utf8(body(model, &prompt("x"))).unwrap().matches("cache_control").count()
        };
        assert_eq!(marks(&model), 0, "18 bytes are no more than 3 tokens");
        model.min_cacheable_tokens = Some(3);
        check_body(
            &model,
            &expect![[
                r#"{"model":"claude-haiku-5-5","max_tokens":700,"thinking":{"type":"disabled"},"system":[{"type":"text","text":"Say what it is for.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
        assert_eq!(marks(&model), 1);
        let mut other = of_provider("vllm", "m");
        other.min_cacheable_tokens = Some(0);
        assert_eq!(marks(&other), 0, "nobody said that it takes marks");
    }

    #[test]
    fn the_text_is_joined_without_the_reasoning() {
        let content = json!([
            {"type": "thinking", "thinking": "Hm.", "signature": "x"},
            {"type": "text", "text": "It starts "},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "text", "text": "all."},
        ]);
        let value = json!({"type": "message", "content": content, "stop_reason": "end_turn"});
        assert_eq!(answer(WireFormat::Anthropic, &value).unwrap(), "It starts all.");
    }

    #[test]
    fn an_answer_without_a_summary_has_a_class() {
        let stopped =
            |reason: &str| json!({"content": [{"type": "text", "text": "It"}], "stop_reason": reason});
        lacks(WireFormat::Anthropic, &stopped("refusal"), FailureClass::Soft(SoftFailure::Declined));
        lacks(WireFormat::Anthropic, &stopped("max_tokens"), FailureClass::Soft(SoftFailure::CutOff));
        lacks(WireFormat::Anthropic, &stopped("model_context_window_exceeded"), FailureClass::TooLong);
        lacks(
            WireFormat::Anthropic,
            &json!({"content": [], "stop_reason": "end_turn"}),
            FailureClass::Soft(SoftFailure::Empty),
        );
        lacks(
            WireFormat::Anthropic,
            &json!({"content": [{"type": "text", "text": " \n"}]}),
            FailureClass::Soft(SoftFailure::Empty),
        );
        lacks(
            WireFormat::Anthropic,
            &json!({"content": [{"type": "thinking", "thinking": "x"}]}),
            FailureClass::Soft(SoftFailure::Empty),
        );
        for content in [
            json!(null),
            json!("x"),
            json!({}),
            json!([{"type": "text"}]),
            json!([{"type": "text", "text": 1}]),
        ] {
            lacks(WireFormat::Anthropic, &json!({"content": content}), FailureClass::Garbled);
        }
    }

    #[test]
    fn the_parts_of_the_count_are_separate_and_missing_ones_are_not_zero() {
        let value =
            json!({"usage": {"cache_read_input_tokens": 1066, "input_tokens": 13, "output_tokens": 8}});
        let counted =
            TokenUsage { input: Some(13), cache_read: Some(1_066), cache_write: None, output: Some(8) };
        assert_eq!(tokens(WireFormat::Anthropic, &value), counted);
        for usage in
            [json!(null), json!({"input_tokens": "13", "output_tokens": -1}), json!({"input_tokens": 1.5})]
        {
            assert_eq!(tokens(WireFormat::Anthropic, &json!({"usage": usage})), TokenUsage::default());
        }
    }
}

mod chat {
    use super::*;

    #[test]
    fn a_compatible_server_is_not_sent_fields_of_openai() {
        check_body(
            &of_provider("vllm", "Qwen/Qwen4-8B"),
            &expect![[
                r#"{"model":"Qwen/Qwen4-8B","max_tokens":700,"messages":[{"role":"system","content":"Say what it is for."},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
        let mut model = of_provider("openrouter", "openai/gpt-6-luna");
        (model.temperature, model.top_p, model.max_output_tokens) = (Some(0.0), Some(1.0), Some(50));
        model.min_cacheable_tokens = Some(0);
        check_body(
            &model,
            &expect![[
                r#"{"model":"openai/gpt-6-luna","max_tokens":50,"temperature":0.0,"top_p":1.0,"messages":[{"role":"system","content":"Say what it is for."},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
    }

    #[test]
    fn openai_is_told_to_cache_nothing_or_only_the_instructions() {
        let mut model = of_provider("openai-chat", "gpt-6-luna");
        check_body(
            &model,
            &expect![[
                r#"{"model":"gpt-6-luna","max_completion_tokens":700,"reasoning_effort":"none","prompt_cache_key":"02466c9779f929d75961a9497b1d35df","prompt_cache_options":{"mode":"explicit"},"messages":[{"role":"system","content":"Say what it is for."},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
        model.min_cacheable_tokens = Some(3);
        check_body(
            &model,
            &expect![[
                r#"{"model":"gpt-6-luna","max_completion_tokens":700,"reasoning_effort":"none","prompt_cache_key":"02466c9779f929d75961a9497b1d35df","prompt_cache_options":{"mode":"explicit"},"messages":[{"role":"system","content":[{"type":"text","text":"Say what it is for.","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
        model.name = "gpt-5.4-nano".to_owned();
        check_body(
            &model,
            &expect![[
                r#"{"model":"gpt-5.4-nano","max_completion_tokens":700,"prompt_cache_key":"02466c9779f929d75961a9497b1d35df","messages":[{"role":"system","content":"Say what it is for."},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
    }

    #[test]
    fn the_content_is_a_string_or_a_list_of_parts() {
        let said =
            |content: Value| json!({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]});
        let words = |value: &Value| answer(WireFormat::Chat, value).unwrap();
        assert_eq!(words(&said(json!("It starts all."))), "It starts all.");
        assert_eq!(
            words(&said(json!([{"type": "text", "text": "It "}, {"type": "text", "text": "starts"}]))),
            "It starts"
        );
        let thought = json!({"choices": [{"message": {"content": "It.", "reasoning_content": "Hm."}}]});
        assert_eq!(words(&thought), "It.");
    }

    #[test]
    fn an_answer_without_a_summary_has_a_class() {
        let stopped =
            |reason: &str| json!({"choices": [{"message": {"content": "It"}, "finish_reason": reason}]});
        lacks(WireFormat::Chat, &stopped("length"), FailureClass::Soft(SoftFailure::CutOff));
        lacks(WireFormat::Chat, &stopped("content_filter"), FailureClass::Soft(SoftFailure::Declined));
        lacks(WireFormat::Chat, &stopped("insufficient_system_resource"), FailureClass::Overload);
        lacks(
            WireFormat::Chat,
            &json!({"choices": [{"message": {"content": null, "refusal": "No."}}]}),
            FailureClass::Soft(SoftFailure::Declined),
        );
        lacks(
            WireFormat::Chat,
            &json!({"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}),
            FailureClass::Soft(SoftFailure::Empty),
        );
        for value in [json!({}), json!({"choices": []}), json!({"choices": [{}]}), json!({"choices": "x"})] {
            lacks(WireFormat::Chat, &value, FailureClass::Garbled);
        }
        lacks(
            WireFormat::Chat,
            &json!({"choices": [{"message": {"role": "assistant"}}]}),
            FailureClass::Garbled,
        );
        lacks(WireFormat::Chat, &json!({"choices": [{"message": {"content": 7}}]}), FailureClass::Garbled);
    }

    #[test]
    fn the_cached_part_is_subtracted_from_the_input() {
        let usage = json!({"prompt_tokens": 1079, "completion_tokens": 8, "total_tokens": 1087,
            "prompt_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 66}});
        let counted =
            TokenUsage { input: Some(13), cache_read: Some(1_000), cache_write: Some(66), output: Some(8) };
        assert_eq!(tokens(WireFormat::Chat, &json!({"usage": usage})), counted);
        let usage = json!({"prompt_tokens": 5, "prompt_tokens_details": null});
        assert_eq!(
            tokens(WireFormat::Chat, &json!({"usage": usage})),
            TokenUsage { input: Some(5), ..TokenUsage::default() }
        );
        let nonsense = json!({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}});
        assert_eq!(tokens(WireFormat::Chat, &json!({"usage": nonsense})).input, Some(0));
    }

    #[test]
    fn deepseeks_own_counts_come_first() {
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 8, "prompt_cache_hit_tokens": 64,
            "prompt_cache_miss_tokens": 36, "prompt_tokens_details": {"cached_tokens": 1}});
        let counted =
            TokenUsage { input: Some(36), cache_read: Some(64), cache_write: None, output: Some(8) };
        assert_eq!(tokens(WireFormat::Chat, &json!({"usage": usage})), counted);
    }

    #[test]
    fn output_that_only_the_total_includes_is_counted() {
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 8, "total_tokens": 158});
        assert_eq!(tokens(WireFormat::Chat, &json!({"usage": usage})).output, Some(58));
    }
}

mod responses {
    use super::*;

    #[test]
    fn openai_is_told_to_store_nothing_and_to_cache_only_the_instructions() {
        let mut model = of_provider("openai", "gpt-5.6-luna");
        check_body(
            &model,
            &expect![[
                r#"{"model":"gpt-5.6-luna","max_output_tokens":700,"store":false,"reasoning":{"effort":"none"},"prompt_cache_key":"02466c9779f929d75961a9497b1d35df","prompt_cache_options":{"mode":"explicit"},"instructions":"Say what it is for.","input":"fn main() {}"}"#
            ]],
        );
        model.min_cacheable_tokens = Some(3);
        check_body(
            &model,
            &expect![[
                r#"{"model":"gpt-5.6-luna","max_output_tokens":700,"store":false,"reasoning":{"effort":"none"},"prompt_cache_key":"02466c9779f929d75961a9497b1d35df","prompt_cache_options":{"mode":"explicit"},"input":[{"role":"developer","content":[{"type":"input_text","text":"Say what it is for.","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"role":"user","content":[{"type":"input_text","text":"fn main() {}"}]}]}"#
            ]],
        );
    }

    #[test]
    fn another_server_is_not_sent_fields_of_openai() {
        let mut model = of_provider("openai", "gpt-5.6-luna");
        let mut provider = (*model.provider).clone();
        (model.min_cacheable_tokens, model.temperature) = (Some(0), Some(0.5));
        for address in
            ["https://gateway.example/v1", "https://api.openai.com.example/v1", "http://api.openai.com/v1"]
        {
            address.clone_into(&mut provider.base_url);
            model.provider = std::sync::Arc::new(provider.clone());
            let sent = String::from_utf8(body(&model, &prompt("x"))).unwrap();
            assert!(!sent.contains("cache"), "{sent}");
        }
        check_body(
            &model,
            &expect![[
                r#"{"model":"gpt-5.6-luna","max_output_tokens":700,"temperature":0.5,"store":false,"reasoning":{"effort":"none"},"instructions":"Say what it is for.","input":"fn main() {}"}"#
            ]],
        );
    }

    #[test]
    fn the_text_is_joined_without_the_reasoning() {
        let output = json!([
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "content": [{"type": "output_text", "text": "It "}, {"type": "output_text", "text": "starts."}]},
        ]);
        let value = json!({"status": "completed", "error": null, "output": output});
        assert_eq!(answer(WireFormat::Responses, &value).unwrap(), "It starts.");
    }

    #[test]
    fn an_answer_without_a_summary_has_a_class() {
        let incomplete = |reason: &str| json!({"status": "incomplete", "incomplete_details": {"reason": reason}, "output": []});
        lacks(
            WireFormat::Responses,
            &incomplete("max_output_tokens"),
            FailureClass::Soft(SoftFailure::CutOff),
        );
        lacks(
            WireFormat::Responses,
            &incomplete("content_filter"),
            FailureClass::Soft(SoftFailure::Declined),
        );
        let refused = json!([{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]);
        lacks(
            WireFormat::Responses,
            &json!({"status": "completed", "output": refused}),
            FailureClass::Soft(SoftFailure::Declined),
        );
        lacks(
            WireFormat::Responses,
            &json!({"status": "completed", "output": []}),
            FailureClass::Soft(SoftFailure::Empty),
        );
        lacks(WireFormat::Responses, &json!({"status": "cancelled", "output": []}), FailureClass::Overload);
        lacks(WireFormat::Responses, &json!({"status": "in_progress", "output": []}), FailureClass::Garbled);
        for output in [json!(null), json!("x"), json!([{"type": "message"}])] {
            lacks(
                WireFormat::Responses,
                &json!({"status": "completed", "output": output}),
                FailureClass::Garbled,
            );
        }
        let part = json!([{"type": "message", "content": [{"type": "output_text"}]}]);
        lacks(WireFormat::Responses, &json!({"status": "completed", "output": part}), FailureClass::Garbled);
    }

    #[test]
    fn the_cached_part_is_subtracted_from_the_input() {
        let usage = json!({"input_tokens": 100, "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 4},
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}});
        let counted =
            TokenUsage { input: Some(10), cache_read: Some(60), cache_write: Some(30), output: Some(9) };
        assert_eq!(tokens(WireFormat::Responses, &json!({"usage": usage})), counted);
        assert_eq!(tokens(WireFormat::Responses, &json!({"usage": null})), TokenUsage::default());
    }
}

mod gemini {
    use super::*;

    #[test]
    fn the_model_is_in_the_path_and_unset_parameters_are_not_sent() {
        check_body(
            &of_provider("gemini", "gemini-3.8-flash"),
            &expect![[
                r#"{"generationConfig":{"maxOutputTokens":700,"thinkingConfig":{"thinkingLevel":"low"}},"systemInstruction":{"parts":[{"text":"Say what it is for."}]},"contents":[{"role":"user","parts":[{"text":"fn main() {}"}]}]}"#
            ]],
        );
        assert_eq!(gemini_path("gemini-3.8-flash"), "/v1beta/models/gemini-3.8-flash:generateContent");
        assert_eq!(gemini_path("models/gemini-3.8-flash"), "/v1beta/models/gemini-3.8-flash:generateContent");
        assert_eq!(gemini_path("../files?x#y"), "/v1beta/models/..%2Ffiles%3Fx%23y:generateContent");
        assert_eq!(gemini_path(".."), "/v1beta/models/%2E%2E:generateContent");
    }

    #[test]
    fn set_parameters_are_sent() {
        let mut model = of_provider("gemini", "gemini-2.5-flash");
        (model.temperature, model.top_p, model.max_output_tokens) = (Some(0.2), Some(0.9), Some(4_000));
        check_body(
            &model,
            &expect![[
                r#"{"generationConfig":{"maxOutputTokens":4000,"temperature":0.2,"topP":0.9,"thinkingConfig":{"thinkingBudget":0}},"systemInstruction":{"parts":[{"text":"Say what it is for."}]},"contents":[{"role":"user","parts":[{"text":"fn main() {}"}]}]}"#
            ]],
        );
    }

    #[test]
    fn the_text_is_joined_without_the_reasoning() {
        let parts = json!([{"text": "Hm.", "thought": true}, {"text": "It "}, {"text": "starts."}, {"inlineData": {}}]);
        let value = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
        assert_eq!(answer(WireFormat::Gemini, &value).unwrap(), "It starts.");
    }

    #[test]
    fn an_answer_without_a_summary_has_a_class() {
        for reason in ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"] {
            lacks(
                WireFormat::Gemini,
                &json!({"candidates": [{"finishReason": reason}]}),
                FailureClass::Soft(SoftFailure::Declined),
            );
        }
        lacks(
            WireFormat::Gemini,
            &json!({"promptFeedback": {"blockReason": "SAFETY"}}),
            FailureClass::Soft(SoftFailure::Declined),
        );
        let cut =
            json!({"candidates": [{"content": {"parts": [{"text": "It"}]}, "finishReason": "MAX_TOKENS"}]});
        lacks(WireFormat::Gemini, &cut, FailureClass::Soft(SoftFailure::CutOff));
        lacks(
            WireFormat::Gemini,
            &json!({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}),
            FailureClass::Soft(SoftFailure::Empty),
        );
        lacks(
            WireFormat::Gemini,
            &json!({"candidates": [{"finishReason": "OTHER"}]}),
            FailureClass::Soft(SoftFailure::Empty),
        );
        for value in [
            json!({}),
            json!({"candidates": []}),
            json!({"candidates": [{}]}),
            json!({"candidates": [{"content": {"parts": 1}}]}),
        ] {
            lacks(WireFormat::Gemini, &value, FailureClass::Garbled);
        }
    }

    #[test]
    fn reasoning_is_output_and_the_cached_part_is_subtracted_from_the_input() {
        let usage = json!({"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 9,
            "thoughtsTokenCount": 30, "totalTokenCount": 139});
        let counted =
            TokenUsage { input: Some(40), cache_read: Some(60), cache_write: None, output: Some(39) };
        assert_eq!(tokens(WireFormat::Gemini, &json!({"usageMetadata": usage})), counted);
        let usage = json!({"promptTokenCount": 100, "thoughtsTokenCount": 30});
        let counted = TokenUsage { input: Some(100), output: Some(30), ..TokenUsage::default() };
        assert_eq!(tokens(WireFormat::Gemini, &json!({"usageMetadata": usage})), counted);
        assert_eq!(
            tokens(WireFormat::Gemini, &json!({"usageMetadata": {"promptTokenCount": 1}})).output,
            None
        );
    }
}

mod ollama {
    use super::*;

    #[test]
    fn ollama_gets_a_context_length_and_must_not_truncate() {
        let mut model = of_provider("ollama", "qwen3:8b");
        check_body(
            &model,
            &expect![[
                r#"{"model":"qwen3:8b","stream":false,"truncate":false,"shift":false,"think":false,"options":{"num_ctx":16384,"num_predict":700},"messages":[{"role":"system","content":"Say what it is for."},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
        let mut provider = (*model.provider).clone();
        provider.context_tokens = None;
        (model.temperature, model.top_p, model.max_output_tokens) = (Some(0.2), Some(0.9), Some(4_000));
        model.provider = std::sync::Arc::new(provider);
        check_body(
            &model,
            &expect![[
                r#"{"model":"qwen3:8b","stream":false,"truncate":false,"shift":false,"think":false,"options":{"num_ctx":16384,"num_predict":4000,"temperature":0.2,"top_p":0.9},"messages":[{"role":"system","content":"Say what it is for."},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
    }

    #[test]
    fn the_text_excludes_the_reasoning() {
        let value =
            json!({"message": {"content": "It.", "thinking": "Hm."}, "done": true, "done_reason": "stop"});
        assert_eq!(answer(WireFormat::Ollama, &value).unwrap(), "It.");
    }

    #[test]
    fn an_answer_without_a_summary_has_a_class() {
        lacks(
            WireFormat::Ollama,
            &json!({"message": {"content": "It"}, "done_reason": "length"}),
            FailureClass::Soft(SoftFailure::CutOff),
        );
        lacks(
            WireFormat::Ollama,
            &json!({"message": {"content": ""}, "done_reason": "load"}),
            FailureClass::Soft(SoftFailure::Empty),
        );
        lacks(
            WireFormat::Ollama,
            &json!({"message": {"content": "It"}, "done": false}),
            FailureClass::Garbled,
        );
        for value in [json!({}), json!({"message": {}}), json!({"message": {"content": null}})] {
            lacks(WireFormat::Ollama, &value, FailureClass::Garbled);
        }
    }

    #[test]
    fn missing_counts_are_not_zero() {
        let value = json!({"eval_count": 8});
        assert_eq!(
            tokens(WireFormat::Ollama, &value),
            TokenUsage { output: Some(8), ..TokenUsage::default() }
        );
    }
}
