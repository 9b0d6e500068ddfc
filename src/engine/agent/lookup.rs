//! What models have written, as it is looked up for answers.

use std::path::Path;
use std::sync::Arc;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::folders::Folder;
use super::words::Asked;
use super::words::Chosen;
use super::words::LookupOptions;
use super::words::Words;
use crate::aggregate;
use crate::model::ContentHash;
use crate::model::ModelName;
use crate::model::RelPath;
use crate::model::Scope;
use crate::model::Tier;
use crate::store::Error;
use crate::store::paid::Paid;
use crate::store::paid::Summary;

/// For so many files single questions are quicker than to read what was written of all.
const FEW: usize = 32;
/// To read what was written last about all files takes as long as to ask about one in so many.
const FEWER: usize = 4;

/// A model's words.
#[derive(Debug)]
pub(in crate::engine) struct Written {
    /// As they stand in the database, which may have come with a checked-out project: whoever shows them makes them plain.
    pub(in crate::engine) text: String,
    pub(super) by: ModelName,
    subject: ContentHash,
    hash: OnceLock<ContentHash>,
}

impl Written {
    /// Returns a hash of the words. It is made when it is first asked for, which is by processes that stay.
    pub(in crate::engine) fn hash(&self) -> ContentHash {
        *self.hash.get_or_init(|| ContentHash::of(self.text.as_bytes()))
    }
}

/// Where models' words are looked up, with what was read there last. The projects of a process share it.
#[derive(Default)]
pub(in crate::engine) struct Desk {
    paid: Option<Paid>,
    read: Vec<Read>,
}

/// All that models wrote for a tier.
struct Read {
    tier: Tier,
    generation: u64,
    files: FxHashMap<ContentHash, Vec<(String, Arc<Written>)>>,
    /// By what stands for each folder.
    folders: FxHashMap<ContentHash, Arc<Written>>,
    /// What was written last about paths, as far as that was asked for.
    latest: FxHashMap<Vec<u8>, Option<Arc<Written>>>,
}

impl Desk {
    /// Returns the words for files; of one that has none, there is nothing in what is returned.
    pub(in crate::engine) fn words(
        &mut self,
        file: &Path,
        tier: Tier,
        options: &LookupOptions,
        (asked, folders): (&[Asked<'_>], Option<impl FnOnce() -> Vec<Folder>>),
    ) -> Result<Words, Error> {
        let Some(generation) = self.generation(file)? else { return Ok(Words::default()) };
        let is_read = self.read.iter().any(|read| read.tier == tier && read.generation == generation);
        let mut words = Words::default();
        if asked.len() <= FEW && folders.is_none() && !is_read {
            let Some(paid) = &self.paid else { return Ok(words) };
            for asked in asked {
                words.chosen.extend(one(paid, tier, options, asked)?);
            }
        } else {
            words.chosen = self.of_all(tier, generation, options, asked)?;
            let read = self.read(tier, generation, options)?;
            // To find out what stands for each folder is not worth while where there are no words about any.
            let folders = folders.filter(|_| !read.folders.is_empty()).map(|find| find()).unwrap_or_default();
            words.folders.extend(folders.iter().filter_map(|folder| about(folder, read)));
        }
        Ok(words)
    }

    /// Returns for which tiers a model has written of a content.
    pub(in crate::engine) fn tiers(
        &mut self,
        file: &Path,
        options: &LookupOptions,
        asked: &[Asked<'_>],
    ) -> Result<Vec<Vec<Tier>>, Error> {
        let mut tiers = vec![Vec::new(); asked.len()];
        let Some(generation) = self.generation(file)? else { return Ok(tiers) };
        for tier in Tier::ALL {
            let read = self.read(tier, generation, options)?;
            for (asked, tiers) in asked.iter().zip(&mut tiers) {
                tiers.extend(current(read, asked).map(|_| tier));
            }
        }
        Ok(tiers)
    }

    /// Returns a number that moves with what is written; `None` where nothing is. One question to the database, and
    /// where there is none, one to the file system.
    fn generation(&mut self, file: &Path) -> Result<Option<u64>, Error> {
        if self.paid.as_ref().is_some_and(|paid| !paid.still_there()) {
            // Another file may count as far as this one did.
            *self = Self::default();
        }
        if self.paid.is_none() {
            self.paid = Paid::open_reader(file)?;
        }
        let generation = self.paid.as_ref().map(Paid::generation).transpose();
        if generation.is_err() {
            *self = Self::default();
        }
        generation
    }

    fn of_all(
        &mut self,
        tier: Tier,
        generation: u64,
        options: &LookupOptions,
        asked: &[Asked<'_>],
    ) -> Result<FxHashMap<RelPath, Chosen>, Error> {
        let read = self.read(tier, generation, options)?;
        let mut chosen = FxHashMap::default();
        let mut without = Vec::new();
        for asked in asked {
            match current(read, asked) {
                Some(written) => {
                    let written = Arc::clone(written);
                    let content = asked.content;
                    chosen.insert(asked.path.clone(), Chosen { written, is_earlier: false, content });
                }
                None => without.push(asked),
            }
        }
        if options.uses_earlier && !without.is_empty() {
            let latest = self.latest(tier, &without)?;
            for asked in without {
                let found = latest.get(asked.path.as_bytes()).and_then(Option::as_ref);
                let found = found.and_then(|written| earlier(written, asked));
                chosen.extend(found.map(|found| (asked.path.clone(), found)));
            }
        }
        Ok(chosen)
    }

    /// Reads what was written for a tier, unless it was read before and nothing has come since.
    fn read(&mut self, tier: Tier, generation: u64, options: &LookupOptions) -> Result<&Read, Error> {
        self.read.retain(|read| read.generation == generation);
        if let Some(at) = self.read.iter().position(|read| read.tier == tier) {
            return Ok(&self.read[at]);
        }
        let all = self.paid.as_ref().map_or_else(|| Ok(Vec::new()), |paid| paid.all_for(tier))?;
        let (files, folders) = best(all, options);
        self.read.push(Read { tier, generation, files, folders, latest: FxHashMap::default() });
        Ok(self.read.last().expect("it was pushed above"))
    }

    /// Returns what was written last about files; to be asked after [`Desk::read`].
    fn latest(
        &mut self,
        tier: Tier,
        asked: &[&Asked<'_>],
    ) -> Result<&FxHashMap<Vec<u8>, Option<Arc<Written>>>, Error> {
        let read = self.read.iter_mut().find(|read| read.tier == tier);
        let read = read.expect("the tier was read before");
        let Some(paid) = &self.paid else { return Ok(&read.latest) };
        let is_new = |asked: &&&Asked<'_>| !read.latest.contains_key(asked.path.as_bytes());
        let new: Vec<Vec<u8>> =
            asked.iter().filter(is_new).map(|asked| asked.path.as_bytes().to_vec()).collect();
        let of_file = |summary: Summary| (summary.scope == Scope::File).then(|| Arc::new(written(summary)));
        if new.len() * FEWER < read.files.len() {
            for path in new {
                let latest = paid.latest(&path, tier)?.and_then(of_file);
                read.latest.insert(path, latest);
            }
        } else if !new.is_empty() {
            read.latest.extend(new.into_iter().map(|path| (path, None)));
            let all = paid.all_latest(tier)?.into_iter();
            read.latest.extend(all.map(|(path, summary)| (path, of_file(summary))));
        }
        Ok(&read.latest)
    }
}

/// Words about contents, by the types that they were read as.
type OfFiles = FxHashMap<ContentHash, Vec<(String, Arc<Written>)>>;

/// Keeps of each content, and of each folder, the words that come first.
fn best(mut all: Vec<Summary>, options: &LookupOptions) -> (OfFiles, FxHashMap<ContentHash, Arc<Written>>) {
    let (mut files, mut folders) = (OfFiles::default(), FxHashMap::default());
    all.sort_by_key(|summary| rank(&summary.by, options));
    for summary in all {
        if summary.scope != Scope::File {
            folders.entry(summary.subject).or_insert_with(|| Arc::new(written(summary)));
            continue;
        }
        let known = files.entry(summary.subject).or_default();
        if !known.iter().any(|(language, _)| *language == summary.language) {
            let language = summary.language.clone();
            known.push((language, Arc::new(written(summary))));
        }
    }
    (files, folders)
}

/// Returns the words about a folder, with its path. A folder that is the one thing that lies in it has none of its own.
fn about(folder: &Folder, read: &Read) -> Option<(Vec<u8>, String)> {
    let written = read.folders.get(&folder.node.subject).filter(|_| !folder.children.is_empty())?;
    let path = folder.path.as_ref().map_or(Vec::new(), |path| path.as_bytes().to_vec());
    Some((path, written.text.clone()))
}

fn current<'r>(read: &'r Read, asked: &Asked<'_>) -> Option<&'r Arc<Written>> {
    let known = read.files.get(&asked.content)?;
    known.iter().find(|(language, _)| language == asked.language).map(|(_, written)| written)
}

/// Looks up a single file.
fn one(
    paid: &Paid,
    tier: Tier,
    options: &LookupOptions,
    asked: &Asked<'_>,
) -> Result<Option<(RelPath, Chosen)>, Error> {
    let all = paid.of_subject(&asked.content, asked.language, tier)?;
    let all = all.into_iter().filter(|summary| summary.scope == Scope::File);
    if let Some(summary) = all.min_by_key(|summary| rank(&summary.by, options)) {
        let written = Arc::new(written(summary));
        let chosen = Chosen { written, is_earlier: false, content: asked.content };
        return Ok(Some((asked.path.clone(), chosen)));
    }
    if !options.uses_earlier {
        return Ok(None);
    }
    let latest = paid.latest(asked.path.as_bytes(), tier)?;
    let latest = latest.filter(|summary| summary.scope == Scope::File).map(|summary| written(summary).into());
    let found = latest.and_then(|written| earlier(&written, asked));
    Ok(found.map(|found| (asked.path.clone(), found)))
}

/// Returns words about a path as those of an earlier content, which they are not where another type is read now.
fn earlier(written: &Arc<Written>, asked: &Asked<'_>) -> Option<Chosen> {
    let is_earlier = written.subject != asked.content;
    let written = Arc::clone(written);
    is_earlier.then_some(Chosen { written, is_earlier, content: asked.content })
}

/// Returns the place of a model among those that are preferred. The sorts that go by it keep the newest first.
fn rank(by: &ModelName, options: &LookupOptions) -> usize {
    options.models.iter().position(|model| model == by).unwrap_or(usize::MAX)
}

fn written(summary: Summary) -> Written {
    let plain = |name: &str| aggregate::words_on_a_line(name);
    let by = ModelName { provider: plain(&summary.by.provider), model: plain(&summary.by.model) };
    Written { text: summary.text, by, subject: summary.subject, hash: OnceLock::new() }
}
