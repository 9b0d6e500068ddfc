//! The section `[share]`: the address of a team's cache, and the writers who are trusted.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::Error;
use super::hidden::{SHARE_ENDPOINT as ENDPOINT, SHARE_URL as URL};
use super::layers::MergedSettings;
use super::settings::{ShareMode, ShareSettings};
use crate::share::{EngineOptions, S3Server, S3ServerError, ShareUrl, Writer, parse_writer, share_schemes};

const REGION: &str = "share.region";

pub(super) fn share_settings(merged: &MergedSettings) -> Result<ShareSettings, Error> {
    let url = match merged.text(URL) {
        "" => None,
        text => {
            let url = ShareUrl::parse(text);
            let url =
                url.map_err(|_| merged.invalid(URL, format!("an address of the form {}", share_schemes())))?;
            if url.is_exposed() && !merged.boolean("share.insecure") {
                let wanted = "the address of a server with TLS (rediss://) or on this machine, unless \
                              share.insecure is true";
                return Err(merged.invalid(URL, wanted.to_owned()));
            }
            Some(url)
        }
    };
    Ok(ShareSettings {
        url,
        mode: merged.choice("share.mode", &ShareMode::NAMES)?,
        team_key_file: key_file(merged, "share.team_key_file")?,
        signing_key_file: key_file(merged, "share.signing_key_file")?,
        writers: writers(merged)?,
        engine: EngineOptions {
            timeout: Duration::from_millis(merged.number("share.timeout_ms", 50..=60_000)?.into()),
            lifetime: lifetime(merged.number("share.ttl_days", 0..=3_650)?),
            claims: merged.boolean("share.claims"),
            insecure: merged.boolean("share.insecure"),
        },
        server: server(merged)?,
    })
}

fn server(merged: &MergedSettings) -> Result<S3Server, Error> {
    let server = S3Server::parse(merged.text(ENDPOINT), merged.text(REGION));
    let server = server.map_err(|error| match error {
        S3ServerError::Endpoint => merged.invalid(ENDPOINT, "an address of the form https://HOST".to_owned()),
        S3ServerError::Region => merged.invalid(REGION, "the name of a region, such as us-east-1".to_owned()),
    })?;
    if server.is_exposed() && !merged.boolean("share.insecure") {
        let wanted = "the address of a server with TLS (https://) or on this machine, unless \
                      share.insecure is true";
        return Err(merged.invalid(ENDPOINT, wanted.to_owned()));
    }
    Ok(server)
}

/// Returns how long entries are kept; `None` means forever.
fn lifetime(days: u32) -> Option<Duration> {
    (0 < days).then(|| Duration::from_hours(u64::from(days) * 24))
}

/// Returns the path of a key file: absolute, or relative to the folder of the settings file that names it.
fn key_file(merged: &MergedSettings, key: &str) -> Result<Option<PathBuf>, Error> {
    let text = merged.text(key);
    if text.is_empty() {
        return Ok(None);
    }
    let file = merged.setting(key).origin.file().and_then(Path::parent).map(|folder| folder.join(text));
    let file = file.unwrap_or_else(|| PathBuf::from(text));
    // A relative path in the environment would refer to a different file in each folder.
    if !file.is_absolute() || text.contains('\0') {
        return Err(merged
            .invalid(key, "an absolute path, or one relative to the folder of the user's file".to_owned()));
    }
    Ok(Some(file))
}

fn writers(merged: &MergedSettings) -> Result<Vec<Writer>, Error> {
    let key = "share.writers";
    let writers = merged.strings(key)?.iter().map(|text| parse_writer(text)).collect::<Result<Vec<_>, _>>();
    writers.map_err(|error| {
        merged.invalid(
            key,
            format!("a list of \"NAME=ed25519:KEY\", with keys of 32 bytes in base64 ({error})"),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::config::{ConfigInputs, Error, LoadedConfig, ShareMode, load};

    const KEY: &str = "ci=ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

    fn load_files(user: &str, project: &str) -> Result<LoadedConfig, Error> {
        load(&ConfigInputs {
            user_file: Some((PathBuf::from("/home/me/config.toml"), user.into())),
            project_file: Some((PathBuf::from("/app/slop.toml"), project.into())),
            ..ConfigInputs::default()
        })
    }

    #[test]
    fn a_project_can_only_turn_sharing_off() {
        let user =
            format!("[share]\nurl = 'file:///srv/team'\nwriters = ['{KEY}']\nteam_key_file = 'team.key'");
        let hostile = "[share]\nurl = 'file:///evil'\nwriters = []\nmode = 'read-write'\nteam_key_file = 'x'";
        let loaded = load_files(&user, hostile).unwrap();
        assert_eq!(loaded.settings.share, load_files(&user, "").unwrap().settings.share);
        assert_eq!((loaded.settings.share.mode, loaded.settings.share.writers.len()), (ShareMode::Read, 1));
        assert_eq!(loaded.settings.share.team_key_file, Some(PathBuf::from("/home/me/team.key")));
        assert_eq!(loaded.warnings.len(), 4, "{:?}", loaded.warnings);
        let off = load_files(&user, "[share]\nmode = 'off'").unwrap();
        assert_eq!((off.settings.share.mode, off.warnings.len()), (ShareMode::Off, 0));
    }

    #[test]
    fn invalid_values_are_errors_with_their_location_and_never_show_a_password() {
        for (user, place) in [
            ("[share]\nurl = 'redis://:hunter2@host'", "unless share.insecure is true"),
            ("[share]\nurl = 'rediss://:hunter2@host/one'", "config.toml:2: `share.url`"),
            ("[share]\nurl = 'postgres://:hunter2@host/db'", "rediss://USER:PASSWORD@HOST:PORT/DATABASE"),
            ("[share]\nendpoint = 'http://host'", "unless share.insecure is true"),
            ("[share]\nendpoint = 'https://me:hunter2@host'", "config.toml:2: `share.endpoint`"),
            ("[share]\nregion = 'Far Away'", "config.toml:2: `share.region`"),
            ("[share]\nurl = 's3://Big/x'", "s3://BUCKET/PREFIX"),
            ("[share]\ntimeout_ms = 10", "a whole number from 50 to 60000"),
            ("[share]\n\nurl = ['redis://:hunter2@host']", "config.toml:3: `share.url`"),
            ("[share]\nwriters = ['ci=hunter']", "config.toml:2: `share.writers`"),
            ("[share]\nwriters = ['ci=ed25519:AAAA']", "3 bytes, not 32"),
            ("[share]\nmode = 'write'", "config.toml:2: `share.mode`"),
        ] {
            let message = load_files(user, "").unwrap_err().to_string();
            assert!(message.contains(place), "{message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
        let environment = vec![("SLOP_SHARE_TEAM_KEY_FILE".to_owned(), "team.key".to_owned())];
        let error = load(&ConfigInputs { environment, ..ConfigInputs::default() }).unwrap_err();
        assert!(error.to_string().contains("an absolute path"), "{error}");
        let keys = vec![("SLOP_SHARE_TEAM_KEY".to_owned(), "secret".to_owned())];
        assert!(
            load(&ConfigInputs { environment: keys, ..ConfigInputs::default() }).unwrap().warnings.is_empty()
        );
    }
}
