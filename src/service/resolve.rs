//! What is asked in words becomes a request in which nothing is left open.

use std::path::Path;

use super::document;
use crate::api::AnyQuery;
use crate::api::ApiError;
use crate::api::CacheClearAsk;
use crate::api::CacheOperation;
use crate::api::LineRange;
use crate::api::ModeName;
use crate::api::ResolvedQuery;
use crate::api::Trust;
use crate::api::ViewAsk;
use crate::api::ViewRequest;
use crate::config::LoadedConfig;
use crate::model::ArtifactKind;
use crate::model::MaskMode;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryOrigin {
    /// Whoever sits at the command line, and may name every file that the machine lets them read.
    Person,
    /// A program on a socket or a pipe: what it names must lie in the project.
    Client,
}

/// Returns the request that an ask means in the project in the folder `root`.
pub fn resolve(
    ask: AnyQuery,
    loaded: &LoadedConfig,
    root: &Path,
    asker: QueryOrigin,
) -> Result<ResolvedQuery, ApiError> {
    Ok(match ask {
        AnyQuery::Index(ask) => ResolvedQuery::Index { trust: trust_for(ask.verify) },
        AnyQuery::Files => ResolvedQuery::Status,
        AnyQuery::Outline(ask) => ResolvedQuery::Outline { files: ask.files, trust: trust_for(ask.verify) },
        AnyQuery::View(ask) => ResolvedQuery::View(view_request(ask, loaded)?),
        AnyQuery::Symbols(ask) => {
            ResolvedQuery::Symbol { name: ask.name, with_text: ask.definition, trust: Trust::Stamps }
        }
        AnyQuery::Aggregate(ask) => document::resolve_aggregate(*ask, loaded, root, asker)?,
        AnyQuery::Explain(ask) => document::resolve_explain(*ask, loaded, asker)?,
        AnyQuery::CacheStatus => ResolvedQuery::Cache(CacheOperation::Status),
        AnyQuery::CacheClear(ask) => ResolvedQuery::Cache(clear_operation(ask)?),
        AnyQuery::CacheVerify => ResolvedQuery::Cache(CacheOperation::Verify),
        AnyQuery::CacheCollect(ask) => ResolvedQuery::Cache(CacheOperation::Collect { days: ask.days }),
        AnyQuery::Audit => ResolvedQuery::Audit,
    })
}

const fn trust_for(verify: bool) -> Trust {
    if verify { Trust::Nothing } else { Trust::Stamps }
}

fn view_request(ask: ViewAsk, loaded: &LoadedConfig) -> Result<ViewRequest, ApiError> {
    let mode = requested_mode(&ask)?;
    if ask.files.is_empty() {
        return Err(bad_query("view no file", "give at least one file, folder or pattern"));
    }
    if let Some(range) = ask.lines.iter().find(|range| range.start < 1 || range.end < range.start) {
        let message = format!("show the lines {}-{}", range.start, range.end);
        return Err(bad_query(&message, "count lines from 1, the last one included, as in 10-25"));
    }
    let mask: Vec<(String, MaskMode)> =
        ask.mask.into_iter().map(|entry| (entry.symbol, entry.show.into())).collect();
    if mask.iter().any(|(symbol, _)| symbol.trim().is_empty()) {
        return Err(bad_query(
            "show a symbol without a name",
            "`slop outline` lists the symbols of every file",
        ));
    }
    Ok(ViewRequest {
        files: ask.files,
        mode: mode.map(Into::into),
        mask,
        lines: ask.lines.iter().map(|LineRange { start, end }| (*start, *end)).collect(),
        base: ask.against,
        items: loaded.curation.files.clone(),
        trust: trust_for(ask.verify),
    })
}

/// Returns the mode that is asked for, in words or by what the rest of the ask is for.
fn requested_mode(ask: &ViewAsk) -> Result<Option<ModeName>, ApiError> {
    let given = [
        (!ask.mask.is_empty(), ModeName::Masked),
        (!ask.lines.is_empty(), ModeName::Custom),
        (ask.against.is_some(), ModeName::Diff),
    ];
    let mut implied = given.iter().filter(|(is_given, _)| *is_given).map(|(_, mode)| *mode);
    let (Some(first), another) = (implied.next(), implied.next()) else { return Ok(ask.mode) };
    if another.is_some() || ask.mode.is_some_and(|mode| mode != first) {
        let hint = "a mask is for the mode masked, lines for custom, against for diff";
        return Err(bad_query("show a file in several modes at once", hint));
    }
    Ok(Some(first))
}

fn clear_operation(ask: CacheClearAsk) -> Result<CacheOperation, ApiError> {
    let mut kinds = Vec::new();
    if ask.summaries {
        kinds.push(ArtifactKind::Summary);
    }
    if ask.structure {
        kinds.extend([ArtifactKind::Outline, ArtifactKind::Skeleton, ArtifactKind::References]);
    }
    let with_agent = ask.agent;
    let is_whole = kinds.is_empty() && !with_agent;
    if ask.all && !(is_whole && ask.files.is_empty()) {
        return Err(bad_query("clear everything and a part of it", "say one of both"));
    }
    match (ask.files.is_empty(), kinds.is_empty()) {
        (true, _) if is_whole => Ok(CacheOperation::Clear { with_agent: ask.all }),
        (true, _) => Ok(CacheOperation::ClearArtifacts { kinds, with_agent }),
        (false, true) => Ok(CacheOperation::ClearFiles { words: ask.files, agent_alone: with_agent }),
        (false, false) => {
            let hint = "clear files, or kinds of what is derived, one after the other";
            Err(bad_query("clear some kinds of what is known of some files", hint))
        }
    }
}

fn bad_query(message: &str, hint: &'static str) -> ApiError {
    ApiError::user("bad_ask", message.to_owned(), hint)
}
