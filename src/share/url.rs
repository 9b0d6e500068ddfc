//! The address of a team's cache: `share.url`.

use std::fmt;
use std::path::PathBuf;

use reqwest::Url;

#[cfg(feature = "share-s3")]
use super::s3_address::S3Bucket;
#[cfg(feature = "share-redis")]
use crate::sys::is_loopback;

/// The forms of `share.url`.
const SCHEMES: &[&str] = &[
    "file:///FOLDER",
    #[cfg(feature = "share-redis")]
    "redis://HOST",
    #[cfg(feature = "share-redis")]
    "rediss://USER:PASSWORD@HOST:PORT/DATABASE",
    #[cfg(feature = "share-s3")]
    "s3://BUCKET/PREFIX",
];

/// Returns the forms of `share.url`.
pub fn share_schemes() -> String {
    SCHEMES.join(", ")
}

/// The address of a team's cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShareUrl {
    /// A folder that all members of the team can reach.
    Folder(PathBuf),
    /// A server that speaks the Redis protocol.
    #[cfg(feature = "share-redis")]
    Redis(RedisAddress),
    /// A bucket on a server with the S3 API.
    #[cfg(feature = "share-s3")]
    S3(S3Bucket),
}

/// The address of a Redis server. Neither `Debug` nor `Display` shows its password.
#[cfg(feature = "share-redis")]
#[derive(Clone, PartialEq, Eq)]
pub struct RedisAddress(Url);

#[cfg(feature = "share-redis")]
impl RedisAddress {
    fn new(url: Url) -> Result<Self, UrlError> {
        let database = url.path().trim_start_matches('/');
        let has_database = database.is_empty() || database.parse::<u32>().is_ok();
        let has_host = url.host_str().is_some_and(|host| !host.is_empty());
        if has_host && has_database { Ok(Self(url)) } else { Err(UrlError) }
    }

    /// Returns whether others on the network can read and change the traffic.
    fn is_exposed(&self) -> bool {
        self.0.scheme() == "redis" && !is_loopback(&self.0)
    }

    /// Returns the whole address, including the password.
    pub(super) fn with_password(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the host and the port.
    pub(super) fn host(&self) -> String {
        format!("{}:{}", self.0.host_str().unwrap_or_default(), self.0.port().unwrap_or(6379))
    }
}

#[cfg(feature = "share-redis")]
impl fmt::Display for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.0.clone();
        // It can have a password, because it has a host.
        let _ = shown.set_password(None);
        f.write_str(shown.as_str())
    }
}

#[cfg(feature = "share-redis")]
impl fmt::Debug for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisAddress({self})")
    }
}

/// Why a text is not the address of a team's cache. It does not repeat the text, which may contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an address of the form {}", share_schemes())]
pub struct UrlError;

impl ShareUrl {
    /// Parses an address.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let url = Url::parse(text).map_err(|_| UrlError)?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(UrlError);
        }
        match url.scheme() {
            "file" => {
                let folder = url.to_file_path().map_err(|()| UrlError)?;
                // The root of the file system is not a cache.
                if folder.parent().is_some() { Ok(Self::Folder(folder)) } else { Err(UrlError) }
            }
            #[cfg(feature = "share-redis")]
            "redis" | "rediss" => RedisAddress::new(url).map(Self::Redis),
            #[cfg(feature = "share-s3")]
            "s3" => S3Bucket::new(&url).map(Self::S3),
            _ => Err(UrlError),
        }
    }

    /// Returns whether others on the network can read and change the traffic. For a bucket, this depends on its
    /// [`S3Server`](super::S3Server).
    pub fn is_exposed(&self) -> bool {
        match self {
            Self::Folder(_) => false,
            #[cfg(feature = "share-s3")]
            Self::S3(_) => false,
            #[cfg(feature = "share-redis")]
            Self::Redis(address) => address.is_exposed(),
        }
    }
}

impl fmt::Display for ShareUrl {
    /// Writes the address without its password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "file://{}", folder.display()),
            #[cfg(feature = "share-redis")]
            Self::Redis(address) => address.fmt(f),
            #[cfg(feature = "share-s3")]
            Self::S3(bucket) => bucket.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(feature = "share-redis", feature = "share-s3"))]
    #[test]
    fn an_address_names_a_folder_or_a_server_and_never_shows_a_password() {
        let shown = |text: &str| ShareUrl::parse(text).map(|url| url.to_string());
        assert_eq!(shown("file:///srv/team%20a").as_deref(), Ok("file:///srv/team a"));
        assert_eq!(shown("redis://:hunter2@127.0.0.1").as_deref(), Ok("redis://127.0.0.1"));
        assert_eq!(shown("rediss://me:hunter2@host:7000/3").as_deref(), Ok("rediss://me@host:7000/3"));
        assert_eq!(shown("s3://my.bucket/a/b_1/").as_deref(), Ok("s3://my.bucket/a/b_1"));
        let parsed = ShareUrl::parse("rediss://me:hunter2@host").unwrap();
        assert!(!format!("{parsed:?}").contains("hunter2"), "{parsed:?}");
        for wrong in [
            "",
            "/srv",
            "file:///",
            "file://host/x",
            "http://host/x",
            "file:///x?y",
            "redis//x",
            "redis://",
            "redis://host/x",
            "redis://host?protocol=resp3",
            "s3://Bucket",
            "s3://b",
            "s3://key@bucket",
            "s3://bucket:80",
            "s3://bucket/a//b",
            "s3://bucket/a b",
        ] {
            assert_eq!(shown(wrong), Err(UrlError), "{wrong}");
        }
    }

    #[cfg(feature = "share-redis")]
    #[test]
    fn only_a_server_on_this_machine_is_reached_without_tls() {
        let is_exposed = |text: &str| ShareUrl::parse(text).unwrap().is_exposed();
        for safe in
            ["file:///srv", "rediss://host", "redis://127.0.0.1:7000", "redis://[::1]", "redis://localhost"]
        {
            assert!(!is_exposed(safe), "{safe}");
        }
        for exposed in
            ["redis://host", "redis://127.0.0.1.example.org", "redis://10.0.0.1", "redis://0.0.0.0"]
        {
            assert!(is_exposed(exposed), "{exposed}");
        }
    }
}
