//! A progress bar on the terminal, for long runs.

use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::api::{ProgressObserver, ScanProgress};
use crate::model::lock;

/// A run that ends sooner shows no bar.
const SHOW_AFTER: Duration = Duration::from_millis(250);

pub(super) struct TerminalProgress {
    is_watched: bool,
    template: &'static str,
    drawn: Mutex<Option<ProgressBar>>,
}

const OF_FILES: &str = "{bar:32} {pos}/{len} files, {eta} left";
const OF_QUESTIONS: &str = "{bar:32} {pos}/{len} tasks, {msg}";

impl TerminalProgress {
    pub(super) fn new(is_watched: bool) -> Self {
        Self { is_watched, template: OF_FILES, drawn: Mutex::new(None) }
    }

    /// Returns a bar that counts calls to models, with a message.
    pub(super) fn for_questions(is_watched: bool) -> Self {
        Self { is_watched, template: OF_QUESTIONS, drawn: Mutex::new(None) }
    }

    pub(super) fn set_message(&self, words: String) {
        self.with_bar(|bar| bar.set_message(words));
    }

    /// Sets the total number of steps.
    pub(super) fn set_total(&self, total: usize) {
        self.with_bar(|bar| bar.set_length(total as u64));
    }

    /// Shows how many files are done, of how many.
    pub(super) fn set_position(&self, done: usize, total: usize) {
        // A daemon's progress may begin in the middle, without a first report of zero files.
        let is_new = lock(&self.drawn).is_none();
        if is_new && 0 < total {
            self.begin(total);
        }
        self.with_bar(|bar| bar.set_position(done as u64));
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = lock(&self.drawn).take() {
            bar.finish_and_clear();
        }
    }

    /// Changes the bar if there is one, and shows it if it has been silent for long enough.
    fn with_bar(&self, change: impl FnOnce(&ProgressBar)) {
        let slot = lock(&self.drawn);
        let Some(bar) = slot.as_ref() else { return };
        change(bar);
        if bar.is_hidden() && SHOW_AFTER < bar.elapsed() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl ScanProgress for TerminalProgress {
    fn begin(&self, files: usize) {
        if !self.is_watched {
            return;
        }
        // Hidden at first: a short run should not flash a bar, see `with_bar`.
        let bar = ProgressBar::with_draw_target(Some(files as u64), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(self.template);
        bar.set_style(style.expect("the template is a constant that was tried"));
        *lock(&self.drawn) = Some(bar);
    }

    fn advance(&self) {
        self.with_bar(|bar| bar.inc(1));
    }
}

impl ProgressObserver for TerminalProgress {
    fn progress(&self, done: usize, total: usize) {
        if done == 0 {
            self.begin(total);
        }
        self.set_position(done, total);
    }
}

impl Drop for TerminalProgress {
    fn drop(&mut self) {
        self.finish();
    }
}
