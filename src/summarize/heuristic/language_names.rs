//! Names declared in source files without an outline, in languages whose declarations do not begin with keywords.

use crate::summarize::words;

/// Bytes that are read.
const HEAD_BYTES: usize = 1024 * 1024;

/// Returns the names that a source file declares, in its order; `None` for a language whose declarations begin with
/// keywords.
pub(crate) fn names_in_language(language: &str, text: &str, most: usize) -> Option<Vec<String>> {
    let text = words::head(text, HEAD_BYTES);
    let each = |name_of: fn(&str) -> Option<&str>| collect(text.lines().filter_map(name_of), most);
    let names = match language {
        "r" => each(name_of_r),
        "haskell" | "purescript" | "elm" => collect(text.lines().flat_map(names_of_haskell), most),
        "ocaml" => collect(names_of_ocaml(text).into_iter(), most),
        "fsharp" => each(name_of_fsharp),
        "terraform" => collect(text.lines().filter_map(address_of_terraform), most),
        "objective-c" | "objective-cpp" => each(name_of_objective_c),
        "erlang" => each(name_of_erlang),
        "scheme" | "racket" | "lisp" | "emacs-lisp" | "clojure" => each(name_of_lisp),
        "fortran" => each(name_of_fortran),
        "apex" | "processing" | "groovy" | "dart" => each(name_in_braces),
        "nix" => collect(names_of_nix(text).into_iter(), most),
        "cram" => Vec::new(),
        "sql" => match collect(text.lines().filter_map(name_of_model), most) {
            names if names.is_empty() => return None,
            names => names,
        },
        _ => return None,
    };
    Some(names)
}

fn collect<N: AsRef<str>>(found: impl Iterator<Item = N>, most: usize) -> Vec<String> {
    let mut names = Vec::new();
    for name in found {
        push_name(&mut names, name.as_ref());
        if most <= names.len() {
            break;
        }
    }
    names
}

/// Adds a name to a list, unless it has it already.
fn push_name(names: &mut Vec<String>, name: &str) {
    const NAME_BYTES: usize = 80;
    let name = words::one_line(name);
    if !name.is_empty() && name.len() <= NAME_BYTES && !names.contains(&name) {
        names.push(name);
    }
}

/// Returns the names of the macros with a value that a C or C++ file defines, in its order.
pub(crate) fn macro_names(text: &str, most: usize) -> Vec<String> {
    let name_of_macro = |line: &'_ str| -> Option<String> {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        let name = word(rest.trim_start(), "").filter(|_| rest.starts_with([' ', '\t']))?;
        // The macro that guards a header against repeated inclusion has none.
        let value = rest.trim_start()[name.len()..].trim_start();
        (!value.is_empty() && !value.starts_with("/*") && !value.starts_with("//")).then(|| name.to_owned())
    };
    collect(words::head(text, HEAD_BYTES).lines().filter_map(name_of_macro), most)
}

/// Returns the word at the start of a text, which may contain some punctuation; `None` if there is none.
fn word<'t>(text: &'t str, signs: &str) -> Option<&'t str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || signs.contains(c);
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    (0 < end).then(|| &text[..end])
}

/// Returns the text without its first word, if that is one of some words.
fn after<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    words.iter().find_map(|word| text.strip_prefix(word)).map(str::trim_start)
}

/// `orders as (` and `{% macro to_dollars(x) %}` in a model of dbt.
fn name_of_model(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(block) = line.strip_prefix("{%") {
        return after(block.trim_start_matches('-').trim_start(), &["macro ", "snapshot ", "test "])
            .and_then(|rest| word(rest, ""));
    }
    let line = after(line, &["with ", "WITH "]).unwrap_or(line);
    let name = word(line, "")?;
    line[name.len()..].trim_end_matches('(').trim().eq_ignore_ascii_case("as").then_some(name)
}

/// `name <- function(x)` and `Name <- R6Class(…)`.
fn name_of_r(line: &str) -> Option<&str> {
    const MADE: [&str; 6] = ["function(", "function (", "\\(", "R6Class(", "R6::R6Class(", "setRefClass("];
    let name = line.trim_start_matches(['`', '"']);
    let name = word(name, ".").filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '.'))?;
    let (target, value) = line.split_once("<-").or_else(|| line.split_once('='))?;
    let is_target = target.trim_matches(['`', '"', ' ']) == name;
    (is_target && after(value.trim_start(), &MADE).is_some()).then_some(name)
}

/// `name, other :: Type`, as Haskell has it, or `name : Type`, as Elm has it; types and classes.
fn names_of_haskell(line: &str) -> Vec<&str> {
    const TYPES: [&str; 8] = [
        "data family ", "data ", "newtype ", "type family ", "type alias ", "type ", "class ",
        "foreign import ",
    ];
    if let Some(rest) = after(line, &TYPES) {
        // The constraints of type parameters come first.
        let head = rest.split([':', '|', '{']).next().unwrap_or_default();
        let head = head.split_once("=> ").map_or(rest, |(_, head)| head);
        let name = word(head.trim_start(), "'").filter(|name| name.starts_with(char::is_uppercase));
        return name.into_iter().collect();
    }
    let Some((names, _)) = line.split_once(" : ").or_else(|| line.split_once(" ::")) else {
        return Vec::new();
    };
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    let is_name =
        |name: &&str| word(name, "'") == Some(*name) && name.starts_with(|c: char| !c.is_uppercase());
    if line.starts_with(char::is_whitespace) || !names.iter().all(is_name) { Vec::new() } else { names }
}

/// `let rec name`, `val name`, types and modules, at the top of the file or of a module in it.
fn names_of_ocaml(text: &str) -> Vec<&str> {
    const INDENT: usize = 2;
    let mut names = Vec::new();
    let mut is_in_module = false;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let own = line.trim_start();
        match line.len() - own.len() {
            0 => is_in_module = own.starts_with("module ") && !own.ends_with("end"),
            // Within a function, `let` binds a local value.
            INDENT if is_in_module => {}
            _ => continue,
        }
        names.extend(name_of_ocaml(own));
    }
    names
}

fn name_of_ocaml(line: &str) -> Option<&str> {
    const STARTS: [&str; 10] = [
        "let rec ", "let ", "and ", "val ", "external ", "type nonrec ", "type ", "module type ", "module ",
        "exception ",
    ];
    let mut rest = after(line, &STARTS)?;
    // An operator, or a destructuring pattern; else type parameters.
    if rest.starts_with('(') && line.starts_with("let ") {
        return None;
    }
    if let Some((_, inside)) = rest.strip_prefix('(').and_then(|inside| inside.split_once(')')) {
        rest = inside.trim_start();
    }
    while rest.starts_with('\'') || rest.starts_with("+'") || rest.starts_with("-'") {
        rest = rest.split_once(' ')?.1.trim_start();
    }
    let name = word(rest, "'")?;
    let is_kept = !["_", "open", "rec", "module", "exception"].contains(&name);
    (is_kept && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

/// `let name`, `type Name` and `member this.Name`.
fn name_of_fsharp(line: &str) -> Option<&str> {
    const TOP: [&str; 12] = [
        "let rec ", "let inline ", "let private ", "let internal ", "let mutable ", "let ", "and ", "type ",
        "module rec ", "module ", "namespace ", "exception ",
    ];
    const MEMBERS: [&str; 6] =
        ["member ", "static member ", "override ", "default ", "abstract member ", "abstract "];
    let own = line.trim_start();
    if let Some(rest) = after(own, &MEMBERS).filter(|_| own.len() < line.len()) {
        let first = word(rest, "_")?;
        let member = rest[first.len()..].strip_prefix('.').and_then(|rest| word(rest, "_"));
        return Some(member.unwrap_or(first));
    }
    // The contents of a module may be indented; a type is never inside a function.
    let starts = if own.len() < line.len() { &TOP[7..8] } else { &TOP };
    let name = word(after(own, starts)?, ".'")?;
    (name != "_").then_some(name)
}

/// `resource "a" "b"` is `a.b`; the other blocks are named as in expressions.
fn address_of_terraform(line: &str) -> Option<String> {
    let (kind, rest) = line.split_once(' ')?;
    let mut labels = rest.split('"').skip(1).step_by(2);
    let first = labels.next().filter(|label| !label.is_empty())?;
    let second = labels.next();
    match (kind, second) {
        ("resource", Some(second)) => Some(format!("{first}.{second}")),
        ("variable", None) => Some(format!("var.{first}")),
        ("data" | "source" | "ephemeral", Some(second)) => Some(format!("{kind}.{first}.{second}")),
        ("output" | "module" | "check", None) => Some(format!("{kind}.{first}")),
        _ => None,
    }
}

/// `@interface Name` and the first part of `- (void)name:(int)value other:(int)other`.
fn name_of_objective_c(line: &str) -> Option<&str> {
    const TYPES: [&str; 3] = ["@interface ", "@implementation ", "@protocol "];
    if let Some(rest) = after(line, &TYPES).filter(|_| !line.ends_with(';')) {
        return word(rest, "");
    }
    let rest = line.strip_prefix(['-', '+'])?.trim_start().strip_prefix('(')?;
    let mut depth = 1;
    let end = rest.find(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    word(rest[end + 1..].trim_start(), "")
}

/// `name(Argument) ->` at the start of a line, and records.
fn name_of_erlang(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("-record(").unwrap_or(line);
    let name = word(rest, "@").filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))?;
    let follows = if rest.len() < line.len() { ',' } else { '(' };
    rest[name.len()..].trim_start().starts_with(follows).then_some(name)
}

/// `(define (name x)`, `(defun name`, `(struct name` at the start of a line.
fn name_of_lisp(line: &str) -> Option<&str> {
    let inside = line.strip_prefix('(')?;
    let (form, rest) = inside.split_once(char::is_whitespace)?;
    let form = form.strip_prefix("cl-").unwrap_or(form);
    let is_definition = form.starts_with("def") && form != "define-key" && form != "default"
        || ["struct", "struct:", "ns"].contains(&form);
    // In Clojure, metadata may precede the name.
    let mut rest = rest.trim_start();
    while let Some(mark) = rest.strip_prefix('^') {
        let end = if mark.starts_with('{') { mark.find('}').map(|end| end + 1) } else { mark.find(' ') };
        rest = mark[end?..].trim_start();
    }
    let rest = rest.trim_start_matches(['(', '\'', '[']);
    let end = rest.find(|c: char| c.is_whitespace() || "()[]\"".contains(c)).unwrap_or(rest.len());
    (is_definition && 0 < end).then(|| &rest[..end])
}

/// `pure subroutine name(x)`, `real function name(x)`, modules and programs.
fn name_of_fortran(line: &str) -> Option<&str> {
    const KINDS: [&str; 5] = ["subroutine", "function", "module", "program", "submodule"];
    const WORDS_BEFORE: usize = 5;
    let line = line.split(['!', '"', '\'']).next().unwrap_or_default().trim_start();
    let mut before = line.split_whitespace();
    let is_kind = |word: &str| KINDS.iter().any(|kind| word.eq_ignore_ascii_case(kind));
    let is_end = before.clone().next().is_some_and(|first| first.to_ascii_lowercase().starts_with("end"));
    if is_end || !before.by_ref().take(WORDS_BEFORE).any(is_kind) {
        return None;
    }
    let mut name = before.next()?;
    // A subroutine of a submodule begins with `module`.
    if is_kind(name) {
        name = before.next()?;
    }
    word(name, "").filter(|name| !name.eq_ignore_ascii_case("procedure"))
}

/// `class Name`, `Type name(int x) {` and `int get name =>`, in languages with braces.
fn name_in_braces(line: &str) -> Option<&str> {
    const TYPES: [&str; 7] = ["class", "interface", "enum", "trigger", "mixin", "extension", "trait"];
    const STATEMENTS: [&str; 15] = [
        "if", "for", "while", "switch", "catch", "return", "else", "new", "throw", "await", "do", "try",
        "assert", "using", "case",
    ];
    const MODIFIERS: [&str; 9] =
        ["public", "private", "protected", "global", "static", "override", "virtual", "abstract", "void"];
    let line = line.trim();
    if line.starts_with(['/', '*', '@', '\'', '"']) {
        return None;
    }
    let head = line.split(['(', '{', '=']).next().unwrap_or_default();
    let mut before = head.split_whitespace().take_while(|word| word.starts_with(char::is_alphabetic));
    let first = before.clone().next()?;
    if STATEMENTS.contains(&first.trim_end_matches(':')) {
        return None;
    }
    if before.any(|word| TYPES.contains(&word)) {
        return word(before.next()?, "");
    }
    // Parameters may have lines of their own.
    let is_long = MODIFIERS.contains(&first) && line.ends_with(['(', ',']);
    let is_body = is_long || line.ends_with('{') || line.contains("=>") || line.ends_with('}');
    let is_getter = head.split_whitespace().rev().nth(1) == Some("get");
    let is_call = line[head.len()..].starts_with('(');
    let (types, name) = head.trim_end().rsplit_once(char::is_whitespace)?;
    let is_type = types.chars().all(|c| c.is_alphanumeric() || "_<>[]?,. ".contains(c));
    (is_body && (is_call || is_getter) && is_type && word(name, "") == Some(name)).then_some(name)
}

/// Returns the least indented attributes, without those that every package has.
fn names_of_nix(text: &str) -> Vec<&str> {
    const OF_PACKAGES: [&str; 6] = ["pname", "version", "src", "meta", "name", "sha256"];
    let name = |line: &'_ str| -> Option<(usize, usize)> {
        let own = line.trim_start();
        let name = word(own, ".-'\"")?;
        let is_attribute = own[name.len()..].strip_prefix(" =").is_some_and(|rest| !rest.starts_with('='));
        is_attribute.then_some((line.len() - own.len(), name.len()))
    };
    let found: Vec<(usize, &str)> = text
        .lines()
        .filter_map(|line| name(line).map(|(indent, length)| (indent, &line[indent..indent + length])))
        .collect();
    let least = found.iter().map(|(indent, _)| *indent).min();
    let outer = found.into_iter().filter(|(indent, _)| Some(*indent) == least);
    outer.map(|(_, name)| name).filter(|name| !OF_PACKAGES.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: &str, text: &str, expected: &str) {
        assert_eq!(names_in_language(language, text, 9).unwrap_or_default().join(" "), expected);
    }

    #[test]
    fn the_tables_and_macros_of_a_model_are_declarations() {
        let model =
            "with\n\norders as (\n    select * from {{ ref('a') }}\n),\n\nsums as (\n  select 1 as x\n)\n";
        check("sql", model, "orders sums");
        check("sql", "{# A. #}\n{%- macro to_dollars(x) -%}\n  {{ x }}\n{% endmacro %}\n", "to_dollars");
        assert_eq!(names_in_language("sql", "select 1 as x;\n", 9), None);
    }

    #[test]
    fn assigned_functions_are_declarations() {
        check(
            "r",
            "#' add <- function(x)\nadd.all <- function(x, y) {\n  type <- arg_match0(type, c())\n  lapply(x, function(x) x)\n}\nby = function(by) by\ntype <- arg_match0(x)\nfunction(x) x\nStack <- R6::R6Class(\"Stack\")\n",
            "add.all by Stack",
        );
        check(
            "nix",
            "{ lib }:\n{\n  pname = \"cart\";\n  services.web = {\n    enable = true;\n  };\n}\n",
            "services.web",
        );
    }

    #[test]
    fn signatures_and_types_are_declarations_and_local_values_are_not() {
        check(
            "haskell",
            "module A (x) where\nimport Data.List\ndata Ctx = Ctx String\nnewtype Parser a = Parser a\nclass Monad m => Store m where\n  get :: m a\nisValid, isOdd :: String -> Bool\nisValid s = s :: Bool\ninstance Show Ctx where\ntype Name = String\n",
            "Ctx Parser Store isValid isOdd Name",
        );
        check(
            "elm",
            "type alias Model =\n    {}\nview : Model -> Html\nview model =\n    text : a\n",
            "Model view",
        );
        check(
            "ocaml",
            "open Core\ntype 'a t = 'a list\nlet rec join acc =\n  let inner = 1 in\n  inner\nand split x = x\nlet () = run ()\nlet _ = x\nmodule Infix = struct\n  let ( / ) a b = a\n  let add a b = a\n    let c = 1\nend\nlet[@inline] f x = x\nval go : int\n",
            "t join split Infix add go",
        );
        check(
            "fsharp",
            "module Cart\nlet addItem item cart =\n    let x = 1\ntype Cart() =\n  member this.Total = 1\n",
            "Cart addItem Total",
        );
    }

    #[test]
    fn blocks_methods_and_clauses_are_declarations() {
        check(
            "terraform",
            "resource \"aws_s3_bucket\" \"logs\" {\n  dynamic \"x\" {}\n}\ndata \"aws_ami\" \"os\" {}\nvariable \"region\" {\noutput \"arn\" {\nmodule \"vpc\" {\nprovider \"aws\" {\nlocals {\n",
            "aws_s3_bucket.logs data.aws_ami.os var.region output.arn module.vpc",
        );
        check(
            "objective-c",
            "@protocol Other;\n@implementation Cart\n- (void)addItem:(Item *)item at:(int)x {\n+ (void (^)(int))shared;\n- x;\n@end\n",
            "Cart addItem shared",
        );
        check(
            "erlang",
            "-module(cart).\n-record(item, {}).\nadd(Item) ->\n    run(Item);\nadd(_) -> ok.\n% no(X)\n",
            "item add",
        );
        check(
            "clojure",
            "(ns cart.core)\n(defn- ^:private add [x]\n  (def y 1))\n(define-key map x)\n(run x)\n",
            "cart.core add",
        );
        check("scheme", "(define (add-item item)\n  (define x 1))\n(define total 3)\n", "add-item total");
        check(
            "fortran",
            "module cart\nsubroutine add(a)\nend subroutine\n  pure real function total(a)\nx = 1\n",
            "cart add total",
        );
        check(
            "apex",
            "/** class no */\npublic with sharing class Cart extends Base {\n    public static void addItem(Id item) {\n        if (a) {\n        insert(item);\n        List<A> x = f(y);\n    }\n    private void removeItem(\n        Id item\n    ) {\n",
            "Cart addItem removeItem",
        );
        check(
            "dart",
            "class Cart extends Base {\n  int get total => 1;\n  void add(Item item) {\n    items.map((x) => y);\n",
            "Cart total add",
        );
        check("rust", "fn a() {}", "");
    }
}
