//! What words of C and C++ mean to a scanner.

use super::scanner::Dialect;

/// Returns whether a word is written as macros are: in capitals, with more than one letter.
pub(super) fn is_macro_name(word: &str) -> bool {
    let bytes = word.as_bytes();
    // A single capital is mostly the parameter of a template.
    1 < bytes.len()
        && bytes.iter().any(u8::is_ascii_uppercase)
        && bytes.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

/// Returns whether a word after the members of a type is an attribute about its layout.
pub(super) fn is_about_layout(word: &str) -> bool {
    let has = |part: &str| word.to_ascii_lowercase().contains(part);
    matches!(word, "__randomize_layout" | "__no_randomize_layout" | "__designated_init")
        || word.starts_with("____cacheline")
        || (word.starts_with("__") || is_macro_name(word)) && (has("packed") || has("aligned"))
}

/// Returns whether a word is an access specifier of the members that follow.
pub(super) fn is_access(word: &str) -> bool {
    matches!(word, "public" | "private" | "protected" | "signals" | "Q_SIGNALS")
}

/// Returns whether a word can only be at the beginning of a declaration.
pub(super) fn begins_declaration(word: &str) -> bool {
    matches!(word, "namespace" | "template" | "typedef" | "using" | "static" | "extern" | "class" | "friend")
}

/// Returns whether a word begins a scope or what precedes one, so that a macro before it cannot be its type.
pub(super) fn begins_scope_head(word: &str) -> bool {
    matches!(word, "namespace" | "template" | "using" | "class" | "struct" | "enum" | "union" | "typedef")
}

/// Returns whether a word is followed by parentheses that belong to an attribute, and not to a function.
pub(super) fn is_attribute(word: &str) -> bool {
    const WORDS: [&str; 14] = [
        "__attribute__", "__attribute", "__declspec", "_declspec", "alignas", "_Alignas", "__asm__", "__asm",
        "asm", "noexcept", "throw", "explicit", "__pragma", "_Pragma",
    ];
    // glibc has `__attribute_noinline__`, `__attribute_nonnull__((1))` and others.
    WORDS.contains(&word) || word.starts_with("__attribute_")
}

/// Returns whether parentheses after a word spell a type.
pub(super) fn spells_type(word: &str) -> bool {
    matches!(word, "decltype" | "typeof" | "__typeof__" | "__typeof" | "_Atomic" | "__underlying_type")
}

/// Returns whether a word belongs to a declaration without being a part of its type.
pub(super) fn is_specifier(word: &str) -> bool {
    const WORDS: [&str; 23] = [
        "static", "extern", "inline", "__inline", "__inline__", "virtual", "explicit", "constexpr",
        "consteval", "constinit", "friend", "mutable", "register", "thread_local", "__thread",
        "_Thread_local", "_Noreturn", "const", "volatile", "typedef", "__extension__", "__forceinline",
        "typename",
    ];
    WORDS.contains(&word)
}

/// Returns whether a word begins the name of a type that is spelled out.
pub(super) fn is_tag(word: &str) -> bool {
    matches!(word, "struct" | "union" | "class" | "enum")
}

/// Returns whether a word cannot be a name, because it is a type of the language.
pub(super) fn is_basic_type(word: &str) -> bool {
    const WORDS: [&str; 15] = [
        "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "bool", "_Bool",
        "auto", "wchar_t", "char16_t", "char32_t",
    ];
    WORDS.contains(&word)
}

/// Returns whether a word may be between a function's parameters and its body.
pub(super) fn is_trailing_qualifier(word: &str) -> bool {
    const WORDS: [&str; 9] =
        ["const", "volatile", "override", "final", "noexcept", "mutable", "restrict", "sealed", "throw"];
    WORDS.contains(&word)
}

/// Returns whether a word begins a statement, so that no declaration is there. In C, `new` is a name like any other.
pub(super) fn is_statement(word: &str, dialect: Dialect) -> bool {
    const WORDS: [&str; 14] = [
        "if", "else", "for", "while", "do", "switch", "case", "return", "goto", "sizeof", "break",
        "continue", "default", "defined",
    ];
    const CPP_WORDS: [&str; 5] = ["catch", "try", "delete", "new", "throw"];
    WORDS.contains(&word) || (dialect == Dialect::Cpp && CPP_WORDS.contains(&word))
}

/// Returns the name of a function whose head is a call of a macro: `MACRO(a, b) {`.
///
/// It is what a reader would ask for: `Foo.Bar` of `TEST(Foo, Bar)`, as a test is named on the command line, and
/// `PDO.query` of `PHP_METHOD(PDO, query)`; `sys_open` of `SYSCALL_DEFINE3(open, …)`, as it is called; else the first
/// argument that is not a type of the language.
pub(in crate::syntax) fn macro_function(name: &str, arguments: &[&str]) -> Option<String> {
    let first = *arguments.first()?;
    if name.contains("SYSCALL_DEFINE") {
        let prefix = if name.starts_with("COMPAT") { "compat_sys_" } else { "sys_" };
        return Some(format!("{prefix}{first}"));
    }
    let is_test = names_test(name);
    let is_method = name == "METHOD" || name.ends_with("_METHOD");
    match arguments.get(1) {
        Some(second) if is_test || is_method => Some(format!("{first}.{second}")),
        Some(_) | None => {
            let is_name = |word: &&&str| !is_basic_type(word) && !is_specifier(word);
            arguments.iter().find(is_name).map(|name| (*name).to_owned())
        }
    }
}

/// Returns whether a macro names a test or a benchmark by what it belongs to and its own name.
pub(super) fn names_test(name: &str) -> bool {
    ["TEST", "PERF", "BENCHMARK"].iter().any(|word| name.contains(word))
}

/// Longer rows of macros do not occur, and each line of one would require reading all of it.
pub(super) const MAX_MACROS: usize = 32;
