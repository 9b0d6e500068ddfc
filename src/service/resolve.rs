//! What is asked in words becomes a request in which nothing is left open.

use std::path::Path;

use super::document;
use crate::api::Ask;
use crate::api::CacheClearAsk;
use crate::api::CacheRequest;
use crate::api::Fault;
use crate::api::LineRange;
use crate::api::ModeName;
use crate::api::Request;
use crate::api::Trust;
use crate::api::ViewAsk;
use crate::api::ViewRequest;
use crate::config::Loaded;
use crate::model::Artifact;
use crate::model::MaskMode;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// Whoever sits at the command line, and may name every file that the machine lets them read.
    Person,
    /// A program on a socket or a pipe: what it names must lie in the project.
    Client,
}

/// Returns the request that an ask means in the project in the folder `root`.
pub fn resolve(ask: Ask, loaded: &Loaded, root: &Path, asker: Asker) -> Result<Request, Fault> {
    Ok(match ask {
        Ask::Index(ask) => Request::Index { trust: trust(ask.verify) },
        Ask::Files => Request::Status,
        Ask::Outline(ask) => Request::Outline { files: ask.files, trust: trust(ask.verify) },
        Ask::View(ask) => Request::View(view(ask, loaded)?),
        Ask::Symbols(ask) => {
            Request::Symbol { name: ask.name, with_text: ask.definition, trust: Trust::Stamps }
        }
        Ask::Aggregate(ask) => document::aggregate(*ask, loaded, root, asker)?,
        Ask::Explain(ask) => document::explain(*ask, loaded, asker)?,
        Ask::CacheStatus => Request::Cache(CacheRequest::Status),
        Ask::CacheClear(ask) => Request::Cache(clear(ask)?),
        Ask::CacheVerify => Request::Cache(CacheRequest::Verify),
        Ask::CacheCollect(ask) => Request::Cache(CacheRequest::Collect { days: ask.days }),
        Ask::Audit => Request::Audit,
    })
}

const fn trust(verify: bool) -> Trust {
    if verify { Trust::Nothing } else { Trust::Stamps }
}

fn view(ask: ViewAsk, loaded: &Loaded) -> Result<ViewRequest, Fault> {
    let mode = mode(&ask)?;
    if ask.files.is_empty() {
        return Err(bad_ask("view no file", "give at least one file, folder or pattern"));
    }
    if let Some(range) = ask.lines.iter().find(|range| range.start < 1 || range.end < range.start) {
        let message = format!("show the lines {}-{}", range.start, range.end);
        return Err(bad_ask(&message, "count lines from 1, the last one included, as in 10-25"));
    }
    let mask: Vec<(String, MaskMode)> =
        ask.mask.into_iter().map(|entry| (entry.symbol, entry.show.into())).collect();
    if mask.iter().any(|(symbol, _)| symbol.trim().is_empty()) {
        return Err(bad_ask(
            "show a symbol without a name",
            "`slop outline` lists the symbols of every file",
        ));
    }
    Ok(ViewRequest {
        files: ask.files,
        mode: mode.map(Into::into),
        mask,
        lines: ask.lines.iter().map(|LineRange { start, end }| (*start, *end)).collect(),
        against: ask.against,
        items: loaded.curation.files.clone(),
        trust: trust(ask.verify),
    })
}

/// Returns the mode that is asked for, in words or by what the rest of the ask is for.
fn mode(ask: &ViewAsk) -> Result<Option<ModeName>, Fault> {
    let given = [
        (!ask.mask.is_empty(), ModeName::Masked),
        (!ask.lines.is_empty(), ModeName::Custom),
        (ask.against.is_some(), ModeName::Diff),
    ];
    let mut implied = given.iter().filter(|(is_given, _)| *is_given).map(|(_, mode)| *mode);
    let (Some(first), another) = (implied.next(), implied.next()) else { return Ok(ask.mode) };
    if another.is_some() || ask.mode.is_some_and(|mode| mode != first) {
        let hint = "a mask is for the mode masked, lines for custom, against for diff";
        return Err(bad_ask("show a file in several modes at once", hint));
    }
    Ok(Some(first))
}

fn clear(ask: CacheClearAsk) -> Result<CacheRequest, Fault> {
    let mut kinds = Vec::new();
    if ask.summaries {
        kinds.push(Artifact::Summary);
    }
    if ask.structure {
        kinds.extend([Artifact::Outline, Artifact::Skeleton, Artifact::References]);
    }
    let with_agent = ask.agent;
    let is_whole = kinds.is_empty() && !with_agent;
    if ask.all && !(is_whole && ask.files.is_empty()) {
        return Err(bad_ask("clear everything and a part of it", "say one of both"));
    }
    match (ask.files.is_empty(), kinds.is_empty()) {
        (true, _) if is_whole => Ok(CacheRequest::Clear { with_agent: ask.all }),
        (true, _) => Ok(CacheRequest::ClearArtifacts { kinds, with_agent }),
        (false, true) => Ok(CacheRequest::ClearFiles { words: ask.files, agent_alone: with_agent }),
        (false, false) => {
            let hint = "clear files, or kinds of what is derived, one after the other";
            Err(bad_ask("clear some kinds of what is known of some files", hint))
        }
    }
}

fn bad_ask(message: &str, hint: &'static str) -> Fault {
    Fault::user("bad_ask", message.to_owned(), hint)
}
