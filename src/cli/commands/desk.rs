//! What most commands work with.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::api::Answer;
use crate::api::Answered;
use crate::api::Ask;
use crate::api::AskOptions;
use crate::api::Fault;
use crate::api::FreshnessNote;
use crate::api::IndexRun;
use crate::api::Request;
use crate::api::Response;
use crate::api::Session;
use crate::api::World;
use crate::api::envelope;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::place::Place;
use crate::cli::progress::Bar;
use crate::config::Loaded;
use crate::config::edit::plain_path;
use crate::daemon::Places;
use crate::daemon::ask_daemon;
use crate::model::FileItem;
use crate::model::LeftOut;
use crate::model::printable;
use crate::render::grouped;
use crate::render::seconds;
use crate::service::Asker;
use crate::service::SETTINGS_FILE;
use crate::service::resolve;
use crate::sys::Clock;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;

/// The project, its settings, and a way to ask.
pub(super) struct Desk<'a> {
    pub(super) place: &'a Place,
    pub(super) loaded: &'a Loaded,
    pub(super) output: &'a mut Output,
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
pub(super) struct Opened<'s, 'w> {
    pub(super) session: &'s mut Session<'w>,
    bar: &'s Bar,
}

impl Desk<'_> {
    /// Asks the daemon, if one runs, else answers from the files in this process.
    pub(super) fn ask(&mut self, ask: Ask) -> Result<Answer, Failure> {
        self.ask_and_write(ask, |_, _| Ok(()))
    }

    /// Asks as [`Desk::ask`] does, and writes the answer while whoever answers waits to hear that it has arrived.
    pub(super) fn ask_and_write(
        &mut self,
        ask: Ask,
        write: impl FnOnce(&mut Self, &Answer) -> Result<(), Failure>,
    ) -> Result<Answer, Failure> {
        if let Some(answer) = self.ask_daemon(&ask) {
            let answer = answer?;
            write(self, &answer)?;
            return Ok(answer);
        }
        let request = self.resolve(ask)?;
        self.open(request.uses_cache(), |desk, opened| {
            let answer = answer_of(desk.answer_in(opened, request)?);
            write(desk, &answer)?;
            desk.delivered(opened)?;
            Ok(answer)
        })
    }

    /// Asks as [`Desk::ask`] does, while the project is open in this process for something else.
    pub(super) fn ask_while_open(
        &mut self,
        opened: &mut Opened<'_, '_>,
        ask: Ask,
    ) -> Result<Answer, Failure> {
        if let Some(answer) = self.ask_daemon(&ask) {
            return Ok(answer?);
        }
        let request = self.resolve(ask)?;
        Ok(answer_of(self.answer_in(opened, request)?))
    }

    /// Returns what an ask means here.
    pub(super) fn resolve(&self, ask: Ask) -> Result<Request, Fault> {
        resolve(ask, self.loaded, &self.place.root, Asker::Person)
    }

    /// Asks the daemon. `None` where there is none that could answer as this process would.
    fn ask_daemon(&mut self, ask: &Ask) -> Option<Result<Answer, Fault>> {
        if self.without_daemon || is_ours_alone(ask) {
            return None;
        }
        let bar = Bar::new(self.output.has_audience() && !self.output.json);
        let fingerprint = self.loaded.fingerprint();
        let mut progress = |done, total| bar.reaches(done, total);
        let options = AskOptions {
            require_fresh: self.require_fresh,
            settings: Some(&fingerprint),
            job: None,
            progress: Some(&mut progress),
        };
        let answered = ask_daemon(&self.places(), ask, options)?;
        bar.finish();
        match answered {
            Ok(answered) => self.take(ask, answered).map(Ok),
            Err(fault) => Some(Err(fault)),
        }
    }

    /// Reads what the daemon answered, and tells what it stumbled over. `None` where it cannot be read.
    fn take(&mut self, ask: &Ask, answered: Answered) -> Option<Answer> {
        let answer = match Answer::decode(ask, &answered.data) {
            Ok(answer) => answer,
            Err(error) => {
                self.output.trace(&format!("the daemon's answer cannot be read: {error}"));
                return None;
            }
        };
        for note in &answered.notes {
            self.output.note(note);
        }
        let clock = answered.freshness.clock.as_deref().unwrap_or("-");
        self.output.trace(&format!("answered by the daemon at {clock}"));
        self.freshness = Some(answered.freshness);
        Some(answer)
    }

    /// Writes a line with what a project's file says, which may hold what a terminal would obey.
    pub(super) fn line(&mut self, line: &str) -> Result<(), Failure> {
        Ok(self.output.line(&printable(line))?)
    }

    /// Returns where the project's daemon has its files.
    pub(super) fn places(&self) -> Places {
        let root = &self.place.root;
        Places::of(root, &self.loaded.engine_options(root).cache_dir, self.runtime)
    }

    /// Returns the project's settings file, whether it is there or not.
    pub(super) fn settings_file(&self) -> PathBuf {
        self.place.root.join(SETTINGS_FILE)
    }

    /// Writes the one answer of a command as JSON.
    pub(super) fn write_data(&mut self, data: &impl Serialize) -> Result<(), Failure> {
        Ok(self.output.answer(&envelope(self.command, self.freshness.as_ref(), data))?)
    }

    /// Requests what no ask is for of the project, in this process.
    pub(super) fn request(&mut self, request: Request) -> Result<Response, Failure> {
        Ok(self.answer(request)?)
    }

    /// Requests as [`Desk::request`] does; what to do about a fault is left to the command.
    pub(super) fn answer(&mut self, request: Request) -> Result<Response, Fault> {
        self.open(request.uses_cache(), |desk, opened| desk.answer_in(opened, request))
    }

    /// Opens the project in this process, with its cache where that is of use.
    pub(super) fn open<T, E: From<Fault>>(
        &mut self,
        uses_cache: bool,
        work: impl FnOnce(&mut Self, &mut Opened<'_, '_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let root = &self.place.root;
        let files = RealFiles::open(root).map_err(|error| Fault::no_project(root, &error))?;
        let bar = Bar::new(self.output.has_audience() && !self.output.json);
        let world = World {
            clock: &WallClock,
            disk: &RealDisk,
            files: &files,
            processes: &RealProcesses,
            progress: &bar,
        };
        let mut options = self.loaded.engine_options(root);
        options.cache_enabled &= uses_cache;
        let mut session = Session::open(root, options, world)?;
        work(self, &mut Opened { session: &mut session, bar: &bar })
    }

    /// Answers in this process, and tells what the project stumbled over.
    pub(super) fn answer_in(
        &mut self,
        opened: &mut Opened<'_, '_>,
        request: Request,
    ) -> Result<Response, Fault> {
        let as_of_ms = WallClock.now_ns() / 1_000_000;
        let answer = opened.session.answer(request);
        self.freshness = Some(FreshnessNote::at(as_of_ms).unsettled(opened.session.take_unsettled()));
        let scan = opened.session.last_scan().map(|report| scan_line(&report.into()));
        opened.bar.finish();
        self.tell_notes(opened);
        self.output.trace(scan.as_deref().unwrap_or("looked at the named files alone"));
        self.freshness.as_ref().map_or(Ok(()), |note| note.check(self.require_fresh))?;
        answer
    }

    /// Makes sure that an answer is out, and has the project remember so.
    pub(super) fn delivered(&mut self, opened: &mut Opened<'_, '_>) -> Result<(), Failure> {
        self.output.finish()?;
        opened.session.delivered();
        self.tell_notes(opened);
        Ok(())
    }

    pub(super) fn tell_notes(&mut self, opened: &mut Opened<'_, '_>) {
        for note in opened.session.take_notes() {
            self.output.note(&note);
        }
    }
}

fn answer_of(response: Response) -> Answer {
    Answer::of(response).expect("what is asked in words is answered by an answer")
}

/// Says whether an ask is one that no daemon answers as this process does.
fn is_ours_alone(ask: &Ask) -> bool {
    match ask {
        Ask::Aggregate(ask) => {
            // They may lie outside of the project, which the daemon shows to nobody.
            let names_files_elsewhere = ask.beside.history.is_some() || !ask.beside.screenshots.is_empty();
            // Changes that are left out of the next document must have been written, not only sent; that is known here.
            names_files_elsewhere || ask.since_last
        }
        Ask::Index(_)
        | Ask::Files
        | Ask::Outline(_)
        | Ask::View(_)
        | Ask::Symbols(_)
        | Ask::Explain(_)
        | Ask::CacheStatus
        | Ask::CacheClear(_)
        | Ask::CacheVerify
        | Ask::CacheCollect(_)
        | Ask::Audit => false,
    }
}

/// Returns what a scan did, on one line.
pub(super) fn scan_line(report: &IndexRun) -> String {
    format!(
        "{} files: {} read, {} derived, {} known already, {} gone, {} left out{}; {}",
        grouped(report.files),
        grouped(report.hashed),
        grouped(report.parsed),
        grouped(report.reused),
        grouped(report.removed),
        grouped(report.left_out.values().sum()),
        reasons(&report.left_out),
        seconds(report.elapsed()),
    )
}

/// Returns how many files were left out for each reason: ` (binary 12, symlink 1)`.
fn reasons(left_out: &BTreeMap<String, u64>) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    let known = LeftOut::ALL.iter().filter_map(|reason| left_out.get_key_value(reason.name()));
    let reasons: Vec<String> = known.map(|(reason, count)| format!("{reason} {count}")).collect();
    format!(" ({})", reasons.join(", "))
}

/// Returns the items of `slop.toml`, all of them or those of one path.
pub(super) fn items_of<'a>(file: Option<&str>, desk: &Desk<'a>) -> Vec<&'a FileItem> {
    let wanted = file.map(|file| plain_path(&desk.place.word(file)));
    let is_wanted = |item: &&FileItem| wanted.as_ref().is_none_or(|path| plain_path(&item.path) == *path);
    desk.loaded.curation.files.iter().filter(is_wanted).collect()
}

/// Returns those of some paths that are not there. A pattern is never gone: it may come to match again.
pub(super) fn gone<'p>(paths: impl Iterator<Item = &'p str>, desk: &Desk<'_>) -> Vec<String> {
    let is_gone = |path: &&str| {
        let is_pattern = path.contains(['*', '?', '[', '{']);
        let full = desk.place.root.join(path);
        !is_pattern && !full.exists() && !full.is_symlink()
    };
    paths.filter(is_gone).map(str::to_owned).collect()
}
