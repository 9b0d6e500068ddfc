//! Loads the settings from all layers, and converts them to the options of other rooms.

use std::path::{Path, PathBuf};

use super::curation::Curation;
use super::error::{Error, SettingOrigin};
use super::layers::{FileLayer, FileOwner, MergedSetting, MergedSettings, SettingAssignment};
use super::links::{Links, PrivateFolders};
use super::links_file::read_links;
use super::schema::{SettingsSchema, ValueKind};
use super::settings::{Settings, SummarySource};
use super::user_only::{UserOnlySettings, UserProviders, resolve};
use super::{convert, hidden, layers};
use crate::aggregate::TierOptions;
use crate::engine::summaries::SummaryLookupOptions;
use crate::model::{ContentHash, DocumentDefaults, ModelName, PersonaViews, Tier, slashed_bytes};
use crate::{discover, engine};

/// The content of the layers above the defaults; the caller reads files and environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigInputs {
    /// The path of the user's own file, for messages, and its bytes.
    pub user_file: Option<(PathBuf, Vec<u8>)>,
    /// The path of the project's `slop.toml`, for messages, and its bytes.
    pub project_file: Option<(PathBuf, Vec<u8>)>,
    /// The target of the project's file, if it is a link out of the project.
    pub project_link: Option<PathBuf>,
    /// The path of the user's file of links, for messages, and its bytes.
    pub links_file: Option<(PathBuf, Vec<u8>)>,
    /// Folders that are never linked.
    pub private: PrivateFolders,
    /// Environment variables; those that do not begin with `SLOP_` are ignored.
    pub environment: Vec<(String, String)>,
    /// Dotted keys with values in TOML, strings with or without quotes; the last of several takes effect.
    pub flags: Vec<(String, String)>,
}

/// The settings, and their origins.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedConfig {
    pub settings: Settings,
    pub curation: Curation,
    /// What only the user's own file may set.
    pub user_only: UserOnlySettings,
    pub links: Links,
    /// Every setting with its origin, in the order of [`DEFAULT_TOML`](super::schema::DEFAULT_TOML).
    pub values: Vec<SettingValue>,
    pub warnings: Vec<String>,
    /// The warnings about the project's file.
    project_warnings: Vec<String>,
    /// The revision of the project's file, which edits refer to.
    pub revision: String,
    /// Non-fatal problems in the files: each curated entry that was left out, with its location.
    pub problems: Vec<String>,
    fingerprint: ContentHash,
}

impl LoadedConfig {
    /// Returns a hash of all sources of the settings, by which two processes check that theirs are equal.
    pub fn fingerprint(&self) -> String {
        self.fingerprint.to_string()
    }
}

/// One setting after all layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingValue {
    pub key: String,
    /// The value in TOML.
    pub value: String,
    pub origin: SettingOrigin,
    /// One sentence that describes it.
    pub help: String,
}

impl LoadedConfig {
    /// Returns notes for the reader of an answer: problems in the files, and linked folders that have no effect in the
    /// project in the folder `root`.
    pub fn notes(&self, root: &Path) -> Vec<String> {
        self.settings_problems().into_iter().chain(self.links.notes(root)).collect()
    }

    /// Returns the problems in the files: entries that are left out, and keys of the project's file without effect.
    pub fn settings_problems(&self) -> Vec<String> {
        self.problems.iter().chain(&self.project_warnings).cloned().collect()
    }

    /// Returns the warnings that are not about the project's file.
    pub fn user_warnings(&self) -> impl Iterator<Item = &String> {
        self.warnings.iter().filter(|warning| !self.project_warnings.contains(warning))
    }

    /// Returns whether the user has set a value: in the user's own file, the environment or by a flag.
    pub fn is_set_by_user(&self, key: &str) -> bool {
        let value = self.values.iter().find(|value| value.key == key);
        value.is_some_and(|value| match value.origin {
            SettingOrigin::UserFile { .. } | SettingOrigin::Environment(_) | SettingOrigin::Flag => true,
            SettingOrigin::BuiltIn | SettingOrigin::ProjectFile { .. } => false,
        })
    }

    /// Returns whether a setting has its default because no layer sets it.
    pub fn is_built_in(&self, key: &str) -> bool {
        let value = self.values.iter().find(|value| value.key == key);
        value.is_none_or(|value| value.origin == SettingOrigin::BuiltIn)
    }
}

/// Merges the layers, from the defaults up to the flags, and checks the result.
pub fn load(inputs: &ConfigInputs) -> Result<LoadedConfig, Error> {
    with_large_stack(|| load_on_this_thread(inputs))
}

/// Runs work that parses a settings file, or drops a parsed one, on a stack that is large enough for a hostile file.
pub(super) fn with_large_stack<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("settings".to_owned()).stack_size(STACK_BYTES);
        let working = thread.spawn_scoped(scope, work)?;
        working.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The parser allows 80 levels of brackets with keys of 80 parts in each, and drops such a tree recursively: in a debug
/// build, a hostile file needs about 10 MiB of stack, and threads have 2 by default. Unused stack costs nothing.
const STACK_BYTES: usize = 64 << 20;

fn load_on_this_thread(inputs: &ConfigInputs) -> Result<LoadedConfig, Error> {
    let schema = SettingsSchema::built_in();
    let mut layers = Vec::new();
    let (mut curation, mut warnings, mut left_out) = (Curation::default(), Vec::new(), Vec::new());
    let mut project_warnings = Vec::new();
    let mut written = UserProviders::default();
    let mut links = Links { private: inputs.private.clone(), ..Links::default() };
    if let Some((path, bytes)) = &inputs.links_file {
        links.known = read_links(path, bytes)?;
    }
    if let Some((path, bytes)) = &inputs.user_file {
        let layer = user_layer(path, bytes, &schema)?;
        warnings.extend(layer.warnings);
        left_out.extend(layer.left_out);
        curation.overlay(layer.curation);
        written = layer.user_only;
        layers.push(layer.settings);
    }
    // Copied before the project's layer is added, because a project's personas must not choose models.
    let personas = curation.personas.clone();
    let (from_environment, odd_variables) = layers::from_environment(&inputs.environment, &schema)?;
    let from_flags = layers::from_flags(&inputs.flags, &schema)?;
    if let (Some((path, _)), Some(target)) = (&inputs.project_file, &inputs.project_link) {
        // Decided before the project's layer is read.
        let own = layers.iter().flatten().chain(&from_environment).chain(&from_flags);
        if !is_trusted(path, own) {
            return Err(Error::OutsideLink { path: path.clone(), target: target.clone() });
        }
    }
    if let Some((path, bytes)) = &inputs.project_file {
        let origin = |line| SettingOrigin::ProjectFile { path: path.clone(), line };
        let layer = layers::from_file(bytes, FileOwner::Project, &origin, &schema)?;
        project_warnings.clone_from(&layer.warnings);
        warnings.extend(layer.warnings);
        left_out.extend(layer.left_out);
        curation.overlay(layer.curation);
        links.proposed = layer.resources;
        layers.push(layer.settings);
    }
    // Above the project's file, because the user must be able to override what was checked out.
    warnings.extend(odd_variables);
    layers.push(from_environment);
    layers.push(from_flags);
    let (merged, settings) = merge(&schema, layers)?;
    warnings.extend(convert::check_combinations(&merged, &settings)?);
    // Resolved from the user's own settings; `curation` has the project's personas by now.
    let (trusted, refused) = resolve(written, personas, &inputs.environment);
    let values = list_values(&schema, &merged);
    let loaded = LoadedConfig {
        values,
        settings,
        curation,
        user_only: trusted,
        links,
        warnings,
        project_warnings,
        revision: revision_of(inputs.project_file.as_ref().map_or(b"", |(_, bytes)| bytes)),
        problems: describe_left_out(&left_out),
        fingerprint: fingerprint(inputs),
    };
    check_provider_addresses(loaded, refused)
}

/// Returns the revision of a settings file: a hash of its text, which a missing file shares with an empty one.
pub fn revision_of(bytes: &[u8]) -> String {
    ContentHash::digest(bytes).to_string()
}

/// The maximum number of omitted entries that are listed one by one.
const MAX_LISTED_ENTRIES: usize = 20;

fn describe_left_out(errors: &[Error]) -> Vec<String> {
    let listed = errors.iter().take(MAX_LISTED_ENTRIES);
    let mut problems: Vec<String> = listed.map(|error| format!("{error}; the entry is left out")).collect();
    if MAX_LISTED_ENTRIES < errors.len() {
        let more = errors.len() - MAX_LISTED_ENTRIES;
        problems.push(format!("omitted entries that are not listed here: {more}"));
    }
    problems
}

/// Reads the user's file, without `[[files]]`.
fn user_layer(path: &Path, bytes: &[u8], schema: &SettingsSchema) -> Result<FileLayer, Error> {
    let origin = |line| SettingOrigin::UserFile { path: path.to_owned(), line };
    let mut layer = layers::from_file(bytes, FileOwner::User, &origin, schema)?;
    // Entries for the files of a project would apply to no project here, or to all, and neither is intended.
    let curation = &mut layer.curation;
    let elsewhere = "it belongs in a project's slop.toml";
    let ignored = [
        ("files", !std::mem::take(&mut curation.files).is_empty(), elsewhere),
        ("screenshots", !std::mem::take(&mut curation.screenshots).is_empty(), elsewhere),
        ("document", std::mem::take(&mut curation.document) != DocumentDefaults::default(), elsewhere),
        ("resources", !layer.resources.is_empty(), "use `slop link add`"),
    ];
    for (key, is_set, hint) in ignored {
        if is_set {
            let warning = format!("{}: `{key}` has no effect here, {hint}", path.display());
            layer.warnings.insert(0, warning);
        }
    }
    Ok(layer)
}

/// Returns whether the user's own layers, lowest first, trust the project with this settings file.
fn is_trusted<'l>(file: &Path, own: impl Iterator<Item = &'l SettingAssignment>) -> bool {
    let trusted = own.filter(|setting| setting.key == convert::TRUSTED_PROJECTS).last();
    let folders = trusted.and_then(|setting| setting.value.as_array()).into_iter().flatten();
    folders.filter_map(toml::Value::as_str).any(|folder| file.starts_with(folder))
}

/// Merges the layers into the defaults, lowest first.
fn merge(
    schema: &SettingsSchema,
    layers: Vec<Vec<SettingAssignment>>,
) -> Result<(MergedSettings, Settings), Error> {
    let mut merged = MergedSettings::built_in(schema);
    let mut settings = convert::settings(&merged)?;
    for layer in layers {
        merged.overlay(layer);
        // After each layer, so that a wrong value is reported even if a higher layer overrides it.
        settings = convert::settings(&merged)?;
    }
    Ok((merged, settings))
}

/// Fails if the environment gives a configured provider an unusable address. Without configured models or personas
/// nothing is reported, because other programs use these variables as well.
fn check_provider_addresses(
    mut loaded: LoadedConfig,
    refused: Vec<(String, Error)>,
) -> Result<LoadedConfig, Error> {
    let asked = loaded.configured_models();
    for (provider, error) in refused {
        if asked.iter().any(|model| model.provider == provider) {
            return Err(error);
        }
        if !asked.is_empty() || !loaded.user_only.personas.is_empty() {
            loaded.warnings.push(format!("the provider `{provider}` is left out: {error}"));
        }
    }
    Ok(loaded)
}

/// Hashes the bytes of the files, and the variables and flags that are settings, each with its length, so that
/// different inputs cannot collide. A missing file equals an empty one.
fn fingerprint(inputs: &ConfigInputs) -> ContentHash {
    let mut hashed = Vec::new();
    let mut add = |bytes: &[u8]| {
        hashed.extend((bytes.len() as u64).to_be_bytes());
        hashed.extend(bytes);
    };
    for file in [&inputs.user_file, &inputs.project_file, &inputs.links_file] {
        add(file.as_ref().map_or(b"", |(_, bytes)| bytes));
    }
    // Only variables that are settings: a different `SLOP_LOG` in a shell must not separate a command from its daemon.
    for (name, text) in layers::slop_variables(&inputs.environment).into_iter().chain(&inputs.flags) {
        add(name.as_bytes());
        add(text.as_bytes());
    }
    ContentHash::digest(&hashed)
}

/// Returns a value in TOML, with any password hidden.
fn shown_value(key: &str, value: &toml::Value) -> String {
    let shown = value.as_str().and_then(|text| hidden::shown_value(key, text));
    shown.map_or_else(|| value.to_string(), |shown| toml::Value::String(shown).to_string())
}

fn list_values(schema: &SettingsSchema, merged: &MergedSettings) -> Vec<SettingValue> {
    let mut values = Vec::new();
    for known in &schema.keys {
        let mut add = |key: &str, setting: &MergedSetting| {
            values.push(SettingValue {
                key: key.to_owned(),
                value: shown_value(key, &setting.value),
                origin: setting.origin.clone(),
                help: known.help.clone(),
            });
        };
        match known.kind {
            ValueKind::Languages => {
                merged.settings_under(&known.key).for_each(|(key, setting)| add(key, setting));
            }
            ValueKind::Text
            | ValueKind::Switch
            | ValueKind::Number
            | ValueKind::Fraction
            | ValueKind::List => {
                add(&known.key, merged.setting(&known.key));
            }
        }
    }
    values
}

impl LoadedConfig {
    /// Returns the engine's options for the project in the folder `root`.
    pub fn engine_options(&self, root: &Path) -> engine::Options {
        let settings = &self.settings;
        let mut apart = vec![settings.aggregation.cache_dir.as_bytes().to_vec()];
        // An output folder elsewhere cannot be part of the project anyway. `join` keeps an absolute path unchanged, so
        // one within the project is recognized as well.
        let output = root.join(&settings.project.output_dir);
        if let Ok(inside) = output.strip_prefix(root) {
            apart.push(slashed_bytes(&inside.components().collect::<std::path::PathBuf>()).into_owned());
        }
        apart.retain(|folder| !folder.is_empty());
        engine::Options {
            trusts_project: settings.trusts(root),
            cache_enabled: settings.aggregation.cache_enabled,
            cache_dir: settings.aggregation.cache_dir.clone(),
            cache_clones: settings.cache_clones.as_slice().into(),
            names: discover::Options {
                apart,
                secret_names: settings.secrets.names.clone(),
                secrets_allowed: settings.secrets.allow.clone(),
                skip: settings.discover.skip.clone(),
            },
            linked: self.links.mounted(root).into(),
            // Whether a limit applies depends on how the folder was chosen, which the settings do not know.
            max_files: None,
            shows_secrets_in_full: settings.secrets.in_full_views,
            max_bytes: settings.limits.max_bytes,
            structure_max_bytes: settings.limits.structure_max_bytes,
            parse_timeout: settings.limits.parse_timeout,
            window_lines: settings.aggregation.window_lines,
            counter: settings.aggregation.tokens,
            screenshot_bytes: settings.limits.screenshot_bytes,
            section_bytes: settings.limits.section_bytes,
            items: self.curation.files.as_slice().into(),
            settings_problems: self.settings_problems().into(),
            summary_lookup: SummaryLookupOptions {
                models: self.configured_models(),
                uses_earlier: settings.agent.shows_outdated,
                exclude: settings.agent.exclude.clone(),
                min_bytes: settings.agent.min_bytes,
                secret_names: self.never_sent(),
                writers: self.settings.share.writers.iter().map(|writer| writer.key).collect(),
            },
        }
    }

    /// Returns the names of files with secrets, which are not sent to a model. A project can add names, but not remove
    /// any.
    pub fn never_sent(&self) -> discover::Options {
        discover::Options {
            apart: Vec::new(),
            secret_names: self.settings.secrets.never_sent.clone(),
            secrets_allowed: self.settings.secrets.may_be_sent.clone(),
            skip: Vec::new(),
        }
    }

    /// Returns the models that the settings name for the sub-agent, in order.
    pub(super) fn configured_models(&self) -> Vec<ModelName> {
        let agent = &self.settings.agent;
        if !agent.models.is_empty() {
            return agent.models.clone();
        }
        let preferred = agent.persona.as_deref().and_then(|name| self.user_only.preferred_models(name));
        // A missing persona is reported when it is used, not by every command.
        preferred.unwrap_or_default().into_iter().map(|writer| writer.name).collect()
    }
}

impl Settings {
    /// Returns the options of a tier, with the views of a persona instead of its own.
    pub fn tier_options(&self, tier: Tier, persona: Option<&PersonaViews>) -> TierOptions {
        let settings = self.tier(tier);
        let mut languages = settings.languages.clone();
        languages.extend(persona.iter().flat_map(|views| views.languages.clone()));
        TierOptions {
            tier,
            view: persona.and_then(|views| views.view).unwrap_or(settings.view),
            focus_view: persona.and_then(|views| views.focus_view).unwrap_or(settings.focus_view),
            summary_detail: settings.summary_detail,
            by_model: settings.summary == SummarySource::Agent,
            tree: settings.tree,
            stable_thousandths: settings.stable_thousandths,
            language_views: languages,
        }
    }
}
