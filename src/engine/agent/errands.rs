//! What there is to ask: contents without their summaries, and folders whose contents have theirs.
//!
//! All but the stamps of what is to be asked about comes from the scan and from what is stored, so that to look again at
//! an unchanged project reads no file.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use super::eligible::Eligibility;
use super::errand::Errands;
use super::errand::Place;
use super::errand::Wish;
use super::folders::Folder;
use super::folders::Node;
use super::known::Known;
use super::prepare::is_clean;
use super::subjects::Content;
use super::subjects::Subjects;
use super::subjects::file_errand;
use super::subjects::folder_errand;
use super::subjects::folders_among;
use super::subjects::own_strategy;
use crate::aggregate::Selector;
use crate::engine::Error;
use crate::engine::Project;
use crate::engine::artifacts::Subject;
use crate::engine::importance::Standing;
use crate::engine::scan::KnownFile;
use crate::engine::scan::ScanRequest;
use crate::engine::scan::Trust;
use crate::model::RelPath;
use crate::model::Scope;
use crate::model::SummaryKey;
use crate::summarize::agent::Child;
use crate::summarize::agent::Strategy;
use crate::summarize::is_made_by_program;

/// What is found out on the way.
struct Survey<'a> {
    wish: &'a Wish,
    rules: Eligibility,
    picks: Vec<Selector>,
    known: Known,
    states: HashMap<Node, State>,
    errands: Errands,
}

/// How far a subject is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It has its summaries.
    Done,
    /// It was tried in vain, or a program wrote it: the heuristic's words have to do.
    Settled,
    /// It is to be asked about.
    Ready,
    /// Something has to happen first.
    Waiting,
}

impl State {
    const fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Settled)
    }
}

impl Project<'_> {
    /// Returns what a model is to be asked, after a look at all files.
    ///
    /// Folders become ready when all that lies in them is done, so that whoever wants them too asks for errands again
    /// when these are done, until none is ready.
    pub fn errands(&mut self, wish: &Wish) -> Result<Errands, Error> {
        let files = self.files_for_errands()?;
        let picks = self.picks_among(&wish.picks, &files)?;
        let rules = self.eligibility(wish)?;
        let subjects = Subjects::among(&files, &rules, &picks);
        let known = self.known(wish, &subjects.nodes())?;
        let errands = Errands { not_asked: subjects.not_asked, ..Errands::default() };
        let mut survey = Survey { wish, rules, picks, known, states: HashMap::new(), errands };
        let ready = self.add_contents(&subjects.contents, &mut survey);
        for content in self.most_important_first(ready, &files, &survey.rules) {
            survey.errands.ready.extend(file_errand(content, &survey.known, wish));
        }
        self.add_folder_errands(&subjects, &mut survey);
        self.go_on()?;
        Ok(survey.errands)
    }

    /// Returns what stands for each folder that holds files that a model may be asked about.
    pub fn folder_subjects(&mut self, wish: &Wish) -> Result<Vec<Folder>, Error> {
        let files = self.files_for_errands()?;
        Ok(folders_among(&files, &self.eligibility(wish)?))
    }

    /// Returns all files of the project as they are now.
    pub(super) fn files_for_errands(&mut self) -> Result<Vec<KnownFile>, Error> {
        let request = ScanRequest {
            trust: Trust::Stamps,
            scope: &[],
            keeps_text: &|_| false,
            keeps_known: true,
            settles: false,
        };
        Ok(self.scan(&request)?.files)
    }

    /// Returns what a model can be asked about among the files and folders that are picked, asked or not, by place.
    pub fn subjects(&mut self, wish: &Wish) -> Result<Vec<(Place, Node)>, Error> {
        let files = self.files_for_errands()?;
        let picks = self.picks_among(&wish.picks, &files)?;
        let all = Subjects::among(&files, &self.eligibility(wish)?, &picks);
        let is_picked_file = |path: &RelPath| picks.is_empty() || picks.iter().any(|pick| pick.selects(path));
        let mut subjects = Vec::new();
        for content in &all.contents {
            let paths = content.subjects.iter().map(|subject| subject.path);
            let picked = paths.filter(|path| is_picked_file(path));
            subjects.extend(picked.map(|path| (Place::File(path.clone()), content.node)));
        }
        let folders = all.folders.into_iter().filter(|folder| is_picked(folder, &picks));
        subjects.extend(folders.map(|folder| (folder.path.map_or(Place::Root, Place::Folder), folder.node)));
        subjects.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(subjects)
    }

    /// Returns what selects the files that words mean; nothing for no words, which mean all.
    fn picks_among(&self, words: &[String], files: &[KnownFile]) -> Result<Vec<Selector>, Error> {
        let mut picks = Vec::new();
        for word in words {
            let selects = |pick: &Selector| files.iter().any(|file| pick.selects(&file.path));
            let pick = self.pick(word)?;
            // A name may look like a pattern.
            let pick = if selects(&pick) { pick } else { Selector::new(word)? };
            if !selects(&pick) {
                return Err(Error::NothingSelected { word: word.clone() });
            }
            picks.push(pick);
        }
        Ok(picks)
    }

    /// Returns what selects the file or folder that a word spells the path of, absolute or relative to the root.
    pub(super) fn pick(&self, word: &str) -> Result<Selector, Error> {
        let word = if word.len() < 2 { word } else { word.trim_end_matches('/') };
        if matches!(word, "." | "") || Path::new(word) == self.root {
            return Ok(Selector::Parts(Vec::new()));
        }
        let path = self.path_named(word)?;
        Ok(Selector::Parts(path.map_or_else(|| word.as_bytes().to_vec(), |path| path.as_bytes().to_vec())))
    }

    /// Finds out how far each content is. Returns those that are to be asked about.
    fn add_contents<'c, 'f>(
        &mut self,
        contents: &'c [Content<'f>],
        survey: &mut Survey<'_>,
    ) -> Vec<&'c Content<'f>> {
        let mut ready = Vec::new();
        for content in contents {
            let state = self.state_of(content, survey);
            survey.states.insert(content.node, state);
            if state == State::Ready && content.is_picked {
                ready.push(content);
            }
        }
        ready
    }

    /// Finds out how far a content is, and counts it.
    fn state_of(&mut self, content: &Content<'_>, survey: &mut Survey<'_>) -> State {
        let Survey { known, errands, .. } = survey;
        let counted = u64::from(content.is_picked);
        if known.is_done(&content.node, content.strategy) {
            errands.done += counted;
            return State::Done;
        }
        let Some(id) = known.id(&content.node, content.strategy) else { return State::Settled };
        if known.is_refused(&id) && !errands.retry(&id, content.is_picked, survey.wish) {
            errands.refused += counted;
            return State::Settled;
        }
        if self.is_written_by_program(content) {
            errands.not_asked += counted;
            return State::Settled;
        }
        let Some(wait) = self.rests_in(content, survey.wish.still) else { return State::Ready };
        errands.young += counted;
        if content.is_picked {
            errands.next_in = Some(errands.next_in.map_or(wait, |before| before.min(wait)));
        }
        State::Waiting
    }

    /// Says whether a program wrote a content. The heuristic has read it, and said so in its words.
    pub(super) fn is_written_by_program(&mut self, content: &Content<'_>) -> bool {
        let words = content.subjects.first().and_then(|subject| self.summary(subject));
        words.is_some_and(|words| is_made_by_program(&words))
    }

    /// Returns how long it is until one of the files with this content has not been written for so long; `None` where one
    /// has not.
    fn rests_in(&self, content: &Content<'_>, still: Duration) -> Option<Duration> {
        let now_ns = self.world.clock.now_ns();
        let wait = |subject: &Subject<'_>| {
            let stat = self.world.files.stat(subject.path).ok()?;
            // No tool can set this time. What was written in the future was written before the clock was set back.
            let age = now_ns.saturating_sub(stat.stamp.ctime_ns).unsigned_abs();
            Some(still.saturating_sub(Duration::from_nanos(age)))
        };
        let shortest = content.subjects.iter().filter_map(wait).min();
        // None of them can be looked at any more: the next scan says what became of them.
        shortest.map_or(Some(still), |wait| (!wait.is_zero()).then_some(wait))
    }

    /// Orders contents by how much the first files that have them matter.
    fn most_important_first<'c, 'f>(
        &mut self,
        ready: Vec<&'c Content<'f>>,
        files: &[KnownFile],
        rules: &Eligibility,
    ) -> Vec<&'c Content<'f>> {
        if ready.len() < 2 {
            return ready;
        }
        let files: Vec<&KnownFile> = files.iter().collect();
        let changes = HashMap::new();
        let standing =
            Standing { in_focus: &|_| false, is_curated: &|path| rules.is_curated(path), changes: &changes };
        let importance = self.importance(&files, &standing);
        let by_path: HashMap<&RelPath, _> = files.iter().map(|file| &file.path).zip(importance).collect();
        let best = |content: &Content<'_>| {
            content.subjects.iter().filter_map(|subject| by_path.get(subject.path)).max().copied()
        };
        let mut ranked: Vec<_> = ready.into_iter().map(|content| (best(content), content)).collect();
        // Stable: equals stand by path.
        ranked.sort_by_key(|(importance, _)| Reverse(*importance));
        ranked.into_iter().map(|(_, content)| content).collect()
    }

    /// Finds out how far each folder is, from those below to the root, and adds those that are to be asked about.
    fn add_folder_errands(&mut self, subjects: &Subjects<'_>, survey: &mut Survey<'_>) {
        let by_node = subjects.by_node();
        let mut counted = HashSet::new();
        for folder in &subjects.folders {
            let Some(strategy) = own_strategy(folder) else { continue };
            let Some(id) = survey.known.id(&folder.node, strategy) else { continue };
            let is_picked = is_picked(folder, &survey.picks);
            let state = survey.folder_state(folder, strategy, &id, is_picked);
            survey.states.insert(folder.node, state);
            // Another folder with the same contents is the same question.
            if !is_picked || !counted.insert(folder.node) {
                continue;
            }
            match state {
                State::Done => survey.errands.done += 1,
                State::Settled => survey.errands.refused += 1,
                State::Waiting => {
                    let errand = folder_errand(folder, &survey.known, survey.wish);
                    survey.errands.waiting_folders += 1;
                    survey.errands.waiting_bytes += errand.map_or(0, |errand| errand.about_bytes);
                }
                State::Ready => {
                    let children = self.children(folder, &by_node, &survey.known);
                    survey.errands.children.insert(id, children);
                    survey.errands.ready.extend(folder_errand(folder, &survey.known, survey.wish));
                }
            }
        }
    }

    /// Gathers what is known of the things in a folder.
    pub(super) fn children(
        &mut self,
        folder: &Folder,
        contents: &HashMap<Node, &Content<'_>>,
        known: &Known,
    ) -> Vec<Child> {
        let mut children = Vec::with_capacity(folder.children.len());
        for (node, bytes) in &folder.children {
            let content = contents.get(node);
            let strategy = content.map(|content| content.strategy).or_else(|| Strategy::of_scope(node.scope));
            let words = strategy.and_then(|strategy| known.words(node, strategy));
            let words = words.or_else(|| content.and_then(|content| self.own_words(content, known)));
            // A mark for bytes that nobody understood would keep the whole folder here.
            let words = words.map(|words| words.replace(char::REPLACEMENT_CHARACTER, " "));
            children.push(Child {
                subject: node.subject,
                words: words.unwrap_or_else(|| "Nothing is known of it but its size.".to_owned()),
                bytes: *bytes,
                is_folder: node.scope != Scope::File,
            });
        }
        children
    }

    /// Returns the heuristic's words about a content, where its text could be sent too: what is not sent itself is not
    /// sent by way of its outline either, whatever is written down of earlier tries.
    fn own_words(&mut self, content: &Content<'_>, known: &Known) -> Option<String> {
        let subject = content.subjects.first()?;
        let (files, max_bytes) = (self.world.files, self.options.structure_max_bytes);
        let is_kept_here = known.is_withheld(&content.node, content.strategy)
            || self.is_written_by_program(content)
            || !is_clean(files, max_bytes, subject.path, &subject.hash);
        if is_kept_here { None } else { self.summary(subject) }
    }
}

impl Errands {
    /// Says whether what was tried in vain is to be tried again, and notes what has to be forgotten for it.
    fn retry(&mut self, id: &SummaryKey, is_picked: bool, wish: &Wish) -> bool {
        if wish.retries && is_picked {
            self.retried.push(wish.refusal_of(id));
        }
        wish.retries && is_picked
    }
}

impl Survey<'_> {
    fn folder_state(
        &mut self,
        folder: &Folder,
        strategy: Strategy,
        id: &SummaryKey,
        is_picked: bool,
    ) -> State {
        if self.known.is_done(&folder.node, strategy) {
            return State::Done;
        }
        if self.known.is_refused(id) && !self.errands.retry(id, is_picked, self.wish) {
            return State::Settled;
        }
        let is_settled = |child: &Node| self.states.get(child).is_some_and(|state| state.is_settled());
        if folder.children.keys().all(is_settled) { State::Ready } else { State::Waiting }
    }
}

fn is_picked(folder: &Folder, picks: &[Selector]) -> bool {
    let is_of = |pick: &Selector| match (&folder.path, pick) {
        (Some(path), _) => pick.selects(path),
        (None, Selector::Parts(word)) => word.is_empty() || word == b".",
        (None, Selector::Pattern { .. }) => false,
    };
    picks.is_empty() || picks.iter().any(is_of)
}
