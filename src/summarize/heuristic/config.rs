//! Selects the reader for a format, and reports files that cannot be read.

use super::config_values::ConfigValue;
use super::page::{BUDGET, SummaryInput, SummaryPage};
use super::{config_values, data, page, yaml};
use crate::model::ConfigSyntax;
use crate::summarize::secrets::KeySecrecy;
use crate::summarize::{secrets, words};

/// Files up to this size are parsed as a whole; larger ones count as data, whatever their name.
const PARSED_BYTES: usize = 1024 * 1024;

/// Bytes at the top that are read line by line.
const HEAD_BYTES: usize = 64 * 1024;

pub(crate) fn describe(source: &SummaryInput<'_>, syntax: ConfigSyntax) -> String {
    keys(source, syntax, BUDGET).text
}

/// Returns what a configuration file is, and its keys with redacted values, in about `budget` bytes.
pub(crate) fn keys(source: &SummaryInput<'_>, syntax: ConfigSyntax, budget: usize) -> KeyListing {
    let opening = page::opening(source);
    let only = |text: String| KeyListing { text, is_cut: false };
    match syntax {
        // Parsing all of it is not worth the time, since it is data in fact.
        ConfigSyntax::Toml | ConfigSyntax::Json if PARSED_BYTES < source.text.len() => {
            only(format!("{opening}, {}.", words::size(source.text.len())))
        }
        ConfigSyntax::Toml => match config_values::parse_toml(source.text) {
            Some(value) => render(&opening, &value, budget),
            // Malformed TOML mostly still consists of lines with keys.
            None => render(&unparsed(&opening), &by_lines(source, ConfigSyntax::Ini), budget),
        },
        ConfigSyntax::Json => {
            match config_values::parse_json(&config_values::without_comments(source.text)) {
                Some(value) => render(&opening, &value, budget),
                None => only(broken_json(&opening, source)),
            }
        }
        ConfigSyntax::Yaml => {
            let yaml = yaml::read_yaml(&secrets::without_pem(words::head(source.text, HEAD_BYTES)));
            if yaml.documents < 2 {
                return render(&opening, &yaml.first, budget);
            }
            let documents = words::count(yaml.documents, "document", "documents");
            render(&format!("{opening}, {documents}; the first"), &yaml.first, budget)
        }
        ConfigSyntax::Ini | ConfigSyntax::Env => match by_lines(source, syntax) {
            ConfigValue::Table(entries) if entries.is_empty() => only(data::beginning(source)),
            value => render(&opening, &value, budget),
        },
    }
}

fn unparsed(opening: &str) -> String {
    format!("{opening}, which does not parse")
}

/// Lists the keys of malformed JSON, whose values cannot be told apart.
fn broken_json(opening: &str, source: &SummaryInput<'_>) -> String {
    let keys = config_values::malformed_keys(words::head(source.text, HEAD_BYTES));
    let mut page = SummaryPage::new(&format!("{}.", unparsed(opening)));
    if !keys.is_empty() {
        page.push_clipped(&format!("Keys: {}", words::join_within(&keys, ", ", 300)), 320);
    }
    page.into_text()
}

fn by_lines(source: &SummaryInput<'_>, syntax: ConfigSyntax) -> ConfigValue {
    let head = secrets::without_pem(words::head(source.text, HEAD_BYTES));
    match syntax {
        ConfigSyntax::Env => config_values::environment(&head),
        ConfigSyntax::Ini | ConfigSyntax::Toml | ConfigSyntax::Json | ConfigSyntax::Yaml => {
            config_values::sections(&head)
        }
    }
}

/// Bytes reserved for the last line.
const LAST_LINE_BYTES: usize = 40;
const KEY_BYTES: usize = 60;
const TEXT_BYTES: usize = 60;

pub(crate) struct KeyListing {
    pub(crate) text: String,
    /// Whether some top-level keys did not fit.
    pub(crate) is_cut: bool,
}

/// Renders a tree below the opening of a summary, in about `budget` bytes.
pub(crate) fn render(opening: &str, root: &ConfigValue, budget: usize) -> KeyListing {
    let text = match root {
        ConfigValue::Array { length, first } => {
            let items = words::count(*length, "item", "items");
            match first.as_deref() {
                Some(first @ ConfigValue::Table(_)) => {
                    return render(&format!("{opening}: a list of {items}; the first"), first, budget);
                }
                Some(_) | None => format!("{opening}: a list of {items}."),
            }
        }
        ConfigValue::Table(entries) if entries.is_empty() => format!("{opening}: no keys."),
        ConfigValue::Table(entries) => return render_table(opening, entries, budget),
        ConfigValue::Text(_) | ConfigValue::Literal(_) | ConfigValue::Keys(_) => {
            format!("{opening}: one value.")
        }
    };
    KeyListing { text, is_cut: false }
}

fn render_table(opening: &str, entries: &[(String, ConfigValue)], budget: usize) -> KeyListing {
    let mut text = format!("{opening}:");
    let room = budget.saturating_sub(text.len() + LAST_LINE_BYTES);
    let mut lines = children(None, entries, room);
    let missing = entries.len() - lines.len();
    unfold(&mut lines, room);
    name_keys(&mut lines, room);
    for line in &lines {
        text.push('\n');
        text.push_str(&line.text);
    }
    if 0 < missing {
        text.push_str("\n… ");
        text.push_str(&words::count(missing, "more key", "more keys"));
    }
    KeyListing { text, is_cut: 0 < missing }
}

/// One key with its value, as it will be shown.
struct ListingLine<'a> {
    path: String,
    secrecy: KeySecrecy,
    value: &'a ConfigValue,
    text: String,
}

impl ListingLine<'_> {
    fn bytes(&self) -> usize {
        self.text.len() + 1
    }
}

fn bytes(lines: &[ListingLine<'_>]) -> usize {
    lines.iter().map(ListingLine::bytes).sum()
}

/// Returns the lines of a table's keys, as many as fit.
fn children<'a>(
    parent: Option<&ListingLine<'a>>,
    entries: &'a [(String, ConfigValue)],
    room: usize,
) -> Vec<ListingLine<'a>> {
    let hidden = hidden_by_neighbors(entries);
    let mut left = room;
    let mut lines = Vec::new();
    for (key, value) in entries {
        let name = words::clip(&words::one_line(key), KEY_BYTES);
        let inherited = match parent {
            Some(parent) if parent.secrecy == KeySecrecy::All => KeySecrecy::All,
            Some(_) | None if hidden.contains(&key.as_str()) => KeySecrecy::All,
            Some(_) | None => KeySecrecy::Public,
        };
        let secrecy = secrets::key_secrecy(key).max(inherited);
        let path = parent.map_or(name.clone(), |parent| format!("{}.{name}", parent.path));
        let text = format!("{path} = {}", shown_value(value, secrecy));
        let Some(rest) = left.checked_sub(text.len() + 1) else {
            break;
        };
        left = rest;
        lines.push(ListingLine { path, secrecy, value, text });
    }
    lines
}

/// Returns the keys whose values are secret because of their neighbors: Kubernetes' `kind: Secret`, or a name and its
/// value.
fn hidden_by_neighbors(entries: &[(String, ConfigValue)]) -> &'static [&'static str] {
    let has = |wanted: &str, is_it: fn(&str) -> bool| {
        entries
            .iter()
            .any(|(key, value)| key == wanted && matches!(value, ConfigValue::Text(text) if is_it(text)))
    };
    let is_secret_name: fn(&str) -> bool = |name| secrets::key_secrecy(name) == KeySecrecy::All;
    if has("kind", |kind| kind == "Secret") {
        &["data", "stringData"]
    } else if has("name", is_secret_name) || has("key", is_secret_name) {
        &["value"]
    } else {
        &[]
    }
}

/// Replaces tables by their keys: upper levels first, and only if all keys of a table fit.
fn unfold(lines: &mut Vec<ListingLine<'_>>, room: usize) {
    let mut left = room.saturating_sub(bytes(lines));
    for _ in 1..super::config_values::MAX_DEPTH {
        let mut unfolded = Vec::with_capacity(lines.len());
        for line in lines.drain(..) {
            let entries = match line.value {
                ConfigValue::Table(entries) if !entries.is_empty() => entries,
                _ => {
                    unfolded.push(line);
                    continue;
                }
            };
            let inside = children(Some(&line), entries, left + line.bytes());
            if inside.len() == entries.len() {
                left = left + line.bytes() - bytes(&inside);
                unfolded.extend(inside);
            } else {
                unfolded.push(line);
            }
        }
        *lines = unfolded;
    }
}

/// Lists the first keys of the tables that are still folded, while there is room.
fn name_keys(lines: &mut [ListingLine<'_>], room: usize) {
    const NAMES_BYTES: usize = 120;
    const STUMP: usize = 12;
    let mut left = room.saturating_sub(bytes(lines));
    for line in lines {
        let ConfigValue::Table(entries) = line.value else {
            continue;
        };
        let budget = left.saturating_sub(2).min(NAMES_BYTES);
        if entries.is_empty() || budget < STUMP {
            continue;
        }
        let names: Vec<String> =
            entries.iter().take(NAMES_BYTES).map(|(key, _)| words::one_line(key)).collect();
        let before = line.text.len();
        line.text.truncate(before - 1);
        line.text.push_str(": ");
        line.text.push_str(&words::join_within(&names, ", ", budget));
        line.text.push('}');
        left = left.saturating_sub(line.text.len() - before);
    }
}

fn shown_value(value: &ConfigValue, secrecy: KeySecrecy) -> String {
    match value {
        ConfigValue::Text(text)
            if secrecy != KeySecrecy::Public && !text.trim().is_empty() && !secrets::is_reference(text) =>
        {
            secrets::REDACTED.to_owned()
        }
        ConfigValue::Literal(literal)
            if secrecy == KeySecrecy::All && !literal.is_empty() && !secrets::is_flag(literal) =>
        {
            secrets::REDACTED.to_owned()
        }
        ConfigValue::Text(text) => format!("\"{}\"", words::clip(&words::one_line(text), TEXT_BYTES)),
        ConfigValue::Literal(literal) => words::clip(&words::one_line(literal), TEXT_BYTES),
        ConfigValue::Array { length: 0, .. } => "[]".to_owned(),
        ConfigValue::Array { length, .. } => format!("[{}]", words::count(*length, "item", "items")),
        ConfigValue::Table(entries) if entries.is_empty() => "{}".to_owned(),
        ConfigValue::Table(entries) => format!("{{{}}}", words::count(entries.len(), "key", "keys")),
        ConfigValue::Keys(0) => "{}".to_owned(),
        ConfigValue::Keys(number) => format!("{{{}}}", words::count(*number, "key", "keys")),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::page::BUDGET;
    use super::super::summary::tests::{check, summary};
    use super::*;

    #[test]
    fn a_manifest_shows_its_keys() {
        check(
            "toml",
            "[package]\nname = \"slop\"\nversion = \"0.1.0\"\nauthors = [\"A <a@b.c>\"]\npublish = false\n\n[dependencies]\nclap = { version = \"4\", features = [\"derive\"] }\nserde = \"1\"\n\n[[bin]]\nname = \"x\"\n\n[profile.release]\nlto = \"thin\"\n[a.b.c.d]\ne = 1979-05-27\n[lints.clippy.pedantic]\nlevel = \"warn\"\n",
            expect![[r#"
                TOML, about 20 lines:
                package.name = "slop"
                package.version = "0.1.0"
                package.authors = [1 item]
                package.publish = false
                dependencies.clap.version = "4"
                dependencies.clap.features = [1 item]
                dependencies.serde = "1"
                bin = [1 item]
                profile.release.lto = "thin"
                a.b.c = {1 key}
                lints.clippy.pedantic = {1 key}"#]],
        );
    }

    #[test]
    fn malformed_toml_is_described_by_its_lines() {
        check(
            "toml",
            "[a]\nname = \"x\"\nbroken\npassword = \"hunter2\n",
            expect![[r#"
                TOML, a few lines, which does not parse:
                a.name = "x"
                a.password = [redacted]"#]],
        );
        check(
            "json",
            "{\n  \"a\": {\n    \"b\": 1\n  },\n  \"c\": \n",
            expect![[r"
                JSON, a few lines, which does not parse.
                Keys: a, c"]],
        );
        check("json", "[1, 2", expect!["JSON, 1 line, which does not parse."]);
    }

    #[test]
    fn json_with_comments_and_trailing_commas_is_read() {
        check(
            "json",
            "// settings\n{\n  /* strict */ \"strict\": true, // yes\n  \"url\": \"http://x//y\",\n  \"paths\": [\"a\", \"b\",],\n  \"a\": {\"b\": {\"c\": {\"d\": {\"e\": 1}}}},\n  \"n\": null, \"f\": 1.0, \"empty\": {},\n}\n",
            expect![[r#"
                JSON, a few lines:
                strict = true
                url = "http://x//y"
                paths = [2 items]
                a.b.c = {1 key}
                n = null
                f = 1.0
                empty = {}"#]],
        );
        check(
            "json",
            "[{\"id\": 1, \"token\": \"abc\"}, {\"id\": 2}]",
            expect![[r"
                JSON, 1 line: a list of 2 items; the first:
                id = 1
                token = [redacted]"]],
        );
        check("json", "\"text\"", expect!["JSON, 1 line: one value."]);
    }

    #[test]
    fn a_large_file_is_described_only_by_its_type_and_size() {
        let text = format!("[{}1]", "1,\n".repeat(600_000));
        assert_eq!(summary("json", &text, None), "JSON, about 500000 lines, about 1 MiB.");
    }

    #[test]
    fn deep_nesting_is_rejected_without_harm() {
        for open in ["[", "{\"a\":"] {
            let text = open.repeat(100_000);
            assert!(summary("json", &text, None).contains("does not parse"));
        }
        summary("toml", &format!("a = {}", "[".repeat(100_000)), None);
        summary("toml", &format!("a{} = 1", ".a".repeat(100_000)), None);
    }

    #[test]
    fn secrets_are_redacted_in_every_syntax() {
        check(
            "toml",
            "[db]\npassword = \"hunter2\"\npin = 1\nurl = \"postgres://u:p@h/d\"\n[auth]\nenabled = true\n",
            expect![[r#"
                TOML, a few lines:
                db.password = [redacted]
                db.pin = 1
                db.url = "postgres://[redacted]@h/d"
                auth.enabled = true"#]],
        );
        check(
            "json",
            "{\"apiKey\": \"abc\", \"secrets\": {\"a\": {\"b\": \"c\", \"n\": 4}}, \"max_tokens\": 100}",
            expect![[r"
                JSON, 1 line:
                apiKey = [redacted]
                secrets.a.b = [redacted]
                secrets.a.n = [redacted]
                max_tokens = 100"]],
        );
        check(
            "yaml",
            "password: hunter2\nauthor: me\ntoken: {{ .Values.token }}\nsecret: |\n  line\n  line\n",
            expect![[r#"
                YAML, a few lines:
                password = [redacted]
                author = "me"
                token = "{{ .Values.token }}"
                secret = [redacted]"#]],
        );
        check(
            "ini",
            "[db]\npasswd = hunter2\n; comment\nport = 5432\n",
            expect![[r"
                INI, a few lines:
                db.passwd = [redacted]
                db.port = 5432"]],
        );
        check(
            "env",
            "export DB_PASSWORD='hunter2'\nPORT=80\nKEY=\"-----BEGIN X-----\nabc=\n-----END X-----\"\n",
            expect![[r#"
                Environment, a few lines:
                DB_PASSWORD = [redacted]
                PORT = 80
                KEY = "[redacted]""#]],
        );
    }

    #[test]
    fn a_kubernetes_secret_hides_all_its_data() {
        check(
            "yaml",
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: YWRtaW4=\n  host: aG9zdA==\n---\nkind: ConfigMap\n",
            expect![[r#"
                YAML, a few lines, 2 documents; the first:
                apiVersion = "v1"
                kind = "Secret"
                metadata.name = "db"
                data.user = [redacted]
                data.host = [redacted]"#]],
        );
    }

    fn text(words: &str) -> ConfigValue {
        ConfigValue::Text(words.to_owned())
    }

    fn table(entries: Vec<(&str, ConfigValue)>) -> ConfigValue {
        ConfigValue::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "an expectation is written in place")]
    fn check_listing(root: &ConfigValue, expected: Expect) {
        let rendered = render("X", root, BUDGET).text;
        assert!(rendered.len() <= BUDGET);
        expected.assert_eq(&rendered);
    }

    #[test]
    fn tables_unfold_in_place_while_all_of_their_keys_fit() {
        let many: Vec<(String, ConfigValue)> = (0..50).map(|n| (format!("key{n}"), text("value"))).collect();
        let root = table(vec![
            ("big", ConfigValue::Table(many)),
            (
                "small",
                table(vec![
                    ("a", ConfigValue::Literal("1".to_owned())),
                    ("b", table(vec![("c", ConfigValue::Keys(4))])),
                ]),
            ),
            ("list", ConfigValue::Array { length: 12, first: None }),
        ]);
        check_listing(
            &root,
            expect![[r"
            X:
            big = {about 50 keys: key0, key1, key2, key3, key4, key5, key6, key7, key8, key9, key10, key11, key12, key13, key14, key15, key16, key17, …}
            small.a = 1
            small.b.c = {4 keys}
            list = [about 10 items]"]],
        );
    }

    #[test]
    fn children_that_do_not_fit_are_counted() {
        let many: Vec<(String, ConfigValue)> =
            (0..100).map(|n| (format!("key_number_{n}"), text(&"long ".repeat(30)))).collect();
        check_listing(
            &ConfigValue::Table(many),
            expect![[r#"
            X:
            key_number_0 = "long long long long long long long long long long long…"
            key_number_1 = "long long long long long long long long long long long…"
            key_number_2 = "long long long long long long long long long long long…"
            key_number_3 = "long long long long long long long long long long long…"
            key_number_4 = "long long long long long long long long long long long…"
            key_number_5 = "long long long long long long long long long long long…"
            key_number_6 = "long long long long long long long long long long long…"
            … about 100 more keys"#]],
        );
    }

    #[test]
    fn roots_that_are_not_tables_are_described() {
        check_listing(&table(vec![]), expect!["X: no keys."]);
        check_listing(&ConfigValue::Array { length: 3, first: None }, expect!["X: a list of 3 items."]);
        check_listing(&text("x"), expect!["X: one value."]);
    }

    #[test]
    fn a_secret_table_hides_its_content() {
        let inner = table(vec![
            ("user", text("me")),
            ("n", ConfigValue::Literal("7".to_owned())),
            ("on", ConfigValue::Literal("true".to_owned())),
        ]);
        check_listing(
            &table(vec![("credentials", inner)]),
            expect![[r"
            X:
            credentials.user = [redacted]
            credentials.n = [redacted]
            credentials.on = true"]],
        );
    }
}
