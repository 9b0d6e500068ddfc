//! TOML, with the keys in the order of the file, which the parser does not keep.

use toml::de::DeTable;
use toml::de::DeValue;

use super::ConfigValue;
use super::value::MAX_DEPTH;

/// Parses TOML; returns `None` if that fails.
pub(super) fn read(text: &str) -> Option<ConfigValue> {
    let root = DeTable::parse(text).ok()?;
    Some(table(root.get_ref(), 0))
}

/// Returns the tree of a table; the recursion ends at the deepest level that is shown.
fn table(table: &DeTable<'_>, depth: usize) -> ConfigValue {
    if MAX_DEPTH <= depth {
        return ConfigValue::Keys(table.len());
    }
    let mut entries: Vec<_> = table.iter().collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_in_the_order_of_the_file() {
        let Some(ConfigValue::Table(entries)) = read("z = 1\n[m]\nx = 1\n[a.b]\nc = 2\n[[k]]\n") else {
            panic!("a table");
        };
        let keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["z", "m", "a", "k"]);
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let Some(ConfigValue::Table(entries)) =
            read("i = 0x1F\nf = 1.0\nd = 1979-05-27\nb = true\ns = 's'\na = [1, 2]\n")
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
    fn what_does_not_parse_is_none() {
        assert_eq!(read("a = \n"), None);
        assert_eq!(read("a = 1\na = 2\n"), None);
    }
}
