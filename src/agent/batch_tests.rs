//! Batches, against a scripted provider and a real database.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::batch_submit::custom_id;
use super::testing::*;
use super::{PromptSource, StopReason};
use crate::model::{HttpError, HttpResponse, Money, Tier};
use crate::store::agent::{CapExceeded, SpendTotals};

/// A batch provider: what it stores, and what it does next.
#[derive(Debug, Default)]
struct FakeBatchProvider {
    /// The ids of the items, once it has a batch.
    batch: Vec<String>,
    /// Whether it has processed the batch.
    has_ended: bool,
    /// Whether the response to the submission is lost.
    is_silent: bool,
    /// Whether it rejects the submission.
    refuses: bool,
    /// Ids of items that have no result.
    forgets: Vec<String>,
    /// The progress of another project's batch of the same size, if there is one.
    others: Option<&'static str>,
}

type SharedProvider = Arc<Mutex<FakeBatchProvider>>;

fn world() -> (TestBench, SharedProvider) {
    let shared = SharedProvider::default();
    let provider = shared.clone();
    let world = TestBench::new(move |_, seen| provider.lock().unwrap().answer(seen));
    (world, shared)
}

impl FakeBatchProvider {
    fn answer(&mut self, seen: &RecordedRequest) -> Result<HttpResponse, HttpError> {
        let status = if self.has_ended { "ended" } else { "in_progress" };
        let count = self.batch.len();
        let batch = format!(
            r#"{{"id":"msgbatch_1","type":"message_batch","processing_status":"{status}","created_at":"2026-11-21T00:00:01Z","request_counts":{{"processing":{count}}}}}"#
        );
        if seen.url.ends_with("msgbatch_0/results") {
            let strangers = self.results().replace(r#""custom_id":""#, r#""custom_id":"of-another-"#);
            return Ok(response(200, &strangers));
        }
        if seen.url.ends_with("/results") {
            return Ok(response(200, &self.results()));
        }
        if seen.url.contains("limit=") {
            let listed = if self.batch.is_empty() { "" } else { &batch };
            let other = self
                .others
                .map(|theirs| batch.replace(status, theirs).replace("msgbatch_1", "msgbatch_0") + ",");
            let listed = other.unwrap_or_default() + listed;
            return Ok(response(200, &format!(r#"{{"data":[{listed}]}}"#)));
        }
        if seen.body.is_empty() {
            return Ok(response(200, &batch));
        }
        if self.refuses {
            return Ok(error(402, "billing_error"));
        }
        let ids = seen.body.split(r#""custom_id":""#).skip(1);
        self.batch = ids.map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
        if self.is_silent { Err(HttpError::Broken("reset".to_owned())) } else { Ok(response(200, &batch)) }
    }

    fn results(&self) -> String {
        let known = self.batch.iter().filter(|name| !self.forgets.contains(name));
        let message =
            String::from_utf8(answer("<brief>It is a file.</brief><detail>It has lines.</detail>").body)
                .unwrap();
        let line = |name: &String| {
            format!(
                "{{\"custom_id\":\"{name}\",\"result\":{{\"type\":\"succeeded\",\"message\":{message}}}}}\n"
            )
        };
        // In a different order than they were submitted in.
        known.rev().map(line).collect()
    }
}

fn spent(world: &TestBench) -> SpendTotals {
    world.paid().spend_totals((MIDNIGHT / 86_400).try_into().unwrap()).unwrap()
}

fn half() -> Money {
    Money::from_nanos(ANSWER_COSTS.nanos() / 2)
}

#[test]
fn a_batch_is_submitted_polled_and_collected_at_half_the_price() {
    let (world, provider) = world();
    let service_options = options(vec![model("small")]);
    let service = world.service(&service_options);
    let outcome = service.submit(tasks(3), &PlainPrompts, &|| false).unwrap();
    assert_eq!((outcome.submitted, outcome.remaining, world.seen().len()), (3, 0, 1));
    assert_eq!(spent(&world).day, spent(&world).reserved);
    // Until then, they are neither called one by one nor submitted again.
    assert_eq!(service.run(tasks(3), &PlainPrompts, &super::NoObserver, &|| false).in_batch, 3);
    assert_eq!(service.submit(tasks(3), &PlainPrompts, &|| false).unwrap().in_batch, 3);
    assert_eq!(world.seen().len(), 1);
    assert_eq!(service.collect(&|| false).waiting, 3);
    provider.lock().unwrap().has_ended = true;
    // Another process collects it.
    drop(service);
    let collected = world.service(&service_options).collect(&|| false);
    assert_eq!((collected.answered, collected.waiting, collected.lost), (3, 0, 0));
    assert_eq!(spent(&world).day, Money::from_nanos(3 * half().nanos()));
    assert_eq!(spent(&world).reserved, Money::ZERO);
    let found = world.paid().summaries_of_subject(&task("f0").subject, "rust", Tier::TechLead).unwrap();
    assert_eq!((found[0].text.as_str(), found[0].cost), ("It has lines.", half()));
    assert!(world.paid().open_batches().unwrap().is_empty());
}

#[test]
fn a_batch_whose_id_was_never_received_is_found_again() {
    let (world, provider) = world();
    provider.lock().unwrap().is_silent = true;
    let service_options = options(vec![model("small")]);
    let outcome = world.service(&service_options).submit(tasks(2), &PlainPrompts, &|| false).unwrap();
    assert!(matches!(outcome.stopped, Some(StopReason::Unreachable { .. })), "{outcome:?}");
    assert_eq!(world.paid().open_batches().unwrap()[0].remote_id, None);
    let service = world.service(&service_options);
    assert_eq!(service.collect(&|| false).waiting, 2);
    provider.lock().unwrap().has_ended = true;
    assert_eq!(service.collect(&|| false).answered, 2);
    assert_eq!(spent(&world).reserved, Money::ZERO);
}

#[test]
fn a_lost_batch_is_found_next_to_one_of_another_project_of_the_same_size() {
    for theirs in ["ended", "in_progress"] {
        let (world, provider) = world();
        provider.lock().unwrap().is_silent = true;
        let service_options = options(vec![model("small")]);
        let service = world.service(&service_options);
        service.submit(tasks(2), &PlainPrompts, &|| false).unwrap();
        let mut at_work = provider.lock().unwrap();
        (at_work.has_ended, at_work.others) = (true, Some(theirs));
        drop(at_work);
        assert_eq!(service.collect(&|| false).answered, 2, "{theirs}");
        assert_eq!(spent(&world).reserved, Money::ZERO);
    }
}

#[test]
fn a_lost_batch_is_waited_for_while_only_one_of_another_project_has_ended() {
    let (world, provider) = world();
    provider.lock().unwrap().is_silent = true;
    let service_options = options(vec![model("small")]);
    let service = world.service(&service_options);
    service.submit(tasks(2), &PlainPrompts, &|| false).unwrap();
    provider.lock().unwrap().others = Some("ended");
    let collected = service.collect(&|| false);
    assert_eq!((collected.answered, collected.waiting), (0, 2));
    assert_eq!(world.paid().open_batches().unwrap()[0].remote_id, None);
}

#[test]
fn a_batch_that_is_not_found_counts_at_its_worst_cost_after_a_day() {
    let (world, provider) = world();
    provider.lock().unwrap().is_silent = true;
    let service_options = options(vec![model("small")]);
    let service = world.service(&service_options);
    service.submit(tasks(2), &PlainPrompts, &|| false).unwrap();
    provider.lock().unwrap().batch.clear();
    let worst = spent(&world).reserved;
    assert_eq!(service.collect(&|| false).waiting, 2);
    world.clock_passes(Duration::from_hours(26));
    assert_eq!(service.collect(&|| false).lost, 2);
    assert_eq!((spent(&world).reserved, spent(&world).total), (worst, worst));
    assert!(world.paid().open_batches().unwrap().is_empty());
    // They can be submitted again.
    provider.lock().unwrap().is_silent = false;
    assert_eq!(service.submit(tasks(2), &PlainPrompts, &|| false).unwrap().submitted, 2);
}

#[test]
fn a_rejected_batch_costs_nothing() {
    let (world, provider) = world();
    provider.lock().unwrap().refuses = true;
    let outcome =
        world.service(&options(vec![model("small")])).submit(tasks(2), &PlainPrompts, &|| false).unwrap();
    assert!(matches!(outcome.stopped, Some(StopReason::Account { .. })), "{outcome:?}");
    assert_eq!((outcome.remaining, spent(&world).total), (2, Money::ZERO));
    assert!(world.paid().open_batches().unwrap().is_empty());
}

#[test]
fn only_as_many_tasks_are_submitted_as_the_caps_allow() {
    let (world, provider) = world();
    let mut options = options(vec![model("small")]);
    options.caps.calls_a_day = 4;
    let outcome = world.service(&options).submit(tasks(9), &PlainPrompts, &|| false).unwrap();
    assert_eq!((outcome.submitted, outcome.remaining), (4, 5));
    assert!(
        matches!(outcome.stopped, Some(StopReason::OverCap { cap: CapExceeded::Calls, .. })),
        "{outcome:?}"
    );
    assert_eq!(provider.lock().unwrap().batch.len(), 4);
    options.caps.calls_a_day = 1_000;
    options.caps.day = spent(&world).day + Money::from_nanos(1);
    let outcome = world.service(&options).submit(tasks(9), &PlainPrompts, &|| false).unwrap();
    assert_eq!((outcome.in_batch, outcome.submitted, outcome.remaining), (4, 0, 5));
    assert!(
        matches!(outcome.stopped, Some(StopReason::OverCap { cap: CapExceeded::Day, .. })),
        "{outcome:?}"
    );
}

#[test]
fn reservations_count_when_a_cap_is_reached() {
    let (world, _) = world();
    let mut options = options(vec![model("small")]);
    options.caps.day = Money::from_nanos(20_000_000);
    let outcome = world.service(&options).submit(tasks(9), &PlainPrompts, &|| false).unwrap();
    assert!(0 < outcome.submitted && 0 < outcome.remaining, "{outcome:?}");
    let Some(StopReason::OverCap { spent: reported, caps, next, .. }) = outcome.stopped else {
        panic!("{outcome:?}")
    };
    assert_eq!(reported.day, spent(&world).day);
    assert!(caps.day < reported.day + next);
}

#[test]
fn stopping_during_preparation_leaves_all_tasks() {
    let (world, _) = world();
    let looks = AtomicUsize::new(0);
    let is_stopped = || 3 <= looks.fetch_add(1, Ordering::SeqCst);
    let outcome =
        world.service(&options(vec![model("small")])).submit(tasks(9), &PlainPrompts, &is_stopped).unwrap();
    assert!(matches!(outcome.stopped, Some(StopReason::Interrupted)), "{outcome:?}");
    assert_eq!((outcome.remaining, outcome.submitted, world.seen().len()), (9, 0, 0));
}

#[test]
fn a_missing_answer_counts_at_its_worst_cost() {
    let (world, provider) = world();
    let service_options = options(vec![model("small")]);
    let service = world.service(&service_options);
    service.submit(tasks(3), &PlainPrompts, &|| false).unwrap();
    let each = Money::from_nanos(spent(&world).reserved.nanos() / 3);
    let mut at_work = provider.lock().unwrap();
    (at_work.has_ended, at_work.forgets) = (true, vec![custom_id(&task("f0").id)]);
    drop(at_work);
    let collected = service.collect(&|| false);
    assert_eq!((collected.answered, collected.lost), (2, 1));
    let worst = spent(&world).reserved;
    assert!(
        each.saturating_sub(Money::from_nanos(1_000_000)) <= worst
            && worst <= each + Money::from_nanos(1_000_000)
    );
    assert_eq!(spent(&world).total, worst + half() + half());
}

#[test]
fn answers_are_stored_under_the_key_of_their_prompt_even_if_it_has_changed_since() {
    let (world, provider) = world();
    let asked = options(vec![model("small")]);
    world.service(&asked).submit(tasks(1), &PlainPrompts, &|| false).unwrap();
    provider.lock().unwrap().has_ended = true;
    let mut other = options(vec![model("small")]);
    other.policy.tiers = vec![Tier::TechLead];
    other.policy.material_bytes = 1_000;
    assert_eq!(world.service(&other).collect(&|| false).answered, 1);
    let keys: Vec<_> = PlainPrompts.keys(&task("f0"), &model("small").full_name());
    let found = keys.iter().map(|(_, key)| world.paid().summary(key).unwrap().unwrap());
    let found: Vec<_> = found.map(|summary| (summary.tier, summary.text, summary.prompt)).collect();
    let kept = |tier, text: &str| (tier, text.to_owned(), "code/1".to_owned());
    assert_eq!(found, [kept(Tier::Orchestrator, "It is a file."), kept(Tier::TechLead, "It has lines.")]);
    let latest = world.paid().latest_summary(b"f0", Tier::Orchestrator).unwrap();
    assert_eq!(latest.unwrap().text, "It is a file.");
}

#[test]
fn withheld_tasks_are_not_in_batches() {
    let (world, _) = world();
    let outcome = world
        .service(&options(vec![model("small")]))
        .submit(vec![task("secret"), task("a")], &PlainPrompts, &|| false)
        .unwrap();
    assert_eq!((outcome.submitted, outcome.withheld.len()), (1, 1));
    assert!(!world.seen()[0].body.contains("secret"));
}
