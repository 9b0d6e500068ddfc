//! A team's cache: missing summaries are fetched from it, and those paid for here are stored in it.
//!
//! A fetched text is checked like a model's answer. If it fails, it counts as missing, and the model is called.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::engine::summaries::WantedSummary;
use crate::model::{Money, SummaryKey, WriterKey};
use crate::share::{EntryDefect, FetchedEntry, SharedSummary, StoreReport, TeamCache};
use crate::store::agent::{AGENT_DATABASE, AgentDb, FetchedSummary, StoredSummary};
use crate::summarize::prompt;
use crate::{share, store};

/// How many summaries are stored at once.
const BATCH: u32 = 500;

/// Why summaries could not be shared.
#[derive(Debug, thiserror::Error)]
pub enum ShareFailure {
    #[error(transparent)]
    Cache(#[from] share::Error),
    #[error("database of summaries cannot be used")]
    Store(#[from] store::Error),
}

/// The result of a pull.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PullReport {
    /// How many summaries were missing here.
    pub wanted: u64,
    pub fetched: u64,
    /// Entries that count as missing, by the reason.
    pub refused: BTreeMap<EntryDefect, u64>,
    /// What the fetched summaries had cost their writers.
    pub saved: Money,
}

/// How many summaries this project has, by origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShareCounts {
    /// Summaries that were paid for here.
    pub own: u64,
    /// Summaries that were fetched from trusted writers.
    pub fetched: u64,
    /// Summaries that were fetched from writers who are no longer trusted; they are not shown.
    pub disbelieved: u64,
    /// Own summaries that are not yet stored in the team's cache.
    pub outbox: u64,
    /// What the fetched summaries had cost their writers.
    pub saved: Money,
}

/// The result of comparing the team's cache with the summaries paid for here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Entries that equal the summary stored here.
    pub intact: u64,
    /// Summaries without an entry in the cache, or with an earlier entry by another writer.
    pub absent: u64,
    /// Entries that failed verification, each with the reason.
    pub broken: Vec<(SummaryKey, EntryDefect)>,
}

/// Fetches summaries into the database in `folder`, the project's cache.
pub fn pull_shared(
    folder: &Path,
    team: &TeamCache,
    wanted: &[WantedSummary],
) -> Result<PullReport, ShareFailure> {
    let mut report = PullReport { wanted: wanted.len() as u64, ..PullReport::default() };
    let by_key: HashMap<SummaryKey, &WantedSummary> =
        wanted.iter().map(|wanted| (wanted.key, wanted)).collect();
    let keys: Vec<SummaryKey> = wanted.iter().map(|wanted| wanted.key).collect();
    let mut rows = FetchedRows { folder, db: None, rows: Vec::new() };
    team.fetch::<ShareFailure>(&keys, &mut |key, found| {
        let row = match found {
            FetchedEntry::Missing => return Ok(()),
            FetchedEntry::Refused(defect) => Err(defect),
            FetchedEntry::Found(shared, writer) => checked_row(by_key[key], &shared)
                .map(|summary| (FetchedSummary { summary, writer }, paths_of(by_key[key]))),
        };
        match row {
            Ok(row) => {
                report.saved = report.saved + row.0.summary.cost;
                report.fetched += rows.add(row)?;
            }
            Err(defect) => *report.refused.entry(defect).or_default() += 1,
        }
        Ok(())
    })?;
    report.fetched += rows.store()?;
    Ok(report)
}

/// Fetched summaries on their way into the database.
struct FetchedRows<'f> {
    folder: &'f Path,
    /// Opened with the first summary, because a project that gets none needs no database.
    db: Option<AgentDb>,
    rows: Vec<(FetchedSummary, Vec<Vec<u8>>)>,
}

impl FetchedRows<'_> {
    /// Adds a summary. Returns how many were stored by this call.
    fn add(&mut self, row: (FetchedSummary, Vec<Vec<u8>>)) -> Result<u64, store::Error> {
        self.rows.push(row);
        if self.rows.len() < BATCH as usize { Ok(0) } else { self.store() }
    }

    /// Stores the pending summaries. Returns how many were new.
    fn store(&mut self) -> Result<u64, store::Error> {
        if self.rows.is_empty() {
            return Ok(0);
        }
        let db = match &mut self.db {
            Some(db) => db,
            none => none.insert(AgentDb::open(&self.folder.join(AGENT_DATABASE))?.db),
        };
        let stored = db.store_fetched(&self.rows)?;
        self.rows.clear();
        Ok(stored)
    }
}

/// Stores all own summaries in the team's cache.
pub fn push_all_shared(folder: &Path, team: &TeamCache) -> Result<StoreReport, ShareFailure> {
    if let Some(mut opened) = AgentDb::open_if_exists(&folder.join(AGENT_DATABASE))? {
        // Through the outbox, so that an interrupted push is continued by the next one.
        opened.db.fill_outbox_with_all()?;
    }
    push_shared(folder, team)
}

/// Stores the summaries in the outbox in the team's cache, and removes them from the outbox.
pub fn push_shared(folder: &Path, team: &TeamCache) -> Result<StoreReport, ShareFailure> {
    let mut report = StoreReport::default();
    let Some(opened) = AgentDb::open_if_exists(&folder.join(AGENT_DATABASE))? else { return Ok(report) };
    let mut db = opened.db;
    loop {
        let batch = db.outbox(BATCH)?;
        if batch.is_empty() {
            return Ok(report);
        }
        let shared: Vec<SharedSummary> = batch.iter().map(to_shared).collect();
        let StoreReport { stored, present, unfit } = team.store(&shared)?;
        report.stored += stored;
        report.present += present;
        report.unfit += unfit;
        // Removed only now: if this process dies earlier, the next one stores them.
        db.remove_from_outbox(&batch.iter().map(|summary| summary.key).collect::<Vec<_>>())?;
    }
}

/// Stores all own summaries in the team's cache as one object.
pub fn pack_shared(folder: &Path, team: &TeamCache, now_ms: i64) -> Result<StoreReport, ShareFailure> {
    let own = match AgentDb::open_reader(&folder.join(AGENT_DATABASE))? {
        Some(db) => db.own_summaries()?,
        None => Vec::new(),
    };
    if own.is_empty() {
        return Ok(StoreReport::default());
    }
    Ok(team.store_pack(&own.iter().map(to_shared).collect::<Vec<_>>(), now_ms)?)
}

/// Reads every own summary back from the team's cache.
pub fn verify_shared(folder: &Path, team: &TeamCache) -> Result<VerifyReport, ShareFailure> {
    let mut report = VerifyReport::default();
    let Some(db) = AgentDb::open_reader(&folder.join(AGENT_DATABASE))? else { return Ok(report) };
    let own: HashMap<SummaryKey, StoredSummary> =
        db.own_summaries()?.into_iter().map(|summary| (summary.key, summary)).collect();
    let keys: Vec<SummaryKey> = own.keys().copied().collect();
    team.fetch_own::<ShareFailure>(&keys, &mut |key, found| {
        match found {
            FetchedEntry::Missing | FetchedEntry::Refused(EntryDefect::Writer) => report.absent += 1,
            FetchedEntry::Refused(defect) => report.broken.push((*key, defect)),
            FetchedEntry::Found(shared, _) if shared.text == own[key].text => report.intact += 1,
            FetchedEntry::Found(..) => report.broken.push((*key, EntryDefect::Text)),
        }
        Ok(())
    })?;
    report.broken.sort();
    Ok(report)
}

/// Counts the summaries of the project whose cache is in `folder`.
pub fn share_counts(folder: &Path, writers: &[WriterKey]) -> Result<ShareCounts, store::Error> {
    let Some(db) = AgentDb::open_reader(&folder.join(AGENT_DATABASE))? else {
        return Ok(ShareCounts::default());
    };
    let (believed, others): (Vec<_>, Vec<_>) =
        db.fetched_summaries()?.into_iter().partition(|row| writers.contains(&row.writer));
    Ok(ShareCounts {
        own: db.own_summaries()?.len() as u64,
        fetched: believed.len() as u64,
        disbelieved: others.len() as u64,
        outbox: db.outbox_size()?,
        saved: believed.iter().map(|row| row.summary.cost).sum(),
    })
}

/// Returns the row for a fetched summary if it is the wanted one and its text would be accepted as an answer.
fn checked_row(wanted: &WantedSummary, shared: &SharedSummary) -> Result<StoredSummary, EntryDefect> {
    if shared.tier != wanted.tier || shared.model != wanted.model {
        return Err(EntryDefect::Key);
    }
    // The signature proves who called the model, not that the answer was checked.
    let checked = prompt::check(&shared.text, &[shared.tier]);
    if !checked.is_ok_and(|checked| checked.iter().all(|(_, text)| *text == shared.text)) {
        return Err(EntryDefect::Text);
    }
    Ok(StoredSummary {
        key: wanted.key,
        subject: wanted.node.subject,
        language: wanted.node.language.to_owned(),
        scope: wanted.node.scope,
        tier: wanted.tier,
        prompt: wanted.prompt.clone(),
        model: wanted.model.clone(),
        text: shared.text.clone(),
        tokens: shared.tokens,
        cost: shared.cost,
        at_ms: shared.at_ms,
    })
}

fn paths_of(wanted: &WantedSummary) -> Vec<Vec<u8>> {
    wanted.paths.iter().map(|path| path.as_bytes().to_vec()).collect()
}

fn to_shared(summary: &StoredSummary) -> SharedSummary {
    SharedSummary {
        key: summary.key,
        tier: summary.tier,
        model: summary.model.clone(),
        text: summary.text.clone(),
        tokens: summary.tokens,
        cost: summary.cost,
        at_ms: summary.at_ms,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::engine::summaries::SubjectKey;
    use crate::model::{ContentHash, ModelName, SummaryScope, Tier};
    use crate::share::{
        EngineAccess, EngineOptions, S3Server, ShareUrl, SigningKey, TeamKey, Writer, generate_key,
    };

    pub(in crate::agent) fn wanted(name: &str) -> WantedSummary {
        let subject = ContentHash::digest(name.as_bytes());
        WantedSummary {
            key: SummaryKey(subject),
            node: SubjectKey { scope: SummaryScope::File, subject, language: "python" },
            tier: Tier::Orchestrator,
            prompt: "code/1".to_owned(),
            model: ModelName { provider: "anthropic".to_owned(), model: "small".to_owned() },
            paths: Vec::new(),
        }
    }

    pub(in crate::agent) fn shared(name: &str, text: &str) -> SharedSummary {
        let WantedSummary { key, tier, model, .. } = wanted(name);
        let (tokens, cost) = (crate::model::TokenUsage::default(), Money::from_nanos(7));
        SharedSummary { key, tier, model, text: text.to_owned(), tokens, cost, at_ms: 1 }
    }

    /// The keys of a team with one trusted writer.
    pub(in crate::agent) struct TestKeys {
        team: String,
        secret: String,
    }

    impl TestKeys {
        pub(in crate::agent) fn new() -> Self {
            Self { team: generate_key().unwrap(), secret: generate_key().unwrap() }
        }

        fn signer(&self) -> SigningKey {
            SigningKey::parse(&self.secret).unwrap()
        }

        pub(in crate::agent) fn writer(&self) -> Writer {
            Writer { name: "ci".to_owned(), key: self.signer().writer_key() }
        }

        /// Returns the team's cache in a folder.
        pub(in crate::agent) fn cache(&self, folder: &Path) -> TeamCache {
            let timeout = Duration::from_secs(20);
            let options = EngineOptions { timeout, lifetime: None, claims: true, insecure: false };
            let server = S3Server::parse("", "us-east-1").unwrap();
            let access = EngineAccess { server, keys: None, proxy: None };
            let (url, team) = (ShareUrl::Folder(folder.to_owned()), TeamKey::parse(&self.team).unwrap());
            TeamCache::new(&url, options, access, team, Some(self.signer()), &[self.writer()]).unwrap()
        }
    }

    #[test]
    fn a_fetched_text_is_checked_like_an_answer() {
        let row = |text: &str| checked_row(&wanted("a"), &shared("a", text)).map(|row| row.text);
        assert_eq!(row("It runs jobs."), Ok("It runs jobs.".to_owned()));
        let long = "It runs jobs. ".repeat(40);
        for wrong in ["", "Runs \u{1b}[31mjobs.", "See [this](http://x).", "<script>x</script>", &long] {
            assert_eq!(row(wrong), Err(EntryDefect::Text), "{wrong:?}");
        }
        let other = SharedSummary { tier: Tier::TechLead, ..shared("a", "It runs jobs.") };
        assert_eq!(checked_row(&wanted("a"), &other), Err(EntryDefect::Key));
    }

    #[test]
    fn pulled_summaries_are_stored_and_those_of_untrusted_writers_counted() {
        let (remote, local) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let keys = TestKeys::new();
        let (cache, writer) = (keys.cache(remote.path()), keys.writer());
        cache.store(&[shared("a", "It runs jobs."), shared("b", "Bad\u{7} words.")]).unwrap();
        let all = [wanted("a"), wanted("b"), wanted("c")];
        let report = pull_shared(local.path(), &cache, &all).unwrap();
        assert_eq!((report.wanted, report.fetched, report.saved), (3, 1, Money::from_nanos(7)));
        assert_eq!(report.refused, BTreeMap::from([(EntryDefect::Text, 1)]));
        let counts = share_counts(local.path(), &[writer.key]).unwrap();
        assert_eq!((counts.own, counts.fetched, counts.disbelieved), (0, 1, 0));
        assert_eq!(share_counts(local.path(), &[]).unwrap().disbelieved, 1);
        // None of these summaries belong to this user, so there is nothing to push or to verify.
        assert_eq!(push_all_shared(local.path(), &cache).unwrap(), StoreReport::default());
        assert_eq!(verify_shared(local.path(), &cache).unwrap(), VerifyReport::default());
    }
}
