//! `slop link`: the folders that are linked to a project, and the consent to those that a project proposes.

use std::io;
use std::io::{BufRead, IsTerminal, Read};
use std::path::Path;

use serde_json::{Value, json};

use super::context::CommandContext;
use crate::api::{ApiError, FileState, FilesQuery};
use crate::cli::failure::{self, CommandError};
use crate::cli::link_args::LinkCommand;
use crate::cli::place::ProcessEnvironment;
use crate::config::{Link, Links, NAME_FORM, NamedBy, Resource, ResourceState, kind_of, link_to};
use crate::model::{
    LinkedFolder, ResourceKind, SkipReason, is_resource_name, path_bytes, path_text, printable,
};
use crate::render::{format_grouped, format_size};
use crate::service::{LinkedSize, edit_links, is_own_worktree, measure_linked};
use crate::sys::{Clock, WallClock};

pub(super) fn run(
    command: &LinkCommand,
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    match command {
        LinkCommand::Add { folder: Some(folder), name, kind, submodules: _ } => {
            add(folder, name.as_deref(), *kind, environment, context)
        }
        LinkCommand::Add { folder: None, .. } => add_checkouts(environment, context),
        LinkCommand::List => list(context),
        LinkCommand::Trust { names, all: _, yes } => trust(names, *yes, environment, context),
        LinkCommand::Remove { name } => remove(name, environment, context),
    }
}

fn add(
    folder: &Path,
    name: Option<&str>,
    kind: Option<ResourceKind>,
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let root = context.location.root.clone();
    let path = environment.current_folder.join(folder).canonicalize().map_err(|error| {
        let message = format!("folder `{}` cannot be opened: {error}", printable(&folder.to_string_lossy()));
        CommandError::usage(message, "give the path of a folder that is there")
    })?;
    if let Some(name) = name.filter(|name| !is_resource_name(name)) {
        let message = format!("`{}` is not a name for a linked folder", printable(name));
        return Err(CommandError::usage(message, format!("a name has {NAME_FORM}")));
    }
    let mut added = None;
    edit_links(&environment.sources, &root, |links| {
        let resource = new_resource(links, &root, path, name, kind)?;
        let link = link_to(&root, &resource, now_s()).ok_or_else(|| not_linkable(&resource))?;
        let all = links.with_link(&root, &link.name, Some(link.clone()));
        added = Some((resource, link.name));
        Ok(all)
    })?;
    let (resource, _) = added.expect("an edit that succeeds has added a link");
    let line = format!("@{} = {}", resource.folder.name, folder_text(&resource.folder));
    context.write_result(&entry(&resource), &line)
}

/// Links the checkouts within the project that are not linked yet: its submodules, and repositories that git does not track.
fn add_checkouts(
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    const REASONS: [&str; 2] = [SkipReason::Submodule.name(), SkipReason::NestedRepository.name()];
    let root = context.location.root.clone();
    let files = context.ask(FilesQuery::default())?.files;
    let is_checkout =
        |file: &&FileState| file.reason.as_deref().is_some_and(|reason| REASONS.contains(&reason));
    // One that is linked is listed by its files.
    let found: Vec<&FileState> = files.iter().filter(is_checkout).collect();
    let (mut added, mut left_out) = (Vec::new(), Vec::new());
    edit_links(&environment.sources, &root, |links| {
        let mut all = links.clone();
        for file in &found {
            match link_checkout(&all, &root, file) {
                Ok((resource, link)) => {
                    all = all.replaced(all.with_link(&root, &link.name, Some(link.clone())));
                    added.push(resource);
                }
                // The others are linked all the same.
                Err(reason) => left_out.push(reason),
            }
        }
        Ok(all.into_links())
    })?;
    if context.output.json {
        let added: Vec<Value> = added.iter().map(entry).collect();
        return context.write_data(&json!({ "added": added, "left_out": left_out }));
    }
    for reason in &left_out {
        context.output.note(reason);
    }
    for resource in &added {
        context.write_line(&format!("@{} = {}", resource.folder.name, folder_text(&resource.folder)))?;
    }
    if added.is_empty() && left_out.is_empty() {
        context.output.message("there is no checkout within the project that is not linked");
    }
    Ok(failure::DONE)
}

/// Returns the link to a checkout within the project, or the reason why it cannot be linked.
fn link_checkout(links: &Links, root: &Path, file: &FileState) -> Result<(Resource, Link), String> {
    let shown = printable(&file.path);
    if file.path_hex.is_some() {
        return Err(format!("{shown} is not linked: its path is not UTF-8"));
    }
    let path = root.join(&file.path);
    // That of a submodule that was never initialized is empty.
    if path.join(".git").symlink_metadata().is_err() {
        return Err(format!("{shown} is not linked: it is not checked out (`git submodule update --init`)"));
    }
    let real = path.canonicalize().map_err(|error| format!("{shown} is not linked: {error}"))?;
    // Git has a checkout there, but a link may have taken its place: nobody has named what it leads to.
    if real != path {
        return Err(format!("{shown} is not linked: it is a symbolic link, or behind one"));
    }
    if is_own_worktree(root, &path) {
        return Err(format!("{shown} is not linked: it is a worktree of the project's own repository"));
    }
    let own_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut name = Links::fitting_name(&own_name);
    if links.is_taken(&name, root) {
        name = links.free_name(&name, root);
    }
    let resource = new_resource(links, root, path, Some(&name), None).map_err(|error| error.message)?;
    let link = link_to(root, &resource, now_s()).ok_or_else(|| not_linkable(&resource).message)?;
    Ok((resource, link))
}

/// Returns the resource that a user adds, unless it is refused.
fn new_resource(
    links: &Links,
    root: &Path,
    path: std::path::PathBuf,
    name: Option<&str>,
    kind: Option<ResourceKind>,
) -> Result<Resource, ApiError> {
    let own_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let wanted = name.map_or_else(|| Links::fitting_name(&own_name), str::to_owned);
    let kind = kind.unwrap_or_else(|| kind_of(&path));
    let folder = LinkedFolder { name: wanted, kind, path, identity: None };
    let shown = folder_text(&folder);
    if let Some(reason) = links.refusal(&folder.path, root) {
        return Err(ApiError::user(
            "refused",
            format!("{shown} cannot be linked: {reason}"),
            "link another folder",
        ));
    }
    if folder.path.starts_with(root) && !folder.path.join(".git").exists() {
        let message = format!("{shown} cannot be linked: its files are files of the project");
        let hint = "within the project only a checkout of its own can be linked; `[[resources]]` in slop.toml names others";
        return Err(ApiError::user("refused", message, hint));
    }
    if let Some(other) = links.overlapping(&folder.path, root) {
        let message = format!("{shown} cannot be linked: it overlaps @{other}");
        return Err(ApiError::user("refused", message, "remove that link first with `slop link remove`"));
    }
    if links.is_taken(&folder.name, root) {
        let free = links.free_name(&folder.name, root);
        let message = format!("the name @{} is in use", folder.name);
        return Err(ApiError::user(
            failure::USAGE,
            message,
            format!("name it otherwise, as with --name {free}"),
        ));
    }
    Ok(Resource { folder, named_by: NamedBy::User, state: ResourceState::Linked, proposed_as: None })
}

fn list(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let resources = context.loaded.links.resources(&context.location.root);
    if context.output.json {
        let links: Vec<Value> = resources.iter().map(entry).collect();
        return context.write_data(&json!({ "links": links }));
    }
    for resource in &resources {
        let LinkedFolder { name, kind, .. } = &resource.folder;
        let (folder, state) = (folder_text(&resource.folder), resource.state.name());
        let reason = match resource.state.reason() {
            "" => String::new(),
            reason => format!(" ({reason})"),
        };
        let by = named_by(resource);
        context.write_line(&format!("@{name}  {}  {folder}  by {by}  {state}{reason}", kind.name()))?;
    }
    Ok(failure::DONE)
}

fn trust(
    names: &[String],
    is_agreed: bool,
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let root = context.location.root.clone();
    let proposed: Vec<Resource> = context.loaded.links.resources(&root);
    let proposed: Vec<Resource> = proposed
        .into_iter()
        .filter(|resource| resource.state == ResourceState::WantsConsent)
        .filter(|resource| names.is_empty() || names.contains(&resource.folder.name))
        .collect();
    let is_proposed = |name: &&String| proposed.iter().any(|resource| resource.folder.name == **name);
    if let Some(unknown) = names.iter().find(|name| !is_proposed(name)) {
        let message = format!("the project proposes no folder @{} that wants consent", printable(unknown));
        return Err(CommandError::usage(message, "`slop link list` shows what is proposed"));
    }
    for resource in &proposed {
        let LinkedSize { files, bytes } = measure_linked(&resource.folder, &root, context.loaded)?;
        let (name, kind) = (&resource.folder.name, resource.folder.kind.name());
        context.output.message(&printable(&format!(
            "@{name} = {} ({kind}): {} files, {}",
            folder_text(&resource.folder),
            format_grouped(files),
            format_size(bytes)
        )));
    }
    if !proposed.is_empty() && !is_agreed && !confirm(context) {
        let message = "nothing was linked: consent was not given";
        return Err(CommandError::usage(message, "answer `y` on a terminal, or give --yes"));
    }
    edit_links(&environment.sources, &root, |links| {
        // The folders that were shown: what has taken the place of one since is not linked.
        let now = links.resources(&root);
        let mut all = links.clone();
        for shown in &proposed {
            let same = now.iter().find(|resource| *resource == shown).ok_or_else(|| not_linkable(shown))?;
            let link = link_to(&root, same, now_s()).ok_or_else(|| not_linkable(shown))?;
            all = all.replaced(all.with_link(&root, &link.name, Some(link.clone())));
        }
        Ok(all.into_links())
    })?;
    let linked: Vec<Value> = proposed.iter().map(|resource| json!(resource.folder.name)).collect();
    if context.output.json {
        return context.write_data(&json!({ "trusted": linked }));
    }
    for resource in &proposed {
        context.write_line(&format!("@{} = {}", resource.folder.name, folder_text(&resource.folder)))?;
    }
    Ok(failure::DONE)
}

fn remove(
    name: &str,
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let name = name.strip_prefix('@').unwrap_or(name);
    let root = context.location.root.clone();
    edit_links(&environment.sources, &root, |links| {
        if !links.has_link(name, &root) {
            let message = format!("no folder is linked as @{}", printable(name));
            return Err(ApiError::user("not_found", message, "`slop link list` shows the linked folders"));
        }
        Ok(links.with_link(&root, name, None))
    })?;
    context.write_result(&json!({ "removed": name }), &format!("removed @{name}"))
}

fn confirm(context: &mut CommandContext<'_>) -> bool {
    if !(io::stdin().is_terminal() && context.output.is_interactive()) {
        return false;
    }
    context.output.prompt("Let the project show these files to its readers? [y/N] ");
    let mut answer = String::new();
    // An answer that cannot be read is a no.
    let _ = io::stdin().lock().take(1_000).read_line(&mut answer);
    matches!(answer.trim(), "y" | "Y" | "yes")
}

fn not_linkable(resource: &Resource) -> ApiError {
    let message = format!("{} cannot be linked as it is now", folder_text(&resource.folder));
    ApiError::environment("changed_meanwhile", message, "nothing was written; try again")
}

fn entry(resource: &Resource) -> Value {
    let LinkedFolder { name, kind, .. } = &resource.folder;
    json!({
        "name": name,
        "kind": kind.name(),
        "path": folder_text(&resource.folder),
        "named_by": named_by(resource),
        "state": resource.state.name(),
        "reason": resource.state.reason(),
    })
}

const fn named_by(resource: &Resource) -> &'static str {
    match resource.named_by {
        NamedBy::User => "user",
        NamedBy::Project => "project",
    }
}

fn folder_text(folder: &LinkedFolder) -> String {
    printable(&path_text(path_bytes(&folder.path)))
}

fn now_s() -> i64 {
    WallClock.now_ns() / 1_000_000_000
}
