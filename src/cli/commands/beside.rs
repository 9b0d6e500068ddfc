//! Flags and settings become what stands beside the files, and how a model is asked.

use std::path::PathBuf;

use super::desk::Desk;
use crate::api::Discussion;
use crate::api::ImageFile;
use crate::api::SectionRequest;
use crate::cli::args::Beside;
use crate::cli::args::Format;
use crate::cli::failure::Failure;
use crate::config::ExecutionMode;
use crate::model::BodyOptions;
use crate::model::Part;
use crate::model::Tier;

/// The file in the project's folder that holds a discussion where no other is named.
const HISTORY: &str = "history.toml";

impl Desk<'_> {
    /// Returns what is asked for beside the files.
    pub(super) fn sections(&self, args: &Beside, tier: Option<Tier>) -> SectionRequest {
        let settings = &self.loaded.settings;
        let screenshots = args.screenshots.iter().map(|path| ImageFile::Asked(self.place.file(path)));
        SectionRequest {
            part: match (args.no_history, args.history_only) {
                (true, _) => Part::Prefix,
                (false, true) => Part::Suffix,
                (false, false) => Part::Whole,
            },
            screenshots: screenshots.collect(),
            inline: args.screenshots_inline,
            beads: settings.project.execution_mode == ExecutionMode::Beads,
            discussion: self.discussion(args, tier),
        }
    }

    /// The tier's setting is about the project's own file; a discussion that is asked for must be there.
    fn discussion(&self, args: &Beside, tier: Option<Tier>) -> Option<Discussion> {
        let is_asked_for = args.history.is_some() || args.take.is_some() || args.history_only;
        if !is_asked_for && !tier.is_some_and(|tier| self.loaded.settings.tier(tier).history) {
            return None;
        }
        let path = args.history.as_ref().map_or_else(|| PathBuf::from(HISTORY), |path| self.place.file(path));
        Some(Discussion { path, take: args.take.clone(), is_optional: !is_asked_for })
    }

    /// Returns how a model is asked.
    pub(super) fn body(&self, args: &Beside, format: Format) -> Result<BodyOptions, Failure> {
        let settings = &self.loaded.settings.formats;
        let model = match format {
            Format::Anthropic => settings.anthropic_model.as_str(),
            Format::Openai => &settings.openai_model,
            Format::Gemini => &settings.gemini_model,
            Format::Markdown | Format::Json => match &args.model {
                None => "",
                Some(model) => {
                    let message = format!("ask the model `{model}` in a format that asks nobody");
                    return Err(Failure::usage(message, "add --format anthropic, openai or gemini"));
                }
            },
        };
        Ok(BodyOptions {
            model: args.model.as_deref().unwrap_or(model).to_owned(),
            system: None,
            temperature: None,
            top_p: None,
            max_output_tokens: settings.max_output_tokens,
        })
    }
}
