//! The flags that documents are asked for with become words of an ask.

use std::path::Path;

use crate::api::AggregateAsk;
use crate::api::BesideAsk;
use crate::api::ChoiceAsk;
use crate::api::FormatName;
use crate::api::PartName;
use crate::cli::document_args::AggregateArgs;
use crate::cli::document_args::Beside;
use crate::cli::document_args::Choice;
use crate::cli::document_args::Format;
use crate::cli::failure::Failure;
use crate::cli::place::Place;

/// Returns which document is asked for.
pub(super) fn aggregate_ask(
    args: &AggregateArgs,
    measured: bool,
    place: &Place,
) -> Result<AggregateAsk, Failure> {
    Ok(AggregateAsk {
        files: place.words(&args.files),
        choice: choice_ask(&args.choice, place),
        order: args.order.map(Into::into),
        format: format_name(args.format),
        since_last: args.memory.since_last,
        name: args.memory.name.clone(),
        beside: beside_ask(&args.beside, place)?,
        measured,
        dry_run: args.dry_run,
        verify: args.verify,
    })
}

/// Returns what decides about views.
pub(super) fn choice_ask(choice: &Choice, place: &Place) -> ChoiceAsk {
    ChoiceAsk {
        tier: choice.tier,
        persona: choice.persona.clone(),
        preset: choice.preset.clone(),
        strategy: choice.strategy.map(Into::into),
        focus: place.focus_words(&choice.focus),
        against: choice.against.clone(),
        budget: choice.budget,
        default_budget: None,
        max_bytes: choice.max_bytes,
    }
}

fn beside_ask(beside: &Beside, place: &Place) -> Result<BesideAsk, Failure> {
    let named = |path: &Path| {
        let path = place.file(path);
        path.to_str().map(str::to_owned).ok_or_else(|| {
            let message = format!("use the file {}, whose name is not UTF-8", path.display());
            Failure::usage(message, "give it a name that is text")
        })
    };
    Ok(BesideAsk {
        history: beside.history.as_deref().map(named).transpose()?,
        take: beside.take.clone(),
        part: match (beside.no_history, beside.history_only) {
            (true, _) => PartName::Prefix,
            (false, true) => PartName::Suffix,
            (false, false) => PartName::Whole,
        },
        screenshots: beside.screenshots.iter().map(|path| named(path)).collect::<Result<_, _>>()?,
        screenshots_inline: beside.screenshots_inline,
        model: beside.model.clone(),
    })
}

const fn format_name(format: Format) -> FormatName {
    match format {
        Format::Markdown => FormatName::Markdown,
        Format::Json => FormatName::Json,
        Format::Anthropic => FormatName::Anthropic,
        Format::Openai => FormatName::Openai,
        Format::Gemini => FormatName::Gemini,
    }
}
