//! What follows calls without an answer: waiting, retrying, escalating, giving up.

use std::sync::Arc;
use std::time::Duration;

use super::testing::*;
use super::{NoObserver, StopReason, SubAgentState};
use crate::llm::{FailureClass, Model, Provider, TokenPrice};
use crate::model::{Money, Tier};

#[test]
fn requested_delays_are_kept() {
    for (header, least) in [("2", 2), ("2.5", 2), ("Sat, 21 Nov 2026 00:00:09 GMT", 9)] {
        let world = TestBench::new(move |number, _| match number {
            0 => Ok(with_header(error(429, "rate_limit_error"), "retry-after", header)),
            _ => Ok(answer("It is a file.")),
        });
        let outcome = world.run(&options(vec![model("small")]), vec![task("a")]);
        assert_eq!(counts(&outcome), (1, 0, 0, 2), "{header}");
        let seen = world.seen();
        assert!(Duration::from_secs(least) <= seen[1].at.saturating_sub(seen[0].at), "{header}: {seen:?}");
    }
}

#[test]
fn an_invalid_delay_is_ignored_and_a_huge_one_closes_the_gate() {
    for header in ["-5", "soon", ""] {
        let world = TestBench::new(move |_, _| {
            Ok(with_header(error(429, "rate_limit_error"), "retry-after", header))
        });
        let outcome = world.run(&options(vec![model("small")]), vec![task("a")]);
        assert_eq!((outcome.remaining, outcome.calls), (1, 4), "{header}");
        assert!(world.paid().refusals().unwrap().is_empty());
    }
    let world =
        TestBench::new(|_, _| Ok(with_header(error(429, "rate_limit_error"), "retry-after", "99999999")));
    let service_options = options(vec![model("small")]);
    let service = world.service(&service_options);
    let outcome = service.run(tasks(5), &PlainPrompts, &NoObserver, &|| false);
    assert_eq!((outcome.calls, outcome.remaining), (1, 5));
    let Some(StopReason::Unreachable { retry_in, .. }) = outcome.stopped else { panic!("{outcome:?}") };
    assert_eq!(retry_in, Duration::from_mins(15));
    assert!(matches!(service.status().unwrap().state, SubAgentState::Paused { .. }));
    // The service remembers.
    assert_eq!(service.run(tasks(5), &PlainPrompts, &NoObserver, &|| false).calls, 0);
}

#[test]
fn payment_and_key_errors_end_the_run_after_one_call() {
    for (status, kind) in [(401, "authentication_error"), (403, "permission_error"), (402, "billing_error")] {
        let world = TestBench::new(move |_, _| Ok(error(status, kind)));
        let service_options = options(vec![model("small")]);
        let service = world.service(&service_options);
        let outcome = service.run(tasks(9), &PlainPrompts, &NoObserver, &|| false);
        assert_eq!((outcome.calls, outcome.remaining, outcome.spent), (1, 9, Money::ZERO), "{kind}");
        assert!(outcome.stopped.unwrap().to_string().contains(&format!("{kind}, it says")));
        assert!(matches!(service.status().unwrap().state, SubAgentState::Stopped { .. }));
        assert_eq!(service.run(tasks(9), &PlainPrompts, &NoObserver, &|| false).calls, 0);
        assert_eq!(world.seen().len(), 1);
    }
}

#[test]
fn an_invalid_request_is_not_repeated_on_the_same_day() {
    for status in [400, 404, 422] {
        let world = TestBench::new(move |_, _| Ok(error(status, "invalid_request_error")));
        let options = options(vec![model("small")]);
        assert_eq!(counts(&world.run(&options, vec![task("a")])), (0, 1, 0, 1), "{status}");
        assert_eq!(counts(&world.run(&options, vec![task("a")])), (0, 1, 0, 0), "{status}");
        world.clock_passes(Duration::from_hours(25));
        assert_eq!(counts(&world.run(&options, vec![task("a")])), (0, 1, 0, 1), "{status}");
    }
}

#[test]
fn a_model_that_rejects_everything_is_disabled_and_no_task_is_refused() {
    for concurrency in [1, 4] {
        let world =
            TestBench::new(|number, _| Ok(response(404, &format!("<html>not found, {number}</html>"))));
        let mut options = options(vec![model("smal")]);
        options.concurrency = concurrency;
        let outcome = world.run(&options, tasks(30));
        assert!((3..=6).contains(&outcome.calls), "{outcome:?}");
        assert_eq!((outcome.refused.len(), outcome.remaining), (0, 30));
        let why = outcome.stopped.unwrap();
        assert!(matches!(why, StopReason::Account { class: FailureClass::Request, .. }), "{why:?}");
        assert!(world.paid().refusals().unwrap().is_empty());
    }
}

#[test]
fn a_single_bad_task_among_good_ones_is_refused_alone() {
    let world = TestBench::new(|_, seen| {
        if seen.body.contains("bad") {
            Ok(error(400, "invalid_request_error"))
        } else {
            Ok(answer("It is a file."))
        }
    });
    let names = ["bad0", "a", "bad1", "b", "bad2", "c", "bad3"];
    let outcome = world.run(&options(vec![model("small")]), names.map(task).to_vec());
    assert_eq!(counts(&outcome), (3, 4, 0, 7));
    assert!(outcome.stopped.is_none());
    assert_eq!(world.paid().refusals().unwrap().len(), 4);
}

#[test]
fn a_model_with_a_wrong_name_does_not_disable_others_of_its_provider() {
    let world = TestBench::new(|_, seen| {
        if seen.body.contains("smal\"") {
            Ok(error(404, "not_found_error"))
        } else {
            Ok(answer("It is a file."))
        }
    });
    let outcome = world.run(&options(vec![model("smal"), model("large")]), tasks(9));
    assert_eq!(counts(&outcome), (9, 0, 0, 12));
}

#[test]
fn refused_tasks_are_sent_to_a_new_model_of_the_chain() {
    let world = TestBench::new(|_, seen| {
        if seen.body.contains("large") { Ok(answer("It is a file.")) } else { Ok(answer("misshapen")) }
    });
    let chain_of = |names: &[&str]| {
        let mut options = options(names.iter().map(|name| model(name)).collect());
        options.policy.provider_chain = names.join(" ");
        options
    };
    let (one, two) = (chain_of(&["small"]), chain_of(&["small", "large"]));
    assert_eq!(counts(&world.run(&one, vec![task("a")])), (0, 1, 0, 2));
    assert_eq!(counts(&world.run(&one, vec![task("a")])), (0, 1, 0, 0));
    assert_eq!(counts(&world.run(&two, vec![task("a")])), (1, 0, 0, 3));
}

#[test]
fn an_hour_of_failures_adds_only_a_small_share_of_retries() {
    for (status, concurrency) in [(500, 1), (502, 4), (503, 8), (529, 4)] {
        let world = TestBench::new(move |_, _| Ok(error(status, "overloaded_error")));
        let mut service_options = options(vec![model("small")]);
        service_options.concurrency = concurrency;
        let service = world.service(&service_options);
        let hour = Duration::from_hours(1);
        while world.now() < hour {
            let outcome = service.run(tasks(50), &PlainPrompts, &NoObserver, &|| hour <= world.now());
            let Some(StopReason::Unreachable { retry_in, .. }) = outcome.stopped else { break };
            world.clock_passes(retry_in);
        }
        let seen = world.seen();
        assert!(seen.len() <= 25, "{} calls with {concurrency} threads", seen.len());
        // Fifty tasks: less than one call for each, and none called more than four times in a row.
        assert!(seen.len() * 10 <= 50 * 12);
        assert!(10 <= seen.len(), "{} calls with {concurrency} threads", seen.len());
    }
}

#[test]
fn at_most_a_fifth_of_the_calls_to_an_unreliable_server_are_retries() {
    let world = TestBench::new(|number, _| match number % 3 {
        0 => Ok(error(503, "overloaded_error")),
        _ => Ok(answer("It is a file.")),
    });
    let outcome = world.run(&options(vec![model("small")]), tasks(150));
    assert_eq!(outcome.answered + outcome.remaining, 150);
    assert!(outcome.calls <= 180, "{} calls for 150 questions", outcome.calls);
    assert!(100 <= outcome.answered, "{} answers", outcome.answered);
}

#[test]
fn a_chain_of_models_does_not_call_a_failing_provider_more_often() {
    let world = TestBench::new(|number, _| match number % 2 {
        0 => Ok(error(503, "overloaded_error")),
        _ => Ok(answer("It is a file.")),
    });
    let chain = vec![model("small"), model("medium"), model("large")];
    let outcome = world.run(&options(chain), tasks(100));
    assert!(outcome.calls <= 120, "{} calls for 100 questions", outcome.calls);
}

#[test]
fn a_failing_model_is_followed_by_the_next() {
    let world = TestBench::new(|_, seen| {
        if seen.body.contains(r#""model":"small""#) {
            Ok(error(404, "not_found_error"))
        } else {
            Ok(answer("It is a file."))
        }
    });
    let outcome = world.run(&options(vec![model("small"), model("large")]), vec![task("a")]);
    assert_eq!(counts(&outcome), (1, 0, 0, 2));
    let found = world.paid().summaries_of_subject(&task("a").subject, "rust", Tier::TechLead).unwrap();
    assert_eq!(found[0].model, model("large").full_name());
}

#[test]
fn a_prompt_that_is_too_long_is_retried_once_with_half_of_it() {
    let world = TestBench::new(|_, seen| {
        if 3_000 < seen.body.matches('x').count() {
            Ok(error(413, "request_too_large"))
        } else {
            Ok(answer("It is a file."))
        }
    });
    assert_eq!(counts(&world.run(&options(vec![model("small")]), vec![task("a")])), (1, 0, 0, 2));
    let world = TestBench::new(|_, _| Ok(error(413, "request_too_large")));
    assert_eq!(counts(&world.run(&options(vec![model("small")]), vec![task("a")])), (0, 1, 0, 2));
}

#[test]
fn an_unusable_answer_is_paid_for_and_retried_once() {
    let world = TestBench::new(|_, _| Ok(answer("misshapen")));
    let outcome = world.run(&options(vec![model("small")]), vec![task("a")]);
    assert_eq!(counts(&outcome), (0, 1, 0, 2));
    assert_eq!(outcome.spent, ANSWER_COSTS + ANSWER_COSTS);
    assert!(
        world.paid().summaries_of_subject(&task("a").subject, "rust", Tier::TechLead).unwrap().is_empty()
    );
}

#[test]
fn a_model_that_declines_is_never_called_again() {
    let world = TestBench::new(|_, _| {
        let body = r#"{"type":"message","role":"assistant","content":[],"stop_reason":"refusal","usage":{"input_tokens":9,"output_tokens":1}}"#;
        Ok(response(200, body))
    });
    let options = options(vec![model("small")]);
    assert_eq!(counts(&world.run(&options, vec![task("a")])), (0, 1, 0, 1));
    world.clock_passes(Duration::from_hours(1_000));
    assert_eq!(counts(&world.run(&options, vec![task("a")])), (0, 1, 0, 0));
    assert_eq!(world.paid().refusals().unwrap()[0].until_ms, None);
}

#[test]
fn a_provider_that_requires_payment_is_called_once_and_the_next_one_continues() {
    let world = TestBench::new(|_, seen| {
        if seen.url.contains("anthropic") {
            return Ok(error(402, "billing_error"));
        }
        let body = r#"{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"It is a file."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":50}}"#;
        Ok(response(200, body))
    });
    let other = Model { provider: Arc::new(provider("openai-chat")), ..model("large") };
    let outcome = world.run(&options(vec![model("small"), other]), tasks(5));
    assert_eq!(counts(&outcome), (5, 0, 0, 6));
    assert_eq!(world.seen().iter().filter(|seen| seen.url.contains("anthropic")).count(), 1);
}

fn program(name: &str) -> Model {
    let command = vec![name.to_owned()];
    let provider = Provider { command, is_free: true, ..provider("command") };
    Model { provider: Arc::new(provider), price: Some(TokenPrice::FREE), ..model("any") }
}

#[test]
fn a_program_that_always_fails_is_not_retried() {
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    let outcome = world.run(&options(vec![program("fail")]), tasks(9));
    assert_eq!((counts(&outcome), world.now()), ((0, 0, 9, 3), Duration::ZERO));
    let why = outcome.stopped.unwrap();
    assert!(matches!(why, StopReason::Account { class: FailureClass::Request, .. }), "{why:?}");
    assert!(why.to_string().contains("error: not logged in"), "{why}");
    assert_eq!(world.run(&options(vec![program("fail"), model("small")]), tasks(9)).answered, 9);
}

#[test]
fn a_missing_program_is_not_tried_again() {
    let world = TestBench::new(|_, _| Ok(answer("It is a file.")));
    let missing = program("missing");
    let outcome = world.run(&options(vec![missing.clone()]), tasks(3));
    assert_eq!((counts(&outcome), outcome.spent), ((0, 0, 3, 1), Money::ZERO));
    let why = outcome.stopped.unwrap();
    assert!(matches!(why, StopReason::Account { class: FailureClass::Settings, .. }), "{why:?}");
    assert!(
        why.to_string().starts_with("command cannot be called with these settings: missing cannot be run: "),
        "{why}"
    );
    // The next model answers the rest.
    assert_eq!(world.run(&options(vec![missing, model("small")]), tasks(3)).answered, 3);
}
