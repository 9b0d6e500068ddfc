//! Line-based formats: INI and its relatives, `.properties`, environment files.

use super::ConfigValue;

/// Reads `key = value` and `key: value` under `[sections]`.
pub(super) fn sections(head: &str) -> ConfigValue {
    let mut reader = SectionReader::default();
    for line in head.lines() {
        reader.read(line);
    }
    ConfigValue::Table(reader.root)
}

/// Reads `KEY=value` lines, optionally with `export`.
pub(super) fn environment(head: &str) -> ConfigValue {
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

    use super::super::super::heuristic::tests::check;

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
    fn a_token_behind_a_registry_is_no_value_to_show() {
        check(
            "ini",
            "//registry.example.org/:_authToken=abcdef\n",
            expect![[r#"
                INI, 1 line:
                //registry.example.org/ = "_authToken=[redacted]""#]],
        );
    }

    #[test]
    fn what_is_no_list_of_keys_is_told_by_its_beginning() {
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
