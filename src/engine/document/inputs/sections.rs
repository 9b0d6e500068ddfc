//! Fetches the attachments: screenshots, tracked work, the discussion.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::image_patterns::expand_images;
use crate::aggregate::DocumentSections;
use crate::discover::run_git;
use crate::engine::document::request::{
    BeadsRequest, DiscussionSource, DiscussionText, ImageFile, SectionRequest,
};
use crate::engine::error::Error;
use crate::engine::workspace::Workspace;
use crate::model::{
    BeadsList, DiscussionEntry, RelPath, Screenshot, ScreenshotImage, SectionProblem, bytes_as_path,
    normalized_path, path_bytes, printable, unescaped_path,
};
use crate::sections;
use crate::sections::{DataSyntax, Discussion};
use crate::summarize::secrets;
use crate::sys::{FileKind, Files, ReadError};

/// The files in which Beads and its mock store issues in the repository.
const ISSUES: (&str, DataSyntax) = (".beads/issues.jsonl", DataSyntax::JsonLines);
const MOCK: (&str, DataSyntax) = (".beads_mock/beads.json", DataSyntax::Json);
/// Without the last three arguments newer versions leave out closed issues; older versions do not know them.
const LISTINGS: [&[&str]; 2] = [&["list", "--json", "--all", "--limit", "0"], &["list", "--json"]];
/// The message if issues are left out because only the project's own settings ask for them.
const WITHHELD_BEADS: &str = "issues are left out, because only the project's own settings ask for them: set \
    `project.execution_mode` in your own settings, or list the project there under `trust.projects`";
/// The number of attempts to read a file that changes meanwhile.
const TRIES: usize = 3;

/// Fetches the attachments of the requested part of the document.
pub(in crate::engine::document) fn sections(
    workspace: &Workspace<'_>,
    request: &SectionRequest,
) -> Result<DocumentSections, Error> {
    let part = request.part;
    let discussion = request.discussion.as_ref().filter(|_| part.has_suffix());
    let settings = workspace.options.settings_problems.iter().cloned();
    let mut problems: Vec<SectionProblem> =
        settings.map(|reason| SectionProblem { section: "settings", reason, is_error: false }).collect();
    // First, because only a discussion can fail the request; problems with other attachments are reported in them.
    let discussion =
        discussion.map(|discussion| discussion_entries(workspace, discussion, &mut problems)).transpose()?;
    let (mut screenshots, mut beads) = (Vec::new(), None);
    if part.has_prefix() {
        let images = expand_images(workspace, &request.screenshots);
        screenshots.extend(images.iter().map(|file| screenshot(workspace, file, request)));
        problems.extend(screenshots.iter().filter_map(missing));
        match request.beads {
            BeadsRequest::None => {}
            BeadsRequest::Included => beads = tracked_work(workspace, &mut problems),
            BeadsRequest::Withheld => {
                let reason = WITHHELD_BEADS.to_owned();
                problems.push(SectionProblem { section: "beads", reason, is_error: false });
            }
        }
    }
    let mut discussion = discussion.unwrap_or_default();
    // What people paste into a discussion or an issue is no safer than what they write into files.
    for entry in &mut discussion {
        entry.role.iter_mut().for_each(redact);
        redact(&mut entry.content);
    }
    for issue in beads.iter_mut().flat_map(|list| list.completed.iter_mut().chain(&mut list.active)) {
        redact(&mut issue.title);
        redact(&mut issue.description);
    }
    Ok(DocumentSections { part, screenshots, beads, discussion, problems })
}

fn redact(text: &mut String) {
    if let Cow::Owned(redacted) = secrets::redacted(text) {
        *text = redacted;
    }
}

/// Returns the discussion. If it was not requested, the file may be another program's, or broken: that is a problem of
/// the document, not an error.
fn discussion_entries(
    workspace: &Workspace<'_>,
    discussion: &DiscussionSource,
    problems: &mut Vec<SectionProblem>,
) -> Result<Vec<DiscussionEntry>, Error> {
    if !discussion.is_vouched_for
        && let Some(file) = discussion.text.file()
        && let Some(reason) = came_with_project(workspace, file)
    {
        problems.push(SectionProblem { section: "discussion", reason, is_error: false });
        return Ok(Vec::new());
    }
    let error = match read_discussion(workspace, discussion) {
        Err(error) if discussion.is_optional => error,
        outcome => {
            let Discussion { entries, silent } = outcome?;
            if 0 < silent {
                let all = silent + entries.len();
                let reason = format!("{silent} of {all} messages have nothing to show, such as thoughts");
                problems.push(SectionProblem { section: "discussion", reason, is_error: false });
            }
            return Ok(entries);
        }
    };
    let (reason, is_error) = match error {
        Error::Discussion { source, .. } => {
            // A `history.toml` without entries is probably another program's, which is not an error of the request.
            (source.to_string(), !matches!(source, sections::Error::NoEntries { .. }))
        }
        Error::DiscussionFile { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            return Ok(Vec::new());
        }
        Error::DiscussionFile { source, .. } => (source.to_string(), true),
        other => return Err(other),
    };
    let file = discussion.text.file().map(|file| format!("{}: ", file.display()));
    let reason = file.unwrap_or_default() + &reason;
    problems.push(SectionProblem { section: "discussion", reason, is_error });
    Ok(Vec::new())
}

/// Returns the reason to leave out the project's own discussion: unless git does not track it, it may have come with
/// the project, and would speak for the user. `None` also if there is no such file.
fn came_with_project(workspace: &Workspace<'_>, path: &Path) -> Option<String> {
    let name = RelPath::new(path_bytes(path)).ok()?;
    workspace.files.stat(&name).ok()?;
    // Includes ignored files: most people have git ignore their discussion.
    let arguments = ["ls-files", "--others", "-z", "--", name.as_str()?];
    let listed = run_git(workspace.world.processes, &workspace.root, &arguments, b"").ok();
    if listed.is_some_and(|listed| listed.success && !listed.stdout.is_empty()) {
        return None;
    }
    Some(format!(
        "{name} is left out, because it may have come with the project: ask for it (`history`, `slop aggregate --history \
         {name}`), or list the project under `trust.projects` in your own settings"
    ))
}

fn read_discussion(workspace: &Workspace<'_>, discussion: &DiscussionSource) -> Result<Discussion, Error> {
    let (path, is_named) = match &discussion.text {
        DiscussionText::File { path, is_named } => (spelled_file(workspace, path), *is_named),
        DiscussionText::Request { messages, .. } => {
            let read = sections::read_discussion(messages, Some(DataSyntax::Json), None);
            return read
                .map_err(|source| Error::Discussion { path: PathBuf::from("of the request"), source });
        }
    };
    // A path that the user typed may lead anywhere. A path from the project's own files must not make slop read outside
    // of the project.
    let read = if is_named {
        bytes_anywhere(workspace, &path)
    } else {
        bytes_inside(workspace, path.strip_prefix(&workspace.root).unwrap_or(&path))
    };
    let bytes = read.map_err(|source| Error::DiscussionFile { path: path.clone(), source })?;
    let syntax = path.extension().and_then(OsStr::to_str).and_then(DataSyntax::from_extension);
    let read = sections::read_discussion(&bytes, syntax, discussion.take.as_deref());
    read.map_err(|source| Error::Discussion { path, source })
}

/// Returns the file that a path spells, from the root. A name that is not UTF-8 is spelled as it is printed, unless a
/// file has that very spelling as its name.
fn spelled_file(workspace: &Workspace<'_>, path: &Path) -> PathBuf {
    let literal = workspace.root.join(path);
    match unescaped_path(path_bytes(path)) {
        Some(meant) if workspace.world.disk.read_prefix(&literal, 0).is_err() => {
            workspace.root.join(bytes_as_path(&meant))
        }
        Some(_) | None => literal,
    }
}

fn bytes_anywhere(workspace: &Workspace<'_>, path: &Path) -> io::Result<Vec<u8>> {
    let limit = workspace.options.section_bytes;
    // One byte more than allowed distinguishes a file at the limit from one beyond it.
    let bytes = workspace.world.disk.read_prefix(path, limit.saturating_add(1))?;
    if limit < bytes.len() as u64 {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, too_large(limit, "section_bytes")));
    }
    Ok(bytes)
}

/// Returns the bytes of a file that came with the project, without following links, which could lead anywhere.
fn bytes_inside(workspace: &Workspace<'_>, path: &Path) -> io::Result<Vec<u8>> {
    let path = RelPath::new(path_bytes(path))
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "outside of the project"))?;
    let bytes = read_section_file(workspace, &path, workspace.options.section_bytes, "section_bytes");
    bytes.map_err(io::Error::other)?.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
}

fn screenshot(workspace: &Workspace<'_>, file: &ImageFile, request: &SectionRequest) -> Screenshot {
    let inline = request.inline;
    let (path, found) = match file {
        ImageFile::Asked(path) => {
            (path.to_string_lossy().into_owned(), image_anywhere(workspace, path, inline))
        }
        ImageFile::OfProject(path) => (path.clone(), image_inside(workspace, path, inline)),
    };
    let limit = workspace.options.screenshot_bytes;
    let picture = match found {
        Err(reason) => ScreenshotImage::Failed(reason),
        Ok(None) if is_not_an_image(workspace, file) => ScreenshotImage::Failed("not an image".to_owned()),
        Ok(None) => ScreenshotImage::Link,
        Ok(Some(bytes)) if limit < bytes.len() as u64 => {
            ScreenshotImage::Failed(too_large(limit, "screenshot_bytes"))
        }
        // By its bytes, because a file's name may claim another format, and the request has to declare the right one.
        Ok(Some(bytes)) => match sections::image_media_type(&bytes) {
            Some(media_type) if request.refused_images.contains(&media_type) => {
                ScreenshotImage::Failed(format!("{media_type} is not accepted by the model"))
            }
            Some(media_type) => ScreenshotImage::Inline { media_type, bytes },
            None => ScreenshotImage::Failed("not a PNG, JPEG, GIF or WebP".to_owned()),
        },
    };
    Screenshot { path, image: picture }
}

/// Returns an image of the project with its media type.
pub(in crate::engine) fn project_image(
    workspace: &Workspace<'_>,
    word: &str,
) -> Result<(&'static str, Vec<u8>), Error> {
    let file = spelled_file(workspace, Path::new(&normalized_path(word)));
    let path = RelPath::new(path_bytes(file.strip_prefix(&workspace.root).unwrap_or(&file)));
    let path = path.map_err(|source| Error::BadPath { path: printable(word), source })?;
    let is_absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    if workspace.files.stat(&path).is_err_and(|error| is_absent(&error)) {
        return Err(Error::NoSuchFile { path, nearest: Vec::new() });
    }
    let request = SectionRequest { inline: true, ..SectionRequest::nothing() };
    match screenshot(workspace, &ImageFile::OfProject(word.to_owned()), &request).image {
        ScreenshotImage::Inline { media_type, bytes } => Ok((media_type, bytes)),
        ScreenshotImage::Failed(reason) => Err(Error::NoImage { path, reason }),
        ScreenshotImage::Link => Err(Error::NoImage { path, reason: "not read".to_owned() }),
    }
}

/// Returns whether neither the name nor the bytes of a readable file are those of an image.
fn is_not_an_image(workspace: &Workspace<'_>, file: &ImageFile) -> bool {
    // What a browser or an image viewer shows; models accept only some of these.
    const EXTENSIONS: [&str; 17] = [
        "apng", "avif", "bmp", "gif", "heic", "heif", "ico", "jfif", "jpeg", "jpg", "jxl", "pdf", "png",
        "svg", "tif", "tiff", "webp",
    ];
    let path = match file {
        ImageFile::Asked(path) => path.as_path(),
        ImageFile::OfProject(path) => Path::new(path),
    };
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    if EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension)) {
        return false;
    }
    let bytes = match file {
        ImageFile::Asked(path) => image_anywhere(workspace, path, true),
        ImageFile::OfProject(path) => image_inside(workspace, path, true),
    };
    bytes.is_ok_and(|bytes| bytes.is_some_and(|bytes| sections::image_media_type(&bytes).is_none()))
}

/// Returns the bytes of an image; `None` if a link is enough and the file exists.
fn image_anywhere(workspace: &Workspace<'_>, path: &Path, inline: bool) -> Result<Option<Vec<u8>>, String> {
    let most = if inline { workspace.options.screenshot_bytes.saturating_add(1) } else { 0 };
    let read = workspace.world.disk.read_prefix(&spelled_file(workspace, path), most);
    read.map(|bytes| inline.then_some(bytes)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "file not found".to_owned(),
        _ => error.to_string(),
    })
}

fn image_inside(workspace: &Workspace<'_>, path: &str, inline: bool) -> Result<Option<Vec<u8>>, String> {
    let path = spelled_file(workspace, Path::new(&normalized_path(path)));
    let path = path_bytes(path.strip_prefix(&workspace.root).unwrap_or(&path));
    let path = RelPath::new(path).map_err(|_| "outside of the project".to_owned())?;
    if inline {
        return read_section_file(workspace, &path, workspace.options.screenshot_bytes, "screenshot_bytes")?
            .map_or_else(|| Err("file not found".to_owned()), |bytes| Ok(Some(bytes)));
    }
    match workspace.files.stat(&path) {
        Ok(stat) if stat.kind == FileKind::Regular => Ok(None),
        Ok(_) => Err("not a regular file".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err("file not found".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the bytes of a file of the project; `None` if there is no such file, and a message if it cannot be read.
fn read_section_file(
    workspace: &Workspace<'_>,
    path: &RelPath,
    limit: u64,
    setting: &str,
) -> Result<Option<Vec<u8>>, String> {
    for _ in 0..TRIES {
        match workspace.files.read(path, limit) {
            Ok(reading) => return Ok(Some(reading.bytes)),
            Err(ReadError::Changing) => {}
            Err(ReadError::TooLarge { .. }) => return Err(too_large(limit, setting)),
            Err(ReadError::NotRegular(_)) => return Err("not a regular file".to_owned()),
            Err(ReadError::Io(error)) => {
                // If a parent is not a folder, the file is absent.
                let is_absent =
                    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
                return if is_absent { Ok(None) } else { Err(error.to_string()) };
            }
        }
    }
    Err("kept changing while it was read".to_owned())
}

/// Returns the tracked work from the first source that can be read; `None` where Beads is not used.
fn tracked_work(workspace: &Workspace<'_>, problems: &mut Vec<SectionProblem>) -> Option<BeadsList> {
    let mut reasons = Vec::new();
    let sources: [&dyn Fn() -> Result<Option<BeadsList>, String>; 3] =
        [&|| issues_in(workspace, ISSUES), &|| issues_listed(workspace), &|| issues_in(workspace, MOCK)];
    let found = sources.iter().find_map(|source| match source() {
        Ok(found) => found,
        Err(reason) => {
            reasons.push(reason);
            None
        }
    });
    let problem = |reason: String, is_error| SectionProblem { section: "beads", reason, is_error };
    let sought = format!("no issues found in {}, by `bd list` or in {}", ISSUES.0, MOCK.0);
    if found.is_none() && !has_beads(workspace) {
        // Whatever the reason, a reader of the document could do nothing about it.
        problems.push(problem(sought, false));
        return None;
    }
    problems.extend(reasons.iter().map(|reason| problem(reason.clone(), false)));
    if let Some(beads) = found {
        if 0 < beads.skipped {
            problems.push(problem(format!("{} issues could not be understood", beads.skipped), false));
        }
        return Some(beads);
    }
    let failure = reasons.into_iter().fold(sought, |words, reason| format!("{words}; {reason}"));
    problems.push(problem(failure.clone(), true));
    Some(BeadsList { failure: Some(failure), ..BeadsList::default() })
}

/// Returns whether the project has a folder of Beads, or a mock of it.
fn has_beads(workspace: &Workspace<'_>) -> bool {
    [ISSUES.0, MOCK.0].iter().any(|name| {
        let folder = name.split('/').next().unwrap_or_default();
        let folder = RelPath::new(folder.as_bytes()).expect("the names are constants and valid paths");
        workspace.files.stat(&folder).is_ok_and(|stat| stat.kind == FileKind::Directory)
    })
}

fn issues_in(
    workspace: &Workspace<'_>,
    (name, syntax): (&str, DataSyntax),
) -> Result<Option<BeadsList>, String> {
    let path = RelPath::new(name.as_bytes()).expect("the names are constants and valid paths");
    let bytes = read_section_file(workspace, &path, workspace.options.section_bytes, "section_bytes");
    let Some(bytes) = bytes.map_err(|reason| format!("{name}: {reason}"))? else { return Ok(None) };
    sections::read_beads(&bytes, syntax).map(Some).map_err(|error| format!("{name}: {error}"))
}

fn issues_listed(workspace: &Workspace<'_>) -> Result<Option<BeadsList>, String> {
    let mut reason = String::new();
    for arguments in LISTINGS {
        let words: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let finished = match workspace.world.processes.run("bd", &words, &workspace.root, &[], b"") {
            Ok(finished) => finished,
            // A missing program is not a failure, only one source less.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("`bd list`: {error}")),
        };
        if finished.success {
            let beads = sections::read_beads(&finished.stdout, DataSyntax::Json);
            return beads.map(Some).map_err(|error| format!("`bd list`: {error}"));
        }
        let message = String::from_utf8_lossy(&finished.stderr).into_owned();
        // Text of another program goes into the document: one line of it, bounded, and escaped below.
        let message: String = message.lines().next().unwrap_or_default().chars().take(200).collect();
        reason = format!("`bd list` failed: {}", message.escape_debug());
    }
    Err(reason)
}

fn missing(screenshot: &Screenshot) -> Option<SectionProblem> {
    let ScreenshotImage::Failed(reason) = &screenshot.image else { return None };
    let reason = format!("{}: {reason}", screenshot.path.escape_debug());
    Some(SectionProblem { section: "screenshots", reason, is_error: true })
}

fn too_large(limit: u64, setting: &str) -> String {
    format!("larger than limits.{setting} ({limit} bytes)")
}
