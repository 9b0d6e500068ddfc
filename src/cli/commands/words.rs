//! Conversion of the flags for documents into a question.

use crate::api::{AggregateQuery, AttachmentOptions, FormatName, PartName, ViewSelection};
use crate::cli::document_args::{AggregateArgs, AttachmentArgs, FormatArg, ViewSelectionArgs};
use crate::cli::place::ProjectLocation;

/// Returns which document is asked for.
pub(super) fn aggregate_query(
    args: &AggregateArgs,
    exact_tokens: bool,
    place: &ProjectLocation,
) -> AggregateQuery {
    AggregateQuery {
        files: place.resolve_paths(&args.files),
        choice: view_selection(&args.choice, place),
        order: args.order.map(Into::into),
        format: format_name(args.format),
        since_last: args.memory.since_last,
        name: args.memory.name.clone(),
        attachments: attachments(&args.attachments, place),
        exact_tokens,
        dry_run: args.dry_run,
        verify: args.verify,
    }
}

/// Returns what decides about views.
pub(super) fn view_selection(choice: &ViewSelectionArgs, place: &ProjectLocation) -> ViewSelection {
    ViewSelection {
        tier: choice.tier,
        persona: choice.persona.clone(),
        preset: choice.preset.clone(),
        strategy: choice.strategy.map(Into::into),
        focus: place.resolve_focus(&choice.focus),
        base: choice.base.clone().or_else(|| choice.against.clone()),
        budget: choice.budget,
        default_budget: None,
        max_bytes: choice.max_bytes,
    }
}

fn attachments(attachments: &AttachmentArgs, place: &ProjectLocation) -> AttachmentOptions {
    AttachmentOptions {
        history: attachments.history.as_deref().map(|path| place.resolve_file(path)),
        take: attachments.take.clone(),
        part: match (attachments.no_history, attachments.history_only) {
            (true, _) => PartName::Prefix,
            (false, true) => PartName::Suffix,
            (false, false) => PartName::Whole,
        },
        screenshots: attachments.screenshots.iter().map(|path| place.resolve_file(path)).collect(),
        screenshots_inline: attachments.screenshots_inline,
        model: attachments.model.clone(),
    }
}

const fn format_name(format: FormatArg) -> FormatName {
    match format {
        FormatArg::Markdown => FormatName::Markdown,
        FormatArg::Json => FormatName::Json,
        FormatArg::Anthropic => FormatName::Anthropic,
        FormatArg::Openai => FormatName::Openai,
        FormatArg::Gemini => FormatName::Gemini,
    }
}
