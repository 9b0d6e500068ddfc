//! Whole runs, against scripted servers and a real database.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::testing::*;
use super::{AgentWorld, Error, NoObserver, PromptSource, StopReason, SubAgentState, SummaryService};
use crate::engine::summaries::{PreparedPrompt, SummaryTask, WithheldReason};
use crate::llm::{Model, Provider, SoftFailure, TokenPrice};
use crate::model::{HttpError, ModelName, Money, SummaryKey, Tier};
use crate::store::agent::{CapExceeded, ClaimStatus, SpendCaps, TaskKeys};

#[test]
fn an_answer_is_stored_for_each_tier_with_its_cost() {
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    let outcome = world.run(&options(vec![model("small")]), vec![task("a")]);
    assert_eq!(counts(&outcome), (1, 0, 0, 1));
    assert_eq!(outcome.spent, ANSWER_COSTS);
    let paid = world.paid();
    for tier in [Tier::Orchestrator, Tier::TechLead] {
        let found = paid.summaries_of_subject(&task("a").subject, "rust", tier).unwrap();
        assert_eq!((found.len(), found[0].text.as_str(), found[0].cost), (1, "It is a file.", ANSWER_COSTS));
    }
    let spent = paid.spend_totals((MIDNIGHT / 86_400).try_into().unwrap()).unwrap();
    assert_eq!((spent.day, spent.calls, spent.reserved), (ANSWER_COSTS, 1, Money::ZERO));
    assert_eq!(paid.latest_summary(b"a", Tier::Orchestrator).unwrap().unwrap().text, "It is a file.");
}

#[test]
fn known_summaries_are_not_requested_again() {
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    let options = options(vec![model("small")]);
    world.run(&options, tasks(3));
    let outcome = world.run(&options, tasks(4));
    assert_eq!((outcome.done, outcome.answered), (3, 1));
    assert_eq!(world.seen().len(), 4);
}

#[test]
fn summaries_of_another_model_of_the_chain_suffice() {
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    world.run(&options(vec![model("large")]), vec![task("a")]);
    let outcome = world.run(&options(vec![model("small"), model("large")]), vec![task("a")]);
    assert_eq!((outcome.done, world.seen().len()), (1, 1));
    assert_eq!(world.run(&options(vec![model("small")]), vec![task("a")]).answered, 1);
}

#[test]
fn a_thousand_equal_tasks_make_one_call() {
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    let mut options = options(vec![model("small")]);
    options.concurrency = 4;
    let offices = [world.service(&options), world.service(&options)];
    std::thread::scope(|scope| {
        for service in &offices {
            scope.spawn(|| service.run(vec![task("a"); 500], &PlainPrompts, &NoObserver, &|| false));
        }
    });
    assert_eq!(world.seen().len(), 1);
    assert_eq!(world.run(&options, vec![task("a")]).done, 1);
    assert_eq!(world.seen().len(), 1);
}

#[test]
fn concurrent_calls_do_not_exceed_the_cap() {
    for most in [1_u64, 10] {
        let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
        let mut options = options(vec![model("small")]);
        options.concurrency = 32;
        options.caps.calls_a_day = most;
        let outcome = world.run(&options, tasks(100));
        assert_eq!(world.seen().len() as u64, most);
        assert!(
            matches!(outcome.stopped, Some(StopReason::OverCap { cap: CapExceeded::Calls, .. })),
            "{outcome:?}"
        );
        assert_eq!(outcome.stopped.unwrap().setting(), Some("agent.calls_per_day"));
    }
}

#[test]
fn worst_costs_never_exceed_the_cap() {
    let world = TestBench::new(|_, _| Err(HttpError::TimedOut(Duration::from_secs(1))));
    let mut options = options(vec![model("small")]);
    options.concurrency = 32;
    let cap = Money::from_nanos(200_000_000);
    options.caps = SpendCaps { day: cap, total: cap, calls_a_day: 1_000 };
    let mut calls = 0;
    for _ in 0..20 {
        calls += world.run(&options, tasks(100)).calls;
    }
    let spent = world.paid().spend_totals((MIDNIGHT / 86_400).try_into().unwrap()).unwrap();
    assert!(spent.total <= cap && 0 < calls, "{spent:?}");
    assert_eq!(calls, world.seen().len() as u64);
    // A call of about 8,000 bytes could cost a cent, so the twentieth does not fit.
    assert!(world.run(&options, tasks(100)).calls <= 1);
}

#[test]
fn a_call_of_a_dead_process_counts_and_is_repeated() {
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    let options = options(vec![model("small")]);
    // The state left by a process that is killed between the response and its commit.
    let mut paid = world.paid();
    let (id, holder) = (task("a").id, "agent-00000000000000ff.lock");
    assert_eq!(
        paid.claim(TaskKeys { task: id, refusal: id }, &[id], holder, 0, &|_| true).unwrap(),
        ClaimStatus::Acquired
    );
    let day = i64::try_from(MIDNIGHT / 86_400).unwrap();
    let reservation = crate::store::agent::SpendReservation {
        task_key: id,
        model: model("small").full_name(),
        max_cost: Money::from_nanos(77_000_000),
        holder: holder.to_owned(),
        is_batch: false,
        at_ms: 0,
        day,
    };
    paid.reserve(&reservation, &options.caps).unwrap().unwrap();
    drop(paid);
    let outcome = world.run(&options, vec![task("a")]);
    assert_eq!(counts(&outcome), (1, 0, 0, 1));
    let spent = world.paid().spend_totals(day).unwrap();
    assert_eq!(spent.total, ANSWER_COSTS + Money::from_nanos(77_000_000));
    assert_eq!((spent.calls, spent.reserved), (2, Money::from_nanos(77_000_000)));
}

#[test]
fn a_claim_of_a_live_process_is_respected() {
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    let options = options(vec![model("small")]);
    let other = world.service(&options);
    let id = task("a").id;
    let claim = other
        .core
        .claims
        .db()
        .claim(TaskKeys { task: id, refusal: id }, &[id], other.core.claims.holder(), 0, &|_| true)
        .unwrap();
    assert_eq!(claim, ClaimStatus::Acquired);
    assert_eq!(world.run(&options, vec![task("a")]).in_progress, 1);
    drop(other);
    assert_eq!(world.run(&options, vec![task("a")]).answered, 1);
}

#[test]
fn a_secret_never_leaves() {
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    let options = options(vec![model("small")]);
    let outcome = world.run(&options, vec![task("secret"), task("a")]);
    assert_eq!((outcome.answered, outcome.withheld.len()), (1, 1));
    assert!(matches!(outcome.withheld[0].1, WithheldReason::Secret { .. }));
    assert!(world.seen().iter().all(|seen| !seen.body.contains("secret")));
    let again = world.run(&options, vec![task("secret")]);
    assert_eq!(again.refused.len(), 1);
    assert!(again.refused[0].1.contains("aws-access-token"));
}

#[test]
fn unknown_costs_count_at_their_worst() {
    let world = TestBench::new(|_, _| Err(HttpError::Broken("reset".to_owned())));
    let outcome = world.run(&options(vec![model("small")]), vec![task("a")]);
    let spent = world.paid().spend_totals((MIDNIGHT / 86_400).try_into().unwrap()).unwrap();
    assert!(ANSWER_COSTS < spent.total && outcome.spent == spent.total, "{spent:?}");
    let world = TestBench::new(|_, _| {
        Err(HttpError::Unreachable { host: "api".to_owned(), why: "no route".to_owned() })
    });
    let outcome = world.run(&options(vec![model("small")]), vec![task("a")]);
    assert_eq!((outcome.spent, outcome.calls), (Money::ZERO, 4));
}

#[test]
fn an_interrupted_run_keeps_its_results_and_counts_the_open_call_at_its_worst_cost() {
    let calls = Arc::new(AtomicUsize::new(0));
    let made = calls.clone();
    let world = TestBench::new(move |_, _| {
        made.fetch_add(1, Ordering::SeqCst);
        Ok(answer("It is a file."))
    });
    let service_options = options(vec![model("small")]);
    let service = world.service(&service_options);
    let is_stopped = || 3 <= calls.load(Ordering::SeqCst);
    let outcome = service.run(tasks(10), &PlainPrompts, &NoObserver, &is_stopped);
    assert_eq!((outcome.answered, outcome.remaining), (3, 7));
    assert!(matches!(outcome.stopped, Some(StopReason::Interrupted)));
    let world = TestBench::new(|_, _| Err(HttpError::Stopped));
    let outcome = world.run(&service_options, tasks(10));
    assert_eq!((outcome.remaining, outcome.calls), (10, 1));
    assert!(ANSWER_COSTS < outcome.spent);
    assert!(matches!(outcome.stopped, Some(StopReason::Interrupted)));
}

#[test]
fn nothing_is_sent_if_spending_cannot_be_recorded() {
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    let service_options = options(vec![model("small")]);
    let service = world.service(&service_options);
    for entry in std::fs::read_dir(world.folder.path()).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let outcome = service.run(tasks(3), &PlainPrompts, &NoObserver, &|| false);
    assert!(matches!(outcome.stopped, Some(StopReason::Store(_))), "{outcome:?}");
    assert_eq!((world.seen().len(), outcome.remaining), (0, 3));
}

#[test]
fn the_first_call_goes_alone_if_the_instructions_are_cached() {
    let alone = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (inside, largest) = (alone.clone(), most.clone());
    let world = TestBench::new(move |number, _| {
        let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
        if number == 0 {
            // A caller that does not wait would be here by now.
            std::thread::sleep(Duration::from_millis(30));
            largest.store(inside.load(Ordering::SeqCst).max(now), Ordering::SeqCst);
        }
        inside.fetch_sub(1, Ordering::SeqCst);
        Ok(answer("It is a file."))
    });
    let mut small = model("small");
    small.min_cacheable_tokens = Some(512);
    let mut options = options(vec![small]);
    options.concurrency = 8;
    let outcome = world.run(&options, tasks(20));
    assert_eq!((outcome.answered, most.load(Ordering::SeqCst)), (20, 1));
    assert!(world.seen()[0].body.contains("cache_control"));
}

#[test]
fn locks_are_deleted_with_their_service() {
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    let service_options = options(vec![model("small")]);
    let locks = || {
        let names = std::fs::read_dir(world.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_str().unwrap().starts_with("agent-")).count()
    };
    let service = world.service(&service_options);
    let before = locks();
    drop(service);
    assert_eq!(locks() + 1, before);
}

#[test]
fn a_program_receives_the_prompt_and_costs_nothing() {
    let world = TestBench::new(|_, _| Ok(answer("not asked")));
    let program = |words: &[&str]| Model {
        provider: Arc::new(Provider {
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            is_free: true,
            ..provider("command")
        }),
        price: Some(TokenPrice::FREE),
        ..model("any")
    };
    let outcome = world.run(&options(vec![program(&["echo", "It is a file."])]), vec![task("a")]);
    assert_eq!((counts(&outcome), outcome.spent), ((1, 0, 0, 1), Money::ZERO));
    assert!(world.seen()[0].body.contains("<a> xxx"));
}

#[test]
fn calls_are_made_in_turn_if_the_caps_have_room_for_one_at_a_time() {
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    let mut options = options(vec![model("small")]);
    options.concurrency = 8;
    // One call may cost a cent and a half, and costs an eighth of a cent.
    options.caps.day = Money::from_nanos(40_000_000);
    let outcome = world.run(&options, tasks(16));
    assert_eq!(counts(&outcome), (16, 0, 0, 16));
}

#[test]
fn a_call_during_a_panic_counts_at_its_worst_cost_and_can_be_repeated() {
    struct FragilePrompts;
    impl PromptSource for FragilePrompts {
        fn keys(&self, task: &SummaryTask, by: &ModelName) -> Vec<(Tier, SummaryKey)> {
            PlainPrompts.keys(task, by)
        }
        fn prepare(&self, task: &SummaryTask, shrink: u8) -> Result<PreparedPrompt, WithheldReason> {
            PlainPrompts.prepare(task, shrink)
        }
        fn check(&self, _task: &SummaryTask, _answer: &str) -> Result<Vec<(Tier, String)>, SoftFailure> {
            panic!("the answer is too much")
        }
    }
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    let service_options = options(vec![model("small")]);
    let service = world.service(&service_options);
    let run = || service.run(vec![task("a")], &FragilePrompts, &NoObserver, &|| false);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
    let worst = service.spent().unwrap().reserved;
    assert!(ANSWER_COSTS < worst);
    assert_eq!(service.run(vec![task("a")], &PlainPrompts, &NoObserver, &|| false).answered, 1);
    assert_eq!(service.spent().unwrap().total, worst + ANSWER_COSTS);
    assert_eq!(service.status().unwrap().in_flight, 0);
    assert_eq!(service.status().unwrap().state, SubAgentState::Idle);
}

#[test]
fn a_service_requires_a_model_a_price_and_a_key() {
    let bench = TestBench::new(|_, _| Ok(answer("not asked")));
    let world = AgentWorld { network: &bench.network, commands: &bench.network, clock: &*bench.clock };
    let open = |chain| {
        SummaryService::open(bench.folder.path(), world, options(chain), BTreeMap::new()).unwrap_err()
    };
    assert!(matches!(open(Vec::new()), Error::NoModels));
    assert!(matches!(open(vec![Model { price: None, ..model("small") }]), Error::NoPrice(_)));
    assert!(matches!(open(vec![model("small")]), Error::NoKey { .. }));
    assert_eq!(std::fs::read_dir(bench.folder.path()).unwrap().count(), 0);
}

#[test]
fn an_implausible_token_count_is_ignored() {
    for (input, output) in [("1000000000000000000", "1"), ("18446744073709551615", "1"), ("1", "201")] {
        let usage =
            format!(r#"{{"input_tokens":{input},"cache_read_input_tokens":9,"output_tokens":{output}}}"#);
        let body = format!(
            r#"{{"type":"message","role":"assistant","content":[{{"type":"text","text":"A file."}}],"stop_reason":"end_turn","usage":{usage}}}"#
        );
        let world = TestBench::new(move |_, _| Ok(response(200, &body)));
        let options = options(vec![model("small")]);
        let service = world.service(&options);
        let outcome = service.run(vec![task("a")], &PlainPrompts, &NoObserver, &|| false);
        assert_eq!((outcome.answered, outcome.implausible), (1, 1), "{input} {output}");
        // The worst cost of some kilobytes.
        assert!(Money::ZERO < outcome.spent && outcome.spent < Money::from_nanos(100_000_000), "{outcome:?}");
        assert_eq!(service.spent().unwrap().total, outcome.spent);
    }
}
