//! What only the user's own file may set: the models that the sub-agent can call and their prices, `[providers.NAME]`
//! and `[prices."PROVIDER/MODEL"]`.
//!
//! A project that was checked out may come from anyone, and with an address, a program or a variable of its own it
//! could send anything anywhere.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use reqwest::Url;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::curation::SavedEntry;
use super::error::{Error, SettingOrigin, join_alternatives};
use super::section::{SettingsSource, TomlSection, join_key, string_list};
use crate::llm::{
    PriceRow, Provider, ProviderRow, ProviderRowError, QuirkRow, TokenPrice, WireFormat, built_in_providers,
};
use crate::model::{ModelName, Money, Persona, PreferredModel, SummaryModel};

/// What only the user's own file may set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UserOnlySettings {
    /// The providers: the built-in ones with the user's changes, and the user's own.
    pub providers: Vec<Provider>,
    /// The prices that the user has set.
    pub prices: Vec<(ModelName, TokenPrice)>,
    /// The user's personas, not overridden by the project's.
    pub personas: Vec<SavedEntry<Persona>>,
}

impl UserOnlySettings {
    /// Returns the preferred models of a persona of the user; `None` if there is no such persona.
    pub fn preferred_models(&self, persona: &str) -> Option<Vec<SummaryModel>> {
        let found = self.personas.iter().find(|known| known.value.name == persona)?;
        Some(found.value.preferred_models.iter().map(to_writer).collect())
    }
}

fn to_writer(model: &PreferredModel) -> SummaryModel {
    // Users name this provider by its vendor.
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

/// The sections that are not allowed in a project's file.
pub(super) const USER_ONLY_SECTIONS: [&str; 2] = ["providers", "prices"];

/// The providers and prices in a user's file.
#[derive(Debug, Default)]
pub(super) struct UserProviders {
    /// The providers, merged with the built-in ones, and whether the file sets their addresses.
    pub(super) providers: Vec<(Provider, bool)>,
    pub(super) prices: Vec<(ModelName, TokenPrice)>,
}

/// Removes and returns the providers and prices from the top level of a user's file.
pub(super) fn extract(top: &mut DeTable<'_>, source: &SettingsSource<'_>) -> Result<UserProviders, Error> {
    let mut written = UserProviders::default();
    if let Some(value) = top.remove("providers") {
        let known = built_in_providers();
        for (name, section) in named_tables(source, "providers", &value)? {
            let below = known.iter().find(|provider| provider.name == name);
            // Recorded, because an address in the user's file takes precedence over the variable that other programs
            // use as well.
            let has_address = section.value("base_url").is_some();
            written.providers.push((read_provider(&name, below, &section)?, has_address));
        }
    }
    if let Some(value) = top.remove("prices") {
        for (name, section) in named_tables(source, "prices", &value)? {
            let allowed = "below a name such as \"provider/model\"";
            let model = parse_model_name(&name);
            let model = model.ok_or_else(|| source.invalid(&section.key, &value, allowed))?;
            written.prices.push((model, read_price(&section)?));
        }
    }
    Ok(written)
}

/// Removes providers and prices from a project's file, with a warning for each.
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
            source.warn_user_only(&join_key(key, name.get_ref()), name.span().start);
        }
    }
}

/// Overlays the built-in providers with the user's. Environment variables set the addresses that no file sets;
/// providers for which such an address cannot be used are returned with the error.
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
            let moved = set_base_url(provider, &address_from_variable(text));
            refused.extend(moved.err().map(|error| (provider.name.clone(), error)));
        }
    }
    // A provider with an unusable address is removed, so that nothing is sent to an unintended address.
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
    "input", "output", "cache_read", "cache_write", "long_from", "long_input", "long_output",
    "long_cache_read", "long_cache_write",
];

fn read_price(section: &TomlSection<'_>) -> Result<TokenPrice, Error> {
    section.warn_unknown_keys(&PRICE_KEYS);
    let dollars = |name| section.read(name, PRICE_FORM, parse_money);
    // A price without one of its parts would count that part as free.
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

/// Parses an amount digit by digit, because binary fractions cannot represent a tenth.
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

/// Parses `provider/model`, split at the first slash, because names of models may contain slashes.
pub(super) fn parse_model_name(text: &str) -> Option<ModelName> {
    let (provider, model) = text.split_once('/')?;
    let is_name =
        |name: &str| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control());
    let is_good = is_name(provider) && is_name(model);
    is_good.then(|| ModelName { provider: provider.to_owned(), model: model.to_owned() })
}

const ADDRESS_FORM: &str = "an address that begins with https://, or with http:// on this machine";

const HEADERS_FORM: &str = "a table of headers such as { \"x-title\" = \"slop\" }";
const COMMAND_FORM: &str = "a list of a program and its arguments";
const QUIRKS_FORM: &str =
    "a list of tables such as { names = [\"m-\"], fields = { think = false }, output_tokens = 4000 }";

/// Reads a provider, merged with the one `below` it, if any.
pub(super) fn read_provider(
    name: &str,
    below: Option<&Provider>,
    section: &TomlSection<'_>,
) -> Result<Provider, Error> {
    section.warn_unknown_keys(&ProviderRow::KEYS);
    let mut row = read_row(section)?;
    if let (Some(below), Some(base_url)) = (below, &row.base_url)
        && is_local(&below.base_url)
        && !is_local(base_url)
    {
        // A provider that is free on this machine may not be free elsewhere.
        row.free.get_or_insert(false);
    }
    let provider = row.merge_over(name, below).map_err(|error| row_error(section, error))?;
    if provider.wire == WireFormat::Command && provider.command.is_empty() {
        return Err(section.missing("command", COMMAND_FORM));
    }
    Ok(provider)
}

fn read_row(section: &TomlSection<'_>) -> Result<ProviderRow, Error> {
    let wires = WireFormat::ALL.map(|wire| (wire.name(), wire.name()));
    let switch = |name| section.read(name, "true or false", DeValue::as_bool);
    Ok(ProviderRow {
        wire: section.choice("wire", &wires)?.map(str::to_owned),
        base_url: base_url(section)?,
        base_variable: section
            .read("base_variable", VARIABLE_FORM, |value| value.as_str().and_then(parse_variable))?,
        key_variables: key_variables(section)?,
        key_file: key_file(section)?,
        needs_key: switch("needs_key")?,
        headers: headers(section)?,
        command: section.read("command", COMMAND_FORM, command)?,
        free: switch("free")?,
        marks_cache: switch("marks_cache")?,
        completion_tokens: switch("completion_tokens")?,
        batches: switch("batches")?,
        context_tokens: section.integer("context_tokens", 1..=10_000_000)?,
        quirks: section.read("quirks", QUIRKS_FORM, quirks)?,
    })
}

fn base_url(section: &TomlSection<'_>) -> Result<Option<String>, Error> {
    let is_personal = |value: &Spanned<DeValue<'_>>| {
        value.get_ref().as_str().is_some_and(|text| text.contains(['@', '?', '#']))
    };
    if section.value("base_url").is_some_and(is_personal) {
        // An address with a password is not shown.
        return Err(section.invalid_hidden("base_url", ADDRESS_FORM));
    }
    section.read("base_url", ADDRESS_FORM, |value| value.as_str().and_then(parse_address))
}

/// Returns the error for an invalid provider, with its location in the file.
fn row_error(section: &TomlSection<'_>, error: ProviderRowError) -> Error {
    match error {
        ProviderRowError::NoWire | ProviderRowError::UnknownWire(_) => {
            section.missing("wire", &join_alternatives(WireFormat::ALL.iter().map(|wire| wire.name())))
        }
        ProviderRowError::NoAddress => section.missing("base_url", ADDRESS_FORM),
        ProviderRowError::BadAddress => section.invalid("base_url", ADDRESS_FORM),
        ProviderRowError::BadHeader(name) => {
            header_error(section, |headers| headers.invalid(&name, "a line of ASCII"))
        }
        ProviderRowError::SecretHeader(name) => {
            let allowed = "a header that contains no key: name the key's variable in key_variables";
            header_error(section, |headers| headers.invalid_hidden(&name, allowed))
        }
        ProviderRowError::OwnField(name) => {
            let allowed = format!("quirks without the field {name}, which slop sets itself");
            section.invalid("quirks", &allowed)
        }
    }
}

fn header_error(section: &TomlSection<'_>, error: impl FnOnce(&TomlSection<'_>) -> Error) -> Error {
    match section.subsection("headers", HEADERS_FORM) {
        Ok(Some(headers)) => error(&headers),
        Ok(None) => section.missing("headers", HEADERS_FORM),
        Err(error) => error,
    }
}

/// Sets the address of a provider.
pub(super) fn set_base_url(provider: &mut Provider, base_url: &str) -> Result<(), Error> {
    let Some(base_url) = parse_address(base_url) else {
        let variable = provider.base_variable.clone().unwrap_or_default();
        // Not shown, because a malformed address may contain a password.
        return Err(Error::BadValue {
            origin: SettingOrigin::Environment(variable),
            key: format!("providers.{}.base_url", provider.name),
            found: "(hidden)".to_owned(),
            allowed: ADDRESS_FORM.to_owned(),
        });
    };
    // A provider that is free on this machine may not be free elsewhere.
    if is_local(&provider.base_url) && !is_local(&base_url) {
        provider.is_free = false;
    }
    provider.base_url = base_url;
    Ok(())
}

/// Returns the address in a variable: `OLLAMA_HOST` has no scheme, often no port, and may be the address that a server
/// listens on.
pub(super) fn address_from_variable(text: &str) -> String {
    let text = text.trim();
    if text.contains("://") {
        return text.to_owned();
    }
    let with_port = |text: &str| match Url::parse(&format!("http://{text}")) {
        // `Url` drops the default port of a scheme, so `:80` has to be found in the text.
        Ok(url) if url.port().is_none() && !text.ends_with(":80") => format!("http://{text}:11434"),
        Ok(_) | Err(_) => format!("http://{text}"),
    };
    // A server listens on 0.0.0.0, which no client can portably connect to.
    with_port(&text.replacen("0.0.0.0", "127.0.0.1", 1))
}

/// Returns an address if it is allowed to send something to it.
fn parse_address(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    let is_allowed = url.scheme() == "https" || (url.scheme() == "http" && is_local(text));
    // Paths are appended to the address, so it must not have a query or a fragment.
    (is_plain && is_allowed && url.query().is_none()).then(|| text.trim_end_matches('/').to_owned())
}

fn is_local(address: &str) -> bool {
    let Ok(url) = Url::parse(address) else { return false };
    let Some(host) = url.host_str() else { return false };
    let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    // Names other than `localhost` are not looked up, because they may refer to a different machine at any time.
    host == "localhost" || number.is_ok_and(|number| number.is_loopback())
}

const VARIABLE_FORM: &str = "the name of an environment variable";
const VARIABLES_FORM: &str = "a list of names of environment variables, not a key itself";

fn parse_variable(name: &str) -> Option<String> {
    const LONGEST: usize = 64;
    // Uppercase only, so that most keys that are written here by mistake are not taken for names.
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let begins_well = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    let is_good = begins_well && name.len() <= LONGEST && name.bytes().all(is_letter);
    is_good.then(|| name.to_owned())
}

fn key_variables(section: &TomlSection<'_>) -> Result<Option<Vec<String>>, Error> {
    let Some(value) = section.value("key_variables") else { return Ok(None) };
    let names = string_list(value.get_ref())
        .and_then(|names| names.iter().map(|name| parse_variable(name)).collect());
    // The value may be the key itself.
    names.map(Some).ok_or_else(|| section.invalid_hidden("key_variables", VARIABLES_FORM))
}

fn key_file(section: &TomlSection<'_>) -> Result<Option<PathBuf>, Error> {
    const FILE: &str = "a path, absolute or relative to the folder of this file";
    let path = |text: &str| (!text.is_empty() && !text.contains('\0')).then(|| PathBuf::from(text));
    let file = section.read("key_file", FILE, |value| path(value.as_str()?))?;
    let origin = section.source.origin(section.offset);
    let folder = origin.file().and_then(Path::parent).unwrap_or(Path::new(""));
    // `join` leaves an absolute path unchanged.
    Ok(file.map(|file| folder.join(file)))
}

fn command(value: &DeValue<'_>) -> Option<Vec<String>> {
    let words = string_list(value)?;
    let is_good = words.first().is_some_and(|program| !program.is_empty());
    (is_good && !words.iter().any(|word| word.contains('\0'))).then_some(words)
}

fn headers(section: &TomlSection<'_>) -> Result<Option<BTreeMap<String, String>>, Error> {
    let Some(headers) = section.subsection("headers", HEADERS_FORM)? else { return Ok(None) };
    let mut read = BTreeMap::new();
    for (name, _) in headers.entries() {
        let name: &str = name.get_ref();
        let value = headers.value(name).and_then(|value| value.get_ref().as_str());
        // Not shown: a value in the wrong place may be a key.
        let value = value.ok_or_else(|| headers.invalid_hidden(name, "a line of ASCII"))?;
        read.insert(name.to_owned(), value.to_owned());
    }
    Ok(Some(read))
}

fn quirks(value: &DeValue<'_>) -> Option<Vec<QuirkRow>> {
    let row = |value: &Spanned<DeValue<'_>>| {
        let row = QuirkRow::deserialize(ValueDeserializer::from(value.clone())).ok()?;
        row.output_tokens.is_none_or(|tokens| (1..=10_000_000).contains(&tokens)).then_some(row)
    };
    value.as_array()?.iter().map(row).collect()
}
