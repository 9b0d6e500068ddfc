//! The index is compared with the files, and nothing is mended on the way.

use serde_json::json;

use super::sandbox::Sandbox;

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def a():\n    pass\n");
    sandbox.write("b.py", "def b():\n    pass\n");
    sandbox.commit_all("Begin");
    sandbox
}

#[test]
fn a_correct_index_has_no_differences() {
    let sandbox = project();
    sandbox.stdout_of(&["index"]);
    let data = sandbox.json(&["audit"]);
    assert_eq!(data, json!({"files": 2, "bytes": 36, "differences": []}));
    assert_eq!(sandbox.stdout_of(&["audit"]), "2 files, 36 bytes read, 0 differences\n");
}

#[test]
fn every_difference_is_reported_with_its_path_and_none_is_fixed() {
    let sandbox = project();
    sandbox.stdout_of(&["index"]);
    sandbox.write("a.py", "def other():\n    pass\n");
    sandbox.write("new\u{1b}.py", "def new():\n    pass\n");
    std::fs::remove_file(sandbox.path("b.py")).unwrap();
    sandbox.git(&["rm", "-q", "--cached", "b.py"]);
    for _ in 0..2 {
        let ran = sandbox.slop(&["audit"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        let told = "a.py: the index has another content\n\
                    b.py: the index has it, and the project does not\n\
                    new\\u{1b}.py: the project has it, and the index does not\n";
        assert!(ran.out.starts_with(told) && ran.out.ends_with(" 3 differences\n"), "{ran:?}");
    }
    let ran = sandbox.slop(&["audit", "--json"]);
    let envelope: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &envelope["data"]["differences"][0]["kind"]), (1, &json!("other_content")));
}

#[test]
fn without_a_cache_there_is_nothing_to_audit() {
    let sandbox = project();
    sandbox.write("slop.toml", "[aggregation]\ncache_enabled = false\n");
    sandbox.slop(&["audit"]).assert_fails(1, &["work on the cache", "cache_enabled"]);
}
