//! Reads, changes and writes a settings file as a whole.

use std::path::{Path, PathBuf};

use toml::de::DeTable;
use toml_edit::{DocumentMut, Item, Table};

use super::keys::has_editable_types;
use super::older::with_current_lists;
use crate::config::curation;
use crate::config::curation::Curation;
use crate::config::error::{Error, SettingOrigin};
use crate::config::load::{revision_of, with_large_stack};
use crate::config::section::{SettingsSource, line_at};
use crate::discover::enclosing_checkout;
use crate::model::BYTE_ORDER_MARK;
use crate::sys::Disk;

/// A settings file that is being edited.
pub(super) struct SettingsDocument {
    pub(super) document: DocumentMut,
    pub(super) path: PathBuf,
    original: String,
    has_mark: bool,
    /// The number of invalid entries, which are left as they are.
    invalid: usize,
}

/// Changes a file atomically, and creates it if it does not exist. Writes nothing if nothing changed.
pub(super) fn edit_file<T: Send>(
    disk: &dyn Disk,
    path: &Path,
    change: impl FnOnce(&mut SettingsDocument) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    edit_revision(disk, path, None, false, change).map(|edited| edited.value)
}

/// The result of an edit.
pub(super) struct EditedFile<T> {
    pub(super) value: T,
    /// The new revision of the file.
    pub(super) revision: String,
}

/// Changes a file like [`edit_file`], provided that it still has the expected revision. With `is_trial`, nothing is
/// written.
pub(super) fn edit_revision<T: Send>(
    disk: &dyn Disk,
    path: &Path,
    expected: Option<&str>,
    is_trial: bool,
    change: impl FnOnce(&mut SettingsDocument) -> Result<T, Error> + Send,
) -> Result<EditedFile<T>, Error> {
    with_large_stack(|| {
        // Without the lock, one of two simultaneous edits would be lost.
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
        // Not even the timestamps change, so that a daemon does not mistake this for an edit.
        if text == after.as_bytes() {
            return Ok(EditedFile { value, revision: found });
        }
        // An unreadable result would do more harm than the edit is worth.
        let is_readable = read_curation(path, &after).is_ok_and(|(_, errors)| errors.len() <= page.invalid);
        if !is_readable {
            return Err(Error::Unwritable { path: path.to_owned() });
        }
        if is_trial {
            return Ok(EditedFile { value, revision: found });
        }
        write_changed(disk, path, before.as_deref(), &after)?;
        Ok(EditedFile { value, revision: revision_of(after.as_bytes()) })
    })
}

/// Writes the new content of a file whose bytes were `before` when its folder was locked.
pub(super) fn write_changed(
    disk: &dyn Disk,
    path: &Path,
    before: Option<&[u8]>,
    after: &str,
) -> Result<(), Error> {
    // The lock excludes other edits by slop, but not editors. A short race remains between this check and the write.
    if read_file(disk, path)?.as_deref() != before {
        return Err(Error::Changed { path: path.to_owned() });
    }
    let written = match before {
        // slop creates the file for an entry, so it removes it with the last one.
        Some(_) if after.is_empty() && !marks_project(path, disk) && disk.remove_file(path).is_ok() => Ok(()),
        Some(_) => disk.replace(path, after.as_bytes()),
        None if after.is_empty() => Ok(()),
        // Unlike `replace`, this fails if another process has created the file since it was read.
        None => disk.create_new(path, after.as_bytes()),
    };
    written.map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// Returns an error if a file with these bytes does not have the expected revision.
pub fn check_revision(path: &Path, bytes: &[u8], expected: &str) -> Result<(), Error> {
    let revision = revision_of(bytes);
    if revision == expected { Ok(()) } else { Err(Error::Moved { path: path.to_owned(), revision }) }
}

/// Replaces the whole text of a file, which must have the expected revision, and returns the new one. A file that would
/// be empty is removed.
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

/// Returns whether a folder within a git checkout is a project only because of this file.
fn marks_project(path: &Path, disk: &dyn Disk) -> bool {
    let Some(folder) = path.parent() else { return false };
    enclosing_checkout(folder, disk).is_some_and(|top| top != folder)
}

/// Returns the TOML of the preset or persona with this name as it is in the file; `None` if there is none.
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

/// Reads the curation in a text, like [`crate::config::load()`], and the errors of the invalid entries.
pub(super) fn read_curation(path: &Path, text: &str) -> Result<(Curation, Vec<Error>), Error> {
    let origin = |line| SettingOrigin::ProjectFile { path: path.to_owned(), line };
    let parsed = DeTable::parse(text).map_err(|error| Error::Syntax {
        origin: origin(line_at(text.as_bytes(), error.span().map_or(0, |span| span.start))),
        message: error.message().to_owned(),
    })?;
    let source = SettingsSource::new(text, &origin);
    let curation = curation::extract(&mut parsed.into_inner(), &source);
    Ok((curation, source.take_left_out()))
}

/// Returns whether an error would lead to a wrong edit: invalid slices are not counted where others have an index.
fn is_of_slice(error: &Error) -> bool {
    matches!(error, Error::BadValue { key, .. } if key.contains(".custom_slices"))
}

impl SettingsDocument {
    /// Parses a file. Invalid entries in its curation are left as they are, unless edits could lose them.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let original = std::str::from_utf8(bytes).map_err(|source| Error::NotUtf8 {
            origin: SettingOrigin::ProjectFile {
                path: path.to_owned(),
                line: line_at(bytes, source.valid_up_to()),
            },
            source,
        })?;
        let (curation, errors) = read_curation(path, original)?;
        let invalid = errors.len();
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
        // Older lists are replaced by what was read of them.
        let current = with_current_lists(&document, &curation);
        let loses_entries = current.is_some() || !has_editable_types(&document);
        if let Some(error) = errors.into_iter().find(|error| loses_entries || is_of_slice(error)) {
            return Err(error);
        }
        let document = current.map_or(Ok(document), |text| parse(&text))?;
        Ok(Self { document, path: path.to_owned(), original: original.to_owned(), has_mark, invalid })
    }

    /// Returns the text to write.
    ///
    /// The library drops byte order marks and the CR of CRLF, so its output is merged with the original line by line:
    /// the lines before the first change and after the last one keep their bytes.
    pub(super) fn to_text(&self) -> String {
        let printed = self.document.to_string();
        let new: Vec<&str> = printed.split_inclusive('\n').collect();
        let old: Vec<&str> = self.original.split_inclusive('\n').collect();
        let is_same = |(old, new): &(&&str, &&str)| without_line_end(old) == without_line_end(new);
        let head = old.iter().zip(&new).take_while(is_same).count();
        let (old_rest, new_rest) = (&old[head..], &new[head..]);
        // Counted after the head, so that the two never overlap.
        let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(is_same).count();
        let end = if old.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
        let mut text = if self.has_mark { BYTE_ORDER_MARK.to_string() } else { String::new() };
        for line in &old[..head] {
            text.push_str(line);
        }
        // The original may end without a line break, and the first new line would be joined to it.
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
