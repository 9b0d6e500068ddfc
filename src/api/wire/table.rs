//! The table of all files, in columns.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalars::path_hex;
use crate::engine::{Freshness, TableAnswer, TableNames, TableRow, TableTotals};
use crate::model::{ViewMode, printable};

/// The states of files, by their numbers in the column `state`.
const STATES: [&str; 4] = ["fresh", "stale", "new", LEFT_OUT];
/// The value of the column `view` for a file that is not in the document.
const LEFT_OUT: &str = "left_out";
/// The views, by their numbers in the columns `view` and `wanted`; [`LEFT_OUT`] follows them.
const VIEWS: [ViewMode; 15] = [
    ViewMode::Full,
    ViewMode::Skeleton,
    ViewMode::Outline,
    ViewMode::Summary,
    ViewMode::Path,
    ViewMode::Masked,
    ViewMode::Custom,
    ViewMode::Diff,
    ViewMode::Window,
    ViewMode::None,
    ViewMode::Signatures,
    ViewMode::Definitions,
    ViewMode::Excerpt,
    ViewMode::Names,
    ViewMode::Delta,
];

/// All files of the project in columns, one value per file, or only those that have changed since another answer.
///
/// The values of the columns `language`, `state`, `view`, `wanted`, `rule` and `why` are positions in the lists of the
/// same answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileTable {
    /// Identifies this state of the table, for `since`; empty without a daemon.
    pub clock: String,
    /// The clock since which these rows have changed; null if the table has all rows.
    pub since: Option<String>,
    /// What decides how files are shown, in words.
    pub choice: String,
    /// The number of files of the project.
    pub files: u64,
    /// The folders that have files, in byte order; absent with `since`, like all names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folders: Option<Vec<String>>,
    /// The first row of each folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<Vec<u32>>,
    /// The names of the files in their folders, each followed by a line feed. Line feeds in names are escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<String>,
    /// The full paths in hex that are not UTF-8 or contain line feeds, by row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hex: Option<BTreeMap<u32, String>>,
    /// The rows that have changed, with `since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<u32>>,
    /// The types of files; empty for files without a text.
    pub languages: Vec<String>,
    /// The states of files, as `/v1/files` names them.
    pub states: Vec<String>,
    /// The views, and `left_out` for files that are not in the document.
    pub views: Vec<String>,
    /// The rules that decide on views.
    pub rules: Vec<String>,
    /// Why files are not shown as wanted: for files that are not in the document, the stable name of the reason, such
    /// as `secret` or `budget`; for others, text; empty if there is nothing to explain.
    pub whys: Vec<String>,
    /// The type.
    pub language: Vec<u32>,
    /// The state.
    pub state: Vec<u32>,
    /// How the document shows the file.
    pub view: Vec<u32>,
    /// The view that the rules selected, before limits and errors.
    pub wanted: Vec<u32>,
    /// The rule that selected the wanted view.
    pub rule: Vec<u32>,
    /// Why the view differs from the wanted one.
    pub why: Vec<u32>,
    /// The tokens of the file's block in the document.
    pub tokens: Vec<u64>,
    /// The size of the file's content.
    pub bytes: Vec<u64>,
    /// The lines of the file's text.
    pub lines: Vec<u32>,
    /// The number of symbols; -1 if the file has no structure, or it is not known yet.
    pub symbols: Vec<i64>,
    /// How much of the file the parser understood, in thousandths; -1 as in `symbols`.
    pub health: Vec<i32>,
    /// Who wrote the summary that the choice shows of the file: 0 the heuristic, 1 a model.
    pub summary_by: Vec<u8>,
    /// The tiers for which a model has summarized the content: 1, 2, 4 and 8 for tiers 1 to 4, added up.
    pub agent_tiers: Vec<u8>,
    /// The position among the `items` of `/v1/curation` of the entry that decided on the view; -1 if none did.
    pub entry: Vec<i64>,
    /// The size of the document for these options.
    pub total: TableTotal,
    /// Whether views and tokens are those of the document. If not, they are estimates; asking with `since` returns what
    /// they are.
    pub exact: bool,
    /// Why the document cannot be composed; then the estimates remain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The size of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableTotal {
    /// Its tokens.
    pub tokens: u64,
    /// Its bytes; 0 if it has not been composed.
    pub bytes: u64,
    /// Its limit in tokens; null if there is none.
    pub budget_tokens: Option<u64>,
}

/// The distinct values of a column.
#[derive(Default)]
struct ValueList<'v> {
    positions: FxHashMap<&'v str, u32>,
    values: Vec<&'v str>,
}

impl<'v> ValueList<'v> {
    fn position(&mut self, value: &'v str) -> u32 {
        let next = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        *self.positions.entry(value).or_insert_with(|| {
            self.values.push(value);
            next
        })
    }

    fn into_texts(self) -> Vec<String> {
        self.values.into_iter().map(str::to_owned).collect()
    }
}

/// The columns with names, of a table with all rows.
struct NameColumns {
    folders: Vec<String>,
    starts: Vec<u32>,
    names: String,
    hex: BTreeMap<u32, String>,
}

impl NameColumns {
    fn from_names(names: &TableNames) -> Self {
        let mut columns =
            Self { folders: Vec::new(), starts: Vec::new(), names: String::new(), hex: BTreeMap::new() };
        let mut last = None;
        for (row, path) in (0..).zip(&names.paths) {
            if last != Some(path.parent()) {
                last = Some(path.parent());
                columns.folders.push(String::from_utf8_lossy(path.parent()).into_owned());
                columns.starts.push(row);
            }
            let name = String::from_utf8_lossy(path.file_name());
            let has_line_feed = name.contains('\n');
            columns.names.push_str(&if has_line_feed { printable(&name).into() } else { name });
            columns.names.push('\n');
            if has_line_feed || path.as_str().is_none() {
                columns.hex.insert(row, path_hex(path));
            }
        }
        columns
    }
}

impl FileTable {
    /// Returns a table as JSON. `choice` states in words what decides how files are shown; `summary_tier` is the tier
    /// for which summaries by models are shown, if any.
    pub fn new(
        answer: &TableAnswer,
        choice: String,
        since: Option<String>,
        summary_tier: Option<u8>,
    ) -> Self {
        let TableAnswer { clock, names, rows, changed, totals, is_exact, problem } = answer;
        let since = since.filter(|_| changed.is_some());
        let shown: Vec<&TableRow> = match changed {
            Some(changed) => changed.iter().map(|at| &rows[*at]).collect(),
            None => rows.iter().collect(),
        };
        let columns = changed.is_none().then(|| NameColumns::from_names(names));
        let (folders, starts, names, hex) = columns.map_or((None, None, None, None), |columns| {
            (Some(columns.folders), Some(columns.starts), Some(columns.names), Some(columns.hex))
        });
        let mut languages = ValueList::default();
        let mut rules = ValueList::default();
        let mut whys = ValueList::default();
        // Most rows have it, and clients may expect it first.
        whys.position("");
        let view = |view: Option<ViewMode>| {
            let at = VIEWS.iter().position(|known| Some(*known) == view).unwrap_or(VIEWS.len());
            u32::try_from(at).unwrap_or(u32::MAX)
        };
        let views = VIEWS.iter().map(|view| view.name()).chain([LEFT_OUT]);
        let numbers = |rows: &[usize]| rows.iter().filter_map(|row| u32::try_from(*row).ok()).collect();
        let tiers =
            |row: &TableRow| row.written_for.iter().fold(0, |bits, tier| bits | 1 << (tier.number() - 1));
        let column =
            |value: &dyn Fn(&TableRow) -> u64| shown.iter().map(|row| value(row)).collect::<Vec<u64>>();
        Self {
            clock: clock.map_or(String::new(), |clock| clock.to_string()),
            since,
            choice,
            files: rows.len() as u64,
            folders,
            starts,
            names,
            hex,
            rows: changed.as_deref().map(numbers),
            language: shown.iter().map(|row| languages.position(row.language.unwrap_or_default())).collect(),
            state: shown.iter().map(|row| state(row.state)).collect(),
            view: shown.iter().map(|row| view(row.placement.view)).collect(),
            wanted: shown.iter().map(|row| view(Some(row.placement.wanted))).collect(),
            rule: shown.iter().map(|row| rules.position(row.placement.rule.name())).collect(),
            why: shown
                .iter()
                .map(|row| whys.position(row.placement.why.as_deref().unwrap_or_default()))
                .collect(),
            tokens: column(&|row| row.placement.tokens),
            bytes: column(&|row| row.bytes),
            lines: shown.iter().map(|row| row.lines).collect(),
            symbols: shown
                .iter()
                .map(|row| row.placement.structure.map_or(-1, |(symbols, _)| symbols.into()))
                .collect(),
            health: shown.iter().map(|row| health(row)).collect(),
            summary_by: shown
                .iter()
                .map(|row| u8::from(row.written_for.iter().any(|tier| Some(tier.number()) == summary_tier)))
                .collect(),
            agent_tiers: shown.iter().map(|row| tiers(row)).collect(),
            entry: shown
                .iter()
                .map(|row| row.placement.item.and_then(|item| i64::try_from(item).ok()).unwrap_or(-1))
                .collect(),
            languages: languages.into_texts(),
            states: STATES.map(str::to_owned).to_vec(),
            views: views.map(str::to_owned).collect(),
            rules: rules.into_texts(),
            whys: whys.into_texts(),
            total: (*totals).into(),
            exact: *is_exact,
            problem: problem.clone(),
        }
    }
}

impl From<TableTotals> for TableTotal {
    fn from(totals: TableTotals) -> Self {
        let TableTotals { tokens, bytes, budget_tokens } = totals;
        Self { tokens, bytes, budget_tokens }
    }
}

const fn state(freshness: Freshness) -> u32 {
    match freshness {
        Freshness::Fresh => 0,
        Freshness::Stale => 1,
        Freshness::New => 2,
        Freshness::LeftOut(_) => 3,
    }
}

/// Returns how much of a file the parser understood, never rounded up to all of it.
#[expect(clippy::cast_possible_truncation, reason = "it is between 0 and 1000")]
fn health(row: &TableRow) -> i32 {
    row.placement.structure.map_or(-1, |(_, health)| (health.share() * 1000.0).floor() as i32)
}
