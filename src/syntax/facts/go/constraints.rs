//! Go: whether a build without custom tags excludes a file.

/// Tags that a build sets for the system, the processor, the compiler and its version.
const KNOWN_TAGS: [&str; 46] = [
    "386", "aix", "amd64", "android", "arm", "arm64", "cgo", "darwin", "dragonfly", "freebsd", "gc", "gccgo",
    "hurd", "illumos", "ios", "js", "linux", "loong64", "mips", "mips64", "mips64le", "mipsle", "nacl",
    "netbsd", "openbsd", "plan9", "ppc64", "ppc64le", "riscv", "riscv64", "s390", "s390x", "solaris",
    "sparc", "sparc64", "unix", "wasip1", "wasm", "windows", "zos", "amd64p32", "armbe", "arm64be", "ppc",
    "mips64p32", "mips64p32le",
];
/// Deeper constraints are not read.
const MAX_DEPTH: usize = 32;

/// Returns whether the `//go:build` line before the package clause is false on every system unless a tag is set.
pub(super) fn needs_tag(text: &str) -> bool {
    let mut head = text.lines().take_while(|line| !line.starts_with("package "));
    let Some(rest) = head.find_map(|line| line.strip_prefix("//go:build ")) else { return false };
    Constraint { rest, depth: 0 }.any() == Some(false)
}

/// A parser for a constraint, from left to right; the value `None` depends on the system.
struct Constraint<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Constraint<'t> {
    fn skip(&mut self, sign: &str) -> bool {
        match self.rest.trim_start().strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn any(&mut self) -> Option<bool> {
        let mut value = self.all();
        while self.skip("||") {
            value = match (value, self.all()) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), other) | (other, Some(false)) => other,
                (None, None) => None,
            };
        }
        value
    }

    fn all(&mut self) -> Option<bool> {
        let mut value = self.one();
        while self.skip("&&") {
            value = match (value, self.one()) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), other) | (other, Some(true)) => other,
                (None, None) => None,
            };
        }
        value
    }

    fn one(&mut self) -> Option<bool> {
        if MAX_DEPTH <= self.depth {
            return None;
        }
        self.depth += 1;
        let value = if self.skip("!") {
            self.one().map(|value| !value)
        } else if self.skip("(") {
            let value = self.any();
            self.skip(")");
            value
        } else {
            self.tag()
        };
        self.depth -= 1;
        value
    }

    fn tag(&mut self) -> Option<bool> {
        let rest: &'t str = self.rest.trim_start();
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let (tag, rest) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        self.rest = rest;
        let is_version = tag.strip_prefix("go1").is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if tag.is_empty() || is_version || KNOWN_TAGS.contains(&tag) { None } else { Some(false) }
    }
}
