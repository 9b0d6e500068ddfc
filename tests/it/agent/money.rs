//! What may be spent is never exceeded.

use super::AgentProject;
use super::module_source;
use super::ok_response;
use super::server::ModelServer;
use super::server::ServerAction;
use super::usd_nanos;

const TRUE_COST: u64 = 100 * 1_000 + 20 * 10_000;

fn many_files(desk: &AgentProject, count: usize) {
    for number in 0..count {
        desk.sandbox.write(format!("file_{number}.py"), module_source(&format!("n{number}")));
    }
}

#[test]
fn thirty_two_threads_stay_within_the_daily_limit() {
    // Each costs a cent, which is nearly what it could at worst.
    let text = "<brief>Words.</brief><detail>More words.</detail>";
    let desk = AgentProject::new(ModelServer::with_responses([ServerAction::anthropic(text, 3_000, 700)]));
    let true_cost = 3_000 * 1_000 + 700 * 10_000;
    many_files(&desk, 100);
    for (setting, name) in [
        ("budget_day_usd = \"0.11\"", "agent.budget_day_usd"),
        ("budget_total_usd = \"0.11\"", "agent.budget_total_usd"),
    ] {
        desk.write_agent_settings(&format!("concurrency = 32\n{setting}"), "");
        let ran = desk.summarize();
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains(name), "{}", ran.err);
        let (calls, spent) = desk.usage();
        assert_eq!(
            (calls, spent),
            (desk.server.request_count() as u64, desk.server.request_count() as u64 * true_cost)
        );
        assert!(spent <= 110_000_000, "{spent}");
    }
    assert!((9..=11).contains(&desk.server.request_count()), "{}", desk.server.request_count());
}

#[test]
fn open_reservations_count_as_spent() {
    // Nobody answers, so that each call costs its worst.
    let desk = AgentProject::new(ModelServer::with_responses([ServerAction::HangUp]));
    many_files(&desk, 100);
    desk.write_agent_settings("concurrency = 32\nbudget_day_usd = \"0.05\"", "");
    let ran = desk.summarize();
    assert_eq!(ran.code, 1, "{ran:?}");
    let (calls, spent) = desk.usage();
    assert!(spent <= 50_000_000, "{spent}");
    assert_eq!(calls, desk.server.request_count() as u64);
    assert!(desk.server.request_count() < 8, "{}", desk.server.request_count());
}

#[test]
fn the_daily_limit_on_calls_holds() {
    let desk = AgentProject::new(ModelServer::with_responses([ok_response()]));
    many_files(&desk, 30);
    desk.write_agent_settings("concurrency = 16\ncalls_per_day = 7", "");
    let ran = desk.summarize();
    assert_eq!((ran.code, desk.server.request_count()), (1, 7), "{ran:?}");
    assert!(ran.err.contains("agent.calls_per_day"), "{}", ran.err);
    let ran = desk.summarize();
    assert_eq!((ran.code, desk.server.request_count()), (1, 7), "the next run knows of it: {ran:?}");
}

#[test]
fn a_model_without_a_price_is_not_used() {
    let desk = AgentProject::with_file([ok_response()]);
    let file = desk.sandbox.outside("config/slop/config.toml");
    let text = std::fs::read_to_string(file).unwrap().replace("mock/m\"]\ninput", "mock/other\"]\ninput");
    desk.write_settings(&text);
    let ran = desk.summarize();
    ran.assert_fails(1, &["mock/m", "price", "[prices.\"mock/m\"]"]);
    assert_eq!(desk.server.connections(), 0);
}

#[test]
fn an_estimate_sends_nothing_and_is_not_exceeded() {
    let desk = AgentProject::new(ModelServer::with_responses([ok_response()]));
    many_files(&desk, 5);
    let plan = desk.json(&["summarize", "--estimate"]);
    assert_eq!((plan["questions"].as_u64(), desk.server.connections()), (Some(5), 0));
    assert!(!desk.sandbox.path(".slop_cache/agent.db").exists());
    let worst = usd_nanos(&plan["estimate"]["worst_usd"]);
    assert!(usd_nanos(&plan["estimate"]["likely_usd"]) <= worst);
    // Five questions about files; the project is asked about after them.
    desk.summarize_json();
    assert!(5 * TRUE_COST < worst, "{worst}");
}

#[test]
fn nothing_is_sent_without_a_terminal_or_yes() {
    let desk = AgentProject::with_file([ok_response()]);
    desk.slop(&["summarize"]).assert_fails(1, &["--yes"]);
    assert_eq!(desk.server.connections(), 0);
}
