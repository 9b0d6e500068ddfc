//! The question about one file or folder, whatever became of it before: what a person looks at before anything is sent.

use super::eligible::NotAsked;
use super::errand::Errand;
use super::errand::Errands;
use super::errand::Prepared;
use super::errand::Wish;
use super::errand::Withheld;
use super::folders::Folder;
use super::prepare::SecretAt;
use super::subjects::Content;
use super::subjects::Subjects;
use super::subjects::file_errand;
use super::subjects::folder_errand;
use crate::aggregate::Selector;
use crate::engine::Error;
use crate::engine::Project;
use crate::model::RelPath;

/// What would be sent about a file or a folder.
#[derive(Debug, Clone, PartialEq)]
pub enum Preview {
    /// Nothing, ever.
    NotAsked(NotAsked),
    /// This.
    Asked {
        /// The question.
        errand: Box<Errand>,
        /// Its words, or why they do not leave.
        prepared: Result<Prepared, Withheld>,
        /// What was found in the file that looks like a secret.
        secrets: Vec<SecretAt>,
    },
}

impl Project<'_> {
    /// Returns what would be sent about the file or folder of that path, and about the project for its root. It need not
    /// have been still, and may have been asked about before.
    pub fn preview(&mut self, word: &str, wish: &Wish) -> Result<Preview, Error> {
        let files = self.files_for_errands()?;
        let rules = self.eligibility(wish)?;
        let nothing = || Error::NothingSelected { word: word.to_owned() };
        let path = match self.pick(word)? {
            Selector::Parts(path) if path.is_empty() => None,
            Selector::Parts(path) => Some(RelPath::new(&path).map_err(|_| nothing())?),
            Selector::Pattern { .. } => return Err(nothing()),
        };
        let file = files.iter().find(|file| Some(&file.path) == path.as_ref());
        if let Some(Err(reason)) = file.map(|file| rules.judge(file)) {
            return Ok(Preview::NotAsked(reason));
        }
        let subjects = Subjects::among(&files, &rules, &[]);
        let known = self.known(wish, &subjects.nodes())?;
        let folder = subjects.folders.iter().find(|folder| folder.path == path);
        if let Some(errand) = folder.and_then(|folder| folder_errand(folder, &known, wish)) {
            let children = folder.map(|folder| self.children(folder, &subjects.by_node(), &known));
            let mut errands = Errands::default();
            errands.children.insert(errand.id, children.unwrap_or_default());
            return Ok(self.asked(errand, &errands, wish));
        }
        let content = content_at(path.as_ref(), folder, &subjects).ok_or_else(nothing)?;
        if self.is_written_by_program(content) {
            return Ok(Preview::NotAsked(NotAsked::Data));
        }
        let errand = file_errand(content, &known, wish).ok_or_else(nothing)?;
        Ok(self.asked(errand, &Errands::default(), wish))
    }

    fn asked(&self, errand: Errand, errands: &Errands, wish: &Wish) -> Preview {
        let wording = self.preparer(errands, wish);
        let prepared = wording.prepare(&errand, 0);
        let secrets = wording.secrets(&errand);
        Preview::Asked { errand: Box::new(errand), prepared, secrets }
    }
}

/// Returns the content of a file, or the only one that lies in a folder.
pub(super) fn content_at<'s, 'f>(
    path: Option<&RelPath>,
    folder: Option<&Folder>,
    subjects: &'s Subjects<'f>,
) -> Option<&'s Content<'f>> {
    let is_there = |content: &&Content<'_>| {
        content.subjects.iter().any(|subject| Some(subject.path) == path)
            || folder.is_some_and(|folder| folder.node == content.node)
    };
    subjects.contents.iter().find(is_there)
}
