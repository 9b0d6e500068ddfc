//! Finds the definitions of a name: symbols by their names, qualified names, modules and patterns.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::error::{Error, MAX_NEAREST};
use super::queries::{OutlineAnswer, outlines_of};
use super::symbol_names::{SEPARATORS, SymbolNameIndex, last_name_part, outlines_with_name};
use crate::engine::artifacts::{ArtifactCache, ContentRef, hides_by_settings, outline_producers};
use crate::engine::index::{Trust, select_visible};
use crate::model::{ContentHash, FileType, Outline, RelPath, SkipReason, Symbol, SymbolKind, typo_distance};
use crate::search::PathClass;

/// The symbols to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolRequest {
    /// A name, the end of a qualified name, a name qualified by its module, or a pattern with `*` and `?`.
    pub name: String,
    pub ignores_case: bool,
    /// Only symbols of this kind.
    pub kind: Option<SymbolKind>,
    /// Whether to include the text of each.
    pub with_text: bool,
}

/// A symbol with the requested name.
#[derive(Debug, Clone)]
pub struct SymbolAnswer {
    pub path: RelPath,
    pub hash: ContentHash,
    pub symbol: Symbol,
    /// Its text; `None` if it was not requested.
    pub definition: Option<String>,
}

/// The outline of a file.
struct FileOutline {
    path: RelPath,
    hash: ContentHash,
    file_type: &'static FileType,
    outline: Outline,
}

impl From<OutlineAnswer> for FileOutline {
    fn from(answer: OutlineAnswer) -> Self {
        let OutlineAnswer { path, hash, file_type, outline, .. } = answer;
        Self { path, hash, file_type, outline }
    }
}

/// How often the lookup is repeated if files change before their texts are read.
const MAX_ATTEMPTS: usize = 8;

/// Returns the requested symbols: code before headings and keys, the program before its tests, definitions before
/// prototypes; then by path and line.
pub(super) fn symbols(
    cache: &mut ArtifactCache<'_>,
    names: Option<&SymbolNameIndex>,
    request: &SymbolRequest,
    trust: Trust,
) -> Result<Vec<SymbolAnswer>, Error> {
    let pattern = NamePattern::new(&request.name, request.ignores_case);
    let mut answers = find_symbols(cache, names, request, &pattern, trust)?;
    for _ in 1..MAX_ATTEMPTS {
        if !request.with_text || answers.iter().all(|answer| answer.definition.is_some()) {
            break;
        }
        answers = find_symbols(cache, names, request, &pattern, trust)?;
    }
    if request.with_text {
        let without: BTreeSet<&RelPath> =
            answers.iter().filter(|answer| answer.definition.is_none()).map(|answer| &answer.path).collect();
        for path in without {
            let reason = SkipReason::Unstable.description();
            cache.workspace.note(format!("{path} {reason}: its symbols have no definition in this answer"));
        }
    }
    if answers.is_empty() && !pattern.is_glob() {
        suggest_names(cache, &[pattern.last_part()], trust)?;
    }
    Ok(answers)
}

fn find_symbols(
    cache: &mut ArtifactCache<'_>,
    names: Option<&SymbolNameIndex>,
    request: &SymbolRequest,
    pattern: &NamePattern,
    trust: Trust,
) -> Result<Vec<SymbolAnswer>, Error> {
    let mut answers = Vec::new();
    let outlines = match names.zip(pattern.indexed_part()).filter(|_| !hides_by_settings(cache)) {
        Some((names, part)) => {
            outlines_with_name(cache, names, part, trust)?.into_iter().map(FileOutline::from).collect()
        }
        None => outlines_that_mention(cache, pattern.literal(), trust)?,
    };
    for file in outlines {
        let mut found = Vec::new();
        let is_kind = |symbol: &Symbol| request.kind.is_none_or(|kind| kind == symbol.kind);
        file.outline.walk(|symbol, _| {
            if is_kind(symbol) && pattern.matches(symbol, &file.path) {
                found.push(symbol.clone());
            }
        });
        // An outline that mentions the name may not define it, but only in a signature, a comment or an import. Such a
        // file is not read.
        let is_read = request.with_text && !found.is_empty();
        let text = if is_read { cache.workspace.read_text(&file.path).ok() } else { None };
        let class = PathClass::from_path(&file.path, file.file_type.role, false);
        for symbol in found {
            let definition = text.as_ref().and_then(|(of, text)| {
                // The file may have been edited since its outline was derived; the spans would then select other text.
                let is_same = cache.workspace.hidden.file_hash(&file.path, *of) == file.hash;
                is_same.then(|| text.get(symbol.span.start_byte..symbol.span.end_byte)).flatten()
            });
            let definition = definition.map(str::to_owned);
            let rank = rank(class, symbol.kind);
            answers
                .push((rank, SymbolAnswer { path: file.path.clone(), hash: file.hash, symbol, definition }));
        }
    }
    // Outlines from the store come before newly derived ones, so they are not sorted by path.
    answers.sort_by(|(rank, a), (other, b)| {
        let place = |answer: &SymbolAnswer| answer.symbol.span.start_byte;
        rank.cmp(other).then_with(|| a.path.cmp(&b.path)).then(place(a).cmp(&place(b)))
    });
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

/// Returns the sort key of symbols with the same name.
fn rank(class: PathClass, kind: SymbolKind) -> (bool, u8, bool) {
    let class = match class {
        PathClass::Source => 0,
        PathClass::Peripheral => 1,
        PathClass::Test => 2,
        PathClass::Vendored | PathClass::Amalgamation => 3,
        PathClass::NotCode | PathClass::Generated => 4,
    };
    (!is_code(kind), class, kind == SymbolKind::Prototype)
}

/// Returns whether a symbol is part of a program, as opposed to prose, settings or a page.
const fn is_code(kind: SymbolKind) -> bool {
    !matches!(
        kind,
        SymbolKind::Heading
            | SymbolKind::Key
            | SymbolKind::Selector
            | SymbolKind::Element
            | SymbolKind::Stage
            | SymbolKind::Cell
    )
}

/// The names most similar to one that no symbol has.
pub(in crate::engine) struct NearestNames<'w> {
    wanted: &'w str,
    /// Each with its edit distance; names of code come before others.
    near: BTreeSet<(usize, Reverse<bool>, String)>,
}

impl<'w> NearestNames<'w> {
    pub(in crate::engine) const fn new(wanted: &'w str) -> Self {
        Self { wanted, near: BTreeSet::new() }
    }

    pub(in crate::engine) fn offer(&mut self, name: &str, is_code: bool) {
        let Some(edits) = typo_distance(self.wanted, name) else { return };
        self.near.insert((edits, Reverse(is_code), name.to_owned()));
        if MAX_NEAREST < self.near.len() {
            self.near.pop_last();
        }
    }

    pub(in crate::engine) fn into_quoted(self) -> Vec<String> {
        let mut names: Vec<String> = self.near.into_iter().map(|(.., name)| format!("`{name}`")).collect();
        names.dedup();
        names
    }
}

/// Notes the names that are most similar to missing ones.
pub(in crate::engine) fn suggest_names(
    cache: &mut ArtifactCache<'_>,
    wanted: &[&str],
    trust: Trust,
) -> Result<(), Error> {
    let mut near: Vec<NearestNames<'_>> = wanted.iter().map(|name| NearestNames::new(name)).collect();
    for file in outlines_that_mention(cache, "", trust)? {
        file.outline.walk(|symbol, _| {
            for near in &mut near {
                near.offer(&symbol.name, is_code(symbol.kind));
            }
        });
    }
    let mut names: Vec<String> = Vec::new();
    for name in near.into_iter().flat_map(NearestNames::into_quoted) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if !names.is_empty() {
        cache.workspace.note(format!("nearest names: {}", names.join(", ")));
    }
    Ok(())
}

/// Returns the outlines that contain the bytes of `literal`; all of them if it is empty.
fn outlines_that_mention(
    cache: &mut ArtifactCache<'_>,
    literal: &str,
    trust: Trust,
) -> Result<Vec<FileOutline>, Error> {
    let mut files = select_visible(cache, trust)?.files;
    let by = outline_producers();
    let (mut searched, mut mentioning) = (HashSet::new(), HashMap::new());
    cache.query_store(|store| {
        store.search_outlines(literal, &by, &mut |found| {
            let key = (found.hash, found.producer.language);
            searched.insert(key);
            mentioning.extend(found.outline.map(|outline| (key, outline)));
        })
    });
    let mut mentions = Vec::new();
    files.retain(|file| {
        let Some(subject) = ContentRef::from_file(file) else { return false };
        let key = (subject.hash, subject.file_type.id);
        mentions.extend(mentioning.get(&key).map(|outline| FileOutline {
            path: file.path.clone(),
            hash: subject.hash,
            file_type: subject.file_type,
            outline: outline.clone(),
        }));
        !searched.contains(&key)
    });
    // Outlines that are missing or damaged in the store are checked individually.
    let others = outlines_of(cache, &files);
    cache.workspace.check_cancelled()?;
    mentions.extend(others.into_iter().map(FileOutline::from));
    Ok(mentions)
}

/// Returns a symbol's name with dots between its parts, for the notations of all languages and stack traces:
/// `Engine.run` for `Engine::run` and for `(*Engine).run`.
pub(in crate::engine) fn dotted_spelling(name: &str) -> String {
    let pointer = name.split_once("(*").and_then(|(before, rest)| Some((before, rest.split_once(").")?)));
    match pointer {
        Some((before, (receiver, method))) => with_dots(&format!("{before}{receiver}.{method}")).into_owned(),
        None => with_dots(name).into_owned(),
    }
}

/// Returns a name with its parts joined by dots.
pub(in crate::engine) fn with_dots(name: &str) -> Cow<'_, str> {
    if name.contains("::") { name.replace("::", ".").into() } else { name.into() }
}

/// A name to compare symbols with. Its parts are joined by dots.
struct NamePattern {
    name: String,
    ignores_case: bool,
}

impl NamePattern {
    fn new(name: &str, ignores_case: bool) -> Self {
        let name = dotted_spelling(name);
        let name = if ignores_case { name.to_lowercase() } else { name };
        Self { name, ignores_case }
    }

    fn is_glob(&self) -> bool {
        // C++ has operators with these characters.
        self.name.contains(['*', '?']) && !self.name.contains("operator")
    }

    /// Returns the last part of the name.
    fn last_part(&self) -> &str {
        let own = self.name.rsplit(['.', ':']).next().unwrap_or(&self.name);
        // `Frame#read` is a Ruby method; `#read` is a private field in JavaScript.
        own.rsplit_once('#').filter(|(owner, _)| !owner.is_empty()).map_or(own, |(_, own)| own)
    }

    /// Returns the part by which symbols of exactly this name are indexed; `None` if other names match too.
    fn indexed_part(&self) -> Option<&str> {
        if self.ignores_case || self.is_glob() { None } else { last_name_part(&self.name) }
    }

    /// Returns bytes that occur in every outline with such a symbol. They are from the last part, because separators in
    /// qualified names depend on the language.
    fn literal(&self) -> &str {
        if self.ignores_case {
            return "";
        }
        let own = self.last_part();
        if !self.is_glob() {
            return own;
        }
        own.split(['*', '?']).max_by_key(|piece| piece.len()).unwrap_or_default()
    }

    fn matches(&self, symbol: &Symbol, path: &RelPath) -> bool {
        if !self.ignores_case {
            return self.matches_names(&symbol.name, &symbol.qualified_name, path);
        }
        self.matches_names(&symbol.name.to_lowercase(), &symbol.qualified_name.to_lowercase(), path)
    }

    fn matches_names(&self, name: &str, qualified: &str, path: &RelPath) -> bool {
        let wanted = self.name.as_str();
        let (name, qualified) = (&*with_dots(name), &*with_dots(qualified));
        if name == wanted || qualified == wanted {
            return true;
        }
        if self.is_glob() {
            // Only whole parts match: the pattern must match from the beginning of a part.
            let starts = qualified.match_indices(SEPARATORS).map(|(at, separator)| at + separator.len());
            return matches_wildcards(wanted, name)
                || std::iter::once(0)
                    .chain(starts)
                    .any(|start| matches_wildcards(wanted, &qualified[start..]));
        }
        // `Engine.rerun` ends with `run`, but does not have that name. PHP joins names with `\`.
        let rest = qualified.strip_suffix(wanted);
        rest.is_some_and(|rest| rest.ends_with(['.', '\\'])) || self.matches_module(qualified, path)
    }

    /// Returns whether the name is that of a symbol qualified by its module or package, as in imports and stack traces:
    /// `flask.app.Flask`, `flask.Flask`, `com.acme.Engine.run`, and `net::dial` after `crate`.
    fn matches_module(&self, qualified: &str, path: &RelPath) -> bool {
        let parts = |text: &str| -> Vec<String> {
            text.split(SEPARATORS).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        let (wanted, own) = (parts(&self.name), parts(qualified));
        let Some(module) = wanted.strip_suffix(own.as_slice()).filter(|module| !module.is_empty()) else {
            return false;
        };
        let module = if module[0] == "crate" { &module[1..] } else { module };
        let path = path.to_string();
        let path = if self.ignores_case { path.to_lowercase() } else { path };
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", &path));
        let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
        let folders: Vec<String> = parts(folder);
        let with_file: Vec<String> = folders.iter().cloned().chain([stem.to_owned()]).collect();
        with_file.ends_with(module) || folders.ends_with(module)
    }
}

/// Returns whether a text matches a pattern, in which `*` matches any characters and `?` one.
fn matches_wildcards(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut place) = (0, 0);
    // The position of the last `*`, and how much of the text it has matched so far.
    let mut star: Option<(usize, usize)> = None;
    while place < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(c) if *c == '?' || *c == text[place] => {
                at += 1;
                place += 1;
            }
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                at = star_at + 1;
                place = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, ignores_case: bool, expected: bool) {
        let pattern = NamePattern::new(name, ignores_case);
        let symbol = Symbol {
            kind: SymbolKind::Method,
            name: "run".to_owned(),
            qualified_name: "core.Engine.run".to_owned(),
            span: crate::model::Span { start_byte: 0, end_byte: 0, start_line: 1, end_line: 1 },
            signature: String::new(),
            doc: None,
            recovered: false,
            children: Vec::new(),
        };
        let path = RelPath::new(b"src/power/engine.py").unwrap();
        assert_eq!(pattern.matches(&symbol, &path), expected, "{name}");
    }

    #[test]
    fn a_name_selects_a_symbol_by_the_end_of_its_qualified_name() {
        for name in [
            "run", "Engine.run", "core.Engine.run", "core::Engine::run", "(*Engine).run",
            "core.(*Engine).run",
        ] {
            check(name, false, true);
        }
        for name in ["un", "gine.run", "Engine", "x.run", "RUN"] {
            check(name, false, false);
        }
        check("RUN", true, true);
        check("engine.Run", true, true);
    }

    #[test]
    fn a_name_may_be_qualified_by_its_module() {
        check("power.engine.core.Engine.run", false, true);
        check("engine.core.Engine.run", false, true);
        check("power.core.Engine.run", false, true);
        check("crate::power::engine::core::Engine::run", false, true);
        check("crate.core.Engine.run", false, true);
        check("other.core.Engine.run", false, false);
        check("src.core.Engine.run", false, false);
        check("engine.run", false, false);
    }

    #[test]
    fn a_pattern_matches_names_and_ends_of_qualified_names() {
        for name in ["r*", "?un", "Engine.*", "core.*.run", "*"] {
            check(name, false, true);
        }
        for name in ["r*x", "gine.*", "??"] {
            check(name, false, false);
        }
    }
}
