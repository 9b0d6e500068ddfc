//! `slop status`: how many files are in which state, and how large folders are.

use std::collections::BTreeMap;

use super::asking::pluralize;
use super::context::CommandContext;
use crate::api::{FileState, FilesQuery, display_path, language_name};
use crate::cli::cache_args::{StatusArgs, StatusGrouping};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::output::{BAD, CommandOutput, GOOD, MINOR, NAME, NEW};
use crate::model::SkipReason;
use crate::render::{format_grouped, format_size};

/// The states of files by their names in JSON and for people, in the order in which they are counted.
const STATES: [(&str, &str); 4] =
    [("fresh", "fresh"), ("stale", "stale"), ("new", "new"), ("left_out", "left out")];
/// The most files that are listed without `--all`.
const MAX_LISTED: usize = 20;

pub(super) fn status(args: &StatusArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let states = &context.ask(FilesQuery {})?;
    if context.output.json {
        return context.write_project_data(states);
    }
    context.report_project();
    if let Some(StatusGrouping::Folder) = args.by {
        write_folders(&states.files, context.output)?;
        return Ok(failure::DONE);
    }
    // Before the first run every file is new, so listing some of them is useless.
    let is_indexed = states.files.iter().any(|file| matches!(file.state.as_str(), "fresh" | "stale"));
    let is_listed = |file: &&FileState| match file.state.as_str() {
        "stale" => true,
        "new" => args.all || is_indexed,
        _ => args.all,
    };
    let listed: Vec<&FileState> = states.files.iter().filter(is_listed).collect();
    let most = if args.all { usize::MAX } else { MAX_LISTED };
    for file in listed.iter().take(most) {
        write_file(file, context.output)?;
    }
    if most < listed.len() {
        let more = format_grouped((listed.len() - most) as u64);
        context.output.write_line(&format!("and {more} more; --all lists every file"))?;
    }
    context.output.write_line(&totals(&states.files))?;
    if !is_indexed && !states.files.is_empty() {
        context.output.message(
            "nothing is indexed yet; `slop index` indexes all files, and every answer indexes those that it reads",
        );
    }
    for problem in &states.problems {
        context.output.write_line(&format!("settings: {problem}"))?;
    }
    Ok(failure::DONE)
}

fn write_file(file: &FileState, output: &mut CommandOutput) -> Result<(), CommandError> {
    let word = STATES.iter().find(|(state, _)| *state == file.state).map_or("", |(_, word)| word);
    let style = match file.state.as_str() {
        "fresh" => GOOD,
        "stale" => BAD,
        "new" => NEW,
        _ => MINOR,
    };
    let word = output.paint(style, &format!("{word:<9}"));
    let path = display_path(&file.path, file.path_hex.as_deref());
    Ok(output.write_line(&format!("{word} {path}{}", file_details(file)))?)
}

/// Returns the line with the number of files in each state and the reasons for omissions.
fn totals(files: &[FileState]) -> String {
    let counts = STATES.map(|(state, word)| {
        let count = files.iter().filter(|file| file.state == state).count();
        format!("{} {word}", format_grouped(count as u64))
    });
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for reason in files.iter().filter_map(|file| file.reason.as_deref()) {
        *reasons.entry(reason).or_default() += 1;
    }
    let reasons: Vec<String> =
        reasons.into_iter().map(|(reason, count)| format!("{reason} {}", format_grouped(count))).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    format!("{}: {}{reasons}", pluralize(files.len() as u64, "file", "files"), counts.join(", "))
}

/// Returns the details that follow a path: why the file is left out, or its language.
fn file_details(file: &FileState) -> String {
    match (&file.reason, &file.language) {
        (Some(reason), _) => {
            let words = SkipReason::from_name(reason).map_or("", SkipReason::description);
            format!("  ({reason}: {words})")
        }
        (None, Some(language)) => {
            let tiers: Vec<String> = file.agent_tiers.iter().map(ToString::to_string).collect();
            let model = if tiers.is_empty() {
                String::new()
            } else {
                format!(" and, for tier {}, by a model", tiers.join(" and "))
            };
            format!("  ({}, summary by {}{model})", language_name(language), summary_maker(file))
        }
        (None, None) => String::new(),
    }
}

/// Returns the author of a file's summary without versions, which are in the JSON.
fn summary_maker(file: &FileState) -> &str {
    let made_by = file.summary_by.as_deref().unwrap_or("nobody");
    made_by.split('/').next().unwrap_or(made_by)
}

/// The totals of a folder, including its subfolders.
#[derive(Default)]
struct FolderTotal {
    files: u64,
    bytes: u64,
    tokens: u64,
    /// Files that were never read, whose size is unknown.
    unread: u64,
}

impl FolderTotal {
    /// Returns the remark after the name of the folder.
    fn remark(&self) -> String {
        match self.unread {
            0 => String::new(),
            unread => format!("  ({} not read yet)", format_grouped(unread)),
        }
    }
}

/// Writes the files and tokens of each folder, as a tree.
fn write_folders(files: &[FileState], output: &mut CommandOutput) -> Result<(), CommandError> {
    let mut folders: BTreeMap<Vec<&str>, FolderTotal> = BTreeMap::new();
    for file in files.iter().filter(|file| file.reason.is_none()) {
        let parts: Vec<&str> = file.path.split('/').collect();
        for depth in 0..parts.len() {
            let total = folders.entry(parts[..depth].to_vec()).or_default();
            total.files += 1;
            total.bytes += file.bytes.unwrap_or(0);
            total.tokens += file.tokens.unwrap_or(0);
            total.unread += u64::from(file.bytes.is_none());
        }
    }
    output.write_line(&output.paint(MINOR, "    TOKENS     FILES       SIZE  FOLDER"))?;
    for (parts, total) in &folders {
        let name = parts
            .last()
            .map_or_else(|| ".".to_owned(), |name| format!("{}{name}/", "  ".repeat(parts.len() - 1)));
        output.write_line(&format!(
            "{:>10} {:>9} {:>10}  {}{}",
            format_grouped(total.tokens),
            format_grouped(total.files),
            format_size(total.bytes),
            output.paint(NAME, &name),
            total.remark(),
        ))?;
    }
    let unread = folders.get(&Vec::new()).map_or(0, |total| total.unread);
    if 0 < unread {
        let count = format_grouped(unread);
        output.message(&format!(
            "files that are not read yet count 0 tokens: {count}; `slop index` reads them"
        ));
    }
    output.message("tokens are estimated from the sizes of the texts: one for three bytes");
    Ok(())
}
