//! The settings of the sub-agent, `[agent]`, and what of them a project may say.

use std::path::Path;
use std::time::Duration;

use super::Error;
use super::merged::MergedSettings;
use crate::aggregate::ExclusionPatterns;
use crate::model::ModelName;
use crate::model::Money;
use crate::model::Tier;

/// How the sub-agent works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// Who may be asked, the first one first.
    pub models: Vec<ModelName>,
    /// The persona whose preferred models are asked where `models` is empty.
    pub persona: Option<String>,
    /// Whether the daemon asks of its own accord.
    pub is_background: bool,
    /// The tiers that summaries are written for.
    pub tiers: Vec<Tier>,
    /// The most calls at once.
    pub concurrency: u32,
    /// The most calls a minute.
    pub requests_per_minute: u32,
    /// The most tokens a minute.
    pub tokens_per_minute: u32,
    /// How long one call may take.
    pub timeout: Duration,
    /// How long a file must not have been written.
    pub quiet_period: Duration,
    /// The most bytes of a file that one call sends.
    pub material_bytes: usize,
    /// The most tokens of an answer.
    pub answer_tokens: u32,
    /// Smaller files are not asked about.
    pub min_bytes: u64,
    /// Whether secrets are taken out of what is sent; else a file with secrets is not sent.
    pub redacts: bool,
    /// Patterns of files that are not asked about.
    pub exclude: Vec<String>,
    /// Whether a changed file shows what was written of it earlier.
    pub shows_outdated: bool,
    /// The most that a day may cost.
    pub day_cap: Money,
    /// The most that all may cost.
    pub total_cap: Money,
    /// The most calls a day.
    pub calls_per_day: u64,
    /// Where a project's file moves the cache, and with it the ledger that the caps are counted in.
    pub ledger_moved: Option<String>,
    /// The proxy for https.
    pub proxy: Option<String>,
}

/// What is done with a secret, by its word.
const SECRET_POLICIES: [(&str, bool); 2] = [("withhold", false), ("redact", true)];

/// A typing error in a budget should not cost a house.
const MAX_BUDGET: Money = Money::from_nanos(1_000_000_000_000_000);

/// Checks the settings of the sub-agent.
pub(super) fn settings(merged: &MergedSettings) -> Result<AgentSettings, Error> {
    let seconds = |key: &str, range| Ok::<_, Error>(Duration::from_secs(merged.number(key, range)?.into()));
    let material_bytes = merged.number("agent.material_bytes", 1_000..=1_000_000)?;
    Ok(AgentSettings {
        models: models(merged)?,
        persona: Some(merged.text("agent.persona").to_owned()).filter(|name| !name.is_empty()),
        is_background: merged.boolean("agent.background"),
        tiers: tiers(merged)?,
        concurrency: merged.number("agent.concurrency", 1..=64)?,
        requests_per_minute: merged.number("agent.requests_per_minute", 1..=100_000)?,
        tokens_per_minute: merged.number("agent.tokens_per_minute", 1_000..=1_000_000_000)?,
        timeout: seconds("agent.timeout_seconds", 5..=3_600)?,
        quiet_period: seconds("agent.still_seconds", 0..=86_400)?,
        material_bytes: usize::try_from(material_bytes).expect("a number of 32 bits is a size"),
        answer_tokens: merged.number("agent.answer_tokens", 50..=100_000)?,
        min_bytes: merged.number("agent.least_bytes", 0..=1_000_000)?.into(),
        redacts: merged.choice("agent.secrets", &SECRET_POLICIES)?,
        exclude: exclude(merged)?,
        shows_outdated: merged.boolean("agent.earlier"),
        day_cap: dollars(merged, "agent.budget_day_usd")?,
        total_cap: dollars(merged, "agent.budget_total_usd")?,
        calls_per_day: merged.number("agent.calls_per_day", 0..=10_000_000)?.into(),
        ledger_moved: ledger_moved(merged),
        proxy: proxy(merged)?,
    })
}

/// Reads `provider/model`: the first slash splits, for names of models may have some of their own.
pub(super) fn parse_model_name(text: &str) -> Option<ModelName> {
    let (provider, model) = text.split_once('/')?;
    let is_name =
        |name: &str| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control());
    let is_good = is_name(provider) && is_name(model);
    is_good.then(|| ModelName { provider: provider.to_owned(), model: model.to_owned() })
}

fn models(merged: &MergedSettings) -> Result<Vec<ModelName>, Error> {
    let key = "agent.models";
    let names = merged.strings(key)?;
    let names = names.iter().map(|name| parse_model_name(name)).collect::<Option<_>>();
    names.ok_or_else(|| merged.invalid(key, "a list such as [\"provider/model\"]".to_owned()))
}

/// Looks whether the patterns can be read: what they are to keep here must not be sent because of a slip.
fn exclude(merged: &MergedSettings) -> Result<Vec<String>, Error> {
    let key = "agent.exclude";
    let patterns = merged.strings(key)?;
    match ExclusionPatterns::new(&patterns, Path::new("/")) {
        Ok(_) => Ok(patterns),
        Err(_) => Err(merged.invalid(key, "a list of patterns such as [\"private/\", \"*.sql\"]".to_owned())),
    }
}

fn tiers(merged: &MergedSettings) -> Result<Vec<Tier>, Error> {
    let key = "agent.tiers";
    let tier = |word: &String| match word.as_str() {
        "1" => Some(Tier::Orchestrator),
        "2" => Some(Tier::TechLead),
        _ => None,
    };
    let tiers = merged.strings(key)?.iter().map(tier).collect::<Option<Vec<Tier>>>();
    let tiers = tiers.filter(|tiers| !tiers.is_empty());
    let mut tiers = tiers.ok_or_else(|| merged.invalid(key, "a list of \"1\", \"2\" or both".to_owned()))?;
    tiers.sort_unstable();
    tiers.dedup();
    Ok(tiers)
}

fn dollars(merged: &MergedSettings, key: &str) -> Result<Money, Error> {
    let money = Money::from_dollars(merged.text(key)).filter(|money| *money <= MAX_BUDGET);
    money.ok_or_else(|| merged.invalid(key, "US dollars as a decimal from \"0\" to \"1000000\"".to_owned()))
}

/// Says where the project's file puts the ledger elsewhere than the user has it: with each new place the caps would begin
/// anew.
fn ledger_moved(merged: &MergedSettings) -> Option<String> {
    let key = "aggregation.cache_dir";
    let users = merged.user_value(key)?.as_str()?;
    let is_moved = Path::new(users) != Path::new(merged.text(key));
    is_moved.then(|| merged.setting(key).origin.to_string())
}

fn proxy(merged: &MergedSettings) -> Result<Option<String>, Error> {
    let key = "agent.proxy";
    match merged.text(key) {
        "" => Ok(None),
        text => {
            let address = reqwest::Url::parse(text).ok();
            let is_proxy = address.is_some_and(|url| {
                let is_secret = !url.username().is_empty() || url.password().is_some();
                ["http", "https"].contains(&url.scheme()) && url.has_host() && !is_secret
            });
            let allowed =
                || merged.invalid(key, "the address of a proxy, as \"http://host:port\"".to_owned());
            if is_proxy { Ok(Some(text.to_owned())) } else { Err(allowed()) }
        }
    }
}
