//! Simulates what a provider's prompt cache would have read and written if a document had been sent after each of some
//! commits.
//!
//! The commits are checked out one after another in a clone of the repository within the cache's folder, which shares
//! its objects. The project itself is not touched, and its current settings apply to all commits.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::document::{resolve_aggregate, vendor};
use super::local::LocalService;
use super::resolved::{QueryOrigin, QuerySettings};
use super::sources::prices;
use crate::api::{
    AggregateQuery, ApiError, CallOptions, ComposeQuery, DocumentRequest, FormatName, PromptCache,
    PromptCacheUse, SentDocument, ask, prefix_caching,
};
use crate::config::LoadedConfig;
use crate::engine::{make_cache_folder, run_git};
use crate::model::{CacheLifetime, Money, TokenUsage};
use crate::sys::{Disk, RealDisk, RealFiles, RealProcesses, ScratchFolder};

/// The folder of the clone, below the cache's.
const REPLAY_FOLDER: &str = "replay";
/// A checkout must not run the user's filters that fetch large files.
const QUIET_CHECKOUT: [&str; 8] = [
    "-c",
    "filter.lfs.smudge=",
    "-c",
    "filter.lfs.process=",
    "-c",
    "filter.lfs.required=false",
    "-c",
    "advice.detachedHead=false",
];

/// One commit of a replay.
#[derive(Debug, Clone)]
pub struct ReplayStep {
    /// Its full hash.
    pub commit: String,
    pub usage: PromptCacheUse,
    /// `None` where the model's price is not known.
    pub cost: Option<ReplayCost>,
}

/// What the input of one request costs.
#[derive(Debug, Clone, Copy)]
pub struct ReplayCost {
    pub with_cache: Money,
    pub without_cache: Money,
}

/// A replay that is ready to begin.
pub struct CacheReplay {
    loaded: Arc<LoadedConfig>,
    document: DocumentRequest,
    query: AggregateQuery,
    /// The commits, oldest first.
    commits: Vec<String>,
    /// The project in the clone.
    root: PathBuf,
    clone: PathBuf,
    _scratch: ScratchFolder,
}

impl CacheReplay {
    /// Prepares a replay of the commits of `range`, spelled `REV..REV`: the first one, and those that follow it along
    /// first parents.
    pub fn prepare(
        root: &Path,
        loaded: &LoadedConfig,
        query: AggregateQuery,
        range: &str,
    ) -> Result<Self, ApiError> {
        let settings = QuerySettings { loaded, root, origin: QueryOrigin::CommandLine };
        // Reads and writes are counted in the tokens of the receipt.
        let query = AggregateQuery { exact_tokens: true, ..query };
        let document = resolve_aggregate(query.clone(), settings)?;
        let commits = commits_of(root, range)?;
        let scratch = scratch_folder(root, loaded)?;
        // A document may contain the name of the project's folder.
        let clone = scratch.path().join(root.file_name().unwrap_or_default());
        borrow_objects(root, &clone)?;
        let root = clone.join(git(root, &["rev-parse", "--show-prefix"])?);
        Ok(Self {
            loaded: Arc::new(loaded.clone()),
            document,
            query,
            commits,
            root,
            clone,
            _scratch: scratch,
        })
    }

    /// Returns the document request that is composed at each commit.
    pub const fn document(&self) -> &DocumentRequest {
        &self.document
    }

    /// Composes the document of each commit, and passes the result to `report`, which can fail.
    pub fn run<E: From<ApiError>>(
        &self,
        mut report: impl FnMut(ReplayStep) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut cache = PromptCache::default();
        let caching = prefix_caching(self.document.format, &self.document.body);
        for commit in &self.commits {
            // Progress is reported, because a program that is silent for long seems to hang.
            let checkout = ["checkout", "--progress", "--force", "--detach", commit.as_str()];
            git(&self.clone, &[&QUIET_CHECKOUT[..], &checkout].concat())?;
            let service = LocalService::for_command_line(self.root.clone(), Arc::clone(&self.loaded));
            let answer = ask(&service, ComposeQuery(self.query.clone()), &CallOptions::default())?;
            let usage = cache.send(SentDocument::new(&answer.payload), caching);
            report(ReplayStep { commit: commit.clone(), cost: self.cost(&usage), usage })?;
        }
        Ok(())
    }

    fn cost(&self, usage: &PromptCacheUse) -> Option<ReplayCost> {
        let body = &self.document.body;
        let vendor = vendor(self.document.format)?;
        let (mut price, _) = prices(&self.loaded).listed(vendor, &body.model)?;
        if self.document.format == FormatName::Anthropic && body.caching.lifetime == CacheLifetime::OneHour {
            price = price.with_hourly_writes();
        }
        let cost = |input, read, written| {
            price.cost_of(&TokenUsage {
                input: Some(input),
                cache_read: Some(read),
                cache_write: Some(written),
                output: Some(0),
            })
        };
        Some(ReplayCost {
            with_cache: cost(usage.uncached(), usage.read.tokens, usage.written)?,
            without_cache: cost(usage.tokens, 0, 0)?,
        })
    }
}

/// Returns the commits of a range, oldest first: the one before the two dots, and those that follow it along first
/// parents.
fn commits_of(root: &Path, range: &str) -> Result<Vec<String>, ApiError> {
    let hint = "give two revisions with two dots between them, such as HEAD~20..HEAD";
    let is_range = range.split_once("..").is_some_and(|(from, to)| !from.is_empty() && !to.starts_with('.'));
    if !is_range {
        return Err(ApiError::user("bad_range", format!("`{range}` is not a range of commits"), hint));
    }
    let (from, to) = range.split_once("..").unwrap_or_default();
    let to = if to.is_empty() { "HEAD" } else { to };
    let commit = |revision: &str| {
        let name = format!("{revision}^{{commit}}");
        git(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &name]).map_err(|_| {
            ApiError::user(
                "no_such_revision",
                format!("`{revision}` is not a commit of the project's git repository, if it is in one"),
                hint,
            )
        })
    };
    let (from, to) = (commit(from)?, commit(to)?);
    let later = git(root, &["rev-list", "--first-parent", "--reverse", &format!("{from}..{to}")])?;
    if later.is_empty() {
        let message = format!("no commits are in the range `{range}`");
        return Err(ApiError::user(
            "bad_range",
            message,
            "give the older revision first, such as HEAD~20..HEAD",
        ));
    }
    Ok(std::iter::once(from).chain(later.lines().map(str::to_owned)).collect())
}

/// Returns the folder for the clone, in the cache's folder.
fn scratch_folder(root: &Path, loaded: &LoadedConfig) -> Result<ScratchFolder, ApiError> {
    let cache_dir = loaded.engine_options(root).cache_dir;
    let made = || -> io::Result<Option<ScratchFolder>> {
        make_cache_folder(root, &cache_dir, &RealFiles::open(root)?, &RealDisk)?;
        ScratchFolder::create(&root.join(cache_dir.as_path()), REPLAY_FOLDER)
    };
    match made() {
        Ok(Some(scratch)) => Ok(scratch),
        Ok(None) => Err(ApiError::environment(
            "busy",
            "another replay is running in this project",
            "wait until it ends",
        )),
        Err(error) => {
            let message = format!("the cache folder {cache_dir} cannot hold a clone: {error}");
            Err(ApiError::environment("no_cache", message, "check that the folder is writable"))
        }
    }
}

/// Creates a repository that shares the objects of the one around `root`. `git clone` cannot be used, because it is a
/// transport, and `run_git` allows none.
fn borrow_objects(root: &Path, clone: &Path) -> Result<(), ApiError> {
    let format = format!("--object-format={}", git(root, &["rev-parse", "--show-object-format"])?);
    git(root, &["init", "--quiet", "--template=", &format, "--", &clone.to_string_lossy()])?;
    let path_of = |name| git(root, &["rev-parse", "--path-format=absolute", "--git-path", name]);
    let (objects, shallow) = (path_of("objects")?, path_of("shallow")?);
    let own = clone.join(".git");
    let write = || {
        RealDisk.create_new(&own.join("objects/info/alternates"), format!("{objects}\n").as_bytes())?;
        // The history of a shallow clone ends where this file says.
        RealDisk
            .read(Path::new(&shallow))?
            .map_or(Ok(()), |text| RealDisk.create_new(&own.join("shallow"), &text))
    };
    write().map_err(|error: io::Error| {
        let message = format!("the cache folder cannot hold a clone: {error}");
        ApiError::environment("no_cache", message, "check that the folder is writable")
    })
}

/// Runs git, and returns its output without the final line break.
fn git(folder: &Path, arguments: &[&str]) -> Result<String, ApiError> {
    let hint = "a replay needs git, and a checkout with its history";
    let ran = run_git(&RealProcesses, folder, arguments, b"")
        .map_err(|error| ApiError::environment("no_git", format!("git cannot be run: {error}"), hint))?;
    if ran.success {
        return Ok(String::from_utf8_lossy(&ran.stdout).trim_end_matches('\n').to_owned());
    }
    let reason = String::from_utf8_lossy(&ran.stderr).trim().replace('\n', "; ");
    Err(ApiError::user("git_failed", format!("git failed: {reason}"), hint))
}
