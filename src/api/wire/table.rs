//! The table of all files in JSON: one list for each column, and lists of the values that repeat.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalars::wire_path;
use crate::engine::{FileTable, TableRow, split_folder};

/// The table of all files, or what of it has changed. Rows are ordered by folder, then by name.
///
/// Each column has one value for each row. Those of `language`, `state`, `view`, `wanted`, `rule` and `why` are positions in
/// the list of the same name in the plural, of this answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileColumns {
    /// The version of the table, for `since`.
    pub version: String,
    /// The version that the changes are about; null if the answer is the whole table.
    pub since: Option<String>,
    /// The number of rows of the table.
    pub files: u64,
    /// What the table is about, in words.
    pub choice: String,
    /// The rows that the columns are about; absent from a whole table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<u64>>,
    /// The folders, each without a slash at its end; absent from changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folders: Option<Vec<String>>,
    /// The first row of each folder; absent from changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<Vec<u64>>,
    /// The names of the files in their folders, each followed by a line feed; absent from changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<String>,
    /// The bytes of the whole path in hex, by row, where it is not UTF-8 or contains a line feed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hex: BTreeMap<u64, String>,
    pub languages: Vec<String>,
    /// `fresh`, `stale`, `new` and `left_out`.
    pub states: Vec<String>,
    /// Views, and `left_out` for files that the document does not have.
    pub views: Vec<String>,
    /// Rules, as `explain` names them.
    pub rules: Vec<String>,
    /// Why files are not shown as wanted; empty where they are.
    pub whys: Vec<String>,
    pub language: Vec<u32>,
    pub state: Vec<u32>,
    pub view: Vec<u32>,
    pub wanted: Vec<u32>,
    pub rule: Vec<u32>,
    pub why: Vec<u32>,
    /// Tokens of the file's block in the document.
    pub tokens: Vec<u64>,
    /// The size of the file's content.
    pub bytes: Vec<u64>,
    /// The number of the file's lines; 0 if they were not counted.
    pub lines: Vec<u32>,
    /// The tiers for which a model has summarized the content, as bits: tier 1 is the lowest.
    pub agent_tiers: Vec<u8>,
    /// The entry under `[[files]]` that applies to the file, from 0; -1 if there is none.
    pub entry: Vec<i64>,
    pub total: TableTotal,
    /// Whether tokens were counted, and not estimated.
    pub exact: bool,
}

/// The sums over all rows of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableTotal {
    /// Tokens of the whole document.
    pub tokens: u64,
    /// The size of all contents.
    pub bytes: u64,
    /// The limit of the document.
    pub budget_tokens: Option<u64>,
}

/// The values of a column that repeat, in the order in which they were met.
#[derive(Default)]
struct ValueList {
    values: Vec<String>,
    positions: HashMap<String, u32>,
}

impl ValueList {
    fn position(&mut self, value: &str) -> u32 {
        if let Some(known) = self.positions.get(value) {
            return *known;
        }
        let position = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.push(value.to_owned());
        self.positions.insert(value.to_owned(), position);
        position
    }
}

impl FileColumns {
    /// Returns the table, or what differs from an earlier one. `entries` has the position of each entry by its path.
    pub fn new(
        table: &FileTable,
        earlier: Option<&FileTable>,
        choice: String,
        entries: &HashMap<String, usize>,
    ) -> Self {
        let since = earlier.and_then(|earlier| Some((earlier, table.changed_rows(earlier)?)));
        let mut columns = Self::empty(table, choice);
        match since {
            Some((earlier, rows)) => {
                columns.since = Some(earlier.version.to_string());
                columns.add_rows(rows.iter().map(|at| &table.rows[*at]), entries);
                columns.rows = Some(rows.into_iter().map(|at| at as u64).collect());
            }
            None => {
                columns.add_rows(table.rows.iter(), entries);
                columns.add_names(&table.rows);
            }
        }
        columns
    }

    fn empty(table: &FileTable, choice: String) -> Self {
        Self {
            version: table.version.to_string(),
            since: None,
            files: table.rows.len() as u64,
            choice,
            rows: None,
            folders: None,
            starts: None,
            names: None,
            hex: BTreeMap::new(),
            languages: Vec::new(),
            states: Vec::new(),
            views: Vec::new(),
            rules: Vec::new(),
            whys: Vec::new(),
            language: Vec::new(),
            state: Vec::new(),
            view: Vec::new(),
            wanted: Vec::new(),
            rule: Vec::new(),
            why: Vec::new(),
            tokens: Vec::new(),
            bytes: Vec::new(),
            lines: Vec::new(),
            agent_tiers: Vec::new(),
            entry: Vec::new(),
            total: TableTotal {
                tokens: table.tokens,
                bytes: table.rows.iter().map(|row| row.bytes).sum(),
                budget_tokens: table.budget_tokens,
            },
            exact: table.is_exact,
        }
    }

    fn add_rows<'r>(&mut self, rows: impl Iterator<Item = &'r TableRow>, entries: &HashMap<String, usize>) {
        let mut lists: [ValueList; 5] = Default::default();
        let [languages, states, views, rules, whys] = &mut lists;
        for row in rows {
            let view_name =
                |view: Option<crate::model::ViewMode>| view.map_or("left_out", |view| view.name());
            self.language.push(languages.position(row.language.unwrap_or_default()));
            self.state.push(states.position(row.state));
            self.view.push(views.position(view_name(row.view)));
            self.wanted.push(views.position(view_name(row.wanted)));
            self.rule.push(rules.position(row.rule));
            self.why.push(whys.position(&row.why));
            self.tokens.push(row.tokens);
            self.bytes.push(row.bytes);
            self.lines.push(row.lines);
            self.agent_tiers.push(row.agent_tiers);
            let entry = row.item.as_ref().and_then(|item| entries.get(item));
            self.entry.push(entry.and_then(|at| i64::try_from(*at).ok()).unwrap_or(-1));
        }
        let [languages, states, views, rules, whys] = lists.map(|list| list.values);
        (self.languages, self.states, self.views, self.rules, self.whys) =
            (languages, states, views, rules, whys);
    }

    fn add_names(&mut self, rows: &[TableRow]) {
        let (mut folders, mut starts, mut names) = (Vec::new(), Vec::new(), String::new());
        let mut current: Option<&[u8]> = None;
        for (at, row) in (0_u64..).zip(rows) {
            let (folder, name) = split_folder(&row.path);
            if current != Some(folder) {
                folders.push(String::from_utf8_lossy(folder).into_owned());
                starts.push(at);
                current = Some(folder);
            }
            let (path, hex) = wire_path(&row.path);
            if hex.is_some() || path.contains('\n') {
                let hex = row.path.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
                self.hex.insert(at, hex);
            }
            names.push_str(&String::from_utf8_lossy(name).replace('\n', "\u{2424}"));
            names.push('\n');
        }
        (self.folders, self.starts, self.names) = (Some(folders), Some(starts), Some(names));
    }
}
