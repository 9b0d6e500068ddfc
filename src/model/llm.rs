//! What a language model is asked, what it answered, and what that cost.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use super::file::ContentHash;
use super::named_enum::named_enum;

/// What a model is asked: two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPrompt {
    /// What it is to do. The same for all files of a kind, so that a provider can keep it.
    pub instructions: String,
    /// What it is to do that with: of one file alone. It names no path.
    pub material: String,
    pub answer_tokens: u32,
}

/// A model of a provider, as it is written in settings and reports: `anthropic/claude-haiku-4-5`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelName {
    /// Name of the provider, as in the settings.
    pub provider: String,
    /// Name of the model, as the provider spells it.
    pub model: String,
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// A model that may write a summary, with all that is sent to it besides the prompt. What is `None` is not sent.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryModel {
    pub name: ModelName,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    /// The most tokens of its answer, where that is not for the prompt to say.
    pub max_output_tokens: Option<u32>,
    /// What else its provider is sent for it, as text; empty if that is nothing.
    pub fields: String,
}

impl SummaryModel {
    /// Returns a model to which nothing but the prompt is sent.
    pub const fn plain(name: ModelName) -> Self {
        Self { name, temperature: None, top_p: None, max_output_tokens: None, fields: String::new() }
    }
}

/// The tokens of a call, in four parts that do not overlap. What a provider did not report is `None`, which is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Input that was neither read from nor written into the provider's cache.
    pub input: Option<u64>,
    /// Input that was read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Input that was written into the provider's cache.
    pub cache_write: Option<u64>,
    /// Output, with what the model thought.
    pub output: Option<u64>,
}

/// An amount of money, in billionths of a US dollar: the cheapest token costs some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(u64);

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Returns an amount that is given in billionths of a dollar.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns how many billionths of a dollar it is.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Reads a decimal of dollars such as `0.25`, exactly; `None` if it is none, or has more than nine digits behind
    /// its point.
    pub fn from_dollars(text: &str) -> Option<Self> {
        const NANO_DIGITS: usize = 9;
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(part) || NANO_DIGITS < part.len() {
            return None;
        }
        let nanos = format!("{part:0<NANO_DIGITS$}").parse::<u64>().ok()?;
        whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanos).map(Self)
    }

    /// Returns it as an exact decimal of dollars, as [`Money::from_dollars`] reads it.
    pub fn to_decimal(self) -> String {
        let (whole, part) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        let digits = format!("{part:09}");
        let digits = digits.trim_end_matches('0');
        if digits.is_empty() { whole.to_string() } else { format!("{whole}.{digits}") }
    }

    /// Returns what is left of it, or nothing, when `other` is taken away.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        // Saturates (at 18 billion dollars): a sum that wrapped around would be below every limit.
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Money {
    /// Shows dollars: cents from a dollar on, four digits below, and never nothing for something.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DOLLAR: u64 = 1_000_000_000;
        let (unit, digits): (u64, usize) = if self.0 < DOLLAR { (100_000, 4) } else { (10_000_000, 2) };
        if self.0 != 0 && self.0 < 100_000 {
            return f.write_str("<$0.0001");
        }
        let parts = self.0.saturating_add(unit / 2) / unit;
        let per_dollar = DOLLAR / unit;
        write!(f, "${}.{:0digits$}", parts / per_dollar, parts % per_dollar)
    }
}

named_enum! {
    /// What a summary is about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum SummaryScope {
        /// A content.
        File = "file",
        /// The files of a folder and of those below it.
        Folder = "folder",
        /// All files of a project.
        Project = "project",
    }
}

/// The key of one summary that a model wrote: a hash of all that its words depend on, as listed in `summarize/prompt/strategy.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SummaryKey(pub ContentHash);

/// The public key of somebody who writes summaries for a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriterKey(pub [u8; 32]);

named_enum! {
    /// How long a provider keeps the cached prefix of a prompt after it was last used.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum CacheLifetime {
        /// Anthropic's default.
        #[default]
        FiveMinutes = "5m",
        /// Writing to the cache costs more: twice the price of input at Anthropic.
        OneHour = "1h",
    }
}

/// Which prefixes of a prompt a provider is asked to cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptCaching {
    /// The most places up to which the prompt is cached, from 0 to [`PromptCaching::MAX_MARKS`].
    pub marks: u8,
    /// How long the provider is asked to keep them.
    pub lifetime: CacheLifetime,
    /// The fewest tokens that the provider caches for the model; 0 if that is not known.
    pub min_tokens: u32,
}

impl PromptCaching {
    /// One less than providers allow: whoever sends the request has a prompt of their own to cache.
    pub const MAX_MARKS: u8 = 3;
}

/// The fields of a request body besides the document. What is `None` is not sent.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyOptions {
    /// Name of the model, as the provider spells it.
    pub model: String,
    /// The system prompt.
    pub system: Option<String>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// The most tokens of an answer.
    pub max_output_tokens: u32,
    /// Which prefixes the provider is asked to cache.
    pub caching: PromptCaching,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(nanos: u64, shown: &str) {
        assert_eq!(Money::from_nanos(nanos).to_string(), shown);
    }

    #[test]
    fn money_is_read_digit_by_digit() {
        let cases = [
            ("0", Some(0)),
            ("0.1", Some(100_000_000)),
            ("1.00", Some(1_000_000_000)),
            ("0.000000001", Some(1)),
            ("18446744073.709551615", Some(u64::MAX)),
            ("18446744073.709551616", None),
            ("0.0000000001", None),
            ("", None),
            (".5", None),
            ("5.", None),
            ("-1", None),
            ("+1", None),
            ("1e3", None),
            ("1,5", None),
            ("1.5.", None),
            ("$1", None),
        ];
        for (text, nanos) in cases {
            let money = Money::from_dollars(text);
            assert_eq!(money.map(Money::nanos), nanos, "{text}");
            assert_eq!(money.and_then(|money| Money::from_dollars(&money.to_decimal())), money, "{text}");
        }
    }

    #[test]
    fn money_is_shown_in_dollars() {
        check(0, "$0.0000");
        check(1, "<$0.0001");
        check(100_000, "$0.0001");
        check(12_345_678, "$0.0123");
        check(1_000_000_000, "$1.00");
        check(12_345_678_901, "$12.35");
    }
}
