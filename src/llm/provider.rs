//! Providers of language models, as rows of data: the built-in ones, and what a user configures over them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::model::named_enum;
use serde::Deserialize;
use serde_json::{Map, Value};

named_enum! {
    /// The format of a provider's requests and responses.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum WireFormat {
        /// Anthropic's Messages API.
        Anthropic = "anthropic",
        /// OpenAI's Chat Completions API and compatible ones.
        Chat = "chat",
        /// OpenAI's Responses API.
        Responses = "responses",
        /// Google's generateContent.
        Gemini = "gemini",
        /// Ollama's own chat API.
        Ollama = "ollama",
        /// A program that reads the prompt and writes the answer.
        Command = "command",
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each is a key of the provider's row")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    pub name: String,
    pub wire: WireFormat,
    /// The base URL, to which the path of the wire format is appended; empty for a command.
    pub base_url: String,
    /// Name of the environment variable that may hold another base URL.
    pub base_variable: Option<String>,
    /// Names of environment variables that may hold the key; the first that is set counts.
    pub key_variables: Vec<String>,
    /// A file that holds the key if no variable does.
    pub key_file: Option<PathBuf>,
    pub needs_key: bool,
    /// Additional headers, none of them secret.
    pub headers: Vec<(String, String)>,
    /// The program and its arguments; empty except for a command.
    pub command: Vec<String>,
    pub is_free: bool,
    /// Whether the end of the instructions may be marked for caching, if they are long enough.
    pub marks_cache: bool,
    /// Whether it knows `max_completion_tokens`; otherwise it is sent `max_tokens`.
    pub wants_completion_tokens: bool,
    /// Whether it supports batches at half the price.
    pub has_batches: bool,
    /// The context length to request, if it must be requested (Ollama).
    pub context_tokens: Option<u32>,
    /// What some of its models require in addition.
    pub quirks: Vec<ModelQuirk>,
}

impl Provider {
    /// Returns what this model requires in addition: the quirk with the longest matching prefix.
    pub fn quirk(&self, model: &str) -> Option<&ModelQuirk> {
        let known = |quirk: &ModelQuirk| {
            quirk.names.iter().filter(|name| model.starts_with(*name)).map(String::len).max()
        };
        let quirks = self.quirks.iter().filter_map(|quirk| Some((known(quirk)?, quirk)));
        quirks.max_by_key(|(length, _)| *length).map(|(_, quirk)| quirk)
    }
}

/// What some models require in addition. Most quirks limit reasoning, which would use up the tokens of the answer; a
/// summary needs little of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelQuirk {
    /// Prefixes of the models' names; an empty one matches all.
    pub names: Vec<String>,
    /// Fields of the body, as they are sent; for Gemini, of its `generationConfig`.
    pub fields: Map<String, Value>,
    /// The most tokens of an answer with its reasoning, if the models always reason.
    pub output_tokens: Option<u32>,
}

/// Headers that hold keys, which must not be in settings.
const SECRET_HEADERS: [&str; 6] =
    ["authorization", "proxy-authorization", "cookie", "x-api-key", "x-goog-api-key", "api-key"];

/// Fields of a body, separated by spaces, that are written from the request and must not be replaced.
const OWN_FIELDS: &str = "contents generationConfig input instructions maxOutputTokens max_completion_tokens \
    max_output_tokens max_tokens messages model options prompt_cache_key prompt_cache_options shift \
    store stream system systemInstruction temperature tools topP top_p truncate truncation";

/// A provider's table; what is `None` is inherited from the table below it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderRow {
    pub wire: Option<String>,
    /// The base URL, to which the path of the wire format is appended.
    pub base_url: Option<String>,
    /// Name of the environment variable that may hold another base URL.
    pub base_variable: Option<String>,
    /// Names of environment variables that may hold the key.
    pub key_variables: Option<Vec<String>>,
    /// A file that holds the key.
    pub key_file: Option<PathBuf>,
    pub needs_key: Option<bool>,
    pub headers: Option<BTreeMap<String, String>>,
    pub command: Option<Vec<String>>,
    pub free: Option<bool>,
    /// Whether the end of the instructions may be marked for caching.
    pub marks_cache: Option<bool>,
    /// Whether it knows `max_completion_tokens`.
    pub completion_tokens: Option<bool>,
    /// Whether it supports batches at half the price.
    pub batches: Option<bool>,
    pub context_tokens: Option<u32>,
    /// What some of its models require in addition.
    pub quirks: Option<Vec<QuirkRow>>,
}

/// What some models require in addition.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuirkRow {
    pub names: Vec<String>,
    pub fields: Option<Map<String, Value>>,
    /// The most tokens of an answer with its reasoning.
    pub output_tokens: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderRowError {
    #[error("`wire` is missing")]
    NoWire,
    #[error("`wire` must be anthropic, chat, responses, gemini, ollama or command, not {0}")]
    UnknownWire(String),
    /// The base URL is missing.
    #[error("`base_url` is missing")]
    NoAddress,
    /// No path can be appended to the base URL.
    #[error("`base_url` is not an http or https URL without user, query and fragment")]
    BadAddress,
    /// A header's name or value is invalid.
    #[error("`headers` has an invalid name or value: {0:?}")]
    BadHeader(String),
    /// A header would hold a key.
    #[error("`headers` must not contain {0}: keys are read from `key_variables` or `key_file`")]
    SecretHeader(String),
    /// A field of the body would be written twice.
    #[error("`quirks` must not contain the field {0}: it is set by the request")]
    OwnField(String),
}

impl ProviderRow {
    pub const KEYS: [&'static str; 14] = [
        "wire", "base_url", "base_variable", "key_variables", "key_file", "needs_key", "headers", "command",
        "free", "marks_cache", "completion_tokens", "batches", "context_tokens", "quirks",
    ];

    /// Merges the table over a provider, or creates a new one from it.
    pub fn merge_over(self, name: &str, below: Option<&Provider>) -> Result<Provider, ProviderRowError> {
        let wire = match self.wire {
            Some(wire) => WireFormat::from_name(&wire).ok_or(ProviderRowError::UnknownWire(wire))?,
            None => below.map(|below| below.wire).ok_or(ProviderRowError::NoWire)?,
        };
        let base_url =
            self.base_url.or_else(|| below.map(|below| below.base_url.clone())).unwrap_or_default();
        check_address(wire, &base_url)?;
        // Lists and tables replace the inherited ones as a whole: merging them would leave no way to remove an entry.
        let headers = match self.headers {
            Some(headers) => headers.into_iter().map(checked_header).collect::<Result<_, _>>()?,
            None => below.map(|below| below.headers.clone()).unwrap_or_default(),
        };
        let quirks = match self.quirks {
            Some(quirks) => quirks.into_iter().map(checked_quirk).collect::<Result<_, _>>()?,
            None => below.map(|below| below.quirks.clone()).unwrap_or_default(),
        };
        // Naming a key implies that it is needed.
        let names_key = self.key_variables.is_some() || self.key_file.is_some();
        let key_variables =
            self.key_variables.or_else(|| below.map(|below| below.key_variables.clone())).unwrap_or_default();
        let key_file = self.key_file.or_else(|| below.and_then(|below| below.key_file.clone()));
        let is = |configured: Option<bool>, inherited: fn(&Provider) -> bool| {
            configured.or_else(|| below.map(inherited))
        };
        Ok(Provider {
            name: name.to_owned(),
            wire,
            base_url,
            base_variable: self.base_variable.or_else(|| below.and_then(|below| below.base_variable.clone())),
            needs_key: self.needs_key.unwrap_or(names_key || below.is_some_and(|below| below.needs_key)),
            key_variables,
            key_file,
            headers,
            command: self.command.or_else(|| below.map(|below| below.command.clone())).unwrap_or_default(),
            is_free: is(self.free, |below| below.is_free).unwrap_or(false),
            marks_cache: is(self.marks_cache, |below| below.marks_cache).unwrap_or(false),
            wants_completion_tokens: is(self.completion_tokens, |below| below.wants_completion_tokens)
                .unwrap_or(false),
            has_batches: is(self.batches, |below| below.has_batches).unwrap_or(false),
            context_tokens: self.context_tokens.or_else(|| below.and_then(|below| below.context_tokens)),
            quirks,
        })
    }
}

pub fn built_in_providers() -> Vec<Provider> {
    let rows: BTreeMap<String, ProviderRow> = toml::from_str(include_str!("../../config/providers.toml"))
        .expect("the built-in providers are valid TOML");
    let provider = |(name, row): (String, ProviderRow)| {
        row.merge_over(&name, None).expect("a built-in provider is complete")
    };
    rows.into_iter().map(provider).collect()
}

fn check_address(wire: WireFormat, base_url: &str) -> Result<(), ProviderRowError> {
    if wire == WireFormat::Command {
        return Ok(());
    }
    if base_url.is_empty() {
        return Err(ProviderRowError::NoAddress);
    }
    let host = base_url.strip_prefix("https://").or_else(|| base_url.strip_prefix("http://"));
    // What precedes `@` only looks like the host, and some parsers treat a backslash as a slash: the key must not be
    // sent to a host other than the visible one.
    let is_plain = |host: &str| {
        !host.is_empty()
            && !host.starts_with('/')
            && host.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#@\\".contains(&byte))
    };
    if host.is_some_and(is_plain) { Ok(()) } else { Err(ProviderRowError::BadAddress) }
}

fn checked_header((name, value): (String, String)) -> Result<(String, String), ProviderRowError> {
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    // No control characters: a line break would begin another header.
    let is_value = value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if !is_name || !is_value {
        return Err(ProviderRowError::BadHeader(name));
    }
    if SECRET_HEADERS.iter().any(|secret| name.eq_ignore_ascii_case(secret)) {
        return Err(ProviderRowError::SecretHeader(name));
    }
    Ok((name, value))
}

fn checked_quirk(row: QuirkRow) -> Result<ModelQuirk, ProviderRowError> {
    let fields = row.fields.unwrap_or_default();
    match fields.keys().find(|name| OWN_FIELDS.split(' ').any(|own| own == name.as_str())) {
        Some(name) => Err(ProviderRowError::OwnField(name.clone())),
        None => Ok(ModelQuirk { names: row.names, fields, output_tokens: row.output_tokens }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn row(text: &str) -> ProviderRow {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn every_built_in_provider_is_complete_and_uses_tls_or_localhost() {
        let providers = built_in_providers();
        assert!(providers.len() >= 12);
        for provider in providers {
            let is_local = provider.base_url.starts_with("http://127.0.0.1:");
            let is_command = provider.wire == WireFormat::Command;
            assert!(is_command || is_local || provider.base_url.starts_with("https://"), "{}", provider.name);
            assert!(is_local || is_command || provider.needs_key, "{}", provider.name);
            assert!(is_local || is_command || !provider.is_free, "{}", provider.name);
        }
    }

    #[test]
    fn a_table_is_merged_over_the_provider_of_its_name_key_by_key() {
        let below = built_in_providers().into_iter().find(|provider| provider.name == "openai").unwrap();
        let laid = row("base_url = 'https://gateway.example/v1'\nkey_variables = ['GATEWAY_KEY']")
            .merge_over("openai", Some(&below));
        let laid = laid.unwrap();
        assert_eq!(laid.base_url, "https://gateway.example/v1");
        assert_eq!(laid.key_variables, ["GATEWAY_KEY"]);
        assert_eq!((laid.wire, laid.has_batches, laid.needs_key), (WireFormat::Responses, true, true));
    }

    #[test]
    fn a_new_provider_with_a_key_variable_needs_the_key_and_is_not_free() {
        let made = row("wire = 'chat'\nbase_url = 'https://models.example/v1'\nkey_variables = ['K']")
            .merge_over("mine", None);
        let made = made.unwrap();
        assert!(made.needs_key);
        assert!(!made.is_free && !made.marks_cache && !made.has_batches);
    }

    #[test]
    fn an_invalid_provider_table_is_rejected_with_the_reason() {
        let wrong = |text: &str| row(text).merge_over("mine", None).unwrap_err();
        assert_eq!(wrong("base_url = 'https://a.example'"), ProviderRowError::NoWire);
        assert_eq!(wrong("wire = 'soap'"), ProviderRowError::UnknownWire("soap".to_owned()));
        assert_eq!(wrong("wire = 'chat'"), ProviderRowError::NoAddress);
        for address in [
            "ftp://a.example",
            "https://",
            "https:///v1",
            "https://u:p@a.example",
            "https://a.example?q=1",
            "https://a b",
        ] {
            assert_eq!(
                wrong(&format!("wire = 'chat'\nbase_url = '{address}'")),
                ProviderRowError::BadAddress,
                "{address}"
            );
        }
        let headers = "wire = 'chat'\nbase_url = 'https://a.example'\nheaders";
        assert_eq!(
            wrong(&format!("{headers}.Authorization = 'x'")),
            ProviderRowError::SecretHeader("Authorization".to_owned())
        );
        assert_eq!(
            wrong(&format!("{headers}.X-Team = \"a\\r\\nb\"")),
            ProviderRowError::BadHeader("X-Team".to_owned())
        );
    }

    #[test]
    fn a_quirk_must_not_replace_request_fields() {
        let quirk = "quirks = [{names = [''], fields = {messages = []}}]";
        let wrong =
            row(&format!("wire = 'chat'\nbase_url = 'https://a.example'\n{quirk}")).merge_over("mine", None);
        assert_eq!(wrong.unwrap_err(), ProviderRowError::OwnField("messages".to_owned()));
    }

    #[test]
    fn the_quirk_with_the_longest_matching_prefix_applies() {
        let quirks = "quirks = [{names = ['']}, {names = ['x', 'm-1'], output_tokens = 1}, {names = ['m'], output_tokens = 2}]";
        let provider = row(&format!("wire = 'command'\n{quirks}")).merge_over("mine", None).unwrap();
        let tokens = |model: &str| provider.quirk(model).unwrap().output_tokens;
        assert_eq!([tokens("m-1-large"), tokens("m-2"), tokens("other")], [Some(1), Some(2), None]);
        let laid = row("quirks = []").merge_over("mine", Some(&provider)).unwrap();
        assert_eq!(laid.quirk("m-1"), None);
    }

    #[test]
    fn an_unknown_key_is_rejected() {
        assert!(toml::from_str::<ProviderRow>("api_key = 'x'").is_err());
        for key in ProviderRow::KEYS {
            let message = toml::from_str::<ProviderRow>(&format!("{key} = [1]")).unwrap_err().to_string();
            assert!(!message.contains("unknown field"), "{message}");
        }
    }
}
