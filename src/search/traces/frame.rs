//! The frames of traces, and the tools that write them.

use std::ops::Range;

/// The kind of tool that wrote a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceTool {
    /// A Python traceback, also of `IPython`.
    Python,
    /// A failure that pytest reports.
    Pytest,
    /// A checker of Python code, such as mypy, ruff or flake8.
    PythonChecker,
    /// A panic or backtrace of a Rust program, also in `cargo test`.
    Rust,
    /// A diagnostic of rustc or Clippy.
    RustCompiler,
    /// A panic or data race of a Go program.
    Go,
    /// A diagnostic of `go build`, `go vet` or `go test`.
    GoCompiler,
    /// A stack trace of a program on the Java virtual machine.
    Java,
    /// A diagnostic of javac, kotlinc, Maven or Gradle.
    JavaCompiler,
    /// A stack trace or diagnostic of .NET.
    DotNet,
    /// A stack trace of a JavaScript engine, also in Jest, Vitest and Mocha.
    JavaScript,
    /// A diagnostic of the TypeScript compiler.
    TypeScript,
    /// A diagnostic of `ESLint`.
    EsLint,
    /// A diagnostic of GCC, Clang, MSVC, or a linker.
    CCompiler,
    /// A report of a sanitizer.
    Sanitizer,
    /// A report of Valgrind.
    Valgrind,
    /// A backtrace of GDB or LLDB.
    Debugger,
    /// A failure that `GoogleTest` reports.
    GoogleTest,
    /// A failure that Catch2 reports.
    Catch2,
    /// A stack trace of a Ruby program.
    Ruby,
    /// A stack trace of a PHP program.
    Php,
    /// Another tool that writes `path:line: message`.
    Other,
}

/// A source location in a stack trace or a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFrame {
    /// The path as written, but with `/` as separator and without a scheme such as `file://`. A Java trace has the file
    /// and the class; the path is the package's folder and the file.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The column as written. Some tools count from 0, some from 1.
    pub column: Option<u32>,
    /// The function as written, without arguments.
    pub function: Option<String>,
    /// The distance from the failure: 0 is the innermost frame, or an error. A warning has 1, a note 2.
    pub rank: usize,
    /// The number of the trace in the text, from 0. A cause of an exception is a trace of its own.
    pub trace: usize,
    /// The tool that wrote the frame.
    pub tool: TraceTool,
    /// The bytes of the text that the frame was parsed from.
    pub range: Range<usize>,
}

impl TraceFrame {
    /// Returns the name by which the function is defined, without its class or namespace: `add` for `cart.(*Cart).add`,
    /// `main` for `shop::main::{{closure}}`.
    pub fn function_name(&self) -> Option<&str> {
        self.function.as_deref().and_then(simple_name)
    }
}

fn simple_name(function: &str) -> Option<&str> {
    // `[as total]` in V8's stacks, `+ 33` in LLDB's, template arguments and signatures in those of C++.
    let written = function.split(" [").next().unwrap_or_default();
    let written = ["const", "noexcept", "override", "&", "&&"].iter().fold(written, |written, qualifier| {
        written
            .trim_end()
            .strip_suffix(qualifier)
            .filter(|rest| rest.ends_with([' ', ')']))
            .unwrap_or(written)
    });
    let written = without_brackets(written);
    let separators = ['.', ':', '#', '$', ' ', '/', '*', '&', ')', '>', '\\'];
    let parts = written.rsplit(separators);
    let mut names = parts.map(|part| part.trim_matches(['(', '<', '{', '}', '`', '\'', ',', ';']));
    names.find(|name| !name.is_empty() && !is_closure(name))
}

/// Removes trailing brackets from a name, as in `total<shop::Cart>` and `main(int, char **)`.
fn without_brackets(name: &str) -> &str {
    let name = name.trim_end();
    let mut depth = 0_usize;
    for (at, byte) in name.bytes().enumerate().rev() {
        match byte {
            b')' | b'>' => depth += 1,
            b'(' | b'<' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let rest = name[..at].trim_end();
                    return if rest.is_empty() { name } else { rest };
                }
            }
            _ if depth == 0 => return name,
            _ => {}
        }
    }
    name
}

/// Returns whether a part of a name only numbers a closure inside the previous function, or is a hash.
fn is_closure(part: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_hash =
        part.len() == 17 && part.starts_with('h') && part[1..].bytes().all(|b| b.is_ascii_hexdigit());
    let is_anonymous = ["closure", "lambda", "anonymous"].contains(&part);
    let is_numbered = part.strip_prefix("func").is_some_and(is_number);
    is_number(part) || is_hash || is_anonymous || is_numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(function: &str, expected: &str) {
        assert_eq!(simple_name(function), Some(expected), "{function}");
    }

    #[test]
    fn a_function_is_known_by_its_last_name() {
        check("checkout", "checkout");
        check("example.com/shop/cart.(*Cart).Add", "Add");
        check("main.main.func1", "main");
        check("shop::main::{{closure}}", "main");
        check("shop::main::h9cb3430366576823", "main");
        check("<alloc::vec::Vec<T,A> as core::ops::index::Index<I>>::index", "index");
        check("core::result::Result<T,E>::unwrap", "unwrap");
        check("com.example.shop.Cart.lambda$main$1", "main");
        check("com.example.shop.Cart$Till.open", "open");
        check("get total [as total]", "total");
        check("async Cart.open", "open");
        check("new Cart", "Cart");
        check("shop::total<shop::Cart>", "total");
        check("int main(int, char **)", "main");
        check("T add(T, T)", "add");
        check("void basic_json::push_back(int) const", "push_back");
        check("block in total", "total");
        check("Cart#total", "total");
        check("Shop\\Cart->price", "price");
    }

    #[test]
    fn a_function_without_a_name_has_none() {
        for function in ["", "<lambda>", "{{closure}}", "()"] {
            assert_eq!(simple_name(function), None, "{function}");
        }
    }
}
