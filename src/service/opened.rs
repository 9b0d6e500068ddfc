//! Documents that a client views: opened, read in parts, and compared with others.

use super::document::resolve_aggregate;
use super::resolved::{QuerySettings, ResolvedQuery, bad_query, complete};
use crate::api::{
    AggregateQuery, ApiError, CompareDocumentsQuery, ComparedDocument, ComparedSide, DocumentLines,
    DocumentOpened, FormatName, GivenDocumentName, GivenDocuments, GivenName, GivenQuery, OpenDocumentQuery,
    ReadDocumentQuery, SentDocument, compare_documents, compose_document, given_step, prefix_caching,
};
use crate::engine::{DeliveredDocument, OpenedDocument, Project, RecordName};
use crate::model::printable;

/// The most lines that are read at once.
const MAX_LINES: u64 = 2_000;

/// Resolves a question that opens a document. It is shown as Markdown, which is what the model of a provider reads,
/// too: the format decides only what of it a provider caches.
pub(super) fn resolve_open(
    query: AggregateQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let mut request = resolve_aggregate(query, settings)?;
    let caching = prefix_caching(request.format, &request.body);
    request.format = FormatName::Markdown;
    request.is_preview = true;
    let settings = settings.loaded.fingerprint();
    Ok(complete::<OpenDocumentQuery>(move |project| {
        let document = compose_document(project, &request)?;
        // The document was only viewed, not delivered, so the next `--since-last` must still include its content.
        project.discard_delivery();
        let opened = project.open_document(&document, caching, settings);
        DocumentOpened::new(&opened).ok_or_else(ApiError::bug)
    }))
}

pub(super) fn resolve_read(
    query: ReadDocumentQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let ReadDocumentQuery { id, line, lines } = query;
    if line == 0 || !(1..=MAX_LINES).contains(&lines) {
        let hint = "count lines from 1, and read 1 to 2000 at a time";
        return Err(bad_query("line is 0, or number of lines is not between 1 and 2000", hint));
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
        Ok(compare_documents(&from, &to))
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
        ComparedDocument::Given(GivenDocumentName { given, curation, back }) => {
            let asked = RecordName { name: given.clone(), curation: curation.clone() };
            let record = find_record(project, asked)?;
            let document =
                project.delivered_documents(&record, back.saturating_add(1)).into_iter().nth(*back);
            Ok(given_side(document.ok_or_else(|| nothing_given(given, *back))?))
        }
    }
}

/// Returns a delivered document; its text is not kept.
fn given_side(document: DeliveredDocument) -> ComparedSide {
    let DeliveredDocument { layout, caching, at_ms } = document;
    ComparedSide { document: SentDocument { layout, text: None }, caching, at_ms }
}

/// Resolves a question about the documents that were delivered to agents.
pub(super) fn resolve_given(query: GivenQuery) -> Result<ResolvedQuery, ApiError> {
    let GivenQuery { name, curation, file } = query;
    let Some(name) = name else {
        if file.is_some() || curation.is_some() {
            return Err(bad_query("no name is given", "`slop given` lists the names of what was given"));
        }
        return Ok(complete::<GivenQuery>(|project| {
            let records = project.delivered_names();
            let names = records.iter().map(|record| given_name(project, record));
            Ok(GivenDocuments { names: names.collect(), ..GivenDocuments::default() })
        }));
    };
    let asked = RecordName { name, curation };
    Ok(complete::<GivenQuery>(move |project| {
        let record = find_record(project, asked)?;
        let names = vec![given_name(project, &record)];
        let mut answer = GivenDocuments { names, ..GivenDocuments::default() };
        if let Some(file) = file {
            let change = project.delivered_diff(&record, &file)?;
            answer.file = Some(change.ok_or_else(|| nothing_of_file(&record.name, &file))?.into());
            return Ok(answer);
        }
        let sides: Vec<ComparedSide> =
            project.delivered_documents(&record, usize::MAX).into_iter().map(given_side).collect();
        // The newest comes first, so that each is followed by the one before it.
        let steps = sides.iter().enumerate().map(|(at, side)| given_step(sides.get(at + 1), side));
        answer.history = steps.collect();
        answer.files = Some(project.delivered_files(&record, answer.names[0].at_ms)?.into());
        Ok(answer)
    }))
}

/// Returns the name and curation under which documents are recorded. The curation need not be given if there is only
/// one.
fn find_record(project: &mut Project<'_>, asked: RecordName) -> Result<RecordName, ApiError> {
    let mut known = project.delivered_names();
    known.retain(|record| record.name == asked.name);
    match known.as_slice() {
        [] => Err(nothing_given(&asked.name, 0)),
        known if known.contains(&asked) => Ok(asked),
        [only] if asked.curation.is_none() => Ok(only.clone()),
        known => {
            let curations: Vec<String> =
                known.iter().filter_map(|record| record.curation.as_deref().map(printable)).collect();
            let name = printable(&asked.name);
            let message =
                format!("documents named `{name}` are remembered by curation: {}", curations.join(", "));
            Err(ApiError::user(
                "not_found",
                message,
                "name one of them, as `slop given NAME --curation HASH` does",
            ))
        }
    }
}

fn given_name(project: &mut Project<'_>, record: &RecordName) -> GivenName {
    let last = project.delivered_documents(record, 1).pop();
    let files = last
        .as_ref()
        .map_or(0, |last| last.layout.pieces.iter().filter(|piece| piece.subject.file().is_some()).count());
    let last = last.map(|last| given_step(None, &given_side(last)));
    GivenName::new(record, last.as_ref(), files)
}

fn nothing_of_file(name: &str, file: &str) -> ApiError {
    let message =
        format!("the last document named `{}` has nothing of `{}`", printable(name), printable(file));
    ApiError::user("not_found", message, "`slop given NAME` lists the files that a document has")
}

fn document_gone(id: &str) -> ApiError {
    let message = format!("document `{}` is no longer kept", printable(id));
    ApiError::user("document_gone", message, "open it again, in a project with a running daemon")
}

fn nothing_given(name: &str, back: usize) -> ApiError {
    let name = printable(name);
    let message = match back {
        0 => format!("no document named `{name}` is remembered"),
        back => format!("document `{name}` is not remembered {back} versions back"),
    };
    ApiError::user("not_found", message, "`slop given` lists the names of what was given")
}
