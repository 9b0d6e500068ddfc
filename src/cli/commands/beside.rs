//! Flags and settings become what stands beside the files, and how a model is asked.

use std::path::PathBuf;

use super::desk::Desk;
use super::profile::Profile;
use crate::api::Discussion;
use crate::api::ImageFile;
use crate::api::SectionRequest;
use crate::cli::document_args::Beside;
use crate::cli::document_args::Format;
use crate::cli::failure::Failure;
use crate::config::ExecutionMode;
use crate::model::BodyOptions;
use crate::model::Part;
use crate::model::Persona;
use crate::model::PreferredModel;
use crate::model::Tier;

/// The file in the project's folder that holds a discussion where no other is named.
const HISTORY: &str = "history.toml";

/// Returns the model of a provider that a persona likes best.
fn preferred<'p>(persona: &'p Persona, provider: &str) -> Option<&'p PreferredModel> {
    let is_meant = |model: &&PreferredModel| match model.provider.to_ascii_lowercase().as_str() {
        "google" => provider == "gemini",
        name => name == provider,
    };
    persona.preferred_models.iter().find(is_meant)
}

impl Desk<'_> {
    /// Returns what is asked for beside the files.
    pub(super) fn sections(&self, args: &Beside, profile: &Profile) -> SectionRequest {
        let settings = &self.loaded.settings;
        let asked = args.screenshots.iter().map(|path| ImageFile::Asked(self.place.file(path)));
        // A preset is a file's word, and may have come with the project: what it names must lie in the project.
        let preset = profile.preset.iter().flat_map(|preset| &preset.value.screenshots);
        let screenshots = preset.cloned().map(ImageFile::OfProject).chain(asked);
        SectionRequest {
            part: match (args.no_history, args.history_only) {
                (true, _) => Part::Prefix,
                (false, true) => Part::Suffix,
                (false, false) => Part::Whole,
            },
            screenshots: screenshots.collect(),
            inline: args.screenshots_inline,
            images_apart: false,
            refused_images: &[],
            beads: settings.project.execution_mode == ExecutionMode::Beads,
            discussion: self.discussion(args, profile.tier),
        }
    }

    /// The tier's setting is about the project's own file; a discussion that is asked for must be there.
    fn discussion(&self, args: &Beside, tier: Option<Tier>) -> Option<Discussion> {
        let is_asked_for = args.history.is_some() || args.take.is_some() || args.history_only;
        if !is_asked_for && !tier.is_some_and(|tier| self.loaded.settings.tier(tier).history) {
            return None;
        }
        let path = args.history.as_ref().map_or_else(|| PathBuf::from(HISTORY), |path| self.place.file(path));
        let is_named = args.history.is_some();
        Some(Discussion { path, take: args.take.clone(), is_named, is_optional: !is_asked_for })
    }

    /// Returns how a model is asked.
    pub(super) fn body(
        &self,
        args: &Beside,
        format: Format,
        persona: Option<&Persona>,
    ) -> Result<BodyOptions, Failure> {
        let settings = &self.loaded.settings.formats;
        let (provider, model) = match format {
            Format::Anthropic => ("anthropic", settings.anthropic_model.as_str()),
            Format::Openai => ("openai", settings.openai_model.as_str()),
            Format::Gemini => ("gemini", settings.gemini_model.as_str()),
            Format::Markdown | Format::Json => match &args.model {
                None => ("", ""),
                Some(model) => {
                    let message = format!("ask the model `{model}` in a format that asks nobody");
                    return Err(Failure::usage(message, "add --format anthropic, openai or gemini"));
                }
            },
        };
        let preferred = persona.and_then(|persona| preferred(persona, provider));
        // Another model than the persona's is asked as it asks to be: what was set for the one may be refused by the other.
        let preferred =
            preferred.filter(|preferred| args.model.as_ref().is_none_or(|model| *model == preferred.model));
        let system =
            persona.map(|persona| persona.system_prompt.clone()).filter(|system| !system.trim().is_empty());
        let model = preferred.map_or(model, |preferred| preferred.model.as_str());
        Ok(BodyOptions {
            model: args.model.as_deref().unwrap_or(model).to_owned(),
            system,
            temperature: preferred.and_then(|preferred| preferred.temperature),
            top_p: preferred.and_then(|preferred| preferred.top_p),
            max_output_tokens: preferred
                .and_then(|preferred| preferred.max_output_tokens)
                .unwrap_or(settings.max_output_tokens),
        })
    }
}
