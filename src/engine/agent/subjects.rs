//! What questions may be about: contents, each once, and the folders that hold them.

use std::collections::HashMap;

use super::eligible::Eligibility;
use super::errand::Errand;
use super::errand::Place;
use super::errand::Wish;
use super::folders::Folder;
use super::folders::Leaf;
use super::folders::Node;
use super::folders::folders_of;
use super::known::Known;
use crate::aggregate::Selector;
use crate::engine::artifacts::Subject;
use crate::engine::scan::KnownFile;
use crate::model::RelPath;
use crate::model::Scope;
use crate::summarize::agent::Strategy;
use crate::summarize::agent::instructions;

/// About how many bytes the words about one thing in a folder have.
const WORDS_BYTES: u64 = 300;

/// A content that a model may be asked about, and the files that have it.
pub(super) struct Content<'a> {
    pub(super) node: Node,
    pub(super) strategy: Strategy,
    /// By path.
    pub(super) subjects: Vec<Subject<'a>>,
    /// Whether one of them was picked.
    pub(super) is_picked: bool,
}

/// All that questions may be about.
pub(super) struct Subjects<'a> {
    /// By their first paths.
    pub(super) contents: Vec<Content<'a>>,
    /// Those below before those that they lie in.
    pub(super) folders: Vec<Folder>,
    /// How many files no model is asked about, among those that were picked.
    pub(super) not_asked: u64,
}

impl<'a> Subjects<'a> {
    /// Finds them among the files of a project.
    pub(super) fn among(files: &'a [KnownFile], rules: &Eligibility, picks: &[Selector]) -> Self {
        let (mut contents, mut not_asked): (Vec<Content<'_>>, _) = (Vec::new(), 0);
        let mut places: HashMap<Node, usize> = HashMap::new();
        for file in files {
            let is_picked = picks.is_empty() || picks.iter().any(|pick| pick.selects(&file.path));
            let Ok((subject, strategy)) = rules.judge(file) else {
                not_asked += u64::from(is_picked);
                continue;
            };
            let node = Node { scope: Scope::File, subject: subject.hash, language: subject.file_type.id };
            let at = *places.entry(node).or_insert_with(|| {
                contents.push(Content { node, strategy, subjects: Vec::new(), is_picked: false });
                contents.len() - 1
            });
            contents[at].subjects.push(subject);
            contents[at].is_picked |= is_picked;
        }
        let folders = folders(&contents);
        Self { contents, folders, not_asked }
    }

    /// Returns everything that there may be a question about, each with how it is asked.
    pub(super) fn nodes(&self) -> Vec<(Node, Strategy)> {
        let contents = self.contents.iter().map(|content| (content.node, content.strategy));
        let folders = self.folders.iter().filter_map(|folder| Some((folder.node, own_strategy(folder)?)));
        contents.chain(folders).collect()
    }

    /// Returns the contents by what they are.
    pub(super) fn by_node(&self) -> HashMap<Node, &Content<'a>> {
        self.contents.iter().map(|content| (content.node, content)).collect()
    }
}

/// Returns what stands for each folder that holds files that a model may be asked about: the subjects under which their
/// summaries are kept. Those below stand before those that they lie in, and the root is the last.
pub(in crate::engine) fn folders_among(files: &[KnownFile], rules: &Eligibility) -> Vec<Folder> {
    Subjects::among(files, rules, &[]).folders
}

fn folders(contents: &[Content<'_>]) -> Vec<Folder> {
    let leaves = contents.iter().flat_map(|content| {
        content.subjects.iter().map(|subject| Leaf {
            path: subject.path,
            node: content.node,
            bytes: subject.facts.size,
        })
    });
    folders_of(&leaves.collect::<Vec<_>>())
}

/// Returns how a folder is asked about; `None` where it is the one thing that lies in it, and no question of its own.
pub(super) fn own_strategy(folder: &Folder) -> Option<Strategy> {
    if folder.children.is_empty() { None } else { Strategy::of_scope(folder.node.scope) }
}

/// Returns the question about a content; `None` where nobody is asked.
pub(super) fn file_errand(content: &Content<'_>, known: &Known, wish: &Wish) -> Option<Errand> {
    let paths: Vec<RelPath> = content.subjects.iter().map(|subject| subject.path.clone()).collect();
    let material = content.subjects.first()?.facts.size.min(wish.material_bytes as u64);
    Some(Errand {
        id: known.id(&content.node, content.strategy)?,
        subject: content.node.subject,
        language: content.node.language,
        scope: Scope::File,
        strategy: content.strategy,
        place: Place::File(paths.first()?.clone()),
        paths,
        tiers: wish.tiers.clone(),
        about_bytes: material + instructions(content.strategy, &wish.tiers).len() as u64,
    })
}

/// Returns the question about a folder; `None` where there is none of its own, or nobody is asked.
pub(super) fn folder_errand(folder: &Folder, known: &Known, wish: &Wish) -> Option<Errand> {
    let strategy = own_strategy(folder)?;
    let material = (folder.children.len() as u64 * WORDS_BYTES).min(wish.material_bytes as u64);
    Some(Errand {
        id: known.id(&folder.node, strategy)?,
        subject: folder.node.subject,
        language: folder.node.language,
        scope: folder.node.scope,
        strategy,
        place: folder.path.clone().map_or(Place::Root, Place::Folder),
        paths: Vec::new(),
        tiers: wish.tiers.clone(),
        about_bytes: material + instructions(strategy, &wish.tiers).len() as u64,
    })
}
