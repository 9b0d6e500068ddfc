//! Converts arguments about documents to queries.

use super::input::{read_items, read_task_file};
use crate::api::{
    AggregateQuery, AttachmentOptions, FormatName, HistorySource, PartName, ReceiptScope, ViewSelection,
};
use crate::cli::document_args::{
    AggregateArgs, AttachmentArgs, FormatArg, ReceiptScopeArg, RequestBodyArgs, ViewSelectionArgs,
};
use crate::cli::failure::CommandError;
use crate::cli::location::ProjectLocation;

pub(super) fn aggregate_query(
    args: &AggregateArgs,
    with_receipt: bool,
    place: &ProjectLocation,
) -> Result<AggregateQuery, CommandError> {
    Ok(AggregateQuery {
        files: place.resolve_paths(&args.files),
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        choice: view_selection(&args.choice, place)?,
        order: args.order.map(Into::into),
        format: format_name(args.format),
        hydrated: args.hydrated,
        since_last: args.memory.since_last,
        name: args.memory.name.clone(),
        attachments: attachments(&args.attachments, place),
        exact_tokens: with_receipt,
        dry_run: args.dry_run,
        receipt: receipt_scope(args, with_receipt),
        verify: args.verify,
        ..AggregateQuery::default()
    })
}

/// Returns the files that the receipt has to list. If the receipt is not shown, its totals suffice.
fn receipt_scope(args: &AggregateArgs, with_receipt: bool) -> ReceiptScope {
    let is_seen = with_receipt || args.dry_run || format_name(args.format) == FormatName::Json;
    match args.receipt_scope {
        Some(ReceiptScopeArg::Shown) => ReceiptScope::Shown,
        Some(ReceiptScopeArg::All) => ReceiptScope::All,
        None if is_seen => ReceiptScope::All,
        Some(ReceiptScopeArg::None) | None => ReceiptScope::None,
    }
}

pub(super) fn view_selection(
    choice: &ViewSelectionArgs,
    place: &ProjectLocation,
) -> Result<ViewSelection, CommandError> {
    let task = match &choice.task_file {
        Some(path) => Some(read_task_file(path)?),
        None => choice.task.clone(),
    };
    Ok(ViewSelection {
        task,
        tier: choice.tier,
        persona: choice.persona.clone().map(Into::into),
        preset: choice.preset.clone().map(Into::into),
        items: read_items(choice.items.as_deref())?,
        strategy: choice.strategy.map(Into::into),
        focus: place.resolve_focus(&choice.focus),
        docs: choice.docs.map(Into::into),
        base: choice.base.clone().or_else(|| choice.against.clone()),
        budget: choice.budget,
        default_budget: None,
        max_bytes: choice.max_bytes,
    })
}

fn attachments(attachments: &AttachmentArgs, place: &ProjectLocation) -> AttachmentOptions {
    AttachmentOptions {
        history: attachments.history.as_deref().map(|path| HistorySource::File(place.resolve_file(path))),
        take: attachments.take.clone(),
        part: match (attachments.no_history, attachments.history_only) {
            (true, _) => PartName::Prefix,
            (false, true) => PartName::Suffix,
            (false, false) => PartName::Whole,
        },
        screenshots: attachments.screenshots.iter().map(|path| place.resolve_file(path)).collect(),
        screenshots_inline: attachments.screenshots_inline,
        ..body_attachments(&attachments.body)
    }
}

/// Returns the options of a request body.
pub(super) fn body_attachments(body: &RequestBodyArgs) -> AttachmentOptions {
    AttachmentOptions {
        model: body.model.clone(),
        cache_marks: body.cache_marks,
        cache_ttl: body.cache_ttl.map(Into::into),
        ..AttachmentOptions::default()
    }
}

pub(super) const fn format_name(format: FormatArg) -> FormatName {
    match format {
        FormatArg::Markdown => FormatName::Markdown,
        FormatArg::Json => FormatName::Json,
        FormatArg::Anthropic => FormatName::Anthropic,
        FormatArg::Openai => FormatName::Openai,
        FormatArg::Gemini => FormatName::Gemini,
    }
}
