//! What programs have in the place of a value: the member of an object, a call, a tag, an option. None of them is a
//! secret, whatever the name before it is.

use std::ops::Range;

use super::generated::is_camel_case;
use super::notation::{line_after, line_before};
use super::values::{KeySecrecy, SecretPolicy, is_code, is_random, key_secrecy, key_words};

/// Returns whether what a rule found in a place is an expression instead: `psk = network.psk`, `psk = derive(name)`,
/// `"Basic "+encode(name)`.
pub(crate) fn is_expression(text: &str, span: &Range<usize>) -> bool {
    let value = &text[span.clone()];
    let before = line_before(text, span.start);
    if is_behind_negation(before) || is_fingerprint(before, value) {
        return true;
    }
    let is_quoted = before.ends_with(['"', '\'', '`']);
    if is_quoted {
        // The quote ends a text that the expression is appended to.
        let appended = value.strip_prefix(['+', '.']);
        return appended.is_some_and(|name| name.split('.').all(is_name_part));
    }
    let after = line_after(text, span.end);
    // A record is made of the fields that follow: `let psk = ClientExtensions {`.
    let is_record = after.trim() == "{" && is_camel_case(value);
    // `psk = entries[1].psk2;`: settings do not have a space before a value and a semicolon after it.
    let is_statement = value.ends_with(';') && before.ends_with("= ") && is_code(value);
    is_record
        || is_statement
        || is_member(value)
        || begins_call(value, after)
        || begins_cast(value, after)
        || is_alternative(value)
}

/// Returns whether a cast begins with a value: `(PyObject *)self`.
fn begins_cast(value: &str, behind: &str) -> bool {
    let cast = value.strip_prefix('(').map(|rest| [rest, behind].concat());
    let parts = cast.as_deref().and_then(|cast| cast.split_once(')'));
    parts.is_some_and(|(pointer, operand)| {
        let name = pointer.trim_end_matches(['*', ' ']);
        name.len() < pointer.len()
            && name.split([' ', ':']).filter(|part| !part.is_empty()).all(is_name_part)
            && operand
                .starts_with(|first: char| first.is_alphabetic() || matches!(first, '_' | '&' | '(' | '*'))
    })
}

/// Returns whether a value is a choice among words: `c/obj/asm`.
fn is_alternative(value: &str) -> bool {
    const FEWEST: usize = 3;
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
    ['/', '|'].iter().any(|sign| FEWEST <= value.split(*sign).count() && value.split(*sign).all(is_word))
}

/// Returns whether a line ends with an option that has no value: `--no-password -U admin`, `--skip-token 3`.
pub(crate) fn is_behind_negation(before: &str) -> bool {
    let option = before.trim_end_matches([' ', '=', '"', '\'', ',', '\t']);
    let option = option.rsplit([' ', '"', '\'', ',', '\t']).next().unwrap_or_default();
    is_negated_option(option)
}

/// Returns whether an option takes something away, and so has no value.
pub(crate) fn is_negated_option(name: &str) -> bool {
    const NEGATIONS: [&str; 5] = ["no-", "without-", "skip-", "disable-", "ignore-"];
    let name = name.trim_start_matches('-');
    NEGATIONS.iter().any(|negation| name.starts_with(negation))
}

/// Returns whether a value is the public fingerprint of a key of `OpenPGP`: `ARG GPG_KEY=B42F…`.
pub(crate) fn is_fingerprint(before: &str, value: &str) -> bool {
    const DIGITS: usize = 40;
    let (line, value) = (before.to_ascii_lowercase(), value.trim_start_matches('='));
    value.len() == DIGITS
        && value.bytes().all(|b| b.is_ascii_hexdigit())
        && ["gpg", "pgp", "fingerprint"].iter().any(|word| line.contains(word))
}

/// Returns whether a call begins with a value: its name, and perhaps some of its arguments.
fn begins_call(value: &str, behind: &str) -> bool {
    let (name, arguments) = match value.split_once('(') {
        Some((name, arguments)) => (name, [arguments, behind].concat()),
        None => (value, behind.strip_prefix('(').unwrap_or_default().to_owned()),
    };
    let rest = arguments.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    rest.is_some_and(|rest| !rest.starts_with(|first: char| first.is_alphanumeric()))
        && name.split(['.', ':']).filter(|part| !part.is_empty()).all(is_name_part)
        && !name.is_empty()
}

/// Returns whether a value is the name of a function or a class that is called: `PytestRemovedIn10Warning("…")`.
pub(crate) fn is_called(text: &str, span: &Range<usize>) -> bool {
    text[span.end..].starts_with('(') && is_name_part(&text[span.clone()])
}

/// Returns whether a value is the member of an object: `process.env.API_KEY!`, `network.psk`, `config->psk2`.
///
/// A password may have the form of one, so the object must be a usual one, or the member be named as a secret is.
pub(crate) fn is_member(value: &str) -> bool {
    const OBJECTS: [&str; 16] = [
        "args", "cfg", "config", "context", "ctx", "env", "import", "options", "opts", "params", "process",
        "props", "req", "self", "settings", "this",
    ];
    const MEMBERS: [&str; 4] = ["key", "keys", "psk", "value"];
    let path = value.trim_end_matches([',', ';', ')', '!']);
    if path.contains("->") {
        return path.split("->").flat_map(|part| part.split('.')).all(is_name_part);
    }
    let parts: Vec<&str> = path.split('.').map(|part| part.trim_end_matches(['?', '!'])).collect();
    let [first, .., last] = parts[..] else { return false };
    // Constants have digits: `env.S3_KEY`. Other names that have some may be passwords.
    let is_member_part = |part: &str| {
        is_name_part(part)
            && (part.bytes().all(|b| !b.is_ascii_digit()) || !part.bytes().any(|b| b.is_ascii_lowercase()))
    };
    parts.iter().all(|part| is_member_part(part))
        && (OBJECTS.contains(&first)
            || MEMBERS.contains(&last.to_ascii_lowercase().as_str())
            || key_secrecy(last) != KeySecrecy::Public)
}

fn is_name_part(part: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '_' | '$'))
        && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'))
        && !is_random(part, SecretPolicy::Prompt)
}

/// Returns whether a value is the call of a function, whatever its arguments are.
pub(crate) fn is_call(value: &str) -> bool {
    let (name, rest) = value.split_once('(').unwrap_or_default();
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:>-".contains(&b));
    !name.is_empty() && is_name && rest.ends_with(')')
}

/// Returns whether a text is the tag of a field in Go: `json:"token"`.
pub(crate) fn is_field_tag(text: &str) -> bool {
    let text = text.trim();
    text.split_once(":\"").is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    }) && text.ends_with('"')
}

/// Returns whether a name is that of a method that compares or cuts a text: `password.startswith`.
pub(crate) fn is_text_method(name: &str) -> bool {
    const METHODS: [&str; 20] = [
        "contains", "decode", "encode", "endswith", "find", "includes", "indexof", "join", "lstrip", "match",
        "removeprefix", "removesuffix", "replace", "rstrip", "split", "startswith", "strip", "test",
        "trimend", "trimstart",
    ];
    name.rsplit_once('.').is_some_and(|(_, method)| {
        let method = method.replace('_', "").to_ascii_lowercase();
        METHODS.contains(&method.as_str())
    })
}

/// Returns whether a name is that of a class which has to do with secrets, but is none: `HTTPPasswordMgr`, not
/// `Password`.
pub(crate) fn is_class_name(name: &str) -> bool {
    let is_camel = name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().any(|b| b.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_alphanumeric());
    let words = key_words(name);
    let last = words.last().map_or("", String::as_str);
    is_camel && 1 < words.len() && key_secrecy(last) == KeySecrecy::Public && !last.contains("key")
}

/// Returns whether a name is that of a token of some language, or of a function that reads one: `TextToken`,
/// `quoted_token_parser`.
pub(crate) fn is_lexical_token(name: &str) -> bool {
    const WORDS: [&str; 25] = [
        "comment", "expect", "expected", "identifier", "keyword", "lex", "lexer", "literal", "next",
        "number", "operator", "parse", "parser", "peek", "property", "punctuation", "quoted", "scan",
        "scanner", "separator", "symbol", "syntax", "text", "tokenizer", "whitespace",
    ];
    let words = key_words(name);
    is_named_for_token(name) && words.iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Returns whether a name indicates a secret only as a token, which is generated, and not as a password.
pub(crate) fn is_named_for_token(name: &str) -> bool {
    let mut others = key_words(name);
    others.retain(|word| !word.ends_with("token") && !word.starts_with("token"));
    key_secrecy(&others.join("_")) != KeySecrecy::All
}

/// Returns whether a text has an optional part, or a word that something is to replace: `host[:port]`, `schema.[name]`.
pub(crate) fn has_optional_part(value: &str) -> bool {
    const SHORTEST: usize = 3;
    value.match_indices('[').any(|(at, _)| {
        let inside = value[at + 1..].split_once(']').map_or("", |(inside, _)| inside);
        let word = inside.trim_start_matches([':', '@', '-', '=', '/']);
        SHORTEST <= word.len() && word.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'-'))
    })
}

/// Returns whether what precedes a name is the head of a function in Python, in which a text after a colon is a type:
/// `def f(token: "AccessTokenV2"):`.
pub(crate) fn is_in_python_head(before: &str) -> bool {
    let before = before.trim_start();
    before.strip_prefix("async ").unwrap_or(before).starts_with("def ") && before.contains('(')
}

/// Returns whether a text defines or imports a name at a position: `class Name:`, `from module import Name`.
pub(crate) fn is_definition(text: &str, span: &Range<usize>) -> bool {
    const KEYWORDS: [&str; 8] = ["class", "def", "enum", "fn", "func", "function", "interface", "struct"];
    let (before, after) = (line_before(text, span.start).trim_start(), line_after(text, span.end));
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    if before.ends_with(continues) || after.starts_with(continues) {
        return false;
    }
    let is_imported = (before.starts_with("import ")
        || before.strip_prefix("from ").is_some_and(|module| module.contains(" import ")))
        && !before.ends_with(['"', '\'', '`']);
    let keyword = before.trim_end().rsplit(' ').next().unwrap_or_default();
    // In a sentence, another word follows.
    let is_head = after.trim_start().starts_with(['(', ':', '{', '<', ';']) || after.trim().is_empty();
    is_imported || KEYWORDS.contains(&keyword) && before.ends_with(' ') && is_head
}

/// Returns whether a name is that of a file: `secrets.md`, `token.py`.
pub(crate) fn is_file_name(name: &str) -> bool {
    const EXTENSIONS: [&str; 34] = [
        "cer", "cpp", "crt", "cs", "css", "csv", "der", "go", "gz", "hpp", "htm", "html", "java", "js",
        "json", "jsx", "kt", "lua", "md", "mjs", "php", "png", "py", "pyi", "rb", "rs", "rst", "scss", "svg",
        "swift", "ts", "tsx", "vue", "xml",
    ];
    name.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && EXTENSIONS.contains(&extension))
}

/// Returns whether a value is the name of an option: `--global-token`.
pub(crate) fn is_option(value: &str) -> bool {
    let name = value.strip_prefix("--").unwrap_or_default();
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.split(['-', '.', '_']).all(|part| {
            part.bytes().all(|b| b.is_ascii_alphanumeric()) && !is_random(part, SecretPolicy::Prompt)
        })
}

/// Returns whether a value is the range of a package's versions: `^4.0.0`, which follows `"js-tokens":`.
pub(crate) fn is_version_range(value: &str) -> bool {
    let version = value.trim_start_matches(['^', '~', '<', '>', '=']);
    version.len() < value.len()
        && version.contains('.')
        && version.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'x' | b'*'))
}

/// Returns whether a value is a media type or a pattern for some: `text/*`, `application/json`.
pub(crate) fn is_media_type(value: &str) -> bool {
    const TYPES: [&str; 10] =
        ["*", "application", "audio", "font", "image", "message", "model", "multipart", "text", "video"];
    value.split_once('/').is_some_and(|(kind, subtype)| {
        TYPES.contains(&kind)
            && !subtype.is_empty()
            && subtype.bytes().all(|b| b.is_ascii_alphanumeric() || b".+*-".contains(&b))
            && !is_random(subtype, SecretPolicy::Prompt)
    })
}

/// Returns whether a value is a pattern for paths: `tests/pass/*.rs`.
pub(crate) fn is_path_pattern(value: &str) -> bool {
    let is_part = |part: &str| {
        part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.*".contains(&b))
            && !is_random(part, SecretPolicy::Prompt)
    };
    value.contains('*') && value.contains('/') && value.split('/').all(is_part)
}

/// Returns whether a quoted value is an expression of a template, which takes its text from elsewhere:
/// `$t('users.password')` in Vue, `*{password}` in Thymeleaf, `%hidden` in a parser.
pub(crate) fn is_template(value: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    let inner = |open: char, close: char| {
        let (before, rest) = value.split_once(open)?;
        Some((before, rest.strip_suffix(close)?))
    };
    let is_translation = inner('(', ')').is_some_and(|(name, argument)| {
        !name.is_empty() && name.chars().all(is_word) && argument.starts_with(['\'', '"', '`'])
    });
    let is_variable = inner('{', '}').is_some_and(|(sign, name)| {
        matches!(sign, "*" | "@" | "#" | "~" | "$" | "%") && !name.is_empty() && name.chars().all(is_word)
    });
    let is_directive =
        value.strip_prefix('%').is_some_and(|word| word.bytes().all(|b| b.is_ascii_lowercase()));
    is_translation || is_variable || is_directive
}

/// Returns whether a value is an address with a port: `www.example.com:80`, `127.0.0.1:80`.
pub(crate) fn is_host(value: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    value.split_once(':').is_some_and(|(host, port)| {
        if host.parse::<std::net::Ipv4Addr>().is_ok() {
            return port.bytes().all(|b| b.is_ascii_digit());
        }
        let domain = host.rsplit_once('.').map(|(_, domain)| domain);
        domain.is_some_and(|domain| domain.bytes().all(|b| b.is_ascii_lowercase()))
            && host.split('.').all(is_label)
            && port.bytes().all(|b| b.is_ascii_digit())
            && !is_random(host, SecretPolicy::Prompt)
    })
}

/// Returns whether a value is a repetition in the grammar of a protocol's document: `1*tchar`.
pub(crate) fn is_repetition(value: &str) -> bool {
    value.split_once('*').is_some_and(|(least, rule)| {
        let rule = rule.trim_start_matches(|c: char| c.is_ascii_digit());
        least.bytes().all(|b| b.is_ascii_digit())
            && rule.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '(' | '<'))
            && rule.bytes().all(|b| b.is_ascii_alphabetic() || b"-()<>".contains(&b))
    })
}

/// Returns whether a name says that something is passed: `pass_fds`, `passValue`. In `PASS_DB` it may be a password.
pub(crate) fn is_passing(name: &str) -> bool {
    const PASSWORDS: [&str; 6] = ["code", "hash", "key", "phrase", "wd", "word"];
    let last = name.rsplit('.').next().unwrap_or_default();
    last.strip_prefix("pass").is_some_and(|rest| {
        rest.starts_with(|first: char| first == '_' || first.is_ascii_uppercase())
            && !PASSWORDS.contains(&rest.trim_start_matches('_').to_ascii_lowercase().as_str())
            && key_secrecy(rest) == KeySecrecy::Public
    })
}

/// Returns whether a value is the type of an optional field in Zig: `?Ast.TokenIndex,`.
pub(crate) fn is_type(value: &str) -> bool {
    let name = value.strip_prefix('?').unwrap_or_default().trim_end_matches([',', ';', ')']);
    let name = name.trim_start_matches(['*', '[', ']']);
    let parts = || name.split('.').map(|part| part.strip_prefix('@').unwrap_or(part));
    1 < parts().count() && parts().all(is_name_part) && name.bytes().all(|b| !b.is_ascii_digit())
}

/// Returns whether a value is a pattern for other values: `[a-f0-9]+`.
pub(crate) fn is_character_class(value: &str) -> bool {
    ["[a-z", "[a-f", "[A-Z", "[A-F", "[0-9"].iter().any(|class| value.contains(class)) && value.contains(']')
}

/// Returns whether a match continues the name of a class that a compiler made up: `Foo$2$1$$ExternalSyntheticLambda0`.
pub(crate) fn is_nested_class(text: &str, span: &Range<usize>) -> bool {
    let value = &text[span.clone()];
    value.starts_with('$')
        && text[..span.start].ends_with(|last: char| last.is_ascii_alphanumeric())
        && value.split(['$', '.', '/']).all(|part| !is_random(part, SecretPolicy::Prompt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_of_an_object_is_distinguished_from_a_password() {
        for value in [
            "process.env.API_KEY!,",
            "env.S3_SECRET",
            "network.psk",
            "this.options?.token!",
            "a.password)",
            "config->psk2;",
        ] {
            assert!(is_member(value), "{value}");
        }
        for value in
            ["hunter2!", "correct.horse!", "this.Is.Secret1!", "q8Zt3Lw0pX.key1", "password", "a..b", ""]
        {
            assert!(!is_member(value), "{value}");
        }
    }

    #[test]
    fn names_of_options_files_and_classes_are_known() {
        for (is_known, test, values) in [
            (true, is_option as fn(&str) -> bool, ["--global-token", "--k3s-auth.appKey"]),
            (false, is_option, ["--q8Zt3Lw0pXv7", "--password=x1"]),
            (true, is_file_name, ["secrets.md", "keyDER.der"]),
            (false, is_file_name, ["db.password", ".md"]),
            (true, is_class_name, ["HTTPPasswordMgr", "ResetPasswordForm"]),
            (false, is_class_name, ["ClientSecret", "DB_PASSWORD"]),
            (true, is_lexical_token, ["TextToken", "quoted_token_parser"]),
            (false, is_lexical_token, ["access_token", "next_password"]),
            (true, has_optional_part, ["host[:port]", "schema.[name]"]),
            (false, has_optional_part, ["h[un]ter2!", "correct[h0rse]"]),
            (true, is_alternative, ["c/obj/asm", "yes|no|maybe"]),
            (false, is_alternative, ["correct/horse", "c/0bj/asm"]),
            (true, is_in_python_head, ["  async def f(a, ", "def f("]),
            (false, is_in_python_head, ["x = f(", "def "]),
            (true, is_field_tag, ["yaml:\"global\"", "json:\"a,omitempty\" env:\"B\""]),
            (false, is_field_tag, ["hunter2!", "json:x"]),
            (true, is_text_method, ["self.password.lstrip", "token.starts_with"]),
            (false, is_text_method, ["startswith", "password.equals"]),
            (true, is_version_range, ["^4.0.0", ">=1.2.x"]),
            (false, is_version_range, ["4.0.0.17", "^hunter2.1"]),
            (true, is_media_type, ["text/*", "application/vnd.api+json"]),
            (false, is_media_type, ["text/hunter!", "text/q8Zt3Lw0pXv7Rk"]),
            (true, is_path_pattern, ["tests/pass/*.rs", "ui/**"]),
            (false, is_path_pattern, ["hunter/2!*", "q8Zt3Lw0pXv7/*"]),
            (true, is_host, ["www.example.com:80", "db.internal:5432"]),
            (true, is_host, ["127.0.0.1:2345", "10.0.0.2:80"]),
            (false, is_host, ["correct.h0rse:7", "hunter2:80"]),
            (true, is_template, ["$t('users.password')", "*{confirmPassword}"]),
            (true, is_template, ["%hidden", "i18n.t(\"next\")"]),
            (false, is_template, ["hunter2(two)", "correct{horse}"]),
            (true, is_repetition, ["1*tchar", "*(ALPHA)"]),
            (false, is_repetition, ["hunter*two", "1*2*3"]),
            (true, is_passing, ["pass_fds", "self.passValue"]),
            (false, is_passing, ["PASS_DB", "passPhrase"]),
            (true, is_type, ["?Ast.TokenIndex,", "?*std.Build"]),
            (false, is_type, ["?correct.h0rse", "correct.horse"]),
        ] {
            for value in values {
                assert_eq!(test(value), is_known, "{value}");
            }
        }
    }
}
