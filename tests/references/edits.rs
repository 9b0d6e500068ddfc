//! Which files are joined again after an edit.

use std::sync::Arc;

use slop::internals::references::{
    ProjectFile, ProjectReferences, Reference, find_changed_references, find_references,
};

use super::project;

const HEADER: (&str, &str) = ("a.h.c", "#define alias helper\nvoid run(int n);\n");
const CALLER: (&str, &str) = ("b.c", "#include \"a.h.c\"\nvoid go(void) {\n  run(1);\n}\n");
const BODY: &str = "#include \"a.h.c\"\nstatic void helper(void) {}\nvoid run(int n) {\n  helper();\n}\n";
const CPP: (&str, &str) = ("d.cpp", "#include \"c.c\"\nvoid run(int n);\nvoid call() {\n  run(2);\n}\n");

/// The files of a project and all of their references.
struct JoinedProject {
    files: Vec<ProjectFile>,
    found: ProjectReferences,
}

impl JoinedProject {
    fn new(files: Vec<ProjectFile>) -> Self {
        Self { found: find_references(&files), files }
    }

    /// Returns whether only the edited files are joined; if so, checks that all references equal those of a join of all
    /// files.
    #[track_caller]
    fn is_joined_alone(&self, before: &Self) -> bool {
        let pairs = before.files.iter().zip(&self.files);
        let changed =
            (0..).zip(pairs).filter(|(_, (before, after))| !Arc::ptr_eq(&before.facts, &after.facts));
        let changed: Vec<_> = changed.map(|(at, (before, _))| (at, &*before.facts)).collect();
        let is_kept = |file: u32| changed.iter().all(|(at, _)| *at != file);
        let kept = || before.found.references.iter().filter(|found| is_kept(found.from_file)).copied();
        let Some(mut found) = find_changed_references(&self.files, &changed, || kept().collect()) else {
            return false;
        };
        found.references.extend(kept());
        // The fields that the reference graph uses.
        let place =
            |found: &Reference| (found.from_file, found.from_line, found.to_file, found.to_definition);
        found.references.sort_by_key(place);
        let mut all = self.found.clone();
        all.references.sort_by_key(place);
        found.unresolved.extend(before.found.unresolved.iter().filter(|found| is_kept(found.file)));
        found.unresolved.sort_by_key(|found| found.file);
        found.inherited.clone_from(&before.found.inherited);
        assert_eq!(found, all);
        true
    }
}

/// Returns whether only the last file is joined again when its text changes.
#[track_caller]
fn is_enough(others: &[(&str, &str)], (path, before, after): (&str, &str, &str)) -> bool {
    let others = project(others);
    let with_file = |text| JoinedProject::new([others.clone(), project(&[(path, text)])].concat());
    with_file(after).is_joined_alone(&with_file(before))
}

#[test]
fn after_an_edit_of_a_c_function_body_only_its_file_is_joined_again() {
    // C++ files have no values from C.
    for others in [&[HEADER, CALLER][..], &[HEADER, CALLER, CPP]] {
        let is_alone = |after: &str| is_enough(others, ("c.c", BODY, after));
        assert!(is_alone(BODY));
        // Names of variables, and a name that only a macro elsewhere expands to.
        assert!(is_alone(&BODY.replace("  helper();", "\n  int go = 1;\n  alias();\n  run(go);")));
        assert!(is_alone(&BODY.replace("void run", "/* A. */\n\nvoid run")));
        for (from, to) in [
            ("void run(", "void walk("),
            ("static void helper", "void helper"),
            ("#include \"a.h.c\"\n", ""),
            ("void run(int n) {\n", "void added(void) {}\nvoid run(int n) {\n"),
        ] {
            assert!(!is_alone(&BODY.replace(from, to)), "{to}");
        }
    }
    let macros = "#define first helper\n";
    assert!(!is_enough(&[HEADER, CALLER], ("c.c", macros, &macros.replace("helper", "run"))));
}

const PYTHON: &str = "from b import helper\n\nTABLE = {'a': helper}\n\n\nclass Base:\n    def __init__(self, size):\n        part = helper(size)\n        self.part = part\n        print(self.part)\n\n    def make(self):\n        other = self.part\n        helper(other)\n        return helper(1)\n";

#[test]
fn after_an_edit_that_other_files_do_not_see_only_its_file_is_joined_again() {
    let others = [
        ("b.py", "class Part:\n    def run(self): ...\n\n\ndef helper(size):\n    return Part()\n"),
        (
            "c.py",
            "from a import TABLE, Base\n\n\ndef use():\n    Base(1).part.run()\n    Base(1).make().run()\n    TABLE['a']\n",
        ),
    ];
    let is_alone = |from: &str, to: &str| {
        let after = PYTHON.replace(from, to);
        assert_ne!(after, PYTHON);
        is_enough(&others, ("a.py", PYTHON, &after))
    };
    assert!(is_alone("    return helper(1)", "    helper(2)\n\n        return helper(1)"));
    assert!(is_alone("        other = self.part\n", "        new = helper(3)\n        other = new.run()\n"));
    assert!(is_alone("class Base", "# A comment.\nclass Base"));
    // Comprehensions and lambdas have scopes.
    assert!(is_alone("helper(other)", "[run() for run in other if (lambda new: new)(run)]"));
    // What a module uses is seen by what its variables contain.
    assert!(is_alone("class Base", "helper(1)\n\n\nclass Base"));
    for (from, to) in [
        ("return helper(1)", "return self.part"),
        ("self.part = part", "self.part = self"),
        // The value of an attribute.
        ("part = helper(size)", "part = size"),
        ("def make(self)", "def made(self)"),
        ("'a': helper", "'a': len"),
        ("import helper\n", "import helper, Part\n"),
        ("TABLE = {'a': helper}\n", "TABLE = {'a': helper}\nLIST = [helper]\n"),
        ("def __init__(self, size)", "def __init__(self, size, other)"),
    ] {
        assert!(!is_alone(from, to), "{to}");
    }
}

#[cfg(all(feature = "lang-java", feature = "lang-rust"))]
#[test]
fn typed_variables_and_imports_that_nothing_seen_names_are_seen_by_no_other_file() {
    let others = [
        (
            "b/B.java",
            "package b;\npublic class B {\n  public B next() { return this; }\n  public int size;\n}\n",
        ),
        ("c/C.java", "package c;\nimport a.A;\nclass C {\n  void go(A a) {\n    a.part().next();\n  }\n}\n"),
    ];
    let text = "package a;\nimport b.B;\npublic class A {\n  public B part() {\n    B made = new B();\n    return made;\n  }\n}\n";
    let is_alone = |from: &str, to: &str| is_enough(&others, ("a/A.java", text, &text.replace(from, to)));
    assert!(is_alone(
        "    return",
        "    for (B more = made; more != null;) {\n      more.next();\n    }\n    return"
    ));
    assert!(is_alone("import b.B;", "import b.B;\nimport c.C;"));
    for (from, to) in [
        ("import b.B;", "import c.B;"),
        ("import b.B;", "import b.B;\nimport c.*;"),
        ("import b.B;\n", ""),
        ("part()", "part(int size)"),
    ] {
        assert!(!is_alone(from, to), "{to}");
    }

    let rust = "pub struct Part;\nimpl Part {\n    pub fn make(&self) -> Part {\n        let part: Part = Part;\n        part\n    }\n}\n";
    let user = [("src/lib.rs", "mod part;\nfn go(part: part::Part) {\n    part.make().make();\n}\n")];
    let is_alone = |from: &str, to: &str| is_enough(&user, ("src/part.rs", rust, &rust.replace(from, to)));
    assert!(is_alone(
        "        part\n",
        "        if true {\n            let more: Part = Part;\n            more.make();\n        }\n        part\n"
    ));
    assert!(!is_alone("-> Part", "-> Option<Part>"));
}

#[test]
fn members_of_a_class_within_a_function_are_visible_to_other_files() {
    let text = "def make():\n    class Local:\n        part = helper\n    return Local\n";
    assert!(!is_enough(&[], ("a.py", text, &text.replace("helper", "make"))));
}

#[test]
fn a_changed_order_of_bindings_is_visible_to_other_files() {
    let text = "try:\n    from b import *\nexcept ImportError:\n    pass\nhelper = 1\n";
    let after = "helper = 1\ntry:\n    from b import *\nexcept ImportError:\n    pass\n";
    assert!(!is_enough(&[("b.py", "def helper(): ...\n")], ("a.py", text, after)));
}

#[cfg(feature = "lang-ruby")]
#[test]
fn in_a_language_that_is_read_by_name_only_the_edited_file_is_joined_again() {
    let text = "def one\n  two\nend\n";
    let others = [("b.rb", "def two\n  one\nend\n")];
    assert!(is_enough(&others, ("c.rb", text, &text.replace("two", "one\n  two"))));
    assert!(!is_enough(&others, ("c.rb", text, &text.replace("def one", "def three"))));
}

/// The files that are edited at random, the first ones more often.
const FILES: &[(&str, &str)] = &[
    (
        "lib.h.c",
        "#define start begin\n#define LIMIT 9\nint begin(int n);\nstatic int helper(int n)\n{\n\treturn n;\n}\n",
    ),
    (
        "lib.c",
        "#include \"lib.h.c\"\nint begin(int n)\n{\n\treturn helper(n);\n}\nint finish(int n)\n{\n\treturn start(n);\n}\n",
    ),
    (
        "main.c",
        "#include \"lib.h.c\"\n#include \"sub/lib.h.c\"\nint main(void)\n{\n\tint run = start(LIMIT);\n\tfinish(run);\n}\n",
    ),
    (
        "sub/lib.c",
        "#include \"lib.h.c\"\n#define finish begin\nint begin(int n)\n{\n\treturn helper(n) + run(n);\n}\n",
    ),
    ("sub/lib.h.c", "#define run helper\nstruct helper { int run; };\ntypedef int start;\n"),
    #[cfg(feature = "lang-ruby")]
    ("lib.rb", "class Begin\n  def begin_all\n    finish\n  end\nend\ndef finish\n  helper\nend\n"),
    #[cfg(feature = "lang-ruby")]
    ("run.rb", "def helper\n  finish\n  run\nend\nmodule Run\n  def run\n    helper\n  end\nend\n"),
    (
        "use.cpp",
        "#include \"lib.h.c\"\nstruct Base { int run(); };\nint use() {\n  return begin(1) + finish(2) + helper(3);\n}\n",
    ),
    ("tool.py", "def begin(n):\n    return finish(n)\n\n\ndef finish(n):\n    return n\n"),
    #[cfg(feature = "lang-typescript")]
    (
        "app.ts",
        "export function begin(n: number) {\n  return finish(n);\n}\nfunction finish(n: number) {\n  return n;\n}\n",
    ),
    #[cfg(feature = "lang-rust")]
    ("lib.rs", "fn begin() {\n    finish();\n}\nfn finish() {\n    helper();\n}\n"),
    #[cfg(feature = "lang-java")]
    (
        "Main.java",
        "class Main {\n  void begin() {\n    finish();\n  }\n  void finish() {\n    begin();\n  }\n}\n",
    ),
    #[cfg(feature = "lang-go")]
    ("main.go", "package main\nfunc begin() {\n\tfinish()\n}\nfunc finish() {\n\thelper()\n}\n"),
];
/// Lines that edits insert, with a name in place of each `@`.
const LINES: &[&str] = &[
    "\t@(@(1));",
    "\tint @ = LIMIT;",
    "\tstruct @ *@ = 0;",
    "int @(int n);",
    "int @(int @) { return @(n); }",
    "static int @(int n) { return @(n); }",
    "#define @ @",
    "#define @(n) @(n)",
    "#include \"lib.h.c\"",
    "#include \"sub/lib.h.c\"",
    "#include \"lib.c\"",
    "#ifdef @",
    "#endif",
    "struct @ { int @; };",
    "typedef struct @ @;",
    "{",
    "}",
    "/*",
    "*/",
    "",
    "  @",
    "def @",
    "end",
];
const NAMES: [&str; 6] = ["begin", "finish", "helper", "start", "run", "LIMIT"];
const ROUNDS: usize = 2000;

/// Pseudorandom numbers, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn one_of(&mut self, texts: &[&'static str]) -> &'static str {
        texts[self.below(texts.len())]
    }

    /// Inserts, removes or changes one line of a text, or renames all occurrences of a name.
    fn edit(&mut self, text: &str, inserted: &[&'static str]) -> String {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = self.below(lines.len() + 1);
        match self.below(10) {
            0 => {
                let known = self.one_of(&NAMES);
                return text.replace(known, self.one_of(&NAMES));
            }
            1..=3 if at < lines.len() => {
                let line = &lines[at];
                let known = NAMES.iter().find(|name| line.contains(**name)).unwrap_or(&NAMES[0]);
                lines[at] = line.replace(known, self.one_of(&NAMES));
            }
            4 if at < lines.len() => {
                let line = &lines[at];
                lines[at] = line.strip_prefix("static ").map_or(format!("static {line}"), str::to_owned);
            }
            5 if at < lines.len() => drop(lines.remove(at)),
            _ => {
                let mut parts = self.one_of(inserted).split('@');
                let mut line = parts.next().unwrap_or_default().to_owned();
                for part in parts {
                    line.extend([self.one_of(&NAMES), part]);
                }
                lines.insert(at, line);
            }
        }
        lines.join("\n") + "\n"
    }
}

/// Edits files at random, mostly the first ones. Returns how often only the edited files were joined.
fn edit_at_random(originals: &[(&str, &str)], lines: &[&'static str], first: usize) -> usize {
    let mut numbers = Numbers(5);
    let mut texts: Vec<String> = originals.iter().map(|(_, text)| (*text).to_owned()).collect();
    let mut before = JoinedProject::new(project(originals));
    let mut joined_alone = 0;
    for _ in 0..ROUNDS {
        let mut files = before.files.clone();
        for _ in 0..=numbers.below(2) {
            let most = if numbers.below(6) == 0 { originals.len() } else { first };
            let (at, is_restored) = (numbers.below(most), numbers.below(10) == 0);
            let (path, original) = originals[at];
            texts[at] = if is_restored { original.to_owned() } else { numbers.edit(&texts[at], lines) };
            files[at] = project(&[(path, &texts[at])]).remove(0);
        }
        let after = JoinedProject::new(files);
        joined_alone += usize::from(after.is_joined_alone(&before));
        before = after;
    }
    joined_alone
}

#[test]
fn after_any_edit_all_references_are_those_of_a_join_of_all_files() {
    let joined_alone = edit_at_random(FILES, LINES, 7);
    assert!((ROUNDS / 5..ROUNDS * 4 / 5).contains(&joined_alone), "{joined_alone} of {ROUNDS}");
}

/// Files whose names have values.
const FILES_WITH_VALUES: &[(&str, &str)] = &[
    (
        "app/begin.py",
        "from app.run import *\nfrom app import helper as start\n\nclass begin(run):\n    LIMIT = start\n    def __init__(self):\n        finish = run()\n        self.helper = finish\n    def finish(self):\n        run = self.helper\n        return run.start()\n",
    ),
    (
        "app/run.py",
        "from app import begin\n\nhelper = [begin.begin, finish]\n\nclass run:\n    def start(self):\n        helper = begin.begin()\n        return helper\n    def run(self):\n        return self.start().finish()\n\ndef finish(start):\n    return helper[0]\n",
    ),
    ("app/__init__.py", "from .run import run as helper\nfrom .begin import begin as start\n"),
    (
        "test_begin.py",
        "import pytest\nfrom app import start\n\n@pytest.fixture\ndef helper():\n    return start()\n\ndef test_run(helper):\n    helper.finish().run()\n",
    ),
    #[cfg(feature = "lang-typescript")]
    (
        "start.ts",
        "import { finish } from './finish';\nexport class begin {\n  helper = finish();\n  run() {\n    const start = this.helper;\n    return start.run();\n  }\n}\n",
    ),
    #[cfg(feature = "lang-typescript")]
    (
        "finish.ts",
        "import { begin } from './start';\nexport function finish() {\n  const run = new begin();\n  run.run();\n  return run;\n}\n",
    ),
    #[cfg(feature = "lang-rust")]
    (
        "src/lib.rs",
        "mod run;\nuse run::helper;\npub struct begin { start: helper }\nimpl begin {\n    pub fn finish(&self) -> helper {\n        let run = self.start.run();\n        run.finish();\n        helper::start()\n    }\n}\n",
    ),
    #[cfg(feature = "lang-rust")]
    (
        "src/run.rs",
        "use crate::begin;\npub struct helper;\nimpl helper {\n    pub fn start() -> Self { helper }\n    pub fn run(&self) -> begin {\n        let start = begin { start: helper };\n        start\n    }\n}\n",
    ),
    #[cfg(feature = "lang-java")]
    (
        "begin.java",
        "class begin {\n  run helper = new run();\n  run start() {\n    var finish = helper.finish();\n    return finish;\n  }\n}\n",
    ),
    #[cfg(feature = "lang-java")]
    (
        "run.java",
        "class run extends begin {\n  run finish() {\n    start().helper.run();\n    return this;\n  }\n  void run() {}\n}\n",
    ),
    #[cfg(feature = "lang-go")]
    (
        "begin.go",
        "package app\ntype begin struct { helper *run }\nfunc (b *begin) finish() *run {\n\tstart := b.helper\n\tstart.start()\n\treturn start\n}\n",
    ),
    #[cfg(feature = "lang-go")]
    (
        "run.go",
        "package app\ntype run struct { begin }\nfunc (r *run) start() begin {\n\thelper := r.finish()\n\treturn helper.begin\n}\n",
    ),
    (
        "begin.cpp",
        "#include \"run.hpp\"\nrun begin::finish() {\n  auto start = helper();\n  start.run();\n  return start;\n}\n",
    ),
    ("run.hpp", "struct run { int start(); };\nstruct begin : run {\n  run helper();\n  run finish();\n};\n"),
];
const LINES_WITH_VALUES: &[&str] = &[
    "        @ = self.@",
    "        @ = @.@()",
    "        self.@ = @",
    "        self.@.@(@)",
    "        return @.@",
    "        return self.@()",
    "        [@ for @ in self.@]",
    "        self.@(lambda @=@: @.@())",
    "  run @ = helper.@();",
    "  for (run @ : @) { @.@(); }",
    "import app.@;",
    "    let @: @ = self.@();",
    "    if @ { let @ = @; }",
    "  const @: begin = (@: begin) => @.@;",
    "\tvar @ run = @",
    "    @ = @",
    "    def @(self, @=@): pass",
    "@ = {@: @}",
    "from app import @ as @",
    "from app.run import *",
    "class @(@):",
    "  const @ = @.@();",
    "    this.@ = @;",
    "    let @ = @.@();",
    "  auto @ = @.@();",
    "\t@ := @.@()",
    "\treturn @",
    "@.@(@(1));",
    "{",
    "}",
    "",
    "# @",
];

#[test]
fn after_any_edit_all_references_by_values_are_those_of_a_join_of_all_files() {
    let joined_alone = edit_at_random(FILES_WITH_VALUES, LINES_WITH_VALUES, FILES_WITH_VALUES.len());
    assert!((ROUNDS / 10..ROUNDS * 4 / 5).contains(&joined_alone), "{joined_alone} of {ROUNDS}");
}

#[test]
fn a_join_on_all_cores_finds_what_a_join_of_one_file_after_another_finds() {
    let project = JoinedProject::new(project(&[FILES, FILES_WITH_VALUES].concat()));
    let mut found =
        ProjectReferences { references: Vec::new(), unresolved: Vec::new(), ..project.found.clone() };
    let mut of_variables = Vec::new();
    for (at, file) in (0..).zip(&project.files) {
        let others = || project.found.references.iter().filter(|found| found.from_file != at).copied();
        let of_file =
            find_changed_references(&project.files, &[(at, &file.facts)], || others().collect()).unwrap();
        found.unresolved.extend(of_file.unresolved);
        found.references.extend(of_file.references);
    }
    of_variables.extend(found.references.extract_if(.., |found| found.is_implied));
    found.references.extend(of_variables);
    assert_eq!(found, project.found);
}
