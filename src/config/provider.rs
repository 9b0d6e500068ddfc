//! A provider of language models as a user writes it, laid over the one that slop knows by that name.

use std::net::IpAddr;
use std::path::Path;
use std::path::PathBuf;

use reqwest::Url;

use super::Error;
use super::section::Section;
use super::section::texts;
use crate::llm::Provider;
use crate::llm::Wire;

/// The keys of a provider.
const KEYS: [&str; 12] = [
    "wire",
    "base_url",
    "key_variables",
    "key_file",
    "needs_key",
    "headers",
    "command",
    "free",
    "marks_cache",
    "completion_tokens",
    "batches",
    "context_tokens",
];

const ADDRESS: &str = "an address that begins with https://, or with http:// on this machine";

/// Headers that carry a key: those are read from variables or a file, for settings are shown, shared and checked in.
const KEY_HEADERS: [&str; 6] =
    ["authorization", "proxy-authorization", "cookie", "x-api-key", "x-goog-api-key", "api-key"];

/// Reads a provider; what is not written stays as it is `below`.
pub(super) fn read(name: &str, below: Option<&Provider>, section: &Section<'_>) -> Result<Provider, Error> {
    section.warn_of_others(&KEYS);
    let wires = Wire::ALL.map(|wire| (wire.name(), wire));
    let wire = section.word("wire", &wires)?.or(below.map(|provider| provider.wire));
    let wire = wire
        .ok_or_else(|| section.missing("wire", &super::error::either(wires.iter().map(|(name, _)| *name))))?;
    let mut provider = below.cloned().unwrap_or_else(|| plain(name, wire));
    provider.wire = wire;
    if let Some(base_url) = section.read("base_url", ADDRESS, |value| value.as_str().and_then(address))? {
        move_to(&mut provider, &base_url);
    }
    keys(&mut provider, section)?;
    if let Some(command) = section.read("command", COMMAND, command)? {
        provider.command = command;
    }
    if let Some(headers) = section.section("headers", HEADERS)? {
        provider.headers = self::headers(&headers)?;
    }
    provider.is_free = section.switch("free", provider.is_free)?;
    provider.marks_cache = section.switch("marks_cache", provider.marks_cache)?;
    provider.wants_completion_tokens =
        section.switch("completion_tokens", provider.wants_completion_tokens)?;
    provider.has_batches = section.switch("batches", provider.has_batches)?;
    provider.context_tokens = section.whole("context_tokens", 1..=10_000_000)?.or(provider.context_tokens);
    check(&provider, section)?;
    Ok(provider)
}

/// Gives a provider another address. What is free on this machine need not be so elsewhere.
pub(super) fn move_to(provider: &mut Provider, base_url: &str) {
    if is_here(&provider.base_url) && !is_here(base_url) {
        provider.is_free = false;
    }
    base_url.trim_end_matches('/').clone_into(&mut provider.base_url);
}

/// Returns the address that a variable means: `OLLAMA_HOST` has no scheme, often no port, and may be what a server
/// listens on.
pub(super) fn address_of(text: &str) -> String {
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
fn address(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    let is_allowed = url.scheme() == "https" || (url.scheme() == "http" && is_here(text));
    (is_plain && is_allowed && url.query().is_none()).then(|| text.to_owned())
}

/// Says whether an address is of this machine.
fn is_here(address: &str) -> bool {
    let Ok(url) = Url::parse(address) else { return false };
    let Some(host) = url.host_str() else { return false };
    let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || number.is_ok_and(|number| number.is_loopback())
}

fn plain(name: &str, wire: Wire) -> Provider {
    Provider {
        name: name.to_owned(),
        wire,
        base_url: String::new(),
        base_variable: None,
        key_variables: Vec::new(),
        key_file: None,
        needs_key: false,
        headers: Vec::new(),
        command: Vec::new(),
        is_free: false,
        marks_cache: false,
        wants_completion_tokens: false,
        has_batches: false,
        context_tokens: None,
        quirks: Vec::new(),
    }
}

/// Reads where the key is. Whoever names a place for it means that it is needed.
fn keys(provider: &mut Provider, section: &Section<'_>) -> Result<(), Error> {
    const FILE: &str = "a path, from the root or from the folder of this file";
    let names_one = section.value("key_variables").is_some() || section.value("key_file").is_some();
    if section.value("key_variables").is_some() {
        let allowed = "a list of names of environment variables, not a key itself";
        let variables = section.read("key_variables", allowed, |value| {
            texts(value).filter(|names| names.iter().all(|name| is_variable(name)))
        })?;
        provider.key_variables = variables.unwrap_or_default();
    }
    let path = |text: &str| (!text.is_empty() && !text.contains('\0')).then(|| PathBuf::from(text));
    if let Some(file) = section.read("key_file", FILE, |value| path(value.as_str()?))? {
        let origin = section.source.origin(section.offset);
        let folder = origin.file().and_then(Path::parent).unwrap_or(Path::new(""));
        provider.key_file = Some(folder.join(file));
    }
    provider.needs_key = section.switch("needs_key", provider.needs_key || names_one)?;
    Ok(())
}

fn is_variable(name: &str) -> bool {
    const LONGEST: usize = 64;
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let begins_well = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    begins_well && name.len() <= LONGEST && name.bytes().all(is_letter)
}

const COMMAND: &str = "a list of a program and its arguments";

fn command(value: &toml::de::DeValue<'_>) -> Option<Vec<String>> {
    let words = texts(value)?;
    let is_good = words.first().is_some_and(|program| !program.is_empty());
    (is_good && !words.iter().any(|word| word.contains('\0'))).then_some(words)
}

const HEADERS: &str = "a table of headers such as { \"x-title\" = \"slop\" }";

fn headers(headers: &Section<'_>) -> Result<Vec<(String, String)>, Error> {
    let is_token = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let header = |(name, _): (&toml::Spanned<toml::de::DeString<'_>>, _)| {
        let name: &str = name.get_ref();
        if KEY_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            let allowed = "a header that holds no key: name the key's variable in key_variables";
            return Err(headers.hidden(name, allowed));
        }
        let value = headers.read(name, "a line of ASCII", |value| {
            let text = value.as_str()?;
            (is_token(name) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte)))
                .then(|| text.to_owned())
        })?;
        Ok((name.to_owned(), value.unwrap_or_default()))
    };
    headers.entries().into_iter().map(header).collect()
}

fn check(provider: &Provider, section: &Section<'_>) -> Result<(), Error> {
    let is_command = provider.wire == Wire::Command;
    if is_command && provider.command.is_empty() {
        return Err(section.missing("command", COMMAND));
    }
    if !is_command && provider.base_url.is_empty() {
        return Err(section.missing("base_url", ADDRESS));
    }
    Ok(())
}
