//! Arguments become questions.

use std::path::{Component, Path};

use super::arguments::{
    AggregateArguments, OutlineArguments, SymbolArguments, ViewArguments, ViewModeArgument,
};
use super::refusal::ToolError;
use crate::api::queries::{
    AggregateQuery, LineRange, MaskEntry, MaskName, ModeName, OutlineQuery, SymbolsQuery, ViewQuery,
    ViewSelection,
};

/// The budget of a document where neither the agent nor the project's settings name one.
const DEFAULT_BUDGET: u64 = 20_000;

/// Documents for agents are remembered by this name, so that they do not change what a person's `--since-last` shows.
const DOCUMENT_NAME: &str = "mcp";

pub(super) fn aggregate_query(
    arguments: AggregateArguments,
    root: &Path,
) -> Result<AggregateQuery, ToolError> {
    if arguments.tier.is_some_and(|tier| !(1..=4).contains(&tier)) {
        return Err(ToolError::bad_arguments("`tier` is not 1, 2, 3 or 4"));
    }
    if arguments.tier.is_some() && arguments.persona.is_some() {
        return Err(ToolError::bad_arguments("`tier` and `persona` exclude each other"));
    }
    if arguments.budget == Some(0) {
        return Err(ToolError::bad_arguments("`budget` is less than 1"));
    }
    let choice = ViewSelection {
        tier: arguments.tier,
        persona: arguments.persona,
        preset: arguments.preset,
        focus: paths_from_root(&arguments.focus.unwrap_or_default(), root),
        budget: arguments.budget,
        default_budget: Some(DEFAULT_BUDGET),
        ..ViewSelection::default()
    };
    let files = paths_from_root(&arguments.files.unwrap_or_default(), root);
    let name = Some(DOCUMENT_NAME.to_owned());
    Ok(AggregateQuery { files, choice, name, ..AggregateQuery::default() })
}

pub(super) fn view_query(arguments: ViewArguments, root: &Path) -> Result<ViewQuery, ToolError> {
    let mode = requested_mode(&arguments)?;
    let entry = |symbol| MaskEntry { symbol, show: MaskName::Def };
    let lines = arguments.lines.unwrap_or_default();
    if lines.iter().any(|lines| lines.start == 0 || lines.end < lines.start) {
        return Err(ToolError::bad_arguments(
            "`lines` has a range that starts before line 1, or ends before its start",
        ));
    }
    Ok(ViewQuery {
        files: paths_from_root_or_error(&arguments.files, root)?,
        mode,
        mask: arguments.symbols.unwrap_or_default().into_iter().map(entry).collect(),
        lines: lines.iter().map(|lines| LineRange { start: lines.start, end: lines.end }).collect(),
        base: arguments.base,
        verify: false,
    })
}

/// Returns the mode that is asked for, in words or by what the mode is for.
fn requested_mode(arguments: &ViewArguments) -> Result<Option<ModeName>, ToolError> {
    let is_given = |list: Option<usize>| list.is_some_and(|length| 0 < length);
    let symbols = is_given(arguments.symbols.as_ref().map(Vec::len)).then_some(ModeName::Masked);
    let lines = is_given(arguments.lines.as_ref().map(Vec::len)).then_some(ModeName::Custom);
    let base = arguments.base.as_ref().map(|_| ModeName::Diff);
    let mut implied = [symbols, lines, base].into_iter().flatten();
    let first = implied.next();
    let named = arguments.mode.map(to_mode_name);
    let fits = named.is_none() || first.is_none() || named == first;
    if implied.next().is_some() || !fits {
        let why = "give only one of `symbols`, `lines` and `base`, and `mode` with none of them but `diff` with `base`";
        return Err(ToolError::bad_arguments(why));
    }
    Ok(first.or(named))
}

const fn to_mode_name(name: ViewModeArgument) -> ModeName {
    match name {
        ViewModeArgument::Full => ModeName::Full,
        ViewModeArgument::Skeleton => ModeName::Skeleton,
        ViewModeArgument::Outline => ModeName::Outline,
        ViewModeArgument::Summary => ModeName::Summary,
        ViewModeArgument::Diff => ModeName::Diff,
    }
}

pub(super) fn outline_query(arguments: &OutlineArguments, root: &Path) -> Result<OutlineQuery, ToolError> {
    let files = paths_from_root_or_error(&arguments.files, root)?;
    Ok(OutlineQuery { files, verify: false })
}

pub(super) fn symbol_query(arguments: SymbolArguments) -> SymbolsQuery {
    SymbolsQuery { name: arguments.name, definition: arguments.definition }
}

fn paths_from_root_or_error(words: &[String], root: &Path) -> Result<Vec<String>, ToolError> {
    if words.is_empty() {
        return Err(ToolError::bad_arguments("`files` names no file"));
    }
    Ok(self::paths_from_root(words, root))
}

fn paths_from_root(words: &[String], root: &Path) -> Vec<String> {
    words.iter().map(|word| self::path_from_root(word, root)).collect()
}

/// Returns a word for files as it is spelled from the root. Agents often give whole paths; what is not below the root
/// stays as it is, for the engine to refuse.
pub(super) fn path_from_root(word: &str, root: &Path) -> String {
    let path = Path::new(word);
    if path.components().any(|part| part == Component::ParentDir) {
        return word.to_owned();
    }
    let path = path.strip_prefix(root).unwrap_or(path);
    let plain: std::path::PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    match plain.to_str() {
        // An empty word means nothing, and must not come to mean everything.
        Some("") if word.is_empty() => String::new(),
        Some("") => ".".to_owned(),
        Some(plain) => plain.to_owned(),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_spelled_from_the_root() {
        let check = |given, expected: &str| {
            assert_eq!(path_from_root(given, Path::new("/home/me/project")), expected);
        };
        check("src/a.py", "src/a.py");
        check("./src//a.py", "src/a.py");
        check("src/", "src");
        check("/home/me/project/src/a.py", "src/a.py");
        check("/home/me/project", ".");
        check(".", ".");
        check("", "");
        check("src/*.py", "src/*.py");
        // What is outside stays what it is.
        check("/home/me/projects/a.py", "/home/me/projects/a.py");
        check("/home/me/project/../secret", "/home/me/project/../secret");
        check("../a.py", "../a.py");
    }
}
