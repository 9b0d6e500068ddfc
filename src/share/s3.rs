//! The engine for a bucket on a server with the S3 API: an object for each entry, and packs of many.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use super::engine::{
    Engine, EngineAccess, EngineOptions, Error, NewEntry, PackName, PutMode, RemoteEntry, RemoteKey, shorten,
};
use super::entry::MAX_ENTRY_BYTES;
use super::pack::pack_timeouts;
use super::s3_address::{S3Bucket, S3Keys, S3Server};
use super::sigv4::{SignedParts, sign};
use crate::model::{HttpError, HttpMethod, HttpRequest, HttpResponse, hex, lock};
use crate::sys::{Clock, HttpClient, HttpLimits, HttpTransport, WallClock};

/// Prefix of the object names for this format of entries; later formats have their own, so that both can be used at
/// once.
const ENTRIES: &str = "slop-share-v1/";
/// Prefix of the names of packs.
const PACKS: &str = "slop-share-v1-packs/";

/// The maximum number of packs that are read: the newest ones.
const MAX_PACKS: usize = 8;
/// The number of concurrent requests.
const CONCURRENCY: usize = 16;
/// The maximum bytes of an answer other than an entry: a list of packs, an error.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Entries in the objects of a bucket.
pub(super) struct S3Engine {
    bucket: S3Bucket,
    server: S3Server,
    keys: S3Keys,
    http: HttpClient,
    timeout: Duration,
}

/// A request to a bucket.
struct BucketRequest<'r> {
    method: HttpMethod,
    object: &'r str,
    /// Encoded, with sorted parameters.
    query: Option<&'r str>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// The maximum bytes of the answer.
    answer_bytes: usize,
}

impl<'r> BucketRequest<'r> {
    fn get(object: &'r str, answer_bytes: usize) -> Self {
        let (headers, body) = (Vec::new(), Vec::new());
        Self { method: HttpMethod::Get, object, query: None, headers, body, answer_bytes }
    }

    fn put(object: &'r str, body: Vec<u8>) -> Self {
        let headers = vec![("content-type".to_owned(), "application/octet-stream".to_owned())];
        let answer_bytes = MAX_ANSWER_BYTES;
        Self { method: HttpMethod::Put, object, query: None, headers, body, answer_bytes }
    }

    fn with_header(mut self, name: &str, value: String) -> Self {
        self.headers.push((name.to_owned(), value));
        self
    }
}

impl S3Engine {
    pub(super) fn new(bucket: S3Bucket, options: EngineOptions, access: EngineAccess) -> Result<Self, Error> {
        let EngineAccess { server, keys, proxy } = access;
        let http = HttpClient::new(proxy).with_plain_hosts(options.insecure);
        let keys = keys.ok_or(Error::NoBucketKeys)?;
        Ok(Self { bucket, server, keys, http, timeout: options.timeout })
    }

    /// Sends a request, and once more if the server or the connection failed: all requests are safe to repeat.
    fn send(&self, request: &BucketRequest<'_>) -> Result<HttpResponse, HttpError> {
        match self.send_once(request) {
            Ok(answer) if 500 <= answer.status => self.send_once(request),
            Err(HttpError::Broken(_)) => self.send_once(request),
            answer => answer,
        }
    }

    fn send_once(&self, request: &BucketRequest<'_>) -> Result<HttpResponse, HttpError> {
        let BucketRequest { method, object, query, headers, body, answer_bytes } = request;
        let mut url = self.server.bucket_url(&self.bucket);
        url.set_path(&format!("{}{object}", url.path()));
        url.set_query(*query);
        let parts = SignedParts { method: method.name(), url: &url, body };
        let signature = sign(&parts, headers, &self.keys, self.server.region(), WallClock.now_s());
        let headers = headers.iter().cloned().chain(signature.plain).collect();
        let asked = HttpRequest {
            method: *method,
            url: url.into(),
            headers,
            secret_headers: signature.secret,
            body: body.clone(),
        };
        let total = self.timeout * pack_timeouts(body.len());
        let limits =
            HttpLimits { connect: self.timeout, idle: self.timeout, total, body_bytes: *answer_bytes };
        self.http.send(&asked, &limits, &|| false)
    }

    fn host(&self) -> String {
        let url = self.server.bucket_url(&self.bucket);
        let port = url.port().map_or(String::new(), |port| format!(":{port}"));
        format!("{}{port}", url.host_str().unwrap_or_default())
    }

    fn fault(&self, error: HttpError) -> Error {
        match error {
            HttpError::TimedOut(_) => Error::TimedOut(self.timeout),
            error => Error::Unreachable { host: self.host(), cause: shorten(&error.to_string()) },
        }
    }

    /// Returns the error for an answer other than an object or its absence.
    fn refusal(&self, answer: &HttpResponse) -> Error {
        let text = String::from_utf8_lossy(&answer.body);
        let field = |name: &str| element(&text, name).unwrap_or_default().to_owned();
        let answer = format!("{} {} {}", field("Code"), answer.status, field("Message"));
        Error::Refused { host: self.host(), answer: shorten(answer.trim()) }
    }

    /// Returns the bytes in the answer; `None` if the object does not exist.
    fn object_bytes(&self, answer: HttpResponse) -> Result<Option<Vec<u8>>, Error> {
        match answer.status {
            200 | 206 => Ok(Some(answer.body)),
            // The range is beyond the end of the object.
            416 => Ok(Some(Vec::new())),
            404 if !String::from_utf8_lossy(&answer.body).contains("NoSuchBucket") => Ok(None),
            _ => Err(self.refusal(&answer)),
        }
    }

    fn read_range(&self, object: &str, start: u64, length: usize) -> Result<Vec<u8>, Error> {
        let last = start + length as u64 - 1;
        let request = BucketRequest::get(object, length.max(MAX_ANSWER_BYTES))
            .with_header("range", format!("bytes={start}-{last}"));
        let answer = self.send(&request).map_err(|error| self.fault(error))?;
        // A server without range support sends a short object as a whole, and for a longer one this is an error.
        let skipped = if answer.status == 200 { usize::try_from(start).unwrap_or(usize::MAX) } else { 0 };
        // If it was deleted after it was listed, it counts as empty.
        let bytes = self.object_bytes(answer)?.unwrap_or_default();
        Ok(bytes.into_iter().skip(skipped).take(length).collect())
    }

    fn get_entry(&self, key: &RemoteKey) -> Result<RemoteEntry, Error> {
        let object = self.bucket.object(&format!("{ENTRIES}{}", hex(key)));
        let request = BucketRequest::get(&object, MAX_ENTRY_BYTES + 1)
            .with_header("range", format!("bytes=0-{MAX_ENTRY_BYTES}"));
        let answer = match self.send(&request) {
            Err(HttpError::TooLarge(_)) => return Ok(RemoteEntry::TooLong),
            answer => answer.map_err(|error| self.fault(error))?,
        };
        Ok(match self.object_bytes(answer)? {
            None => RemoteEntry::Missing,
            Some(bytes) if MAX_ENTRY_BYTES < bytes.len() => RemoteEntry::TooLong,
            Some(bytes) => RemoteEntry::Present(bytes),
        })
    }

    fn put_entry(&self, entry: &NewEntry) -> Result<bool, Error> {
        let object = self.bucket.object(&format!("{ENTRIES}{}", hex(&entry.key)));
        let mut request = BucketRequest::put(&object, entry.bytes.clone());
        if entry.mode == PutMode::IfAbsent {
            request = request.with_header("if-none-match", "*".to_owned());
        }
        let answer = self.send(&request).map_err(|error| self.fault(error))?;
        match answer.status {
            200..=299 => Ok(true),
            // It exists, or somebody else is about to store it.
            409 | 412 if entry.mode == PutMode::IfAbsent => Ok(false),
            _ => Err(self.refusal(&answer)),
        }
    }

    /// Processes items concurrently, and returns the results in the order of the items.
    fn map_concurrently<I: Sync, T: Send>(
        items: &[I],
        work: impl Fn(&I) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let next = Mutex::new(items.iter().enumerate());
        let done = Mutex::new(Vec::with_capacity(items.len()));
        let run = || {
            loop {
                let Some((number, item)) = lock(&next).next() else { return };
                let result = work(item);
                let is_error = result.is_err();
                lock(&done).push((number, result));
                if is_error {
                    // Skips the remaining items.
                    lock(&next).by_ref().for_each(drop);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..CONCURRENCY.min(items.len()) {
                if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                    // The existing threads do the work, or this one alone.
                    break;
                }
            }
            run();
        });
        let mut done = done.into_inner().expect("nobody panics with it");
        done.sort_unstable_by_key(|(number, _)| *number);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

impl Engine for S3Engine {
    fn check(&self) -> Result<(), Error> {
        self.packs().map(drop)
    }

    fn get(&self, keys: &[RemoteKey]) -> Result<Vec<RemoteEntry>, Error> {
        Self::map_concurrently(keys, |key| self.get_entry(key))
    }

    fn put(&self, entries: &[NewEntry]) -> Result<Vec<bool>, Error> {
        Self::map_concurrently(entries, |entry| self.put_entry(entry))
    }

    fn has_packs(&self) -> bool {
        true
    }

    fn packs(&self) -> Result<Vec<PackName>, Error> {
        // The names of packs begin with a decreasing timestamp, so that the newest comes first.
        let prefix = self.bucket.object(PACKS).replace('/', "%2F");
        let query = format!("list-type=2&max-keys={MAX_PACKS}&prefix={prefix}");
        let request = BucketRequest { query: Some(&query), ..BucketRequest::get("", MAX_ANSWER_BYTES) };
        let answer = self.send(&request).map_err(|error| self.fault(error))?;
        if answer.status != 200 {
            return Err(self.refusal(&answer));
        }
        let (text, root) = (String::from_utf8_lossy(&answer.body), self.bucket.object(PACKS));
        let keys = text.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
        let names = keys.filter_map(|key| key.strip_prefix(&*root));
        let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        Ok(names.filter(is_name).take(MAX_PACKS).map(|name| PackName(name.to_owned())).collect())
    }

    fn read_pack(&self, pack: &PackName, start: u64, length: usize) -> Result<Vec<u8>, Error> {
        let object = self.bucket.object(&format!("{PACKS}{}", pack.0));
        self.read_range(&object, start, length)
    }

    fn put_pack(&self, pack: &PackName, bytes: Vec<u8>) -> Result<(), Error> {
        let object = self.bucket.object(&format!("{PACKS}{}", pack.0));
        let answer = self.send(&BucketRequest::put(&object, bytes)).map_err(|error| self.fault(error))?;
        if (200..=299).contains(&answer.status) { Ok(()) } else { Err(self.refusal(&answer)) }
    }
}

/// Returns the text of the first element with that name.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}

#[cfg(test)]
#[path = "s3_tests.rs"]
#[expect(clippy::disallowed_methods, reason = "a test runs a server")]
mod tests;
