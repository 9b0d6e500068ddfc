//! After any edits, the cached references equal those computed by another process.

use std::sync::Arc;

use crate::engine::shared::WorkspaceCache;
use crate::engine::testing::TestProject;
use crate::model::testing::TestNumbers;

const FILES: &[(&str, &str)] = &[
    (
        "lib.h",
        "#ifndef LIB_H\n#define LIB_H\n#define start begin\n#define LIMIT 9\nint begin(int n);\nint finish(int n);\n#endif\n",
    ),
    (
        "lib.c",
        "#include \"lib.h\"\nstatic int helper(int n)\n{\n\treturn n;\n}\n\nint begin(int n)\n{\n\treturn helper(n);\n}\n\nint finish(int n)\n{\n\tint left = begin(n);\n\treturn start(left);\n}\n",
    ),
    (
        "main.c",
        "#include \"lib.h\"\n#include \"other.h\"\nint main(void)\n{\n\tint count = start(LIMIT);\n\tfinish(count);\n\treturn 0;\n}\n",
    ),
    ("run.sh", "begin() {\n  finish\n}\n\nfinish() {\n  begin\n}\n\nbegin\n"),
    ("more.sh", "helper() {\n  finish\n  begin\n}\nhelper\n"),
    ("tool.py", "def begin(n):\n    return finish(n)\n\n\ndef finish(n):\n    return n\n"),
];
/// Lines that edits insert.
const LINES: &[&str] = &[
    "\tbegin(1);",
    "\tint helper = 2;",
    "\tfinish(start(LIMIT));",
    "  helper",
    "  begin",
    "",
    "#include \"lib.h\"",
    "#define begin finish",
    "/* A comment. */",
    "int extra(void) { return begin(2); }",
    "extra() {",
    "}",
    "# A comment.",
];

fn edit(text: &mut String, numbers: &mut TestNumbers) {
    let mut lines: Vec<&str> = text.lines().collect();
    let at = numbers.below(lines.len() + 1);
    if numbers.below(3) == 0 && at < lines.len() {
        lines.remove(at);
    } else {
        lines.insert(at, LINES[numbers.below(LINES.len())]);
    }
    *text = lines.join("\n") + "\n";
}

/// Checks a series of edits, in which files are also removed and added again.
fn check(extra: &[(&str, &str)], seed: u64, edits: usize) {
    let files = [FILES, extra].concat();
    let sandbox = TestProject::new(&files);
    let shared = Arc::new(WorkspaceCache::new());
    let mut kept = sandbox.open_shared(&shared);
    let mut numbers = TestNumbers(seed);
    let mut texts: Vec<String> = files.iter().map(|(_, text)| (*text).to_owned()).collect();
    let mut before = kept.reference_graph().unwrap();
    let mut joined_alone = 0;
    for round in 0..edits {
        for _ in 0..=numbers.below(2) {
            let file = numbers.below(files.len());
            let (path, text) = files[file];
            match numbers.below(12) {
                0 if sandbox.path(path).exists() => {
                    sandbox.remove(path);
                    continue;
                }
                1 => text.clone_into(&mut texts[file]),
                _ => edit(&mut texts[file], &mut numbers),
            }
            sandbox.write(path, &texts[file]);
        }
        let found = kept.reference_graph().unwrap();
        let fresh = sandbox.project(false).reference_graph().unwrap();
        assert!(*found == *fresh, "round {round} of {seed}: {texts:#?}\n{found:#?}\n{fresh:#?}");
        joined_alone += usize::from(found.is_edit_of(&before));
        before = found;
    }
    assert!((1..edits).contains(&joined_alone), "{joined_alone} of {edits} edits");
}

#[test]
fn cached_references_equal_those_of_another_process_after_any_edit() {
    check(&[], 1, 50);
    let cpp = ("use.cpp", "#include \"lib.h\"\nint use() {\n  return begin(1) + finish(2);\n}\n");
    check(&[cpp], 9, 30);
}
