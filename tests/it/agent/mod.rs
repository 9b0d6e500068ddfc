//! The sub-agent at the door: the real binary, and a server that a test writes the lines for.
//!
//! Where a row of the table of failures takes a quarter of an hour or more, the tests of the room `llm`, with a clock
//! that is told the time, stand for it: `attempt.rs`, `breaker.rs`, `retry_after.rs` and `budget.rs`.

mod asking;
mod batches;
mod crashes;
pub(crate) mod desk;
mod documents;
mod injection;
mod keys;
mod looking;
mod money;
mod offline;
mod prompts;
mod redirects;
mod refusals;
mod retries;
mod secrets;
pub(crate) mod server;
mod single_flight;
mod trust;
mod wire_faults;

use std::fs;
use std::process::Command;

use super::sandbox::CommandOutput;
use super::sandbox::Sandbox;
use super::sandbox::run;
use desk::AgentProject;
use desk::error_response;
use desk::module_source;
use desk::ok_response;
use desk::usd_nanos;
use desk::wait_until;
use server::ModelServer;

/// What no output may ever hold.
pub(crate) const KEY: &str = "the-key-that-nobody-shows";

/// Writes the user's own settings file.
pub(crate) fn write_user_file(sandbox: &Sandbox, text: &str) {
    let folder = sandbox.outside("config/slop");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), text).unwrap();
}

/// Names a model of Anthropic's for the user, at that server, and these other settings of `[agent]`.
pub(crate) fn choose_model(sandbox: &Sandbox, server: &ModelServer, agent: &str) {
    let text = format!(
        "[agent]\nmodels = ['anthropic/claude-haiku-4-5']\nstill_seconds = 0\n{agent}\n\
         [providers.anthropic]\nbase_url = '{}'\n",
        server.url()
    );
    write_user_file(sandbox, &text);
}

/// Returns the program, with the key where it is looked for.
pub(crate) fn with_key(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(arguments);
    command.env("ANTHROPIC_API_KEY", KEY);
    command
}

/// Runs the program with the key where it is looked for, and sees that it does not come out.
#[track_caller]
pub(crate) fn run_with_key(sandbox: &Sandbox, arguments: &[&str]) -> CommandOutput {
    let ran = run(with_key(sandbox, arguments));
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{ran:?}");
    ran
}

/// Returns a text of Python that is long enough to be asked about.
pub(crate) fn module_text(name: &str) -> String {
    let method = |number| format!("    def step_{number}(self, value):\n        return value + {number}\n\n");
    let methods: String = (0..12).map(method).collect();
    format!("\"\"\"Does {name}.\"\"\"\n\n\nclass {name}:\n{methods}")
}

/// Returns a project with two modules in a folder.
pub(crate) fn two_modules() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("src/one.py", module_text("One"));
    sandbox.write("src/two.py", module_text("Two"));
    sandbox.commit_all("all");
    sandbox
}
