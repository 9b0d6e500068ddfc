//! Detects headers that can only be C++.
//!
//! This takes one pass over the tokens of the text, without parsing it: a few sequences of tokens are only possible in
//! C++, and one of them is enough. The text between `#ifdef __cplusplus` and its `#endif` is ignored, because that is
//! how a C header supports both languages.

use self::HeaderToken::{Scope, Start, Symbol, Word};
use crate::model::HeaderDialect;

/// Returns whether a header contains constructs that only C++ has.
pub(super) fn detect_dialect(text: &str) -> HeaderDialect {
    let scanner = DialectScanner {
        bytes: text.as_bytes(),
        at: 0,
        is_line_start: true,
        branches: Vec::new(),
        hidden: 0,
        last: [Start; 4],
    };
    if scanner.finds_cpp() { HeaderDialect::Cpp } else { HeaderDialect::Neutral }
}

/// The maximum length of an attribute, so that a line of brackets does not take quadratic time.
const ATTRIBUTE_MAX_BYTES: usize = 200;

/// The tokens that matter; numbers and literals are symbols like any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeaderToken<'a> {
    Start,
    Word(&'a [u8]),
    Symbol(u8),
    Scope,
}

/// An open conditional of the preprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConditionalBranch {
    Shown,
    /// `#if 0`; hidden until its `#else`.
    Zero,
    /// A condition on `__cplusplus`; all branches are hidden.
    AboutCpp,
    /// `#ifndef __cplusplus`; also hidden, but an `#error` there shows that C is not supported.
    WithoutCpp,
}

impl ConditionalBranch {
    fn is_hidden(self) -> bool {
        self != Self::Shown
    }
}

struct DialectScanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether the line had only blanks and comments so far, so that a `#` begins a directive.
    is_line_start: bool,
    branches: Vec<ConditionalBranch>,
    /// How many of `branches` are hidden.
    hidden: usize,
    last: [HeaderToken<'a>; 4],
}

impl DialectScanner<'_> {
    fn finds_cpp(mut self) -> bool {
        while let Some(&byte) = self.bytes.get(self.at) {
            let is_cpp_here = match byte {
                b'\n' => {
                    self.is_line_start = true;
                    self.at += 1;
                    false
                }
                // Outside of literals, a backslash can only continue a line.
                _ if byte.is_ascii_whitespace() || byte == b'\\' => {
                    self.at += 1;
                    false
                }
                b'/' if matches!(self.next_byte(), Some(b'/' | b'*')) => {
                    self.skip_comment();
                    false
                }
                b'#' if self.is_line_start => self.scan_directive(),
                _ => {
                    self.is_line_start = false;
                    self.scan_token(byte)
                }
            };
            if is_cpp_here {
                return true;
            }
        }
        false
    }

    fn next_byte(&self) -> Option<u8> {
        self.bytes.get(self.at + 1).copied()
    }

    /// Reads a token, and returns whether it completes a sequence that only C++ has.
    fn scan_token(&mut self, byte: u8) -> bool {
        let start = self.at;
        let token = match byte {
            b'"' | b'\'' => {
                self.skip_literal(byte);
                Symbol(byte)
            }
            b'0'..=b'9' => {
                // An apostrophe separates digits since C++14 and C23. Treated as a quote, it would hide the rest of the
                // line.
                self.skip_while(|b| is_word_byte(b) || matches!(b, b'.' | b'\''));
                Symbol(b'0')
            }
            _ if is_word_byte(byte) => {
                self.skip_while(is_word_byte);
                Word(&self.bytes[start..self.at])
            }
            b':' if self.next_byte() == Some(b':') => {
                self.at += 2;
                Scope
            }
            b'[' if self.next_byte() == Some(b'[') && self.skip_attribute() => return false,
            _ => {
                self.at += 1;
                Symbol(byte)
            }
        };
        // Hidden tokens do not enter the window, because for a C compiler the text before and after them is adjacent.
        if 0 < self.hidden {
            return false;
        }
        self.last.rotate_left(1);
        self.last[3] = token;
        is_cpp(&self.last) || self.is_raw_string(token)
    }

    /// `R"(…)"`: in C, only the prefixes `L`, `u`, `U` and `u8` can directly precede a string.
    fn is_raw_string(&self, token: HeaderToken<'_>) -> bool {
        matches!(token, Word(b"R" | b"LR" | b"uR" | b"UR" | b"u8R")) && self.bytes.get(self.at) == Some(&b'"')
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len());
    }

    /// Skips a string or a character, which ends with its line at the latest: in disabled text, an apostrophe need not
    /// be a quote.
    fn skip_literal(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => return,
                b'\\' => self.at += 2,
                _ if byte == quote => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.bytes.len();
    }

    fn skip_comment(&mut self) {
        if self.next_byte() == Some(b'/') {
            self.skip_while(|byte| byte != b'\n');
            return;
        }
        // After the opening `/*`, so that `/*/` does not close itself.
        let rest = &self.bytes[self.at + 2..];
        let end = rest.windows(2).position(|pair| pair == b"*/");
        self.at = end.map_or(self.bytes.len(), |end| self.at + 2 + end + 2);
    }

    /// Skips `[[gnu::packed]]`, whose `::` is also valid C. Without a nearby end, it is not an attribute.
    fn skip_attribute(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        let near = &rest[..rest.len().min(ATTRIBUTE_MAX_BYTES)];
        match near.windows(2).position(|pair| pair == b"]]") {
            Some(end) => {
                self.at += end + 2;
                true
            }
            None => false,
        }
    }

    /// Reads a directive to the end of its last line, and returns whether it shows C++.
    fn scan_directive(&mut self) -> bool {
        let start = self.at + 1;
        self.skip_directive();
        let line = self.bytes[start..self.at].trim_ascii();
        let end = line.iter().position(|&byte| !is_word_byte(byte)).unwrap_or(line.len());
        let (name, rest) = (&line[..end], line[end..].trim_ascii());
        match name {
            b"if" | b"ifdef" | b"ifndef" => self.push_branch(classify_condition(name, rest)),
            b"elif" | b"elifdef" | b"elifndef" | b"else" => self.switch_branch(rest),
            b"endif" => {
                // A stray `#endif` is ignored: the header is still of one dialect, and guessing does no
                // harm here.
                let closed = self.branches.pop().is_some_and(ConditionalBranch::is_hidden);
                self.hidden -= usize::from(closed);
            }
            b"include" | b"import" => return self.hidden == 0 && includes_cpp(rest),
            // Only if no enclosing branch is hidden.
            b"error" => {
                return self.hidden == 1 && self.branches.last() == Some(&ConditionalBranch::WithoutCpp);
            }
            _ => {}
        }
        false
    }

    fn skip_directive(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => return,
                b'/' if matches!(self.next_byte(), Some(b'/' | b'*')) => self.skip_comment(),
                // Three bytes, because a backslash before `\r\n` also continues the line.
                b'\\' if self.next_byte() == Some(b'\r') => self.at += 3,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = self.bytes.len();
    }

    fn push_branch(&mut self, branch: ConditionalBranch) {
        self.hidden += usize::from(branch.is_hidden());
        self.branches.push(branch);
    }

    /// Switches to the next branch of the innermost conditional.
    fn switch_branch(&mut self, condition: &[u8]) {
        let Some(branch) = self.branches.pop() else {
            return;
        };
        self.hidden -= usize::from(branch.is_hidden());
        let next = match branch {
            // Neither branch says anything about the header itself: one of the two is for the other
            // language.
            ConditionalBranch::AboutCpp | ConditionalBranch::WithoutCpp => ConditionalBranch::AboutCpp,
            ConditionalBranch::Shown | ConditionalBranch::Zero if mentions_cpp(condition) => {
                ConditionalBranch::AboutCpp
            }
            ConditionalBranch::Shown | ConditionalBranch::Zero => ConditionalBranch::Shown,
        };
        self.push_branch(next);
    }
}

/// Returns whether these last tokens can only be C++.
fn is_cpp(last: &[HeaderToken<'_>; 4]) -> bool {
    // Checked first, because C programmers use keywords of C++ as names, and a sequence with one looks like a
    // declaration.
    !is_plain_name(last) && (declares_cpp(last) || names_operator(last))
}

/// A tag or a member may have any of these names in C: `struct class *cls`, `p.virtual`.
fn is_plain_name(last: &[HeaderToken<'_>; 4]) -> bool {
    let before_tag = |token| matches!(token, Word(b"struct" | b"union") | Symbol(b'@' | b'.'));
    match *last {
        [before, Word(b"class" | b"namespace" | b"using"), ..] => before_tag(before),
        [_, before, Word(b"virtual" | b"typename" | b"namespace"), _] => {
            before_tag(before) || before == Word(b"enum")
        }
        _ => false,
    }
}

fn declares_cpp(last: &[HeaderToken<'_>; 4]) -> bool {
    match *last {
        [_, Word(b"namespace"), Word(_), end] => matches!(end, Symbol(b'{' | b':' | b'=') | Scope),
        [_, Word(b"class"), Word(_), end] => {
            // A second word is a macro before the name: `class EXPORT Widget`.
            matches!(end, Symbol(b'{' | b':' | b';' | b'<' | b'(') | Word(_))
        }
        // `constexpr` is also a keyword of C23: such a header is misclassified.
        [Word(b"struct"), Word(_), Symbol(b':'), Word(_)]
        | [_, Word(_), Scope, Word(_)]
        | [_, Word(b"using"), Word(_), Symbol(b'=')]
        | [_, _, Word(b"using"), Word(b"namespace")]
        | [_, _, Word(b"namespace"), Symbol(b'{')]
        | [_, _, Word(b"virtual"), Word(_) | Symbol(b'~')]
        | [_, _, Word(b"constexpr" | b"typename"), Word(_)] => true,
        // `template` is a legal name in C, and may be compared: `if (template < limit)`.
        [_, before, Word(b"template"), Symbol(b'<')] => !is_amid_expression(before),
        [_, before, Word(name), Symbol(b':')] => ACCESS.contains(&name) && may_precede_access(before),
        [_, _, Word(name), Symbol(b'<')] => CASTS.contains(&name),
        _ => false,
    }
}

const ACCESS: [&[u8]; 3] = [b"public", b"private", b"protected"];

const CASTS: [&[u8]; 4] = [b"static_cast", b"dynamic_cast", b"reinterpret_cast", b"const_cast"];

/// After a type, as in `unsigned private : 1`, the name is that of a bit field.
fn may_precede_access(before: HeaderToken<'_>) -> bool {
    matches!(before, Start | Symbol(b'{' | b'}' | b';' | b':'))
}

/// `operator+(`, `operator==(`, `operator()(`, `operator new`.
fn names_operator(last: &[HeaderToken<'_>; 4]) -> bool {
    match *last {
        [_, _, Word(b"operator"), Word(b"new" | b"delete" | b"bool")]
        | [Word(b"operator"), Symbol(b'('), Symbol(b')'), Symbol(b'(')]
        | [Word(b"operator"), Symbol(b'['), Symbol(b']'), Symbol(b'(')] => true,
        [_, Word(b"operator"), Symbol(symbol), Symbol(b'(')] => is_operator(symbol),
        [Word(b"operator"), Symbol(one), Symbol(two), Symbol(b'(')] => is_operator(one) && is_operator(two),
        _ => false,
    }
}

fn is_amid_expression(before: HeaderToken<'_>) -> bool {
    match before {
        Symbol(symbol) => b"(,=&|!.->".contains(&symbol),
        Word(word) => word == b"return",
        Start | Scope => false,
    }
}

fn is_operator(symbol: u8) -> bool {
    b"=+-*/<>!&|^~%,".contains(&symbol)
}

/// Bytes beyond ASCII belong to words, as in compilers.
fn is_word_byte(byte: u8) -> bool {
    // GCC and Clang allow `$` in names.
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

fn classify_condition(name: &[u8], condition: &[u8]) -> ConditionalBranch {
    match (name, condition) {
        (b"ifndef", b"__cplusplus") | (b"if", b"!defined(__cplusplus)" | b"!defined __cplusplus") => {
            ConditionalBranch::WithoutCpp
        }
        _ if mentions_cpp(condition) => ConditionalBranch::AboutCpp,
        (b"if", b"0") => ConditionalBranch::Zero,
        _ => ConditionalBranch::Shown,
    }
}

fn mentions_cpp(condition: &[u8]) -> bool {
    let name = b"__cplusplus";
    condition.windows(name.len()).any(|window| window == name)
}

/// `<vector>`, `<QString>`, `"a.hpp"`: C headers have no such names.
fn includes_cpp(what: &[u8]) -> bool {
    let (close, is_angled) = match what.first() {
        Some(b'<') => (b'>', true),
        Some(b'"') => (b'"', false),
        Some(_) | None => return false,
    };
    let Some(end) = what[1..].iter().position(|&byte| byte == close) else {
        return false;
    };
    let name = &what[1..=end];
    match name.iter().rposition(|&byte| byte == b'.') {
        Some(dot) => matches!(&name[dot + 1..], b"hpp" | b"hh" | b"hxx" | b"h++" | b"H"),
        None => is_angled && !name.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn cpp(text: &str) {
        assert_eq!(detect_dialect(text), HeaderDialect::Cpp, "{text}");
    }

    #[track_caller]
    fn neutral(text: &str) {
        assert_eq!(detect_dialect(text), HeaderDialect::Neutral, "{text}");
    }

    #[test]
    fn constructs_of_cpp_are_detected() {
        for text in [
            "namespace a { }",
            "namespace a::b { }",
            "namespace fs = x;",
            "namespace {\n}",
            "inline namespace v1 {",
            "template <typename T> T f(T);",
            "EXPORT\ntemplate<int N> struct A;",
            "class A;",
            "class A { };",
            "class A : B { };",
            "class EXPORT A",
            "class EXPORT(3) A",
            "class [[nodiscard]] A {",
            "enum class Color { red };",
            "struct A {\npublic:\n int x; };",
            "struct A { int x;\nprotected : int y; };",
            "std::string f();",
            "using namespace std;",
            "using A = int;",
            "struct A { virtual ~A(); };",
            "struct A { virtual void f() = 0; };",
            "bool operator==(A, A);",
            "A operator + (A, A);",
            "int operator()(int);",
            "int &operator[](int);",
            "void *operator new(size_t);",
            "constexpr int a = 1;",
            "typename T x;",
            "int x = static_cast<int>(y);",
            "struct A : B { };",
            "const char *s = R\"(\")\";",
            "#include <vector>",
            "#  include <QString> // strings",
            "#include \"a.hpp\"",
            "#ifndef __cplusplus\n#error \"C++ only\"\n#endif",
        ] {
            cpp(text);
        }
    }

    #[test]
    fn a_header_of_c_is_neutral() {
        for text in [
            "",
            "#include <stdio.h>\n#include \"a\"\n#include MACRO\n#include <",
            "struct class *cls; extern struct class block_class;",
            "struct namespace n = 3; int class; int namespace; bool using; void *virtual; int template, operator;",
            "struct virtual *v; enum typename t; int x = p->virtual;",
            "struct s { unsigned private:1; unsigned b : 3; };",
            "int f(int template) { return template < 3; }",
            "[[gnu::packed]] struct a { int x; };",
            "#define class struct\n#define CAST(x) \\\n static_cast<int>(x)\n#define N std::x",
            "#pragma GCC a::b\n#error don't use namespace a { }",
            "@class NSString;",
            "#ifdef PROTOTYPES_OF_ISO_CPP\nextern \"C++\" {\n#endif",
            "int a = 1'000; char c = '\\''; char d = '\"'; // namespace a {",
            "int a = x ? y : z; switch (a) { case 1: default: ; }",
        ] {
            neutral(text);
        }
    }

    #[test]
    fn comments_and_strings_are_ignored() {
        neutral("/* class A { }; */ // std::x\nconst char *s = \"class A {\\\" class B;\";");
        neutral("/* never closed class A {");
        neutral("\"never closed class A {\n");
        cpp("/**/class/**/A/**/;");
    }

    #[test]
    fn branches_for_cpp_are_ignored() {
        neutral("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif\n");
        neutral("#if defined(__cplusplus) && X\nclass A;\n#if Y\nclass B;\n#endif\nclass C;\n#endif");
        neutral("#ifndef __cplusplus\ntypedef int bool;\n#else\nclass A;\n#endif");
        neutral("#if X\n#elif defined __cplusplus\nclass A;\n#else\n#endif");
        neutral("#if __cplusplus >= \\\n 201103L\nclass A;\n#endif");
        neutral("#if 0\nclass A; don't\n#endif");
        neutral("#if X\n#ifdef __cplusplus\n#ifndef __cplusplus\n#error no\n#endif\n#endif\n#endif");
        cpp("#ifdef __cplusplus\n#endif\nclass A;");
        cpp("#if 0\n#else\nclass A;\n#endif");
        cpp("#ifndef A_H\n#define A_H\nclass A;\n#endif");
        cpp("#if X /* a\n comment */\nclass A;\n#endif");
    }

    #[test]
    fn hostile_text_is_handled() {
        neutral("#endif\n#endif\n#else\n#elif\n#");
        neutral("\\");
        neutral("'\\");
        neutral("#if \\");
        neutral("/");
        neutral("[[");
        neutral(&"#if X\n".repeat(10_000));
        neutral(&"[[".repeat(10_000));
        cpp("\u{fe0f}ü::ö");
    }
}
