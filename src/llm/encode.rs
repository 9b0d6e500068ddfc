//! A question, as it is sent.

use std::fmt::Display;

use percent_encoding::AsciiSet;
use percent_encoding::NON_ALPHANUMERIC;
use percent_encoding::utf8_percent_encode;
use secrecy::SecretString;

use super::Model;
use super::Sending;
use super::Wire;
use super::wire;
use crate::model::Method;
use crate::model::Prompt;
use crate::model::WebRequest;

/// What may not stand in a part of a path as it is.
const PATH_PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns what is sent to ask a model: the same bytes for the same question.
pub fn encode(model: &Model, prompt: &Prompt, key: Option<&SecretString>) -> Sending {
    match model.provider.wire {
        Wire::Command => wire::sending(model, prompt),
        Wire::Anthropic | Wire::Chat | Wire::Responses | Wire::Gemini | Wire::Ollama => {
            let json = ("content-type", "application/json");
            Sending::Web(request(
                model,
                Method::Post,
                &wire::path(model),
                Some(json),
                wire::body(model, prompt),
                key,
            ))
        }
    }
}

/// Says whether the end of these instructions is marked, so that the first call should be alone until the model's
/// provider has them in its cache.
pub fn marks_cache(model: &Model, instructions: &str) -> bool {
    wire::is_marked(model, instructions)
}

/// Returns a request to a model's provider.
pub(super) fn request(
    model: &Model,
    method: Method,
    path: &str,
    content_type: Option<(&str, &str)>,
    body: Vec<u8>,
    key: Option<&SecretString>,
) -> WebRequest {
    let provider = &model.provider;
    let own = content_type.into_iter().chain(wire::headers(provider.wire).iter().copied());
    let is_replaced =
        |name: &str| provider.headers.iter().any(|(theirs, _)| theirs.eq_ignore_ascii_case(name));
    let mut headers: Vec<(String, String)> = own
        .filter(|(name, _)| !is_replaced(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    headers.extend(provider.headers.iter().cloned());
    WebRequest {
        method,
        url: format!("{}{path}", provider.base_url.trim_end_matches('/')),
        headers,
        secret_headers: key.map(|key| wire::secret_header(provider.wire, key)).into_iter().collect(),
        body,
    }
}

/// Returns a name as one part of a path.
pub(super) fn path_part(name: &str) -> impl Display {
    // Two points would mean the folder above.
    let points = if name.bytes().all(|byte| byte == b'.') { "%2E".repeat(name.len()) } else { String::new() };
    let rest = if points.is_empty() { name } else { "" };
    format!("{points}{}", utf8_percent_encode(rest, PATH_PART))
}

impl Sending {
    /// Returns exactly what leaves this process beside the headers: a request's body, or what a program reads.
    pub fn body(&self) -> &[u8] {
        match self {
            Self::Web(request) => &request.body,
            Self::Command { input, .. } => input.as_bytes(),
        }
    }

    /// Returns what stands before the body, for people: secret values are hidden.
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
