//! Where a name is defined, and how.

use std::collections::HashMap;
use std::collections::HashSet;

use super::outlines::outlines_of;
use crate::engine::artifacts::{ArtifactCache, ContentRef, outline_producers};
use crate::engine::error::Error;
use crate::engine::index::{Trust, select_named};
use crate::model::ContentHash;
use crate::model::Outline;
use crate::model::RelPath;
use crate::model::Symbol;

/// A symbol that bears the name that was asked for.
#[derive(Debug, Clone)]
pub struct SymbolAnswer {
    /// The file that it stands in.
    pub path: RelPath,
    /// That file's content.
    pub hash: ContentHash,
    /// The symbol.
    pub symbol: Symbol,
    /// Its text; `None` where it was not asked for.
    pub definition: Option<String>,
}

/// Returns the symbols of that name, by path and line: of its own name, its qualified name, or the end of that.
/// With `with_text` each brings its text.
pub(in crate::engine) fn symbols(
    cache: &mut ArtifactCache<'_>,
    name: &str,
    with_text: bool,
    trust: Trust,
) -> Result<Vec<SymbolAnswer>, Error> {
    let mut answers = Vec::new();
    for (path, hash, outline) in outlines_that_mention(cache, name, trust)? {
        let mut found = Vec::new();
        outline.walk(|symbol, _| found.extend(matches_name(symbol, name).then(|| symbol.clone())));
        let text = if with_text && !found.is_empty() { cache.workspace.read_text(&path).ok() } else { None };
        for symbol in found {
            let definition = text.as_ref().and_then(|(of, text)| {
                let is_same = *of == hash;
                is_same.then(|| text.get(symbol.span.start_byte..symbol.span.end_byte)).flatten()
            });
            let definition = definition.map(str::to_owned);
            answers.push(SymbolAnswer { path: path.clone(), hash, symbol, definition });
        }
    }
    answers.sort_by(|a, b| a.path.cmp(&b.path).then(a.symbol.span.start_byte.cmp(&b.symbol.span.start_byte)));
    Ok(answers)
}

fn outlines_that_mention(
    cache: &mut ArtifactCache<'_>,
    name: &str,
    trust: Trust,
) -> Result<Vec<(RelPath, ContentHash, Outline)>, Error> {
    let mut files = select_named(cache, &[], trust, &|_| false)?.files;
    let own = name.rsplit(['.', ':']).next().unwrap_or(name);
    // A method of Ruby is `Frame#read`; a private field of JavaScript is `#read`.
    let own = own.rsplit_once('#').filter(|(owner, _)| !owner.is_empty()).map_or(own, |(_, own)| own);
    let by = outline_producers();
    let (mut searched, mut speaking) = (HashSet::new(), HashMap::new());
    cache.query_store(|store| {
        store.search_outlines(own, &by, &mut |found| {
            let key = (found.hash, found.producer.language);
            searched.insert(key);
            speaking.extend(found.outline.map(|outline| (key, outline)));
        })
    });
    let mut mentions = Vec::new();
    files.retain(|file| {
        let Some(subject) = ContentRef::from_file(file) else { return false };
        let key = (subject.hash, subject.file_type.id);
        let outline = speaking.get(&key).cloned();
        mentions.extend(outline.map(|outline| (file.path.clone(), subject.hash, outline)));
        !searched.contains(&key)
    });
    // What the store does not hold, or cannot vouch for, is looked at one by one.
    let others = outlines_of(cache, &files);
    cache.workspace.check_cancelled()?;
    mentions.extend(others.into_iter().map(|answer| (answer.path, answer.hash, answer.outline)));
    Ok(mentions)
}

/// Says whether a symbol is meant by a name.
fn matches_name(symbol: &Symbol, name: &str) -> bool {
    if symbol.name == name || symbol.qualified_name == name {
        return true;
    }
    let rest = symbol.qualified_name.strip_suffix(name);
    rest.is_some_and(|rest| rest.ends_with(['.', '\\']) || rest.ends_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Span;
    use crate::model::SymbolKind;

    #[test]
    fn a_name_means_a_symbol_by_the_end_of_its_qualified_name() {
        let symbol = Symbol {
            kind: SymbolKind::Method,
            name: "run".to_owned(),
            qualified_name: "core.Engine.run".to_owned(),
            span: Span { start_byte: 0, end_byte: 0, start_line: 1, end_line: 1 },
            signature: String::new(),
            doc: None,
            recovered: false,
            children: Vec::new(),
        };
        for name in ["run", "Engine.run", "core.Engine.run"] {
            assert!(matches_name(&symbol, name), "{name}");
        }
        for name in ["un", "gine.run", "Engine", "x.run"] {
            assert!(!matches_name(&symbol, name), "{name}");
        }
    }
}
