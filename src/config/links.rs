//! Linked folders: the user's own file of links, the proposals in a project's `slop.toml`, and which of them take
//! effect.
//!
//! A project may come from anyone, so its file can only propose a folder outside of the project, which has no effect
//! until the user consents to that very folder. Some folders are never linked.

use std::path::{Component, Path, PathBuf};

use toml::Spanned;
use toml::de::DeValue;

use super::error::{Error, shortened_value};
use super::links_file::{BY_USER, Link};
use super::section::{SettingsSource, TomlSection};
use crate::discover::enclosing_checkout;
use crate::model::{
    ContentHash, FolderIdentity, LinkedFolder, ResourceKind, bytes_as_path, is_resource_name, path_text,
    split_resource,
};
use crate::sys::{RealDisk, is_own};

/// The form of a resource's name.
pub const NAME_FORM: &str =
    "1 to 40 of the characters a-z, 0-9, `.`, `_` and `-`, beginning with a letter or digit";

/// A folder that a project's file proposes as a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedResource {
    pub name: String,
    /// As written: absolute, or relative to the project's root.
    pub path: String,
    pub kind: Option<ResourceKind>,
}

/// Folders that are never linked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrivateFolders {
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The folder of slop's own settings.
    pub config: Option<PathBuf>,
}

/// The source of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBy {
    User,
    Project,
}

/// The state of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceState {
    Linked,
    /// A project's file proposes it, and the user has not consented.
    WantsConsent,
    Gone,
    /// The path leads to a different folder than the one that was linked.
    OtherFolder,
    /// It cannot be linked, for this reason.
    Refused(String),
}

impl ResourceState {
    /// Returns the stable name, as in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Linked => "linked",
            Self::WantsConsent => "wants consent",
            Self::Gone => "gone",
            Self::OtherFolder => "another folder",
            Self::Refused(_) => "refused",
        }
    }

    /// Returns why a resource is not linked; empty for one that is.
    pub fn reason(&self) -> &str {
        match self {
            Self::Linked => "",
            Self::WantsConsent => "the project proposes it",
            Self::Gone => "there is no such folder",
            Self::OtherFolder => "the path leads to another folder than the one that was linked",
            Self::Refused(reason) => reason,
        }
    }
}

/// A folder that is or could be part of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    pub folder: LinkedFolder,
    pub named_by: NamedBy,
    pub state: ResourceState,
    /// The path as written in the project's file.
    pub proposed_as: Option<String>,
}

impl Resource {
    /// Returns the folder if it is mounted: it is linked, whether or not it exists now.
    fn mounted(&self) -> Option<LinkedFolder> {
        match self.state {
            ResourceState::Linked | ResourceState::Gone | ResourceState::OtherFolder => {
                Some(self.folder.clone())
            }
            ResourceState::WantsConsent | ResourceState::Refused(_) => None,
        }
    }
}

/// The links of all projects, and the proposals of one project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links {
    pub(super) known: Vec<Link>,
    pub(super) proposed: Vec<ProposedResource>,
    pub(super) private: PrivateFolders,
}

impl Links {
    /// Returns the current resources of the project in the folder `root`, other than the root itself, by name.
    pub fn resources(&self, root: &Path) -> Vec<Resource> {
        let root_text = path_text(root.as_os_str().as_encoded_bytes());
        let own = || self.known.iter().filter(|link| link.project == root_text);
        let mut resources: Vec<Resource> =
            own().filter(|link| link.consent == BY_USER).map(|link| self.of_user(link, root)).collect();
        for proposed in &self.proposed {
            // A project cannot rename what the user has named.
            if !resources.iter().any(|known| known.folder.name == proposed.name) {
                let consented = own().find(|link| link.consent != BY_USER && link.name == proposed.name);
                resources.push(self.of_project(proposed, consented, root));
            }
        }
        resources.sort_by(|one, other| one.folder.name.cmp(&other.folder.name));
        // Of two overlapping folders, the linked one is kept; of two linked ones the user's, or else the first.
        for at in 0..resources.len() {
            let rival = resources.iter().enumerate().find(|(other_at, other)| {
                let rank = |resource: &Resource, at| {
                    (resource.mounted().is_none(), resource.named_by == NamedBy::Project, at)
                };
                other.mounted().is_some()
                    && rank(other, *other_at) < rank(&resources[at], at)
                    && conflict(&other.folder, &resources[at].folder, root)
            });
            if let Some((_, rival)) = rival {
                let reason = format!("it overlaps @{}", rival.folder.name);
                resources[at].state = ResourceState::Refused(reason);
            }
        }
        resources
    }

    /// Returns the folders that are mounted in the project in the folder `root`, by name.
    pub fn mounted(&self, root: &Path) -> Vec<LinkedFolder> {
        self.resources(root).iter().filter_map(Resource::mounted).collect()
    }

    /// Returns the location of a file of the project, which may be in a linked folder.
    pub fn locate(&self, path: &str, root: &Path) -> PathBuf {
        let Some((name, inside)) = split_resource(path.as_bytes()) else { return root.join(path) };
        let mounted = self.mounted(root).into_iter().find(|folder| folder.name.as_bytes() == name);
        mounted.map_or_else(|| root.join(path), |folder| folder.path.join(bytes_as_path(inside)))
    }

    /// Returns notes about proposals without effect.
    pub fn notes(&self, root: &Path) -> Vec<String> {
        let note = |resource: &Resource| {
            let (name, path) = (&resource.folder.name, resource.proposed_as.as_deref());
            match (&resource.state, path) {
                (ResourceState::WantsConsent, Some(path)) => Some(format!(
                    "slop.toml proposes @{name} = {}; 'slop link trust' shows what that is",
                    shortened_value(path)
                )),
                (ResourceState::OtherFolder, _) => {
                    Some(format!("@{name}: {}; 'slop link list' shows which", resource.state.reason()))
                }
                (ResourceState::Refused(reason), _) => Some(format!("@{name} is refused: {reason}")),
                (ResourceState::Linked | ResourceState::Gone | ResourceState::WantsConsent, _) => None,
            }
        };
        self.resources(root).iter().filter_map(note).collect()
    }

    fn of_user(&self, link: &Link, root: &Path) -> Resource {
        let kind = ResourceKind::from_name(&link.kind).unwrap_or(ResourceKind::Directory);
        let folder = linked_folder(link, kind);
        let state = self.state_of(&folder, root);
        Resource { folder, named_by: NamedBy::User, state, proposed_as: None }
    }

    fn of_project(&self, proposed: &ProposedResource, consented: Option<&Link>, root: &Path) -> Resource {
        let resource = |folder, state| Resource {
            folder,
            named_by: NamedBy::Project,
            state,
            proposed_as: Some(proposed.path.clone()),
        };
        let written = root.join(&proposed.path);
        let Ok(path) = dunce::canonicalize(&written) else {
            // A folder that the user consented to stays part of the project while it does not exist.
            let agreed = consented.filter(|link| {
                proposed.kind.is_none_or(|kind| kind.name() == link.kind)
                    && lexical(&written) == Path::new(&link.path)
            });
            let kind = proposed.kind.unwrap_or(ResourceKind::Directory);
            let (name, path) = (proposed.name.clone(), lexical(&written));
            let unknown = LinkedFolder { name, kind, path, identity: None, linked_at_s: None };
            let gone = "there is no such folder".to_owned();
            return match agreed {
                Some(link) => {
                    let kind = ResourceKind::from_name(&link.kind).unwrap_or(kind);
                    resource(linked_folder(link, kind), ResourceState::Gone)
                }
                None if unknown.path.starts_with(root) => resource(unknown, ResourceState::Gone),
                None => resource(unknown, ResourceState::Refused(gone)),
            };
        };
        let kind = proposed.kind.unwrap_or_else(|| kind_of(&path));
        let identity = folder_identity(&path);
        let is_inside = path.starts_with(root);
        let folder = LinkedFolder {
            name: proposed.name.clone(),
            kind,
            path,
            identity: identity.filter(|_| !is_inside),
            linked_at_s: consented.filter(|_| !is_inside).map(|link| link.added_at),
        };
        let state = match self.state_of(&folder, root) {
            ResourceState::Linked if !is_inside => {
                let digest = proposal_digest(root, &folder);
                let has_consent = consented.is_some_and(|link| link.consent == digest);
                if has_consent { ResourceState::Linked } else { ResourceState::WantsConsent }
            }
            state => state,
        };
        resource(folder, state)
    }

    fn state_of(&self, folder: &LinkedFolder, root: &Path) -> ResourceState {
        match dunce::canonicalize(&folder.path) {
            Err(_) => return ResourceState::Gone,
            Ok(path) if path != folder.path => return ResourceState::OtherFolder,
            Ok(_) => {}
        }
        if let Some(reason) = self.refusal(&folder.path, root) {
            return ResourceState::Refused(reason);
        }
        let is_same = folder.identity.is_none() || folder_identity(&folder.path) == folder.identity;
        if is_same { ResourceState::Linked } else { ResourceState::OtherFolder }
    }

    /// Returns why a folder, an absolute path without links, cannot be linked to the project in the folder `root`.
    pub fn refusal(&self, folder: &Path, root: &Path) -> Option<String> {
        if !folder.is_dir() {
            return Some("it is not a folder".to_owned());
        }
        if folder.parent().is_none() {
            return Some("it is the root of the file system".to_owned());
        }
        let private = &self.private;
        if private.home.as_deref() == Some(folder) {
            return Some("it is your home folder".to_owned());
        }
        if root.starts_with(folder) {
            return Some("it contains the project".to_owned());
        }
        let own = |name: &str| private.home.iter().map(|home| home.join(name)).collect::<Vec<_>>();
        let mut guarded = [own(".ssh"), own(".gnupg"), own(".local/state/slop")].concat();
        guarded.extend(private.config.clone());
        if let Some(guarded) = guarded.iter().find(|guarded| overlap(&resolved(guarded), folder)) {
            return Some(format!("{} is private", path_text(guarded.as_os_str().as_encoded_bytes())));
        }
        let is_named = |name: &str| folder.components().any(|part| part.as_os_str() == name);
        if let Some(name) = [".ssh", ".gnupg", ".git"].into_iter().find(|name| is_named(name)) {
            return Some(format!("it is in a folder named {name}"));
        }
        if !is_own(folder).unwrap_or(false) {
            return Some("it belongs to another user".to_owned());
        }
        None
    }

    /// Returns the links with that of one project and name replaced by `link`, or removed.
    pub fn with_link(&self, root: &Path, name: &str, link: Option<Link>) -> Vec<Link> {
        let project = path_text(root.as_os_str().as_encoded_bytes());
        let is_other = |known: &&Link| known.project != project || known.name != name;
        self.known.iter().filter(is_other).cloned().chain(link).collect()
    }

    /// Returns a copy with different links of the user.
    pub fn replaced(&self, links: Vec<Link>) -> Self {
        Self { known: links, ..self.clone() }
    }

    /// Returns the links of all projects.
    pub fn into_links(self) -> Vec<Link> {
        self.known
    }

    /// Returns whether the user has linked a folder by this name, or consented to it.
    pub fn has_link(&self, name: &str, root: &Path) -> bool {
        let project = path_text(root.as_os_str().as_encoded_bytes());
        self.known.iter().any(|link| link.project == project && link.name == name)
    }

    /// Returns the name of a mounted folder that overlaps another folder.
    pub fn overlapping(&self, folder: &LinkedFolder, root: &Path) -> Option<String> {
        self.mounted(root).into_iter().find(|known| conflict(known, folder, root)).map(|known| known.name)
    }

    /// Returns a valid resource name made from a folder's name.
    pub fn fitting_name(folder: &str) -> String {
        let fitting: String = folder
            .chars()
            .map(|c| c.to_ascii_lowercase())
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
            .collect();
        let fitting: String = fitting.trim_start_matches(['.', '_', '-']).chars().take(36).collect();
        if fitting.is_empty() { "folder".to_owned() } else { fitting }
    }

    /// Returns a name like `wanted` that no resource of the project has.
    pub fn free_name(&self, wanted: &str, root: &Path) -> String {
        let base = &wanted[..wanted.len().min(36)];
        let mut names = (2..).map(|number| format!("{base}-{number}"));
        names.find(|name| !self.is_taken(name, root)).expect("there are more numbers than names")
    }

    /// Returns whether a resource, or a file or folder at the top of the root, has a name.
    pub fn is_taken(&self, name: &str, root: &Path) -> bool {
        self.resources(root).iter().any(|known| known.folder.name == name)
            || root.join(format!("@{name}")).symlink_metadata().is_ok()
    }
}

/// Returns a link to a folder, an absolute path without links, as the user adds it or consents to it.
pub fn link_to(root: &Path, resource: &Resource, added_at: i64) -> Option<Link> {
    let LinkedFolder { name, kind, path, .. } = &resource.folder;
    let identity = folder_identity(path)?;
    let folder = LinkedFolder { identity: Some(identity), ..resource.folder.clone() };
    let consent = match resource.named_by {
        NamedBy::User => BY_USER.to_owned(),
        NamedBy::Project => proposal_digest(root, &folder),
    };
    Some(Link {
        project: path_text(root.as_os_str().as_encoded_bytes()),
        name: name.clone(),
        kind: kind.name().to_owned(),
        // A path that is not UTF-8 cannot be stored.
        path: path.to_str()?.to_owned(),
        dev: identity.dev,
        ino: identity.ino,
        added_at,
        consent,
    })
}

/// Returns the default way to list the files of a folder.
pub fn kind_of(folder: &Path) -> ResourceKind {
    match enclosing_checkout(folder, &RealDisk) {
        Some(_) => ResourceKind::GitCheckout,
        None => ResourceKind::Directory,
    }
}

/// Reads the proposals in a project's file.
pub(super) fn read_proposed(
    source: &SettingsSource<'_>,
    value: &Spanned<DeValue<'_>>,
) -> Result<Vec<ProposedResource>, Error> {
    let DeValue::Array(values) = value.get_ref() else {
        return Err(source.invalid("resources", value, "a list of tables, each under [[resources]]"));
    };
    let read = |value| -> Result<ProposedResource, Error> {
        let section =
            TomlSection::new(source, "resources".to_owned(), value, "a table with a name and a path")?;
        section.warn_unknown_keys(&["name", "path", "kind"]);
        let name = section.required_text("name", NAME_FORM)?;
        if !is_resource_name(&name) {
            return Err(section.invalid("name", NAME_FORM));
        }
        let path = section.required_text("path", "the path of a folder, relative to the project's root")?;
        let kinds = ResourceKind::ALL.map(|kind| (kind.name(), kind));
        Ok(ProposedResource { name, path, kind: section.choice("kind", &kinds)? })
    };
    let mut proposed: Vec<ProposedResource> = Vec::new();
    for value in values {
        let Some(resource) = source.or_leave_out(read(value)) else { continue };
        if proposed.iter().any(|known| known.name == resource.name) {
            source.or_leave_out(Err::<(), _>(source.invalid(
                "resources",
                value,
                "a resource with a different name",
            )));
            continue;
        }
        proposed.push(resource);
    }
    Ok(proposed)
}

fn linked_folder(link: &Link, kind: ResourceKind) -> LinkedFolder {
    LinkedFolder {
        name: link.name.clone(),
        kind,
        path: PathBuf::from(&link.path),
        identity: Some(FolderIdentity { dev: link.dev, ino: link.ino }),
        linked_at_s: Some(link.added_at),
    }
}

fn folder_identity(folder: &Path) -> Option<FolderIdentity> {
    RealDisk.identity(folder).map(|(dev, ino)| FolderIdentity { dev, ino })
}

/// Returns the digest of everything that a consent covers.
fn proposal_digest(root: &Path, folder: &LinkedFolder) -> String {
    let identity = folder.identity.map_or((0, 0), |identity| (identity.dev, identity.ino));
    let mut hashed = Vec::new();
    for part in [
        root.as_os_str().as_encoded_bytes(),
        folder.name.as_bytes(),
        folder.kind.name().as_bytes(),
        folder.path.as_os_str().as_encoded_bytes(),
        &identity.0.to_be_bytes(),
        &identity.1.to_be_bytes(),
    ] {
        hashed.extend((part.len() as u64).to_be_bytes());
        hashed.extend(part);
    }
    ContentHash::digest(&hashed).to_string()
}

/// Returns whether two folders would have files in common.
fn conflict(one: &LinkedFolder, other: &LinkedFolder, root: &Path) -> bool {
    // The files of a nested checkout, such as a submodule of a submodule, do not belong to the outer one.
    let is_apart = |outer: &LinkedFolder, inner: &LinkedFolder| {
        outer.kind == ResourceKind::GitCheckout
            && outer.path.starts_with(root)
            && inner.path != outer.path
            && inner.path.starts_with(&outer.path)
            && inner.path.join(".git").exists()
    };
    overlap(&one.path, &other.path) && !is_apart(one, other) && !is_apart(other, one)
}

fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn resolved(folder: &Path) -> PathBuf {
    dunce::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// Returns a path with `.` and `..` resolved lexically, for paths that do not exist.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}
