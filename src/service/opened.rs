//! Documents that a client looks at: opened, read in parts, and compared with others.

use super::document::resolve_aggregate;
use super::resolved::{QuerySettings, ResolvedQuery, bad_query, complete};
use crate::api::{
    AggregateQuery, ApiError, CompareDocumentsQuery, ComparedDocument, ComparedSide, DocumentLines,
    DocumentOpened, FormatName, GivenDocumentName, OpenDocumentQuery, ReadDocumentQuery, SentDocument,
    compare_documents, compose_document, prefix_caching,
};
use crate::engine::{DeliveredDocument, OpenedDocument, Project};
use crate::model::printable;

/// The most lines that are read at once.
const MAX_LINES: u64 = 2_000;

/// Resolves a question that opens a document. It is shown as Markdown, which is what the model of a provider reads, too: the
/// format decides only what of it a provider caches.
pub(super) fn resolve_open(
    query: AggregateQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let mut request = resolve_aggregate(query, settings)?;
    let caching = prefix_caching(request.format, &request.body);
    request.format = FormatName::Markdown;
    let settings = settings.loaded.fingerprint();
    Ok(complete::<OpenDocumentQuery>(move |project| {
        let document = compose_document(project, &request)?;
        // Nobody was given the document: the next `--since-last` must not leave out what was only looked at.
        project.discard_delivery();
        let opened = project.open_document(&document, caching, settings);
        DocumentOpened::of(&opened).ok_or_else(ApiError::bug)
    }))
}

pub(super) fn resolve_read(
    query: ReadDocumentQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let ReadDocumentQuery { id, line, lines } = query;
    if line == 0 || !(1..=MAX_LINES).contains(&lines) {
        let hint = "count lines from 1, and read 1 to 2000 at a time";
        return Err(bad_query("these are no lines to read", hint));
    }
    let settings = settings.loaded.fingerprint();
    Ok(complete::<ReadDocumentQuery>(move |project| {
        let text = project.opened_document(&id).and_then(|opened| opened.text);
        let text = text.and_then(|text| text.lines(&settings, line, lines));
        Ok(DocumentLines { text: text.ok_or_else(|| document_gone(&id))? })
    })
    .without_cache())
}

pub(super) fn resolve_compare(query: CompareDocumentsQuery) -> ResolvedQuery {
    complete::<CompareDocumentsQuery>(move |project| {
        let from = find_document(project, &query.from)?;
        let to = find_document(project, &query.to)?;
        Ok(compare_documents(from, to))
    })
}

fn find_document(project: &mut Project<'_>, which: &ComparedDocument) -> Result<ComparedSide, ApiError> {
    match which {
        ComparedDocument::Opened(id) => {
            let opened = project.opened_document(id).ok_or_else(|| document_gone(id))?;
            let OpenedDocument { layout, caching, text, at_ms, .. } = opened;
            let text = text.map(|text| text.document.text.clone());
            Ok(ComparedSide { document: SentDocument { layout, text }, caching, at_ms })
        }
        ComparedDocument::Given(GivenDocumentName { given, back }) => {
            let document = project.delivered_documents(given).into_iter().nth(*back);
            let DeliveredDocument { layout, caching, at_ms } =
                document.ok_or_else(|| nothing_given(given, *back))?;
            Ok(ComparedSide { document: SentDocument { layout, text: None }, caching, at_ms })
        }
    }
}

fn document_gone(id: &str) -> ApiError {
    let message = format!("document `{}` is not held any more", printable(id));
    ApiError::user("document_gone", message, "open it again, in a project with a running daemon")
}

fn nothing_given(name: &str, back: usize) -> ApiError {
    let name = printable(name);
    let message = match back {
        0 => format!("no document named `{name}` is remembered"),
        back => format!("no document named `{name}` is remembered that {back} others followed"),
    };
    ApiError::user("not_found", message, "`slop given` lists the names of what was given")
}
