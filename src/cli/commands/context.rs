//! The context that most commands share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::asking::pluralize;
use crate::api::{
    ApiError, CallOptions, FreshnessNote, IndexRun, MissingPath, ProgressObserver, Query, QueryJob, Service,
    TraceEvent, ask_and, envelope,
};
use crate::cli::failure::{self, CommandError};
use crate::cli::location::ProjectLocation;
use crate::cli::output::CommandOutput;
use crate::cli::progress::TerminalProgress;
use crate::config::edit::plain_path;
use crate::config::{self, LoadedConfig};
use crate::daemon::DaemonPaths;
use crate::model::{FileItem, SkipReason, bytes_as_path, path_bytes, path_text, printable, unescaped_path};
use crate::render::{format_grouped, format_seconds};
use crate::service::{CurationHistory, QueryOrigin, QuerySettings, SETTINGS_FILE};
use crate::sys::RealDisk;

/// The project, its settings, and the service that answers questions.
pub(super) struct CommandContext<'a> {
    pub(super) location: &'a ProjectLocation,
    pub(super) loaded: &'a LoadedConfig,
    pub(super) output: &'a mut CommandOutput,
    /// The user's own settings file, whether or not it exists.
    pub(super) user_file: Option<&'a Path>,
    /// A folder for files that last only for the user's session.
    pub(super) runtime: &'a Path,
    pub(super) require_fresh: bool,
    /// The freshness of the last answer.
    pub(super) freshness: Option<FreshnessNote>,
    /// The requested paths without an answer.
    pub(super) missing: Vec<MissingPath>,
    pub(super) service: &'a dyn Service,
    pub(super) command: &'a str,
}

impl CommandContext<'_> {
    pub(super) fn ask<Q: Query>(&mut self, query: Q) -> Result<Q::Answer, CommandError> {
        self.ask_and(query, |_, answer| Ok(answer))
    }

    /// Asks like [`CommandContext::ask`], but returns errors to the command.
    pub(super) fn ask_or_error<Q: Query>(&mut self, query: Q) -> Result<Q::Answer, ApiError> {
        self.ask_with(query, |_, answer| Ok(answer))
    }

    /// Asks the service, and passes the answer to `write`. The service counts the answer as delivered only if that
    /// succeeds and everything was flushed.
    pub(super) fn ask_and<Q: Query, T>(
        &mut self,
        query: Q,
        write: impl FnOnce(&mut Self, Q::Answer) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        self.ask_with(query, |context, answer| {
            let written = write(context, answer)?;
            context.output.flush()?;
            Ok(written)
        })
    }

    fn ask_with<Q: Query, T, E: From<ApiError>>(
        &mut self,
        query: Q,
        receive: impl FnOnce(&mut Self, Q::Answer) -> Result<T, E>,
    ) -> Result<T, E> {
        let bar = Arc::new(self.progress());
        let observer: Arc<dyn ProgressObserver> = bar.clone();
        let job = Arc::new(QueryJob::observed_by(observer));
        // No fingerprint is passed here: the service adds that of the settings with which it resolves the question.
        let call = CallOptions {
            require_fresh: self.require_fresh,
            job: Arc::clone(&job),
            ..CallOptions::default()
        };
        let service = self.service;
        // The bar is removed and the notes are shown before the answer is written. Both happen again after the call,
        // for questions without an answer.
        let received = ask_and(service, query, &call, |reply| {
            bar.finish();
            self.report_job(&job);
            self.freshness = Some(reply.freshness);
            self.missing = reply.missing;
            receive(self, reply.payload)
        });
        bar.finish();
        self.report_job(&job);
        received
    }

    /// Returns a progress bar, which is drawn only on an interactive terminal.
    pub(super) fn progress(&self) -> TerminalProgress {
        TerminalProgress::new(self.output.is_interactive() && !self.output.json)
    }

    fn report_job(&mut self, job: &QueryJob) {
        for note in job.take_notes() {
            self.output.note(&note);
        }
        for event in job.take_trace() {
            self.output.verbose_message(&match event {
                TraceEvent::Scanned(run) => scan_line(&run),
                TraceEvent::NamedFilesOnly => "checked only the named files".to_owned(),
                TraceEvent::AnsweredByDaemon(clock) => {
                    format!("answered by the daemon at {}", clock.as_deref().unwrap_or("-"))
                }
                TraceEvent::UnreadableAnswer(error) => format!("the daemon's answer cannot be read: {error}"),
            });
        }
    }

    /// Reports the paths without an answer, and returns the exit code.
    pub(super) fn report_missing_paths(&mut self) -> u8 {
        for missing in &self.missing {
            self.output.missing_path(&missing.message);
        }
        if self.missing.is_empty() { failure::DONE } else { failure::INCOMPLETE }
    }

    pub(super) fn query_settings(&self) -> QuerySettings<'_> {
        QuerySettings { loaded: self.loaded, root: &self.location.root, origin: QueryOrigin::CommandLine }
    }

    /// Writes a line with text from a project's file, which may contain terminal escapes.
    pub(super) fn write_line(&mut self, line: &str) -> Result<(), CommandError> {
        Ok(self.output.write_line(&printable(line))?)
    }

    pub(super) fn daemon_paths(&self) -> DaemonPaths {
        let root = &self.location.root;
        DaemonPaths::for_project(root, &self.loaded.engine_options(root).cache_dir, self.runtime)
    }

    /// Returns the project's settings file, whether or not it exists.
    pub(super) fn settings_file(&self) -> PathBuf {
        self.location.root.join(SETTINGS_FILE)
    }

    /// Makes an undoable edit of the project's settings file.
    pub(super) fn edit_settings<T>(
        &mut self,
        label: &str,
        make_edit: impl FnOnce(&Path) -> Result<T, config::Error>,
    ) -> Result<T, CommandError> {
        let file = self.settings_file();
        let history = CurationHistory::new(&self.location.root, self.loaded);
        let (edited, failure) = history.recorded(label, || make_edit(&file));
        if let Some(error) = failure {
            self.output.note(&format!("the edit is not in the history: {}", error.message));
        }
        Ok(edited?)
    }

    /// Notes what the newly added entries for these paths hide because a pattern does.
    pub(super) fn note_carried_hides(&mut self, paths: &[String]) {
        let (items, file) = (&self.loaded.curation.files, self.settings_file());
        let notes = |path: &String| config::edit::notes_of_carried_hides(&RealDisk, &file, items, path);
        let notes = paths.iter().flat_map(notes);
        notes.for_each(|note| self.output.note(&note));
    }

    /// Writes an answer together with the project's folder and the reason for choosing it.
    pub(super) fn write_project_data(&mut self, data: &impl Serialize) -> Result<u8, CommandError> {
        let project = &self.location.project;
        let root = path_text(path_bytes(&project.folder));
        self.write_data(&WithProject { root, root_reason: project.reason.name(), data })
    }

    /// Prints the project's folder and the reason for choosing it.
    pub(super) fn report_project(&mut self) {
        self.output.message(&format!("project: {}", self.location.project.description()));
    }

    pub(super) fn write_data(&mut self, data: &impl Serialize) -> Result<u8, CommandError> {
        let envelope = envelope(self.command, self.freshness.as_ref(), &self.missing, data);
        self.output.write_envelope(&envelope)?;
        Ok(failure::DONE)
    }

    /// Writes the answer of a command, as JSON or as one line.
    pub(super) fn write_result(&mut self, data: &impl Serialize, line: &str) -> Result<u8, CommandError> {
        if self.output.json {
            return self.write_data(data);
        }
        self.write_line(line)?;
        Ok(failure::DONE)
    }
}

/// An answer about the project as a whole.
#[derive(Serialize)]
struct WithProject<'a, T> {
    root: String,
    /// The name of a [`RootReason`](crate::model::RootReason).
    root_reason: &'static str,
    #[serde(flatten)]
    data: &'a T,
}

/// Describes a scan: every listed file is derived, already known, or left out.
pub(super) fn scan_line(report: &IndexRun) -> String {
    let left_out: u64 = report.left_out.values().sum();
    format!(
        "{}: {} derived, {} already known, {} left out{}; {} read, {} gone; {}",
        pluralize(report.files + left_out, "file", "files"),
        format_grouped(report.parsed),
        format_grouped(report.reused),
        format_grouped(left_out),
        left_out_counts(&report.left_out),
        format_grouped(report.hashed),
        format_grouped(report.removed),
        format_seconds(report.elapsed()),
    )
}

/// Returns how many files were left out for each reason: ` (binary 12, symlink 1)`.
fn left_out_counts(left_out: &BTreeMap<String, u64>) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    let known = SkipReason::ALL.iter().filter_map(|reason| left_out.get_key_value(reason.name()));
    let reasons: Vec<String> = known.map(|(reason, count)| format!("{reason} {count}")).collect();
    format!(" ({})", reasons.join(", "))
}

/// Returns the items of `slop.toml`, all of them or those of one path.
pub(super) fn items_of<'a>(file: Option<&str>, context: &CommandContext<'a>) -> Vec<&'a FileItem> {
    let wanted = file.map(|file| plain_path(&context.location.resolve_path(file)));
    // Compared without `./` and doubled slashes, because these paths are written by hand.
    let is_wanted = |item: &&FileItem| wanted.as_ref().is_none_or(|path| plain_path(&item.path) == *path);
    context.loaded.curation.files.iter().filter(is_wanted).collect()
}

/// Returns the paths that do not exist. A pattern never counts as missing, because it may match again.
pub(super) fn missing_paths<'p>(
    paths: impl Iterator<Item = &'p str>,
    context: &CommandContext<'_>,
) -> Vec<String> {
    let is_gone = |path: &&str| {
        let is_pattern = path.contains(['*', '?', '[', '{']);
        let full = context.loaded.links.locate(path, &context.location.root);
        // A dangling link exists, whatever it points to.
        let is_there = |full: &Path| full.exists() || full.is_symlink();
        // A name that is not UTF-8 is written with escapes, as it is printed.
        let meant =
            || unescaped_path(path.as_bytes()).map(|path| context.location.root.join(bytes_as_path(&path)));
        !is_pattern && !is_there(&full) && !meant().is_some_and(|meant| is_there(&meant))
    };
    paths.filter(is_gone).map(str::to_owned).collect()
}

/// Fails if a path to be curated does not exist in the project.
pub(super) fn require_existing(paths: &[String], context: &CommandContext<'_>) -> Result<(), CommandError> {
    // An absolute path below the project was made relative before.
    let is_outside = |path: &&String| {
        path.is_empty() || path.starts_with("../") || *path == ".." || Path::new(path).is_absolute()
    };
    // Checked now, because a typo in a path would otherwise only show when the entry is used.
    let missing = missing_paths(paths.iter().map(String::as_str), context);
    // A path that leads out of the project would never be shown.
    let outside = paths.iter().find(is_outside);
    let Some(path) = outside.or(missing.first()) else { return Ok(()) };
    let message = format!("no file of the project matches `{path}`");
    Err(ApiError::user("not_found", message, "`slop status --all` lists the files of the project").into())
}
