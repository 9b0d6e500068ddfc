//! A project about which a model is asked: what there is to ask, and the rounds in which it is asked.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use super::agent::Keys;
use crate::agent;
use crate::agent::Books;
use crate::agent::Collected;
use crate::agent::Estimate;
use crate::agent::Office;
use crate::agent::Options;
use crate::agent::Outcome;
use crate::agent::Report;
use crate::agent::Spent;
use crate::agent::Summary;
use crate::agent::UsageRow;
use crate::agent::Windows;
use crate::agent::Worded;
use crate::api::Fault;
use crate::api::MENDED;
use crate::api::World;
use crate::config::Loaded;
use crate::engine::Project;
use crate::engine::agent::Errands;
use crate::engine::agent::Node;
use crate::engine::agent::NotAsked;
use crate::engine::agent::Place;
use crate::engine::agent::Preview;
use crate::engine::agent::Quiet;
use crate::engine::agent::Wish;
use crate::engine::agent::Withheld;
use crate::llm::Model;
use crate::llm::Provider;
use crate::llm::Sending;
use crate::llm::Wire;
use crate::model::ModelName;
use crate::model::Tier;
use crate::model::with_causes;

/// How often it is looked whether another process has come to an end with what it asks.
const GLANCE: Duration = Duration::from_millis(200);

/// So many places of secrets are told.
const MOST_PLACES: usize = 10;

/// A project about which a model is asked.
pub struct Writing<'w> {
    project: Project<'w>,
    options: Options,
    world: World<'w>,
    folder: PathBuf,
}

/// What would be asked, before anybody is.
#[derive(Debug)]
pub struct Plan {
    /// What there is to ask.
    pub errands: Errands,
    /// How many questions are in batches, and so are not to be asked now.
    pub in_batches: u64,
    /// What it would cost.
    pub estimate: Estimate,
    /// Who is asked, and where that is; the first one first.
    pub hosts: Vec<(ModelName, String)>,
    /// Of what day prices are that slop came with.
    pub prices_of: String,
}

/// What models wrote of one thing.
#[derive(Debug)]
pub struct Shown {
    /// What it is about.
    pub place: Place,
    /// Their words, by tier, the newest first.
    pub summaries: Vec<Summary>,
}

/// How much is shown of what models wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The words about the file or folder itself.
    Own,
    /// Those about all that lies in it, too.
    Below,
    /// Those about the project and the folders in its root.
    Top,
}

/// What was asked when, and what that cost.
#[derive(Debug)]
pub struct Usage {
    /// The calls by day, the last one first, and model.
    pub rows: Vec<UsageRow>,
    /// What has been spent today and in all.
    pub spent: Spent,
}

impl<'w> Writing<'w> {
    /// Opens the project in the folder `root`.
    pub fn open(root: &Path, loaded: &Loaded, options: Options, world: World<'w>) -> Result<Self, Fault> {
        let engine_options = loaded.engine_options(root);
        if !engine_options.cache_enabled {
            let message = "keep what a model writes, for the cache is switched off";
            return Err(Fault::user("no_cache", message, "set `aggregation.cache_enabled = true`"));
        }
        let folder = cache_folder(root, loaded);
        let project = Project::open(root, engine_options, world)?;
        Ok(Self { project, options, world, folder })
    }

    /// Salvages what models wrote before, if it is damaged; to be done before anything is written.
    pub fn mend(&mut self) -> Result<(), Fault> {
        Ok(self.project.mend_paid()?)
    }

    /// Forgets what was tried in vain, as far as that is in the plan.
    pub fn forgive(&self, plan: &Plan) -> Result<(), Fault> {
        agent::forgive(&self.folder, &plan.errands.retried).map_err(|error| fault(&error))
    }

    /// Says whether all who may be asked are asked by `https`.
    pub fn is_all_secure(&self) -> bool {
        let is_secure = |model: &Model| model.provider.base_url.starts_with("https://");
        self.options.chain.iter().all(|model| model.provider.wire != Wire::Command && is_secure(model))
    }

    /// Returns what would be asked, `at_once` where that is in a batch, and what that would cost; with
    /// `retries` also what was tried in vain.
    pub fn plan(&mut self, prices_of: &str, at_once: bool, retries: bool) -> Result<Plan, Fault> {
        let mut errands = self.project.errands(&Wish { retries, ..self.options.wish.clone() })?;
        let books = self.books()?;
        let pending = books.in_batches().map_err(|error| fault(&error))?;
        let all = errands.ready.len();
        errands.ready.retain(|errand| !pending.contains(&errand.id));
        let in_batches = (all - errands.ready.len()) as u64;
        let spent = books.spent(self.today()).map_err(|error| fault(&error))?;
        let Options { chain, caps, wish, .. } = &self.options;
        let chain = if at_once {
            vec![agent::batch_model(chain).map_err(|error| fault(&error))?]
        } else {
            chain.clone()
        };
        let estimate = agent::estimate(&errands, &chain, wish.answer_tokens, caps, &spent);
        let hosts = chain.iter().map(|model| (model.full_name(), host_of(&model.provider))).collect();
        Ok(Plan { errands, in_batches, estimate, hosts, prices_of: prices_of.to_owned() })
    }

    /// Returns why nobody is asked about those of the picked files that were named one by one, by path.
    pub fn quiet(&mut self) -> Result<Vec<(String, String)>, Fault> {
        let quiet = self.project.quiet(&self.options.wish)?;
        let words = |why| match why {
            Quiet::NotAsked(reason) => words_of_not_asked(reason),
            Quiet::Refused(why) => format!("{why}, as was found before; --retry looks again"),
        };
        Ok(quiet.into_iter().map(|(path, why)| (path.to_string(), words(why))).collect())
    }

    /// Asks until there is nothing to ask that can be answered now: files first, then the folders that these are in.
    /// With `waits` also until others have ended that ask about the same.
    pub fn ask(
        &mut self,
        keys: Keys,
        windows: Windows<'_>,
        waits: bool,
        report: &dyn Report,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Outcome, Fault> {
        let office = self.office(keys, windows)?;
        let (mut all, mut settled) = (Outcome::default(), BTreeSet::new());
        loop {
            let errands = self.project.errands(&self.options.wish)?;
            let preparer = self.project.preparer(&errands, &self.options.wish);
            if errands.ready.is_empty() {
                return Ok(all);
            }
            let questions = Worded { preparer: &preparer, wish: &self.options.wish };
            let outcome = office.run(errands.ready, &questions, report, is_stopped);
            // A folder waits for its files, and not for those that have no words.
            let hopeless = outcome.refused.iter().map(|(errand, _)| errand.id);
            let hopeless = hopeless.chain(outcome.withheld.iter().map(|(errand, _)| errand.id));
            let before = settled.len();
            settled.extend(hopeless);
            let is_settled = before < settled.len();
            let has_brought = is_settled || 0 < outcome.answered + outcome.done;
            let is_taken = 0 < outcome.taken;
            add(&mut all, outcome);
            if all.stopped.is_some() {
                return Ok(all);
            }
            match (has_brought, is_taken && waits) {
                (true, _) => {}
                (false, true) => self.world.clock.sleep(GLANCE),
                (false, false) => return Ok(all),
            }
        }
    }

    /// Brings home what batches have brought since. Who ends it halfway loses nothing.
    pub fn collect(&self, keys: &Keys, windows: Windows<'_>) -> Result<Collected, Fault> {
        if self.books()?.in_batches().map_err(|error| fault(&error))?.is_empty() {
            return Ok(Collected::default());
        }
        Ok(self.office(keys.clone(), windows)?.collect(&|| false))
    }

    /// Hands over in a batch what there is to ask now.
    pub fn ask_in_batches(
        &mut self,
        keys: Keys,
        windows: Windows<'_>,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Outcome, Fault> {
        let office = self.office(keys, windows)?;
        let errands = self.project.errands(&self.options.wish)?;
        let preparer = self.project.preparer(&errands, &self.options.wish);
        let questions = Worded { preparer: &preparer, wish: &self.options.wish };
        let outcome = office.submit(errands.ready, &questions, is_stopped);
        outcome.map_err(|error| fault(&error))
    }

    /// Returns what would be sent about a file or a folder, as the first model of the chain would get it.
    pub fn preview(&mut self, word: &str) -> Result<(Model, Sending), Fault> {
        let Some(model) = self.options.chain.first().cloned() else {
            return Err(fault(&agent::Error::NoModels));
        };
        match self.project.preview(word, &self.options.wish)? {
            Preview::NotAsked(reason) => {
                let message =
                    format!("show what would be sent about `{word}`: {}", words_of_not_asked(reason));
                Err(Fault::user(
                    "not_asked",
                    message,
                    "no model is asked about it, so that there is nothing to show",
                ))
            }
            Preview::Asked { prepared: Err(withheld), secrets, .. } => {
                let places = secrets.iter().take(MOST_PLACES);
                let places = places.map(|found| format!("; line {}: {}", found.line, found.rule));
                let places = places.collect::<String>();
                let message = format!("send `{word}`: {withheld}{places}");
                Err(Fault::user("withheld", message, hint_of(&withheld)))
            }
            Preview::Asked { prepared: Ok(question), .. } => {
                let sending = agent::preview(&model, &question);
                Ok((model, sending))
            }
        }
    }

    /// Returns what a person should be told since this was last asked.
    pub fn take_notes(&mut self) -> Vec<String> {
        self.project.take_notes()
    }

    fn office<'o>(&self, keys: Keys, windows: Windows<'o>) -> Result<Office<'o>, Fault> {
        Office::open(&self.folder, windows, self.options.clone(), keys).map_err(|error| fault(&error))
    }

    fn books(&self) -> Result<Books, Fault> {
        Books::open(&self.folder).map_err(|error| fault(&error))
    }

    fn today(&self) -> i64 {
        today(self.world.clock.now_s())
    }
}

/// Returns what models wrote of what a word names, those of which nobody wrote left out.
pub fn shown(
    root: &Path,
    loaded: &Loaded,
    (named, extent): (&str, Extent),
    tiers: &[Tier],
    world: World<'_>,
) -> Result<Vec<Shown>, Fault> {
    let mut project = Project::open(root, loaded.engine_options(root), world)?;
    let picks = if named == "." { Vec::new() } else { vec![named.to_owned()] };
    let mut subjects = project.subjects(&super::agent::wish(loaded, Vec::new(), tiers.to_vec(), picks))?;
    retain(&mut subjects, named.trim_end_matches('/'), extent);
    let books = Books::open(&cache_folder(root, loaded)).map_err(|error| fault(&error))?;
    let mut shown = Vec::new();
    for (place, node) in subjects {
        let mut summaries = Vec::new();
        for tier in tiers {
            summaries.extend(books.summaries(&node, *tier).map_err(|error| fault(&error))?);
        }
        if !summaries.is_empty() {
            shown.push(Shown { place, summaries });
        }
    }
    Ok(shown)
}

/// Leaves what is wanted of all that a word touches. A pattern has no words of its own, so that all it selects stays.
fn retain(subjects: &mut Vec<(Place, Node)>, word: &str, extent: Extent) {
    let is_own = |place: &Place| match place {
        Place::Root => word == ".",
        Place::Folder(path) | Place::File(path) => path.as_bytes() == word.as_bytes(),
    };
    let is_top = |place: &Place| match place {
        Place::Root => true,
        Place::Folder(path) => path.parent().is_empty(),
        Place::File(_) => false,
    };
    match extent {
        Extent::Top => subjects.retain(|(place, _)| is_top(place)),
        Extent::Own if subjects.iter().any(|(place, _)| is_own(place)) => {
            subjects.retain(|(place, _)| is_own(place));
        }
        Extent::Own | Extent::Below => {}
    }
}

/// Returns what was asked, and what that cost, until the moment `now_s` in seconds since the epoch.
pub fn usage(root: &Path, loaded: &Loaded, now_s: i64) -> Result<Usage, Fault> {
    let books = Books::open(&cache_folder(root, loaded)).map_err(|error| fault(&error))?;
    let read = || Ok::<_, agent::Error>(Usage { rows: books.usage()?, spent: books.spent(today(now_s))? });
    read().map_err(|error| fault(&error))
}

fn words_of_not_asked(reason: NotAsked) -> String {
    match reason {
        NotAsked::LeftOut(reason) => reason.words().to_owned(),
        NotAsked::Excluded => "agent.exclude leaves it out".to_owned(),
        NotAsked::Curated => "[[files]] keeps it out of documents".to_owned(),
        NotAsked::Data => "it holds data, or a program wrote it".to_owned(),
        NotAsked::Small => "it is smaller than agent.least_bytes".to_owned(),
    }
}

const fn hint_of(withheld: &Withheld) -> &'static str {
    match withheld {
        Withheld::Secret { .. } => {
            "take it out of the file, or set `agent.secrets = \"redact\"` in your own settings file"
        }
        Withheld::Unscanned(_) => "it stays on this machine, whatever the settings say",
        Withheld::Changed => "try again when the file rests",
    }
}

/// Returns where a provider is: its host, or the program that is run.
pub fn host_of(provider: &Provider) -> String {
    if provider.wire == Wire::Command {
        return format!("the program {}", provider.command.first().map_or("", String::as_str));
    }
    let (_, rest) = provider.base_url.split_once("://").unwrap_or(("", &provider.base_url));
    rest.split('/').next().unwrap_or_default().to_owned()
}

/// Returns a key that may be there, for those who only want to know whether it is.
pub fn has_key(provider: &Provider, variable: &dyn Fn(&str) -> Option<SecretString>) -> bool {
    matches!(super::agent::key_of(provider, variable), Ok(Some(_)))
}

/// Returns the date of a day that is counted from 1970-01-01, as year, month and day.
pub fn day_of(day: i64) -> String {
    let moment = day.checked_mul(24 * 60 * 60).and_then(|second| jiff::Timestamp::from_second(second).ok());
    moment.map_or("-".to_owned(), |moment| moment.to_zoned(jiff::tz::TimeZone::UTC).date().to_string())
}

fn cache_folder(root: &Path, loaded: &Loaded) -> PathBuf {
    root.join(loaded.settings.aggregation.cache_dir.as_path())
}

fn today(now_s: i64) -> i64 {
    now_s.div_euclid(24 * 60 * 60)
}

fn add(all: &mut Outcome, outcome: Outcome) {
    all.answered += outcome.answered;
    all.done += outcome.done;
    // What others ask, and what can be asked again, was asked for anew in this round.
    all.taken = outcome.taken;
    all.in_batch = outcome.in_batch;
    all.left = outcome.left;
    all.refused.extend(outcome.refused);
    all.withheld.extend(outcome.withheld);
    all.trouble = outcome.trouble;
    all.stopped = outcome.stopped;
    all.calls += outcome.calls;
    all.absurd += outcome.absurd;
    all.spent = all.spent + outcome.spent;
}

/// Returns what is wrong, for whoever asked.
fn fault(error: &agent::Error) -> Fault {
    let message = with_causes(error);
    match error {
        agent::Error::NoModels => {
            Fault::user("no_model", format!("ask a model: {message}"), "set agent.models")
        }
        agent::Error::NoPrice(_) => {
            Fault::user("no_price", format!("ask a model: {message}"), "add its price")
        }
        agent::Error::NoBatches => {
            let hint = "leave out --batch; `slop agent providers --json` says who takes batches";
            Fault::user("no_batches", format!("ask in a batch: {message}"), hint)
        }
        agent::Error::NoKey { .. } => Fault::user("no_key", format!("ask a model: {message}"), "set the key"),
        agent::Error::Store(store) if store.is_damage() => {
            Fault::environment("paid_unusable", message, MENDED)
        }
        agent::Error::Lock { .. } | agent::Error::Store(_) => {
            let hint = "check the room on the disk and the permissions of the cache folder; nothing was sent";
            Fault::environment("no_books", message, hint)
        }
    }
}
