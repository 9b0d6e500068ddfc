//! `slop slice add`, `list` and `remove`: the slices in `slop.toml`.

use serde_json::json;

use super::context::CommandContext;
use crate::api::{MakeSliceQuery, ResolveSlicesQuery, slice_to_json};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::values::line_range;
use crate::config::edit;
use crate::config::edit::SliceKey;
use crate::model::{Slice, SliceResolution, SliceStatus};
use crate::sys::RealDisk;

pub(super) fn add(
    file: &str,
    (start_line, end_line): (u32, u32),
    tag: &str,
    comment: &str,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let path = context.location.resolve_path(file);
    let (tag, comment) = (tag.to_owned(), comment.to_owned());
    let query = MakeSliceQuery { file: path.clone(), start_line, end_line, tag, comment };
    let slice = context.ask(query)?;
    edit::add_slice(&RealDisk, &context.settings_file(), &path, &slice)?;
    if context.output.json {
        context.write_data(&json!({"path": path, "slice": slice_to_json(&slice)}))?;
        return Ok(failure::DONE);
    }
    context.write_line(&format!("{path}:{start_line}-{end_line}{}", tag_and_comment(&slice)))?;
    Ok(failure::DONE)
}

pub(super) fn list(file: Option<&str>, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let mut found = Vec::new();
    for item in super::context::items_of(file, context) {
        let resolved = resolve(&item.path, &item.custom_slices, context);
        let slices = item.custom_slices.iter().zip(resolved);
        found.extend(slices.map(|(slice, now)| (item.path.as_str(), slice, now)));
    }
    if context.output.json {
        let slices = found.iter().map(|(path, slice, now)| {
            json!({
                "path": path,
                "slice": slice_to_json(slice),
                "status": now.status.name(),
                "start_line": now.start_line,
                "end_line": now.end_line,
                "reason": now.reason,
            })
        });
        let data = json!({"slices": slices.collect::<serde_json::Value>()});
        context.write_data(&data)?;
        return Ok(failure::DONE);
    }
    for (path, slice, now) in found {
        let lines = format!("{}-{}", now.start_line, now.end_line);
        let was = format!("{}-{}", slice.start_line, slice.end_line);
        let was = if was == lines { String::new() } else { format!(", was {was}") };
        let why = if now.status == SliceStatus::Stale { format!(": {}", now.reason) } else { String::new() };
        let status = now.status.name();
        context.write_line(&format!("{path}:{lines} {status}{was}{}{why}", tag_and_comment(slice)))?;
    }
    Ok(failure::DONE)
}

pub(super) fn remove(file: &str, word: &str, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let path = context.location.resolve_path(file);
    let mut keys = Vec::new();
    if let Ok((start_line, end_line)) = line_range(word) {
        // What a list shows is where slices are now, so that this is what a person is most likely to type.
        for item in super::context::items_of(Some(file), context) {
            let resolved = resolve(&item.path, &item.custom_slices, context);
            for (slice, now) in item.custom_slices.iter().zip(resolved) {
                let is_found = now.status != SliceStatus::Stale;
                if is_found && (now.start_line, now.end_line) == (start_line, end_line) {
                    keys.push(SliceKey::Lines(slice.start_line, slice.end_line));
                }
            }
        }
        keys.push(SliceKey::Lines(start_line, end_line));
    }
    keys.push(SliceKey::Tag(word.to_owned()));
    let removed = edit::remove_slices(&RealDisk, &context.settings_file(), &path, &keys)?;
    if context.output.json {
        context.write_data(&json!({"path": path, "removed": removed}))?;
    } else {
        context.write_line(&format!("{path}: slices removed: {removed}"))?;
    }
    Ok(failure::DONE)
}

/// Returns where each slice of a file is now. A file that cannot be read has stale slices.
fn resolve(path: &str, slices: &[Slice], context: &mut CommandContext<'_>) -> Vec<SliceResolution> {
    if slices.is_empty() {
        return Vec::new();
    }
    let stale = |slice: &Slice, reason: &str| SliceResolution {
        status: SliceStatus::Stale,
        start_line: slice.start_line,
        end_line: slice.end_line,
        reason: reason.to_owned(),
    };
    match context.ask_or_error(ResolveSlicesQuery { file: path.to_owned(), slices: slices.to_vec() }) {
        Ok(resolutions) => resolutions,
        Err(fault) => {
            let reason = fault.message;
            slices.iter().map(|slice| stale(slice, &reason)).collect()
        }
    }
}

/// Returns a slice's tag and comment, each where it has one.
fn tag_and_comment(slice: &Slice) -> String {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let tag = if slice.tag.is_empty() { String::new() } else { format!(" [{}]", one_line(&slice.tag)) };
    let comment =
        if slice.comment.is_empty() { String::new() } else { format!(" ({})", one_line(&slice.comment)) };
    tag + &comment
}
