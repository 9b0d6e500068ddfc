//! Renders a tree of keys: as many keys as fit, top levels first.

use super::super::redact;
use super::super::redact::KeySecrecy;
use super::super::words;
use super::ConfigValue;

/// Bytes reserved for the last line.
const LAST_LINE_BYTES: usize = 40;
const KEY_BYTES: usize = 60;
const TEXT_BYTES: usize = 60;

/// Keys with their values.
pub(in super::super) struct KeyListing {
    /// The text.
    pub(in super::super) text: String,
    /// Whether some top-level keys did not fit.
    pub(in super::super) is_cut: bool,
}

/// Renders a tree below the opening of a summary, in about `budget` bytes.
pub(super) fn render(opening: &str, root: &ConfigValue, budget: usize) -> KeyListing {
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
        let secrecy = redact::key_secrecy(key).max(inherited);
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
    let is_secret_name: fn(&str) -> bool = |name| redact::key_secrecy(name) == KeySecrecy::All;
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
    for _ in 1..super::value::MAX_DEPTH {
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
            if secrecy != KeySecrecy::Public && !text.trim().is_empty() && !redact::is_reference(text) =>
        {
            redact::REDACTED.to_owned()
        }
        ConfigValue::Literal(literal)
            if secrecy == KeySecrecy::All && !literal.is_empty() && !redact::is_flag(literal) =>
        {
            redact::REDACTED.to_owned()
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
    use expect_test::Expect;
    use expect_test::expect;

    use super::super::super::page::BUDGET;
    use super::*;

    fn text(words: &str) -> ConfigValue {
        ConfigValue::Text(words.to_owned())
    }

    fn table(entries: Vec<(&str, ConfigValue)>) -> ConfigValue {
        ConfigValue::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "an expectation is written in place")]
    fn check(root: &ConfigValue, expected: Expect) {
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
        check(
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
    fn what_does_not_fit_is_counted() {
        let many: Vec<(String, ConfigValue)> =
            (0..100).map(|n| (format!("key_number_{n}"), text(&"long ".repeat(30)))).collect();
        check(
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
    fn what_is_no_table_is_named() {
        check(&table(vec![]), expect!["X: no keys."]);
        check(&ConfigValue::Array { length: 3, first: None }, expect!["X: a list of 3 items."]);
        check(&text("x"), expect!["X: one value."]);
    }

    #[test]
    fn a_secret_table_hides_what_is_in_it() {
        let inner = table(vec![
            ("user", text("me")),
            ("n", ConfigValue::Literal("7".to_owned())),
            ("on", ConfigValue::Literal("true".to_owned())),
        ]);
        check(
            &table(vec![("credentials", inner)]),
            expect![[r"
            X:
            credentials.user = [redacted]
            credentials.n = [redacted]
            credentials.on = true"]],
        );
    }
}
