//! The meaning of the name at a position, its definitions, and its uses.
//!
//! A service knows references by lines of the files on disk. The lines of an edited text are mapped to those; names in
//! new lines can only be looked up by name, which is graded `maybe`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::context::{ClientFile, FileNeeds, RequestContext};
use super::structure::{symbol_at, symbol_named, symbol_ranges};
use super::text::{Position, TextRange, names_in};
use crate::api::fault::ApiError;
use crate::api::queries::{RefsQuery, SymbolsQuery};
use crate::api::wire::{FoundSymbol, ReferenceEdge, ReferencePlace, SymbolPlace, SymbolUses, spelled_path};
use crate::model::{Symbol, SymbolKind};

/// A path of an answer, with its bytes in hex if it is not UTF-8.
type WirePath = (String, Option<String>);

/// A definition that a name may mean.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameTarget {
    pub(super) path: WirePath,
    /// The line of the name in the file on disk, counted from 1; the first line of the symbol if that is unknown.
    pub(super) line: u32,
    pub(super) qualified_name: String,
}

/// The grade of a name's targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MeaningGrade {
    /// The position is on the definition itself.
    Definition,
    Sure,
    Likely,
    /// One of several readings, or a definition that only has the same name.
    Maybe,
}

impl MeaningGrade {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Sure => "sure",
            Self::Likely => "likely",
            Self::Maybe => "maybe",
        }
    }

    fn from_grade(grade: &str) -> Self {
        match grade {
            "sure" => Self::Sure,
            "likely" => Self::Likely,
            _ => Self::Maybe,
        }
    }
}

/// The meaning of a name at a position.
pub(super) struct NameMeaning {
    pub(super) name: String,
    /// The range of the name for the client.
    pub(super) range: TextRange,
    pub(super) targets: BTreeSet<NameTarget>,
    pub(super) meaning: MeaningGrade,
    /// The uses of all symbols with this name; `None` if references to them are unknown.
    pub(super) uses: Option<SymbolUses>,
}

/// A definition with its location for the client.
pub(super) struct LocatedTarget {
    pub(super) target: NameTarget,
    pub(super) file: ClientFile,
    pub(super) range: TextRange,
    /// The symbol in the file's outline, if found.
    pub(super) symbol: Option<Symbol>,
}

/// Returns the meaning of the name at a position; `None` if there is no name, or it is unknown.
pub(super) fn meaning_at(
    context: &RequestContext<'_>,
    uri: &str,
    position: Position,
) -> Result<Option<NameMeaning>, ApiError> {
    let Some(file) = context.file(uri, FileNeeds::DiskLines)? else { return Ok(None) };
    let text = file.text();
    let encoding = context.session.traits.encoding;
    let offset = text.offset(position, encoding);
    let Some(span) = text.name_at(offset) else { return Ok(None) };
    let name = text.text[span.clone()].to_owned();
    // Parts of secrets and of hidden symbols are not looked up.
    let line = text.line_and_column(span.start).0;
    if names_in(file.shown_line(line), &name).next().is_none() {
        return Ok(None);
    }
    let range = text.range(span.clone(), encoding);
    let disk_line = file.disk_line(line).and_then(|line| u32::try_from(line + 1).ok());
    let uses = match context.ask(RefsQuery { symbol: Some(name.clone()) }) {
        Ok(uses) => Some(uses),
        Err(error) if error.code == "no_such_symbol" => None,
        Err(error) => return Err(error),
    };
    let known = uses.as_ref().and_then(|uses| known_targets(uses, &file, disk_line?));
    let (targets, meaning) = match known {
        Some(known) => known,
        None => (
            targets_by_name(context, &file, &text.text, &span, disk_line, uses.as_ref())?,
            MeaningGrade::Maybe,
        ),
    };
    Ok((!targets.is_empty()).then_some(NameMeaning { name, range, targets, meaning, uses }))
}

/// Returns the targets of a line according to the references: its own definition, or the best readings of its uses.
fn known_targets(
    uses: &SymbolUses,
    file: &ClientFile,
    disk_line: u32,
) -> Option<(BTreeSet<NameTarget>, MeaningGrade)> {
    let is_here = |path: &String, hex: &Option<String>, line: u32| {
        (path, hex, line) == (&file.path.0, &file.path.1, disk_line)
    };
    let defined = uses.definitions.iter().filter(|place| is_here(&place.path, &place.path_hex, place.line));
    let defined: BTreeSet<NameTarget> = defined.map(NameTarget::from).collect();
    if !defined.is_empty() {
        return Some((defined, MeaningGrade::Definition));
    }
    let is_use = |edge: &&ReferenceEdge| is_here(&edge.from.path, &edge.from.path_hex, edge.from.line);
    let here: Vec<&ReferenceEdge> = uses.references.iter().filter(is_use).collect();
    let best = here.iter().map(|edge| MeaningGrade::from_grade(&edge.grade)).min()?;
    let meant = here.into_iter().filter(|edge| MeaningGrade::from_grade(&edge.grade) == best);
    Some((meant.filter_map(|edge| NameTarget::of_use(&edge.to)).collect(), best))
}

/// Returns the definitions with the same name, if the name may refer to one of them: a local variable has no definition
/// elsewhere, even if another symbol has its name.
fn targets_by_name(
    context: &RequestContext<'_>,
    file: &ClientFile,
    text: &str,
    span: &std::ops::Range<usize>,
    disk_line: Option<u32>,
    uses: Option<&SymbolUses>,
) -> Result<BTreeSet<NameTarget>, ApiError> {
    let before = text[..span.start].trim_end();
    let is_member = before.ends_with(['.', ':']) || before.ends_with("->");
    let is_call = text[span.end..].starts_with('(');
    let is_edited = disk_line.is_none();
    if let Some(uses) = uses
        && (is_edited || 0 < uses.unresolved && (is_member || is_call))
    {
        return Ok(uses.definitions.iter().map(NameTarget::from).collect());
    }
    // Constants, fields and the like, whose uses are unknown.
    let query = SymbolsQuery { name: text[span.clone()].to_owned(), ..SymbolsQuery::default() };
    let found = match context.ask(query) {
        Ok(found) => found,
        Err(error) if error.code == "not_found" || error.code == "no_such_symbol" => {
            return Ok(BTreeSet::new());
        }
        Err(error) => return Err(error),
    };
    let is_own = |symbol: &FoundSymbol| (&symbol.path, &symbol.path_hex) == (&file.path.0, &file.path.1);
    let starts_here =
        |symbol: &FoundSymbol| is_own(symbol) && disk_line.is_some_and(|line| line == symbol.start_line);
    let may_be_meant = |symbol: &FoundSymbol| match SymbolKind::from_name(&symbol.kind) {
        Some(SymbolKind::Constant | SymbolKind::Variable | SymbolKind::EnumMember | SymbolKind::Macro) => {
            true
        }
        Some(SymbolKind::Field | SymbolKind::Property) => is_member,
        // References to these kinds are known in the supported languages.
        Some(kind) => {
            uses.is_none()
                && (kind.is_callable() || kind.is_type())
                && (is_call || is_member || kind.is_type())
        }
        None => false,
    };
    let mut found: Vec<FoundSymbol> =
        found.into_iter().filter(|symbol| starts_here(symbol) || may_be_meant(symbol)).collect();
    if found.iter().any(starts_here) {
        found.retain(starts_here);
    } else if found.iter().any(is_own) {
        found.retain(is_own);
    }
    Ok(found.iter().map(NameTarget::from).collect())
}

impl NameTarget {
    /// Returns the definition of a use.
    fn of_use(place: &ReferencePlace) -> Option<Self> {
        let path = (place.path.clone(), place.path_hex.clone());
        Some(Self { path, line: place.line, qualified_name: place.symbol.clone()? })
    }

    /// Returns the unqualified name.
    pub(super) fn own_name(&self) -> &str {
        let name = &self.qualified_name;
        name.rsplit(['.', ':', '#']).next().filter(|own| !own.is_empty()).unwrap_or(name)
    }
}

impl From<&SymbolPlace> for NameTarget {
    fn from(place: &SymbolPlace) -> Self {
        let path = (place.path.clone(), place.path_hex.clone());
        Self { path, line: place.line, qualified_name: place.symbol.clone() }
    }
}

impl From<&FoundSymbol> for NameTarget {
    fn from(symbol: &FoundSymbol) -> Self {
        let path = (symbol.path.clone(), symbol.path_hex.clone());
        Self { path, line: symbol.start_line, qualified_name: symbol.qualified_name.clone() }
    }
}

/// Locates definitions for the client. Definitions that were edited away are left out.
pub(super) fn locate(
    context: &RequestContext<'_>,
    targets: impl Iterator<Item = NameTarget>,
) -> Result<Vec<LocatedTarget>, ApiError> {
    let targets: Vec<NameTarget> = targets.collect();
    let paths: Vec<String> = targets.iter().map(|target| spelled(&target.path)).collect();
    let files = context.files(&paths, FileNeeds::OutlineAndDiskLines)?;
    let located = targets.into_iter().zip(files).filter_map(|(target, file)| locate_in(target, file?));
    Ok(located.collect())
}

fn locate_in(target: NameTarget, file: ClientFile) -> Option<LocatedTarget> {
    let name = target.own_name();
    let outline = file.source.outline.as_ref();
    let line = file.client_line(target.line as usize - 1);
    let at_line =
        line.zip(outline).and_then(|(line, outline)| symbol_at(outline, name, u32::try_from(line + 1).ok()?));
    let symbol = at_line.or_else(|| symbol_named(outline?, &target.qualified_name)).cloned();
    let on_line = line.and_then(|line| {
        let columns = names_in(file.shown_line(line), name).next()?;
        Some(file.range_in_line(line, columns))
    });
    let by_outline = || symbol.as_ref().map(|symbol| symbol_ranges(&file, symbol).name);
    // The outline distinguishes the name from an earlier occurrence of the word, but not all languages have outlines.
    let range = match (by_outline(), on_line) {
        (Some(named), Some(on_line)) if named.start.line != on_line.start.line => on_line,
        (Some(named), _) => named,
        (None, on_line) => on_line?,
    };
    Some(LocatedTarget { target, file, range, symbol })
}

/// Returns the definitions of the name at a position, in the form of the protocol.
pub(super) fn definition(
    context: &RequestContext<'_>,
    uri: &str,
    position: Position,
) -> Result<Value, ApiError> {
    let Some(meaning) = meaning_at(context, uri, position)? else { return Ok(Value::Null) };
    let grade = meaning.meaning;
    let located = locate(context, meaning.targets.into_iter())?;
    let location = |found: &LocatedTarget| location(&found.file.uri, found.range, grade);
    Ok(located.iter().map(location).collect())
}

/// Returns the uses of the definitions of the name at a position, by path and line; `null` if they are unknown.
pub(super) fn references(
    context: &RequestContext<'_>,
    uri: &str,
    position: Position,
    with_declarations: bool,
) -> Result<Value, ApiError> {
    let Some(NameMeaning { name, targets, uses: Some(uses), .. }) = meaning_at(context, uri, position)?
    else {
        return Ok(Value::Null);
    };
    let mut lines: BTreeMap<WirePath, BTreeMap<u32, LineUse>> = BTreeMap::new();
    for edge in uses.references.iter().filter(|edge| is_meant(edge, &uses, &targets)) {
        let path = (edge.from.path.clone(), edge.from.path_hex.clone());
        let names =
            [NameTarget::of_use(&edge.to).map(|target| target.own_name().to_owned()), Some(name.clone())];
        let found = LineUse {
            grade: MeaningGrade::from_grade(&edge.grade),
            names: names.into_iter().flatten().collect(),
        };
        let line = lines.entry(path).or_default().entry(edge.from.line);
        // A use that may refer to several of the definitions is one location, with its best grade.
        line.and_modify(|line| line.grade = line.grade.min(found.grade)).or_insert(found);
    }
    // An open text may have new uses in a file that has none on disk.
    let open_files = context.open_files(FileNeeds::DiskLines)?;
    let mut locations = Vec::new();
    let paths: Vec<String> = lines.keys().map(spelled).collect();
    let files = context.files(&paths, FileNeeds::DiskLines)?;
    for (lines, file) in lines.values().zip(files) {
        // A file that was deleted meanwhile has no uses.
        let Some(file) = file else { continue };
        for (line, found) in lines {
            found.add_locations(&file, *line as usize - 1, &mut locations);
        }
    }
    for file in open_files {
        for line in file.edited_lines() {
            for columns in names_in(file.shown_line(line), &name) {
                let range = file.range_in_line(line, columns);
                locations.push((
                    file.uri.clone(),
                    range.start,
                    location(&file.uri, range, MeaningGrade::Maybe),
                ));
            }
        }
    }
    if with_declarations {
        for found in locate(context, targets.into_iter())? {
            let (uri, range) = (&found.file.uri, found.range);
            locations.push((uri.clone(), range.start, location(uri, range, MeaningGrade::Definition)));
        }
    }
    locations.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    locations.dedup_by(|a, b| (&a.0, a.1) == (&b.0, b.1));
    Ok(locations.into_iter().map(|(_, _, location)| location).collect())
}

/// Returns whether a use refers to one of the targets. A constructor is also called by the name of its type, which is
/// not one of the requested definitions.
fn is_meant(edge: &ReferenceEdge, uses: &SymbolUses, targets: &BTreeSet<NameTarget>) -> bool {
    let Some(to) = NameTarget::of_use(&edge.to) else { return false };
    targets.contains(&to) || !uses.definitions.iter().any(|place| NameTarget::from(place) == to)
}

/// The uses in one line.
struct LineUse {
    grade: MeaningGrade,
    /// The used names, as spelled there.
    names: Vec<String>,
}

impl LineUse {
    fn add_locations(
        &self,
        file: &ClientFile,
        disk_line: usize,
        locations: &mut Vec<(String, Position, Value)>,
    ) {
        // Edited lines are searched separately.
        let Some(line) = file.client_line(disk_line) else { return };
        let text = file.shown_line(line);
        let columns = self.names.iter().map(|name| names_in(text, name).collect::<Vec<_>>());
        let mut columns = columns.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
        if columns.is_empty() {
            // It was imported under a different name.
            let start = text.len() - text.trim_start().len();
            columns.push(start..text.trim_end().len().max(start));
        }
        for columns in columns {
            let range = file.range_in_line(line, columns);
            locations.push((file.uri.clone(), range.start, location(&file.uri, range, self.grade)));
        }
    }
}

/// Returns a location with its grade, which is an extension of the protocol that clients ignore.
fn location(uri: &str, range: TextRange, grade: MeaningGrade) -> Value {
    json!({"uri": uri, "range": range, "grade": grade.name()})
}

fn spelled(path: &WirePath) -> String {
    spelled_path(&path.0, path.1.as_deref())
}
