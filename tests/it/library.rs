//! The examples of the library, run like a program that follows them.

use std::fs;

use super::sandbox::Sandbox;

#[expect(dead_code, reason = "the test calls what `main` calls")]
#[path = "../../examples/agent_turns.rs"]
mod agent_turns;
#[expect(dead_code, reason = "the test calls what `main` calls")]
#[path = "../../examples/change_impact.rs"]
mod change_impact;
#[expect(dead_code, reason = "the test calls what `main` calls")]
#[path = "../../examples/task_context.rs"]
mod task_context;

const ENGINE: &str = "\
def start_engine(speed):
    warm = speed + 1
    for step in range(warm):
        ignite(step)
    return warm


def ignite(step):
    return step * 2
";

const CAR: &str = "from engine import start_engine\n\n\ndef drive():\n    return start_engine(3)\n";

const TEST: &str =
    "from engine import start_engine\n\n\ndef test_start():\n    assert start_engine(1) == 2\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("engine.py", ENGINE);
    sandbox.write("car.py", CAR);
    sandbox.write("test_engine.py", TEST);
    for number in 0..20 {
        sandbox.write(
            format!("other/part_{number}.py"),
            format!("def other_{number}():\n    return {number}\n"),
        );
    }
    sandbox.commit_all("first");
    sandbox
}

#[test]
fn the_context_of_a_task_shows_the_lines_that_it_is_about_within_its_budget() {
    let sandbox = project();
    let (mut document, mut report) = (Vec::new(), Vec::new());
    let task = "start_engine(0) must not ignite".to_owned();
    task_context::write_context(&sandbox.root(), task, 300, &mut document, &mut report).unwrap();
    let document = String::from_utf8(document).unwrap();
    assert!(document.contains("for step in range(warm):"), "{document}");
    assert!(!document.contains("return 19"), "{document}");
    let report = String::from_utf8(report).unwrap();
    let tokens: u64 = report.lines().last().unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((100..=300).contains(&tokens), "{report}");
    assert!(report.lines().any(|line| line.ends_with(" engine.py")), "{report}");
}

#[test]
fn the_impact_of_a_change_names_uses_callers_and_tests() {
    let sandbox = project();
    let mut out = Vec::new();
    change_impact::report_impact(&sandbox.root(), "start engine speed", &mut out).unwrap();
    let expected = "\
engine.py:start_engine, line 1
  used at car.py:5 (sure)
  used at test_engine.py:5 (sure)
  called by car.py:drive, 1 away
  called by test_engine.py:test_start, 1 away
  test with test_engine.py:test_start
";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let error = change_impact::report_impact(&sandbox.root(), "qwertyuiop", &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("matches \"qwertyuiop\""), "{error}");
}

#[test]
fn two_agents_get_a_file_again_only_after_it_has_changed() {
    let sandbox = project();
    let project = slop::Project::open(&sandbox.root()).unwrap();
    let turn = || {
        let mut out = Vec::new();
        agent_turns::write_turn(&project, "engine.py", "ignite", &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let first = turn();
    assert!(first.contains("car.py") && first.contains("\nworker: "), "{first}");
    let second = turn();
    assert!(!second.contains(".py"), "{second}");
    fs::write(sandbox.root().join("car.py"), CAR.replace('3', "4")).unwrap();
    let third = turn();
    let [planner, worker] = third.lines().collect::<Vec<_>>()[..] else { panic!("{third}") };
    assert!(planner.ends_with(", car.py"), "{third}");
    assert!(!worker.contains(".py"), "{third}");
    assert!(!sandbox.root().join("slop.toml").exists());
}
