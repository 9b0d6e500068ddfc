//! Why nobody is asked about a file that a person has named.

use std::collections::BTreeMap;
use std::collections::HashSet;

use super::eligible::NotAsked;
use super::errand::Wish;
use super::previewing::content_at;
use super::subjects::Subjects;
use crate::aggregate::Selector;
use crate::engine::Error;
use crate::engine::Project;
use crate::model::RelPath;

/// Why nobody is asked about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quiet {
    /// Nobody ever is.
    NotAsked(NotAsked),
    /// It was tried before, in vain.
    Refused(String),
}

impl Project<'_> {
    /// Returns why nobody is asked about those of the picked files that were named one by one. Nothing is said of those
    /// about which somebody is to be asked, or has answered.
    pub fn quiet(&mut self, wish: &Wish) -> Result<BTreeMap<RelPath, Quiet>, Error> {
        let mut named = HashSet::new();
        for word in &wish.picks {
            if let Selector::Parts(path) = self.pick(word)? {
                named.insert(path);
            }
        }
        let files = self.files_for_errands()?;
        let rules = self.eligibility(wish)?;
        let subjects = Subjects::among(&files, &rules, &[]);
        let known = self.known(wish, &subjects.nodes())?;
        let mut quiet = BTreeMap::new();
        for file in files.iter().filter(|file| named.contains(file.path.as_bytes())) {
            if let Err(reason) = rules.judge(file) {
                quiet.insert(file.path.clone(), Quiet::NotAsked(reason));
                continue;
            }
            let Some(content) = content_at(Some(&file.path), None, &subjects) else { continue };
            if known.is_done(&content.node, content.strategy) {
                continue;
            }
            let id = known.id(&content.node, content.strategy);
            if let Some(why) = id.and_then(|id| known.refusal(&id)) {
                quiet.insert(file.path.clone(), Quiet::Refused(why.to_owned()));
            } else if self.is_written_by_program(content) {
                quiet.insert(file.path.clone(), Quiet::NotAsked(NotAsked::Data));
            }
        }
        Ok(quiet)
    }
}
