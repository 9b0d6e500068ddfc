//! Settings become the options of the rooms that act on them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::LoadedConfig;
use super::settings::Settings;
use super::settings::SummarySource;
use crate::aggregate::TierOptions;
use crate::discover;
use crate::engine;
use crate::engine::summaries::SummaryLookupOptions;
use crate::model::ModelName;
use crate::model::Tier;

impl LoadedConfig {
    /// Returns the engine's options for the project in the folder `root`.
    pub fn engine_options(&self, root: &Path) -> engine::Options {
        let settings = &self.settings;
        let mut apart = vec![settings.aggregation.cache_dir.as_bytes().to_vec()];
        // An output folder elsewhere cannot be part of the project anyway.
        let output = root.join(&settings.project.output_dir);
        if let Ok(inside) = output.strip_prefix(root) {
            apart.push(inside.components().collect::<std::path::PathBuf>().as_os_str().as_bytes().to_vec());
        }
        apart.retain(|folder| !folder.is_empty());
        engine::Options {
            cache_enabled: settings.aggregation.cache_enabled,
            cache_dir: settings.aggregation.cache_dir.clone(),
            names: discover::Options {
                apart,
                secret_names: settings.secrets.names.clone(),
                secrets_allowed: settings.secrets.allow.clone(),
            },
            max_bytes: settings.limits.max_bytes,
            structure_max_bytes: settings.limits.structure_max_bytes,
            parse_timeout: settings.limits.parse_timeout,
            window_lines: settings.aggregation.window_lines,
            counter: settings.aggregation.tokens,
            screenshot_bytes: settings.limits.screenshot_bytes,
            section_bytes: settings.limits.section_bytes,
            summary_lookup: SummaryLookupOptions {
                models: self.configured_models(),
                uses_earlier: settings.agent.shows_outdated,
                exclude: settings.agent.exclude.clone(),
                min_bytes: settings.agent.min_bytes,
                secret_names: self.never_sent(),
            },
        }
    }

    /// Returns which names hold secrets where a model is asked: a project can add to them, and take nothing away.
    pub fn never_sent(&self) -> discover::Options {
        discover::Options {
            apart: Vec::new(),
            secret_names: self.settings.secrets.never_sent.clone(),
            secrets_allowed: self.settings.secrets.may_be_sent.clone(),
        }
    }

    /// Returns whom the sub-agent asks by the settings, the first one first.
    pub(super) fn configured_models(&self) -> Vec<ModelName> {
        let agent = &self.settings.agent;
        if !agent.models.is_empty() {
            return agent.models.clone();
        }
        let preferred = agent.persona.as_deref().and_then(|name| self.user_only.preferred_models(name));
        preferred.unwrap_or_default().into_iter().map(|writer| writer.name).collect()
    }
}

impl Settings {
    /// Returns how a tier sees a project.
    pub fn tier_options(&self, tier: Tier) -> TierOptions {
        let settings = self.tier(tier);
        TierOptions {
            tier,
            view: settings.view,
            focus_view: settings.focus_view,
            summary_detail: settings.summary_detail,
            by_model: settings.summary == SummarySource::Agent,
            tree: settings.tree,
            language_views: settings.languages.clone(),
        }
    }
}
