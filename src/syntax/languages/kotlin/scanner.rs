//! Kotlin: the bodies of functions are emptied, and what the grammar does not support is replaced.

use std::ops::Range;

use super::tokens::{parentheses_end, token_end};
use crate::syntax::languages::braces::block_end;
use crate::syntax::text::{PreprocessedText, TextRewriter};

/// Returns `text` with the bodies of its functions empty; `None` where the scanner does not support what it reads.
pub(super) fn preprocess_kotlin(text: &str) -> Option<PreprocessedText> {
    let mut scan = KotlinScanner {
        text,
        at: 0,
        level: BracketLevel::new(0),
        around: Vec::new(),
        annotation: None,
        code_end: 0,
        rewriter: TextRewriter::new(text),
    };
    while let Some(byte) = scan.byte() {
        let start = scan.at;
        match byte {
            b'{' if scan.level.content == BraceContent::Code => scan.cut_block()?,
            b'{' => {
                scan.cut_delegate();
                scan.open_bracket(b'}');
            }
            b',' => {
                // A comma ends the delegation: in `A by b(), C` another supertype follows.
                scan.level.delegate = None;
                scan.cut_trailing_comma();
                scan.at += 1;
            }
            b'(' => scan.open_bracket(b')'),
            b'[' if scan.is_empty_literal() => scan.fill_literal()?,
            b'[' => scan.open_bracket(b']'),
            b'}' | b')' | b']' => scan.close_bracket(byte)?,
            b'$' => scan.empty_multi_dollar_string()?,
            b'\n' => {
                scan.level.head_line.get_or_insert(scan.code_end);
                scan.at += 1;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => scan.word(),
            _ => scan.at = token_end(text, scan.at, 0)?,
        }
        let is_comment = text[start..].starts_with("//") || text[start..].starts_with("/*");
        if !byte.is_ascii_whitespace() && !is_comment {
            scan.code_end = scan.at;
        }
    }
    scan.around.is_empty().then(|| scan.rewriter.finish())
}

/// Words that a declaration begins with.
const DECLARATION_WORDS: &[&str] = &[
    "abstract", "actual", "annotation", "class", "context", "data", "expect", "external", "final", "fun",
    "infix", "inline", "inner", "interface", "internal", "object", "open", "operator", "override", "private",
    "protected", "public", "sealed", "suspend", "tailrec", "typealias", "val", "value", "var",
];

/// Modifiers that are names elsewhere.
const SOFT_MODIFIERS: &[&str] = &["actual", "annotation", "data", "expect", "inner", "operator", "value"];

/// Returns whether a text begins with a word that a declaration may begin with.
fn begins_declaration(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(text.len());
    DECLARATION_WORDS.contains(&&text[..end])
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
    /// The end of the code on the line of the last keyword.
    head_line: Option<usize>,
    /// Whether something was declared within them.
    declares: bool,
}

impl BracketLevel {
    const fn new(close: u8) -> Self {
        Self { close, content: BraceContent::Unknown, delegate: None, head_line: None, declares: false }
    }
}

struct KotlinScanner<'a> {
    text: &'a str,
    at: usize,
    /// The innermost bracket that is open, and those around it.
    level: BracketLevel,
    around: Vec<BracketLevel>,
    /// The annotation that was read last, with its arguments.
    annotation: Option<Range<usize>>,
    /// The end of the last token that is not a comment.
    code_end: usize,
    rewriter: TextRewriter<'a>,
}

impl KotlinScanner<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn set_brace_content(&mut self, content: BraceContent) {
        self.level.content = content;
        (self.level.delegate, self.level.head_line) = (None, None);
    }

    fn begin_declaration(&mut self, content: BraceContent) {
        self.set_brace_content(content);
        self.level.declares = true;
    }

    fn open_bracket(&mut self, close: u8) {
        self.around.push(std::mem::replace(&mut self.level, BracketLevel::new(close)));
        self.at += 1;
    }

    fn close_bracket(&mut self, close: u8) -> Option<()> {
        // If brackets do not match, bodies cannot be recognized.
        if self.level.close != close {
            return None;
        }
        if close == b'}' && self.level.declares {
            self.end_member();
        }
        self.level = self.around.pop()?;
        if close == b'}' {
            self.set_brace_content(BraceContent::Unknown);
        }
        self.at += 1;
        Some(())
    }

    fn cut_block(&mut self) -> Option<()> {
        let end = block_end(self.text, self.at, 0, token_end)?;
        self.rewriter.replace(self.at + 1..end - 1, "");
        self.at = end;
        Some(())
    }

    /// Elides `by d()` from a head: the grammar gives the class's body to `d` as its last argument.
    fn cut_delegate(&mut self) {
        // An edit must not begin before the last one ended.
        if let Some(start) = self.level.delegate.take_if(|start| self.rewriter.done <= *start) {
            self.rewriter.replace(start..self.at, "");
        }
    }

    /// Ends the last declaration in braces that are closed on its line: there the grammar would miss the line's end.
    fn end_member(&mut self) {
        let end = self.code_end;
        let is_ended = self.text[..end].ends_with([';', '{', ','])
            || self.text[end..self.at].contains('\n')
            || end < self.rewriter.done;
        if !is_ended {
            self.rewriter.repair(end..end, ";");
        }
    }

    /// Makes one line of a head that is continued by modifiers and `constructor` on lines of their own, as the grammar
    /// expects them.
    fn join_head(&mut self, constructor: usize) {
        let Some(start) = self.level.head_line.take() else { return };
        let gap = &self.text[start..constructor];
        // A comment goes to the end of its line.
        if gap.contains("//") {
            return;
        }
        for (at, _) in gap.match_indices('\n') {
            let end = start + at;
            if self.rewriter.done <= end {
                self.rewriter.repair(end..end + 1, " ");
            }
        }
    }

    /// Replaces what a declaration or a type has for its context, `context(a: A)`, by what the grammar knows in its
    /// place; returns whether that is what begins at `start`.
    fn replace_context(&mut self, start: usize) -> bool {
        let Some(end) = parentheses_end(self.text, self.at) else { return false };
        let next = self.text[end..].trim_start();
        let is_on_own_line = self.text[..start].trim_end_matches([' ', '\t']).ends_with('\n');
        let stand_in = match self.text.as_bytes()[..self.code_end].last() {
            // `context(A) () -> Unit`
            Some(b':' | b'=' | b',' | b'(' | b'<') if next.starts_with('(') => "",
            _ if is_on_own_line && (next.starts_with('@') || begins_declaration(next)) => "public",
            _ => return false,
        };
        if self.rewriter.done <= start {
            self.rewriter.repair(start..end, stand_in);
        }
        self.at = end;
        true
    }

    /// Elides the comma after the last argument of a type, which the grammar does not support everywhere.
    fn cut_trailing_comma(&mut self) {
        if self.text[self.at + 1..].trim_start().starts_with('>') {
            self.rewriter.repair(self.at..self.at + 1, "");
        }
    }

    /// Empties `$$"a $b $$c"`, of which the grammar does not know the prefix.
    fn empty_multi_dollar_string(&mut self) -> Option<()> {
        let end = token_end(self.text, self.at, 0)?;
        if self.text[..end].ends_with('"') {
            self.rewriter.repair(self.at..end, "\"\"");
        }
        self.at = end;
        Some(())
    }

    /// Elides an annotation directly before an accessor, where the grammar supports none.
    fn cut_annotation(&mut self, accessor: usize) {
        let Some(annotation) = self.annotation.take().filter(|found| self.rewriter.done <= found.start)
        else {
            return;
        };
        if self.text[annotation.end..accessor].trim().is_empty() {
            self.rewriter.replace(annotation, "");
        }
    }

    /// Returns whether an empty array literal begins here, which the grammar takes for an error.
    fn is_empty_literal(&self) -> bool {
        self.text[self.at + 1..].trim_start().starts_with(']')
    }

    fn fill_literal(&mut self) -> Option<()> {
        let end = self.at + self.text[self.at..].find(']')?;
        self.rewriter.repair(self.at + 1..end, "0");
        self.at = end + 1;
        Some(())
    }

    /// Reads a word, which may decide what the next braces contain.
    fn word(&mut self) {
        let before = self.text.as_bytes()[..self.code_end].last().copied();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end == 0 {
            // A character beyond ASCII.
            self.at += rest.chars().next().map_or(1, char::len_utf8);
            return;
        }
        let (word, next) = (&rest[..end], rest[end..].trim_start());
        let is_annotated = self.annotation.as_ref().is_some_and(|annotation| annotation.end == self.code_end);
        if is_annotated && SOFT_MODIFIERS.contains(&word) && begins_declaration(next) {
            // After an annotation the grammar takes these modifiers for names, and what they declare for operands.
            self.rewriter.replace(self.at..self.at + end, "public");
        }
        let next = next.as_bytes().first();
        self.at += end;
        if word == "context" && next == Some(&b'(') && self.replace_context(self.at - end) {
            return;
        }
        if matches!(before, Some(b':' | b'.' | b'@')) {
            // `Foo::class` and `this.get` are not keywords.
            if before == Some(b'@') {
                let has_arguments = self.byte() == Some(b'(');
                let arguments = has_arguments.then(|| parentheses_end(self.text, self.at)).flatten();
                self.annotation = Some(self.at - end - 1..arguments.unwrap_or(self.at));
            }
            return;
        }
        if matches!(word, "get" | "set") {
            self.cut_annotation(self.at - end);
        }
        let in_head = self.level.content == BraceContent::Members;
        match (word, next) {
            ("class" | "interface" | "object", _) => self.begin_declaration(BraceContent::Members),
            // The braces of a property may be a lambda that is its value, which is not a body.
            ("val" | "var" | "typealias", _) => self.begin_declaration(BraceContent::Unknown),
            ("by", _) if in_head => self.level.delegate = Some(self.at - end),
            ("fun", _) => self.begin_declaration(BraceContent::Code),
            ("constructor", Some(b'(')) if in_head => self.join_head(self.at - end),
            ("constructor" | "get" | "set", Some(b'(')) | ("init", Some(b'{')) if !in_head => {
                self.begin_declaration(BraceContent::Code);
            }
            _ => {}
        }
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
    fn bodies_are_emptied_and_members_are_kept() {
        check(
            "class A(val f: () -> Unit = { a }) { fun g() { b } }",
            Some("class A(val f: () -> Unit = { a }) { fun g() {}; }"),
        );
        check(
            "fun f() = if (a) { b } else { c }\nval x = y { z }",
            Some("fun f() = if (a) {} else {}\nval x = y { z }"),
        );
        check(
            "class A @Inject constructor(x: B) : C() { init { d } }",
            Some("class A @Inject constructor(x: B) : C() { init {}; }"),
        );
        check("fun interface A { fun b() }", Some("fun interface A { fun b(); }"));
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
        check("class A : D, B by c() { val e by f { } }", Some("class A : D, B { val e by f { }; }"));
    }

    #[test]
    fn annotations_that_the_grammar_does_not_support_are_replaced() {
        check("@A value class B(val c: D)", Some("@A public class B(val c: D)"));
        check("@A(b)\nactual open class C", Some("@A(b)\npublic open class C"));
        check("@A operator fun B.get() = c", Some("@A public fun B.get() = c"));
        check("actual class A(val b: C = @D data)", Some("actual class A(val b: C = @D data)"));
        check("val a: B @C get() = d", Some("val a: B  get() = d"));
        check("var a = {}\n@B(c = D.E)\nset", Some("var a = {}\n\nset"));
        check("annotation class A(val b: Array<C> = [ ])", Some("annotation class A(val b: Array<C> = [0])"));
    }

    #[test]
    fn the_last_declaration_ends_before_a_brace_on_its_line() {
        check(
            "class A { class B { val c = 1 /* d */ } }",
            Some("class A { class B { val c = 1; /* d */ }; }"),
        );
        check("enum class A { B { fun c() { d } }, E }", Some("enum class A { B { fun c() {}; }, E }"));
        for text in
            ["class A { val b = 1 // c\n}", "enum class A { B, C }", "class A { val b = 1; }", "a { b }"]
        {
            check(text, Some(text));
        }
    }

    #[test]
    fn a_constructor_is_on_the_line_of_its_class() {
        check(
            "class A<B>\n@C\ninternal constructor(d: E) {\n}",
            Some("class A<B> @C internal constructor(d: E) {\n}"),
        );
        for text in [
            "class A\nval b = 1\nconstructor(c: D)",
            "class A // b\n@C\nconstructor(d: E)",
            "class A\n// b\nconstructor(d: E)",
        ] {
            check(text, Some(text));
        }
    }

    #[test]
    fn context_parameters_are_replaced() {
        check("fun a()\ncontext(b: C, _: D)\nfun e() = f", Some("fun a()\npublic\nfun e() = f"));
        check("val a: context(B) () -> C", Some("val a:  () -> C"));
        for text in ["val a = b\ncontext(c)\nd", "a.context(b) (c)"] {
            check(text, Some(text));
        }
    }

    #[test]
    fn literals_and_lists_that_the_grammar_does_not_know_are_replaced() {
        check("@A($$\"$b\") val c = $$$\"\"\"$${ $$${d}\"\"\" + e", Some("@A(\"\") val c = \"\" + e"));
        check("fun f() { $$\"${ \" }", Some("fun f() {}"));
        check("fun <A> B<\n  A,\n>.c() = d", Some("fun <A> B<\n  A\n>.c() = d"));
    }

    #[test]
    fn characters_beyond_ascii_are_copied() {
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
