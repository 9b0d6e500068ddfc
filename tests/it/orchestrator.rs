//! The orchestrator example, run like a reader would run it.

use std::path::Path;
use std::process::Command;

use super::sandbox::{Sandbox, report_skipped, run};

#[test]
fn the_orchestrator_example_finds_no_stale_byte() {
    if Command::new("python3").arg("--version").output().is_err() {
        report_skipped("no python3 to run examples/orchestrator.py with");
        return;
    }
    let sandbox = Sandbox::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/orchestrator.py");
    // The program checks each answer itself, and stops at the first wrong one.
    let ran = run(sandbox.script(&format!("exec python3 '{}'", example.display())));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.ends_with("\n17 answers, no stale byte\n"), "{}", ran.out);
}
