//! What tokens cost.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Provider;
use crate::model::ModelName;
use crate::model::Money;
use crate::model::Tokens;

/// Prices are of so many tokens.
const UNIT: u128 = 1_000_000;
/// What a provider adds to a request's text: names of roles and the like. Beside these a token is at least a byte.
const WRAPPING: u64 = 64;

/// What a million tokens of a model cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Input.
    pub input: Money,
    /// Input that the provider had in its cache.
    pub cache_read: Money,
    /// Input that the provider takes into its cache.
    pub cache_write: Money,
    /// Output, with what the model thinks.
    pub output: Money,
    /// Above how many tokens of input all of it costs more, and what a million of it costs then.
    pub long_input: Option<(u64, Money)>,
}

impl Price {
    /// What costs nothing.
    pub const FREE: Self = Self {
        input: Money::ZERO,
        cache_read: Money::ZERO,
        cache_write: Money::ZERO,
        output: Money::ZERO,
        long_input: None,
    };

    /// Returns the most that a call can cost whose body has so many bytes and whose answer at most so many tokens.
    pub fn worst(&self, body_bytes: u64, output_tokens: u32) -> Money {
        let input = body_bytes.saturating_add(WRAPPING);
        let mut parts = vec![self.input, self.cache_read, self.cache_write];
        if self.long_input.is_some() {
            parts.extend(
                self.long()
                    .map(|price| [price.input, price.cache_read, price.cache_write])
                    .into_iter()
                    .flatten(),
            );
        }
        let dearest = parts.into_iter().max().unwrap_or_default();
        cost(input, dearest) + cost(u64::from(output_tokens), self.output)
    }

    /// Returns what a call cost that counted so many tokens; `None` where a count is missing without which nobody knows.
    pub fn of(&self, tokens: &Tokens) -> Option<Money> {
        if *self == Self::FREE {
            return Some(Money::ZERO);
        }
        let (input, output) = (tokens.input?, tokens.output?);
        // Providers that have no cache do not report it, and those that have one report it with all else.
        let (read, write) = (tokens.cache_read.unwrap_or(0), tokens.cache_write.unwrap_or(0));
        let all = input.saturating_add(read).saturating_add(write);
        let is_long = self.long_input.is_some_and(|(limit, _)| limit < all);
        let price = if is_long { self.long().unwrap_or(*self) } else { *self };
        // Rounded once: four roundings could pass the worst by a billionth.
        let parts = [
            (input, price.input),
            (read, price.cache_read),
            (write, price.cache_write),
            (output, price.output),
        ];
        Some(rounded(
            parts.into_iter().map(|(tokens, price)| exact(tokens, price)).fold(0, u128::saturating_add),
        ))
    }

    /// Returns half of it, as for what is asked in a batch.
    #[must_use]
    pub fn halved(&self) -> Self {
        let half = |money: Money| Money::from_nanos(money.nanos().div_ceil(2));
        Self {
            input: half(self.input),
            cache_read: half(self.cache_read),
            cache_write: half(self.cache_write),
            output: half(self.output),
            long_input: self.long_input.map(|(limit, price)| (limit, half(price))),
        }
    }

    /// Returns what long input costs. Cached input is not listed for it: it is taken to grow as the other does.
    fn long(&self) -> Option<Self> {
        let (_, long) = self.long_input?;
        let grown = |money: Money| {
            let base = u128::from(self.input.nanos()).max(1);
            let grown = (u128::from(money.nanos()) * u128::from(long.nanos())).div_ceil(base);
            Money::from_nanos(u64::try_from(grown).unwrap_or(u64::MAX)).max(money)
        };
        let (cache_read, cache_write) = (grown(self.cache_read), grown(self.cache_write));
        Some(Self { input: long, cache_read, cache_write, output: self.output, long_input: None })
    }
}

/// Returns what so many tokens cost.
fn cost(tokens: u64, price: Money) -> Money {
    rounded(exact(tokens, price))
}

/// Returns what so many tokens cost, in millionths of billionths of a dollar.
fn exact(tokens: u64, price: Money) -> u128 {
    u128::from(tokens) * u128::from(price.nanos())
}

/// A part of a billionth is a whole one.
fn rounded(exact: u128) -> Money {
    Money::from_nanos(u64::try_from(exact.div_ceil(UNIT)).unwrap_or(u64::MAX))
}

/// What models cost, as of some day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceList {
    date: String,
    /// By the provider's name and the model's, both as [`plain`] has them.
    rows: BTreeMap<(String, String), Row>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    price: Price,
    min_cacheable_tokens: Option<u32>,
}

impl PriceList {
    /// Returns the day that the prices are of, as in the file.
    pub fn date(&self) -> &str {
        &self.date
    }

    /// Returns what a model of a provider costs, and from how many tokens on the provider keeps a prompt's beginning. A
    /// model's name may have a date behind it, and the vendor's before it where the provider sells those of others.
    pub fn find(&self, provider: &Provider, model: &str) -> Option<(Price, Option<u32>)> {
        let row = self.row(&provider.name, model);
        let resold = || model.split_once('/').and_then(|(vendor, model)| self.row(vendor, model));
        match row.or_else(|| if provider.is_free { None } else { resold() }) {
            Some(row) => Some((row.price, row.min_cacheable_tokens)),
            None => provider.is_free.then_some((Price::FREE, None)),
        }
    }

    /// Puts the price of a model over the one that is there.
    pub fn put(&mut self, name: &ModelName, price: Price) {
        let known = self.row(&name.provider, &name.model);
        let min_cacheable_tokens = known.and_then(|row| row.min_cacheable_tokens);
        self.rows.insert((plain(&name.provider), plain(&name.model)), Row { price, min_cacheable_tokens });
    }

    fn row(&self, provider: &str, model: &str) -> Option<Row> {
        let (provider, model) = (plain(provider), plain(model));
        if let Some(row) = self.rows.get(&(provider.clone(), model.clone())) {
            return Some(*row);
        }
        let of_provider = self.rows.iter().filter(|((seller, _), _)| *seller == provider);
        let dated = of_provider.filter(|((_, name), _)| is_dated(&model, name));
        dated.max_by_key(|((_, name), _)| name.len()).map(|(_, row)| *row)
    }
}

/// Names as they are compared: resellers write `claude-haiku-4.5` where the vendor writes `claude-haiku-4-5`.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('.', "-")
}

/// Says whether `model` is `name` with a date behind it, or a word that stands for one. Any other ending may be that of
/// a dearer model: `-pro` is no version of what it is appended to.
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
    // `claude-haiku-4` with `-5` behind it is another model; a date has four digits at least.
    if has_word { digits == 0 || 4 <= digits } else { 4 <= digits }
}

/// Returns the prices that came with this slop.
pub fn built_in_prices() -> PriceList {
    let file: File = toml::from_str(include_str!("../../config/prices.toml")).expect("the file is tested");
    let mut rows = BTreeMap::new();
    for model in file.models {
        let row = model.row().expect("the file is tested");
        for provider in &model.providers {
            rows.insert((plain(provider), plain(&model.name)), row);
        }
    }
    PriceList { date: file.date, rows }
}

/// Reads an amount of dollars as people write it, `0.125`, to the billionth; `None` where it is none.
pub fn dollars(text: &str) -> Option<Money> {
    Money::from_dollars(text)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    date: String,
    models: Vec<Listed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    providers: Vec<String>,
    name: String,
    input: String,
    output: String,
    cache_read: Option<String>,
    cache_write: Option<String>,
    long_from: Option<u64>,
    long_input: Option<String>,
    min_cacheable_tokens: Option<u32>,
}

impl Listed {
    fn row(&self) -> Option<Row> {
        let or_input = |text: &Option<String>| dollars(text.as_ref().unwrap_or(&self.input));
        let long_input = match (self.long_from, &self.long_input) {
            (Some(limit), Some(price)) => Some((limit, dollars(price)?)),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return None,
        };
        let price = Price {
            input: dollars(&self.input)?,
            cache_read: or_input(&self.cache_read)?,
            cache_write: or_input(&self.cache_write)?,
            output: dollars(&self.output)?,
            long_input,
        };
        Some(Row { price, min_cacheable_tokens: self.min_cacheable_tokens })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::llm::built_in_providers;

    fn provider(name: &str, is_free: bool) -> Provider {
        let any = built_in_providers().remove(0);
        Provider { name: name.to_owned(), is_free, ..any }
    }

    #[track_caller]
    fn check(seller: &str, model: &str, input: Option<&str>) {
        let found = built_in_prices().find(&provider(seller, false), model);
        assert_eq!(found.map(|(price, _)| price.input), input.and_then(dollars), "{seller}/{model}");
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
    fn another_model_with_the_same_beginning_has_no_price() {
        check("openai", "gpt-6-luna-pro", None);
        check("anthropic", "claude-haiku-5-5-5", None);
        check("anthropic", "claude-haiku-5", None);
        check("elsewhere", "claude-haiku-4-5", None);
        check("anthropic", "", None);
    }

    #[test]
    fn a_free_provider_costs_nothing_unless_somebody_set_a_price() {
        let (mut list, free) = (built_in_prices(), provider("ollama", true));
        assert_eq!(list.find(&free, "anthropic/claude-haiku-4-5"), Some((Price::FREE, None)));
        let price = Price { input: Money::from_nanos(7), ..Price::FREE };
        list.put(&ModelName { provider: "ollama".to_owned(), model: "m:1b".to_owned() }, price);
        assert_eq!(list.find(&free, "m:1b"), Some((price, None)));
    }

    #[test]
    fn a_price_of_ones_own_keeps_what_is_known_of_the_model() {
        let mut list = built_in_prices();
        list.put(
            &ModelName { provider: "anthropic".to_owned(), model: "claude-haiku-4-5-20251001".to_owned() },
            Price::FREE,
        );
        let found = list.find(&provider("anthropic", false), "claude-haiku-4-5-20251001");
        assert_eq!(found, Some((Price::FREE, Some(4_096))));
        check("anthropic", "claude-haiku-4-5", Some("1"));
    }

    #[test]
    fn amounts_are_read_to_the_billionth() {
        assert_eq!(dollars("0.125"), Some(Money::from_nanos(125_000_000)));
        assert_eq!(dollars("20"), Some(Money::from_nanos(20_000_000_000)));
        assert_eq!(dollars("0.000000001"), Some(Money::from_nanos(1)));
        for wrong in ["", ".5", "1.", "-1", "1e3", "1.0000000001", "99999999999999", "1,5", " 1"] {
            assert_eq!(dollars(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_call_costs_what_its_parts_cost() {
        let (price, _) = built_in_prices().find(&provider("anthropic", false), "claude-haiku-5-5").unwrap();
        let tokens =
            Tokens { input: Some(1_000), cache_read: Some(2_000), cache_write: Some(400), output: Some(10) };
        // 1,000 × 100 + 2,000 × 10 + 400 × 125 + 10 × 500 billionths.
        assert_eq!(price.of(&tokens), Some(Money::from_nanos(175_000)));
        assert_eq!(price.halved().of(&tokens), Some(Money::from_nanos(87_500)));
        let long = Tokens { input: Some(100_001), ..tokens };
        assert_eq!(price.of(&long), Some(Money::from_nanos(100_001 * 500 + 2_000 * 50 + 400 * 625 + 5_000)));
    }

    #[test]
    fn what_was_not_counted_has_no_price() {
        let (price, _) = built_in_prices().find(&provider("anthropic", false), "claude-haiku-4-5").unwrap();
        assert_eq!(price.of(&Tokens { input: Some(1), ..Tokens::default() }), None);
        assert_eq!(price.of(&Tokens { output: Some(1), ..Tokens::default() }), None);
        assert_eq!(Price::FREE.of(&Tokens::default()), Some(Money::ZERO));
    }

    prop_compose! {
        fn any_price()(input in 0..1u64 << 40, read in 0..1u64 << 40, write in 0..1u64 << 40, output in 0..1u64 << 40,
            long in proptest::option::of((0..1u64 << 20, 0..1u64 << 40))) -> Price {
            let money = Money::from_nanos;
            Price {
                input: money(input), cache_read: money(read), cache_write: money(write), output: money(output),
                long_input: long.map(|(limit, price)| (limit, money(price))),
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
            let tokens = Tokens {
                input: Some(first), cache_read: Some(second), cache_write: Some(body - first - second),
                output: Some(u64::from(output.min(most))),
            };
            prop_assert!(price.of(&tokens).unwrap() <= price.worst(body, most));
            prop_assert!(price.halved().of(&tokens).unwrap() <= price.halved().worst(body, most));
        }
    }
}
