//! Languages that this build may be without.

use super::sandbox::Sandbox;

/// The largest grammars are left out of a build unless they are asked for: these tests are for such a build.
#[cfg(not(feature = "lang-swift"))]
#[test]
fn a_file_in_a_language_that_is_not_built_in_is_listed_with_a_note() {
    let sandbox = Sandbox::new();
    sandbox.write("a.swift", "/// Starts.\nfunc start() {}\n");
    sandbox.write("b.py", "def stop(): ...\n");
    assert_eq!(sandbox.json(&["index"])["files"], 2);
    let views = sandbox.json(&["view", "a.swift", "b.py", "--mode", "skeleton"]);
    assert_eq!((views[0]["path"].as_str(), views[0]["view"].as_str()), (Some("a.swift"), Some("summary")));
    assert_eq!(views[0]["why"], "no skeleton view: this slop was built without lang-swift");
    assert_eq!((views[1]["view"].as_str(), &views[1]["why"]), (Some("skeleton"), &serde_json::Value::Null));
    let full = sandbox.json(&["view", "a.swift", "--mode", "full"]);
    assert_eq!((full[0]["view"].as_str(), &full[0]["why"]), (Some("full"), &serde_json::Value::Null));
    sandbox.slop(&["outline", "a.swift"]).refuses(1, &["a.swift", "this slop was built without lang-swift"]);
}

#[test]
fn a_type_without_any_grammar_names_no_feature() {
    let sandbox = Sandbox::new();
    sandbox.write("a.pl", "sub start { 1 }\n");
    let views = sandbox.json(&["view", "a.pl", "--mode", "skeleton"]);
    assert_eq!(views[0]["why"], "no skeleton view for this type of file");
    sandbox.slop(&["outline", "a.pl"]).assert_fails(1, &["a.pl", "its type (Perl) does not have"]);
}
