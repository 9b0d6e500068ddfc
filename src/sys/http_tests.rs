//! Misbehaving servers, on local sockets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use secrecy::SecretString;

use super::*;

const KEY: &str = "sentinel-of-a-key";
const LIMITS: HttpLimits = HttpLimits {
    connect: Duration::from_secs(5),
    idle: Duration::from_secs(20),
    total: Duration::from_secs(20),
    body_bytes: 64 << 10,
};
const SHORT: Duration = Duration::from_millis(200);

/// A server for as many requests as come, each on a connection of its own.
struct TestServer {
    port: u16,
    connections: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
    is_over: Arc<AtomicBool>,
}

impl Drop for TestServer {
    /// Accepts no more requests, because the port may belong to another test by then.
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Unblocks the thread that waits for a connection.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl TestServer {
    /// Starts a server that reads a request and then calls `answer`; the connection ends with it.
    fn start(answer: impl Fn(&mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server =
            Self { port, connections: Arc::default(), heads: Arc::default(), is_over: Arc::default() };
        let (connections, heads) = (Arc::clone(&server.connections), Arc::clone(&server.heads));
        let is_over = Arc::clone(&server.is_over);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                connections.fetch_add(1, Ordering::SeqCst);
                let head = read_request(&mut stream);
                heads.lock().unwrap().push(head);
                answer(&mut stream);
            }
        });
        server
    }

    /// Starts a server that always sends the same answer.
    fn replying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |stream| drop(stream.write_all(&answer)))
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    fn connection_count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads a head and a body of the stated length; returns both.
fn read_request(stream: &mut TcpStream) -> String {
    let (mut text, mut byte) = (Vec::new(), [0]);
    while !text.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        text.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&text).into_owned();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).unwrap();
    head + std::str::from_utf8(&body).unwrap()
}

fn post(url: &str) -> HttpRequest {
    HttpRequest {
        method: HttpMethod::Post,
        url: url.to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        secret_headers: vec![("x-api-key".to_owned(), SecretString::from(KEY))],
        body: b"{}".to_vec(),
    }
}

fn send_within(url: &str, limits: HttpLimits) -> Result<HttpResponse, HttpError> {
    HttpClient::new(None).send(&post(url), &limits, &|| false)
}

fn send(url: &str) -> Result<HttpResponse, HttpError> {
    send_within(url, LIMITS)
}

#[track_caller]
fn error_of(server: &TestServer, limits: HttpLimits) -> HttpError {
    let error = send_within(&server.url(), limits).unwrap_err();
    assert_eq!(server.connection_count(), 1, "nothing is tried twice");
    let words = format!("{error} {error:?}");
    assert!(!words.contains(KEY) && !words.contains("/v1"), "{words}");
    error
}

#[test]
fn an_answer_is_complete_whatever_its_status() {
    let server = TestServer::replying(
        "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nx: \u{e9}\r\ncontent-length: 2\r\n\r\n{}",
    );
    let answer = send(&server.url()).unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (429, b"{}".as_slice()));
    assert_eq!((answer.header("retry-after"), answer.header("x")), (Some("7"), None));
    let head = server.heads.lock().unwrap()[0].clone();
    assert!(head.starts_with("POST /v1 HTTP/1.1\r\n") && head.ends_with("\r\n\r\n{}"), "{head}");
    assert!(head.contains("x-api-key: sentinel-of-a-key\r\n"), "{head}");
    assert!(head.contains("user-agent: slop/"), "{head}");
    assert!(!head.contains("referer"), "{head}");
}

#[test]
fn a_get_request_has_no_body() {
    let server = TestServer::replying("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    let request = HttpRequest { method: HttpMethod::Get, body: Vec::new(), ..post(&server.url()) };
    assert_eq!(HttpClient::new(None).send(&request, &LIMITS, &|| false).unwrap().body, b"");
    let head = server.heads.lock().unwrap()[0].clone();
    assert!(head.starts_with("GET /v1 ") && !head.contains("content-length"), "{head}");
}

#[test]
fn localhost_is_not_resolved_by_a_name_service() {
    let server = TestServer::replying("HTTP/1.1 204 No\r\n\r\n");
    assert_eq!(send(&format!("http://LOCALHOST:{}/", server.port)).unwrap().status, 204);
}

#[test]
fn a_truncated_document_of_the_stated_length_is_a_complete_answer() {
    let server = TestServer::replying("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{\"a\":");
    assert_eq!(send(&server.url()).unwrap().body, b"{\"a\":");
}

#[test]
fn a_connection_that_ends_early_is_broken() {
    for answer in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-le",
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}",
        "SSH-2.0-OpenSSH\r\n\r\n",
    ] {
        let error = error_of(&TestServer::replying(answer), LIMITS);
        assert!(matches!(error, HttpError::Broken(_)) && !error.is_unsent(), "{answer:?}: {error:?}");
    }
}

#[test]
fn a_silent_server_times_out() {
    let server = TestServer::start(|stream| drop(stream.read(&mut [0])));
    let error = error_of(&server, HttpLimits { total: SHORT, ..LIMITS });
    assert!(matches!(error, HttpError::TimedOut(limit) if limit == SHORT), "{error:?}");
    assert!(!error.is_unsent());
}

#[test]
fn a_server_whose_head_never_ends_times_out() {
    let server = TestServer::start(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nx: ");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let error = error_of(&server, HttpLimits { total: SHORT, ..LIMITS });
    assert!(matches!(error, HttpError::TimedOut(_)), "{error:?}");
}

#[test]
fn a_server_that_falls_silent_during_its_answer_times_out() {
    let server = TestServer::start(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{");
        let _ = stream.read(&mut [0]);
    });
    let error = error_of(&server, HttpLimits { idle: SHORT, ..LIMITS });
    assert!(matches!(error, HttpError::TimedOut(limit) if limit == SHORT), "{error:?}");
}

#[test]
fn a_trickling_body_times_out_although_it_never_pauses() {
    let server = TestServer::start(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let error = error_of(&server, HttpLimits { total: SHORT, ..LIMITS });
    assert!(matches!(error, HttpError::TimedOut(limit) if limit == SHORT), "{error:?}");
}

#[test]
fn an_endless_body_is_too_large() {
    let server = TestServer::start(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n");
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let error = error_of(&server, LIMITS);
    assert!(matches!(error, HttpError::TooLarge(limit) if limit == LIMITS.body_bytes), "{error:?}");
}

/// Zeros, as gzip packs them: blocks of deflate that repeat the byte before, 258 at a time, made by hand.
fn bomb() -> Vec<u8> {
    // A head, then one block of fixed codes: the literal 0, and then each length of 258 at the distance of 1, which
    // are 8 bits of code and 5 zeros. The block never ends, and neither does what comes of it.
    let mut bits: Vec<bool> = vec![true, true, false];
    bits.extend([false, false, true, true, false, false, false, false]);
    for _ in 0..40_000 {
        bits.extend([true, true, false, false, false, true, false, true, false, false, false, false, false]);
    }
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    bytes.extend(bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |sum, bit| sum << 1 | u8::from(*bit))));
    bytes
}

#[test]
fn a_compressed_body_is_measured_decompressed() {
    let bomb = bomb();
    let mut answer = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n".to_vec();
    answer.extend(format!("content-length: {}\r\n\r\n", bomb.len()).bytes());
    answer.extend(&bomb);
    let limits = HttpLimits { body_bytes: 1 << 20, ..LIMITS };
    assert!(bomb.len() < limits.body_bytes);
    let error = error_of(&TestServer::replying(answer), limits);
    assert!(matches!(error, HttpError::TooLarge(_)), "{error:?}");
}

#[test]
fn a_flood_of_headers_is_an_error() {
    let mut answer = b"HTTP/1.1 200 OK\r\n".to_vec();
    for number in 0..100_000 {
        answer.extend(format!("x{number}: {number}\r\n").bytes());
    }
    let error = error_of(&TestServer::replying(answer), LIMITS);
    assert!(matches!(error, HttpError::Broken(_)), "{error:?}");
}

#[test]
fn a_flood_of_provisional_answers_times_out() {
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let server = TestServer::start(move |stream| {
        while stream.write_all(&b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100)).is_ok() {}
        over.store(true, Ordering::SeqCst);
    });
    let error = error_of(&server, HttpLimits { total: SHORT, ..LIMITS });
    assert!(matches!(error, HttpError::TimedOut(_)), "{error:?}");
    // The connection is closed with the request: nothing keeps reading in the background. The library notices once it
    // has processed what it had already received, which takes an unoptimized build some seconds.
    wait_until(|| is_over.load(Ordering::SeqCst));
}

#[track_caller]
fn wait_until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_mins(2));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_redirect_is_an_answer_and_not_followed() {
    let second = TestServer::replying("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    for status in [301, 302, 303, 307, 308] {
        let to = format!("HTTP/1.1 {status} Go\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", second.url());
        let first = TestServer::replying(to);
        assert_eq!(send(&first.url()).unwrap().status, status);
        assert_eq!(first.connection_count(), 1);
    }
    assert_eq!(second.connection_count(), 0);
}

#[test]
fn a_forbidden_request_opens_no_connection() {
    for url in [
        "http://api.example.com/v1",
        "http://localhost.example.com/",
        "http://localhost./",
        "http://10.0.0.1/",
        "http://0.0.0.0/",
        "http://[::ffff:127.0.0.1]/",
        "http://user@127.0.0.1/",
        "https://user:pass@api.example.com/",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "127.0.0.1:80",
        "",
    ] {
        let web = HttpClient::new(None);
        let error = web.send(&post(url), &LIMITS, &|| false).unwrap_err();
        assert!(matches!(error, HttpError::NotAllowed(_)) && error.is_unsent(), "{url}: {error:?}");
        let state = web.pool.lock().unwrap();
        assert!(state.runtime.is_none() && state.clients.is_empty(), "{url}");
    }
}

#[test]
fn this_machine_is_reached_without_tls() {
    for url in ["http://127.8.9.1/", "http://[::1]:80/", "http://localhost/", "https://api.example.com/"] {
        assert!(checked_url(url, false).is_ok(), "{url}");
    }
}

#[test]
fn a_header_with_a_line_break_is_rejected_without_showing_it() {
    let mut request = post("http://127.0.0.1:1/");
    request.secret_headers = vec![("x-api-key".to_owned(), SecretString::from(format!("{KEY}\r\nx: y")))];
    let error = HttpClient::new(None).send(&request, &LIMITS, &|| false).unwrap_err();
    assert!(matches!(error, HttpError::NotAllowed(_)), "{error:?}");
    assert!(!format!("{error} {error:?}").contains(KEY));
}

#[test]
fn a_secret_header_is_not_shown_by_the_library_either() {
    let asked =
        to_reqwest(&post("http://127.0.0.1/"), checked_url("http://127.0.0.1/", false).unwrap()).unwrap();
    assert!(!format!("{asked:?}").contains(KEY));
}

#[test]
fn without_a_listener_nothing_is_sent() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = send(&format!("http://127.0.0.1:{free}/")).unwrap_err();
    let HttpError::Unreachable { host, why } = &error else { panic!("{error:?}") };
    assert_eq!(host, &format!("127.0.0.1:{free}"));
    assert!(why.contains("refused") && error.is_unsent(), "{why}");
}

#[test]
fn a_connection_that_is_never_accepted_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let address = listener.local_addr().unwrap();
    // Nothing accepts connections: once the queue is full, the next one waits.
    let mut waiting = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, SHORT) {
        waiting.push(stream);
    }
    let error =
        send_within(&format!("http://{address}/"), HttpLimits { connect: SHORT, ..LIMITS }).unwrap_err();
    assert!(matches!(error, HttpError::Unreachable { .. }) && error.is_unsent(), "{error:?}");
}

#[test]
fn a_stopped_request_is_dropped() {
    let is_dropped = Arc::new(AtomicBool::new(false));
    let dropped = Arc::clone(&is_dropped);
    let server = TestServer::start(move |stream| {
        let _ = stream.read(&mut [0]);
        dropped.store(true, Ordering::SeqCst);
    });
    let error = HttpClient::new(None)
        .send(&post(&server.url()), &LIMITS, &|| 0 < server.connection_count())
        .unwrap_err();
    assert!(matches!(error, HttpError::Stopped) && !error.is_unsent(), "{error:?}");
    wait_until(|| is_dropped.load(Ordering::SeqCst));
}

#[test]
fn a_request_that_is_stopped_before_it_begins_opens_no_connection() {
    let server = TestServer::replying("");
    assert!(matches!(
        HttpClient::new(None).send(&post(&server.url()), &LIMITS, &|| true),
        Err(HttpError::Stopped)
    ));
    assert_eq!(server.connection_count(), 0);
}

#[test]
fn many_threads_share_one_client() {
    let server = TestServer::replying("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok");
    let web = HttpClient::new(None);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                assert_eq!(web.send(&post(&server.url()), &LIMITS, &|| false).unwrap().body, b"ok");
            });
        }
    });
    assert_eq!((server.connection_count(), web.pool.lock().unwrap().clients.len()), (8, 1));
}

/// Set if a test runs in a process of its own.
const ALONE: &str = "SLOP_TEST_ALONE";

/// Runs a test again in a process of its own, because all threads share the environment. Returns whether this is that
/// process, in which the test continues.
#[expect(clippy::disallowed_methods, reason = "a test starts itself")]
fn is_alone(test: &str, variables: &[(&str, &str)]) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let program = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new(program);
    command.args(["--exact", &format!("sys::http::tests::{test}")]).env(ALONE, "1");
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

#[test]
fn without_certificates_this_machine_can_still_be_reached() {
    let none = [("SSL_CERT_FILE", "/dev/null"), ("SSL_CERT_DIR", "/nonexistent")];
    if !is_alone("without_certificates_this_machine_can_still_be_reached", &none) {
        return;
    }
    let web = HttpClient::new(None);
    let error = web.send(&post("https://127.0.0.1:1/"), &LIMITS, &|| false).unwrap_err();
    assert!(matches!(error, HttpError::NoCertificates) && error.is_unsent(), "{error:?}");
    assert!(matches!(web.check_tls(), Err(HttpError::NoCertificates)));
    let server = TestServer::replying("HTTP/1.1 204 No\r\n\r\n");
    assert_eq!(web.send(&post(&server.url()), &LIMITS, &|| false).unwrap().status, 204);
}

#[test]
fn a_proxy_of_the_environment_is_not_used() {
    let proxy = TestServer::replying("HTTP/1.1 502 Proxy\r\ncontent-length: 0\r\n\r\n");
    let address = proxy.url();
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    if !is_alone("a_proxy_of_the_environment_is_not_used", &names.map(|name| (name, address.as_str()))) {
        assert_eq!(proxy.connection_count(), 0);
        return;
    }
    let server = TestServer::replying("HTTP/1.1 204 No\r\n\r\n");
    assert_eq!(send(&server.url()).unwrap().status, 204);
    // The server does not support TLS. Without certificates on the system, there is not even an attempt.
    let limits = HttpLimits { connect: SHORT, ..LIMITS };
    assert!(send_within(&server.url().replace("http:", "https:"), limits).unwrap_err().is_unsent());
}

#[test]
fn a_configured_proxy_is_only_for_other_machines() {
    let proxy = TestServer::replying("HTTP/1.1 502 Proxy\r\ncontent-length: 0\r\n\r\n");
    let web = HttpClient::new(Some(proxy.url()));
    let server = TestServer::replying("HTTP/1.1 204 No\r\n\r\n");
    assert_eq!(web.send(&post(&server.url()), &LIMITS, &|| false).unwrap().status, 204);
    assert_eq!(proxy.connection_count(), 0);
    match web.send(&post("https://api.example.invalid/"), &LIMITS, &|| false).unwrap_err() {
        // If the machine has no certificates, no connection is opened.
        HttpError::NoCertificates => {}
        error => {
            assert!(error.is_unsent(), "{error:?}");
            let heads = proxy.heads.lock().unwrap();
            assert!(heads[0].starts_with("CONNECT api.example.invalid:443 ") && !heads[0].contains(KEY));
        }
    }
}
