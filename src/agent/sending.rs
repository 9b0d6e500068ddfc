//! One call: what is sent, and what came of it.

use std::io;
use std::time::Duration;

use super::Questions;
use super::Windows;
use super::hush;
use crate::engine::agent::Errand;
use crate::engine::agent::Prepared;
use crate::llm;
use crate::llm::Class;
use crate::llm::Model;
use crate::llm::Pace;
use crate::llm::Refusal;
use crate::llm::Reply;
use crate::llm::Sending;
use crate::llm::Soft;
use crate::model::Money;
use crate::model::Tier;
use crate::model::Tokens;
use crate::model::WebError;
use crate::store::paid::Settlement;
use crate::store::paid::SpendOutcome;
use crate::sys::WebLimits;

/// A server that is there is connected to within so long.
const CONNECT: Duration = Duration::from_secs(5);
/// An answer is a paragraph; with what a model thinks it may be a book.
const ANSWER_BYTES: usize = 1 << 20;

/// What came of a call.
#[derive(Debug)]
pub(super) enum Sent {
    /// Words that can be used.
    Words { reply: Reply, words: Vec<(Tier, String)> },
    /// An answer of no use.
    Refused(Refusal),
    /// None.
    Lost {
        /// Whether the server cannot have seen the question.
        is_unsent: bool,
        words: String,
    },
    /// Nobody waited for it.
    Stopped,
}

/// The most tokens that a call can have taken, so that what a provider counts can be doubted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    input: u64,
    output: u64,
}

impl Most {
    /// What a provider adds to the text: its own instructions, the names of roles.
    const ADDED: u64 = 4096;

    /// Returns the most for a body of so many bytes, a token being at least one of them.
    pub(super) fn new(body_bytes: u64, output_tokens: u32) -> Self {
        Self { input: body_bytes.saturating_add(Self::ADDED), output: u64::from(output_tokens) * 2 }
    }

    fn allows(self, tokens: &Tokens) -> bool {
        let parts = [tokens.input, tokens.cache_read, tokens.cache_write];
        let input = parts.into_iter().flatten().fold(0, u64::saturating_add);
        input <= self.input && tokens.output.unwrap_or(0) <= self.output
    }
}

impl Sent {
    /// Says whether the provider counted more than there can have been.
    pub(super) fn is_absurd(&self, most: Most) -> bool {
        match self {
            Self::Words { reply, .. } => !most.allows(&reply.tokens),
            Self::Refused(refusal) => refusal.tokens.as_ref().is_some_and(|tokens| !most.allows(tokens)),
            Self::Lost { .. } | Self::Stopped => false,
        }
    }

    /// Returns what the provider said of its limits.
    pub(super) fn pace(&self) -> Pace {
        match self {
            Self::Words { reply, .. } => reply.pace,
            Self::Refused(refusal) => refusal.pace.within(refusal.wait),
            Self::Lost { .. } | Self::Stopped => Pace::default(),
        }
    }

    /// Says what the call cost. What may have been charged, and nobody knows how much, has no cost: it counts as its
    /// worst. So does what cannot be: one absurd number would use up all that may ever be spent.
    pub(super) fn settlement(&self, model: &Model, most: Most, at_ms: i64) -> Settlement {
        let believed = |tokens: &Tokens| if most.allows(tokens) { *tokens } else { Tokens::default() };
        let price = |tokens: &Tokens| model.price.and_then(|price| price.of(tokens));
        let (outcome, cost, tokens, request_id) = match self {
            Self::Words { reply, .. } => {
                let tokens = believed(&reply.tokens);
                (SpendOutcome::Answered, price(&tokens), tokens, reply.request_id.clone())
            }
            Self::Refused(refusal) => {
                let tokens = refusal.tokens.as_ref().map(believed);
                let cost = tokens.as_ref().map_or(Some(Money::ZERO), price);
                let outcome = if cost.is_some() { SpendOutcome::Refused } else { SpendOutcome::Unknown };
                (outcome, cost, tokens.unwrap_or_default(), refusal.request_id.clone())
            }
            Self::Lost { is_unsent: true, .. } => {
                (SpendOutcome::Refused, Some(Money::ZERO), Tokens::default(), None)
            }
            Self::Lost { is_unsent: false, .. } | Self::Stopped => {
                (SpendOutcome::Unknown, price(&Tokens::default()), Tokens::default(), None)
            }
        };
        Settlement { outcome, cost, tokens, request_id, at_ms }
    }
}

/// Returns what would be sent, to be shown. It holds no key.
pub fn preview(model: &Model, prepared: &Prepared) -> Sending {
    llm::encode(model, &prepared.prompt, None)
}

/// Returns what the call costs at worst; nothing where no price is known, which is only let through where all is free.
pub(super) fn worst(model: &Model, prepared: &Prepared, sending: &Sending) -> Money {
    let output = most_output(model, prepared.prompt.answer_tokens);
    model.price.map_or(Money::ZERO, |price| price.worst(sending.body().len() as u64, output))
}

/// Returns how many tokens of output are asked for, thoughts among them.
pub(super) fn most_output(model: &Model, answer_tokens: u32) -> u32 {
    model.max_output_tokens.unwrap_or(0).max(answer_tokens)
}

/// All that one call needs.
pub(super) struct Call<'c> {
    pub(super) model: &'c Model,
    pub(super) errand: &'c Errand,
    pub(super) sending: &'c Sending,
    pub(super) timeout: Duration,
}

/// Asks, and reads the answer.
pub(super) fn send(
    call: &Call<'_>,
    windows: &Windows<'_>,
    questions: &dyn Questions,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Sent {
    let decoded = match call.sending {
        Sending::Web(request) => {
            let limits = WebLimits {
                connect: CONNECT.min(call.timeout),
                idle: call.timeout,
                total: call.timeout,
                body_bytes: ANSWER_BYTES,
            };
            let response = match hush::send(windows, request, &limits, is_stopped) {
                Ok(response) => response,
                Err(WebError::Stopped) => return Sent::Stopped,
                Err(error) => return Sent::Lost { is_unsent: error.is_unsent(), words: error.to_string() },
            };
            llm::decode(call.model, &response, windows.now_ms())
        }
        Sending::Command { command, input } => {
            let finished =
                windows.commands.run_command(command, input, call.timeout, ANSWER_BYTES, is_stopped);
            match finished {
                Ok(finished) => llm::decode_command(finished.success, &finished.stdout, &finished.stderr),
                Err(error) => return not_run(command, &error),
            }
        }
    };
    match decoded {
        Ok(reply) => read(reply, |answer| questions.check(call.errand, answer)),
        Err(refusal) => Sent::Refused(refusal),
    }
}

/// Looks whether there is a summary in an answer.
pub(super) fn read(reply: Reply, check: impl FnOnce(&str) -> Result<Vec<(Tier, String)>, Soft>) -> Sent {
    match check(&reply.text) {
        Ok(words) => Sent::Words { reply, words },
        Err(soft) => {
            let Reply { tokens, request_id, pace, .. } = reply;
            let (class, words) = (Class::Soft(soft), said(soft).to_owned());
            Sent::Refused(Refusal { class, words, wait: None, tokens: Some(tokens), request_id, pace })
        }
    }
}

fn said(soft: Soft) -> &'static str {
    match soft {
        Soft::Declined => "the model declined",
        Soft::Empty => "the answer has no words",
        Soft::CutOff => "the answer was cut off",
        Soft::Misshapen => "the answer is not of the shape that was asked for",
    }
}

fn not_run(command: &[String], error: &io::Error) -> Sent {
    let program = command.first().map_or("", String::as_str);
    let words = format!("run {program}: {error}");
    match error.kind() {
        io::ErrorKind::Interrupted => Sent::Stopped,
        // What the settings name is no program, and will be none in a second.
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput => {
            let (class, pace) = (Class::Settings, Pace::default());
            Sent::Refused(Refusal { class, words, wait: None, tokens: None, request_id: None, pace })
        }
        // It ran.
        io::ErrorKind::TimedOut | io::ErrorKind::FileTooLarge => Sent::Lost { is_unsent: false, words },
        _ => Sent::Lost { is_unsent: true, words },
    }
}

#[cfg(test)]
#[path = "sending_tests.rs"]
mod tests;
