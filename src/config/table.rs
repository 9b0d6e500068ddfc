//! A TOML text as a flat list of keys with their lines.

use toml::Spanned;
use toml::de::DeTable;
use toml::de::DeValue;

/// How deep tables are looked into; no setting lies deeper, and a hostile file may nest by the thousand.
const DEEPEST: usize = 8;

/// A key whose value is no table, or a table that is empty or nested too deep.
pub(super) struct TomlLeaf<'a> {
    /// The dotted key; parts that are no bare words stand in quotes, so that no two keys look alike.
    pub(super) key: String,
    /// Its line, from 1.
    pub(super) line: usize,
    /// Its value.
    pub(super) value: &'a Spanned<DeValue<'a>>,
    /// Where its name begins in the text.
    pub(super) offset: usize,
}

/// Returns the leaves of a parsed text in the order in which they are written.
pub(super) fn leaves<'a>(table: &'a DeTable<'a>, text: &str) -> Vec<TomlLeaf<'a>> {
    let mut leaves = Vec::new();
    collect_leaves(table, "", DEEPEST, &mut leaves);
    leaves.sort_by_key(|leaf| leaf.offset);
    // One pass for all leaves: to count anew for each would take the square of a long file's time.
    let (mut line, mut counted_to) = (1, 0);
    for leaf in &mut leaves {
        line += text[counted_to..leaf.offset].matches('\n').count();
        counted_to = leaf.offset;
        leaf.line = line;
    }
    leaves
}

/// Returns the line of the byte at `offset`, from 1.
pub(super) fn line_at(bytes: &[u8], offset: usize) -> usize {
    bytes[..offset.min(bytes.len())].split(|&byte| byte == b'\n').count()
}

fn collect_leaves<'a>(table: &'a DeTable<'a>, above: &str, levels: usize, leaves: &mut Vec<TomlLeaf<'a>>) {
    for (name, value) in table {
        let key = join_key(above, name.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() && 0 < levels => {
                collect_leaves(inner, &key, levels - 1, leaves);
            }
            _ => leaves.push(TomlLeaf { key, line: 0, value, offset: name.span().start }),
        }
    }
}

/// Returns the dotted key of `name` below the key `above`.
pub(super) fn join_key(above: &str, name: &str) -> String {
    let dot = if above.is_empty() { "" } else { "." };
    if is_bare(name) { format!("{above}{dot}{name}") } else { format!("{above}{dot}{name:?}") }
}

/// Says whether TOML takes `name` for a key without quotes around it.
pub(super) fn is_bare(name: &str) -> bool {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.bytes().all(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, usize)]) {
        let table = DeTable::parse(text).unwrap();
        let found = leaves(table.get_ref(), text);
        let found: Vec<_> = found.iter().map(|leaf| (leaf.key.as_str(), leaf.line)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn keys_are_listed_as_written_with_their_lines() {
        check("", &[]);
        check("b = 1\na = 2", &[("b", 1), ("a", 2)]);
        check("[t]\r\n\r\nx = [\r\n1]\r\ny = 1", &[("t.x", 3), ("t.y", 5)]);
        check("a.b.c = 1\na.d = 2", &[("a.b.c", 1), ("a.d", 2)]);
        check("t = { x = 1, y = {} }", &[("t.x", 1), ("t.y", 1)]);
        check("\u{feff}\n[e]", &[("e", 2)]);
        check("[[f]]\nx = 1\n[[f]]\n", &[("f", 1)]);
    }

    #[test]
    fn a_quoted_key_is_never_taken_for_a_dotted_one() {
        check("\"project.name\" = 1", &[("\"project.name\"", 1)]);
        check("a.\"\\n\" = 1", &[("a.\"\\n\"", 1)]);
        check("\"\" = 1", &[("\"\"", 1)]);
        check("\"a\".b = 1", &[("a.b", 1)]);
    }

    #[test]
    fn what_is_nested_too_deep_is_one_leaf() {
        check("a.b.c.d.e.f.g.h.i.j.k = 1", &[("a.b.c.d.e.f.g.h.i", 1)]);
    }
}
