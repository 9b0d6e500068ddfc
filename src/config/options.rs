//! Settings become the options of the rooms that act on them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::settings::Settings;
use super::settings::SummarySource;
use crate::aggregate::TierOptions;
use crate::discover;
use crate::engine;
use crate::engine::agent::LookupOptions;
use crate::model::Tier;

impl Settings {
    /// Returns the engine's options for the project in the folder `root`.
    pub fn engine_options(&self, root: &Path) -> engine::Options {
        let mut apart = vec![self.aggregation.cache_dir.as_bytes().to_vec()];
        // An output folder elsewhere cannot be part of the project anyway.
        let output = root.join(&self.project.output_dir);
        if let Ok(inside) = output.strip_prefix(root) {
            apart.push(inside.components().collect::<std::path::PathBuf>().as_os_str().as_bytes().to_vec());
        }
        apart.retain(|folder| !folder.is_empty());
        engine::Options {
            cache_enabled: self.aggregation.cache_enabled,
            cache_dir: self.aggregation.cache_dir.clone(),
            names: discover::Options {
                apart,
                secret_names: self.secrets.names.clone(),
                secrets_allowed: self.secrets.allow.clone(),
            },
            max_bytes: self.limits.max_bytes,
            structure_max_bytes: self.limits.structure_max_bytes,
            parse_timeout: self.limits.parse_timeout,
            window_lines: self.aggregation.window_lines,
            counter: self.aggregation.tokens,
            screenshot_bytes: self.limits.screenshot_bytes,
            section_bytes: self.limits.section_bytes,
            words: LookupOptions {
                models: self.agent.models.clone(),
                uses_earlier: self.agent.earlier,
                exclude: self.agent.exclude.clone(),
                least_bytes: self.agent.least_bytes,
            },
        }
    }

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
