//! A settings file is read, changed and written whole.

use std::path::{Path, PathBuf};

use toml::de::DeTable;
use toml_edit::{DocumentMut, Item, Table};

use super::older::with_current_lists;
use crate::config::curation;
use crate::config::curation::Curation;
use crate::config::error::{Error, SettingOrigin};
use crate::config::load::{revision_of, with_large_stack};
use crate::config::section::{SettingsSource, line_at};
use crate::discover::enclosing_checkout;
use crate::sys::Disk;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A settings file that is being edited.
pub(super) struct SettingsDocument {
    pub(super) document: DocumentMut,
    pub(super) path: PathBuf,
    original: String,
    has_mark: bool,
}

/// Changes a file, whole or not at all; one that is not there is made. Nothing is written where nothing changed.
pub(super) fn edit_file<T: Send>(
    disk: &dyn Disk,
    path: &Path,
    change: impl FnOnce(&mut SettingsDocument) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    edit_revision(disk, path, None, false, change).map(|edited| edited.value)
}

/// What an edit did.
pub(super) struct EditedFile<T> {
    pub(super) value: T,
    /// The revision that the file has now.
    pub(super) revision: String,
}

/// Changes a file as [`edit_file`] does, provided that it still has the revision that is expected. With `is_trial`,
/// nothing is written.
pub(super) fn edit_revision<T: Send>(
    disk: &dyn Disk,
    path: &Path,
    expected: Option<&str>,
    is_trial: bool,
    change: impl FnOnce(&mut SettingsDocument) -> Result<T, Error> + Send,
) -> Result<EditedFile<T>, Error> {
    with_large_stack(|| {
        // Without it, of two edits at a time the one that is written last would undo the other.
        let _lock = disk
            .lock_folder(path.parent().unwrap_or(Path::new(".")))
            .map_err(|source| Error::Write { path: path.to_owned(), source })?;
        let before = read_file(disk, path)?;
        let text = before.as_deref().unwrap_or_default();
        let mut page = SettingsDocument::parse(path, text)?;
        if let Some(expected) = expected {
            check_revision(path, text, expected)?;
        }
        let found = revision_of(text);
        let value = change(&mut page)?;
        let after = page.to_text();
        // Not even the timestamps change, by which a daemon would take it for an edit.
        if text == after.as_bytes() {
            return Ok(EditedFile { value, revision: found });
        }
        // What cannot be read back would lose more than the edit is worth.
        read_curation(path, &after).map_err(|_| Error::Unwritable { path: path.to_owned() })?;
        if is_trial {
            return Ok(EditedFile { value, revision: found });
        }
        write_changed(disk, path, before.as_deref(), &after)?;
        Ok(EditedFile { value, revision: revision_of(after.as_bytes()) })
    })
}

/// Writes what a file is to become, whose bytes were `before` when its folder was locked.
pub(super) fn write_changed(
    disk: &dyn Disk,
    path: &Path,
    before: Option<&[u8]>,
    after: &str,
) -> Result<(), Error> {
    // The lock holds off other edits by slop, but no editor. A moment remains between this check and the write.
    if read_file(disk, path)?.as_deref() != before {
        return Err(Error::Changed { path: path.to_owned() });
    }
    let written = match before {
        // Slop makes the file for an entry, and so removes it with the last one.
        Some(_) if after.is_empty() && !marks_project(path, disk) && disk.remove_file(path).is_ok() => Ok(()),
        Some(_) => disk.replace(path, after.as_bytes()),
        None if after.is_empty() => Ok(()),
        // Unlike `replace`, this fails if somebody has created the file since it was read.
        None => disk.create_new(path, after.as_bytes()),
    };
    written.map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// Returns an error if a file with these bytes has another revision than the one that is expected.
pub fn check_revision(path: &Path, bytes: &[u8], expected: &str) -> Result<(), Error> {
    let revision = revision_of(bytes);
    if revision == expected { Ok(()) } else { Err(Error::Moved { path: path.to_owned(), revision }) }
}

/// Replaces the whole text of a file, which must have the revision that is expected, and returns the new one. A file
/// that would be empty is removed.
pub fn replace_text(disk: &dyn Disk, path: &Path, expected: &str, text: &[u8]) -> Result<String, Error> {
    let write_error = |source| Error::Write { path: path.to_owned(), source };
    let _lock = disk.lock_folder(path.parent().unwrap_or(Path::new("."))).map_err(write_error)?;
    let before = read_file(disk, path)?;
    check_revision(path, before.as_deref().unwrap_or_default(), expected)?;
    match before {
        Some(_) if text.is_empty() && !marks_project(path, disk) && disk.remove_file(path).is_ok() => Ok(()),
        Some(_) => disk.replace(path, text),
        None if text.is_empty() => Ok(()),
        None => disk.create_new(path, text),
    }
    .map_err(write_error)?;
    Ok(revision_of(text))
}

/// Returns whether a folder within a git checkout is a project of its own only because of this file.
fn marks_project(path: &Path, disk: &dyn Disk) -> bool {
    let Some(folder) = path.parent() else { return false };
    enclosing_checkout(folder, disk).is_some_and(|top| top != folder)
}

/// Returns the preset or persona of that name in TOML, as it is written; `None` where the file has none.
pub fn saved_text(disk: &dyn Disk, path: &Path, kind: &str, name: &str) -> Result<Option<String>, Error> {
    with_large_stack(|| {
        let page = SettingsDocument::parse(path, &read_file(disk, path)?.unwrap_or_default())?;
        let all = page.document.get(kind).and_then(Item::as_table_like);
        let Some((key, item)) = all.and_then(|all| all.get_key_value(name)) else { return Ok(None) };
        let mut shown = DocumentMut::new();
        // Wrapped in a table without a header, so that the text shows the full name of the preset.
        let mut above = Table::new();
        above.set_implicit(true);
        above.insert_formatted(key, item.clone());
        shown.insert(kind, Item::Table(above));
        Ok(Some(shown.to_string().trim_matches('\n').to_owned() + "\n"))
    })
}

pub(super) fn read_file(disk: &dyn Disk, path: &Path) -> Result<Option<Vec<u8>>, Error> {
    disk.read(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

/// Reads what is curated in a text, as [`crate::config::load()`] does.
pub(super) fn read_curation(path: &Path, text: &str) -> Result<Curation, Error> {
    let origin = |line| SettingOrigin::ProjectFile { path: path.to_owned(), line };
    let parsed = DeTable::parse(text).map_err(|error| Error::Syntax {
        origin: origin(line_at(text.as_bytes(), error.span().map_or(0, |span| span.start))),
        message: error.message().to_owned(),
    })?;
    let source = SettingsSource::new(text, &origin);
    let curation = curation::extract(&mut parsed.into_inner(), &source);
    // Strict, unlike when settings are read: an edit next to a value that cannot be read might lose it.
    source.take_left_out().into_iter().next().map_or(Ok(curation), Err)
}

impl SettingsDocument {
    /// Reads a file. What is curated in it is of the right types from here on.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let original = std::str::from_utf8(bytes).map_err(|source| Error::NotUtf8 {
            origin: SettingOrigin::ProjectFile {
                path: path.to_owned(),
                line: line_at(bytes, source.valid_up_to()),
            },
            source,
        })?;
        // The editing parser keeps everything, wrong types included: they are refused here, with their lines.
        let curation = read_curation(path, original)?;
        let plain = original.strip_prefix(BYTE_ORDER_MARK);
        let has_mark = plain.is_some();
        let original = plain.unwrap_or(original);
        let parse = |text: &str| {
            text.parse::<DocumentMut>().map_err(|error| Error::Syntax {
                origin: SettingOrigin::ProjectFile {
                    path: path.to_owned(),
                    line: line_at(bytes, error.span().map_or(0, |span| span.start)),
                },
                message: error.message().to_owned(),
            })
        };
        let document = parse(original)?;
        let document = match with_current_lists(&document, &curation) {
            Some(text) => parse(&text)?,
            None => document,
        };
        Ok(Self { document, path: path.to_owned(), original: original.to_owned(), has_mark })
    }

    /// Returns the text as it is to be written.
    ///
    /// The library drops marks of byte order and the first half of CRLF, so that what it prints is laid over the
    /// original line by line: the lines before the first and after the last that changed keep their bytes.
    pub(super) fn to_text(&self) -> String {
        let printed = self.document.to_string();
        let new: Vec<&str> = printed.split_inclusive('\n').collect();
        let old: Vec<&str> = self.original.split_inclusive('\n').collect();
        let is_same = |(old, new): &(&&str, &&str)| without_line_end(old) == without_line_end(new);
        let head = old.iter().zip(&new).take_while(is_same).count();
        let (old_rest, new_rest) = (&old[head..], &new[head..]);
        // Counted in what is left behind the head, so that the two never overlap.
        let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(is_same).count();
        let end = if old.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
        let mut text = if self.has_mark { BYTE_ORDER_MARK.to_owned() } else { String::new() };
        for line in &old[..head] {
            text.push_str(line);
        }
        // The original may end without a line's end, and the first new line would be joined to it.
        if 0 < head && head == old.len() && head < new.len() && !text.ends_with('\n') {
            text.push_str(end);
        }
        for line in &new_rest[..new_rest.len() - tail] {
            text.push_str(without_line_end(line));
            text.push_str(end);
        }
        for line in &old_rest[old_rest.len() - tail..] {
            text.push_str(line);
        }
        text
    }
}

fn without_line_end(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}
