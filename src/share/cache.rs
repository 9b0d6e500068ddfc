//! The team's cache: an engine, the keys, and the writers that are trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use ring::rand::{SecureRandom, SystemRandom};

use super::engine::{
    BATCH, EngineAccess, EngineOptions, Error, NewEntry, PackName, PutMode, RemoteEntry, RemoteKey,
};
use super::entry::{EntryDefect, SharedSummary, open_entry, seal_entry};
use super::keys::{SigningKey, TeamKey, Writer};
use super::pack::{FIRST_READ_BYTES, PackIndex, build_packs};
use super::s3_address::S3Server;
use super::timed::TimedEngine;
use super::url::ShareUrl;
use crate::model::{ContentHash, SummaryKey, WriterKey, hex};

/// The number of wanted summaries from which packs are used: fetching fewer one by one is faster.
const PACK_MINIMUM: usize = 200;

/// The cache of a team.
pub struct TeamCache {
    engine: TimedEngine,
    /// Identifies the cache and its keys, so that data about another one is not used for it.
    id: ContentHash,
    /// Whether questions are claimed.
    has_claims: bool,
    team: TeamKey,
    signer: Option<SigningKey>,
    writers: Vec<WriterKey>,
}

/// The content of the cache under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchedEntry {
    Missing,
    /// An invalid entry, which counts as missing.
    Refused(EntryDefect),
    Found(Box<SharedSummary>, WriterKey),
}

type OpenedEntry = Result<(SharedSummary, WriterKey), EntryDefect>;

/// The result of storing summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreReport {
    pub stored: u64,
    /// Those that the cache already has.
    pub present: u64,
    /// Those that are too long for an entry.
    pub unfit: u64,
}

impl TeamCache {
    /// Returns the cache at an address, without connecting to it. Without a signing key, nothing can be stored.
    pub fn new(
        url: &ShareUrl,
        options: EngineOptions,
        access: EngineAccess,
        team: TeamKey,
        signer: Option<SigningKey>,
        writers: &[Writer],
    ) -> Result<Self, Error> {
        let writers: Vec<WriterKey> = writers.iter().map(|writer| writer.key).collect();
        let id = cache_id(url, &access.server, &team, &writers);
        let engine = TimedEngine::open(url, options, access)?;
        // A reader who cannot store must not claim: others would wait in vain.
        let has_claims = options.claims && signer.is_some() && engine.has_claims();
        Ok(Self { engine, id, has_claims, team, signer, writers })
    }

    /// Returns the identity of the cache, its keys and its trusted writers.
    pub const fn id(&self) -> ContentHash {
        self.id
    }

    /// Returns an error if the cache cannot be reached.
    pub fn check(&self) -> Result<(), Error> {
        self.engine.check()
    }

    /// Returns the public key of the signing key; `None` without one.
    pub fn own_key(&self) -> Option<WriterKey> {
        self.signer.as_ref().map(SigningKey::writer_key)
    }

    /// Calls `each` with the result for each of these keys, in any order.
    pub fn fetch<E: From<Error>>(
        &self,
        keys: &[SummaryKey],
        each: &mut dyn FnMut(&SummaryKey, FetchedEntry) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.engine.has_packs() || keys.len() < PACK_MINIMUM {
            return self.fetch_by(&self.writers, keys, each);
        }
        let mut wanted: BTreeMap<RemoteKey, SummaryKey> =
            keys.iter().map(|key| (self.team.remote_key(key), *key)).collect();
        let mut refused = BTreeMap::new();
        for pack in self.engine.packs()? {
            if wanted.is_empty() {
                break;
            }
            self.fetch_packed(&pack, &mut wanted, &mut |key, found| match found {
                // There may be a valid one elsewhere.
                Err(defect) => {
                    refused.insert(*key, defect);
                    Ok(())
                }
                Ok((summary, writer)) => each(key, FetchedEntry::Found(Box::new(summary), writer)),
            })?;
        }
        let left: Vec<SummaryKey> = wanted.into_values().collect();
        self.fetch_by(&self.writers, &left, &mut |key, found| {
            let defect = refused.get(key).filter(|_| found == FetchedEntry::Missing);
            each(key, defect.map_or(found, |defect| FetchedEntry::Refused(*defect)))
        })
    }

    /// Calls `each` with the wanted entries of a pack; valid ones are no longer wanted.
    fn fetch_packed<E: From<Error>>(
        &self,
        pack: &PackName,
        wanted: &mut BTreeMap<RemoteKey, SummaryKey>,
        each: &mut dyn FnMut(&SummaryKey, OpenedEntry) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(index) = self.pack_index(pack)? else { return Ok(()) };
        for read in index.plan_reads(|key| wanted.contains_key(key)) {
            let length = usize::try_from(read.bytes.end - read.bytes.start).expect("a read is small");
            let bytes = self.engine.read_pack(pack, read.bytes.start, length)?;
            for (remote, entry) in read.entries(&bytes) {
                let Some(key) = wanted.get(remote).copied() else { continue };
                let opened = open_entry(&self.team, &self.writers, &key, entry);
                if opened.is_ok() {
                    wanted.remove(remote);
                }
                each(&key, opened)?;
            }
        }
        Ok(())
    }

    /// Reads the index of a pack; `None` if it is not a pack of this format.
    fn pack_index(&self, pack: &PackName) -> Result<Option<PackIndex>, Error> {
        let mut start = self.engine.read_pack(pack, 0, FIRST_READ_BYTES)?;
        let Some(length) = PackIndex::length(&start) else { return Ok(None) };
        if let Some(left) = length.checked_sub(start.len()).filter(|left| 0 < *left) {
            start.extend(self.engine.read_pack(pack, start.len() as u64, left)?);
        }
        Ok(PackIndex::parse(&start))
    }

    /// Stores summaries as one pack, unless a recent pack contains all of them.
    pub fn store_pack(&self, summaries: &[SharedSummary], now_ms: i64) -> Result<StoreReport, Error> {
        let signer = self.signer.as_ref().ok_or(Error::NoSigningKey)?;
        if !self.engine.has_packs() {
            return Err(Error::NoPacks);
        }
        let keys: BTreeSet<RemoteKey> =
            summaries.iter().map(|summary| self.team.remote_key(&summary.key)).collect();
        let count = keys.len() as u64;
        for pack in self.engine.packs()? {
            if self.pack_index(&pack)?.is_some_and(|index| keys.iter().all(|key| index.contains(key))) {
                return Ok(StoreReport { present: count, ..StoreReport::default() });
            }
        }
        let seal = |summary: &SharedSummary| {
            Some((self.team.remote_key(&summary.key), seal_entry(&self.team, signer, summary)?))
        };
        let entries: Vec<_> = summaries.iter().filter_map(seal).collect();
        let stored = entries.len() as u64;
        for pack in build_packs(entries) {
            self.engine.put_pack(new_pack_name(now_ms)?, pack)?;
        }
        Ok(StoreReport { stored, present: 0, unfit: count - stored })
    }

    /// Fetches only entries stored with this cache's own signing key.
    pub fn fetch_own<E: From<Error>>(
        &self,
        keys: &[SummaryKey],
        each: &mut dyn FnMut(&SummaryKey, FetchedEntry) -> Result<(), E>,
    ) -> Result<(), E> {
        let own = self.own_key().ok_or(Error::NoSigningKey)?;
        self.fetch_by(&[own], keys, each)
    }

    /// Stores summaries. An entry by a trusted writer, or by one unknown here, is kept; invalid data is replaced.
    pub fn store(&self, summaries: &[SharedSummary]) -> Result<StoreReport, Error> {
        let signer = self.signer.as_ref().ok_or(Error::NoSigningKey)?;
        let believed: Vec<WriterKey> = self.writers.iter().copied().chain(self.own_key()).collect();
        let mut report = StoreReport::default();
        for batch in summaries.chunks(BATCH) {
            let keys: Vec<SummaryKey> = batch.iter().map(|summary| summary.key).collect();
            let mut modes = Vec::with_capacity(batch.len());
            self.fetch_by::<Error>(&believed, &keys, &mut |_, found| {
                modes.push(match found {
                    FetchedEntry::Missing => Some(PutMode::IfAbsent),
                    FetchedEntry::Refused(defect) if defect.is_worthless() => Some(PutMode::Replace),
                    FetchedEntry::Refused(_) | FetchedEntry::Found(..) => None,
                });
                Ok(())
            })?;
            let mut entries = Vec::new();
            for (summary, mode) in batch.iter().zip(modes) {
                let Some(mode) = mode else {
                    report.present += 1;
                    continue;
                };
                match seal_entry(&self.team, signer, summary) {
                    Some(bytes) => {
                        entries.push(NewEntry { key: self.team.remote_key(&summary.key), bytes, mode });
                    }
                    None => report.unfit += 1,
                }
            }
            for is_stored in self.engine.put(&entries)? {
                *if is_stored { &mut report.stored } else { &mut report.present } += 1;
            }
        }
        Ok(report)
    }

    /// Returns whether questions are claimed before they are asked.
    pub const fn has_claims(&self) -> bool {
        self.has_claims
    }

    /// Claims questions, each by the key of the summary that answers it first, for a limited time. Returns for each
    /// whether nobody else had claimed it.
    pub fn claim(&self, keys: &[SummaryKey], lifetime: Duration) -> Result<Vec<bool>, Error> {
        self.engine.claim(self.remote_keys(keys), lifetime)
    }

    /// Releases claims.
    pub fn release(&self, keys: &[SummaryKey]) -> Result<(), Error> {
        if keys.is_empty() {
            // Servers reject an empty batch.
            return Ok(());
        }
        self.engine.release(self.remote_keys(keys))
    }

    fn remote_keys(&self, keys: &[SummaryKey]) -> Vec<RemoteKey> {
        keys.iter().map(|key| self.team.remote_key(key)).collect()
    }

    fn fetch_by<E: From<Error>>(
        &self,
        writers: &[WriterKey],
        keys: &[SummaryKey],
        each: &mut dyn FnMut(&SummaryKey, FetchedEntry) -> Result<(), E>,
    ) -> Result<(), E> {
        for batch in keys.chunks(BATCH) {
            for (key, entry) in batch.iter().zip(self.engine.get(&self.remote_keys(batch))?) {
                let fetched = match entry {
                    RemoteEntry::Missing => FetchedEntry::Missing,
                    RemoteEntry::TooLong => FetchedEntry::Refused(EntryDefect::Length),
                    RemoteEntry::Present(bytes) => match open_entry(&self.team, writers, key, &bytes) {
                        Ok((summary, writer)) => FetchedEntry::Found(Box::new(summary), writer),
                        Err(defect) => FetchedEntry::Refused(defect),
                    },
                };
                each(key, fetched)?;
            }
        }
        Ok(())
    }
}

fn cache_id(url: &ShareUrl, server: &S3Server, team: &TeamKey, writers: &[WriterKey]) -> ContentHash {
    let mut text = format!("{url}\n{server}\n").into_bytes();
    text.extend(team.remote_key(&SummaryKey(ContentHash::digest(b"the cache's id"))));
    for writer in writers {
        text.extend(writer.0);
    }
    ContentHash::digest(&text)
}

/// Returns the name of a new pack. It sorts before those of all older packs, because servers list names in order.
fn new_pack_name(now_ms: i64) -> Result<PackName, Error> {
    let mut random = [0; 8];
    let failed = |_| Error::Io { done: "written", source: io::Error::other("no random numbers") };
    SystemRandom::new().fill(&mut random).map_err(failed)?;
    Ok(PackName(format!("{:016x}-{}", u64::MAX - now_ms.cast_unsigned(), hex(&random))))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test changes the bytes of entries")]
pub(super) mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::share::S3Keys;
    use crate::share::entry::tests::summary;

    pub(in crate::share) const OPTIONS: EngineOptions =
        EngineOptions { timeout: Duration::from_secs(20), lifetime: None, claims: true, insecure: false };

    /// The access data for a folder, which needs none.
    pub(in crate::share) fn access(keys: Option<S3Keys>, endpoint: &str) -> EngineAccess {
        EngineAccess { server: S3Server::parse(endpoint, "us-east-1").unwrap(), keys, proxy: None }
    }

    fn cache(folder: &Path, seed: u8, writers: &[u8]) -> TeamCache {
        let key = |seed: &u8| SigningKey::from_bytes(&[*seed; 32]);
        let writers: Vec<Writer> =
            writers.iter().map(|seed| Writer { name: "x".into(), key: key(seed).writer_key() }).collect();
        let url = ShareUrl::Folder(folder.to_owned());
        let team = TeamKey::from_bytes(&[1; 32]);
        TeamCache::new(&url, OPTIONS, access(None, ""), team, Some(key(&seed)), &writers).unwrap()
    }

    fn fetch(cache: &TeamCache, name: &str) -> FetchedEntry {
        let mut found = FetchedEntry::Missing;
        cache
            .fetch::<Error>(&[summary(name).key], &mut |_, fetched| {
                found = fetched;
                Ok(())
            })
            .unwrap();
        found
    }

    fn stored(folder: &Path) -> Vec<PathBuf> {
        let below = fs::read_dir(folder.join("slop-share-v1")).unwrap();
        below
            .flat_map(|entry| fs::read_dir(entry.unwrap().path()).unwrap())
            .map(|e| e.unwrap().path())
            .collect()
    }

    #[test]
    fn an_entry_is_found_by_others_who_list_its_writer() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) = (cache(folder.path(), 1, &[]), cache(folder.path(), 2, &[1]));
        assert_eq!(ours.store(&[summary("a")]).unwrap(), StoreReport { stored: 1, ..StoreReport::default() });
        let writer = SigningKey::from_bytes(&[1; 32]).writer_key();
        assert_eq!(fetch(&theirs, "a"), FetchedEntry::Found(Box::new(summary("a")), writer));
        assert_eq!(fetch(&theirs, "b"), FetchedEntry::Missing);
        assert_eq!(fetch(&ours, "a"), FetchedEntry::Refused(EntryDefect::Writer));
    }

    #[test]
    fn a_valid_entry_is_never_overwritten_and_a_broken_one_is() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (cache(folder.path(), 1, &[1, 2]), cache(folder.path(), 2, &[1, 2]));
        first.store(&[summary("a")]).unwrap();
        let mine = SharedSummary { text: "Other words.".to_owned(), ..summary("a") };
        let report = second.store(std::slice::from_ref(&mine)).unwrap();
        assert_eq!(report, StoreReport { present: 1, ..StoreReport::default() });
        let [path] = &stored(folder.path())[..] else { panic!("one entry") };
        // Half of it, as with a full disk.
        let entry = fs::read(path).unwrap();
        fs::write(path, &entry[..entry.len() / 2]).unwrap();
        assert_eq!(second.store(std::slice::from_ref(&mine)).unwrap().stored, 1);
        assert!(matches!(fetch(&first, "a"), FetchedEntry::Found(found, _) if *found == mine));
        // An entry of a newer version is left alone.
        let mut newer = fs::read(path).unwrap();
        newer[0] += 1;
        fs::write(path, newer).unwrap();
        assert_eq!(second.store(&[mine]).unwrap().present, 1);
    }

    #[test]
    fn without_a_signing_key_nothing_is_stored() {
        let folder = tempfile::tempdir().unwrap();
        let url = ShareUrl::Folder(folder.path().to_owned());
        let team = TeamKey::from_bytes(&[1; 32]);
        let reader = TeamCache::new(&url, OPTIONS, access(None, ""), team, None, &[]).unwrap();
        assert!(matches!(reader.store(&[summary("a")]), Err(Error::NoSigningKey)));
    }
}
