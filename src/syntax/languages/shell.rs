//! The shells that Bash understands: functions, variables, aliases, and what a script sources.

use std::ops::Range;

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    ElisionMarks, Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind,
    children, find, find_all,
};
use crate::syntax::text::{ExpectedSymbol, PreprocessedText, TextRewriter, format_text_size};

/// Bash, and what other shells have in common with it.
pub(super) static SHELL: Language = Language {
    // A body without a command is none.
    marks: ElisionMarks { body: (": # ", ""), data: (" # ", ""), ends_line: true },
    preprocess: Some(with_tests_as_functions),
    preprocess_broken: Some(without_bodies),
    ..Language::new("shell", tree_sitter_bash::LANGUAGE, "tree-sitter-bash 0.25.1", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("function_definition", Visit::Read(function)),
    ("declaration_command variable_assignments", Visit::Wrapper),
    ("variable_assignment", Visit::Read(assignment)),
    ("variable_name", Visit::Read(declared)),
    ("command", Visit::Preamble(command)),
    ("redirected_statement", Visit::Read(redirected_statement)),
    // Functions may be nested in any statement.
    (
        "if_statement elif_clause else_clause case_statement case_item for_statement \
         while_statement do_group compound_statement list",
        Visit::Enter,
    ),
];

/// A body on one line that is no longer than this stays as it is.
const SHORT_BODY: usize = 80;

/// A text of more bytes than this within a script is shown by its size.
const LARGE_TEXT: usize = 400;

/// How many names back a script is searched for one that it has set already.
const SEARCHED_SYMBOLS: usize = 400;

/// Replaces Bats tests (`@test "adds" {`) by functions for the parser. `None` if there are none.
fn with_tests_as_functions(text: &str) -> Option<PreprocessedText> {
    if text.contains(TEST_WORD) { rewrite(text, false) } else { None }
}

/// Replaces the bodies of those functions that begin and end at the beginning of a line, or after the same indent. The
/// grammar does not understand all expansions, and after one such as `${a#*\"b\":[}` it may find no function any more.
/// `None` if there are no such bodies.
fn without_bodies(text: &str) -> Option<PreprocessedText> {
    rewrite(text, true)
}

/// Rewrites the heads of tests, and the bodies of functions if `cuts_bodies`. The parser may still lose functions of which
/// the body was cut, so the outline expects them.
fn rewrite(text: &str, cuts_bodies: bool) -> Option<PreprocessedText> {
    let mut rewriter = TextRewriter::new(text);
    // A head whose brace is expected on the next line.
    let mut open_head = None;
    let (mut body, mut here_document): (Option<OpenBody<'_>>, _) = (None, None);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let line_start = at;
        at += line.len();
        let line = line.trim_end();
        if let Some(end) = here_document {
            here_document = here_document.filter(|_| line.trim_start_matches('\t') != end);
            continue;
        }
        let code = line.trim_start();
        let indent = line.len() - code.len();
        let start = line_start + indent;
        let is_outermost = body.as_ref().is_none_or(|body| indent <= body.indent);
        let bats_head = test_head(code);
        if let Some(head) = bats_head.as_ref().filter(|_| is_outermost) {
            rewriter.repair(start..start + head.end, TEST_FUNCTION);
        }
        let head = match open_head.take() {
            Some((range, name)) => Some((range, name, code)),
            None => bats_head
                .or_else(|| function_head(code))
                .map(|head| (start..start + head.end, head.name, code[head.end..].trim_start())),
        };
        match (head, &body) {
            (Some((range, name, "")), _) => open_head = Some((range, name)),
            (Some((head, name, rest)), _) if cuts_bodies && is_outermost && rest.starts_with('{') => {
                let brace = line_start + line.len() - rest.len();
                let opened = OpenBody { head, name, brace_end: brace + 1, indent };
                if let Some(end) = closing_brace(rest) {
                    rewriter.repair(opened.brace_end..brace + end, " :; ");
                    rewriter.preprocessed.expected_symbols.push(opened.function(brace + end + 1));
                    body = None;
                } else {
                    body = Some(opened);
                    here_document = here_document_end(rest);
                }
            }
            (_, Some(opened)) if indent == opened.indent && code.starts_with('}') => {
                rewriter.repair(opened.brace_end..line_start, "\n:\n");
                rewriter.preprocessed.expected_symbols.push(opened.function(start + 1));
                body = None;
            }
            (_, _) => here_document = here_document_end(line),
        }
    }
    (0 < rewriter.preprocessed.repairs).then(|| rewriter.finish())
}

/// A function whose closing brace was not found yet.
struct OpenBody<'t> {
    head: Range<usize>,
    name: &'t str,
    brace_end: usize,
    /// The length of the indent of the line with the opening brace.
    indent: usize,
}

impl OpenBody<'_> {
    /// Returns the function, which ends at `end`.
    fn function(&self, end: usize) -> ExpectedSymbol {
        ExpectedSymbol {
            kind: SymbolKind::Function,
            name: self.name.to_owned(),
            range: self.head.start..end,
            signature: self.head.clone(),
        }
    }
}

/// Returns where a body that begins with a brace is closed on the same line.
fn closing_brace(body: &str) -> Option<usize> {
    let is_balanced = body.matches('{').count() == body.matches('}').count();
    let is_comment = body[1..].trim_start().starts_with('#');
    if is_balanced && !is_comment { body.rfind('}') } else { None }
}

/// What a test of Bats begins with, and what is in the place of the word and its name for the parser.
const TEST_WORD: &str = "@test ";
const TEST_FUNCTION: &str = "test()";

/// The beginning of a line that defines a function or a test.
struct FunctionHead<'t> {
    name: &'t str,
    /// Where the name and the parentheses end in the line.
    end: usize,
}

/// Returns the head of the test that a line begins with, if its brace follows.
fn test_head(line: &str) -> Option<FunctionHead<'_>> {
    let name = line.strip_prefix(TEST_WORD)?.trim_start();
    let length = match name.chars().next()? {
        quote @ ('"' | '\'') => {
            let mut is_escaped = false;
            let end = name[1..].find(|c: char| {
                let is_end = c == quote && !is_escaped;
                is_escaped = quote == '"' && c == '\\' && !is_escaped;
                is_end
            })?;
            end + 2
        }
        _ => name.find(char::is_whitespace)?,
    };
    let (name, rest) = name.split_at(length);
    let is_open = rest.trim_start().starts_with('{');
    is_open.then(|| FunctionHead { name: test_name(name), end: line.len() - rest.len() })
}

/// Returns the name that a test is run by.
fn test_name(name: &str) -> &str {
    name.trim_matches([' ', '"', '\''])
}

/// Returns the head of the function that a line begins with, if nothing or its brace follows.
fn function_head(line: &str) -> Option<FunctionHead<'_>> {
    let after_keyword = line.strip_prefix("function ");
    let mut rest = after_keyword.unwrap_or(line).trim_start();
    let is_part = |c: char| {
        c.is_alphanumeric() || !c.is_ascii() || matches!(c, '_' | '-' | ':' | '.' | '+' | '@' | '~')
    };
    let name = &rest[..rest.len() - rest.trim_start_matches(is_part).len()];
    rest = rest[name.len()..].trim_start();
    // In zsh, a function may have more names.
    if after_keyword.is_some() {
        rest = rest.trim_start_matches(|c: char| is_part(c) || c.is_whitespace());
    }
    let parameters = rest.strip_prefix('(').and_then(|rest| rest.trim_start().strip_prefix(')'));
    let rest = parameters.or_else(|| after_keyword.map(|_| rest))?;
    let end = line.len() - rest.len();
    let is_open = matches!(rest.trim_start().chars().next(), None | Some('{'));
    (is_open && !name.is_empty()).then_some(FunctionHead { name, end })
}

/// Returns the line that ends the here-document that begins on a line.
fn here_document_end(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("<<")?;
    let word = after.trim_start_matches('-').trim_start().trim_start_matches(['\'', '"', '\\']);
    let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
    let is_word = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    // `((a << b))` shifts, and a comment has no commands.
    let is_command =
        !after.starts_with('<') && !before.contains("((") && !before.trim_start().starts_with('#');
    (is_word && is_command).then(|| &word[..end])
}

/// Reads `name() { … }`, `function name { … }`, `name() ( … )`, and `@test "name" { … }` of Bats.
fn function<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(name), Some(body)) = (find(node, "name"), find(node, "body")) else { return };
    let start = walk.range(body).start;
    let name = walk.text(name);
    // A test has the name that it is run by, without its quotation marks.
    let name = name.strip_prefix(TEST_WORD).map_or(name, test_name);
    let definition =
        SymbolDefinition::new(SymbolKind::Function, name, SymbolBody::Nothing).with_signature_end(start);
    walk.define(node, definition);
    if !body.has_error() {
        cut_body(walk, node, body);
    }
}

/// Cuts what is between the brackets of a body; a command without effect stays, because a body must not be empty.
fn cut_body<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, body: Node<'t>) {
    let parts = children(body);
    let (Some(open), Some(close)) = (parts.first(), parts.last()) else { return };
    if !matches!((open.kind(), close.kind()), ("{", "}") | ("(", ")")) {
        return;
    }
    let range = walk.range(*open).end..walk.range(*close).start;
    let text = walk.source.text(range.clone());
    if !text.contains('\n') && text.len() <= SHORT_BODY {
        return;
    }
    let before = walk.source.line_prefix(walk.range(node).start);
    let indent = &before[..before.len() - before.trim_start().len()];
    let line_end = walk.source.line_ending();
    let size = format_text_size(text);
    walk.replace_with_mark(range, format!("{line_end}{indent}    : # {size}{line_end}{indent}"));
}

/// Reads `NAME=value`, alone or declared. Only an assignment at the top level of a script is more than a step of it,
/// and only the first one.
fn assignment<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name").filter(|name| name.kind() == "variable_name") else { return };
    let holder = walk.outermost(node);
    let declared = holder.kind() == "declaration_command";
    let is_list = holder.kind() == "variable_assignments";
    // After an error, code inside a function seems to be outside.
    if declared && walk.text(holder).starts_with("local") {
        return;
    }
    let name = walk.text(name).to_owned();
    let value = find(node, "value");
    if !(walk.is_top_level() || declared || is_list) || is_known(walk, &name) {
        return;
    }
    let inside = SymbolBody::value(value);
    let is_constant = declared && is_readonly(walk, holder);
    let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Variable };
    walk.define(node, SymbolDefinition::new(kind, name, inside));
    if let Some(value) = value {
        cut_text(walk, value);
    }
}

/// Reads a name that `declare` or `typeset` declares without a value.
fn declared<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let holder = walk.outermost(node);
    let mut words = walk.text(holder).split_whitespace();
    let declares =
        holder.kind() == "declaration_command" && matches!(words.next(), Some("declare" | "typeset"));
    // Without these options, the command only prints declarations.
    let shows = words.take_while(|word| word.starts_with('-')).any(|flags| flags.contains(['f', 'F', 'p']));
    let name = walk.text(node).to_owned();
    if declares && !shows && !is_known(walk, &name) {
        walk.define(node, SymbolDefinition::new(SymbolKind::Variable, name, SymbolBody::Nothing));
    }
}

/// Cuts a quoted text of many lines.
fn cut_text<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    let range = walk.range(value);
    let text = walk.source.text(range.clone());
    let is_page = LARGE_TEXT < text.len() && text.contains('\n') && !value.has_error();
    if is_page && matches!(value.kind(), "raw_string" | "string") {
        let size = format_text_size(text);
        walk.replace_with_mark(range.start + 1..range.end - 1, format!("# {size}"));
    }
}

/// Returns whether a name was set before, among the last symbols of a long script.
fn is_known(walk: &OutlineWalk<'_>, name: &str) -> bool {
    walk.symbols.iter().rev().take(SEARCHED_SYMBOLS).any(|symbol| symbol.name == name)
}

fn is_readonly(walk: &OutlineWalk<'_>, declaration: Node<'_>) -> bool {
    let mut words = walk.text(declaration).split_whitespace();
    let is_readonly = words.next() == Some("readonly");
    is_readonly || words.take_while(|word| word.starts_with('-')).any(|flags| flags.contains('r'))
}

/// Reads the commands that define names or include files: `alias a=b`, `. file`.
fn command<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(signs) = node.child(1).filter(|child| child.is_error() && walk.text(*child).trim() == "()") {
        return loop_function(walk, node, walk.range(signs).end);
    }
    let name = find(node, "name").map_or("", |name| walk.text(name));
    match name {
        "." | "source" => {
            if let Some(file) = find(node, "argument") {
                walk.add_import(walk.text(file).trim_matches(['"', '\'']));
            }
        }
        "alias" => {
            for argument in find_all(node, "argument") {
                if let Some((name, _)) = walk.text(argument).split_once('=') {
                    let name = name.to_owned();
                    walk.define(node, SymbolDefinition::new(SymbolKind::Macro, name, SymbolBody::Nothing));
                }
            }
        }
        _ => {}
    }
}

/// Reads `name() for …`, whose body the grammar takes for arguments of a command: only its start is known.
fn loop_function<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, head_end: usize) {
    let Some(name) = walk.name_at(node, "name") else { return };
    walk.define(
        node,
        SymbolDefinition::new(SymbolKind::Function, name, SymbolBody::Nothing).with_signature_end(head_end),
    );
}

/// Reads a statement with a here-document: `cat <<EOF`. A long one is shown by its size.
fn redirected_statement<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    for redirect in find_all(node, ".heredoc_redirect") {
        let Some(body) = child_of_kind(redirect, "heredoc_body") else { continue };
        let range = walk.range(body);
        let text = walk.source.text(range.clone());
        // One that nothing ends reaches to the end of the script, brackets and all.
        let is_closed =
            child_of_kind(redirect, "heredoc_end").is_some_and(|end| !end.byte_range().is_empty());
        if LARGE_TEXT < text.len() && is_closed && !redirect.has_error() {
            let size = format_text_size(text);
            let line_end = walk.source.line_ending();
            walk.replace_with_mark(range, format!("# {size}{line_end}"));
        }
    }
    walk.visit_children(node);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::derive::derive;

    const BROKEN: &str = "first() {\n  list=\"${1#*\\\"rdata\\\":[}\"\n  cat <<-END\n}\n\tEND\n}\n\nfunction second\n{\n  \
                          echo $((1 << 2))\n}\nthird() { echo 3; }\nA=1\n";

    fn functions(text: &str) -> Vec<String> {
        let structure = derive("shell", text, &mut || false).unwrap();
        let symbols = structure.outline.symbols.iter();
        symbols
            .map(|symbol| format!("{} {}-{}", symbol.name, symbol.span.start_line, symbol.span.end_line))
            .collect()
    }

    #[test]
    fn functions_are_found_after_unsupported_syntax() {
        let whole = SHELL.preprocess_broken.unwrap()(BROKEN).unwrap().text;
        assert_eq!(whole, "first() {\n:\n}\n\nfunction second\n{\n:\n}\nthird() { :; }\nA=1\n");
        assert_eq!(functions(BROKEN), ["first 1-6", "second 8-11", "third 12-12", "A 13-13"]);
    }

    #[test]
    fn functions_are_found_in_a_script_that_is_broken_at_its_top_level() {
        let text =
            "a() {\n  b=${(@f)c}\n  d ${${e}:#f}\n}\nif g || { h }; then\n  i() {\n    j ${(k)l}\n  }\nfi\n";
        assert_eq!(functions(text), ["a 1-4", "i 6-8"]);
    }

    #[test]
    fn functions_of_zsh_are_found_where_the_grammar_fails() {
        let text = "if [[ -n $1 ]] && { a }; then\n  b=${(M)c:#*}\n  function d e { # both\n    f ${${g}:t}\n  }\n\
                    elif (( ${+h} )); then\n  .i+j() { k $1 }\nfi\nfunction l() { m ${n} |& o }\n";
        assert_eq!(functions(text), ["d 3-5", ".i+j 7-7", "l 9-9"]);
        // A small error loses all that follows it.
        let text = "() {\n  a=b\n} &|\nfunction c() {\n  d\n}\nalias e=f\nfunction g() { h $1 }\n";
        assert_eq!(functions(text), ["c 4-6", "e 7-7", "g 8-8"]);
    }

    #[test]
    fn bats_tests_become_functions_with_their_names() {
        let text = "@test \"adds 2 \\\"and\\\" {2}\" { # slow\n  a=1\n}\n@test 'it is' {\n  b\n}\n@test c { d; }\n\
                    cat <<END\n@test \"none\" {\n}\nEND\nsetup() { :; }\n";
        let expected = [r#"adds 2 \"and\" {2} 1-3"#, "it is 4-6", "c 7-7", "setup 12-12"];
        assert_eq!(functions(text), expected);
        // The grammar fails in the body of the first.
        let broken = format!("@test \"first\" {{\n  x=${{1#*\\\"a\\\":[}}\n}}\n{text}");
        assert_eq!(functions(&broken)[..2], ["first 1-3", r#"adds 2 \"and\" {2} 4-6"#]);
    }

    #[test]
    fn functions_are_cut_up_to_the_brace_with_their_indent() {
        let nested = "if a; then\n  b() {\n    c() {\n    }\n  }\nfi\n";
        assert_eq!(without_bodies(nested).unwrap().text, "if a; then\n  b() {\n:\n  }\nfi\n");
        for text in ["cat <<END\na() {\n  b\n}\nEND\n", "a() {\n", "a() {\n  }\n", "f(x) {\n}\n"] {
            assert!(without_bodies(text).is_none(), "{text}");
        }
    }
}
