//! What may be spent is never exceeded.

use super::Desk;
use super::code;
use super::nanos;
use super::server::Act;
use super::server::Server;
use super::words;

const TRUE_COST: u64 = 100 * 1_000 + 20 * 10_000;

fn many_files(desk: &Desk, count: usize) {
    for number in 0..count {
        desk.sandbox.write(format!("file_{number}.py"), code(&format!("n{number}")));
    }
}

#[test]
fn thirty_two_threads_do_not_spend_more_than_a_day_allows() {
    // Each costs a cent, which is nearly what it could at worst.
    let text = "<brief>Words.</brief><detail>More words.</detail>";
    let desk = Desk::new(Server::answering([Act::anthropic(text, 3_000, 700)]));
    let true_cost = 3_000 * 1_000 + 700 * 10_000;
    many_files(&desk, 100);
    for (setting, name) in [
        ("budget_day_usd = \"0.11\"", "agent.budget_day_usd"),
        ("budget_total_usd = \"0.11\"", "agent.budget_total_usd"),
    ] {
        desk.settle(&format!("concurrency = 32\n{setting}"), "");
        let ran = desk.ask();
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains(name), "{}", ran.err);
        let (calls, spent) = desk.usage();
        assert_eq!((calls, spent), (desk.server.count() as u64, desk.server.count() as u64 * true_cost));
        assert!(spent <= 110_000_000, "{spent}");
    }
    assert!((9..=11).contains(&desk.server.count()), "{}", desk.server.count());
}

#[test]
fn what_is_open_counts_as_spent() {
    // Nobody answers, so that each call costs its worst.
    let desk = Desk::new(Server::answering([Act::HangUp]));
    many_files(&desk, 100);
    desk.settle("concurrency = 32\nbudget_day_usd = \"0.05\"", "");
    let ran = desk.ask();
    assert_eq!(ran.code, 1, "{ran:?}");
    let (calls, spent) = desk.usage();
    assert!(spent <= 50_000_000, "{spent}");
    assert_eq!(calls, desk.server.count() as u64);
    assert!(desk.server.count() < 8, "{}", desk.server.count());
}

#[test]
fn no_more_calls_are_made_than_a_day_allows() {
    let desk = Desk::new(Server::answering([words()]));
    many_files(&desk, 30);
    desk.settle("concurrency = 16\ncalls_per_day = 7", "");
    let ran = desk.ask();
    assert_eq!((ran.code, desk.server.count()), (1, 7), "{ran:?}");
    assert!(ran.err.contains("agent.calls_per_day"), "{}", ran.err);
    let ran = desk.ask();
    assert_eq!((ran.code, desk.server.count()), (1, 7), "the next run knows of it: {ran:?}");
}

#[test]
fn a_model_without_a_price_is_not_asked() {
    let desk = Desk::with_file([words()]);
    let file = desk.sandbox.beside("config/slop/config.toml");
    let text = std::fs::read_to_string(file).unwrap().replace("mock/m\"]\ninput", "mock/other\"]\ninput");
    desk.write_settings(&text);
    let ran = desk.ask();
    ran.refuses(1, &["mock/m", "price", "[prices.\"mock/m\"]"]);
    assert_eq!(desk.server.connections(), 0);
}

#[test]
fn an_estimate_asks_nobody_and_is_not_exceeded() {
    let desk = Desk::new(Server::answering([words()]));
    many_files(&desk, 5);
    let plan = desk.json(&["summarize", "--estimate"]);
    assert_eq!((plan["questions"].as_u64(), desk.server.connections()), (Some(5), 0));
    assert!(!desk.sandbox.path(".slop_cache/agent.db").exists());
    let worst = nanos(&plan["estimate"]["worst_usd"]);
    assert!(nanos(&plan["estimate"]["likely_usd"]) <= worst);
    // Five questions about files; the project is asked about after them.
    desk.asked();
    assert!(5 * TRUE_COST < worst, "{worst}");
}

#[test]
fn nobody_is_asked_without_a_person_who_agrees() {
    let desk = Desk::with_file([words()]);
    desk.slop(&["summarize"]).refuses(1, &["--yes"]);
    assert_eq!(desk.server.connections(), 0);
}
