//! Tasks and prompts with real files, a real store and a real database of summaries, and a record of reads.

mod asked;
mod withheld;
mod worded;

use std::time::Duration;

use super::preview::PromptPreview;
use super::task::{
    PreparedPrompt, SubjectLocation, SummaryPolicy, SummaryTask, SummaryTasks, WithheldReason, summary_keys,
};
use crate::discover;
use crate::engine::error::Error;
use crate::engine::index::Trust;
use crate::engine::testing::{TestProject, options};
use crate::model::{FileItem, ModelName, Money, SummaryModel, SummaryScope, Tier, TokenUsage};
use crate::store::agent::{
    AgentDb, ClaimStatus, SpendCaps, SpendOutcome, SpendReservation, SpendSettlement, StoredSummary, TaskKeys,
};
use crate::sys::{Clock, Disk, RealDisk};

const HOLDER: &str = "agent-0123456789abcdef.lock";

/// Returns a project whose files have not been written for an hour.
fn rested(files: &[(&str, &str)]) -> TestProject {
    let bench = TestProject::new(files);
    bench.wait(3_600);
    bench
}

fn list_tasks(bench: &TestProject, policy: &SummaryPolicy) -> SummaryTasks {
    bench.open(options()).summary_tasks(policy).unwrap()
}

fn agent_db(bench: &TestProject) -> AgentDb {
    AgentDb::open(&bench.agent_db()).unwrap().db
}

/// Stores an answer to a task, like a model's.
fn answer(db: &mut AgentDb, task: &SummaryTask, policy: &SummaryPolicy) {
    let by = &policy.models[0].name;
    let keys = summary_keys(task, policy, by);
    assert_eq!(keys[0].1, task.id);
    let wanted: Vec<_> = keys.iter().map(|(_, key)| *key).collect();
    assert_eq!(
        db.claim(TaskKeys { task: task.id, refusal: task.id }, &wanted, HOLDER, 0, &|_| true).unwrap(),
        ClaimStatus::Acquired
    );
    let reservation = SpendReservation {
        task_key: task.id,
        model: by.clone(),
        max_cost: Money::from_nanos(1),
        holder: HOLDER.to_owned(),
        is_batch: false,
        at_ms: 0,
        day: 0,
    };
    let most = Money::from_nanos(u64::MAX / 4);
    let caps = SpendCaps { day: most, total: most, calls_a_day: u64::MAX / 4 };
    let spend = db.reserve(&reservation, &caps).unwrap().unwrap();
    let settlement = SpendSettlement {
        outcome: SpendOutcome::Answered,
        cost: None,
        tokens: TokenUsage::default(),
        request_id: None,
        at_ms: 0,
    };
    let summary = |(tier, key): &(Tier, _)| StoredSummary {
        key: *key,
        subject: task.subject,
        language: task.language.to_owned(),
        scope: task.scope,
        tier: *tier,
        prompt: task.strategy.versioned(),
        model: by.clone(),
        text: format!("A model's words about {}.", task.subject.short_hex()),
        tokens: TokenUsage::default(),
        cost: Money::ZERO,
        at_ms: 0,
    };
    let summaries: Vec<StoredSummary> = keys.iter().map(summary).collect();
    db.record_answer(spend, &settlement, &task.id, HOLDER, &summaries, &[]).unwrap();
}

/// Records that a model refused a task, until `until`, or forever.
fn refuse(db: &mut AgentDb, task: &SummaryTask, reason: &str, until: Option<i64>) {
    let keys = TaskKeys { task: task.id, refusal: policy().refusal_key(&task.id) };
    db.claim(keys, &[task.id], HOLDER, 0, &|_| true).unwrap();
    db.record_refusal(keys, HOLDER, reason, until, 0).unwrap();
}

/// Answers every task until none is left, and returns their names for each round.
fn answer_all(bench: &TestProject, policy: &SummaryPolicy) -> Vec<Vec<String>> {
    let mut rounds = Vec::new();
    loop {
        let tasks = list_tasks(bench, policy);
        if tasks.ready.is_empty() {
            assert_eq!(tasks.waiting_folders, 0);
            return rounds;
        }
        let mut db = agent_db(bench);
        for task in &tasks.ready {
            answer(&mut db, task, policy);
        }
        rounds.push(names(&tasks));
    }
}

fn names(tasks: &SummaryTasks) -> Vec<String> {
    let name = |task: &SummaryTask| match &task.location {
        SubjectLocation::File(path) => path.to_string(),
        SubjectLocation::Folder(path) => format!("{path}/"),
        SubjectLocation::Root => ".".to_owned(),
    };
    let mut names: Vec<String> = tasks.ready.iter().map(name).collect();
    names.sort();
    names
}

fn policy() -> SummaryPolicy {
    let name = ModelName { provider: "test".to_owned(), model: "one".to_owned() };
    SummaryPolicy {
        tiers: vec![Tier::Orchestrator, Tier::TechLead],
        models: vec![SummaryModel::plain(name)],
        provider_chain: String::new(),
        paths: Vec::new(),
        exclude: Vec::new(),
        items: Vec::new(),
        min_age: Duration::from_mins(1),
        material_bytes: 4_000,
        answer_tokens: 300,
        redacts: false,
        min_bytes: 20,
        secret_names: discover::Options::default(),
        retries: false,
    }
}

/// A program that is long enough to be asked about.
fn program(name: &str) -> String {
    format!("def {name}():\n    \"\"\"Does what {name} does.\"\"\"\n    return 1\n")
}

fn bench(paths: &[&str]) -> TestProject {
    let texts: Vec<(&str, String)> = paths.iter().map(|path| (*path, program(&function(path)))).collect();
    let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    rested(&files)
}

fn function(path: &str) -> String {
    path.replace(['/', '.'], "_")
}

const FILES: &[&str] = &["src/a.py", "src/b.py", "src/deep/c.py", "src/deep/d.py", "tools/e.py", "f.py"];
