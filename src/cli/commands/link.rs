//! `slop link`: the linked folders of a project, and consent to those that a project proposes.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use super::asking::pluralize;
use super::context::CommandContext;
use crate::api::{ApiError, FileState, FilesQuery, LinkState, LinksQuery};
use crate::cli::failure::{self, CommandError};
use crate::cli::link_args::LinkCommand;
use crate::cli::location::ProcessEnvironment;
use crate::config::{
    Link, Links, LoadedConfig, NAME_FORM, NamedBy, Resource, ResourceState, kind_of, link_to,
};
use crate::model::{
    LinkedFolder, ResourceKind, SkipReason, is_resource_name, path_bytes, path_text, printable,
};
use crate::render::format_size;
use crate::service::{LinkedSize, checkouts_within, edit_links, is_own_worktree, link_state, measure_linked};
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
    let path = dunce::canonicalize(environment.current_folder.join(folder)).map_err(|error| {
        let message = format!("folder `{}` cannot be opened: {error}", printable(&folder.to_string_lossy()));
        CommandError::usage(message, "give the path of an existing folder")
    })?;
    if let Some(name) = name.filter(|name| !is_resource_name(name)) {
        let message = format!("`{}` is not a name for a linked folder", printable(name));
        return Err(CommandError::usage(message, format!("a name has {NAME_FORM}")));
    }
    let mut added = None;
    edit_links(&environment.sources, &root, |links| {
        let resource = new_resource(links, &root, path, name, kind)?;
        let link = link_to(&root, &resource, WallClock.now_s()).ok_or_else(|| not_linkable(&resource))?;
        let all = links.with_link(&root, &link.name, Some(link.clone()));
        added = Some((resource, link.name));
        Ok(all)
    })?;
    let (resource, _) = added.expect("an edit that succeeds has added a link");
    let line = format!("@{} = {}", resource.folder.name, folder_text(&resource.folder));
    context.write_result(&link_state(&resource), &line)
}

/// A checkout within the project.
struct FoundCheckout {
    /// Its path for display.
    shown: String,
    path: PathBuf,
}

/// A checkout that is not linked, and why.
#[derive(Serialize)]
struct LeftOut {
    path: String,
    reason: String,
}

/// Links the checkouts within the project that are not linked yet: submodules, including nested ones, and repositories
/// that git does not track.
fn add_checkouts(
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let root = context.location.root.clone();
    let loaded = context.loaded;
    let files = context.ask(FilesQuery::default())?.files;
    let (mut added, mut left_out) = (Vec::new(), Vec::new());
    // A linked checkout is listed by its files.
    let mut found: VecDeque<FoundCheckout> =
        files.iter().filter_map(|file| found_checkout(file, loaded, &root, &mut left_out)).collect();
    edit_links(&environment.sources, &root, |links| {
        let mut all = links.clone();
        while let Some(checkout) = found.pop_front() {
            match link_checkout(&all, &root, &checkout) {
                Ok((resource, link)) => {
                    all = all.replaced(all.with_link(&root, &link.name, Some(link.clone())));
                    let inner = checkouts_within(&resource.folder, &root, loaded)?;
                    found.extend(inner.iter().map(|inner| FoundCheckout {
                        shown: format!("{}/{inner}", checkout.shown),
                        path: checkout.path.join(inner.as_path()),
                    }));
                    added.push(resource);
                }
                // The others are linked all the same.
                Err(reason) => left_out.push(LeftOut { path: checkout.shown, reason }),
            }
        }
        Ok(all.into_links())
    })?;
    if context.output.json {
        let added: Vec<LinkState> = added.iter().map(link_state).collect();
        return context.write_data(&json!({ "added": added, "left_out": left_out }));
    }
    for LeftOut { path, reason } in &left_out {
        context.output.note(&printable(&format!("{path} is not linked: {reason}")));
    }
    for resource in &added {
        context.write_line(&format!("@{} = {}", resource.folder.name, folder_text(&resource.folder)))?;
    }
    if added.is_empty() && left_out.is_empty() {
        context.output.message("all checkouts within the project are linked");
    }
    Ok(failure::DONE)
}

/// Returns the checkout within the project that a listed file stands for.
fn found_checkout(
    file: &FileState,
    loaded: &LoadedConfig,
    root: &Path,
    left_out: &mut Vec<LeftOut>,
) -> Option<FoundCheckout> {
    const REASONS: [&str; 2] = [SkipReason::Submodule.name(), SkipReason::NestedRepository.name()];
    file.reason.as_deref().filter(|reason| REASONS.contains(reason))?;
    let path = loaded.links.locate(&file.path, root);
    // The user has not named the checkouts within a linked folder outside of the project.
    if !path.starts_with(root) {
        return None;
    }
    if file.path_hex.is_some() {
        left_out.push(LeftOut { path: file.path.clone(), reason: "its path is not UTF-8".to_owned() });
        return None;
    }
    Some(FoundCheckout { shown: file.path.clone(), path })
}

/// Returns the link to a checkout within the project, or the reason why it cannot be linked.
fn link_checkout(
    links: &Links,
    root: &Path,
    FoundCheckout { path, .. }: &FoundCheckout,
) -> Result<(Resource, Link), String> {
    // The folder of a submodule that was never initialized is empty.
    if path.join(".git").symlink_metadata().is_err() {
        return Err("it is not checked out (`git submodule update --init --recursive`)".to_owned());
    }
    let real = dunce::canonicalize(path).map_err(|error| error.to_string())?;
    // Git lists a checkout here, but a link may have replaced it, whose target the user has not named.
    if real != *path {
        return Err("it is a symbolic link, or behind one".to_owned());
    }
    if is_own_worktree(root, path) {
        return Err("it is a worktree of the project's own repository".to_owned());
    }
    let own_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut name = Links::fitting_name(&own_name);
    if links.is_taken(&name, root) {
        name = links.free_name(&name, root);
    }
    let resource = new_resource(links, root, real, Some(&name), None).map_err(|error| error.message)?;
    let link = link_to(root, &resource, WallClock.now_s()).ok_or_else(|| not_linkable(&resource).message)?;
    Ok((resource, link))
}

/// Returns the resource that a user adds, or the reason for rejecting it.
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
    let folder = LinkedFolder { name: wanted, kind, path, identity: None, linked_at_s: None };
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
    if let Some(other) = links.overlapping(&folder, root) {
        let message = format!("{shown} cannot be linked: it overlaps @{other}");
        return Err(ApiError::user("refused", message, "remove that link first with `slop link remove`"));
    }
    if links.is_taken(&folder.name, root) {
        let free = links.free_name(&folder.name, root);
        let message = format!("the name @{} is in use", folder.name);
        let hint = format!("choose another name, such as --name {free}");
        return Err(ApiError::user("name_in_use", message, hint));
    }
    Ok(Resource { folder, named_by: NamedBy::User, state: ResourceState::Linked, proposed_as: None })
}

fn list(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let links = context.ask(LinksQuery::default())?;
    if context.output.json {
        return context.write_data(&links);
    }
    for LinkState { name, kind, path, named_by, state, reason } in &links.links {
        let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        context.write_line(&format!("@{name}  {kind}  {path}  by {named_by}  {state}{reason}"))?;
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
        let message = format!("the project proposes no folder @{} that needs consent", printable(unknown));
        return Err(CommandError::usage(message, "`slop link list` shows what is proposed"));
    }
    for resource in &proposed {
        let LinkedSize { files, bytes } = measure_linked(&resource.folder, &root, context.loaded)?;
        let (name, kind) = (&resource.folder.name, resource.folder.kind.name());
        context.output.message(&printable(&format!(
            "@{name} = {} ({kind}): {}, {}",
            folder_text(&resource.folder),
            pluralize(files, "file", "files"),
            format_size(bytes)
        )));
    }
    let question = "Let the project show these files to its readers?";
    if !proposed.is_empty() && !is_agreed && context.output.confirm(question) != Some(true) {
        let message = "nothing was linked: consent was not given";
        return Err(CommandError::usage(message, "answer `y` on a terminal, or give --yes"));
    }
    edit_links(&environment.sources, &root, |links| {
        // Only the folders that were shown are linked, not what has replaced one since.
        let now = links.resources(&root);
        let mut all = links.clone();
        for shown in &proposed {
            let same = now.iter().find(|resource| *resource == shown).ok_or_else(|| not_linkable(shown))?;
            let link = link_to(&root, same, WallClock.now_s()).ok_or_else(|| not_linkable(shown))?;
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

fn not_linkable(resource: &Resource) -> ApiError {
    let message = format!("{} cannot be linked as it is now", folder_text(&resource.folder));
    ApiError::environment("changed_meanwhile", message, "nothing was written; try again")
}

fn folder_text(folder: &LinkedFolder) -> String {
    printable(&path_text(path_bytes(&folder.path)))
}
