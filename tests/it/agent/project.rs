//! A project whose user settings name a model on the test's server, and common responses of that server.

use std::process::Command;

use serde_json::Value;

use super::KEY;
use super::server::{ModelServer, ServerAction};
use crate::sandbox::{CommandOutput, Sandbox, data, run};

/// The default `[agent]` settings of tests: no waiting, and no limits on the rate of calls.
const PLAIN: &str = "models = [\"mock/m\"]\nstill_seconds = 0\nleast_bytes = 0\nrequests_per_minute = 100000\n\
                     tokens_per_minute = 1000000000\n";

/// What one response of [`ok_response`] costs in billionths of a dollar: 100 input tokens at $1 and 20 output tokens at
/// $10 per million.
pub(crate) const CALL_COST: u64 = 100 * 1_000 + 20 * 10_000;

/// A project whose user settings name a model on the test's server.
pub(crate) struct AgentProject {
    pub(crate) sandbox: Sandbox,
    pub(crate) server: ModelServer,
}

impl AgentProject {
    /// Returns a project without files, for a server with Anthropic's API.
    pub(crate) fn new(server: ModelServer) -> Self {
        let project = Self { sandbox: Sandbox::repo(), server };
        project.write_agent_settings("", "");
        project
    }

    /// Returns a project with one file, and a server that performs these actions.
    pub(crate) fn with_file(acts: impl IntoIterator<Item = ServerAction>) -> Self {
        let project = Self::new(ModelServer::with_responses(acts));
        project.sandbox.write("one.py", module_source("one"));
        project
    }

    /// Writes the user's settings with additional lines of `[agent]` and additional tables.
    pub(crate) fn write_agent_settings(&self, agent: &str, tables: &str) {
        self.write_wire_settings("anthropic", agent, tables);
    }

    /// Writes the user's settings for a server with this wire.
    pub(crate) fn write_wire_settings(&self, wire: &str, agent: &str, tables: &str) {
        let url = self.server.url();
        let base = if wire == "chat" || wire == "responses" { format!("{url}/v1") } else { url };
        let text = format!(
            "[agent]\n{PLAIN}{agent}\n[providers.mock]\nwire = \"{wire}\"\nbase_url = \"{base}\"\n\
             key_variables = [\"MOCK_KEY\"]\nneeds_key = true\nbatches = true\n\
             [prices.\"mock/m\"]\ninput = \"1.00\"\noutput = \"10.00\"\n{tables}"
        );
        self.write_settings(&text);
    }

    /// Writes the user's settings verbatim.
    pub(crate) fn write_settings(&self, text: &str) {
        self.sandbox.write_user_settings(text);
    }

    /// Returns the command with the API key in its environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(arguments);
        command.env("MOCK_KEY", KEY).env("SLOP_NO_DAEMON", "1");
        command
    }

    /// Runs the program with the API key in its environment.
    #[track_caller]
    pub(crate) fn slop(&self, arguments: &[&str]) -> CommandOutput {
        run(self.command(arguments))
    }

    /// Runs `slop summarize --yes`.
    #[track_caller]
    pub(crate) fn summarize(&self) -> CommandOutput {
        self.slop(&["summarize", "--yes"])
    }

    /// Runs `slop summarize --yes --json`, which must succeed, and returns the data in the envelope.
    #[track_caller]
    pub(crate) fn summarize_json(&self) -> Value {
        self.json(&["summarize", "--yes"])
    }

    /// Runs the program with `--json`, which must succeed, and returns the data in the envelope.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.slop(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        data(&ran.out)
    }

    /// Returns the recorded number of calls and their cost in billionths of a dollar.
    #[track_caller]
    pub(crate) fn usage(&self) -> (u64, u64) {
        let usage = self.json(&["agent", "usage"]);
        let calls = usage["rows"].as_array().unwrap().iter().map(|row| row["calls"].as_u64().unwrap()).sum();
        (calls, usd_nanos(&usage["total_usd"]))
    }
}

/// Converts an amount of dollars to billionths.
#[track_caller]
pub(crate) fn usd_nanos(amount: &Value) -> u64 {
    let (whole, part) = amount.as_str().unwrap().split_once('.').unwrap_or((amount.as_str().unwrap(), ""));
    format!("{whole}{part:0<9}").parse().unwrap()
}

/// Returns Python source that is unique to `name`.
pub(crate) fn module_source(name: &str) -> String {
    let line = |line: u8| format!("    total += {line} * weight\n");
    let lines: String = (0..6).map(line).collect();
    format!(
        "\"\"\"Counts for {name}.\"\"\"\n\n\ndef count_{name}(weight):\n    total = 0\n{lines}    return total\n"
    )
}

/// Returns a valid response for any file.
pub(crate) fn ok_response() -> ServerAction {
    ServerAction::both("Counts what it is given.", "`count` adds products up, and returns their sum.")
}

/// Returns an error in Anthropic's format.
pub(crate) fn error_response(status: u16, kind: &str, message: &str) -> ServerAction {
    let error = serde_json::json!({"type": kind, "message": message});
    ServerAction::json(status, &serde_json::json!({"type": "error", "error": error}))
}

/// Writes user settings with one of Anthropic's models on that server, and other settings of `[agent]`.
pub(crate) fn choose_model(sandbox: &Sandbox, server: &ModelServer, agent: &str) {
    let text = format!(
        "[agent]\nmodels = ['anthropic/claude-haiku-4-5']\nstill_seconds = 0\n{agent}\n\
         [providers.anthropic]\nbase_url = '{}'\n",
        server.url()
    );
    sandbox.write_user_settings(&text);
}

/// Returns the command with the API key in `ANTHROPIC_API_KEY`.
pub(crate) fn with_key(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(arguments);
    command.env("ANTHROPIC_API_KEY", KEY);
    command
}

/// Runs the program with the API key and checks that the output does not contain it.
#[track_caller]
pub(crate) fn run_with_key(sandbox: &Sandbox, arguments: &[&str]) -> CommandOutput {
    let ran = run(with_key(sandbox, arguments));
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{ran:?}");
    ran
}
