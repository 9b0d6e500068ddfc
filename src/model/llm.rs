//! Requests to language models, their token usage, and what it costs.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use super::file::ContentHash;
use super::named_enum::named_enum;

/// The prompt for a model: two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPrompt {
    /// The instructions. They are the same for all files of a kind, so that a provider can cache them.
    pub instructions: String,
    /// The material for the instructions, from one file only. It contains no path.
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

/// A model that may write a summary, with everything that is sent to it besides the prompt. `None` fields are not sent.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryModel {
    pub name: ModelName,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    /// The maximum tokens of its answer, if the prompt does not set it.
    pub max_output_tokens: Option<u32>,
    /// Additional request fields, as text; may be empty.
    pub fields: String,
}

impl SummaryModel {
    /// Returns a model to which only the prompt is sent.
    pub const fn plain(name: ModelName) -> Self {
        Self { name, temperature: None, top_p: None, max_output_tokens: None, fields: String::new() }
    }
}

/// The tokens of a call, in four disjoint parts. A number that the provider did not report is `None`, not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Input that was neither read from nor written into the provider's cache.
    pub input: Option<u64>,
    /// Input that was read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Input that was written into the provider's cache.
    pub cache_write: Option<u64>,
    /// Output, including reasoning.
    pub output: Option<u64>,
}

/// An amount of money, in billionths of a US dollar, because the cheapest token costs only a few of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(u64);

impl Money {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// Returns an amount that is given in billionths of a dollar.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns how many billionths of a dollar it is.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Parses a decimal number of dollars such as `0.25`, exactly; `None` if it is invalid or has more than nine digits
    /// after the point.
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

    /// Returns the exact decimal number of dollars, in the format of [`Money::from_dollars`].
    pub fn to_decimal(self) -> String {
        let (whole, part) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        let digits = format!("{part:09}");
        let digits = digits.trim_end_matches('0');
        if digits.is_empty() { whole.to_string() } else { format!("{whole}.{digits}") }
    }

    /// Returns the difference, or zero if `other` is larger.
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
    /// Shows dollars: cents from one dollar on, four digits below, and never zero for an amount above zero.
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
    /// The subject of a summary.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum SummaryScope {
        /// A file's content.
        File = "file",
        /// The files in a folder and its subfolders.
        Folder = "folder",
        /// All files of a project.
        Project = "project",
    }
}

/// The key of a summary by a model: a hash of everything that its text depends on, as listed in
/// `summarize/prompt/strategy.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SummaryKey(pub ContentHash);

/// The public key of a person who writes summaries for a team.
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

/// The prefixes of a prompt that a provider is asked to cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptCaching {
    /// The maximum number of places up to which the prompt is cached, from 0 to [`PromptCaching::MAX_MARKS`].
    pub marks: u8,
    /// How long the provider is asked to cache them.
    pub lifetime: CacheLifetime,
    /// The minimum tokens that the provider caches for the model; 0 if unknown.
    pub min_tokens: u32,
}

impl PromptCaching {
    /// One less than providers allow, because the sender of a request has a prompt of its own to cache.
    pub const MAX_MARKS: u8 = 3;
}

/// The fields of a request body other than the document. `None` fields are not sent.
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
    /// The maximum tokens of an answer.
    pub max_output_tokens: u32,
    /// The prefixes that the provider is asked to cache.
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
