//! AWS Signature Version 4, which authenticates requests to an S3 server.
//!
//! Implemented here, because the crates for it have 8 to 30 dependencies, and all it needs is a hash that TLS already
//! includes.

use reqwest::Url;
use ring::digest::{SHA256, digest};
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};

use super::s3_address::S3Keys;
use crate::model::hex;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// The parts of a request that are signed.
pub(super) struct SignedParts<'r> {
    pub(super) method: &'static str,
    /// Its path and query are encoded as signed, and the query's parameters are sorted.
    pub(super) url: &'r Url,
    pub(super) body: &'r [u8],
}

/// The headers that authenticate a request.
pub(super) struct SignatureHeaders {
    pub(super) plain: Vec<(String, String)>,
    pub(super) secret: Vec<(String, SecretString)>,
}

/// Signs a request for a region, at a time in seconds since the epoch. `headers`, in lower case, are signed too.
pub(super) fn sign(
    request: &SignedParts<'_>,
    headers: &[(String, String)],
    keys: &S3Keys,
    region: &str,
    now_s: i64,
) -> SignatureHeaders {
    let time = jiff::Timestamp::from_second(now_s).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let (time, day) = (time.strftime("%Y%m%dT%H%M%SZ").to_string(), time.strftime("%Y%m%d").to_string());
    let body_hash = sha256(request.body);
    let mut plain =
        vec![("x-amz-content-sha256".to_owned(), body_hash.clone()), ("x-amz-date".to_owned(), time.clone())];
    let mut signed: Vec<(&str, &str)> =
        headers.iter().chain(&plain).map(|(name, value)| (&**name, &**value)).collect();
    let host = host_header(request.url);
    signed.push(("host", &host));
    if let Some(token) = &keys.session_token {
        signed.push(("x-amz-security-token", token.expose_secret()));
    }
    signed.sort_unstable();
    let names = signed.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let lines: Vec<String> =
        signed.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
    let lines = lines.concat();
    let SignedParts { method, url, .. } = request;
    let (path, query) = (url.path(), url.query().unwrap_or_default());
    let canonical = format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{body_hash}");
    let scope = format!("{day}/{region}/s3/aws4_request");
    let message = format!("{ALGORITHM}\n{time}\n{scope}\n{}", sha256(canonical.as_bytes()));
    let first = format!("AWS4{}", keys.secret_key.expose_secret());
    let key = [&*day, region, "s3", "aws4_request"]
        .iter()
        .fold(first.into_bytes(), |key, part| mac(&key, part.as_bytes()));
    let signature = hex(&mac(&key, message.as_bytes()));
    let access_key = &keys.access_key;
    plain.push((
        "authorization".to_owned(),
        format!("{ALGORITHM} Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}"),
    ));
    // A signature is only valid for one request, but the token is a secret.
    let secret = keys.session_token.iter().map(|token| ("x-amz-security-token".to_owned(), token.clone()));
    SignatureHeaders { secret: secret.collect(), plain }
}

/// Returns the header `Host` as HTTP clients send it: without the scheme's default port.
fn host_header(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

fn mac(key: &[u8], message: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authorization(url: &str, headers: &[(&str, &str)], session_token: Option<&str>) -> String {
        let keys = S3Keys {
            access_key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            session_token: session_token.map(SecretString::from),
        };
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let url = Url::parse(url).unwrap();
        let request = SignedParts { method: "GET", url: &url, body: b"" };
        let signed = sign(&request, &headers, &keys, "us-east-1", 1_369_353_600);
        signed.plain.into_iter().find(|(name, _)| name == "authorization").unwrap().1
    }

    #[test]
    fn the_examples_of_amazons_documentation_are_signed_as_it_says() {
        let of_object =
            authorization("https://examplebucket.s3.amazonaws.com/test.txt", &[("range", "bytes=0-9")], None);
        assert_eq!(
            of_object,
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
             SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, \
             Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        let of_list = authorization("https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", &[], None);
        assert!(
            of_list.ends_with("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
            "{of_list}"
        );
    }

    #[test]
    fn the_token_of_temporary_keys_is_signed() {
        let signed = authorization("https://host:8333/x", &[], Some("a token"));
        assert!(
            signed.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"),
            "{signed}"
        );
    }
}
