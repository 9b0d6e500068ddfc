//! Excerpts of every fixture: valid code of its language, with lines that are those of the source.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use super::{SplitMix, SyntaxFixture, fixtures};
use crate::model::{Span, Symbol};
use crate::syntax::derive::{checked_skeleton, count_errors, derive, excerpt, excerpt_parts};
use crate::syntax::notebook;
use crate::syntax::outline::{ExcerptRequest, SourceErrors};

/// The number of bodies of a fixture that are shown one by one.
const MAX_BODIES: usize = 12;
/// The number of random choices of a fixture's symbols that are shown.
const SEEDS: u64 = 12;

type Lines = RangeInclusive<u32>;

/// Returns the symbols of a text whose bodies an excerpt can show, and the lines of all signatures.
fn symbols(fixture: &SyntaxFixture) -> (Vec<Lines>, Vec<Lines>) {
    let outline = derive(fixture.language, &fixture.text, &mut || false).unwrap().outline;
    let (mut bodies, mut signatures) = (Vec::new(), Vec::new());
    outline.walk(|symbol: &Symbol, _| {
        let Span { start_line, end_line, .. } = symbol.span;
        signatures.push(start_line..=start_line);
        if symbol.kind.is_callable() || symbol.children.is_empty() {
            bodies.push(start_line..=end_line);
        }
    });
    (bodies, signatures)
}

fn make(language: &str, text: &str, bodies: &[Lines], signatures: Option<&[Lines]>) -> String {
    make_with_pointer(language, text, bodies, signatures, &|_| None)
}

fn make_with_pointer(
    language: &str,
    text: &str,
    bodies: &[Lines],
    signatures: Option<&[Lines]>,
    pointer: &dyn Fn(&Lines) -> Option<String>,
) -> String {
    let parts = excerpt_parts(language, text, &mut || false).unwrap();
    let request = ExcerptRequest { bodies, signatures, pointer, errors: &SourceErrors::default() };
    excerpt(language, text, &parts, &request, &mut || false).unwrap()
}

/// What the excerpts of a fixture are compared with.
struct FixtureFacts<'f> {
    fixture: &'f SyntaxFixture,
    errors: usize,
    lines: Vec<&'f str>,
    skeleton: String,
}

impl<'f> FixtureFacts<'f> {
    fn new(fixture: &'f SyntaxFixture) -> Self {
        let errors = count_errors(fixture.language, &fixture.text, &mut || false).unwrap();
        let skeleton = checked_skeleton(fixture.language, &fixture.text, &mut || false).unwrap().text;
        Self { fixture, errors, lines: fixture.text.split('\n').collect(), skeleton }
    }

    /// Checks that an excerpt is valid, that it shows the bodies, and that what it shows besides gaps is in the source.
    #[track_caller]
    fn check(&self, bodies: &[Lines], signatures: Option<&[Lines]>) {
        let Self { fixture, errors, lines, skeleton } = self;
        let excerpt = make(fixture.language, &fixture.text, bodies, signatures);
        let (path, text) = (fixture.path.display(), &excerpt);
        let now = count_errors(fixture.language, text, &mut || false).unwrap();
        assert!(now <= *errors, "{path}: {errors} errors became {now} in\n{text}");
        for body in bodies {
            let own = lines[*body.start() as usize - 1..(*body.end() as usize).min(lines.len())].join("\n");
            assert!(text.contains(&own), "{path}: {body:?} is not shown in\n{text}");
        }
        let known: HashSet<&str> = lines.iter().copied().chain(skeleton.split('\n')).collect();
        for line in text.split('\n').filter(|line| !known.contains(line)) {
            // Besides the gaps, a line may have other marks of a skeleton than the skeleton has on it.
            let marks = ["line ", "lines ", " line", " bytes", "KiB", "…", "more", "rows", "{", ";"];
            assert!(marks.iter().any(|mark| line.contains(mark)), "{path}: {line:?} is not in the source");
        }
    }
}

fn each_fixture(mut test: impl FnMut(&SyntaxFixture)) {
    for fixture in fixtures().iter().filter(|fixture| fixture.language != notebook::ID) {
        test(fixture);
    }
}

#[test]
fn an_excerpt_with_all_signatures_is_as_sound_as_its_source() {
    each_fixture(|fixture| {
        let (bodies, _) = symbols(fixture);
        let facts = FixtureFacts::new(fixture);
        facts.check(&[], None);
        for body in bodies.iter().step_by(1 + bodies.len() / MAX_BODIES) {
            facts.check(std::slice::from_ref(body), None);
        }
    });
}

#[test]
fn an_excerpt_with_some_signatures_is_as_sound_as_its_source() {
    each_fixture(|fixture| {
        let (bodies, signatures) = symbols(fixture);
        let facts = FixtureFacts::new(fixture);
        for seed in 0..SEEDS {
            let mut dice = SplitMix(seed);
            let one_in = 1 + dice.below(9);
            let mut some = |lines: &[Lines]| -> Vec<Lines> {
                lines.iter().filter(|_| dice.below(one_in) == 0).cloned().collect()
            };
            let (bodies, signatures) = (some(&bodies), some(&signatures));
            facts.check(&bodies, Some(&signatures));
        }
    });
}

#[test]
fn an_excerpt_with_everything_is_the_source() {
    each_fixture(|fixture| {
        let all = [1..=u32::MAX];
        let excerpt = make(fixture.language, &fixture.text, &all, Some(&[]));
        assert_eq!(excerpt, fixture.text, "{}", fixture.path.display());
    });
}

#[track_caller]
fn check_text(language: &str, text: &str, bodies: &[Lines], signatures: Option<&[Lines]>, expected: &str) {
    assert_eq!(make(language, text, bodies, signatures), expected);
}

const ENGINE: &str = "import os\nimport sys\n\n\nclass Engine:\n    \"\"\"Runs until it is stopped.\"\"\"\n\n    def run(self, speed):\n        \
    while speed:\n            speed -= 1\n        return self\n\n    def stop(self):\n        self.speed = 0\n        \
    self.on = False\n        return self\n\n\ndef main():\n    engine = Engine()\n    engine.run(3)\n    engine.stop()\n";

#[test]
fn bodies_are_shown_among_signatures() {
    let expected = "import os\nimport sys\n\n\nclass Engine:\n    \"\"\"Runs until it is stopped.\"\"\"\n\n    def run(self, speed):\n        \
        while speed:\n            speed -= 1\n        return self\n\n    def stop(self):\n        ...  # lines 14-18\n\
        def main():\n    ...  # lines 20-22\n";
    check_text("python", ENGINE, &[8..=11], None, expected);
}

#[test]
fn what_was_not_chosen_is_a_gap_with_its_lines() {
    let expected = "# lines 1-4\nclass Engine:\n    ...  # lines 6-7\n    def run(self, speed):\n        while speed:\n            \
        speed -= 1\n        return self\n    ...  # lines 12-22\n";
    check_text("python", ENGINE, &[8..=11], Some(&[]), expected);
    let expected = "# lines 1-4\nclass Engine:\n    ...  # lines 6-12\n    def stop(self):\n        \
        ...  # lines 14-16\n# lines 17-22\n";
    check_text("python", ENGINE, &[], Some(&[13..=13]), expected);
}

#[test]
fn what_follows_a_block_that_indentation_ends_is_a_gap_of_its_own() {
    let python = "class A:\n    def f(self):\n        # Reads.\n        text = '''\nraw\n'''\n        return text\n        \
                  # Ends here.\n\n    # Of g.\n    def g(self):\n        return self.f()\n\n\ndef h(first, second):\n    \
                  return first + second\n\n\nX = 1\n";
    let shown = "class A:\n    def f(self):\n        ...  # lines 3-8\n    # lines 9-18\nX = 1\n";
    check_text("python", python, &[19..=19], Some(&[2..=2]), shown);
    let shown = "class A:\n    ...  # lines 2-12\n# lines 13-18\nX = 1\n";
    check_text("python", python, &[19..=19], Some(&[1..=1]), shown);
    // The comment above hides no definition.
    let shown = "class A:\n    def f(self):\n        ...  # lines 3-10\n    def g(self):\n        return self.f()\n# lines 13-19\n";
    check_text("python", python, &[11..=12], Some(&[2..=2]), shown);
    let ruby = "class A\n  def first(value)\n    read(value)\n    write(value)\n  end\n\n  def second(value)\n    read(value)\n    \
                write(value)\n  end\nend\n\ndef third(value)\n  read(value)\nend\n";
    let shown = "class A\n  def first(value)\n    # lines 3-4\n  end\n  # lines 6-10\nend\n# lines 12-15\n";
    check_text("ruby", ruby, &[], Some(&[2..=2]), shown);
}

#[test]
fn braces_stay_around_a_gap() {
    let text = "// Counts.\nfn count(words: &[&str]) -> usize {\n    let mut all = 0;\n    for word in words {\n        \
        all += word.len();\n    }\n    all\n}\n\nfn main() {\n    println!(\"{}\", count(&[\"one\"]));\n}\n";
    let expected = "// Counts.\nfn count(words: &[&str]) -> usize {\n    // lines 3-7\n}\n\nfn main() {\n    \
        println!(\"{}\", count(&[\"one\"]));\n}\n";
    check_text("rust", text, &[10..=12], None, expected);
    let list = "A::A(int a)\n    : first(a)\n    , second{a} {\n";
    let text = format!("{list}    read_the_first(a);\n    read_the_second(a);\n}}\nint other;\n");
    let expected = format!("{list}    // lines 4-5\n}}\nint other;\n");
    check_text("cpp", &text, &[7..=7], None, &expected);
}

#[test]
fn a_pointer_is_shown_where_it_is_short_and_cannot_end_its_comment() {
    let pointers = ["+9 tokens: slop view a.py", "two\nlines"];
    let shown = pointers.map(|pointer| {
        let text = format!("{ENGINE}{}", "print(1)  # a line that is of some length\n".repeat(20));
        make_with_pointer("python", &text, &[], Some(&[5..=5]), &|_| Some(pointer.to_owned()))
    });
    assert!(shown[0].contains("# +9 tokens: slop view a.py\n"), "{}", shown[0]);
    assert!(!shown[1].contains("two"), "{}", shown[1]);
}

#[test]
fn a_decorator_of_several_lines_is_a_gap_where_only_the_signature_is_shown() {
    let text = "class Tests:\n    @slow\n    @parametrize(\n        \"value\",\n        [1, 2, 3, 4, 5, 6, 7, 8, 9],\n    )\n    @quiet\n    \
                def test_values(self, value):\n        assert value\n        assert value < 10\n";
    let expected = "class Tests:\n    @slow\n    # lines 3-6\n    @quiet\n    def test_values(self, value):\n        ...  # lines 9-10\n";
    check_text("python", text, &[], Some(&[8..=8]), expected);
}

#[test]
fn a_part_of_a_body_is_shown_with_the_heads_and_ends_of_the_blocks_around_it() {
    let c = "\
int f(int a)
{
    int b = first_value_of(a);
    if (a) {
        b = second_value_of(b);
        while (b < a &&
               a) {
            b--;
            a = third_value_of(b);
        }
        b = fourth_value_of(a, b);
    } else {
        b = fifth_value_of(a, b);
    }
    return last_value_of(a, b);
}
";
    let shown = "\
int f(int a)
{
    // line 3
    if (a) {
        // line 5
        while (b < a &&
               a) {
            b--;
            // line 9
        }
        // line 11
    } else {
        // line 13
    }
    // line 15
}
";
    assert_eq!(make("c", c, &[8..=8], Some(&[])), shown);
    let python = "\
class A:
    def f(self, a):
        b = self.first_value_of(a)
        if (a and
                b):
            b += 1
            a = self.second_value_of(b)
        else:
            b = self.third_value_of(b)
        return self.last_value_of(a, b)

    def g(self):
        return self.f(self.fourth_value)
";
    let shown = "\
class A:
    def f(self, a):
        ...  # line 3
        if (a and
                b):
            b += 1
            ...  # line 7
        else:
            ...  # lines 9-10
    # lines 11-13
";
    assert_eq!(make("python", python, &[6..=6], Some(&[])), shown);
}

#[test]
fn what_is_not_chosen_of_a_container_of_fields_is_a_gap() {
    let zig = "const Point = struct {\n    /// Across.\n    first_field: u32 = 0,\n    second_field: u32 = 0,\n\n    \
               fn sum(self: Point) u32 {\n        return self.first_field + self.second_field;\n    }\n};\n";
    let shown = "const Point = struct {\n    // lines 2-5\n    fn sum(self: Point) u32 {\n        \
                 return self.first_field + self.second_field;\n    }\n};\n";
    check_text("zig", zig, &[6..=8], Some(&[]), shown);
    check_text("zig", zig, &[], Some(&[1..=1]), "const Point = struct {\n    // lines 2-8\n};\n");
    let yaml = "name: web\nservices:\n  first_service: {image: a}\n  second_service:\n    image: some/image\n    ports:\n      \
                - 8080:8080/tcp\n      - 9090\n";
    let shown = "# line 1\nservices:\n  # line 3\n  second_service:\n    # line 5\n    ports:\n      # line 7\n      - 9090\n";
    check_text("yaml", yaml, &[8..=8], Some(&[]), shown);
    let toml =
        "[first]\nname = \"some value\"\nother = \"some other value\"\n\n[second]\nname = \"a value\"\n";
    check_text(
        "toml",
        toml,
        &[3..=3],
        Some(&[]),
        "[first]\n# line 2\nother = \"some other value\"\n# lines 4-6\n",
    );
}

#[test]
fn what_is_not_chosen_of_the_elements_of_a_value_is_a_gap() {
    let cases = [
        (
            "javascript",
            "const a = {\n  ONE\n};\n",
            "f(x) {\n    return x;\n  },\n  key: [\n    1,\n    2,\n  ],",
            "// ",
        ),
        (
            "typescript",
            "type A = {\n  ONE\n};\n",
            "f(\n    x: number,\n  ): number;\n  key: {\n    b: 1;\n  };",
            "// ",
        ),
        (
            "lua",
            "local a = {\n  ONE\n}\n",
            "f = function(x)\n    return x\n  end,\n  key = {\n    1,\n    2,\n  },",
            "-- ",
        ),
        ("ruby", "A = {\n  ONE\n}\n", "f: lambda {\n    1\n  },\n  key: [\n    1,\n    2,\n  ],", "# "),
        (
            "php",
            "<?php\n$a = [\n  ONE\n];\n",
            "'f' => function () {\n    return 1;\n  },\n  'key' => [\n    1,\n    2,\n  ],",
            "// ",
        ),
        (
            "go",
            "package a\n\nvar a = A{\n  ONE\n}\n",
            "f: func() {\n    g()\n  },\n  key: B{\n    1,\n    2,\n  },",
            "// ",
        ),
        (
            "rust",
            "const A: B = B {\n  ONE\n};\n",
            "f: |x| {\n    x\n  },\n  key: [\n    1,\n    2,\n  ],",
            "// ",
        ),
        (
            "java",
            "class A {\n  B[] a = {\n  ONE\n  };\n}\n",
            "new B() {\n    int f() { return 1; }\n  },\n  key(\n    1,\n    2),",
            "// ",
        ),
    ];
    for (language, frame, elements, comment) in cases {
        let other = elements.replace("key", "other");
        let text = frame.replace("ONE", &format!("{elements}\n  {other}"));
        let line =
            |word: &str| u32::try_from(text[..text.find(word).unwrap()].matches('\n').count()).unwrap() + 1;
        let shown = make(language, &text, &[line("key")..=line("key")], Some(&[]));
        assert!(shown.contains("key") && !shown.contains("other"), "{language}: {shown}");
        let gaps: Vec<&str> = shown.lines().filter(|line| line.trim_start().starts_with(comment)).collect();
        assert_eq!(gaps.len(), 2, "{language}: {shown}");
        assert_eq!(count_errors(language, &shown, &mut || false), Some(0), "{language}: {shown}");
    }
}

#[test]
fn what_is_not_chosen_of_conditions_and_macros_is_a_gap() {
    let text = "#ifndef A_H\n#define A_H\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n#if X > 1\n#  if Y\n#    define Z 1\n#  else\n#    define Z 2\n#  endif\n\
                #endif\n#define MANY(a) \\\n  do { \\\n    f(a); /* twice */ \\\n    f(a); \\\n  } while (0)\n\n#ifdef POSIX\nint g(void) {\n    return 1;\n}\n#else\n\
                int h(void) {\n    return 2;\n}\n#endif\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
    let shown = "#ifndef A_H\n// lines 2-18\n#ifdef POSIX\nint g(void) {\n    return 1;\n}\n#else\n// lines 24-26\n#endif\n// lines 28-30\n#endif\n";
    for language in ["c", "cpp"] {
        check_text(language, text, &[20..=22], Some(&[]), shown);
    }
}

#[test]
fn what_is_not_chosen_of_a_macro_of_rust_is_a_gap() {
    let text = "\
/// Adds any number of values.
macro_rules! add {
    ($first:expr) => {
        $first
    };
    ($first:expr, $($rest:expr),+) => {
        first_of_all!($first);
        $first + add!($($rest),+)
    };
}
";
    let rule = "\
// line 1
macro_rules! add {
    // lines 3-5
    ($first:expr, $($rest:expr),+) => {
        first_of_all!($first);
        $first + add!($($rest),+)
    };
}
";
    check_text("rust", text, &[6..=9], Some(&[]), rule);
    let line = "\
// line 1
macro_rules! add {
    // lines 3-5
    ($first:expr, $($rest:expr),+) => {
        // line 7
        $first + add!($($rest),+)
    };
}
";
    check_text("rust", text, &[8..=8], Some(&[]), line);
}

#[test]
fn an_excerpt_of_a_component_shows_parts_of_its_options_and_of_its_template() {
    let text = "<template>\n  <ul>\n    <li>a</li>\n    <li>b</li>\n  </ul>\n</template>\n\n<script>\nexport default {\n  methods: {\n    save() {\n      a()\n      b()\n    },\n    load() {\n      c()\n    },\n  },\n}\n</script>\n";
    let expected = "<!-- lines 1-7 -->\n<script>\nexport default {\n  methods: {\n    // lines 11-14\n    load() {\n      c()\n    },\n  },\n}\n</script>\n";
    assert_eq!(make("vue", text, &[15..=17], Some(&[])), expected);
    let expected = "<template>\n  <!-- lines 2-3 -->\n    <li>b</li>\n  </ul>\n</template>\n\n<script>\n// lines 9-19\n</script>\n";
    assert_eq!(make("vue", text, &[4..=4], Some(&[])), expected);
}
