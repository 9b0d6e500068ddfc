//! Estimates the cost of tasks before any call is made.

use crate::engine::summaries::SummaryTasks;
use crate::llm::Model;
use crate::model::{Money, TokenUsage};
use crate::store::agent::{SpendCaps, SpendTotals};

/// Approximate bytes that a provider's format adds to the instructions and the material.
const ENVELOPE_BYTES: u64 = 300;
/// Approximate bytes in a token of source code.
const TOKEN_BYTES: u64 = 4;
/// The outline of a file, or longer descriptions of a folder's children, can make the material this many times
/// longer.
const LONGER: u64 = 2;
/// Approximate tokens in an answer for two tiers.
const ANSWER_TOKENS: u64 = 250;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostEstimate {
    /// How many calls there would be if each succeeded at once; includes folders that wait for files.
    pub calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Approximate cost with the first model; `None` if its price is unknown.
    pub likely: Option<Money>,
    /// The highest possible cost there with one call each: every byte a token, every answer of full length.
    pub worst: Option<Money>,
    /// How many more calls may be made today.
    pub calls_left: u64,
    /// How much may still be spent today, by both caps.
    pub money_left: Money,
}

pub fn estimate_cost(
    tasks: &SummaryTasks,
    chain: &[Model],
    answer_tokens: u32,
    caps: &SpendCaps,
    spent: &SpendTotals,
) -> CostEstimate {
    let model = chain.first();
    let price = model.and_then(|model| model.price);
    let most_output = model.and_then(|model| model.max_output_tokens).unwrap_or(0).max(answer_tokens);
    let mut estimate = CostEstimate {
        calls: tasks.ready.len() as u64 + tasks.waiting_folders,
        input_tokens: 0,
        output_tokens: 0,
        likely: price.map(|_| Money::ZERO),
        worst: price.map(|_| Money::ZERO),
        calls_left: caps.calls_a_day.saturating_sub(spent.calls),
        money_left: caps.day.saturating_sub(spent.day).min(caps.total.saturating_sub(spent.total)),
    };
    for (about_bytes, most_bytes) in call_sizes(tasks) {
        let tokens = TokenUsage {
            input: Some(about_bytes.saturating_add(ENVELOPE_BYTES) / TOKEN_BYTES),
            output: Some(ANSWER_TOKENS.min(u64::from(most_output))),
            ..TokenUsage::default()
        };
        estimate.input_tokens += tokens.input.unwrap_or(0);
        estimate.output_tokens += tokens.output.unwrap_or(0);
        // One unknown cost makes the sum unknown: a partial sum would look like a low one.
        let sum = |so_far: Option<Money>, next: Option<Money>| Some(so_far? + next?);
        estimate.likely = sum(estimate.likely, price.and_then(|price| price.cost_of(&tokens)));
        // In JSON a line break takes two bytes, and so does a quotation mark.
        let body = most_bytes.saturating_add(ENVELOPE_BYTES).saturating_add(most_bytes / 8);
        estimate.worst = sum(estimate.worst, price.map(|price| price.worst_cost(body, most_output)));
    }
    estimate
}

/// Returns for each call about how many bytes it sends, and how many at most.
fn call_sizes(tasks: &SummaryTasks) -> impl Iterator<Item = (u64, u64)> {
    let ready = tasks.ready.iter().map(|task| task.estimated_bytes);
    // Of the waiting folders only the total size is known, so each is assumed to be of average size.
    let each = tasks.waiting_bytes.checked_div(tasks.waiting_folders).unwrap_or(0);
    let waiting = (0..tasks.waiting_folders).map(move |_| each);
    ready.chain(waiting).map(|about| (about, about.saturating_mul(LONGER)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{model, options, tasks};
    use super::*;

    /// Files that are ready, and a folder that waits for them.
    fn asked(count: usize) -> SummaryTasks {
        let ready = tasks(count);
        SummaryTasks { ready, waiting_folders: 1, waiting_bytes: 500, ..SummaryTasks::default() }
    }

    #[test]
    fn an_estimate_has_the_likely_cost_the_worst_cost_and_what_the_caps_leave() {
        let mut caps = options(Vec::new()).caps;
        caps.day = Money::from_nanos(1_000_000_000);
        caps.calls_a_day = 10;
        let spent = SpendTotals { day: Money::from_nanos(400_000_000), calls: 3, ..SpendTotals::default() };
        let found = estimate_cost(&asked(2), &[model("small")], 100, &caps, &spent);
        // Twice 4,300 bytes and once 800 at four a token, and three times a hundred tokens of output, at one and five
        // dollars a million.
        assert_eq!((found.calls, found.input_tokens, found.output_tokens), (3, 2 * 1_075 + 200, 300));
        assert_eq!(found.likely, Some(Money::from_nanos(2_350 * 1_000 + 300 * 5_000)));
        assert!(found.likely < found.worst);
        assert_eq!((found.calls_left, found.money_left), (7, Money::from_nanos(600_000_000)));
    }

    #[test]
    fn the_cost_of_a_model_without_a_price_is_unknown() {
        let nameless = Model { price: None, ..model("small") };
        let caps = options(Vec::new()).caps;
        let found = estimate_cost(&asked(2), &[nameless], 100, &caps, &SpendTotals::default());
        assert_eq!((found.likely, found.worst, found.calls), (None, None, 3));
    }
}
