//! Answers as JSON. Every key here is a promise; [`SCHEMA_VERSION`] is raised when one is broken.

use serde::Serialize;
use serde_json::Value;
use serde_json::json;

use super::extra;
use super::fault::Fault;
use super::response::Aggregated;
use super::response::Response;
use super::slice;
use crate::engine::Explanation;
use crate::engine::Exported;
use crate::engine::FileStatus;
use crate::engine::Freed;
use crate::engine::Freshness;
use crate::engine::IndexReport;
use crate::engine::OutlineAnswer;
use crate::engine::SymbolAnswer;
use crate::engine::UnderLimits;
use crate::engine::ViewAnswer;
use crate::model::Block;
use crate::model::Document;
use crate::model::Health;
use crate::model::Omission;
use crate::model::Receipt;
use crate::model::RelPath;
use crate::model::Symbol;
use crate::render;

/// Version of the JSON that slop speaks.
pub const SCHEMA_VERSION: u32 = 1;

/// Wraps an answer, or a fault, so that a program knows what it got.
pub fn envelope(command: &str, answer: Result<&Response, &Fault>) -> Value {
    match answer {
        Ok(response) => envelope_of(command, &data(response)),
        Err(fault) => envelope_of_error(command, &fault.code, &fault.message, &fault.hint),
    }
}

/// Wraps why there is no answer, whoever found it out.
pub fn envelope_of_error(command: &str, code: &str, message: &str, hint: &str) -> Value {
    json!({
        "schema_version": SCHEMA_VERSION,
        "command": command,
        "error": {"code": code, "message": message, "hint": hint},
    })
}

/// Wraps data that is no project's answer.
pub fn envelope_of(command: &str, data: &Value) -> Value {
    json!({"schema_version": SCHEMA_VERSION, "command": command, "data": data})
}

/// Returns an answer without the envelope, for a command whose answer is itself read again by a program.
pub fn bare(response: &Response) -> String {
    pretty(&data(response))
}

/// Returns an answer that is a list of files as lines of JSON, one a file; nothing for other answers.
pub fn lines(response: &Response, write: &mut dyn FnMut(&str) -> std::io::Result<()>) -> std::io::Result<()> {
    match response {
        Response::Outlines(answers) => {
            answers.iter().try_for_each(|answer| write(&compact(&outline(answer))))
        }
        Response::Exported(rows) => rows.iter().try_for_each(|row| write(&compact(&exported(row)))),
        _ => Ok(()),
    }
}

fn compact(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("values of strings and numbers always become JSON")
}

/// Returns a value as JSON for people and programs alike, with a line's end.
pub(super) fn pretty(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("a value always becomes JSON");
    text.push('\n');
    text
}

fn data(response: &Response) -> Value {
    match response {
        Response::Indexed(report) => index(report),
        Response::Outlines(answers) => answers.iter().map(|answer| json!(outline(answer))).collect(),
        Response::Views(answers) => answers.iter().map(view).collect(),
        Response::Symbols(answers) => answers.iter().map(symbol_answer).collect(),
        Response::Aggregated(aggregated) => self::aggregated(aggregated),
        Response::Planned(planned) => json!({"receipt": receipt(planned)}),
        Response::Explained(explanations) => explanations.iter().map(explanation).collect(),
        Response::Status(files) => status(files),
        Response::CacheStatus(size) => json!({
            "files": size.files,
            "contents": size.contents,
            "idle_contents": size.idle_contents,
            "artifacts": size.artifacts.iter().map(|kind| {
                json!({"artifact": kind.artifact.name(), "rows": kind.rows, "bytes": kind.bytes})
            }).collect::<Value>(),
            "given": {"rows": size.given, "bytes": size.given_bytes},
            "bytes_on_disk": size.bytes_on_disk,
        }),
        Response::Cleared(freed) => cleared(freed),
        Response::Verified(verdict) => json!({
            "rows": verdict.rows,
            "damaged": verdict.damaged,
            "structure": verdict.structure,
        }),
        Response::Exported(rows) => rows.iter().map(exported).collect(),
        Response::Audited(report) => json!({"files": report.files}),
        Response::SliceMade(made) => slice::to_json(made),
        Response::SliceResolved(resolution) => slice::resolution(resolution),
        Response::SlicesResolved(resolutions) => resolutions.iter().map(slice::resolution).collect(),
    }
}

/// A path as text; and as bytes in hex where they are no UTF-8, so that nothing is lost.
fn with_path(path: &RelPath, mut value: Value) -> Value {
    value["path"] = String::from_utf8_lossy(path.as_bytes()).into();
    if path.as_str().is_none() {
        let hex: String = path.as_bytes().iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect();
        value["path_hex"] = hex.into();
    }
    value
}

fn digit(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).unwrap_or('0')
}

fn index(report: &IndexReport) -> Value {
    let left_out: serde_json::Map<_, _> =
        report.left_out.iter().map(|(reason, count)| (reason.name().to_owned(), json!(count))).collect();
    json!({
        "files": report.files,
        "hashed": report.hashed,
        "parsed": report.parsed,
        "reused": report.reused,
        "removed": report.removed,
        "left_out": left_out,
        "bytes": report.bytes,
        "elapsed_ms": u64::try_from(report.elapsed.as_millis()).unwrap_or(u64::MAX),
    })
}

#[derive(Serialize)]
struct OutlineLine<'a> {
    path: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<Value>,
    language: &'static str,
    sha256: String,
    lines: u32,
    health: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fallback: Option<&'static str>,
    symbols: Vec<SymbolNode<'a>>,
}

#[derive(Serialize)]
struct SymbolNode<'a> {
    kind: &'static str,
    name: &'a str,
    qualified_name: &'a str,
    start_line: u32,
    end_line: u32,
    signature: &'a str,
    doc: Option<&'a str>,
    children: Vec<SymbolNode<'a>>,
}

fn outline(answer: &OutlineAnswer) -> OutlineLine<'_> {
    let hex = with_path(&answer.path, json!({})).get("path_hex").cloned();
    let health = answer.outline.health;
    OutlineLine {
        path: String::from_utf8_lossy(answer.path.as_bytes()),
        path_hex: hex,
        language: answer.file_type.id,
        sha256: answer.hash.to_string(),
        lines: answer.lines,
        health: rounded(health),
        fallback: health.fallback.map(crate::model::Fallback::name),
        symbols: answer.outline.symbols.iter().map(node).collect(),
    }
}

fn node(symbol: &Symbol) -> SymbolNode<'_> {
    SymbolNode {
        kind: symbol.kind.name(),
        name: &symbol.name,
        qualified_name: &symbol.qualified_name,
        start_line: symbol.span.start_line,
        end_line: symbol.span.end_line,
        signature: &symbol.signature,
        doc: symbol.doc.as_deref(),
        children: symbol.children.iter().map(node).collect(),
    }
}

/// Six digits tell one broken byte in a megabyte; never rounded up to 1 while something is broken.
fn rounded(health: Health) -> f64 {
    (health.share() * 1_000_000.0).floor() / 1_000_000.0
}

fn view(answer: &ViewAnswer) -> Value {
    let mut value = block(&answer.block);
    value["why"] = json!(answer.why);
    value
}

fn block(block: &Block) -> Value {
    with_path(
        &block.path,
        json!({
            "language": block.file_type.id,
            "view": block.view.name(),
            "sha256": block.content.map(|content| content.to_string()),
            "head": render::head(block),
            "remarks": block.remarks,
            "text": block.body,
        }),
    )
}

fn symbol_answer(answer: &SymbolAnswer) -> Value {
    let mut value = json!(node(&answer.symbol));
    value["sha256"] = answer.hash.to_string().into();
    if let Some(definition) = &answer.definition {
        value["definition"] = definition.as_str().into();
    }
    with_path(&answer.path, value)
}

fn aggregated(aggregated: &Aggregated) -> Value {
    let mut value = match &aggregated.path {
        // It is in the file; there is no need to say it twice.
        Some(path) => json!({"path": path.to_string_lossy()}),
        None => document(&aggregated.document),
    };
    value["receipt"] = receipt(&aggregated.document.receipt);
    value
}

/// Returns a document with its receipt.
pub(super) fn document(document: &Document) -> Value {
    let mut sections = Vec::new();
    if document.part.has_prefix() {
        sections.push(json!({"heading": document.files_heading, "holds": "files"}));
    }
    if let Some(tree) = &document.tree {
        sections.push(json!({"heading": "File Tree", "holds": "text", "text": tree}));
    }
    sections.extend(extra::sections(document));
    json!({
        "schema_version": SCHEMA_VERSION,
        "sections": sections,
        "files": document.blocks.iter().map(block).collect::<Value>(),
        "receipt": receipt(&document.receipt),
    })
}

/// Returns what became of each file.
pub(super) fn receipt(receipt: &Receipt) -> Value {
    let files = receipt.files.iter().map(|entry| {
        with_path(
            &entry.path,
            json!({
                "sha256": entry.content.map(|content| content.to_string()),
                "view": entry.view.name(),
                "wanted": entry.wanted.name(),
                "rule": entry.rule.name(),
                "why": entry.why,
                "bytes": entry.bytes,
                "tokens": entry.tokens,
            }),
        )
    });
    let missing = receipt.missing.iter().map(|missing| json!({"word": missing.word, "why": missing.why}));
    json!({
        "schema_version": SCHEMA_VERSION,
        "tier": receipt.tier,
        "name": receipt.name,
        "since_last": receipt.since_last,
        "strategy": receipt.strategy,
        "order": receipt.order,
        "tokens_counted_by": receipt.counter,
        "budget_tokens": receipt.budget_tokens,
        "max_bytes": receipt.max_bytes,
        "bytes": receipt.bytes,
        "tokens": receipt.tokens,
        "without_tree": receipt.without_tree,
        "files": files.collect::<Value>(),
        "left_out": left_out(receipt),
        "missing": missing.collect::<Value>(),
        "problems": receipt.problems.iter().map(extra::problem).collect::<Value>(),
    })
}

/// Returns the files that a document does not show.
fn left_out(receipt: &Receipt) -> Value {
    let left_out = receipt.left_out.iter().map(|omitted| {
        let wanted = match omitted.reason {
            Omission::Budget { wanted } => Some(wanted.name()),
            Omission::LeftOut(_) | Omission::AutoAggregate | Omission::Unchanged => None,
        };
        let (reason, why) = (omitted.reason.name(), receipt.why_left_out(omitted.reason));
        with_path(&omitted.path, json!({"reason": reason, "wanted": wanted, "why": why}))
    });
    left_out.collect()
}

fn explanation(explanation: &Explanation) -> Value {
    let rules = explanation.verdicts.iter().map(|verdict| {
        json!({"rule": verdict.rule.name(), "view": verdict.view.map(crate::model::ViewMode::name)})
    });
    with_path(
        &explanation.path,
        json!({
            "sha256": explanation.content.map(|(hash, _)| hash.to_string()),
            "size": explanation.content.map(|(_, size)| size),
            "language": explanation.file_type.map(|file_type| file_type.id),
            "remarks": explanation.remarks,
            "left_out": explanation.left_out.map(crate::model::LeftOut::name),
            "rules": rules.collect::<Value>(),
            "decided_by": explanation.routed.rule.name(),
            "wanted": explanation.routed.view.name(),
            "view": explanation.view.name(),
            "why": explanation.why,
            "bytes": explanation.bytes,
            "tokens": explanation.tokens,
            "tokens_counted_by": explanation.counter,
            "under_limits": explanation.under_limits.as_ref().map(under_limits),
        }),
    )
}

fn under_limits(fate: &UnderLimits) -> Value {
    let importance = fate.importance;
    json!({
        "view": fate.view.map(crate::model::ViewMode::name),
        "why": fate.why,
        "place": fate.place,
        "files": fate.files,
        "in_focus": importance.in_focus,
        "curated": importance.is_curated,
        "referred_by": importance.referred_by,
        "shared_with_focus": importance.shared_with_focus,
        "recent_changes_millionths": fate.changes,
    })
}

fn status(files: &[FileStatus]) -> Value {
    let files = files.iter().map(|file| {
        let (state, reason) = match file.freshness {
            Freshness::Fresh => ("fresh", None),
            Freshness::Stale => ("stale", None),
            Freshness::New => ("new", None),
            Freshness::LeftOut(reason) => ("left_out", Some(reason.name())),
        };
        with_path(
            &file.path,
            json!({
                "state": state,
                "reason": reason,
                "language": file.content.map(|(_, file_type)| file_type.id),
                "sha256": file.content.map(|(hash, _)| hash.to_string()),
                "summary_by": file.summary_by,
            }),
        )
    });
    json!({"files": files.collect::<Value>()})
}

fn cleared(freed: &Freed) -> Value {
    json!({
        "contents": freed.contents,
        "artifacts": freed.artifacts,
        "files": freed.files,
        "bytes": freed.bytes,
    })
}

fn exported(row: &Exported) -> Value {
    let mut value = json!({
        "file_hash": row.hash.to_string(),
        "summary": row.summary,
        "outline": row.outline.as_ref().map(|outline| outline.symbols.iter().map(node).collect::<Vec<_>>()),
        "generated_at": row.made_at_s,
        "generator_tier": Value::Null,
    });
    let path = with_path(&row.path, json!({}));
    value["file_path"] = path["path"].clone();
    if let Some(hex) = path.get("path_hex") {
        value["file_path_hex"] = hex.clone();
    }
    value
}
