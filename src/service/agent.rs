//! The sub-agent's configuration: models, keys and prices, and errors about what is missing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::sources::prices;
use crate::agent;
use crate::agent::SpendCaps;
use crate::api::ApiError;
use crate::config::{LoadedConfig, ShareMode};
use crate::engine::summaries::SummaryPolicy;
use crate::llm::{Model, PriceList, Provider, TokenPrice};
use crate::model::suggest_known_name;
use crate::model::{ModelName, SummaryModel, Tier, WriterKey};
use crate::sys::{Disk, RealDisk};

/// Looks up the key that a variable of the environment holds.
pub type ProviderKeyLookup<'k> = &'k dyn Fn(&str) -> Option<SecretString>;

/// The keys of providers, by the provider's name.
pub type ProviderKeys = BTreeMap<String, SecretString>;

/// What one run of the sub-agent overrides in the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentOverrides {
    /// The persona, from the user's own file, whose preferred models are called.
    pub persona: Option<String>,
    /// The tiers to write summaries for; empty for those of the settings.
    pub tiers: Vec<Tier>,
    /// The files, as the command line names them; empty for all.
    pub picks: Vec<String>,
}

/// Returns the sub-agent's options from the settings, or an error if no model can be called. Keys are not read.
pub fn agent_options(loaded: &LoadedConfig, choice: AgentOverrides) -> Result<agent::Options, ApiError> {
    let settings = &loaded.settings.agent;
    let prices = prices(loaded);
    let (mut writers, mut chain) = (Vec::new(), Vec::new());
    // Quirks come before the model is resolved, because they limit its output and are part of the key of its
    // summaries.
    for named in self::writers(loaded, choice.persona.as_deref())? {
        let provider = find_provider(&named.name, loaded)?;
        let writer = with_quirks(named, provider, settings.answer_tokens);
        chain.push(resolve_model(&writer, provider, &prices)?);
        writers.push(writer);
    }
    // Checked once the chain is known: free models may be called wherever the ledger is.
    check_ledger(loaded, &chain)?;
    let tiers = if choice.tiers.is_empty() { settings.tiers.clone() } else { choice.tiers };
    let asked = chain_fingerprint(&chain);
    Ok(agent::Options {
        // In the background not even free models are called while a project moves the ledger: calls are limited by
        // its count too, and nobody is present to agree to the new place.
        is_background: settings.is_background && settings.ledger_moved.is_none(),
        chain,
        policy: SummaryPolicy {
            provider_chain: asked,
            ..summary_policy(loaded, writers, tiers, choice.picks)
        },
        concurrency: settings.concurrency,
        requests_a_minute: settings.requests_per_minute,
        tokens_a_minute: settings.tokens_per_minute,
        timeout: settings.timeout,
        proxy: settings.proxy.clone(),
        caps: caps(loaded),
        writers: writer_keys(loaded),
        fills_outbox: loaded.settings.share.url.is_some()
            && loaded.settings.share.mode == ShareMode::ReadWrite,
    })
}

/// Returns the writers whose summaries in the team's cache are trusted.
pub(super) fn writer_keys(loaded: &LoadedConfig) -> Vec<WriterKey> {
    loaded.settings.share.writers.iter().map(|writer| writer.key).collect()
}

/// Returns a fingerprint of the models and their addresses: if it changes, refused tasks are tried again.
///
/// It is part of the key of stored refusals, so each field is written out with its length before it. `{:?}` would
/// change the keys with the name of a field.
fn chain_fingerprint(chain: &[Model]) -> String {
    let mut text = String::new();
    let mut add = |field: &str| {
        write!(text, "{}:{field}", field.len()).expect("writing to memory does not fail");
    };
    for model in chain {
        // Prices are left out: a request that a model refused does not succeed at another price.
        let Provider { wire, base_url, command, .. } = &*model.provider;
        add(&model.full_name().to_string());
        add(wire.name());
        add(base_url);
        add(&command.len().to_string());
        for part in command {
            add(part);
        }
        for number in [model.temperature, model.top_p] {
            add(&number.map(|number| number.to_string()).unwrap_or_default());
        }
        add(&model.max_output_tokens.map(|tokens| tokens.to_string()).unwrap_or_default());
    }
    text
}

/// Checks that paid calls are counted in the ledger that the user's settings name.
fn check_ledger(loaded: &LoadedConfig, chain: &[Model]) -> Result<(), ApiError> {
    let Some(place) = &loaded.settings.agent.ledger_moved else { return Ok(()) };
    let Some(model) = chain.iter().find(|model| !model.provider.is_free) else { return Ok(()) };
    let (name, folder) = (model.full_name(), &loaded.settings.aggregation.cache_dir);
    // Caps are counted per ledger: each folder that a project names would come with a fresh budget.
    let message = format!("{place} moves the cache, and with it the ledger of what was spent on `{name}`");
    let hint = format!(
        "where that is meant, set aggregation.cache_dir = \"{folder}\" in your own settings file too, or \
         SLOP_AGGREGATION_CACHE_DIR={folder}"
    );
    Err(ApiError::user("ledger_moved", message, hint))
}

/// Returns the policy, from the settings, on which summaries are written.
pub(super) fn summary_policy(
    loaded: &LoadedConfig,
    models: Vec<SummaryModel>,
    tiers: Vec<Tier>,
    picks: Vec<String>,
) -> SummaryPolicy {
    let settings = &loaded.settings.agent;
    SummaryPolicy {
        tiers,
        models,
        provider_chain: String::new(),
        paths: picks,
        exclude: settings.exclude.clone(),
        items: loaded.curation.files.clone(),
        min_age: settings.quiet_period,
        material_bytes: settings.material_bytes,
        answer_tokens: settings.answer_tokens,
        redacts: settings.redacts,
        min_bytes: settings.min_bytes,
        secret_names: loaded.never_sent(),
        retries: false,
    }
}

/// Returns the spending limits of the settings.
pub fn caps(loaded: &LoadedConfig) -> SpendCaps {
    let settings = &loaded.settings.agent;
    SpendCaps { day: settings.day_cap, total: settings.total_cap, calls_a_day: settings.calls_per_day }
}

/// Returns the keys of all configured providers, or an error if a required one is missing.
pub fn agent_keys(chain: &[Model], variable: ProviderKeyLookup<'_>) -> Result<ProviderKeys, ApiError> {
    let mut keys = ProviderKeys::new();
    for model in chain {
        let provider = &model.provider;
        // Several models of one provider share its key, whose file need not be read again.
        if keys.contains_key(&provider.name) {
            continue;
        }
        match provider_key(provider, variable)? {
            Some(key) => {
                keys.insert(provider.name.clone(), key);
            }
            None if provider.needs_key => return Err(no_key(provider)),
            None => {}
        }
    }
    Ok(keys)
}

/// Returns a provider's key, from the first variable that is set, else from its file.
pub(super) fn provider_key(
    provider: &Provider,
    variable: ProviderKeyLookup<'_>,
) -> Result<Option<SecretString>, ApiError> {
    // A variable precedes the file, so that one run can use another key without an edit of the settings.
    let from_variable = provider.key_variables.iter().find_map(|name| Some((name, variable(name)?)));
    match (from_variable, &provider.key_file) {
        (Some((name, key)), _) => parse_variable_key(name, &key).map(Some),
        (None, Some(file)) => read_key_file(file).map(Some),
        (None, None) => Ok(None),
    }
}

/// The most bytes of a key file: a key is short, and anything longer is another file.
const LONGEST_KEY: usize = 8 << 10;

/// Checks that the value of a variable can be sent as a key: a request with any other value fails every time.
fn parse_variable_key(name: &str, key: &SecretString) -> Result<SecretString, ApiError> {
    parse_key(key.expose_secret()).map(SecretString::from).ok_or_else(|| {
        let message = format!("key in {name} is not one line of visible ASCII");
        ApiError::user("no_key", message, format!("put the key alone into {name}"))
    })
}

fn parse_key(text: &str) -> Option<String> {
    // The key becomes part of a header, where a line break would begin a header of its own.
    let text = text.trim();
    let is_key = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_key.then(|| text.to_owned())
}

pub(super) fn read_key_file(file: &Path) -> Result<SecretString, ApiError> {
    // No message repeats the content: a mistyped key is still nearly the key.
    let fault = |reason: &str| {
        let message = format!("key file {}: {reason}", file.display());
        ApiError::user("no_key", message, "put the key alone into the file that the settings name")
    };
    let bytes = RealDisk.read(file).map_err(|error| fault(&error.to_string()))?;
    let bytes = bytes.ok_or_else(|| fault("no such file"))?;
    let text = std::str::from_utf8(&bytes).ok().filter(|text| text.len() <= LONGEST_KEY);
    match text.and_then(parse_key) {
        Some(key) => Ok(SecretString::from(key)),
        None => Err(fault("not one line of visible ASCII")),
    }
}

fn no_key(provider: &Provider) -> ApiError {
    let name = &provider.name;
    let variables = provider.key_variables.join(" or ");
    let hint = if variables.is_empty() {
        format!(
            "name a variable or a file in your own settings file: [providers.{name}] key_variables or key_file"
        )
    } else {
        format!("set {variables}, or `key_file` under [providers.{name}] in your own settings file")
    };
    ApiError::user("no_key", format!("no key for `{name}`"), hint)
}

/// Returns the models to call, by name: those of the persona if one is given, else those of the settings.
fn writers(loaded: &LoadedConfig, persona: Option<&str>) -> Result<Vec<SummaryModel>, ApiError> {
    let settings = &loaded.settings.agent;
    // A persona that is named for this run takes precedence over `agent.models`; one from the settings only replaces a
    // missing list.
    if persona.is_none() && !settings.models.is_empty() {
        return Ok(settings.models.iter().cloned().map(SummaryModel::plain).collect());
    }
    let Some(name) = persona.or(settings.persona.as_deref()) else {
        let message = "no language model is configured";
        let hint = "name one in your own settings file, as [agent] models = [\"anthropic/claude-haiku-5-5\"]; \
                    `slop agent providers` says who can be asked";
        return Err(ApiError::user("no_model", message, hint));
    };
    // Only the user's own personas count: a project's must not decide where the user's files are sent.
    let Some(preferred) = loaded.user_only.preferred_models(name) else {
        let known = loaded.user_only.personas.iter().map(|persona| persona.value.name.as_str());
        let message =
            format!("no persona named `{name}` in your own settings file{}", suggest_known_name(name, known));
        return Err(ApiError::user(
            "no_such_persona",
            message,
            "a project's own persona cannot choose models",
        ));
    };
    if preferred.is_empty() {
        let message = format!("persona `{name}` has no preferred models");
        let hint = "name some: preferred_models = [{ provider = \"…\", model = \"…\" }]";
        return Err(ApiError::user("no_model", message, hint));
    }
    Ok(preferred)
}

fn find_provider<'l>(name: &ModelName, loaded: &'l LoadedConfig) -> Result<&'l Provider, ApiError> {
    let providers = &loaded.user_only.providers;
    let found = providers.iter().find(|provider| provider.name == name.provider);
    found.ok_or_else(|| unknown_provider(name, providers))
}

/// Applies the provider's quirks for the model. What the user has set takes precedence.
fn with_quirks(writer: SummaryModel, provider: &Provider, answer_tokens: u32) -> SummaryModel {
    let Some(quirk) = provider.quirk(&writer.name.model) else { return writer };
    // Reasoning tokens are added to the length of an answer, so room for less than the answer would be none.
    let most = quirk.output_tokens.map(|most| most.max(answer_tokens));
    // Empty text rather than `{}`: the fields are part of a summary's key, and a quirk without any must not change
    // it.
    let fields = if quirk.fields.is_empty() { String::new() } else { json!(quirk.fields).to_string() };
    SummaryModel { max_output_tokens: writer.max_output_tokens.or(most), fields, ..writer }
}

fn resolve_model(writer: &SummaryModel, provider: &Provider, prices: &PriceList) -> Result<Model, ApiError> {
    let found = prices.find(provider, &writer.name.model);
    let (price, min_cacheable_tokens) = match found {
        Some(found) => found,
        // Without a price no limit could be kept, so a model of unknown price is refused unless its provider is free.
        None if provider.is_free => (TokenPrice::FREE, None),
        None => return Err(no_price(&writer.name, prices)),
    };
    Ok(Model {
        provider: Arc::new(provider.clone()),
        name: writer.name.model.clone(),
        temperature: writer.temperature,
        top_p: writer.top_p,
        max_output_tokens: writer.max_output_tokens,
        price: Some(price),
        min_cacheable_tokens,
    })
}

fn unknown_provider(name: &ModelName, providers: &[Provider]) -> ApiError {
    let known = providers.iter().map(|provider| provider.name.as_str());
    let near = suggest_known_name(&name.provider, known);
    let message = format!("`{name}`: no provider named `{}`{near}", name.provider);
    let hint = format!(
        "`slop agent providers` says which providers there are; add another to your own settings file: [providers.{}] \
         wire = \"chat\", base_url = \"https://…\" and key_variables = [\"…\"], with a price or free = true",
        name.provider
    );
    ApiError::user("no_such_provider", message, hint)
}

fn no_price(name: &ModelName, prices: &PriceList) -> ApiError {
    let message = format!("price of `{name}` is unknown (prices are of {})", prices.date());
    let hint = format!(
        "add it to your own settings file: [prices.\"{name}\"] input = \"…\" and output = \"…\", in US dollars for a \
         million tokens; or `free = true` for its provider"
    );
    ApiError::user("no_price", message, hint)
}
