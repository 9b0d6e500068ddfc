//! A provider of language models as a user writes it, laid over the one that slop knows by that name.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::path::PathBuf;

use reqwest::Url;
use serde::Deserialize;
use toml::Spanned;
use toml::de::DeValue;
use toml::de::ValueDeserializer;

use super::Error;
use super::SettingOrigin;
use super::error::join_alternatives;
use super::section::TomlSection;
use super::section::string_list;
use crate::llm::Provider;
use crate::llm::ProviderRow;
use crate::llm::ProviderRowError;
use crate::llm::QuirkRow;
use crate::llm::WireFormat;

const ADDRESS_FORM: &str = "an address that begins with https://, or with http:// on this machine";

const HEADERS_FORM: &str = "a table of headers such as { \"x-title\" = \"slop\" }";
const COMMAND_FORM: &str = "a list of a program and its arguments";
const QUIRKS_FORM: &str =
    "a list of tables such as { names = [\"m-\"], fields = { think = false }, output_tokens = 4000 }";

/// Reads a provider; what is not written stays as it is `below`.
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
        // What is free on this machine need not be so elsewhere.
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
        // One with a password in it is not shown.
        return Err(section.invalid_hidden("base_url", ADDRESS_FORM));
    }
    section.read("base_url", ADDRESS_FORM, |value| value.as_str().and_then(parse_address))
}

/// Says where in the file it is that makes no provider.
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
            let allowed = "a header that holds no key: name the key's variable in key_variables";
            header_error(section, |headers| headers.invalid_hidden(&name, allowed))
        }
        ProviderRowError::OwnField(name) => {
            let allowed = format!("quirks without the field {name}, which is written from what is asked");
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

/// Gives a provider another address. What is free on this machine need not be so elsewhere.
pub(super) fn set_base_url(provider: &mut Provider, base_url: &str) -> Result<(), Error> {
    let Some(base_url) = parse_address(base_url) else {
        let variable = provider.base_variable.clone().unwrap_or_default();
        // Not shown: an address that is written wrongly may well hold a password.
        return Err(Error::BadValue {
            origin: SettingOrigin::Environment(variable),
            key: format!("providers.{}.base_url", provider.name),
            found: "(hidden)".to_owned(),
            allowed: ADDRESS_FORM.to_owned(),
        });
    };
    if is_local(&provider.base_url) && !is_local(&base_url) {
        provider.is_free = false;
    }
    provider.base_url = base_url;
    Ok(())
}

/// Returns the address that a variable means: `OLLAMA_HOST` has no scheme, often no port, and may be what a server
/// listens on.
pub(super) fn address_from_variable(text: &str) -> String {
    let text = text.trim();
    if text.contains("://") {
        return text.to_owned();
    }
    let with_port = |text: &str| match Url::parse(&format!("http://{text}")) {
        Ok(url) if url.port().is_none() && !text.ends_with(":80") => format!("http://{text}:11434"),
        Ok(_) | Err(_) => format!("http://{text}"),
    };
    with_port(&text.replacen("0.0.0.0", "127.0.0.1", 1))
}

/// Returns an address that something may be sent to.
fn parse_address(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    let is_allowed = url.scheme() == "https" || (url.scheme() == "http" && is_local(text));
    (is_plain && is_allowed && url.query().is_none()).then(|| text.trim_end_matches('/').to_owned())
}

/// Says whether an address is of this machine.
fn is_local(address: &str) -> bool {
    let Ok(url) = Url::parse(address) else { return false };
    let Some(host) = url.host_str() else { return false };
    let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || number.is_ok_and(|number| number.is_loopback())
}

const VARIABLE_FORM: &str = "the name of an environment variable";
const VARIABLES_FORM: &str = "a list of names of environment variables, not a key itself";

fn parse_variable(name: &str) -> Option<String> {
    const LONGEST: usize = 64;
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let begins_well = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    let is_good = begins_well && name.len() <= LONGEST && name.bytes().all(is_letter);
    is_good.then(|| name.to_owned())
}

fn key_variables(section: &TomlSection<'_>) -> Result<Option<Vec<String>>, Error> {
    let Some(value) = section.value("key_variables") else { return Ok(None) };
    let names = string_list(value.get_ref())
        .and_then(|names| names.iter().map(|name| parse_variable(name)).collect());
    // What stands there in their place may be the key.
    names.map(Some).ok_or_else(|| section.invalid_hidden("key_variables", VARIABLES_FORM))
}

fn key_file(section: &TomlSection<'_>) -> Result<Option<PathBuf>, Error> {
    const FILE: &str = "a path, from the root or from the folder of this file";
    let path = |text: &str| (!text.is_empty() && !text.contains('\0')).then(|| PathBuf::from(text));
    let file = section.read("key_file", FILE, |value| path(value.as_str()?))?;
    let origin = section.source.origin(section.offset);
    let folder = origin.file().and_then(Path::parent).unwrap_or(Path::new(""));
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
        // Not shown: what stands in the wrong place may be a key.
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
