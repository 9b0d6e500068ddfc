//! The address and access data of an S3 bucket: its name, the prefix of objects, the server, the keys.

use std::fmt;

use reqwest::Url;
use secrecy::SecretString;

#[cfg(feature = "share-s3")]
use super::url::UrlError;
use crate::sys::is_loopback;

/// A bucket, and the prefix of the object names in it.
#[cfg(feature = "share-s3")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3Bucket {
    name: String,
    /// Empty, or components separated by slashes.
    prefix: String,
}

#[cfg(feature = "share-s3")]
impl S3Bucket {
    /// Parses `s3://BUCKET/PREFIX`. Only characters that need no encoding are allowed, so that all clients compute the
    /// same signature.
    pub(super) fn new(url: &Url) -> Result<Self, UrlError> {
        let name = url.host_str().unwrap_or_default();
        let is_name_character = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
        let has_name = (3..=63).contains(&name.len()) && name.chars().all(is_name_character);
        let prefix = url.path().trim_matches('/');
        let is_part = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.~".contains(c))
        };
        let has_prefix = prefix.is_empty() || prefix.split('/').all(is_part);
        let is_bare = url.username().is_empty() && url.password().is_none() && url.port().is_none();
        if has_name && has_prefix && is_bare {
            Ok(Self { name: name.to_owned(), prefix: prefix.to_owned() })
        } else {
            Err(UrlError)
        }
    }

    /// Returns the name of an object in the bucket.
    pub(super) fn object(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_owned() } else { format!("{}/{name}", self.prefix) }
    }
}

#[cfg(feature = "share-s3")]
impl fmt::Display for S3Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}", self.object_root())
    }
}

#[cfg(feature = "share-s3")]
impl S3Bucket {
    fn object_root(&self) -> String {
        if self.prefix.is_empty() { self.name.clone() } else { format!("{}/{}", self.name, self.prefix) }
    }
}

/// Access keys for a bucket.
#[derive(Clone)]
pub struct S3Keys {
    pub access_key: String,
    pub secret_key: SecretString,
    /// For temporary keys.
    pub session_token: Option<SecretString>,
}

/// Why a text is not a valid S3 server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum S3ServerError {
    #[error("not an address of the form https://HOST")]
    Endpoint,
    #[error("not the name of a region")]
    Region,
}

/// An S3 server: Amazon's in a region, or any other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3Server {
    /// `None` for Amazon's.
    endpoint: Option<Url>,
    region: String,
}

impl fmt::Display for S3Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.endpoint {
            Some(endpoint) => write!(f, "{endpoint}"),
            None => write!(f, "https://s3.{}.amazonaws.com", self.region),
        }
    }
}

impl S3Server {
    /// Parses `share.endpoint`, which may be empty, and `share.region`.
    pub fn parse(endpoint: &str, region: &str) -> Result<Self, S3ServerError> {
        let is_region = !region.is_empty()
            && region.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if !is_region {
            return Err(S3ServerError::Region);
        }
        let endpoint = if endpoint.is_empty() {
            None
        } else {
            let url = Url::parse(endpoint).map_err(|_| S3ServerError::Endpoint)?;
            let is_server = ["http", "https"].contains(&url.scheme())
                && url.username().is_empty()
                && url.password().is_none()
                && url.query().is_none()
                && url.fragment().is_none();
            Some(is_server.then_some(url).ok_or(S3ServerError::Endpoint)?)
        };
        Ok(Self { endpoint, region: region.to_owned() })
    }

    /// Returns whether others on the network can read and change the traffic.
    pub fn is_exposed(&self) -> bool {
        self.endpoint.as_ref().is_some_and(|url| url.scheme() == "http" && !is_loopback(url))
    }

    pub(super) fn region(&self) -> &str {
        &self.region
    }

    /// Returns the URL of a bucket, with a trailing slash.
    #[cfg(feature = "share-s3")]
    pub(super) fn bucket_url(&self, bucket: &S3Bucket) -> Url {
        let (name, region) = (&bucket.name, &self.region);
        let text = match &self.endpoint {
            // As part of the path, which every server supports.
            Some(endpoint) => format!("{}/{name}/", endpoint.as_str().trim_end_matches('/')),
            // Amazon's certificate covers only one label before its domain.
            None if name.contains('.') => format!("https://s3.{region}.amazonaws.com/{name}/"),
            None => format!("https://{name}.s3.{region}.amazonaws.com/"),
        };
        Url::parse(&text).expect("its parts were checked")
    }
}

#[cfg(all(test, feature = "share-s3"))]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_found_at_amazon_or_at_another_server() {
        let url = |bucket: &str, endpoint: &str| {
            let bucket = S3Bucket::new(&Url::parse(bucket).unwrap()).unwrap();
            let server = S3Server::parse(endpoint, "eu-west-1").unwrap();
            server.bucket_url(&bucket).join(&bucket.object("x")).unwrap().to_string()
        };
        assert_eq!(url("s3://team/a/b", ""), "https://team.s3.eu-west-1.amazonaws.com/a/b/x");
        assert_eq!(url("s3://my.team", ""), "https://s3.eu-west-1.amazonaws.com/my.team/x");
        assert_eq!(url("s3://team", "https://minio:9000"), "https://minio:9000/team/x");
        assert_eq!(url("s3://team", "https://host/storage/s3/"), "https://host/storage/s3/team/x");
    }

    #[test]
    fn only_this_machine_is_reached_without_tls() {
        let is_exposed = |endpoint: &str| S3Server::parse(endpoint, "x").unwrap().is_exposed();
        assert!(!is_exposed("") && !is_exposed("http://127.0.0.1:8333") && !is_exposed("https://host"));
        assert!(is_exposed("http://host") && is_exposed("http://10.0.0.1"));
        for wrong in ["host", "ftp://host", "https://key:secret@host", "https://host?x=y"] {
            assert_eq!(S3Server::parse(wrong, "x"), Err(S3ServerError::Endpoint), "{wrong}");
        }
        assert_eq!(S3Server::parse("", "US East"), Err(S3ServerError::Region));
    }
}
