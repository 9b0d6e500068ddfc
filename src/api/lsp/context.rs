//! The context of a request: the service, the client's capabilities, and its open texts.

use std::path::PathBuf;
use std::sync::Arc;

use super::addresses::Addresses;
use super::alignment::LineAlignment;
use super::buffers::{OpenBuffer, OpenBuffers};
use super::text::{IndexedText, PositionEncoding, TextRange};
use crate::api::fault::ApiError;
use crate::api::local_queries::SourceTextsQuery;
use crate::api::query::Query;
use crate::api::service::{CallOptions, QueryJob, Service, ask};
use crate::api::wire::{FreshnessState, wire_path};
use crate::engine::{SourceRequest, SourceText};
use crate::model::{Span, path_text};

/// The state of a session that does not change.
pub(super) struct Session {
    pub(super) service: Arc<dyn Service>,
    pub(super) addresses: Addresses,
    pub(super) traits: ClientTraits,
    /// Whether an answer that may not be fresh is an error.
    pub(super) require_fresh: bool,
}

/// The capabilities of the client.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientTraits {
    pub(super) encoding: PositionEncoding,
    pub(super) reads_markdown: bool,
    /// Whether it supports nested symbols.
    pub(super) reads_nested_symbols: bool,
    /// The most folding ranges that it supports in one file.
    pub(super) max_folds: usize,
}

/// The context of one request.
pub(super) struct RequestContext<'s> {
    pub(super) session: &'s Session,
    pub(super) buffers: &'s OpenBuffers,
    pub(super) job: &'s Arc<QueryJob>,
}

/// A file as the client sees it: its open text, or else the file on disk.
pub(super) struct ClientFile {
    pub(super) uri: String,
    /// The path as in answers, and its bytes in hex if it is not UTF-8.
    pub(super) path: (String, Option<String>),
    /// The part of its text that may be shown.
    pub(super) source: SourceText,
    shown: IndexedText,
    buffer: Option<Arc<OpenBuffer>>,
    /// The lines that the open text shares with the file; `None` if they are equal.
    alignment: Option<LineAlignment>,
    encoding: PositionEncoding,
}

/// What a request needs of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileNeeds {
    /// The outline of the text that the client sees.
    Outline,
    /// The outline, and the mapping to lines of the file on disk, to which references refer.
    OutlineAndDiskLines,
    /// Only the mapping of lines.
    DiskLines,
}

impl RequestContext<'_> {
    /// Asks the service. Its notes stay in the job.
    pub(super) fn ask<Q: Query>(&self, query: Q) -> Result<Q::Answer, ApiError> {
        let call = CallOptions {
            require_fresh: self.session.require_fresh,
            job: Arc::clone(self.job),
            is_read_only: true,
            ..CallOptions::default()
        };
        let answer = ask(&*self.session.service, query, &call)?;
        if answer.freshness.freshness != FreshnessState::Fresh {
            let reason = answer.freshness.reason.as_deref().unwrap_or("the reason is unknown");
            self.job.note(format!("an answer may be out of date: {reason}"));
        }
        Ok(answer.payload)
    }

    /// Returns the file of an address; `None` if it is not in the project, or is not shown.
    pub(super) fn file(&self, uri: &str, needs: FileNeeds) -> Result<Option<ClientFile>, ApiError> {
        let Some(path) = self.session.addresses.path(uri) else { return Ok(None) };
        Ok(self.files(&[path_text(path.as_os_str().as_encoded_bytes())], needs)?.remove(0))
    }

    /// Returns the open files that belong to the project.
    pub(super) fn open_files(&self, needs: FileNeeds) -> Result<Vec<ClientFile>, ApiError> {
        let paths = self.buffers.paths().map(|path| path_text(path.as_os_str().as_encoded_bytes()));
        let files = self.files(&paths.collect::<Vec<_>>(), needs)?;
        Ok(files.into_iter().flatten().collect())
    }

    /// Returns the files of paths, in their order; `None` for a path that is not in the project, or is not shown.
    pub(super) fn files(
        &self,
        paths: &[String],
        needs: FileNeeds,
    ) -> Result<Vec<Option<ClientFile>>, ApiError> {
        let outlines = needs != FileNeeds::DiskLines;
        let texts = |requests: Vec<SourceRequest>| {
            if requests.is_empty() {
                return Ok(Vec::new());
            }
            self.ask(SourceTextsQuery { files: requests, outlines })
        };
        // An open file is not read from disk if its lines there are not needed.
        let open =
            |path: &String| self.buffers.get(&PathBuf::from(path)).filter(|_| needs == FileNeeds::Outline);
        let first = |path: &String| SourceRequest {
            file: path.clone(),
            buffer: open(path).map(|buffer| Arc::clone(&buffer.text.text)),
        };
        let found = texts(paths.iter().map(first).collect())?;
        // An open file may have a path in a different spelling, or not exist on disk yet.
        let buffers: Vec<Option<Arc<OpenBuffer>>> = paths
            .iter()
            .zip(&found)
            .map(|(path, source)| {
                let location =
                    source.as_ref().map_or_else(|| PathBuf::from(path), |source| source.location.clone());
                self.buffers.get(&location).cloned()
            })
            .collect();
        let is_missing = |path: &String| open(path).is_none();
        let second = paths.iter().zip(&buffers).filter_map(|(path, buffer)| {
            let buffer = buffer.as_ref().filter(|_| is_missing(path))?;
            Some(SourceRequest { file: path.clone(), buffer: Some(Arc::clone(&buffer.text.text)) })
        });
        let mut edited = texts(second.collect())?.into_iter();
        let mut files = Vec::with_capacity(paths.len());
        for ((path, source), buffer) in paths.iter().zip(found).zip(buffers) {
            let (source, disk) = match &buffer {
                Some(_) if is_missing(path) => (edited.next().flatten(), source),
                Some(_) | None => (source, None),
            };
            // A new file has no lines on disk.
            let disk = disk.map_or_else(String::new, |disk| disk.text);
            let is_compared = buffer.is_some() && needs != FileNeeds::Outline;
            let disk = is_compared.then(|| IndexedText::new(disk));
            files.push(source.map(|source| self.client_file(source, disk.as_ref(), buffer)));
        }
        Ok(files)
    }

    fn client_file(
        &self,
        source: SourceText,
        disk: Option<&IndexedText>,
        buffer: Option<Arc<OpenBuffer>>,
    ) -> ClientFile {
        let Session { addresses, traits, .. } = self.session;
        let shown = IndexedText::new(source.text.as_str());
        let alignment = disk.and_then(|disk| LineAlignment::new(disk, &shown));
        let uri = match &buffer {
            Some(buffer) => buffer.uri.clone(),
            None => addresses.uri(&source.location),
        };
        let path = wire_path(&source.path);
        ClientFile { uri, path, source, shown, buffer, alignment, encoding: traits.encoding }
    }
}

impl ClientFile {
    /// Returns the text that the client sees.
    pub(super) fn text(&self) -> &IndexedText {
        self.buffer.as_ref().map_or(&self.shown, |buffer| &buffer.text)
    }

    /// Returns the client's line, counted from 0, for a line of the file on disk; `None` if it was edited.
    pub(super) fn client_line(&self, disk_line: usize) -> Option<usize> {
        self.alignment.as_ref().map_or(Some(disk_line), |alignment| alignment.edited_line(disk_line))
    }

    /// Returns the line of the file on disk, counted from 0, for a client's line; `None` if it was edited.
    pub(super) fn disk_line(&self, client_line: usize) -> Option<usize> {
        self.alignment.as_ref().map_or(Some(client_line), |alignment| alignment.disk_line(client_line))
    }

    /// Returns the edited lines, counted from 0.
    pub(super) fn edited_lines(&self) -> impl Iterator<Item = usize> {
        let lines = if self.alignment.is_some() { 0..self.text().line_count() } else { 0..0 };
        lines.filter(|line| self.disk_line(*line).is_none())
    }

    /// Returns the shown text of a line.
    pub(super) fn shown_line(&self, line: usize) -> &str {
        self.shown.line(line).unwrap_or_default()
    }

    /// Returns the client's range of a piece of the shown text. In a line that is shown with changes, columns are
    /// meaningless, so the range is the whole line.
    pub(super) fn range(&self, span: std::ops::Range<usize>) -> TextRange {
        let Some(buffer) = &self.buffer else { return self.shown.range(span, self.encoding) };
        let offset = |at: usize, is_end: bool| {
            let (line, column) = self.shown.line_and_column(at);
            let own = buffer.text.line_range(line).unwrap_or(buffer.text.text.len()..buffer.text.text.len());
            if self.shown.line(line) == buffer.text.line(line) {
                (own.start + column).min(own.end)
            } else if is_end {
                own.end
            } else {
                own.start
            }
        };
        buffer.text.range(offset(span.start, false)..offset(span.end, true), self.encoding)
    }

    /// Returns the range of a whole symbol.
    pub(super) fn span_range(&self, span: &Span) -> TextRange {
        self.range(span.start_byte..span.end_byte)
    }

    /// Returns the range of a piece of one line, given its offsets in the shown line.
    pub(super) fn range_in_line(&self, line: usize, columns: std::ops::Range<usize>) -> TextRange {
        let start = self.shown.line_range(line).map_or(self.shown.text.len(), |range| range.start);
        self.range(start + columns.start..start + columns.end)
    }
}
