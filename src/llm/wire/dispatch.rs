//! Encodes a prompt as a provider's request.

use std::fmt::Display;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::shared::{ResponseDefect, WireSpec};
use super::{openai, shared, vendors};
use crate::llm::call::{EncodedRequest, FailureClass, Model, SoftFailure};
use crate::llm::provider::WireFormat;
use crate::model::{HttpMethod, HttpRequest, ModelPrompt, TokenUsage};

/// Characters that must be escaped in a path segment.
const PATH_PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the request that sends a prompt to a model: the same bytes for the same prompt.
pub fn encode(model: &Model, prompt: &ModelPrompt, key: Option<&SecretString>) -> EncodedRequest {
    if model.provider.wire == WireFormat::Command {
        return encode_command(model, prompt);
    }
    let (json, body) = (("content-type", "application/json"), body(model, prompt));
    EncodedRequest::Web(request(model, HttpMethod::Post, &path(model), Some(json), body, key))
}

/// Returns whether the end of these instructions is marked for caching, so that the first call should go alone until
/// the provider has cached them.
pub fn marks_cache(model: &Model, instructions: &str) -> bool {
    shared::is_marked(model, instructions)
}

/// Returns a request to a model's provider.
pub(crate) fn request(
    model: &Model,
    method: HttpMethod,
    path: &str,
    content_type: Option<(&str, &str)>,
    body: Vec<u8>,
    key: Option<&SecretString>,
) -> HttpRequest {
    let (provider, spec) = (&model.provider, spec(model.provider.wire));
    let own = content_type.into_iter().chain(spec.into_iter().flat_map(|spec| spec.headers.iter().copied()));
    // A header in the provider's table replaces ours; names of headers are compared without case.
    let is_replaced =
        |name: &str| provider.headers.iter().any(|(theirs, _)| theirs.eq_ignore_ascii_case(name));
    let mut headers: Vec<(String, String)> = own
        .filter(|(name, _)| !is_replaced(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    headers.extend(provider.headers.iter().cloned());
    HttpRequest {
        method,
        url: format!("{}{path}", provider.base_url.trim_end_matches('/')),
        headers,
        secret_headers: key.zip(spec).map(|(key, spec)| secret_header(spec, key)).into_iter().collect(),
        body,
    }
}

/// Returns a name as one segment of a path.
pub(crate) fn path_part(name: &str) -> impl Display {
    // Two dots would mean the parent folder.
    let points = if name.bytes().all(|byte| byte == b'.') { "%2E".repeat(name.len()) } else { String::new() };
    let rest = if points.is_empty() { name } else { "" };
    format!("{points}{}", utf8_percent_encode(rest, PATH_PART))
}

impl EncodedRequest {
    /// Returns exactly what leaves this process besides the headers: a request's body, or a program's input.
    pub fn body(&self) -> &[u8] {
        match self {
            Self::Web(request) => &request.body,
            Self::Command { input, .. } => input.as_bytes(),
        }
    }

    /// Returns the request line and headers for display; secret values are hidden.
    pub fn head(&self) -> String {
        match self {
            Self::Web(request) => {
                let mut lines = vec![format!("{} {}", request.method.name(), request.url)];
                lines.extend(request.headers.iter().map(|(name, value)| format!("{name}: {value}")));
                lines.extend(request.secret_headers.iter().map(|(name, _)| format!("{name}: (hidden)")));
                lines.join("\n")
            }
            Self::Command { command, .. } => format!("runs {command:?}"),
        }
    }
}

/// Returns how a format is written and read; `None` for a program.
const fn spec(wire: WireFormat) -> Option<&'static WireSpec> {
    match wire {
        WireFormat::Anthropic => Some(&vendors::ANTHROPIC),
        WireFormat::Chat => Some(&openai::CHAT),
        WireFormat::Responses => Some(&openai::RESPONSES),
        WireFormat::Gemini => Some(&vendors::GEMINI),
        WireFormat::Ollama => Some(&vendors::OLLAMA),
        WireFormat::Command => None,
    }
}

/// Returns the path that is appended to a provider's base URL.
pub(super) fn path(model: &Model) -> String {
    let name = model.name.strip_prefix("models/").unwrap_or(&model.name);
    let path = spec(model.provider.wire).map_or("", |spec| spec.path);
    path.replace(MODEL, &path_part(name).to_string())
}

/// Returns the body for a prompt: the same bytes for the same prompt.
pub(crate) fn body(model: &Model, prompt: &ModelPrompt) -> Vec<u8> {
    spec(model.provider.wire).map_or_else(|| input(prompt).into_bytes(), |spec| (spec.body)(model, prompt))
}

/// Returns the text of a response with a success status.
pub(crate) fn answer(wire: WireFormat, value: &Value) -> Result<String, ResponseDefect> {
    let Some(spec) = spec(wire) else {
        return Err(ResponseDefect::garbled("a program's output is not JSON"));
    };
    let text = (spec.answer)(value)?;
    if text.trim().is_empty() {
        return Err(ResponseDefect::stopped(FailureClass::Soft(SoftFailure::Empty)));
    }
    Ok(text)
}

/// Returns the tokens used; what a response does not report is `None`.
pub(crate) fn tokens(wire: WireFormat, value: &Value) -> TokenUsage {
    spec(wire).map_or_else(TokenUsage::default, |spec| (spec.tokens)(value))
}

fn secret_header(spec: &WireSpec, key: &SecretString) -> (String, SecretString) {
    let (name, scheme) = spec.key_header;
    (name.to_owned(), SecretString::from(format!("{scheme}{}", key.expose_secret())))
}

/// The placeholder for the model's name, in paths and in a program's arguments.
const MODEL: &str = "{model}";

/// Returns the program with its input.
pub(crate) fn encode_command(model: &Model, prompt: &ModelPrompt) -> EncodedRequest {
    let command = model.provider.command.iter().map(|word| word.replace(MODEL, &model.name)).collect();
    EncodedRequest::Command { command, input: input(prompt) }
}

/// Returns the program's input: both texts in one.
pub(crate) fn input(prompt: &ModelPrompt) -> String {
    format!("{}\n\n{}\n", prompt.instructions, prompt.material)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::llm::testing::{model, of_provider, prompt};

    const KEY: &str = "sentinel-key-0123456789";

    fn asked(wire: WireFormat) -> HttpRequest {
        match encode(&model(wire), &prompt("x"), Some(&SecretString::from(KEY))) {
            EncodedRequest::Web(request) => request,
            EncodedRequest::Command { .. } => panic!("{wire:?} is no program"),
        }
    }

    #[test]
    fn every_wire_format_has_its_path_and_key_header() {
        use secrecy::ExposeSecret;

        let check = |wire, url: &str, header: &str, value: &str| {
            let request = asked(wire);
            assert_eq!((request.url.as_str(), request.method), (url, HttpMethod::Post));
            assert!(request.headers.contains(&("content-type".to_owned(), "application/json".to_owned())));
            let [(name, secret)] = &request.secret_headers[..] else { panic!("one key in one header") };
            assert_eq!((name.as_str(), secret.expose_secret()), (header, value));
        };
        let bearer = format!("Bearer {KEY}");
        check(WireFormat::Anthropic, "https://api.anthropic.com/v1/messages", "x-api-key", KEY);
        check(WireFormat::Chat, "http://127.0.0.1:8000/v1/chat/completions", "authorization", &bearer);
        check(WireFormat::Responses, "https://api.openai.com/v1/responses", "authorization", &bearer);
        let gemini = "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent";
        check(WireFormat::Gemini, gemini, "x-goog-api-key", KEY);
        check(WireFormat::Ollama, "http://127.0.0.1:11434/api/chat", "authorization", &bearer);
    }

    #[test]
    fn a_providers_own_headers_replace_those_of_its_wire() {
        let mut model = model(WireFormat::Anthropic);
        let mut provider = (*model.provider).clone();
        provider.base_url.push('/');
        provider.headers = vec![("Anthropic-Version".to_owned(), "2030-01-01".to_owned())];
        model.provider = Arc::new(provider);
        let EncodedRequest::Web(request) = encode(&model, &prompt("x"), None) else { panic!() };
        let names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["content-type", "Anthropic-Version"]);
        assert_eq!(request.url, "https://api.anthropic.com/v1/messages");
        assert!(request.secret_headers.is_empty());
    }

    #[test]
    fn two_files_bodies_are_the_same_up_to_their_material() {
        let material = "\u{2603} of one file";
        for wire in WireFormat::ALL {
            let mut model = model(wire);
            (model.min_cacheable_tokens, model.temperature) = (Some(0), Some(0.5));
            let body = |material: &str| encode(&model, &prompt(material), None).body().to_vec();
            let (first, second) = (body(material), body("another"));
            assert_eq!(first, body(material), "{wire:?}");
            let same = first.iter().zip(&second).take_while(|(first, second)| first == second).count();
            let before = first.windows(material.len()).position(|window| window == material.as_bytes());
            assert_eq!(Some(same), before, "{wire:?}");
            let instructions = b"Say what it is for.";
            assert!(
                first[..same].windows(instructions.len()).any(|window| window == instructions),
                "{wire:?}"
            );
        }
    }

    #[test]
    fn no_part_of_a_request_shows_the_key() {
        let key = SecretString::from(KEY);
        for wire in WireFormat::ALL {
            let sending = encode(&model(wire), &prompt("x"), Some(&key));
            let shown = format!("{sending:?} {}", sending.head());
            assert!(!shown.contains(KEY) && !shown.contains("sentinel"), "{wire:?}");
            assert!(!String::from_utf8_lossy(sending.body()).contains(KEY), "{wire:?}");
        }
        let head = encode(&model(WireFormat::Anthropic), &prompt("x"), Some(&key)).head();
        let expected = "POST https://api.anthropic.com/v1/messages\ncontent-type: application/json\n\
                        anthropic-version: 2023-06-01\nx-api-key: (hidden)";
        assert_eq!(head, expected);
    }

    #[test]
    fn only_cacheable_instructions_require_a_first_call_alone() {
        let mut model = of_provider("anthropic", "claude-haiku-5-5");
        let instructions = "x".repeat(5 * 512);
        assert!(!marks_cache(&model, &instructions), "from where on it keeps anything is not known");
        model.min_cacheable_tokens = Some(512);
        assert!(marks_cache(&model, &instructions));
        assert!(!marks_cache(&model, &instructions[1..]));
    }

    #[test]
    fn the_program_reads_both_texts_and_gets_the_model() {
        let mut model = of_provider("command", "opus");
        let mut provider = (*model.provider).clone();
        provider.command = ["ask", "--model={model}", "-p"].map(str::to_owned).to_vec();
        model.provider = Arc::new(provider);
        let EncodedRequest::Command { command, input } = encode_command(&model, &prompt("fn main() {}"))
        else {
            panic!()
        };
        assert_eq!(command, ["ask", "--model=opus", "-p"]);
        assert_eq!(input, "Say what it is for.\n\nfn main() {}\n");
    }
}
