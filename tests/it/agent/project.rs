//! A project whose user has a model at a server of the test's, and what is asked and answered there.

use std::process::Command;

use serde_json::Value;

use super::KEY;
use super::server::ModelServer;
use super::server::ServerAction;
use crate::sandbox::CommandOutput;
use crate::sandbox::Sandbox;
use crate::sandbox::data;
use crate::sandbox::run;

/// What `[agent]` says where a test says nothing else: no waiting, and as many calls as anybody wants.
const PLAIN: &str = "models = [\"mock/m\"]\nstill_seconds = 0\nleast_bytes = 0\nrequests_per_minute = 100000\n\
                     tokens_per_minute = 1000000000\n";

/// What one response of [`ok_response`] costs in billionths of a dollar: 100 input tokens at $1 and 20 output tokens at
/// $10 per million.
pub(crate) const CALL_COST: u64 = 100 * 1_000 + 20 * 10_000;

/// A project whose user has a model at a server of the test's.
pub(crate) struct AgentProject {
    pub(crate) sandbox: Sandbox,
    pub(crate) server: ModelServer,
}

impl AgentProject {
    /// A project without files, and a server that speaks as Anthropic does.
    pub(crate) fn new(server: ModelServer) -> Self {
        let project = Self { sandbox: Sandbox::repo(), server };
        project.write_agent_settings("", "");
        project
    }

    /// A project with one file in it, and a server that does this.
    pub(crate) fn with_file(acts: impl IntoIterator<Item = ServerAction>) -> Self {
        let project = Self::new(ModelServer::with_responses(acts));
        project.sandbox.write("one.py", module_source("one"));
        project
    }

    /// Writes the user's settings: further lines of `[agent]`, and whole tables.
    pub(crate) fn write_agent_settings(&self, agent: &str, tables: &str) {
        self.write_wire_settings("anthropic", agent, tables);
    }

    /// Writes the user's settings, with a server that speaks so.
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

    /// Writes the user's settings as they stand.
    pub(crate) fn write_settings(&self, text: &str) {
        self.sandbox.write_user_settings(text);
    }

    /// The program, with the key in its surroundings.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(arguments);
        command.env("MOCK_KEY", KEY).env("SLOP_NO_DAEMON", "1");
        command
    }

    /// Runs the program with the key in its surroundings.
    #[track_caller]
    pub(crate) fn slop(&self, arguments: &[&str]) -> CommandOutput {
        run(self.command(arguments))
    }

    /// Has the model asked.
    #[track_caller]
    pub(crate) fn summarize(&self) -> CommandOutput {
        self.slop(&["summarize", "--yes"])
    }

    /// Has the model asked, which is to succeed, and returns the data in the envelope.
    #[track_caller]
    pub(crate) fn summarize_json(&self) -> Value {
        self.json(&["summarize", "--yes"])
    }

    /// Runs the program with `--json`, which is to succeed, and returns the data in the envelope.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.slop(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        data(&ran.out)
    }

    /// Returns what the account says of calls and of money, in billionths of a dollar.
    #[track_caller]
    pub(crate) fn usage(&self) -> (u64, u64) {
        let usage = self.json(&["agent", "usage"]);
        let calls = usage["rows"].as_array().unwrap().iter().map(|row| row["calls"].as_u64().unwrap()).sum();
        (calls, usd_nanos(&usage["total_usd"]))
    }
}

/// Returns an amount of dollars in billionths.
#[track_caller]
pub(crate) fn usd_nanos(amount: &Value) -> u64 {
    let (whole, part) = amount.as_str().unwrap().split_once('.').unwrap_or((amount.as_str().unwrap(), ""));
    format!("{whole}{part:0<9}").parse().unwrap()
}

/// Returns a file in Python that is like no other.
pub(crate) fn module_source(name: &str) -> String {
    let line = |line: u8| format!("    total += {line} * weight\n");
    let lines: String = (0..6).map(line).collect();
    format!(
        "\"\"\"Counts for {name}.\"\"\"\n\n\ndef count_{name}(weight):\n    total = 0\n{lines}    return total\n"
    )
}

/// Returns good words about anything.
pub(crate) fn ok_response() -> ServerAction {
    ServerAction::both("Counts what it is given.", "`count` adds products up, and returns their sum.")
}

/// Returns an error as Anthropic words it.
pub(crate) fn error_response(status: u16, kind: &str, message: &str) -> ServerAction {
    let error = serde_json::json!({"type": kind, "message": message});
    ServerAction::json(status, &serde_json::json!({"type": "error", "error": error}))
}

/// Names a model of Anthropic's for the user, at that server, and these other settings of `[agent]`.
pub(crate) fn choose_model(sandbox: &Sandbox, server: &ModelServer, agent: &str) {
    let text = format!(
        "[agent]\nmodels = ['anthropic/claude-haiku-4-5']\nstill_seconds = 0\n{agent}\n\
         [providers.anthropic]\nbase_url = '{}'\n",
        server.url()
    );
    sandbox.write_user_settings(&text);
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
