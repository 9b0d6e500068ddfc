//! One call: what is sent, and the result.

use std::io;
use std::time::Duration;

use secrecy::ExposeSecret;

use super::outcome::StopReason;
use super::prompts::PromptSource;
use crate::engine::summaries::{PreparedPrompt, SummaryTask};
use crate::llm;
use crate::llm::{CallFailure, EncodedRequest, FailureClass, Model, ModelReply, RateLimits, SoftFailure};
use crate::model::{HttpError, HttpRequest, HttpResponse, Money, Tier, TokenUsage};
use crate::store::agent::{SpendOutcome, SpendSettlement};
use crate::sys::{Clock, Commands, HttpLimits, HttpTransport};

/// How long connecting to a server may take.
const CONNECT: Duration = Duration::from_secs(5);
/// An answer is a paragraph; with the model's reasoning it may be very long.
const ANSWER_BYTES: usize = 1 << 20;

/// The I/O traits that the sub-agent needs.
#[derive(Clone, Copy)]
pub struct AgentWorld<'w> {
    pub network: &'w dyn HttpTransport,
    pub commands: &'w dyn Commands,
    pub clock: &'w dyn Clock,
}

#[derive(Debug)]
pub(super) enum CallResult {
    Answered {
        reply: ModelReply,
        summaries: Vec<(Tier, String)>,
    },
    /// An error, or an unusable answer.
    Failed(CallFailure),
    Lost {
        /// Whether the server cannot have seen the request.
        is_unsent: bool,
        message: String,
    },
    Stopped,
}

/// The most tokens that a call can have used, to check what the provider reports.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsageCeiling {
    input: u64,
    output: u64,
}

impl UsageCeiling {
    /// Tokens that a provider adds: its own instructions, role names.
    const ENVELOPE_TOKENS: u64 = 4096;

    /// Returns the ceiling for a body of this many bytes, a token being at least one byte.
    pub(super) fn new(body_bytes: u64, output_tokens: u32) -> Self {
        Self { input: body_bytes.saturating_add(Self::ENVELOPE_TOKENS), output: u64::from(output_tokens) * 2 }
    }

    fn allows(self, tokens: &TokenUsage) -> bool {
        let parts = [tokens.input, tokens.cache_read, tokens.cache_write];
        let input = parts.into_iter().flatten().fold(0, u64::saturating_add);
        input <= self.input && tokens.output.unwrap_or(0) <= self.output
    }
}

impl CallResult {
    /// Returns whether the provider reported more tokens than possible.
    pub(super) fn is_implausible(&self, ceiling: UsageCeiling) -> bool {
        match self {
            Self::Answered { reply, .. } => !ceiling.allows(&reply.tokens),
            Self::Failed(failure) => failure.tokens.as_ref().is_some_and(|tokens| !ceiling.allows(tokens)),
            Self::Lost { .. } | Self::Stopped => false,
        }
    }

    /// Returns the provider's reported limits.
    pub(super) fn rate_limits(&self) -> RateLimits {
        match self {
            Self::Answered { reply, .. } => reply.rate_limits,
            Self::Failed(failure) => failure.rate_limits.capped_at(failure.retry_after),
            Self::Lost { .. } | Self::Stopped => RateLimits::default(),
        }
    }

    /// Returns the settlement of the call. A call that may have been charged an unknown amount is settled without a
    /// cost, so that it counts at its worst. The same applies to implausible usage: one absurd number would use up
    /// every cap.
    pub(super) fn settlement(&self, model: &Model, ceiling: UsageCeiling, at_ms: i64) -> SpendSettlement {
        let believed =
            |tokens: &TokenUsage| if ceiling.allows(tokens) { *tokens } else { TokenUsage::default() };
        let price = |tokens: &TokenUsage| model.price.and_then(|price| price.cost_of(tokens));
        let (outcome, cost, tokens, request_id) = match self {
            Self::Answered { reply, .. } => {
                let tokens = believed(&reply.tokens);
                (SpendOutcome::Answered, price(&tokens), tokens, reply.request_id.clone())
            }
            Self::Failed(failure) => {
                let tokens = failure.tokens.as_ref().map(believed);
                let cost = tokens.as_ref().map_or(Some(Money::ZERO), price);
                let outcome = if cost.is_some() { SpendOutcome::Refused } else { SpendOutcome::Unknown };
                (outcome, cost, tokens.unwrap_or_default(), failure.request_id.clone())
            }
            // Nothing reached the server, so nothing is charged.
            Self::Lost { is_unsent: true, .. } => {
                (SpendOutcome::Refused, Some(Money::ZERO), TokenUsage::default(), None)
            }
            // The server may have computed an answer and charged it.
            Self::Lost { is_unsent: false, .. } | Self::Stopped => {
                (SpendOutcome::Unknown, price(&TokenUsage::default()), TokenUsage::default(), None)
            }
        };
        SpendSettlement { outcome, cost, tokens, request_id, at_ms }
    }
}

/// Returns the request that would be sent, for display. It contains no key.
pub fn preview(model: &Model, prepared: &PreparedPrompt) -> EncodedRequest {
    llm::encode(model, &prepared.prompt, None)
}

/// Returns the worst cost of the call; zero if the price is unknown, which is only accepted of free providers.
pub(super) fn worst_cost(model: &Model, prepared: &PreparedPrompt, request: &EncodedRequest) -> Money {
    let output = max_output_tokens(model, prepared.prompt.answer_tokens);
    model.price.map_or(Money::ZERO, |price| price.worst_cost(request.body().len() as u64, output))
}

/// Returns the limit of output tokens, reasoning included.
pub(super) fn max_output_tokens(model: &Model, answer_tokens: u32) -> u32 {
    model.max_output_tokens.unwrap_or(0).max(answer_tokens)
}

pub(super) struct ModelCall<'c> {
    pub(super) model: &'c Model,
    pub(super) task: &'c SummaryTask,
    pub(super) request: &'c EncodedRequest,
    pub(super) timeout: Duration,
}

/// Makes the call and reads the response.
pub(super) fn perform_call(
    call: &ModelCall<'_>,
    world: &AgentWorld<'_>,
    prompts: &dyn PromptSource,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> CallResult {
    let decoded = match call.request {
        EncodedRequest::Web(request) => {
            let limits = HttpLimits {
                connect: CONNECT.min(call.timeout),
                // Responses are not streamed: a server is silent until the answer is complete.
                idle: call.timeout,
                total: call.timeout,
                body_bytes: ANSWER_BYTES,
            };
            let response = match send_scrubbed(world, request, &limits, is_stopped) {
                Ok(response) => response,
                Err(HttpError::Stopped) => return CallResult::Stopped,
                Err(error) => {
                    return CallResult::Lost { is_unsent: error.is_unsent(), message: error.to_string() };
                }
            };
            llm::decode(call.model, &response, world.clock.now_ms())
        }
        EncodedRequest::Command { command, input } => {
            let finished = world.commands.run_command(command, input, call.timeout, ANSWER_BYTES, is_stopped);
            match finished {
                Ok(finished) => llm::decode_command(finished.success, &finished.stdout, &finished.stderr),
                Err(error) => return command_failure(command, &error),
            }
        }
    };
    match decoded {
        Ok(reply) => check_reply(reply, |answer| prompts.check(call.task, answer)),
        Err(failure) => CallResult::Failed(failure),
    }
}

/// Checks whether an answer contains a summary.
pub(super) fn check_reply(
    reply: ModelReply,
    check: impl FnOnce(&str) -> Result<Vec<(Tier, String)>, SoftFailure>,
) -> CallResult {
    match check(&reply.text) {
        Ok(summaries) => CallResult::Answered { reply, summaries },
        Err(soft) => {
            let ModelReply { tokens, request_id, rate_limits, .. } = reply;
            // With its tokens, because the answer is charged although it is useless.
            let failure = CallFailure::new(FailureClass::Soft(soft), soft_failure_message(soft));
            CallResult::Failed(CallFailure { tokens: Some(tokens), request_id, rate_limits, ..failure })
        }
    }
}

fn soft_failure_message(soft: SoftFailure) -> &'static str {
    match soft {
        SoftFailure::Declined => "the model declined",
        SoftFailure::Empty => "the answer is empty",
        SoftFailure::CutOff => "the answer was cut off",
        SoftFailure::Misshapen => "the answer is not in the requested form",
    }
}

fn command_failure(command: &[String], error: &io::Error) -> CallResult {
    let program = command.first().map_or("", String::as_str);
    let message = format!("{program} cannot be run: {error}");
    match error.kind() {
        io::ErrorKind::Interrupted => CallResult::Stopped,
        // The settings name something that is not a program, and retrying will not change that.
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput => {
            CallResult::Failed(CallFailure::new(FailureClass::Settings, message))
        }
        // The program was started, and may have caused a charge.
        io::ErrorKind::TimedOut | io::ErrorKind::FileTooLarge => {
            CallResult::Lost { is_unsent: false, message }
        }
        _ => CallResult::Lost { is_unsent: true, message },
    }
}

/// The replacement for the key.
const MASK: &str = "[the key]";
/// Shorter keys protect nothing and could match any word of an answer: servers without keys are often called with
/// "none".
const MIN_KEY_BYTES: usize = 12;

/// Sends a request, and returns the response without the key.
pub(super) fn send_scrubbed(
    world: &AgentWorld<'_>,
    request: &HttpRequest,
    limits: &HttpLimits,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<HttpResponse, HttpError> {
    let answer = world.network.send(request, limits, is_stopped);
    let values = request.secret_headers.iter().map(|(_, value)| value.expose_secret());
    // The key is preceded by its scheme, such as "Bearer".
    let keys =
        values.filter_map(|value| value.split_whitespace().last()).filter(|key| MIN_KEY_BYTES <= key.len());
    keys.fold(answer, |answer, key| match answer {
        Ok(response) => Ok(scrub_response(response, key)),
        Err(HttpError::Broken(message)) => Err(HttpError::Broken(message.replace(key, MASK))),
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

/// Uploading thousands of prompts takes a while, and so does downloading their results.
const TIMEOUT: Duration = Duration::from_mins(10);
/// The most bytes of a response: the results of thousands of tasks.
const MAX_BYTES: usize = 64 << 20;

/// Why a request about a batch has no result.
#[derive(Debug)]
pub(super) enum BatchHttpError {
    /// The provider did not execute it.
    Refused {
        class: FailureClass,
        message: String,
    },
    /// The provider may have executed it.
    Unknown {
        message: String,
    },
    Stopped,
}

impl BatchHttpError {
    /// Returns the reason for which a run ends.
    pub(super) fn into_stop_reason(self, model: &Model) -> StopReason {
        let provider = model.provider.name.clone();
        match self {
            Self::Refused {
                class: class @ (FailureClass::Money | FailureClass::Auth | FailureClass::Settings),
                message,
            } => StopReason::Account { provider, class, message },
            Self::Refused { message, .. } | Self::Unknown { message } => {
                StopReason::Unreachable { provider, message, retry_in: Duration::from_mins(1) }
            }
            Self::Stopped => StopReason::Interrupted,
        }
    }
}

pub(super) fn send_batch_request<T>(
    world: &AgentWorld<'_>,
    request: &HttpRequest,
    is_stopped: &(dyn Fn() -> bool + Sync),
    decode: impl FnOnce(&HttpResponse, i64) -> Result<T, CallFailure>,
) -> Result<T, BatchHttpError> {
    let limits = HttpLimits {
        connect: Duration::from_secs(5),
        idle: Duration::from_mins(1),
        total: TIMEOUT,
        body_bytes: MAX_BYTES,
    };
    let response = send_scrubbed(world, request, &limits, is_stopped).map_err(|error| match error {
        HttpError::Stopped => BatchHttpError::Stopped,
        // The provider never saw it, so the batch can be canceled without losing money.
        error if error.is_unsent() => {
            BatchHttpError::Refused { class: FailureClass::Overload, message: error.to_string() }
        }
        error => BatchHttpError::Unknown { message: error.to_string() },
    })?;
    decode(&response, world.clock.now_ms()).map_err(|failure| match failure.tokens {
        None => BatchHttpError::Refused { class: failure.class, message: failure.message },
        // A success status without the expected content.
        Some(_) => BatchHttpError::Unknown { message: failure.message },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(header: &str, body: &str) -> HttpResponse {
        let headers = vec![("request-id".to_owned(), header.to_owned())];
        HttpResponse { status: 401, headers, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn the_key_is_removed_from_headers_and_bodies() {
        let key = "sentinel/0123456789";
        let said =
            response(&format!("a{key}b"), &format!("{key}{key} {{\"x\": \"sentinel\\/0123456789\"}}{key}"));
        let expected = response("a[the key]b", "[the key][the key] {\"x\": \"[the key]\"}[the key]");
        assert_eq!(scrub_response(said, key), expected);
    }

    #[test]
    fn a_response_without_the_key_is_unchanged() {
        let said = response("sentinel", "sentinel/012345678");
        assert_eq!(scrub_response(said.clone(), "sentinel/0123456789"), said);
    }
}
