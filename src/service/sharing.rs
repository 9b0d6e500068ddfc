//! The team's cache that the settings name: its keys, and fetching and storing summaries.

use std::collections::BTreeMap;
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use super::agent::{ProviderKeyLookup, read_key_file, writer_keys};
use super::writing::cache_folder;
use crate::agent;
use crate::agent::{ShareCounts, ShareFailure, TeamMemory, VerifyReport};
use crate::api::{ApiError, PAID_STORE_HINT};
use crate::config::{LoadedConfig, ShareMode};
use crate::model::error_chain;
use crate::share;
pub use crate::share::TeamCache;
use crate::share::{EngineAccess, KeyError, S3Keys, SigningKey, StoreReport, TeamKey, Writer, generate_key};
use crate::sys::{Clock, RealDisk, WallClock};

const TEAM_VARIABLE: &str = "SLOP_SHARE_TEAM_KEY";
const SIGNING_VARIABLE: &str = "SLOP_SHARE_SIGNING_KEY";

/// Variables, with their values, by which a build server marks a run for a change that is not merged yet.
const UNMERGED_CHANGE: [(&str, &str); 3] = [
    ("GITHUB_EVENT_NAME", "pull_request"),
    ("CI_PIPELINE_SOURCE", "merge_request_event"),
    ("BUILD_REASON", "PullRequest"),
];

/// Returns the team's cache; `None` if nothing is shared. Reads its keys, and connects to nothing.
pub fn team_cache(
    loaded: &LoadedConfig,
    variable: ProviderKeyLookup<'_>,
) -> Result<Option<TeamCache>, ApiError> {
    let settings = &loaded.settings.share;
    let Some(url) = settings.url.as_ref().filter(|_| settings.is_on()) else {
        return Ok(None);
    };
    let team = read_key(TEAM_VARIABLE, settings.team_key_file.as_deref(), variable, TeamKey::parse)?;
    let Some(team) = team else {
        return Err(missing_key("team", "share.team_key_file", TEAM_VARIABLE));
    };
    let signer = match settings.mode {
        ShareMode::ReadWrite => {
            let file = settings.signing_key_file.as_deref();
            let key = read_key(SIGNING_VARIABLE, file, variable, SigningKey::parse)?;
            Some(key.ok_or_else(|| missing_key("signing", "share.signing_key_file", SIGNING_VARIABLE))?)
        }
        ShareMode::Off | ShareMode::Read => None,
    };
    let proxy = loaded.settings.agent.proxy.clone();
    let access = EngineAccess { server: settings.server.clone(), keys: bucket_keys(variable), proxy };
    let cache = TeamCache::new(url, settings.engine, access, team, signer, &settings.writers);
    Ok(Some(cache.map_err(|error| share_fault(error.into()))?))
}

/// Returns the keys of a bucket, from the standard variables for S3.
fn bucket_keys(variable: ProviderKeyLookup<'_>) -> Option<S3Keys> {
    let set = |name: &str| variable(name).filter(|value| !value.expose_secret().is_empty());
    Some(S3Keys {
        access_key: set("AWS_ACCESS_KEY_ID")?.expose_secret().to_owned(),
        secret_key: set("AWS_SECRET_ACCESS_KEY")?,
        session_token: set("AWS_SESSION_TOKEN"),
    })
}

/// A new key as text and, for a writer, its entry in `share.writers`.
#[derive(Debug)]
pub struct GeneratedKeys {
    pub secret: String,
    pub writer: Option<String>,
}

/// Makes a key for a team, or a pair for a writer.
pub fn generate_keys(writer: Option<&str>) -> Result<GeneratedKeys, ApiError> {
    let random = || ApiError::environment("no_random", "system has no random numbers", "try again");
    let secret = generate_key().ok_or_else(random)?;
    let entry = writer.map(|name| {
        let key = SigningKey::parse(&secret).expect("it was made above").writer_key();
        Writer { name: name.to_owned(), key }.to_string()
    });
    Ok(GeneratedKeys { secret, writer: entry })
}

/// Stores the summaries in the team's cache that were written since the last push.
pub fn push_summaries(root: &Path, loaded: &LoadedConfig, team: &TeamCache) -> Result<StoreReport, ApiError> {
    agent::push_shared(&cache_folder(root, loaded), team).map_err(share_fault)
}

/// Stores all own summaries in the team's cache.
pub fn push_all_summaries(
    root: &Path,
    loaded: &LoadedConfig,
    team: &TeamCache,
) -> Result<StoreReport, ApiError> {
    agent::push_all_shared(&cache_folder(root, loaded), team).map_err(share_fault)
}

/// Stores all own summaries in the team's cache as a single object.
pub fn pack_summaries(
    root: &Path,
    loaded: &LoadedConfig,
    team: &TeamCache,
    now_ms: i64,
) -> Result<StoreReport, ApiError> {
    agent::pack_shared(&cache_folder(root, loaded), team, now_ms).map_err(share_fault)
}

/// Reads every own summary back from the team's cache.
pub fn verify_summaries(
    root: &Path,
    loaded: &LoadedConfig,
    team: &TeamCache,
) -> Result<VerifyReport, ApiError> {
    agent::verify_shared(&cache_folder(root, loaded), team).map_err(share_fault)
}

/// Counts this project's summaries for the team's cache and from it.
pub fn share_counts(root: &Path, loaded: &LoadedConfig) -> Result<ShareCounts, ApiError> {
    let counts = agent::share_counts(&cache_folder(root, loaded), &writer_keys(loaded));
    counts.map_err(|error| share_fault(error.into()))
}

/// The remembered state of the team's cache.
#[derive(Debug, Default)]
pub struct RememberedCache {
    /// How many seconds it remains paused because it failed.
    pub rests_seconds: u64,
    /// How many entries the last pull refused, by reason.
    pub refused: BTreeMap<String, u64>,
}

/// Returns the remembered state of the team's cache; the default if it cannot be used.
pub fn team_memory(root: &Path, loaded: &LoadedConfig, variable: ProviderKeyLookup<'_>) -> RememberedCache {
    let Ok(Some(team)) = team_cache(loaded, variable) else { return RememberedCache::default() };
    let memory = TeamMemory::new(&cache_folder(root, loaded), &team);
    let rests_ms = memory.pause_left(WallClock.now_ms());
    let refused = serde_json::from_str(&memory.refused()).unwrap_or_default();
    RememberedCache { rests_seconds: rests_ms.cast_unsigned().div_ceil(1000), refused }
}

/// Returns the reasons why others may be able to sign as this user.
pub fn signing_risks(loaded: &LoadedConfig, variable: ProviderKeyLookup<'_>) -> Vec<String> {
    let settings = &loaded.settings.share;
    if settings.mode != ShareMode::ReadWrite {
        return Vec::new();
    }
    let mut risks = Vec::new();
    for (key, file) in [
        ("share.team_key_file", &settings.team_key_file),
        ("share.signing_key_file", &settings.signing_key_file),
    ] {
        if let Some(file) = file
            && RealDisk.is_open_to_others(file).unwrap_or(false)
        {
            risks.push(format!("{} ({key}) can be read by other users", file.display()));
        }
    }
    let is_unmerged = |(name, value): &(&str, &str)| {
        variable(name).is_some_and(|set| set.expose_secret().starts_with(value))
    };
    if let Some((name, _)) = UNMERGED_CHANGE.iter().find(|known| is_unmerged(known)) {
        risks.push(format!("a build of an unmerged change has a key that can write ({name})"));
    }
    risks
}

/// Returns the error for a client.
pub(super) fn share_fault(failure: ShareFailure) -> ApiError {
    let message = error_chain(&failure);
    match failure {
        ShareFailure::Cache(error @ share::Error::NoSigningKey) => {
            ApiError::user("no_signing_key", message, engine_hint(&error))
        }
        ShareFailure::Cache(error @ share::Error::NoPacks) => {
            ApiError::user("no_packs", message, engine_hint(&error))
        }
        ShareFailure::Cache(error @ share::Error::NoBucketKeys) => {
            ApiError::user("no_share_key", message, engine_hint(&error))
        }
        ShareFailure::Cache(error) => {
            ApiError::environment("share_unreachable", message, engine_hint(&error))
        }
        ShareFailure::Store(error) if error.is_damage() => {
            ApiError::environment("paid_unusable", message, PAID_STORE_HINT)
        }
        ShareFailure::Store(_) => {
            let hint = "check the room on the disk and the permissions of the cache folder";
            ApiError::environment("paid_unusable", message, hint)
        }
    }
}

fn engine_hint(error: &share::Error) -> &'static str {
    match error {
        share::Error::NoSigningKey => {
            "set share.mode = \"read-write\" and share.signing_key_file in your own settings file"
        }
        share::Error::NoPacks => "only a cache on S3 needs packs: `slop share push` does without them",
        share::Error::NoBucketKeys => "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        share::Error::NoFolder(_) | share::Error::Io { .. } => {
            "create the folder, check that its disk is mounted, or change share.url in your own settings file"
        }
        share::Error::TimedOut(_) => "raise share.timeout_ms if the server is far away, or try again later",
        share::Error::Unreachable { .. } => {
            "check share.url in your own settings file, and that the server runs and has a valid certificate"
        }
        share::Error::Refused { answer, .. } => match answer.split(' ').next().unwrap_or_default() {
            "NoSuchBucket" => {
                "make the bucket, or check share.url and share.region in your own settings file"
            }
            "InvalidAccessKeyId" | "SignatureDoesNotMatch" | "InvalidToken" | "ExpiredToken" => {
                "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN"
            }
            "AccessDenied" => "allow these keys to list the bucket, and to read and write the objects in it",
            "PermanentRedirect" | "TemporaryRedirect" | "AuthorizationHeaderMalformed" => {
                "check share.endpoint and share.region in your own settings file"
            }
            "RequestTimeTooSkewed" => "set the clock of this machine",
            "NOAUTH" | "WRONGPASS" | "NOPERM" | "ERR" => {
                "check the user, the password and the database in share.url in your own settings file"
            }
            "READONLY" => "name the primary server in share.url: this one is a replica",
            "MOVED" | "ASK" | "CLUSTERDOWN" => "name a server in share.url that is not part of a cluster",
            "OOM" | "MISCONF" => "make room on the server: it stores nothing at the moment",
            _ => "see the server's log, or try again later",
        },
    }
}

/// Reads a key: from the variable if it is set, else from the file. `None` if there is neither.
fn read_key<K>(
    name: &str,
    file: Option<&Path>,
    variable: ProviderKeyLookup<'_>,
    parse: impl FnOnce(&str) -> Result<K, KeyError>,
) -> Result<Option<K>, ApiError> {
    let (text, place): (SecretString, String) = match (variable(name), file) {
        (Some(text), _) => (text, name.to_owned()),
        (None, Some(file)) => (read_key_file(file)?, file.display().to_string()),
        (None, None) => return Ok(None),
    };
    // The error does not repeat the key: a mistyped key is still nearly the key.
    parse(text.expose_secret()).map(Some).map_err(|error| {
        let hint = "`slop share keygen` prints a valid key";
        ApiError::user("bad_share_key", format!("key in {place} is {error}"), hint)
    })
}

fn missing_key(kind: &str, setting: &str, variable: &str) -> ApiError {
    let hint = format!("name its file in your own settings file as {setting}, or set {variable}");
    ApiError::user("no_share_key", format!("{kind} key of the team's cache is missing"), hint)
}
