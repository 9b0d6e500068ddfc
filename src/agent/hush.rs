//! Removes the API key from responses, in case a server repeats it, before anything is shown or stored.

use secrecy::ExposeSecret;

use super::AgentWorld;
use crate::model::HttpError;
use crate::model::HttpRequest;
use crate::model::HttpResponse;
use crate::sys::HttpLimits;

/// The replacement for the key.
const MASK: &str = "[the key]";
/// Shorter keys protect nothing and could match any word of an answer: servers without keys are often called with
/// "none".
const MIN_KEY_BYTES: usize = 12;

/// Sends a request, and returns the response without the key.
pub(super) fn send_scrubbed(
    windows: &AgentWorld<'_>,
    request: &HttpRequest,
    limits: &HttpLimits,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<HttpResponse, HttpError> {
    let answer = windows.network.send(request, limits, is_stopped);
    let values = request.secret_headers.iter().map(|(_, value)| value.expose_secret());
    // The key is preceded by its scheme, such as "Bearer".
    let keys =
        values.filter_map(|value| value.split_whitespace().last()).filter(|key| MIN_KEY_BYTES <= key.len());
    keys.fold(answer, |answer, key| match answer {
        Ok(response) => Ok(scrub_response(response, key)),
        Err(HttpError::Broken(words)) => Err(HttpError::Broken(words.replace(key, MASK))),
        Err(other) => Err(other),
    })
}

fn scrub_response(mut response: HttpResponse, key: &str) -> HttpResponse {
    for (_, value) in &mut response.headers {
        if value.contains(key) {
            *value = value.replace(key, MASK);
        }
    }
    // Some JSON encoders escape slashes.
    let escaped = key.replace('/', "\\/");
    for key in [key, escaped.as_str()] {
        if memchr::memmem::find(&response.body, key.as_bytes()).is_some() {
            response.body = scrub_bytes(&response.body, key.as_bytes());
        }
    }
    response
}

fn scrub_bytes(body: &[u8], key: &[u8]) -> Vec<u8> {
    let (mut kept, mut rest) = (Vec::with_capacity(body.len()), 0);
    for at in memchr::memmem::find_iter(body, key) {
        kept.extend_from_slice(&body[rest..at]);
        kept.extend_from_slice(MASK.as_bytes());
        rest = at + key.len();
    }
    kept.extend_from_slice(&body[rest..]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(header: &str, body: &str) -> HttpResponse {
        let headers = vec![("request-id".to_owned(), header.to_owned())];
        HttpResponse { status: 401, headers, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn the_key_is_taken_out_of_headers_and_bodies_wherever_it_stands() {
        let key = "sentinel/0123456789";
        let said =
            response(&format!("a{key}b"), &format!("{key}{key} {{\"x\": \"sentinel\\/0123456789\"}}{key}"));
        let expected = response("a[the key]b", "[the key][the key] {\"x\": \"[the key]\"}[the key]");
        assert_eq!(scrub_response(said, key), expected);
    }

    #[test]
    fn what_does_not_hold_the_key_stays_as_it_is() {
        let said = response("sentinel", "sentinel/012345678");
        assert_eq!(scrub_response(said.clone(), "sentinel/0123456789"), said);
    }
}
