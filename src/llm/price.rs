//! The prices of tokens.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::provider::Provider;
use crate::model::{ModelName, Money, TokenUsage};

/// The number of tokens that a price is for.
const TOKENS_PER_PRICE: u128 = 1_000_000;
/// Tokens that a provider adds to a request, such as role names. All other tokens are at least a byte long.
const WRAPPING_BYTES: u64 = 64;

/// The price of a million tokens of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenPrice {
    pub input: Money,
    /// Input read from the provider's cache.
    pub cache_read: Money,
    /// Input written to the provider's cache.
    pub cache_write: Money,
    /// Output, reasoning included.
    pub output: Money,
    /// The price for long input, if it differs.
    pub long: Option<LongInputPrice>,
}

/// The price of a million tokens in a call with long input; it applies from the first token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongInputPrice {
    /// The most tokens of input that is not long.
    pub above: u64,
    pub input: Money,
    /// Input read from the provider's cache.
    pub cache_read: Money,
    /// Input written to the provider's cache.
    pub cache_write: Money,
    pub output: Money,
}

/// A price as it is configured; omitted parts follow from the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PriceRow {
    pub input: Money,
    pub output: Money,
    /// Input read from the cache; by default the same as all input.
    pub cache_read: Option<Money>,
    /// Input written to the cache; by default the same as all input.
    pub cache_write: Option<Money>,
    /// From how many tokens on input is long, and its price.
    pub long: Option<(u64, Money)>,
    /// Output of such calls; by default it grows in proportion to the input, as do the others.
    pub long_output: Option<Money>,
    /// Input of such calls read from the cache.
    pub long_cache_read: Option<Money>,
    /// Input of such calls written to the cache.
    pub long_cache_write: Option<Money>,
}

impl PriceRow {
    pub fn price(&self) -> TokenPrice {
        let (input, output) = (self.input, self.output);
        let (cache_read, cache_write) = (self.cache_read.unwrap_or(input), self.cache_write.unwrap_or(input));
        let long = self.long.map(|(above, long_input)| {
            let grown = |money: Money| {
                // Input that is free unless it is long must not divide by zero.
                let base = u128::from(input.nanos()).max(1);
                let grown = (u128::from(money.nanos()) * u128::from(long_input.nanos())).div_ceil(base);
                // Never cheaper than short input, because the worst case of a call is computed from it.
                Money::from_nanos(u64::try_from(grown).unwrap_or(u64::MAX)).max(money)
            };
            LongInputPrice {
                above,
                input: long_input,
                cache_read: self.long_cache_read.unwrap_or_else(|| grown(cache_read)),
                cache_write: self.long_cache_write.unwrap_or_else(|| grown(cache_write)),
                output: self.long_output.unwrap_or_else(|| grown(output)),
            }
        });
        TokenPrice { input, cache_read, cache_write, output, long }
    }
}

impl TokenPrice {
    pub const FREE: Self = Self {
        input: Money::ZERO,
        cache_read: Money::ZERO,
        cache_write: Money::ZERO,
        output: Money::ZERO,
        long: None,
    };

    /// Returns the most that a call can cost with this many bytes in the body and tokens in the answer.
    pub fn worst_cost(&self, body_bytes: u64, output_tokens: u32) -> Money {
        let input = body_bytes.saturating_add(WRAPPING_BYTES);
        let worst = |price: &Self| {
            let dearest = price.input.max(price.cache_read).max(price.cache_write);
            cost(input, dearest) + cost(u64::from(output_tokens), price.output)
        };
        // Whether an input of this size counts as long is uncertain.
        self.for_input(input).map_or_else(|| worst(self), |long| worst(&long).max(worst(self)))
    }

    /// Returns the cost of a call with these tokens; `None` if a count that it depends on is missing.
    pub fn cost_of(&self, tokens: &TokenUsage) -> Option<Money> {
        if *self == Self::FREE {
            return Some(Money::ZERO);
        }
        let (input, output) = (tokens.input?, tokens.output?);
        // Providers without a cache do not report it, and those with one report it together with all else.
        let (read, write) = (tokens.cache_read.unwrap_or(0), tokens.cache_write.unwrap_or(0));
        let price = self.for_input(input.saturating_add(read).saturating_add(write)).unwrap_or(*self);
        // Rounded once: four roundings could exceed the worst cost by a billionth.
        let parts = [
            (input, price.input),
            (read, price.cache_read),
            (write, price.cache_write),
            (output, price.output),
        ];
        Some(round_up(
            parts.into_iter().map(|(tokens, price)| exact_cost(tokens, price)).fold(0, u128::saturating_add),
        ))
    }

    /// Returns it with what Anthropic charges for writing to a cache that is kept for an hour: twice the price of
    /// input.
    #[must_use]
    pub fn with_hourly_writes(&self) -> Self {
        let twice = |money: Money| Money::from_nanos(money.nanos().saturating_mul(2));
        let long = self.long.map(|long| LongInputPrice { cache_write: twice(long.input), ..long });
        Self { cache_write: twice(self.input), long, ..*self }
    }

    /// Returns half of it, the price in a batch.
    #[must_use]
    pub fn halved(&self) -> Self {
        // Rounded up: a reservation must not be lower than the charge.
        let half = |money: Money| Money::from_nanos(money.nanos().div_ceil(2));
        let long = |long: LongInputPrice| LongInputPrice {
            above: long.above,
            input: half(long.input),
            cache_read: half(long.cache_read),
            cache_write: half(long.cache_write),
            output: half(long.output),
        };
        Self {
            input: half(self.input),
            cache_read: half(self.cache_read),
            cache_write: half(self.cache_write),
            output: half(self.output),
            long: self.long.map(long),
        }
    }

    /// Returns the price that applies to this many tokens of input, if that is long.
    fn for_input(&self, tokens: u64) -> Option<Self> {
        let LongInputPrice { input, cache_read, cache_write, output, .. } =
            self.long.filter(|long| long.above < tokens)?;
        Some(Self { input, cache_read, cache_write, output, long: None })
    }
}

fn cost(tokens: u64, price: Money) -> Money {
    round_up(exact_cost(tokens, price))
}

/// Returns the cost of this many tokens, in millionths of billionths of a dollar.
fn exact_cost(tokens: u64, price: Money) -> u128 {
    u128::from(tokens) * u128::from(price.nanos())
}

fn round_up(exact: u128) -> Money {
    Money::from_nanos(u64::try_from(exact.div_ceil(TOKENS_PER_PRICE)).unwrap_or(u64::MAX))
}

/// The prices of models on a certain day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceList {
    date: String,
    /// By the provider's and the model's name, both [`normalized`].
    rows: BTreeMap<(String, String), ListedPrice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ListedPrice {
    price: TokenPrice,
    min_cacheable_tokens: Option<u32>,
}

impl PriceList {
    /// Returns the day of the prices, as in the file.
    pub fn date(&self) -> &str {
        &self.date
    }

    /// Returns what a model of a provider costs, and from how many tokens on the provider caches a prompt's prefix.
    /// The model's name may have a date appended, and the vendor's name prepended if the provider resells models.
    pub fn find(&self, provider: &Provider, model: &str) -> Option<(TokenPrice, Option<u32>)> {
        let row = self.row(&provider.name, model);
        // A free provider does not resell: whatever its models are called, they cost nothing.
        let resold = || model.split_once('/').and_then(|(vendor, model)| self.row(vendor, model));
        match row.or_else(|| if provider.is_free { None } else { resold() }) {
            Some(row) => Some((row.price, row.min_cacheable_tokens)),
            None => provider.is_free.then_some((TokenPrice::FREE, None)),
        }
    }

    /// Returns what a model costs where a vendor of this name sells it, and from how many tokens on its prompts are
    /// cached, as [`PriceList::find`] does.
    pub fn listed(&self, vendor: &str, model: &str) -> Option<(TokenPrice, Option<u32>)> {
        self.row(vendor, model).map(|row| (row.price, row.min_cacheable_tokens))
    }

    /// Inserts the price of a model, replacing the existing one.
    pub fn insert(&mut self, name: &ModelName, price: TokenPrice) {
        let known = self.row(&name.provider, &name.model);
        let min_cacheable_tokens = known.and_then(|row| row.min_cacheable_tokens);
        self.rows.insert(
            (normalized(&name.provider), normalized(&name.model)),
            ListedPrice { price, min_cacheable_tokens },
        );
    }

    fn row(&self, provider: &str, model: &str) -> Option<ListedPrice> {
        let (provider, model) = (normalized(provider), normalized(model));
        if let Some(row) = self.rows.get(&(provider.clone(), model.clone())) {
            return Some(*row);
        }
        let of_provider = self.rows.iter().filter(|((seller, _), _)| *seller == provider);
        let dated = of_provider.filter(|((_, name), _)| is_dated(&model, name));
        // The longest name is the most specific one.
        dated.max_by_key(|((_, name), _)| name.len()).map(|(_, row)| *row)
    }
}

/// Normalizes a name for comparison: resellers write `claude-haiku-4.5` where the vendor writes `claude-haiku-4-5`.
fn normalized(name: &str) -> String {
    name.to_ascii_lowercase().replace('.', "-")
}

/// Returns whether `model` is `name` with a date appended, or a word that denotes one. Any other suffix may denote
/// a more expensive model: `-pro` is not a version.
fn is_dated(model: &str, name: &str) -> bool {
    let Some(ending) = model.strip_prefix(name).and_then(|rest| rest.strip_prefix('-')) else { return false };
    let (mut digits, mut has_word) = (0, false);
    for part in ending.split('-') {
        match part {
            "latest" | "preview" => has_word = true,
            _ if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) => digits += part.len(),
            _ => return false,
        }
    }
    // `claude-haiku-4` followed by `-5` is another model; a date has at least four digits.
    if has_word { digits == 0 || 4 <= digits } else { 4 <= digits }
}

pub fn built_in_prices() -> PriceList {
    let file: PriceFile =
        toml::from_str(include_str!("../../config/prices.toml")).expect("the file is tested");
    let mut rows = BTreeMap::new();
    for model in file.models {
        let row = model.row().expect("the file is tested");
        for provider in &model.providers {
            rows.insert((normalized(provider), normalized(&model.name)), row);
        }
    }
    PriceList { date: file.date, rows }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    date: String,
    models: Vec<PriceEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceEntry {
    providers: Vec<String>,
    name: String,
    input: String,
    output: String,
    cache_read: Option<String>,
    cache_write: Option<String>,
    long_from: Option<u64>,
    long_input: Option<String>,
    long_output: Option<String>,
    long_cache_read: Option<String>,
    long_cache_write: Option<String>,
    min_cacheable_tokens: Option<u32>,
}

impl PriceEntry {
    fn row(&self) -> Option<ListedPrice> {
        let read = |text: &Option<String>| {
            text.as_deref().map(|text| Money::from_dollars(text).ok_or(())).transpose().ok()
        };
        let row = PriceRow {
            input: Money::from_dollars(&self.input)?,
            output: Money::from_dollars(&self.output)?,
            cache_read: read(&self.cache_read)?,
            cache_write: read(&self.cache_write)?,
            long: self.long_from.zip(read(&self.long_input)?),
            long_output: read(&self.long_output)?,
            long_cache_read: read(&self.long_cache_read)?,
            long_cache_write: read(&self.long_cache_write)?,
        };
        let is_whole = self.long_from.is_some() == self.long_input.is_some();
        is_whole.then(|| ListedPrice { price: row.price(), min_cacheable_tokens: self.min_cacheable_tokens })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::provider::built_in_providers;
    use super::*;

    fn provider(name: &str, is_free: bool) -> Provider {
        let any = built_in_providers().remove(0);
        Provider { name: name.to_owned(), is_free, ..any }
    }

    #[track_caller]
    fn check(seller: &str, model: &str, input: Option<&str>) {
        let found = built_in_prices().find(&provider(seller, false), model);
        assert_eq!(
            found.map(|(price, _)| price.input),
            input.and_then(Money::from_dollars),
            "{seller}/{model}"
        );
    }

    #[test]
    fn a_model_is_found_by_its_name_its_date_and_its_vendor() {
        check("anthropic", "claude-haiku-4-5", Some("1"));
        check("anthropic", "claude-haiku-4-5-20251001", Some("1"));
        check("anthropic", "claude-haiku-4-5-latest", Some("1"));
        check("openrouter", "anthropic/claude-haiku-4.5", Some("1"));
        check("openrouter", "minimax/minimax-m3", Some("0.3"));
        check("gemini", "gemini-3.8-flash-preview-09-2026", Some("0.75"));
        check("openai-chat", "gpt-5.4-nano-2026-03-01", Some("0.2"));
    }

    #[test]
    fn another_model_with_the_same_prefix_has_no_price() {
        check("openai", "gpt-6-luna-pro", None);
        check("anthropic", "claude-haiku-5-5-5", None);
        check("anthropic", "claude-haiku-5", None);
        check("elsewhere", "claude-haiku-4-5", None);
        check("anthropic", "", None);
    }

    #[test]
    fn a_free_provider_costs_nothing_unless_somebody_set_a_price() {
        let (mut list, free) = (built_in_prices(), provider("ollama", true));
        assert_eq!(list.find(&free, "anthropic/claude-haiku-4-5"), Some((TokenPrice::FREE, None)));
        let price = TokenPrice { input: Money::from_nanos(7), ..TokenPrice::FREE };
        list.insert(&ModelName { provider: "ollama".to_owned(), model: "m:1b".to_owned() }, price);
        assert_eq!(list.find(&free, "m:1b"), Some((price, None)));
    }

    #[test]
    fn a_configured_price_keeps_the_other_data_of_the_model() {
        let mut list = built_in_prices();
        list.insert(
            &ModelName { provider: "anthropic".to_owned(), model: "claude-haiku-4-5-20251001".to_owned() },
            TokenPrice::FREE,
        );
        let found = list.find(&provider("anthropic", false), "claude-haiku-4-5-20251001");
        assert_eq!(found, Some((TokenPrice::FREE, Some(4_096))));
        check("anthropic", "claude-haiku-4-5", Some("1"));
    }

    #[test]
    fn amounts_are_parsed_to_the_billionth() {
        assert_eq!(Money::from_dollars("0.125"), Some(Money::from_nanos(125_000_000)));
        assert_eq!(Money::from_dollars("20"), Some(Money::from_nanos(20_000_000_000)));
        assert_eq!(Money::from_dollars("0.000000001"), Some(Money::from_nanos(1)));
        for wrong in ["", ".5", "1.", "-1", "1e3", "1.0000000001", "99999999999999", "1,5", " 1"] {
            assert_eq!(Money::from_dollars(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_call_costs_what_its_parts_cost() {
        let (price, _) = built_in_prices().find(&provider("anthropic", false), "claude-haiku-5-5").unwrap();
        let tokens = TokenUsage {
            input: Some(1_000),
            cache_read: Some(2_000),
            cache_write: Some(400),
            output: Some(10),
        };
        // 1,000 × 100 + 2,000 × 10 + 400 × 125 + 10 × 500 billionths.
        assert_eq!(price.cost_of(&tokens), Some(Money::from_nanos(175_000)));
        assert_eq!(price.halved().cost_of(&tokens), Some(Money::from_nanos(87_500)));
        let long = TokenUsage { input: Some(100_001), ..tokens };
        let nanos = 100_001 * 500 + 2_000 * 50 + 400 * 625 + 10 * 2_500;
        assert_eq!(price.cost_of(&long), Some(Money::from_nanos(nanos)));
    }

    #[test]
    fn a_call_that_cannot_be_long_is_not_priced_as_long() {
        let (price, _) = built_in_prices().find(&provider("anthropic", false), "claude-haiku-5-5").unwrap();
        let border = 100_000 - WRAPPING_BYTES;
        let short = Money::from_nanos(100_000 * 125 + 700 * 500);
        assert_eq!(price.worst_cost(border, 700), short);
        assert_eq!(price.worst_cost(border + 1, 700), Money::from_nanos(100_001 * 625 + 700 * 2_500));
    }

    #[test]
    fn omitted_prices_of_long_input_grow_with_the_input() {
        let money = Money::from_nanos;
        let row = PriceRow {
            input: money(10),
            output: money(50),
            cache_read: Some(money(1)),
            long: Some((7, money(25))),
            ..PriceRow::default()
        };
        let grown = LongInputPrice {
            above: 7,
            input: money(25),
            cache_read: money(3),
            cache_write: money(25),
            output: money(125),
        };
        assert_eq!(row.price().long, Some(grown));
        let said = PriceRow { long_output: Some(money(60)), long_cache_write: Some(money(30)), ..row };
        let told = LongInputPrice { output: money(60), cache_write: money(30), ..grown };
        assert_eq!(said.price().long, Some(told));
        let cheaper = PriceRow { long: Some((7, money(5))), ..row }.price().long.unwrap();
        assert_eq!((cheaper.input, cheaper.output), (money(5), money(50)));
    }

    #[test]
    fn missing_counts_have_no_price() {
        let (price, _) = built_in_prices().find(&provider("anthropic", false), "claude-haiku-4-5").unwrap();
        assert_eq!(price.cost_of(&TokenUsage { input: Some(1), ..TokenUsage::default() }), None);
        assert_eq!(price.cost_of(&TokenUsage { output: Some(1), ..TokenUsage::default() }), None);
        assert_eq!(TokenPrice::FREE.cost_of(&TokenUsage::default()), Some(Money::ZERO));
    }

    prop_compose! {
        fn any_price()(input in 0..1u64 << 40, read in 0..1u64 << 40, write in 0..1u64 << 40, output in 0..1u64 << 40,
            long in proptest::option::of((0..1u64 << 22, [0..1u64 << 40, 0..1u64 << 40, 0..1u64 << 40, 0..1u64 << 40]))) -> TokenPrice {
            let money = Money::from_nanos;
            TokenPrice {
                input: money(input), cache_read: money(read), cache_write: money(write), output: money(output),
                long: long.map(|(above, [input, cache_read, cache_write, output])| LongInputPrice {
                    above, input: money(input), cache_read: money(cache_read), cache_write: money(cache_write),
                    output: money(output),
                }),
            }
        }
    }

    proptest! {
        #[test]
        fn no_call_costs_more_than_its_worst(
            price in any_price(), body in 0..1u64 << 22, parts in (0.0..1.0f64, 0.0..1.0f64), output in 0..100_000u32,
            most in 0..100_000u32,
        ) {
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss,
                reason = "any share will do")]
            let share = |whole: u64, part: f64| (whole as f64 * part) as u64;
            let first = share(body, parts.0);
            let second = share(body - first, parts.1);
            let tokens = TokenUsage {
                input: Some(first), cache_read: Some(second), cache_write: Some(body - first - second),
                output: Some(u64::from(output.min(most))),
            };
            prop_assert!(price.cost_of(&tokens).unwrap() <= price.worst_cost(body, most));
            prop_assert!(price.halved().cost_of(&tokens).unwrap() <= price.halved().worst_cost(body, most));
        }
    }
}
