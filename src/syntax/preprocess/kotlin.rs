//! Elides the bodies of functions from Kotlin.
//!
//! An outline needs none of them, and the grammar loses whole files over a guard of a `when` or a second `catch`. What
//! is not surely the body of a function stays; a text whose brackets do not match is parsed as it is.

use std::ops::Range;

use super::braces::block_end;
use crate::syntax::text::PreprocessedText;

/// Returns `text` with the bodies of its functions empty; `None` where the scanner does not support what it reads.
pub(in crate::syntax) fn preprocess_kotlin(text: &str) -> Option<PreprocessedText> {
    let mut scan = KotlinScanner {
        text,
        at: 0,
        copied_until: 0,
        open: vec![BracketLevel::new(0)],
        annotation: None,
        preprocessed: PreprocessedText::default(),
    };
    let mut before = b' ';
    while let Some(byte) = scan.byte(0) {
        match byte {
            b'{' if scan.brace_content() == BraceContent::Code => scan.cut_block()?,
            b'{' => {
                scan.cut_delegate();
                scan.open_bracket(b'}');
            }
            b',' => {
                // A comma ends the delegation: in `A by b(), C` another supertype follows.
                scan.set_delegate(None);
                scan.at += 1;
            }
            b'(' => scan.open_bracket(b')'),
            b'[' if scan.is_empty_literal() => scan.fill_literal()?,
            b'[' => scan.open_bracket(b']'),
            b'}' | b')' | b']' => scan.close_bracket(byte)?,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => scan.word(before),
            _ => scan.at = token_end(text, scan.at, 0)?,
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    (scan.open.len() == 1).then(|| scan.finish())
}

/// What the next braces on a level contain, by the last keyword before them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BraceContent {
    /// Members, or what is not known.
    Unknown,
    /// Members of a type.
    Members,
    /// What a function does.
    Code,
}

/// Brackets that are open.
struct BracketLevel {
    close: u8,
    content: BraceContent,
    /// The start of the delegation of a type: `by` in the head of a class.
    delegate: Option<usize>,
}

impl BracketLevel {
    const fn new(close: u8) -> Self {
        Self { close, content: BraceContent::Unknown, delegate: None }
    }
}

struct KotlinScanner<'a> {
    text: &'a str,
    at: usize,
    /// How far the text has been copied or cut.
    copied_until: usize,
    open: Vec<BracketLevel>,
    /// The annotation that was read last, where it has no arguments.
    annotation: Option<Range<usize>>,
    preprocessed: PreprocessedText,
}

impl KotlinScanner<'_> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn brace_content(&self) -> BraceContent {
        self.open.last().map_or(BraceContent::Unknown, |open| open.content)
    }

    fn set_brace_content(&mut self, holds: BraceContent) {
        if let Some(open) = self.open.last_mut() {
            (open.content, open.delegate) = (holds, None);
        }
    }

    fn open_bracket(&mut self, close: u8) {
        self.open.push(BracketLevel::new(close));
        self.at += 1;
    }

    fn close_bracket(&mut self, close: u8) -> Option<()> {
        self.open.pop().filter(|open| open.close == close)?;
        if close == b'}' {
            self.set_brace_content(BraceContent::Unknown);
        }
        self.at += 1;
        (!self.open.is_empty()).then_some(())
    }

    fn cut_block(&mut self) -> Option<()> {
        let end = block_end(self.text, self.at, 0, token_end)?;
        self.replace(self.at + 1..end - 1, "");
        self.at = end;
        Some(())
    }

    fn set_delegate(&mut self, delegate: Option<usize>) {
        if let Some(open) = self.open.last_mut() {
            open.delegate = delegate;
        }
    }

    /// Elides `by d()` from a head: the grammar gives the class's body to `d` as its last argument.
    fn cut_delegate(&mut self) {
        let delegate = self.open.last().and_then(|open| open.delegate);
        if let Some(start) = delegate.filter(|start| self.copied_until <= *start) {
            self.replace(start..self.at, "");
            self.set_delegate(None);
        }
    }

    /// Elides an annotation directly before an accessor, where the grammar supports none.
    fn cut_annotation(&mut self, accessor: usize) {
        let Some(annotation) = self.annotation.take().filter(|found| self.copied_until <= found.start) else {
            return;
        };
        if self.text[annotation.end..accessor].trim().is_empty() {
            self.replace(annotation, "");
        }
    }

    /// Returns whether an empty array literal begins here, which the grammar takes for an error.
    fn is_empty_literal(&self) -> bool {
        self.text[self.at + 1..].trim_start().starts_with(']')
    }

    fn fill_literal(&mut self) -> Option<()> {
        let end = self.at + self.text[self.at..].find(']')?;
        self.replace(self.at + 1..end, "0");
        self.preprocessed.repairs += 1;
        self.at = end + 1;
        Some(())
    }

    fn replace(&mut self, range: Range<usize>, with: &str) {
        self.preprocessed.copy(self.text, self.copied_until..range.start);
        self.copied_until = range.end;
        self.preprocessed.substitute(with, range);
    }

    /// Reads a word, which may decide what the next braces contain.
    fn word(&mut self, before: u8) {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end == 0 {
            // A sign beyond ASCII.
            self.at += rest.chars().next().map_or(1, char::len_utf8);
            return;
        }
        let (word, next) = (&rest[..end], rest[end..].trim_start());
        if word == "value" && next.starts_with("class ") {
            // After an annotation the grammar takes `value` for a name.
            self.replace(self.at..self.at + end, "public");
        }
        let next = next.as_bytes().first();
        self.at += end;
        if matches!(before, b':' | b'.' | b'@') {
            // `Foo::class` and `this.get` are not keywords.
            self.annotation = (before == b'@').then(|| self.at - end - 1..self.at);
            return;
        }
        if matches!(word, "get" | "set") {
            self.cut_annotation(self.at - end);
        }
        let in_head = self.brace_content() == BraceContent::Members;
        match (word, next) {
            ("class" | "interface" | "object", _) => self.set_brace_content(BraceContent::Members),
            // The braces of a property may be a lambda that is its value, which is not a body.
            ("val" | "var" | "typealias", _) => self.set_brace_content(BraceContent::Unknown),
            ("by", _) if in_head => self.set_delegate(Some(self.at - end)),
            ("fun", _) => self.set_brace_content(BraceContent::Code),
            ("constructor" | "get" | "set", Some(b'(')) | ("init", Some(b'{')) if !in_head => {
                self.set_brace_content(BraceContent::Code);
            }
            _ => {}
        }
    }

    fn finish(mut self) -> PreprocessedText {
        self.preprocessed.copy(self.text, self.copied_until..self.text.len());
        self.preprocessed
    }
}

/// Returns where what begins at `at` ends: a comment, a literal, a name in quotes, or a single byte.
fn token_end(text: &str, at: usize, depth: usize) -> Option<usize> {
    let rest = &text.as_bytes()[at..];
    match rest {
        [b'/', b'/', ..] => Some(text[at..].find('\n').map_or(text.len(), |end| at + end)),
        [b'/', b'*', ..] => comment_end(text, at),
        [b'"', ..] => string_end(text, at, depth),
        [b'\'', b'\\', _, ..] => quoted_end(text, at + 3, '\''),
        [b'\'', ..] => quoted_end(text, at + 1, '\''),
        [b'`', ..] => quoted_end(text, at + 1, '`'),
        _ => Some(at + 1),
    }
}

/// Returns where a quotation is closed on its line.
fn quoted_end(text: &str, at: usize, mark: char) -> Option<usize> {
    let rest = text.get(at..)?;
    let end = rest.find([mark, '\n'])?;
    rest[end..].starts_with(mark).then_some(at + end + 1)
}

/// Comments may be nested.
fn comment_end(text: &str, at: usize) -> Option<usize> {
    let (mut at, mut depth) = (at, 0_usize);
    loop {
        at += text.get(at..)?.find(['/', '*'])?;
        match text.as_bytes().get(at..at + 2)? {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
}

fn string_end(text: &str, at: usize, depth: usize) -> Option<usize> {
    let is_raw = text[at..].starts_with("\"\"\"");
    let mut at = at + if is_raw { 3 } else { 1 };
    loop {
        at += text.get(at..)?.find(['"', '\\', '$', '\n'])?;
        match &text.as_bytes()[at..] {
            [b'$', b'{', ..] => {
                at = block_end(text, at + 1, depth, token_end)?;
                continue;
            }
            [b'"', b'"', b'"', ..] if is_raw => {
                // Further quotation marks belong to the string, and precede those that close it.
                let more = text[at + 3..].bytes().take_while(|byte| *byte == b'"').count();
                return Some(at + 3 + more);
            }
            [b'"', ..] if !is_raw => return Some(at + 1),
            [b'\n', ..] if !is_raw => return None,
            [b'\\', ..] if !is_raw => at += 1,
            _ => {}
        }
        // What is escaped may be a character of several bytes.
        at += text.get(at..)?.chars().next()?.len_utf8();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(preprocess_kotlin(text).map(|preprocessed| preprocessed.text).as_deref(), expected);
    }

    #[test]
    fn bodies_are_emptied_and_members_stay() {
        check(
            "class A(val f: () -> Unit = { a }) { fun g() { b } }",
            Some("class A(val f: () -> Unit = { a }) { fun g() {} }"),
        );
        check(
            "fun f() = if (a) { b } else { c }\nval x = y { z }",
            Some("fun f() = if (a) {} else {}\nval x = y { z }"),
        );
        check(
            "class A @Inject constructor(x: B) : C() { init { d } }",
            Some("class A @Inject constructor(x: B) : C() { init {} }"),
        );
        check("fun interface A { fun b() }", Some("fun interface A { fun b() }"));
        check(
            "val x get() { a }\nconstructor(y: Z) : this() { b }",
            Some("val x get() {}\nconstructor(y: Z) : this() {}"),
        );
    }

    #[test]
    fn braces_in_literals_and_comments_do_not_count() {
        check("fun f() { \"}${ \"}\" }\"; '}'; '\\''; `}` /* /* } */ } */ // }\n }", Some("fun f() {}"));
        check("fun f() { \"\"\"a\"\"}${b}\"\"\"\" } val x = 1", Some("fun f() {} val x = 1"));
    }

    #[test]
    fn delegation_is_elided_from_a_head() {
        check("class A : B by c(), D { e }", Some("class A : B by c(), D { e }"));
        check("class A : D, B by c() { val e by f { } }", Some("class A : D, B { val e by f { } }"));
    }

    #[test]
    fn what_the_grammar_stumbles_over_is_replaced() {
        check("@A value class B(val c: D)", Some("@A public class B(val c: D)"));
        check("val a: B @C get() = d", Some("val a: B  get() = d"));
        check("annotation class A(val b: Array<C> = [ ])", Some("annotation class A(val b: Array<C> = [0])"));
    }

    #[test]
    fn signs_beyond_ascii_are_copied() {
        check("\u{feff}fun größe() { → } 😀", Some("\u{feff}fun größe() {} 😀"));
    }

    #[test]
    fn unmatched_brackets_are_not_preprocessed() {
        for text in
            ["fun f() {", "fun f() }", "(]", "\"", "fun f() { \"${ }", "/* /* */", "'a", "fun f() { \"\\"]
        {
            check(text, None);
        }
        check(&"\"${".repeat(10_000), None);
    }
}
