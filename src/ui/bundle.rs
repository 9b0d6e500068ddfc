//! The page's files as they are served: the modules of a program joined into one, without text for readers of the code.
//!
//! One program compresses better than thirty modules, and takes one request. Top-level names of modules are global in
//! the program, so no two modules may have the same: the tests compile the result. Shortening here leaves every string
//! and every name unchanged; a minifier would save more, but it has to parse JavaScript.

use std::collections::BTreeSet;

/// Punctuation of JavaScript that needs no space before or after. `+` and `-` need theirs: `a + +b` would otherwise
/// become another operator.
const PUNCTUATION: &[char] =
    &['{', '}', '(', ')', '[', ']', ',', ';', ':', '=', '?', '!', '<', '>', '&', '|', '*', '%'];

/// The same for CSS, each with its replacement. `+` needs its spaces in a calculation.
const STYLE_PUNCTUATION: &[(&str, &str)] = &[
    (" {", "{"),
    ("{ ", "{"),
    ("; }", "}"),
    (" }", "}"),
    ("; ", ";"),
    (": ", ":"),
    (", ", ","),
    (" > ", ">"),
];

/// Joins a module with all that it imports, each module once and before its users, into one module without imports.
pub(super) fn program(modules: &[(&'static str, &'static str)], main: &'static str) -> String {
    let mut code = String::new();
    add_module(modules, main, &mut BTreeSet::new(), &mut code);
    code
}

fn add_module(
    modules: &[(&'static str, &'static str)],
    name: &'static str,
    added: &mut BTreeSet<&'static str>,
    code: &mut String,
) {
    if !added.insert(name) {
        return;
    }
    let (_, text) =
        modules.iter().find(|(module, _)| *module == name).expect("the tests join all programs of the page");
    for line in lines_of_code(text) {
        if let Some(imported) = imported(line) {
            add_module(modules, imported, added, code);
            continue;
        }
        // Before a closing bracket, no separator is needed. Only an empty statement needs its semicolon, and the tests
        // compile the result.
        let is_last = code.ends_with(',') && line.starts_with(['}', ']', ')']);
        if is_last || (code.ends_with(';') && line.starts_with('}')) {
            code.pop();
        }
        code.push_str(&without_spaces(line.strip_prefix("export ").unwrap_or(line)));
        // Elsewhere, a line break may end a statement or a comment.
        if !code.ends_with(['{', '(', '[', ',', ';']) || line.contains("//") {
            code.push('\n');
        }
    }
}

/// Returns the name of the module that a line imports from; `None` for other lines.
fn imported(line: &'static str) -> Option<&'static str> {
    line.strip_prefix("import {")?.rsplit_once("from \"./")?.1.strip_suffix("\";")
}

/// Returns the lines of a text that are neither empty nor comments, without indentation.
fn lines_of_code(text: &'static str) -> impl Iterator<Item = &'static str> {
    let mut is_comment = false;
    text.lines().map(str::trim).filter(move |line| {
        is_comment |= line.starts_with("/*");
        let is_code = !is_comment && !line.is_empty() && !line.starts_with("//");
        is_comment &= !line.ends_with("*/");
        is_code
    })
}

/// Returns a line of JavaScript without the spaces next to punctuation. Strings stay unchanged, and so does what
/// follows a slash, which may begin a comment or a regular expression.
fn without_spaces(line: &str) -> String {
    let mut code = String::with_capacity(line.len());
    // The quote that ends the string around the character; and for each open `${`, the number of open braces inside it.
    let mut quote = None;
    let mut inserted: Vec<usize> = Vec::new();
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or('\n');
        match (quote, character) {
            (None, ' ') if code.ends_with(PUNCTUATION) || PUNCTUATION.contains(&next) => continue,
            (Some('`'), '$') if next == '{' => quote = None,
            (None, '{') if code.ends_with('$') => inserted.push(0),
            (None, '{') => inserted.iter_mut().last().into_iter().for_each(|braces| *braces += 1),
            (None, '}') if inserted.last() == Some(&0) => {
                inserted.pop();
                quote = Some('`');
            }
            (None, '}') => inserted.iter_mut().last().into_iter().for_each(|braces| *braces -= 1),
            (None, '"' | '\'' | '`') => quote = Some(character),
            (Some(end), _) if character == end => quote = None,
            _ => {}
        }
        code.push(character);
        match (quote, character) {
            (Some(_), '\\') => code.extend(characters.next()),
            (None, '/') => code.extend(characters.by_ref()),
            _ => {}
        }
    }
    code
}

/// Returns CSS without comments, indentation and the spaces next to punctuation.
pub(super) fn styles(text: &'static str) -> String {
    let lines = lines_of_code(text).map(|line| {
        let shorter = |line: String, &(from, to): &(&str, &str)| line.replace(from, to);
        STYLE_PUNCTUATION.iter().fold(line.to_owned(), shorter)
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(without_spaces(line), expected);
    }

    #[test]
    fn modules_are_joined_in_the_order_of_their_imports() {
        let modules = [
            (
                "main.js",
                "// Starts.\nimport { b } from \"./b.js\";\nimport { a } from \"./a.js\";\n\nb(a);\n",
            ),
            ("a.js", "/** Doc. @type {number} */\nexport const a = 1;\n"),
            (
                "b.js",
                "import { a } from \"./a.js\";\nexport function b(c) {\n  /*\n   * Why.\n   */\n  return c; // twice\n}\nexport const d = {\n  e() {\n    f();\n  },\n};\n",
            ),
            ("other.js", "other();\n"),
        ];
        let joined = "const a=1;function b(c){return c;// twice\n}\nconst d={e(){f()}};b(a);";
        assert_eq!(program(&modules, "main.js"), joined);
    }

    #[test]
    fn only_spaces_next_to_punctuation_are_removed() {
        check("const a = { b: [1, 2] };", "const a={b:[1,2]};");
        check("if (a) return b < -c ? d + +e : f - -g;", "if(a)return b<-c?d + +e:f - -g;");
        check("say(\"a , b \\\" ; c\", ' ( ', d);", "say(\"a , b \\\" ; c\",' ( ',d);");
        check(
            "let a = `x : ${ b({ c: 1 }, `y = ${d}`) } ; z`, e = 1;",
            "let a=`x : ${b({c:1},`y = ${d}`)} ; z`,e=1;",
        );
        check("const a = / : /.test(b) ? 1 : 2;", "const a=/ : /.test(b) ? 1 : 2;");
        check("const a = `\\` : ${b}`;", "const a=`\\` : ${b}`;");
    }

    #[test]
    fn significant_characters_of_styles_are_kept() {
        let text = "/* What\n   it is */\na > b:nth-child(n + 2) { font: 1px/2px \"A B\", c; width: calc(1px + 2px); }\n@media (max-width: 9px) {\n  d { e: f; }\n}\n";
        let expected = "a>b:nth-child(n + 2){font:1px/2px \"A B\",c;width:calc(1px + 2px)}@media (max-width:9px){d{e:f}}";
        assert_eq!(styles(text), expected);
    }
}
