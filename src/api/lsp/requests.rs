//! The supported requests of the protocol, with their parameters.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::context::{ClientFile, FileNeeds, RequestContext};
use super::hover::hover;
use super::message::ResponseError;
use super::navigation::{definition, references};
use super::structure::{document_symbols, flat_symbols, folding_ranges, kind_number, matching_symbols};
use super::text::{Position, names_in};
use crate::api::fault::ApiError;
use crate::api::queries::{FindQuery, NamedThing};
use crate::api::wire::spelled_path;
use crate::model::SymbolKind;

/// The maximum number of symbols of a project that are returned for a query.
const MAX_SYMBOLS: u32 = 100;

/// A request of the protocol.
#[derive(Debug)]
pub(super) enum LspRequest {
    DocumentSymbol(DocumentParams),
    FoldingRange(DocumentParams),
    Definition(PositionParams),
    Hover(PositionParams),
    References(ReferenceParams),
    WorkspaceSymbol(SymbolParams),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentParams {
    pub(super) text_document: DocumentName,
}

#[derive(Debug, Deserialize)]
pub(super) struct DocumentName {
    pub(super) uri: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PositionParams {
    text_document: DocumentName,
    position: Position,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReferenceParams {
    text_document: DocumentName,
    position: Position,
    context: ReferenceOptions,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReferenceOptions {
    include_declaration: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct SymbolParams {
    query: String,
}

impl LspRequest {
    /// Parses the parameters of a method; `None` if the method is unknown.
    pub(super) fn parse(method: &str, params: Value) -> Option<Result<Self, ResponseError>> {
        fn read<T: DeserializeOwned>(
            params: Value,
            request: impl FnOnce(T) -> LspRequest,
        ) -> Result<LspRequest, ResponseError> {
            serde_json::from_value(params).map(request).map_err(|error| ResponseError::invalid_params(&error))
        }
        Some(match method {
            "textDocument/documentSymbol" => read(params, Self::DocumentSymbol),
            "textDocument/foldingRange" => read(params, Self::FoldingRange),
            "textDocument/definition" => read(params, Self::Definition),
            "textDocument/hover" => read(params, Self::Hover),
            "textDocument/references" => read(params, Self::References),
            "workspace/symbol" => read(params, Self::WorkspaceSymbol),
            _ => return None,
        })
    }

    pub(super) fn answer(&self, context: &RequestContext<'_>) -> Result<Value, ResponseError> {
        Ok(match self {
            Self::DocumentSymbol(params) => with_file(context, params, |file| {
                let is_nested = context.session.traits.reads_nested_symbols;
                if is_nested { document_symbols(file) } else { flat_symbols(file) }
            })?,
            Self::FoldingRange(params) => {
                with_file(context, params, |file| folding_ranges(file, context.session.traits.max_folds))?
            }
            Self::Definition(params) => definition(context, &params.text_document.uri, params.position)?,
            Self::Hover(params) => hover(context, &params.text_document.uri, params.position)?,
            Self::References(params) => {
                let with_declarations = params.context.include_declaration;
                references(context, &params.text_document.uri, params.position, with_declarations)?
            }
            Self::WorkspaceSymbol(params) => workspace_symbols(context, &params.query)?,
        })
    }
}

/// Answers about a file of the project; `null` for others, which editors open as well.
fn with_file(
    context: &RequestContext<'_>,
    params: &DocumentParams,
    answer: impl FnOnce(&ClientFile) -> Vec<Value>,
) -> Result<Value, ApiError> {
    let file = context.file(&params.text_document.uri, FileNeeds::Outline)?;
    Ok(file.map_or(Value::Null, |file| answer(&file).into()))
}

/// Returns the symbols of the project whose names contain the characters of a query in order, best first. Of open
/// files, the open texts are searched.
fn workspace_symbols(context: &RequestContext<'_>, query: &str) -> Result<Value, ApiError> {
    let find = FindQuery { query: query.to_owned(), of: vec![NamedThing::Symbol], limit: Some(MAX_SYMBOLS) };
    let hits = context.ask(find)?.hits;
    let open = context.open_files(FileNeeds::Outline)?;
    let mut symbols = Vec::new();
    let paths: Vec<String> =
        hits.iter().map(|hit| spelled_path(&hit.path, hit.path_hex.as_deref())).collect();
    let mut names: Vec<String> = paths.clone();
    names.sort_unstable();
    names.dedup();
    let files = context.files(&names, FileNeeds::DiskLines)?;
    for (hit, path) in hits.iter().zip(&paths) {
        let is_open = open.iter().any(|file| file.path == (hit.path.clone(), hit.path_hex.clone()));
        let file = names.binary_search(path).ok().and_then(|at| files[at].as_ref());
        let (Some(name), Some(line), Some(file)) = (&hit.name, hit.start_line, file.filter(|_| !is_open))
        else {
            continue;
        };
        let kind = hit.kind.as_deref().and_then(SymbolKind::from_name).unwrap_or(SymbolKind::Variable);
        let line = line as usize - 1;
        // A decorator may precede the line of the name.
        let columns = names_in(file.shown_line(line), name).next().unwrap_or(0..0);
        let range = file.range_in_line(line, columns);
        symbols.push(json!({
            "name": name,
            "kind": kind_number(kind),
            "location": {"uri": file.uri, "range": range},
            "containerName": hit.path,
        }));
    }
    for file in &open {
        symbols.extend(matching_symbols(file, query));
    }
    Ok(symbols.into())
}
