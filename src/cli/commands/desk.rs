//! What most commands work with.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use crate::api::Fault;
use crate::api::IndexReport;
use crate::api::Request;
use crate::api::Response;
use crate::api::Session;
use crate::api::Trust;
use crate::api::World;
use crate::api::envelope;
use crate::api::envelope_of;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::place::Place;
use crate::cli::place::SETTINGS_FILE;
use crate::cli::progress::Bar;
use crate::config::Loaded;
use crate::config::edit::plain_path;
use crate::model::FileItem;
use crate::model::LeftOut;
use crate::model::printable;
use crate::render::grouped;
use crate::render::seconds;
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
    /// The command's name, as it stands in JSON.
    pub(super) command: &'static str,
}

impl Desk<'_> {
    /// Asks the project, and tells what it stumbled over.
    pub(super) fn ask(&mut self, request: Request) -> Result<Response, Failure> {
        Ok(self.answer(request)?)
    }

    /// Writes a line with what a project's file says, which may hold what a terminal would obey.
    pub(super) fn line(&mut self, line: &str) -> Result<(), Failure> {
        Ok(self.output.line(&printable(line))?)
    }

    /// Returns the project's settings file, whether it is there or not.
    pub(super) fn settings_file(&self) -> PathBuf {
        self.place.root.join(SETTINGS_FILE)
    }

    /// Writes data that is no project's answer as JSON.
    pub(super) fn write_data(&mut self, data: &serde_json::Value) -> Result<(), Failure> {
        Ok(self.output.answer(&envelope_of(self.command, data))?)
    }

    /// Writes an answer as JSON.
    pub(super) fn write_json(&mut self, response: &Response) -> Result<(), Failure> {
        Ok(self.output.answer(&envelope(self.command, Ok(response)))?)
    }

    /// Asks the project; what to do about a fault is left to the command.
    pub(super) fn answer(&mut self, request: Request) -> Result<Response, Fault> {
        Ok(self.answer_and_write(request, |_, _| Ok(()))?.0)
    }

    /// Asks the project, and writes the answer while the project waits to hear that it has arrived.
    pub(super) fn ask_and_write(
        &mut self,
        request: Request,
        write: impl FnOnce(&mut Self, &Response) -> Result<(), Failure>,
    ) -> Result<Response, Failure> {
        let (response, written) = self.answer_and_write(request, write)?;
        written?;
        Ok(response)
    }

    fn answer_and_write(
        &mut self,
        request: Request,
        write: impl FnOnce(&mut Self, &Response) -> Result<(), Failure>,
    ) -> Result<(Response, Result<(), Failure>), Fault> {
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
        let mut options = self.loaded.settings.engine_options(root);
        options.cache_enabled &= request.uses_cache();
        let mut session = Session::open(root, options, world)?;
        let answer = session.answer(request);
        let scan = session.last_scan().map(scan_line);
        bar.finish();
        self.tell_notes(&mut session);
        self.output.trace(scan.as_deref().unwrap_or("looked at the named files alone"));
        let response = answer?;
        let written = write(self, &response).and_then(|()| Ok(self.output.finish()?));
        if written.is_ok() {
            session.delivered();
            self.tell_notes(&mut session);
        }
        Ok((response, written))
    }

    fn tell_notes(&mut self, session: &mut Session<'_>) {
        for note in session.take_notes() {
            self.output.note(&note);
        }
    }
}

/// Returns what a scan did, on one line.
pub(super) fn scan_line(report: &IndexReport) -> String {
    format!(
        "{} files: {} read, {} derived, {} known already, {} gone, {} left out{}; {}",
        grouped(report.files),
        grouped(report.hashed),
        grouped(report.parsed),
        grouped(report.reused),
        grouped(report.removed),
        grouped(report.left_out.values().sum()),
        reasons(&report.left_out),
        seconds(report.elapsed),
    )
}

/// Returns how many files were left out for each reason: ` (binary 12, symlink 1)`.
fn reasons(left_out: &BTreeMap<LeftOut, u64>) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    let reasons: Vec<String> = left_out.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    format!(" ({})", reasons.join(", "))
}

/// Returns how much a stamp may be trusted where a command has the flag `--verify`.
pub(super) fn trust(verify: bool) -> Trust {
    if verify { Trust::Nothing } else { Trust::Stamps }
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
