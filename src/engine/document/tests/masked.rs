//! Properties of a masked view of any text, checked on the fixtures of the languages and on pieces of them, and the
//! rendering of signatures in each language.

use std::path::Path;

use expect_test::{Expect, expect};

use crate::model::{MaskMode, Outline};
use crate::{aggregate, syntax};

/// The number of pieces that each fixture is cut into; each is left out once.
const PIECES: usize = 12;

#[expect(clippy::disallowed_methods, reason = "a test reads its own fixtures")]
fn fixtures() -> Vec<(&'static str, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    for language in ["python", "c", "cpp"] {
        for entry in std::fs::read_dir(folder.join(language)).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if matches!(ending, Some("py" | "c" | "h" | "cpp" | "hpp")) {
                found.push((language, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

fn outline(language: &str, text: &str) -> Outline {
    syntax::derive(language, text, &mut || false).unwrap().outline
}

/// Returns a mask in which the position of each symbol in the outline decides its mode.
fn mask(outline: &Outline, first: usize) -> Vec<(String, MaskMode)> {
    let mut mask = Vec::new();
    outline.walk(|symbol, _| {
        let mode = MaskMode::ALL[(mask.len() + first) % MaskMode::ALL.len()];
        mask.push((symbol.qualified_name.clone(), mode));
    });
    mask
}

#[track_caller]
fn check(language: &str, text: &str) {
    let outline = outline(language, text);
    let definitions = aggregate::render_definitions(text, &outline, language);
    for line in definitions.lines().filter(|line| !line.contains("# in a block: ")) {
        // What begins within a line has that line's indentation.
        assert!(text.contains(line.trim_start()), "`{line}` is not part of the text");
    }
    let signatures = aggregate::render_signatures(text, &outline, language);
    outline.walk(|symbol, _| {
        let head = symbol.signature.split("{…}").next().unwrap();
        assert!(signatures.contains(head.trim_end()), "no `{head}` in {signatures}");
    });
    for first in 0..MaskMode::ALL.len() {
        let view = aggregate::render_masked(text, &outline, &mask(&outline, first), language);
        assert!(view.missing.is_empty(), "{:?}", view.missing);
    }
}

#[test]
fn masked_views_of_whole_and_of_cut_fixtures_show_only_text_of_the_file() {
    for (language, text) in fixtures() {
        check(language, &text);
        for piece in 0..PIECES {
            let cut = |at: usize| text.floor_char_boundary(text.len() * at / PIECES);
            check(language, &format!("{}{}", &text[..cut(piece)], &text[cut(piece + 1)..]));
        }
    }
}

#[test]
fn an_outline_of_another_text_causes_no_panic() {
    for (language, text) in fixtures() {
        let outline = outline(language, &text);
        for other in ["", "é", "éééééééééé\r\n", &text.replace(['a', ' '], "é")] {
            let all = mask(&outline, 0);
            aggregate::render_masked(other, &outline, &all, language);
            aggregate::render_signatures(other, &outline, language);
            aggregate::render_definitions(other, &outline, language);
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`expect!` is passed by value")]
fn check_signatures(language: &str, text: &str, expected: Expect) {
    expected.assert_eq(&aggregate::render_signatures(text, &outline(language, text), language));
}

#[test]
fn bodies_of_arrow_functions_are_replaced_by_a_mark() {
    check_signatures(
        "typescript",
        "export const Button = ({ a, b }: Props) => {\n  return 1;\n};\nexport const short = (x: number) => x + 1;\nexport const long = (x: number) =>\n  add(x) +\n  add(x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x + 8, x + 9);\nclass A {\n  h = () => {\n    return 1;\n  };\n}\ndescribe(\"a\", () => {\n  it(\"b\", () => {\n    c();\n  });\n});\n",
        expect![[r#"
            export const Button = ({ a, b }: Props) => {…};
            export const short = (x: number) => x + 1;
            export const long = (x: number) => …;

            class A {
              h = () => {…};
            }

            describe("a", () => {
              it("b", () => …);
            });
        "#]],
    );
}

#[test]
fn names_that_are_declared_together_are_shown_once() {
    check_signatures(
        "typescript",
        "const { p, q } = useRouter();\nlet m = 1, n = 2;\nexport let m1 = 1, n1 = 2;\n",
        expect![[r"
            const { p, q } = useRouter();
            let m = 1;
            let n = 2;
            export let m1 = 1;
            export let n1 = 2;
        "]],
    );
    check_signatures(
        "go",
        "package a\n\nvar x, y int\nvar (\n\ta, b = 1, 2\n)\nconst (\n\tA Kind = iota\n\tB\n)\ntype (\n\tT struct {\n\t\tp, q int\n\t}\n)\nfunc F(o struct {\n\tA int\n\tB int\n}) error {\n\treturn nil\n}\n",
        expect![[r"
            var x, y int
            var a, b = 1, 2
            const A Kind = iota
            const B Kind = iota

            	type T struct {
            		p, q int
            	}

            func F(o struct { A int; B int }) error
        "]],
    );
    check_signatures(
        "java",
        "class K {\n  int a, b = 2;\n}\n",
        expect![[r"
        class K {
          int a, b = 2;
        }
    "]],
    );
    check_signatures(
        "swift",
        "enum E {\n  case a, b, c\n  func f() -> Int { return 1 }\n}\n",
        expect![[r"
            enum E {
              case a, b, c
              func f() -> Int
            }
        "]],
    );
}

/// Asserts what is left of a text if a symbol is hidden.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "`expect!` is passed by value")]
fn check_hidden(language: &str, text: &str, key: &str, expected: Expect) {
    let mask = [(key.to_owned(), MaskMode::Hide)];
    expected.assert_eq(&aggregate::render_masked(text, &outline(language, text), &mask, language).body);
}

#[test]
fn comments_after_and_below_a_hidden_symbol_are_hidden_with_it() {
    check_hidden(
        "c",
        "struct s {\n    int a; /* first */\n    int secret; /* says\n                   it all */\n    int b; // last\n};\n",
        "s::secret",
        expect![[r"
            struct s {
                int a; /* first */
                // 2 lines hidden
                int b; // last
            };
        "]],
    );
    check_hidden(
        "python",
        "class A:\n    def secret(self):\n        return 1  # one\n        # the key\n\n        # is here\n    # in the class\n\n    b = 2\n",
        "A.secret",
        expect![[r"
            class A:
                ...  # 5 lines hidden
                # in the class

                b = 2
        "]],
    );
    check_hidden(
        "c",
        "int a; /* of a */\n/* all\n   of */ /* it */ int secret;\nint b;\n",
        "secret",
        expect![[r"
            int a; /* of a */
            // 2 lines hidden
            int b;
        "]],
    );
    // What follows a comment on its line is not hidden with it.
    check_hidden(
        "c",
        "int secret; /* a\n b */ int b;\n",
        "secret",
        expect![[r"
            /* 1 line hidden */ /* a
             b */ int b;
        "]],
    );
}

#[cfg(feature = "lang-kotlin")]
#[test]
fn the_annotation_of_a_hidden_kotlin_declaration_is_hidden_too() {
    // With a comment at its end, the grammar parses the annotation as an expression.
    check_hidden(
        "kotlin",
        "package a\n\n/** Secret. */\n@Suppress(\"X\")\nfun secret(): Int {\n  return 1\n}\n// end\n",
        "secret",
        expect![[r"
            package a

            // 5 lines hidden
            // end
        "]],
    );
}

#[test]
fn parameters_are_not_repeated_as_members() {
    check_signatures(
        "kotlin",
        "data class U(val id: Int, val name: String)\ndata class V(val id: Int) {\n  val next: Int = id + 1\n}\n",
        expect![[r"
            data class U(val id: Int, val name: String)

            data class V(val id: Int) {
              val next: Int = id + 1
            }
        "]],
    );
    check_signatures(
        "java",
        "public record P(int x, int y) {\n  public P {\n    check(x);\n  }\n  int sum() { return x + y; }\n}\n",
        expect![[r"
            public record P(int x, int y) {
              int sum();
            }
        "]],
    );
    check_signatures(
        "csharp",
        "public record R(int A, string B);\n",
        expect![[r"
        public record R(int A, string B);
    "]],
    );
    check_signatures(
        "php",
        "<?php\nclass P {\n  public function __construct(private readonly int $a, protected $b = \"x\") {}\n  public $c;\n}\n",
        expect![[r#"
            class P {
              public function __construct(private readonly int $a, protected $b = "x");
              public $c;
            }
        "#]],
    );
    check_signatures(
        "typescript",
        "class C {\n  constructor(readonly p: string, private q: number) {}\n  r: string;\n}\n",
        expect![[r"
            class C {
              constructor(readonly p: string, private q: number);
              r: string;
            }
        "]],
    );
}

#[test]
fn ruby_signatures_have_an_end_only_where_the_definition_has_one() {
    check_signatures(
        "ruby",
        "class A\n  def x? = true\n  def y(a)\n    a\n  end\n  def z=(a)\n    @z = a\n  end\n  alias_method :al, :y\n  Point = Struct.new(:x)\n  Line = Struct.new(:a) do\n    def m\n      1\n    end\n  end\n  class << self\n    attr_reader :config\n    def cm(a)\n      2\n    end\n  end\nend\n",
        expect![[r"
            class A
              def x? = true
              def y(a); end
              def z=(a); end
              alias_method :al, :y
              Point = Struct.new(:x)

              Line = Struct.new(:a) do
                def m; end
              end

              class << self; attr_reader :config; end
              def self.cm(a); end
            end
        "]],
    );
    check_signatures(
        "lua",
        "local M = {}\nfunction M.f(a)\n  return 1\nend\nM.g = function(b)\n  return 2\nend\n",
        expect![[r"
            local M = {}
            function M.f(a); end
            M.g = function(b); end
        "]],
    );
}

#[test]
fn members_are_separated_as_in_their_language() {
    check_signatures(
        "csharp",
        "namespace N;\nclass C {\n  public string Name { get; set; }\n  int[] q = { 1, 2 };\n}\nenum G { A, B }\n",
        expect![[r"
            namespace N;

            class C {
              public string Name { get; set; }
              int[] q = { 1, 2 };
            }

            enum G {
                A,
                B,
            }
        "]],
    );
    check_signatures(
        "java",
        "enum D {\n  X { int f() { return 1; } },\n  Y;\n  int f() { return 1; }\n}\nenum S { A, B }\n",
        expect![[r"
            enum D {
              X,
              Y;
              int f();
            }

            enum S {
                A,
                B,
            }
        "]],
    );
    check_signatures(
        "php",
        "<?php\nnamespace A;\nenum E: string {\n  case A = \"a\";\n  public function f(): int { return 1; }\n}\n",
        expect![[r#"
            namespace A;

            enum E: string {
              case A = "a";
              public function f(): int;
            }
        "#]],
    );
    check_signatures(
        "typescript",
        "export type T = {\n  a: string\n  b: {\n    c: number\n    d: string\n  }\n};\nexport function g({ a, b }: {\n  a: string\n  b: number\n}): void {}\n",
        expect![[r"
            export type T = {
              a: string;
              b: { c: number; d: string };
            };

            export function g({ a, b }: { a: string; b: number }): void;
        "]],
    );
}
