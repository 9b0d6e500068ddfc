//! What only the user's own file may say: whom the sub-agent can ask and what that costs, `[providers.NAME]` and
//! `[prices."PROVIDER/MODEL"]`. A project that was checked out may come from anyone, and an address, a program or a
//! variable of its own would send what it pleases to where it pleases.

use toml::Spanned;
use toml::de::DeTable;
use toml::de::DeValue;

use super::Error;
use super::agent;
use super::curation::SavedEntry;
use super::provider;
use super::section::SettingsSource;
use super::section::TomlSection;
use crate::llm::PriceRow;
use crate::llm::Provider;
use crate::llm::TokenPrice;
use crate::llm::built_in_providers;
use crate::model::ModelName;
use crate::model::Money;
use crate::model::Persona;
use crate::model::PreferredModel;
use crate::model::SummaryModel;

/// What only the user's own file may say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UserOnlySettings {
    /// The providers: those that slop knows, as the user has changed them, and the user's own.
    pub providers: Vec<Provider>,
    /// The prices that the user has set.
    pub prices: Vec<(ModelName, TokenPrice)>,
    /// The user's personas, whatever the project has by their names.
    pub personas: Vec<SavedEntry<Persona>>,
}

impl UserOnlySettings {
    /// Returns the models that a persona of the user's prefers; `None` where there is no such persona.
    pub fn preferred_models(&self, persona: &str) -> Option<Vec<SummaryModel>> {
        let found = self.personas.iter().find(|known| known.value.name == persona)?;
        Some(found.value.preferred_models.iter().map(to_writer).collect())
    }
}

fn to_writer(model: &PreferredModel) -> SummaryModel {
    let provider = match model.provider.to_ascii_lowercase().as_str() {
        "google" => "gemini".to_owned(),
        _ => model.provider.clone(),
    };
    SummaryModel {
        temperature: model.temperature,
        top_p: model.top_p,
        max_output_tokens: model.max_output_tokens,
        ..SummaryModel::plain(ModelName { provider, model: model.model.clone() })
    }
}

/// The sections of which a project's file may say nothing.
pub(super) const USER_ONLY_SECTIONS: [&str; 2] = ["providers", "prices"];

/// What a user's file says of providers and prices.
#[derive(Debug, Default)]
pub(super) struct UserProviders {
    /// The providers, laid over those that slop knows, and whether their addresses are written.
    pub(super) providers: Vec<(Provider, bool)>,
    /// The prices.
    pub(super) prices: Vec<(ModelName, TokenPrice)>,
}

/// Takes what a user's file says of providers and prices out of its top level.
pub(super) fn extract(top: &mut DeTable<'_>, source: &SettingsSource<'_>) -> Result<UserProviders, Error> {
    let mut written = UserProviders::default();
    if let Some(value) = top.remove("providers") {
        let known = built_in_providers();
        for (name, section) in named_tables(source, "providers", &value)? {
            let below = known.iter().find(|provider| provider.name == name);
            let has_address = section.value("base_url").is_some();
            written.providers.push((provider::read_provider(&name, below, &section)?, has_address));
        }
    }
    if let Some(value) = top.remove("prices") {
        for (name, section) in named_tables(source, "prices", &value)? {
            let allowed = "below a name such as \"provider/model\"";
            let model = agent::parse_model_name(&name);
            let model = model.ok_or_else(|| source.invalid(&section.key, &value, allowed))?;
            written.prices.push((model, read_price(&section)?));
        }
    }
    Ok(written)
}

/// Drops what a project's file says of providers and prices, with a warning for each.
pub(super) fn drop_from_project(top: &mut DeTable<'_>, source: &SettingsSource<'_>) {
    for key in USER_ONLY_SECTIONS {
        let Some((name, value)) = top.remove_entry(key) else { continue };
        let Some(table) = value.get_ref().as_table().filter(|table| !table.is_empty()) else {
            source.warn_user_only(key, name.span().start);
            continue;
        };
        let mut entries: Vec<_> = table.keys().collect();
        entries.sort_by_key(|name| name.span().start);
        for name in entries {
            source.warn_user_only(&super::table::join_key(key, name.get_ref()), name.span().start);
        }
    }
}

/// Lays what is written over what slop knows; the variables of the environment move what no file has moved. Returns those
/// providers too that a variable gives an address that cannot be used.
pub(super) fn resolve(
    written: UserProviders,
    personas: Vec<SavedEntry<Persona>>,
    environment: &[(String, String)],
) -> (UserOnlySettings, Vec<(String, Error)>) {
    let mut providers: Vec<(Provider, bool)> =
        built_in_providers().into_iter().map(|row| (row, false)).collect();
    for (mine, has_address) in written.providers {
        match providers.iter_mut().find(|(known, _)| known.name == mine.name) {
            Some(known) => *known = (mine, has_address),
            None => providers.push((mine, has_address)),
        }
    }
    let mut refused = Vec::new();
    for (provider, has_address) in &mut providers {
        let variable = provider.base_variable.as_ref().filter(|_| !*has_address);
        let set = environment.iter().find(|(name, text)| Some(name) == variable && !text.trim().is_empty());
        if let Some((_, text)) = set {
            let moved = provider::set_base_url(provider, &provider::address_from_variable(text));
            refused.extend(moved.err().map(|error| (provider.name.clone(), error)));
        }
    }
    // One whose address is not usable is not there, rather than elsewhere than the user wants it.
    let is_usable = |provider: &Provider| refused.iter().all(|(name, _)| *name != provider.name);
    let providers = providers.into_iter().map(|(provider, _)| provider).filter(is_usable).collect();
    (UserOnlySettings { providers, prices: written.prices, personas }, refused)
}

fn named_tables<'s>(
    source: &'s SettingsSource<'s>,
    key: &str,
    value: &'s Spanned<DeValue<'s>>,
) -> Result<Vec<(String, TomlSection<'s>)>, Error> {
    let all = TomlSection::new(source, key.to_owned(), value, "a table of tables")?;
    let table = |(name, value): (&Spanned<toml::de::DeString<'_>>, _)| {
        let name = name.get_ref().to_string();
        let section = TomlSection::new(source, all.dotted_key(&name), value, "a table")?;
        Ok((name, section))
    };
    all.entries().into_iter().map(table).collect()
}

const PRICE_FORM: &str = "US dollars for a million tokens, as \"0.25\"";

const PRICE_KEYS: [&str; 9] = [
    "input",
    "output",
    "cache_read",
    "cache_write",
    "long_from",
    "long_input",
    "long_output",
    "long_cache_read",
    "long_cache_write",
];

fn read_price(section: &TomlSection<'_>) -> Result<TokenPrice, Error> {
    section.warn_unknown_keys(&PRICE_KEYS);
    let dollars = |name| section.read(name, PRICE_FORM, parse_money);
    let needed = |name| dollars(name)?.ok_or_else(|| section.missing(name, PRICE_FORM));
    let is_long = PRICE_KEYS.iter().any(|key| key.starts_with("long_") && section.value(key).is_some());
    let long = if is_long {
        Some((section.required_integer("long_from", 1..=u32::MAX)?.into(), needed("long_input")?))
    } else {
        None
    };
    let row = PriceRow {
        input: needed("input")?,
        output: needed("output")?,
        cache_read: dollars("cache_read")?,
        cache_write: dollars("cache_write")?,
        long,
        long_output: dollars("long_output")?,
        long_cache_read: dollars("long_cache_read")?,
        long_cache_write: dollars("long_cache_write")?,
    };
    Ok(row.price())
}

/// Reads an amount digit by digit, for no binary fraction is a tenth.
fn parse_money(value: &DeValue<'_>) -> Option<Money> {
    match value {
        DeValue::String(text) => Money::from_dollars(text),
        DeValue::Float(number) => Money::from_dollars(number.as_str()),
        DeValue::Integer(number) if number.radix() == 10 => Money::from_dollars(number.as_str()),
        DeValue::Integer(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_)
        | DeValue::Table(_) => None,
    }
}
