//! Resolves questions with the settings, and answers them from the project's files.
//!
//! Resolving a question applies the settings to what it leaves open and rejects invalid combinations, before any file
//! is read.

use std::ops::ControlFlow;

use super::curation::{match_symbols, resolve_curation};
use super::curation_edit::resolve_edit;
use super::document::{resolve_compose, resolve_document, resolve_explain};
use super::history::{resolve_history, resolve_jump, resolve_redo, resolve_undo};
use super::hydration::{resolve_edit_fragments, resolve_fragments, resolve_hydrate, resolve_simulate};
use super::links::resolve_links;
use super::opened::{resolve_compare, resolve_given, resolve_open, resolve_read};
use super::resolved::{AnswerWithMissing, QuerySettings, ResolvedQuery, bad_query, complete, complete_local};
use super::table::resolve_table;
use super::takes::{resolve_edit_takes, resolve_takes};
use crate::api::{
    AllReferencesQuery, AnyQuery, ApiError, AuditQuery, CacheClearQuery, CacheExport, CacheExportQuery,
    CacheGcQuery, CacheStatusQuery, CacheVerifyQuery, CallDirectionName, CallsQuery, ExplainQuery,
    FileStates, FilesQuery, FindQuery, ImageContent, ImageQuery, ImpactQuery, IndexQuery, IndexRun,
    LineRange, LocalQuery, MakeSliceQuery, MatchSymbolsQuery, MissingPath, ModeName, NamedThing,
    OutlineQuery, RefsQuery, ResolveSlicesQuery, SearchQuery, SourceTextsQuery, SymbolsQuery, ViewQuery,
};
use crate::config::LoadedConfig;
use crate::engine::{
    CallDirection, CallRequest, Code, Error, FindRequest, HitKind, ImpactRequest, SearchRequest,
    SymbolRequest, Trust, ViewRequest,
};
use crate::model::{
    ArtifactKind, DocsDetail, MaskMode, Slice, SymbolKind, printable, suggest_known_name, unescaped_path,
};

/// Resolves a question with the settings, and rejects what can be rejected without reading a file.
pub fn resolve(query: AnyQuery, settings: QuerySettings<'_>) -> Result<ResolvedQuery, ApiError> {
    // Settings are applied here and not in the closures: an error in the question is reported before the project is
    // opened.
    Ok(match query {
        AnyQuery::Index(query) => complete::<IndexQuery>(move |project| {
            Ok(IndexRun::from(&project.index(trust_for(query.verify))?))
        }),
        AnyQuery::Files(_) => {
            let problems = settings.loaded.settings_problems();
            complete::<FilesQuery>(|project| {
                Ok(FileStates { files: convert_all(project.status()?), problems })
            })
        }
        AnyQuery::Links(_) => resolve_links(settings),
        AnyQuery::Outline(query) => resolve_outline(query),
        AnyQuery::View(query) => resolve_view(query, settings.loaded)?,
        AnyQuery::Image(query) => complete::<ImageQuery>(move |project| {
            Ok(ImageContent::new(query.path.clone(), project.image(&query.path)?))
        })
        .without_cache(),
        AnyQuery::Symbols(query) => {
            let request = symbol_request(query)?;
            complete::<SymbolsQuery>(move |project| {
                Ok(convert_all(project.symbols(&request, Trust::Stamps)?))
            })
        }
        AnyQuery::Search(query) => resolve_search(query)?,
        AnyQuery::Find(query) => resolve_find(query)?,
        AnyQuery::Refs(query) => complete::<RefsQuery>(move |project| {
            Ok(match &query.symbol {
                Some(symbol) => project.uses(symbol)?.into(),
                None => project.reference_graph()?.into(),
            })
        }),
        AnyQuery::Calls(query) => resolve_calls(query)?,
        AnyQuery::Impact(query) => resolve_impact(query)?,
        AnyQuery::Aggregate(query) => resolve_document(*query, settings)?,
        AnyQuery::OpenDocument(query) => resolve_open(query.0, settings)?,
        AnyQuery::ReadDocument(query) => resolve_read(query, settings)?,
        AnyQuery::CompareDocuments(query) => resolve_compare(query),
        AnyQuery::Given(query) => resolve_given(query)?,
        AnyQuery::Hydrate(query) => resolve_hydrate(*query, settings)?,
        AnyQuery::Simulate(query) => resolve_simulate(*query, settings)?,
        AnyQuery::Fragments(query) => resolve_fragments(query, settings)?,
        AnyQuery::EditFragments(query) => resolve_edit_fragments(query, settings)?,
        AnyQuery::Explain(query) => {
            let request = resolve_explain(&query, settings)?;
            complete::<ExplainQuery>(move |project| Ok(convert_all(project.explain(&query.file, &request)?)))
        }
        AnyQuery::Table(query) => resolve_table(*query, settings)?,
        AnyQuery::Curation(_) => resolve_curation(settings),
        AnyQuery::EditCuration(query) => resolve_edit(query, settings)?,
        AnyQuery::History(query) => resolve_history(query, settings),
        AnyQuery::Undo(query) => resolve_undo(query, settings),
        AnyQuery::Redo(query) => resolve_redo(query, settings),
        AnyQuery::Jump(query) => resolve_jump(query, settings),
        AnyQuery::Takes(_) => resolve_takes(settings),
        AnyQuery::EditTakes(query) => resolve_edit_takes(query, settings)?,
        AnyQuery::CacheStatus(_) => {
            complete::<CacheStatusQuery>(|project| Ok(project.cache_status()?.into()))
        }
        AnyQuery::CacheClear(query) => resolve_cache_clear(query)?,
        AnyQuery::CacheExport(query) => resolve_cache_export(query)?,
        AnyQuery::CacheVerify(_) => {
            complete::<CacheVerifyQuery>(|project| Ok(project.verify_cache()?.into()))
        }
        AnyQuery::CacheGc(query) => {
            complete::<CacheGcQuery>(move |project| Ok(project.collect_garbage(query.days)?.into()))
        }
        AnyQuery::Audit(_) => complete::<AuditQuery>(|project| Ok(project.audit()?.into())),
        AnyQuery::Local(query) => resolve_local(query, settings)?,
    })
}

fn resolve_local(query: LocalQuery, settings: QuerySettings<'_>) -> Result<ResolvedQuery, ApiError> {
    Ok(match query {
        LocalQuery::MakeSlice(query) => complete_local::<MakeSliceQuery>(move |project| {
            let MakeSliceQuery { file, start_line, end_line, tag, comment } = query;
            let slice = project.make_slice(&file, start_line, end_line)?;
            Ok(Slice { tag, comment, ..slice })
        })
        .without_cache(),
        LocalQuery::ResolveSlices(ResolveSlicesQuery { file, slices }) => {
            complete_local::<ResolveSlicesQuery>(move |project| Ok(project.resolve_slices(&file, &slices)?))
                .without_cache()
        }
        LocalQuery::MatchSymbols(query) => {
            complete_local::<MatchSymbolsQuery>(move |project| match_symbols(project, query))
        }
        LocalQuery::SourceTexts(SourceTextsQuery { files, outlines }) => {
            complete_local::<SourceTextsQuery>(move |project| Ok(project.source_texts(&files, outlines)?))
        }
        LocalQuery::AllReferences(_) => {
            complete_local::<AllReferencesQuery>(|project| Ok(project.reference_graph()?))
        }
        LocalQuery::Compose(query) => resolve_compose(query.0, settings)?,
        // The service that opened the project writes the document that this resolves to.
        LocalQuery::WriteDocument(query) => resolve_document(query.document, settings)?,
    })
}

/// The most hits of a search without a limit of its own.
const DEFAULT_HITS: u32 = 20;
/// The most hits that may be asked for.
const MAX_HITS: u32 = 1000;

/// Returns the kind of hits with this name.
fn hit_kind(name: &str) -> Result<HitKind, ApiError> {
    if name == "file" {
        return Ok(HitKind::File);
    }
    SymbolKind::from_name(name).map(HitKind::Symbol).ok_or_else(|| {
        let hint =
            "`file`, or a kind of symbol as `slop outline --json` writes it, such as function or class";
        let known = SymbolKind::ALL.into_iter().map(SymbolKind::name).chain(["file"]);
        let near = suggest_known_name(name, known);
        bad_query(&format!("no kind of hit is named `{}`{near}", printable(name)), hint)
    })
}

fn symbol_request(query: SymbolsQuery) -> Result<SymbolRequest, ApiError> {
    let kind = query.kind.as_deref().map(|name| {
        SymbolKind::from_name(name).ok_or_else(|| {
            let near = suggest_known_name(name, SymbolKind::ALL.into_iter().map(SymbolKind::name));
            let hint = "a kind of symbol as `slop outline --json` writes it, such as function or class";
            bad_query(&format!("no kind of symbol is named `{}`{near}", printable(name)), hint)
        })
    });
    Ok(SymbolRequest {
        name: query.name,
        ignores_case: query.ignore_case,
        kind: kind.transpose()?,
        with_text: query.definition,
    })
}

fn resolve_search(query: SearchQuery) -> Result<ResolvedQuery, ApiError> {
    let limit = checked_limit(query.limit)?;
    let kind = query.kind.as_deref().map(hit_kind).transpose()?;
    let request = SearchRequest { text: query.query, limit, kind };
    Ok(complete::<SearchQuery>(move |project| Ok(project.search(&request, Trust::Stamps)?.into())))
}

fn resolve_find(query: FindQuery) -> Result<ResolvedQuery, ApiError> {
    let FindQuery { query, of, limit } = query;
    let is_meant = |thing| of.is_empty() || of.contains(&thing);
    let (files, symbols) = (is_meant(NamedThing::File), is_meant(NamedThing::Symbol));
    let request = FindRequest { query, files, symbols, limit: checked_limit(limit)? };
    Ok(complete::<FindQuery>(move |project| Ok(project.find_names(&request)?.into())))
}

/// Returns the number of hits that a question asks for.
fn checked_limit(limit: Option<u32>) -> Result<usize, ApiError> {
    let limit = limit.unwrap_or(DEFAULT_HITS);
    if !(1..=MAX_HITS).contains(&limit) {
        return Err(bad_query("number of hits is not between 1 and 1000", "give a limit from 1 to 1000"));
    }
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}

fn resolve_outline(query: OutlineQuery) -> ResolvedQuery {
    ResolvedQuery::new(move |project| {
        let trust = trust_for(query.verify);
        let mut found = for_each_path(&query.files, |files| project.outlines(files, trust))?;
        // Paths that were asked for one by one may select the same files.
        found.answer.sort_by(|a, b| a.path.cmp(&b.path));
        found.answer.dedup_by(|a, b| a.path == b.path);
        Ok(found.into_payload::<OutlineQuery>(convert_all))
    })
}

fn resolve_view(query: ViewQuery, loaded: &LoadedConfig) -> Result<ResolvedQuery, ApiError> {
    let request = view_request(query, loaded)?;
    Ok(ResolvedQuery::new(move |project| {
        let views =
            |files: &[String]| project.views(&ViewRequest { files: files.to_vec(), ..request.clone() });
        Ok(for_each_path(&request.files, views)?.into_payload::<ViewQuery>(convert_all))
    }))
}

/// How far calls and changes are followed where the question leaves that open.
const CALL_DEPTH: u32 = 1;
const IMPACT_DEPTH: u32 = 3;

fn resolve_calls(query: CallsQuery) -> Result<ResolvedQuery, ApiError> {
    let depth = checked_depth(query.depth, CALL_DEPTH)?;
    let direction = match query.direction {
        CallDirectionName::Callers => CallDirection::Callers,
        CallDirectionName::Callees => CallDirection::Callees,
    };
    let request = CallRequest { symbol: query.symbol, direction, depth };
    Ok(complete::<CallsQuery>(move |project| Ok(project.calls(&request)?.into())))
}

fn resolve_impact(query: ImpactQuery) -> Result<ResolvedQuery, ApiError> {
    let ImpactQuery { target, base, depth, tests } = query;
    if target.is_some() == base.is_some() {
        let hint = "give either `target`, a file, a folder or a symbol, or `base`, a revision of git";
        return Err(bad_query("not exactly one change is named", hint));
    }
    // Tests are ranked by distance, so the first of them are useful however many there are.
    let depth = checked_depth(depth, if tests { u32::MAX } else { IMPACT_DEPTH })?;
    let request = ImpactRequest { target, base, depth, only_tests: tests };
    Ok(complete::<ImpactQuery>(move |project| Ok(project.impact(&request)?.into())))
}

fn checked_depth(depth: Option<u32>, default: u32) -> Result<u32, ApiError> {
    match depth {
        Some(0) => Err(bad_query("depth is 0", "give a number of steps from 1")),
        depth => Ok(depth.unwrap_or(default)),
    }
}

fn resolve_cache_clear(query: CacheClearQuery) -> Result<ResolvedQuery, ApiError> {
    let CacheClearQuery { files, summaries, structure, agent, all } = query;
    let mut kinds = Vec::new();
    if summaries {
        kinds.push(ArtifactKind::Summary);
    }
    if structure {
        // The producer of references includes that of the outline, so they are part of the structure, and so are the
        // facts, which are read from the same tree.
        kinds.extend([
            ArtifactKind::Outline,
            ArtifactKind::Skeleton,
            ArtifactKind::References,
            ArtifactKind::Terms,
            ArtifactKind::Facts,
            ArtifactKind::SymbolHashes,
        ]);
    }
    // Without any kind, everything is cleared except summaries by models, which cost money and have to be named.
    let is_whole = kinds.is_empty() && !agent;
    if all && !(is_whole && files.is_empty()) {
        return Err(bad_query(
            "`all` cannot be combined with files or kinds",
            "use `all`, or name files or kinds",
        ));
    }
    if !files.is_empty() && !kinds.is_empty() {
        let hint = "clear files, or kinds of what is derived, one after the other";
        return Err(bad_query("both files and kinds are named", hint));
    }
    Ok(complete::<CacheClearQuery>(move |project| {
        let cleared = if !files.is_empty() {
            project.clear_files(&files, agent)?
        } else if is_whole {
            project.clear_cache(all)?
        } else {
            project.clear_artifacts(&kinds, agent)?
        };
        Ok(cleared.into())
    }))
}

/// The number of files of a page of the export if the question has no limit, and the highest limit that it can have.
const EXPORTED_FILES: u32 = 1_000;
const MAX_EXPORTED_FILES: u32 = 10_000;

fn resolve_cache_export(query: CacheExportQuery) -> Result<ResolvedQuery, ApiError> {
    let CacheExportQuery { files, after, limit } = query;
    let limit = limit.unwrap_or(EXPORTED_FILES);
    if !(1..=MAX_EXPORTED_FILES).contains(&limit) {
        return Err(bad_query("number of files is not between 1 and 10000", "give a limit from 1 to 10000"));
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(ResolvedQuery::new(move |project| {
        // Only with the first page: on the others, what was found before would be missing.
        let missing = if after.is_none() {
            for_each_path(&files, |files| project.require_cached(files).map(|()| Vec::<()>::new()))?.missing
        } else {
            Vec::new()
        };
        // A path that is not UTF-8 is spelled with escapes.
        let after_path = after
            .as_ref()
            .map(|after| unescaped_path(after.as_bytes()).unwrap_or_else(|| after.as_bytes().to_vec()));
        let mut found = Vec::new();
        project.export_cache(&files, after_path.as_deref(), &mut |file| {
            found.push(file);
            if limit < found.len() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let page = AnswerWithMissing { answer: found, missing };
        Ok(page.into_payload::<CacheExportQuery>(|found| CacheExport::page(found, limit)))
    }))
}

/// Answers about several paths, leaving out those without an answer. It is an error if none has one.
fn for_each_path<A>(
    paths: &[String],
    mut answer: impl FnMut(&[String]) -> Result<Vec<A>, Error>,
) -> Result<AnswerWithMissing<Vec<A>>, ApiError> {
    match answer(paths) {
        Ok(answers) => return Ok(AnswerWithMissing::all(answers)),
        Err(error) if paths.len() < 2 || !is_about_path(error.code()) => return Err(error.into()),
        // One path prevents an answer about the others. Answering path by path costs more than answering for all at
        // once, so it is done only now.
        Err(_) => {}
    }
    let (mut found, mut first_error) = (AnswerWithMissing::all(Vec::new()), None);
    let mut is_answered = false;
    for path in paths {
        match answer(std::slice::from_ref(path)) {
            Ok(answers) => {
                is_answered = true;
                found.answer.extend(answers);
            }
            Err(error) if is_about_path(error.code()) => {
                let error = ApiError::from(error);
                let ApiError { code, message, .. } = error.clone();
                found.missing.push(MissingPath { path: path.clone(), code: code.into_owned(), message });
                first_error = first_error.or(Some(error));
            }
            Err(error) => return Err(error.into()),
        }
    }
    // If no path has an answer, the first error is reported for all, as if only that path had been asked for.
    match first_error {
        Some(error) if !is_answered => Err(error),
        _ => Ok(found),
    }
}

/// Returns whether an error concerns a single path, so that the other paths may still have an answer.
const fn is_about_path(code: Code) -> bool {
    // Without a `_` arm, so that a new code cannot become an error about a path by accident.
    match code {
        Code::BadPattern
        | Code::OutsideProject
        | Code::NotFound
        | Code::AmbiguousName
        | Code::Secret
        | Code::NotShown
        | Code::Unreadable
        | Code::NoSuchView
        | Code::NoImage => true,
        Code::ListFailed
        | Code::TooManyFiles
        | Code::StoreTooNew
        | Code::StoreUnusable
        | Code::PaidUnusable
        | Code::UndoUnusable
        | Code::NoSuchSymbol
        | Code::NoSuchSlice
        | Code::NoSuchRevision
        | Code::BadTask
        | Code::NoSuchLines
        | Code::Cancelled
        | Code::NoCache
        | Code::OverBudget
        | Code::PinsOverBudget
        | Code::NotHydrated
        | Code::BadDiscussion
        | Code::HistoryNotFound
        | Code::NothingToSend
        | Code::OutputLink
        | Code::WriteFailed => false,
    }
}

const fn trust_for(verify: bool) -> Trust {
    if verify { Trust::Nothing } else { Trust::Stamps }
}

fn convert_all<T, W: From<T>>(items: Vec<T>) -> Vec<W> {
    items.into_iter().map(Into::into).collect()
}

fn view_request(query: ViewQuery, loaded: &LoadedConfig) -> Result<ViewRequest, ApiError> {
    let mode = requested_mode(&query)?;
    // Unlike for outlines, an empty list does not mean the whole project, whose views would be all of its text.
    if query.files.is_empty() {
        return Err(bad_query("no file is named", "give at least one file, folder or pattern"));
    }
    if let Some(range) = query.lines.iter().find(|range| range.start < 1 || range.end < range.start) {
        let message = format!("{}-{} is not a range of lines", range.start, range.end);
        return Err(bad_query(&message, "count lines from 1, the last one included, as in 10-25"));
    }
    let mask: Vec<(String, MaskMode)> =
        query.mask.into_iter().map(|entry| (entry.symbol, entry.show.into())).collect();
    if mask.iter().any(|(symbol, _)| symbol.trim().is_empty()) {
        return Err(bad_query("symbol name is empty", "`slop outline` lists the symbols of every file"));
    }
    Ok(ViewRequest {
        files: query.files,
        mode: mode.map(Into::into),
        docs: query.docs.map_or(DocsDetail::Full, Into::into),
        mask,
        keeps_hidden: query.keeps_hidden,
        lines: query.lines.iter().map(|LineRange { start, end }| (*start, *end)).collect(),
        base: query.base,
        items: loaded.curation.files.clone(),
        overrides: query.items.into_iter().map(Into::into).collect(),
        trust: trust_for(query.verify),
    })
}

/// Returns the mode that is named, or implied by another field.
fn requested_mode(query: &ViewQuery) -> Result<Option<ModeName>, ApiError> {
    let given = [
        (!query.mask.is_empty(), ModeName::Masked),
        (!query.lines.is_empty(), ModeName::Custom),
        (query.base.is_some(), ModeName::Diff),
    ];
    let mut implied = given.iter().filter(|(is_given, _)| *is_given).map(|(_, mode)| *mode);
    // A mode that contradicts a field is rejected, because one of the two would otherwise be ignored silently.
    let (Some(first), another) = (implied.next(), implied.next()) else { return Ok(query.mode) };
    if another.is_some() || query.mode.is_some_and(|mode| mode != first) {
        let hint = "a mask is for the mode masked, lines for custom, base for diff";
        return Err(bad_query("several modes are requested at once", hint));
    }
    Ok(Some(first))
}
