//! The common tree of all formats.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use toml::de::{DeTable, DeValue};

use crate::summarize::{secrets, words};

/// Levels of keys that are shown; deeper ones are counted.
pub(crate) const MAX_DEPTH: usize = 3;

/// The value of a key, reduced to what a summary shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ConfigValue {
    Text(String),
    /// A number, boolean, date or null, as it is written.
    Literal(String),
    /// A list by its length; with the first element if the list is the whole file.
    Array {
        length: usize,
        first: Option<Box<ConfigValue>>,
    },
    /// Keys and their values, in the order of the file.
    Table(Vec<(String, ConfigValue)>),
    /// The number of keys of a table that is too deep to be shown.
    Keys(usize),
}

impl ConfigValue {
    /// Returns the value of an unquoted text.
    pub(crate) fn from_bare(written: &str) -> Self {
        let is_number = written.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
            && written.bytes().any(|b| b.is_ascii_digit())
            && written
                .bytes()
                .all(|b| b.is_ascii_hexdigit() || matches!(b, b'-' | b'+' | b'.' | b'_' | b'x' | b':'));
        if is_number || secrets::is_flag(written) {
            Self::Literal(written.to_owned())
        } else {
            Self::Text(written.to_owned())
        }
    }

    /// Returns the value of a text that may be quoted; unbalanced quotes are removed as well.
    pub(crate) fn from_text(written: &str) -> Self {
        match written.strip_prefix(['"', '\'']) {
            Some(inside) => Self::Text(inside.strip_suffix(['"', '\'']).unwrap_or(inside).to_owned()),
            None => Self::from_bare(written),
        }
    }
}

/// Parses JSON without comments; returns `None` if that fails.
pub(crate) fn parse_json(text: &str) -> Option<ConfigValue> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = JsonSeed { depth: 0 }.deserialize(&mut parser).ok()?;
    parser.end().ok()?;
    Some(value)
}

/// A value to be parsed, `depth` tables below the root.
#[derive(Clone, Copy)]
struct JsonSeed {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for JsonSeed {
    type Value = ConfigValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ConfigValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonSeed {
    type Value = ConfigValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Literal(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Literal(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Literal(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<ConfigValue, E> {
        // `Debug` keeps the decimal point of `1.0`.
        Ok(ConfigValue::Literal(format!("{value:?}")))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Text(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Literal("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ConfigValue, A::Error> {
        let mut length = 0;
        let mut first = None;
        if self.depth == 0 {
            // Only one level deeper: lists nested more deeply are not followed.
            first = items.next_element_seed(Self { depth: 1 })?.map(Box::new);
            length += usize::from(first.is_some());
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            length += 1;
        }
        Ok(ConfigValue::Array { length, first })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<ConfigValue, A::Error> {
        let mut shown = Vec::new();
        let mut number = 0;
        while let Some(key) = entries.next_key::<String>()? {
            number += 1;
            if self.depth < MAX_DEPTH {
                shown.push((key, entries.next_value_seed(Self { depth: self.depth + 1 })?));
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(if self.depth < MAX_DEPTH { ConfigValue::Table(shown) } else { ConfigValue::Keys(number) })
    }
}

/// Returns the text without `//` and `/* */` comments and without trailing commas.
pub(crate) fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Offset in `plain` of a comma that a closing bracket may follow.
    let mut comma = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '"' => string_bytes(rest),
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest[2..].split_once("*/").map_or("", |(_, after)| after);
                // A space, so that what surrounds the comment does not become one token.
                plain.push(' ');
                continue;
            }
            _ => c.len_utf8(),
        };
        match c {
            ']' | '}' => {
                if let Some(at) = comma.take() {
                    plain.replace_range(at..=at, " ");
                }
            }
            ',' => comma = Some(plain.len()),
            _ if c.is_whitespace() => {}
            _ => comma = None,
        }
        plain.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    plain
}

/// Returns the least indented keys of a malformed text, each once.
pub(crate) fn malformed_keys(head: &str) -> Vec<String> {
    const MOST: usize = 40;
    let indented: Vec<(usize, &str)> = head
        .lines()
        .filter_map(|line| {
            let trimmed = line.trim_start();
            let (key, rest) = trimmed.strip_prefix('"')?.split_once('"')?;
            rest.trim_start().starts_with(':').then_some((line.len() - trimmed.len(), key))
        })
        .collect();
    let least = indented.iter().map(|(indent, _)| *indent).min().unwrap_or(0);
    let mut keys = Vec::new();
    for (_, key) in indented.iter().filter(|(indent, _)| *indent == least).take(MOST) {
        let key = words::clip(&words::one_line(key), 60);
        if !key.is_empty() && !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// Returns the length of a string with its quotes, or of the rest of the text if it is not closed.
fn string_bytes(text: &str) -> usize {
    let mut escaped = false;
    // Bytes suffice: no byte of a longer character equals a quotation mark or a backslash.
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// Parses TOML; returns `None` if that fails.
pub(crate) fn parse_toml(text: &str) -> Option<ConfigValue> {
    let root = DeTable::parse(text).ok()?;
    Some(table(root.get_ref(), 0))
}

/// Returns the tree of a table; the recursion ends at the deepest level that is shown.
fn table(table: &DeTable<'_>, depth: usize) -> ConfigValue {
    if MAX_DEPTH <= depth {
        return ConfigValue::Keys(table.len());
    }
    let mut entries: Vec<_> = table.iter().collect();
    // The parser's table is not in the order of the file.
    entries.sort_by_key(|(key, _)| key.span().start);
    let entries = entries.into_iter().map(|(key, value)| {
        let key = key.get_ref().clone().into_owned();
        (key, self::value(value.get_ref(), depth + 1))
    });
    ConfigValue::Table(entries.collect())
}

fn value(value: &DeValue<'_>, depth: usize) -> ConfigValue {
    match value {
        DeValue::String(text) => ConfigValue::Text(text.clone().into_owned()),
        DeValue::Integer(number) => ConfigValue::Literal(number.to_string()),
        DeValue::Float(number) => ConfigValue::Literal(number.to_string()),
        DeValue::Boolean(switch) => ConfigValue::Literal(switch.to_string()),
        DeValue::Datetime(date) => ConfigValue::Literal(date.to_string()),
        DeValue::Array(items) => ConfigValue::Array { length: items.len(), first: None },
        DeValue::Table(entries) => table(entries, depth),
    }
}

/// Reads `key = value` and `key: value` under `[sections]`.
pub(crate) fn sections(head: &str) -> ConfigValue {
    let mut reader = SectionReader::default();
    for line in head.lines() {
        reader.read(line);
    }
    ConfigValue::Table(reader.root)
}

/// Reads `KEY=value` lines, optionally with `export`.
pub(crate) fn environment(head: &str) -> ConfigValue {
    let mut entries = Vec::new();
    let mut lines = head.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let key = key.trim_end();
        if !is_variable(key) {
            continue;
        }
        let value = value.trim();
        if opens_quote(value) {
            // The lines of a quoted value must not be taken for keys.
            let quote = value.chars().next();
            lines.by_ref().find(|more| quote.is_some_and(|quote| more.contains(quote)));
        }
        entries.push((key.to_owned(), ConfigValue::from_text(value)));
    }
    ConfigValue::Table(entries)
}

fn is_variable(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

fn opens_quote(value: &str) -> bool {
    ['"', '\''].iter().any(|&quote| value.starts_with(quote) && !value[1..].contains(quote))
}

#[derive(Default)]
struct SectionReader {
    root: Vec<(String, ConfigValue)>,
    /// Index of the open section in `root`; none before the first header.
    open: Option<usize>,
    /// Indentation of the section's first key: in git's configuration all keys are indented, and a deeper line
    /// continues a value.
    indent: Option<usize>,
}

impl SectionReader {
    fn read(&mut self, line: &str) {
        let trimmed = line.trim();
        let indent = line.len() - line.trim_start().len();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';', '!']) {
            return;
        }
        if let Some(header) = trimmed.strip_prefix('[') {
            let name = header.trim_start_matches('[').split(']').next().unwrap_or_default();
            self.root.push((name.trim().to_owned(), ConfigValue::Table(Vec::new())));
            self.open = Some(self.root.len() - 1);
            self.indent = None;
            return;
        }
        if self.indent.is_some_and(|first| first < indent) {
            self.continue_value();
            return;
        }
        let Some(at) = trimmed.find(['=', ':']) else {
            return;
        };
        let (key, value) = (trimmed[..at].trim(), trimmed[at + 1..].trim());
        // Many `.conf` files are not INI at all.
        if !key.is_empty() && !key.contains(['<', '"', '{', '(']) {
            self.indent.get_or_insert(indent);
            self.entries().push((key.to_owned(), ConfigValue::from_text(value)));
        }
    }

    /// Counts a line that continues the last value; most programs read such a value as a list.
    fn continue_value(&mut self) {
        let Some((_, value)) = self.entries().last_mut() else {
            return;
        };
        let length = match value {
            ConfigValue::Array { length, .. } => *length + 1,
            ConfigValue::Text(text) if text.is_empty() => 1,
            ConfigValue::Text(_) | ConfigValue::Literal(_) | ConfigValue::Table(_) | ConfigValue::Keys(_) => {
                2
            }
        };
        *value = ConfigValue::Array { length, first: None };
    }

    fn entries(&mut self) -> &mut Vec<(String, ConfigValue)> {
        match self.open {
            Some(open) => match &mut self.root[open].1 {
                ConfigValue::Table(entries) => entries,
                _ => unreachable!("a section is always a table"),
            },
            None => &mut self.root,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::summary::tests::check;
    use super::*;

    #[test]
    fn json_keeps_the_order_of_its_keys() {
        let Some(ConfigValue::Table(entries)) = parse_json("{\"z\": 1, \"a\": -2, \"m\": \"x\"}") else {
            panic!("a table");
        };
        let keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["z", "a", "m"]);
    }

    #[test]
    fn malformed_json_is_none() {
        assert_eq!(parse_json("{} {}"), None);
        assert_eq!(parse_json("{\"a\": }"), None);
        assert_eq!(parse_json("1e999"), None);
    }

    #[test]
    fn comments_are_removed_and_strings_are_kept() {
        let cases = [
            ("{\"a\": 1} // end", "{\"a\": 1} "),
            ("/* a */{\"u\": \"http://x/*y*/\"}", " {\"u\": \"http://x/*y*/\"}"),
            ("[1, 2, ]", "[1, 2  ]"),
            ("[1, // one\n]", "[1  \n]"),
            ("{\"a\\\"//\": \"\\\\\"} //", "{\"a\\\"//\": \"\\\\\"} "),
            ("[\",]\"]", "[\",]\"]"),
            ("/* never ends", " "),
            ("\"never ends //", "\"never ends //"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_comments(text), expected);
        }
    }

    #[test]
    fn only_the_outermost_keys_of_malformed_json_are_listed() {
        assert_eq!(malformed_keys("{\n \"a\": {\n  \"b\": 1\n },\n \"c\" : [\n"), ["a", "c"]);
        assert!(malformed_keys("nothing").is_empty());
    }

    #[test]
    fn keys_are_in_the_order_of_the_file() {
        let Some(ConfigValue::Table(entries)) = parse_toml("z = 1\n[m]\nx = 1\n[a.b]\nc = 2\n[[k]]\n") else {
            panic!("a table");
        };
        let keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["z", "m", "a", "k"]);
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let Some(ConfigValue::Table(entries)) =
            parse_toml("i = 0x1F\nf = 1.0\nd = 1979-05-27\nb = true\ns = 's'\na = [1, 2]\n")
        else {
            panic!("a table");
        };
        let values: Vec<ConfigValue> = entries.into_iter().map(|(_, value)| value).collect();
        let literal = |text: &str| ConfigValue::Literal(text.to_owned());
        assert_eq!(values[1..4], [literal("1.0"), literal("1979-05-27"), literal("true")]);
        assert_eq!(values[4], ConfigValue::Text("s".to_owned()));
        assert_eq!(values[5], ConfigValue::Array { length: 2, first: None });
    }

    #[test]
    fn malformed_toml_is_none() {
        assert_eq!(parse_toml("a = \n"), None);
        assert_eq!(parse_toml("a = 1\na = 2\n"), None);
    }

    #[test]
    fn sections_and_lists_over_several_lines_are_read() {
        check(
            "ini",
            "[metadata]\nname = slop\nauthor: me\n[options]\npackages = find:\ninstall_requires =\n    a\n    b>=2\n    c\nzip_safe = False\n",
            expect![[r#"
                INI, a few lines:
                metadata.name = "slop"
                metadata.author = "me"
                options.packages = "find:"
                options.install_requires = [3 items]
                options.zip_safe = False"#]],
        );
    }

    #[test]
    fn keys_that_are_all_indented_are_keys() {
        check(
            "ini",
            "[remote \"origin\"]\n\turl = git@h:x.git\n\tfetch = +refs\n[core]\n\tbare = false\n",
            expect![[r#"
                INI, a few lines:
                remote "origin".url = "git@h:x.git"
                remote "origin".fetch = "+refs"
                core.bare = false"#]],
        );
    }

    #[test]
    fn properties_keep_their_dots() {
        check(
            "ini",
            "! comment\nserver.port=8080\nserver.ssl.key-store-password=abc\n",
            expect![[r"
                INI, a few lines:
                server.port = 8080
                server.ssl.key-store-password = [redacted]"]],
        );
    }

    #[test]
    fn a_registry_token_is_not_shown() {
        check(
            "ini",
            "//registry.example.org/:_authToken=abcdef\n",
            expect![[r#"
                INI, 1 line:
                //registry.example.org/ = "_authToken=[redacted]""#]],
        );
    }

    #[test]
    fn a_file_without_keys_is_described_by_its_first_line() {
        check(
            "ini",
            "<busconfig>\n  <a href=\"x\"/>\n",
            expect![[r"
            INI, a few lines.
            Begins: <busconfig>"]],
        );
    }

    #[test]
    fn an_environment_shows_its_variables() {
        check(
            "env",
            "# comment\nexport PORT=8080\nNAME=\"my app\"\nEMPTY=\nnot a line\nsource x\nTEXT='a\nFAKE=1\nb'\nLAST=2\n",
            expect![[r#"
                Environment, a few lines:
                PORT = 8080
                NAME = "my app"
                EMPTY = ""
                TEXT = "a"
                LAST = 2"#]],
        );
    }
}
