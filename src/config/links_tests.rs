//! Links and proposals, with real folders.

#![expect(clippy::disallowed_methods, reason = "a test prepares its own files")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::model::{LinkedFolder, ResourceKind};

struct Folders {
    folder: TempDir,
    links: Option<String>,
}

impl Folders {
    fn new() -> Self {
        let folders = Self { folder: tempfile::tempdir().unwrap(), links: None };
        for name in ["project/inside", "lib", "home/.ssh/deep", "config/slop"] {
            fs::create_dir_all(folders.path(name)).unwrap();
        }
        folders
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn load(&self, project: &str) -> Links {
        let inputs = ConfigInputs {
            project_file: Some((PathBuf::from("slop.toml"), project.as_bytes().to_vec())),
            links_file: self
                .links
                .as_ref()
                .map(|text| (PathBuf::from("links.toml"), text.clone().into_bytes())),
            private: PrivateFolders { home: Some(self.path("home")), config: Some(self.path("config/slop")) },
            ..ConfigInputs::default()
        };
        load(&inputs).unwrap().links
    }

    /// Returns each resource of the project with its state, and which of them are mounted.
    fn states(&self, project: &str) -> Vec<String> {
        let links = self.load(project);
        let mounted = links.mounted(&self.path("project"));
        let line = |resource: &Resource| {
            let is_mounted = mounted.contains(&resource.folder);
            let mark = if is_mounted { " mounted" } else { "" };
            format!("{} {}{mark}", resource.folder.name, resource.state.name())
        };
        links.resources(&self.path("project")).iter().map(line).collect()
    }

    /// Consents to the project's proposal `name`.
    fn consent(&mut self, project: &str, name: &str) {
        let (links, root) = (self.load(project), self.path("project"));
        let resources = links.resources(&root);
        let found = resources.iter().find(|resource| resource.folder.name == name).unwrap();
        let link = link_to(&root, found, 0).unwrap();
        self.links = links_text(links.with_link(&root, name, Some(link)));
    }
}

fn proposal(name: &str, path: &str) -> String {
    format!("[[resources]]\nname = \"{name}\"\npath = \"{path}\"\n")
}

#[test]
fn a_proposal_has_effect_within_the_root_and_needs_consent_outside() {
    let mut folders = Folders::new();
    let both = proposal("in", "inside") + &proposal("lib", "../lib");
    assert_eq!(folders.states(&both), ["in linked mounted", "lib wants consent"]);
    let notes = folders.load(&both).notes(&folders.path("project"));
    assert_eq!(notes, ["slop.toml proposes @lib = ../lib; 'slop link trust' shows what that is"]);
    folders.consent(&both, "lib");
    assert_eq!(folders.states(&both), ["in linked mounted", "lib linked mounted"]);
    // The rest of the file may change; without the proposal, the consent has no effect.
    assert_eq!(folders.states(&format!("{both}[output]\nkeep = 3\n"))[1], "lib linked mounted");
    assert_eq!(folders.states("").len(), 0);
}

#[test]
fn a_consent_holds_for_one_name_kind_path_and_folder() {
    let mut folders = Folders::new();
    let lib = proposal("lib", "../lib");
    folders.consent(&lib, "lib");
    fs::create_dir(folders.path("other")).unwrap();
    symlink(folders.path("lib"), folders.path("project/way")).unwrap();
    assert_eq!(folders.states(&proposal("lib", "way")), ["lib linked mounted"]);
    for other in [
        proposal("lib", "../other"),
        proposal("library", "../lib"),
        format!("{lib}kind = \"git-checkout\"\n"),
    ] {
        assert_eq!(folders.states(&other).len(), 1);
        assert!(folders.states(&other)[0].ends_with(" wants consent"), "{other}");
    }
    // The link on the consented path now leads elsewhere.
    fs::remove_file(folders.path("project/way")).unwrap();
    symlink(folders.path("other"), folders.path("project/way")).unwrap();
    assert_eq!(folders.states(&proposal("lib", "way")), ["lib wants consent"]);
    fs::rename(folders.path("lib"), folders.path("kept")).unwrap();
    assert_eq!(folders.states(&lib), ["lib gone mounted"]);
    fs::rename(folders.path("other"), folders.path("lib")).unwrap();
    assert_eq!(folders.states(&lib), ["lib wants consent"]);
}

#[test]
fn a_link_of_the_user_is_to_one_folder() {
    let mut folders = Folders::new();
    let root = folders.path("project");
    let (name, path) = ("lib".to_owned(), folders.path("lib"));
    let kind = ResourceKind::Directory;
    let folder = LinkedFolder { name, kind, path, identity: None, linked_at_s: None };
    let added = Resource { folder, named_by: NamedBy::User, state: ResourceState::Linked, proposed_as: None };
    let link = link_to(&root, &added, 0).unwrap();
    folders.links = links_text(folders.load("").with_link(&root, "lib", Some(link)));
    // A project's proposal with the same name has no effect.
    assert_eq!(folders.states(&proposal("lib", "inside")), ["lib linked mounted"]);
    fs::rename(folders.path("lib"), folders.path("kept")).unwrap();
    symlink(folders.path("home/.ssh"), folders.path("lib")).unwrap();
    assert_eq!(folders.states(""), ["lib another folder mounted"]);
    fs::remove_file(folders.path("lib")).unwrap();
    fs::create_dir(folders.path("lib")).unwrap();
    assert_eq!(folders.states(""), ["lib another folder mounted"]);
}

#[test]
fn some_folders_are_refused_whatever_anybody_wrote() {
    let folders = Folders::new();
    fs::create_dir_all(folders.path("other/.gnupg")).unwrap();
    symlink(folders.path("home/.ssh"), folders.path("project/way")).unwrap();
    fs::write(folders.path("file"), "").unwrap();
    for path in [
        "/", "..", ".", "../home", "../home/.ssh", "../home/.ssh/deep", "way", "../config", "../config/slop",
        "../file", "../other/.gnupg", "inside/../../home",
    ] {
        assert_eq!(folders.states(&proposal("x", path)), ["x refused"], "{path}");
    }
    let twice = proposal("a", "../lib") + &proposal("b", "../lib");
    assert_eq!(folders.states(&twice), ["a wants consent", "b wants consent"]);
    let mut folders = folders;
    folders.consent(&twice, "b");
    assert_eq!(folders.states(&twice), ["a refused", "b linked mounted"]);
}

#[test]
fn nothing_in_a_projects_file_widens_what_is_linked() {
    let folders = Folders::new();
    let consent = proposal("lib", "../lib") + "consent = \"user\"\ndev = 1\n";
    assert_eq!(folders.states(&consent), ["lib wants consent"]);
    for name in ["../lib", "a/b", "", ".", "A", "a\\u0000", "a\\u001b", "@a"] {
        assert_eq!(folders.states(&proposal(name, "inside")).len(), 0, "{name}");
    }
    let same = proposal("lib", "inside") + &proposal("lib", "../lib");
    assert_eq!(folders.states(&same), ["lib linked mounted"]);
    let unknown = ConfigInputs {
        project_file: Some((PathBuf::from("slop.toml"), b"[links]\nfile = \"links.toml\"\n".to_vec())),
        ..ConfigInputs::default()
    };
    assert!(load(&unknown).is_err());
}
