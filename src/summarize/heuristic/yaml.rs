//! YAML, read line by line: tolerant of templates and of what a parser would reject.

use super::config_values::{ConfigValue, MAX_DEPTH};

/// The tree read from the head of a YAML file.
pub(crate) struct YamlHead {
    pub(crate) first: ConfigValue,
    pub(crate) documents: usize,
}

pub(crate) fn read_yaml(head: &str) -> YamlHead {
    let mut reader = YamlReader::new();
    let mut documents = 0;
    let mut has_content = false;
    for line in head.lines() {
        if line.starts_with("---") || line.starts_with("...") {
            documents += usize::from(has_content);
            has_content = false;
            continue;
        }
        if line.trim().is_empty() || line.starts_with('%') || line.trim_start().starts_with('#') {
            continue;
        }
        has_content = true;
        if documents == 0 {
            reader.read(line);
        }
    }
    YamlHead { first: reader.into_value(), documents: documents + usize::from(has_content) }
}

struct YamlNode {
    key: String,
    /// Column of the key; -1 for the root.
    indent: isize,
    value: Option<ConfigValue>,
    children: Vec<usize>,
    items: usize,
}

struct YamlReader {
    nodes: Vec<YamlNode>,
    /// The keys that enclose the next line, outermost first; never empty, because the root stays.
    open: Vec<usize>,
    /// Lines with a deeper indentation are skipped: they belong to a list item or a block scalar.
    skip_deeper_than: Option<isize>,
    /// Column of the dashes of a list that is the whole document, whose first item is read.
    root_list: Option<isize>,
    /// Text of an unclosed flow collection, and how many brackets are open.
    flow: Option<(String, usize)>,
}

impl YamlReader {
    fn new() -> Self {
        let root = YamlNode { key: String::new(), indent: -1, value: None, children: Vec::new(), items: 0 };
        Self { nodes: vec![root], open: vec![0], skip_deeper_than: None, root_list: None, flow: None }
    }

    fn read(&mut self, line: &str) {
        let trimmed = line.trim_start();
        let column = isize::try_from(line.len() - trimmed.len()).unwrap_or(isize::MAX);
        if let Some((text, open)) = self.flow.take() {
            self.read_flow(text, open, trimmed);
            return;
        }
        if self.skip_deeper_than.is_some_and(|limit| limit < column) {
            return;
        }
        self.skip_deeper_than = None;
        match trimmed.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t'])) {
            Some(item) => self.read_item(column, item),
            None => self.read_key(column, trimmed),
        }
    }

    fn read_item(&mut self, column: isize, item: &str) {
        // A list may be in the same column as its key.
        self.close(|indent| column < indent);
        let list = self.innermost();
        self.nodes[list].items += 1;
        let is_first_of_all = list == 0 && self.nodes[0].items == 1;
        if !is_first_of_all {
            self.skip_deeper_than = Some(column);
            return;
        }
        self.root_list = Some(column);
        let trimmed = item.trim_start();
        let inner = isize::try_from(item.len() - trimmed.len()).unwrap_or(isize::MAX);
        self.read_key(column.saturating_add(1).saturating_add(inner), trimmed);
    }

    fn read_key(&mut self, column: isize, line: &str) {
        if self.root_list.is_some_and(|dash| 1 < self.nodes[0].items || column <= dash) {
            return;
        }
        let Some((key, value)) = split_key(line) else {
            return;
        };
        self.close(|indent| column <= indent);
        let parent = self.innermost();
        let value = without_comment(value);
        let value = without_anchor(value);
        if value.starts_with(['|', '>']) {
            self.skip_deeper_than = Some(column);
        }
        let node = self.nodes.len();
        self.nodes.push(YamlNode {
            key: key.to_owned(),
            indent: column,
            value: (!value.is_empty()).then(|| scalar(value)),
            children: Vec::new(),
            items: 0,
        });
        self.nodes[parent].children.push(node);
        self.open.push(node);
        // `{{` begins an expression of a template, not a flow collection.
        if value.starts_with(['[', '{']) && !value.starts_with("{{") {
            self.read_flow(String::new(), 0, value);
        }
    }

    /// Continues a flow collection, the value of the newest key, until its brackets are closed.
    fn read_flow(&mut self, mut text: String, open: usize, line: &str) {
        text.push_str(line);
        let open = open_brackets(line, open);
        if 0 < open {
            self.flow = Some((text, open));
        } else if let Some(node) = self.nodes.last_mut() {
            node.value = Some(scalar(&text));
        }
    }

    fn close(&mut self, is_closed: impl Fn(isize) -> bool) {
        while 1 < self.open.len() && is_closed(self.nodes[self.innermost()].indent) {
            self.open.pop();
        }
    }

    fn innermost(&self) -> usize {
        *self.open.last().expect("the root is never closed")
    }

    fn into_value(mut self) -> ConfigValue {
        let table = self.value_of(0, 0);
        match self.nodes[0].items {
            0 => table,
            length => ConfigValue::Array {
                length,
                first: Some(Box::new(table)).filter(|first| **first != ConfigValue::Table(Vec::new())),
            },
        }
    }

    /// Returns the tree below a node; the recursion ends at the deepest level that is shown.
    fn value_of(&mut self, node: usize, depth: usize) -> ConfigValue {
        let children = std::mem::take(&mut self.nodes[node].children);
        let items = self.nodes[node].items;
        if 0 < items && node != 0 {
            return ConfigValue::Array { length: items, first: None };
        }
        if children.is_empty() && node != 0 {
            return self.nodes[node].value.take().unwrap_or(ConfigValue::Literal("null".to_owned()));
        }
        if MAX_DEPTH <= depth {
            return ConfigValue::Keys(children.len());
        }
        let mut entries = Vec::with_capacity(children.len());
        for child in children {
            let key = std::mem::take(&mut self.nodes[child].key);
            entries.push((key, self.value_of(child, depth + 1)));
        }
        ConfigValue::Table(entries)
    }
}

/// Splits `key: value`; a colon within quotes, or without a space after it, is part of the key.
fn split_key(line: &str) -> Option<(&str, &str)> {
    if let Some(quote @ ('"' | '\'')) = line.chars().next() {
        let (key, rest) = line[1..].split_once(quote)?;
        return Some((key, rest.trim_start().strip_prefix(':')?));
    }
    if line.starts_with(['{', '[']) {
        return None;
    }
    let mut from = 0;
    while let Some(found) = line[from..].find(':') {
        let colon = from + found;
        let rest = &line[colon + 1..];
        if rest.is_empty() || rest.starts_with([' ', '\t']) {
            return Some((line[..colon].trim_end(), rest)).filter(|(key, _)| !key.is_empty());
        }
        from = colon + 1;
    }
    None
}

fn without_comment(value: &str) -> &str {
    let value = value.trim();
    if value.starts_with('#') {
        return "";
    }
    // A quoted text may contain ` #`; what follows it does not matter to a summary.
    if let Some(quote @ ('"' | '\'')) = value.chars().next() {
        return value[1..].find(quote).map_or(value, |end| &value[..end + 2]);
    }
    value.split(" #").next().unwrap_or(value).trim_end()
}

/// Removes a leading `&anchor` or `!tag`.
fn without_anchor(value: &str) -> &str {
    let mut value = value;
    while value.starts_with(['&', '!']) {
        value = value.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
    }
    value
}

fn scalar(value: &str) -> ConfigValue {
    match value.as_bytes()[0] {
        b'|' | b'>' => ConfigValue::Text("(text of several lines)".to_owned()),
        b'[' => ConfigValue::Array { length: elements(value), first: None },
        b'{' if !value.starts_with("{{") => ConfigValue::Keys(elements(value)),
        _ => ConfigValue::from_text(value),
    }
}

/// Counts the elements of a flow collection.
fn elements(value: &str) -> usize {
    let inside = value[1..].trim_end_matches([']', '}', ' ']);
    if inside.trim().is_empty() {
        return 0;
    }
    let mut depth = 0_usize;
    let mut commas = 0;
    for byte in inside.trim_end_matches(',').bytes() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => commas += 1,
            _ => {}
        }
    }
    commas + 1
}

fn open_brackets(text: &str, before: usize) -> usize {
    text.bytes().fold(before, |open, byte| match byte {
        b'[' | b'{' => open + 1,
        b']' | b'}' => open.saturating_sub(1),
        _ => open,
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::summary::tests::check;

    #[test]
    fn nested_keys_lists_and_texts_are_read() {
        check(
            "yaml",
            "# CI\nname: build # the name\non:\n  push:\n    branches: [main, 'rel/*']\n  pull_request:\nenv: &env\n  A: \"x # y\"\n  B: 1\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n    - uses: actions/checkout@v4\n      with:\n        depth: 1\n    - run: |\n        cargo test\n        key: not a key\n    timeout: 5\nlist:\n- a\n- b: c\n  d: e\nlast: *env\n",
            expect![[r#"
                YAML, about 20 lines:
                name = "build"
                on.push.branches = [2 items]
                on.pull_request = null
                env.A = "x # y"
                env.B = 1
                jobs.test.runs-on = "ubuntu-latest"
                jobs.test.steps = [2 items]
                jobs.test.timeout = 5
                list = [2 items]
                last = "*env""#]],
        );
    }

    #[test]
    fn templates_and_unusual_scalars_are_kept() {
        check(
            "yaml",
            "{{- if .Values.on }}\nimage: {{ .Values.image }}:{{ .Values.tag }}\nurl: http://x:80/y\n'quoted: key': yes\n\"b\": !!str 5\nempty:\nflow: {a: 1, b: [1, 2]}\nmulti: [\n  a: b,\n  c\n]\nnext: ~\n{{- end }}\n",
            expect![[r#"
                YAML, about 10 lines:
                image = "{{ .Values.image }}:{{ .Values.tag }}"
                url = "http://x:80/y"
                quoted: key = yes
                b = 5
                empty = null
                flow = {2 keys}
                multi = [2 items]
                next = ~"#]],
        );
    }

    #[test]
    fn a_list_shows_its_first_item() {
        check(
            "yaml",
            "---\n- hosts: all\n  tasks:\n    - name: a\n    - name: b\n  become: true\n- hosts: db\n  x: y\n- z\n",
            expect![[r#"
                YAML, a few lines: a list of 3 items; the first:
                hosts = "all"
                tasks = [2 items]
                become = true"#]],
        );
        check("yaml", "- a\n- b\n- c\n", expect!["YAML, a few lines: a list of 3 items."]);
    }

    #[test]
    fn a_value_next_to_a_secret_name_is_hidden() {
        check(
            "yaml",
            "- name: DB_PASSWORD\n  value: hunter2\n",
            expect![[r#"
            YAML, a few lines: a list of 1 item; the first:
            name = "DB_PASSWORD"
            value = [redacted]"#]],
        );
    }

    #[test]
    fn documents_are_counted_and_the_first_is_shown() {
        check(
            "yaml",
            "---\na: 1\n---\nb: 2\n---\n# nothing\n",
            expect![[r"
            YAML, a few lines, 2 documents; the first:
            a = 1"]],
        );
    }
}
