//! No response discloses the key, in whichever form it comes.

use super::NoObserver;
use super::testing::*;
use crate::model::{HttpResponse, Tier};
use crate::sys::{Disk, RealDisk};

/// An error whose message and request id contain the key.
fn echo(status: u16, kind: &str) -> HttpResponse {
    let message = format!("what is {KEY}? {}{KEY}", "no ".repeat(94));
    let body = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#);
    with_header(response(status, &body), "request-id", &format!("for-{KEY}"))
}

/// Returns the content of all files next to the database.
fn kept(world: &TestBench) -> Vec<u8> {
    let files = std::fs::read_dir(world.folder.path()).unwrap();
    files.flat_map(|file| RealDisk.read(&file.unwrap().path()).unwrap().unwrap_or_default()).collect()
}

#[track_caller]
fn is_hidden(world: &TestBench, said: &str) {
    let beginning = &KEY[..KEY.len() / 2];
    assert!(!said.contains(beginning), "{said}");
    assert!(said.contains("[the key]"), "{said}");
    let kept = kept(world);
    assert!(!kept.windows(beginning.len()).any(|window| window == beginning.as_bytes()));
}

#[test]
fn a_key_echoed_in_an_error_is_hidden() {
    for (status, kind) in
        [(400, "invalid_request_error"), (401, "authentication_error"), (529, "overloaded_error")]
    {
        let world = TestBench::new(move |_, _| Ok(echo(status, kind)));
        let options = options(vec![model("small")]);
        let service = world.service(&options);
        let outcome = service.run(vec![task("a")], &PlainPrompts, &NoObserver, &|| false);
        is_hidden(&world, &format!("{outcome:?} {:?}", service.status()));
    }
}

#[test]
fn a_key_echoed_in_an_answer_is_hidden() {
    let world =
        TestBench::new(|_, _| Ok(with_header(answer(&format!("It holds {KEY}.")), "request-id", KEY)));
    assert_eq!(world.run(&options(vec![model("small")]), vec![task("a")]).answered, 1);
    let found = world.paid().summaries_of_subject(&task("a").subject, "rust", Tier::TechLead).unwrap();
    is_hidden(&world, &found[0].text);
}

#[test]
fn a_key_echoed_in_a_submission_response_is_hidden() {
    for status in [200, 401, 529] {
        let world = TestBench::new(move |_, _| Ok(echo(status, "api_error")));
        let outcome =
            world.service(&options(vec![model("small")])).submit(tasks(2), &PlainPrompts, &|| false).unwrap();
        let said = format!("{outcome:?}");
        assert!(!said.contains(KEY), "{said}");
        if status != 200 {
            is_hidden(&world, &said);
        }
    }
}

#[test]
fn a_key_echoed_in_a_poll_response_is_hidden() {
    let world = TestBench::new(|number, _| match number {
        0 => Ok(response(200, r#"{"id":"msgbatch_1","type":"message_batch"}"#)),
        _ => Ok(echo(401, "authentication_error")),
    });
    let options = options(vec![model("small")]);
    let service = world.service(&options);
    assert_eq!(service.submit(tasks(2), &PlainPrompts, &|| false).unwrap().submitted, 2);
    let collected = service.collect(&|| false);
    is_hidden(&world, &format!("{collected:?}"));
}

#[test]
fn a_key_echoed_in_batch_results_is_hidden() {
    let name = task("a").id.0;
    let world = TestBench::new(move |number, _| match number {
        0 => Ok(response(200, r#"{"id":"msgbatch_1","type":"message_batch"}"#)),
        1 => Ok(response(200, r#"{"id":"msgbatch_1","type":"message_batch","processing_status":"ended"}"#)),
        _ => {
            let error = String::from_utf8(echo(400, "invalid_request_error").body).unwrap();
            let line = format!(r#"{{"custom_id":"{name}","result":{{"type":"errored","error":{error}}}}}"#);
            Ok(response(200, &line))
        }
    });
    let options = options(vec![model("small")]);
    let service = world.service(&options);
    assert_eq!(service.submit(vec![task("a")], &PlainPrompts, &|| false).unwrap().submitted, 1);
    let collected = service.collect(&|| false);
    assert_eq!(collected.refused, 1);
    let again = service.run(vec![task("a")], &PlainPrompts, &NoObserver, &|| false);
    is_hidden(&world, &format!("{:?}", again.refused));
}
