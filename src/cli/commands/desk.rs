//! What most commands work with.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::api::AnyAnswer;
use crate::api::AnyQuery;
use crate::api::ApiError;
use crate::api::FreshnessNote;
use crate::api::IndexRun;
use crate::api::ProjectSession;
use crate::api::QueryOptions;
use crate::api::QueryResponse;
use crate::api::ResolvedQuery;
use crate::api::ServiceAnswer;
use crate::api::World;
use crate::api::envelope;
use crate::cli::failure::CommandError;
use crate::cli::output::CommandOutput;
use crate::cli::place::ProjectLocation;
use crate::cli::progress::TerminalProgress;
use crate::config::LoadedConfig;
use crate::config::edit::plain_path;
use crate::daemon::DaemonPaths;
use crate::daemon::query_daemon;
use crate::model::FileItem;
use crate::model::SkipReason;
use crate::model::printable;
use crate::render::format_grouped;
use crate::render::format_seconds;
use crate::service::QueryOrigin;
use crate::service::SETTINGS_FILE;
use crate::service::resolve;
use crate::sys::Clock;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;

/// The project, its settings, and a way to ask.
pub(super) struct CommandContext<'a> {
    pub(super) location: &'a ProjectLocation,
    pub(super) loaded: &'a LoadedConfig,
    pub(super) output: &'a mut CommandOutput,
    /// The user's own settings file, whether it is there or not.
    pub(super) user_file: Option<&'a Path>,
    /// A folder for what lives no longer than the user's session.
    pub(super) runtime: &'a Path,
    /// Whether an answer that cannot be vouched for is to be an error.
    pub(super) require_fresh: bool,
    /// What the last answer can be relied on for.
    pub(super) freshness: Option<FreshnessNote>,
    /// Whether no daemon is to be asked.
    pub(super) without_daemon: bool,
    /// The command's name, as it stands in JSON.
    pub(super) command: &'static str,
}

/// The project that this process has opened for a question.
pub(super) struct OpenProject<'s, 'w> {
    pub(super) session: &'s mut ProjectSession<'w>,
    bar: &'s TerminalProgress,
}

impl CommandContext<'_> {
    /// Asks the daemon, if one runs, else answers from the files in this process.
    pub(super) fn ask(&mut self, ask: AnyQuery) -> Result<AnyAnswer, CommandError> {
        self.ask_and_write(ask, |_, _| Ok(()))
    }

    /// Asks as [`Desk::ask`] does, and writes the answer while whoever answers waits to hear that it has arrived.
    pub(super) fn ask_and_write(
        &mut self,
        ask: AnyQuery,
        write: impl FnOnce(&mut Self, &AnyAnswer) -> Result<(), CommandError>,
    ) -> Result<AnyAnswer, CommandError> {
        if let Some(answer) = self.ask_daemon(&ask) {
            let answer = answer?;
            write(self, &answer)?;
            return Ok(answer);
        }
        let request = self.resolve(ask)?;
        self.open_project(request.uses_cache(), |desk, opened| {
            let answer = to_any_answer(desk.answer_in(opened, request)?);
            write(desk, &answer)?;
            desk.mark_delivered(opened)?;
            Ok(answer)
        })
    }

    /// Asks as [`Desk::ask`] does, while the project is open in this process for something else.
    pub(super) fn ask_while_open(
        &mut self,
        opened: &mut OpenProject<'_, '_>,
        ask: AnyQuery,
    ) -> Result<AnyAnswer, CommandError> {
        if let Some(answer) = self.ask_daemon(&ask) {
            return Ok(answer?);
        }
        let request = self.resolve(ask)?;
        Ok(to_any_answer(self.answer_in(opened, request)?))
    }

    /// Returns what an ask means here.
    pub(super) fn resolve(&self, ask: AnyQuery) -> Result<ResolvedQuery, ApiError> {
        resolve(ask, self.loaded, &self.location.root, QueryOrigin::Person)
    }

    /// Asks the daemon. `None` where there is none that could answer as this process would.
    fn ask_daemon(&mut self, ask: &AnyQuery) -> Option<Result<AnyAnswer, ApiError>> {
        if self.without_daemon || is_local_only(ask) {
            return None;
        }
        let bar = TerminalProgress::new(self.output.is_interactive() && !self.output.json);
        let fingerprint = self.loaded.fingerprint();
        let mut progress = |done, total| bar.set_position(done, total);
        let options = QueryOptions {
            require_fresh: self.require_fresh,
            settings: Some(&fingerprint),
            job: None,
            progress: Some(&mut progress),
        };
        let answered = query_daemon(&self.places(), ask, options)?;
        bar.finish();
        match answered {
            Ok(answered) => self.accept_answer(ask, answered).map(Ok),
            Err(fault) => Some(Err(fault)),
        }
    }

    /// Reads what the daemon answered, and tells what it stumbled over. `None` where it cannot be read.
    fn accept_answer(&mut self, ask: &AnyQuery, answered: ServiceAnswer) -> Option<AnyAnswer> {
        let answer = match AnyAnswer::decode(ask, &answered.data) {
            Ok(answer) => answer,
            Err(error) => {
                self.output.verbose_message(&format!("the daemon's answer cannot be read: {error}"));
                return None;
            }
        };
        for note in &answered.notes {
            self.output.note(note);
        }
        let clock = answered.freshness.clock.as_deref().unwrap_or("-");
        self.output.verbose_message(&format!("answered by the daemon at {clock}"));
        self.freshness = Some(answered.freshness);
        Some(answer)
    }

    /// Writes a line with what a project's file says, which may hold what a terminal would obey.
    pub(super) fn write_line(&mut self, line: &str) -> Result<(), CommandError> {
        Ok(self.output.write_line(&printable(line))?)
    }

    /// Returns where the project's daemon has its files.
    pub(super) fn places(&self) -> DaemonPaths {
        let root = &self.location.root;
        DaemonPaths::for_project(root, &self.loaded.engine_options(root).cache_dir, self.runtime)
    }

    /// Returns the project's settings file, whether it is there or not.
    pub(super) fn settings_file(&self) -> PathBuf {
        self.location.root.join(SETTINGS_FILE)
    }

    /// Writes the one answer of a command as JSON.
    pub(super) fn write_data(&mut self, data: &impl Serialize) -> Result<(), CommandError> {
        Ok(self.output.write_envelope(&envelope(self.command, self.freshness.as_ref(), data))?)
    }

    /// Requests what no ask is for of the project, in this process.
    pub(super) fn request(&mut self, request: ResolvedQuery) -> Result<QueryResponse, CommandError> {
        Ok(self.request_or_error(request)?)
    }

    /// Requests as [`Desk::request`] does; what to do about a fault is left to the command.
    pub(super) fn request_or_error(&mut self, request: ResolvedQuery) -> Result<QueryResponse, ApiError> {
        self.open_project(request.uses_cache(), |desk, opened| desk.answer_in(opened, request))
    }

    /// Opens the project in this process, with its cache where that is of use.
    pub(super) fn open_project<T, E: From<ApiError>>(
        &mut self,
        uses_cache: bool,
        work: impl FnOnce(&mut Self, &mut OpenProject<'_, '_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let root = &self.location.root;
        let files = RealFiles::open(root).map_err(|error| ApiError::no_project(root, &error))?;
        let bar = TerminalProgress::new(self.output.is_interactive() && !self.output.json);
        let world = World {
            clock: &WallClock,
            disk: &RealDisk,
            files: &files,
            processes: &RealProcesses,
            progress: &bar,
        };
        let mut options = self.loaded.engine_options(root);
        options.cache_enabled &= uses_cache;
        let mut session = ProjectSession::open(root, options, world)?;
        work(self, &mut OpenProject { session: &mut session, bar: &bar })
    }

    /// Answers in this process, and tells what the project stumbled over.
    pub(super) fn answer_in(
        &mut self,
        opened: &mut OpenProject<'_, '_>,
        request: ResolvedQuery,
    ) -> Result<QueryResponse, ApiError> {
        let as_of_ms = WallClock.now_ns() / 1_000_000;
        let answer = opened.session.answer(request);
        self.freshness =
            Some(FreshnessNote::at(as_of_ms).with_unsettled(opened.session.take_unsettled_count()));
        let scan = opened.session.last_scan().map(|report| scan_line(&report.into()));
        opened.bar.finish();
        self.report_notes(opened);
        self.output.verbose_message(scan.as_deref().unwrap_or("looked at the named files alone"));
        self.freshness.as_ref().map_or(Ok(()), |note| note.require_fresh(self.require_fresh))?;
        answer
    }

    /// Makes sure that an answer is out, and has the project remember so.
    pub(super) fn mark_delivered(&mut self, opened: &mut OpenProject<'_, '_>) -> Result<(), CommandError> {
        self.output.flush()?;
        opened.session.mark_delivered();
        self.report_notes(opened);
        Ok(())
    }

    pub(super) fn report_notes(&mut self, opened: &mut OpenProject<'_, '_>) {
        for note in opened.session.take_notes() {
            self.output.note(&note);
        }
    }
}

fn to_any_answer(response: QueryResponse) -> AnyAnswer {
    AnyAnswer::from_response(response).expect("what is asked in words is answered by an answer")
}

/// Says whether an ask is one that no daemon answers as this process does.
fn is_local_only(ask: &AnyQuery) -> bool {
    match ask {
        AnyQuery::Aggregate(ask) => {
            // They may lie outside of the project, which the daemon shows to nobody.
            let names_files_elsewhere = ask.beside.history.is_some() || !ask.beside.screenshots.is_empty();
            // Changes that are left out of the next document must have been written, not only sent; that is known here.
            names_files_elsewhere || ask.since_last
        }
        AnyQuery::Index(_)
        | AnyQuery::Files
        | AnyQuery::Outline(_)
        | AnyQuery::View(_)
        | AnyQuery::Symbols(_)
        | AnyQuery::Explain(_)
        | AnyQuery::CacheStatus
        | AnyQuery::CacheClear(_)
        | AnyQuery::CacheVerify
        | AnyQuery::CacheCollect(_)
        | AnyQuery::Audit => false,
    }
}

/// Returns what a scan did, on one line.
pub(super) fn scan_line(report: &IndexRun) -> String {
    format!(
        "{} files: {} read, {} derived, {} known already, {} gone, {} left out{}; {}",
        format_grouped(report.files),
        format_grouped(report.hashed),
        format_grouped(report.parsed),
        format_grouped(report.reused),
        format_grouped(report.removed),
        format_grouped(report.left_out.values().sum()),
        left_out_counts(&report.left_out),
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
pub(super) fn items_of<'a>(file: Option<&str>, desk: &CommandContext<'a>) -> Vec<&'a FileItem> {
    let wanted = file.map(|file| plain_path(&desk.location.resolve_path(file)));
    let is_wanted = |item: &&FileItem| wanted.as_ref().is_none_or(|path| plain_path(&item.path) == *path);
    desk.loaded.curation.files.iter().filter(is_wanted).collect()
}

/// Returns those of some paths that are not there. A pattern is never gone: it may come to match again.
pub(super) fn missing_paths<'p>(
    paths: impl Iterator<Item = &'p str>,
    desk: &CommandContext<'_>,
) -> Vec<String> {
    let is_gone = |path: &&str| {
        let is_pattern = path.contains(['*', '?', '[', '{']);
        let full = desk.location.root.join(path);
        !is_pattern && !full.exists() && !full.is_symlink()
    };
    paths.filter(is_gone).map(str::to_owned).collect()
}
