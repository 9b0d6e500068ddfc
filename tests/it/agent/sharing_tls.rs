//! A team's cache on real servers with TLS, with valid and invalid certificates.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::project::AgentProject;
use super::sharing::{configure_url, keys, project};
use crate::sandbox::{data, report_skipped, run, wait_until};

/// Runs `openssl` in a folder; returns whether it succeeded.
fn openssl(folder: &Path, words: &str) -> bool {
    let mut command = Command::new("openssl");
    command.args(words.split(' ')).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Creates an authority, and a certificate signed by it for a name and a number of days; returns whether that
/// succeeded.
fn make_certificates(folder: &Path) -> bool {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let sign = "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial";
    fs::write(folder.join("here"), "subjectAltName=IP:127.0.0.1").unwrap();
    fs::write(folder.join("elsewhere"), "subjectAltName=DNS:cache.example.org").unwrap();
    openssl(folder, &format!("req -x509 {key} -keyout ca.key -out ca.pem -subj /CN=authority -days 2"))
        && openssl(folder, &format!("req {key} -keyout server.key -out server.csr -subj /CN=server"))
        && openssl(folder, &format!("{sign} -days 2 -extfile here -out good.pem"))
        && openssl(folder, &format!("{sign} -days 2 -extfile elsewhere -out elsewhere.pem"))
        && openssl(folder, &format!("{sign} -days -1 -extfile here -out expired.pem"))
}

/// Starts Redis with that certificate; `None` if no Redis with TLS support is installed.
fn start_redis(folder: &Path, certificate: &str, port: u16) -> Option<Child> {
    let mut command = Command::new("redis-server");
    command.args(["--port", "0", "--bind", "127.0.0.1", "--save", "", "--requirepass", "hunter2"]);
    command.args(["--tls-port", &port.to_string(), "--tls-cert-file", certificate]);
    command
        .args(["--tls-key-file", "server.key", "--tls-ca-cert-file", "ca.pem", "--tls-auth-clients", "no"]);
    start(command, folder, port)
}

/// Starts a server with the S3 protocol, that certificate and no bucket; `None` if it is not installed.
fn start_moto(folder: &Path, certificate: &str, port: u16) -> Option<Child> {
    let mut command = Command::new("moto_server");
    command.args(["-H", "127.0.0.1", "-p", &port.to_string(), "-s", "-c", certificate, "-k", "server.key"]);
    start(command, folder, port)
}

/// Starts a server that listens on that port; `None` if it cannot be started, or exits before it listens.
fn start(mut command: Command, folder: &Path, port: u16) -> Option<Child> {
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut process = command.spawn().ok()?;
    let mut is_gone = false;
    wait_until("the server listens", || {
        is_gone = process.try_wait().unwrap().is_some();
        is_gone || TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    (!is_gone).then_some(process)
}

/// Returns why the cache cannot be used with that certificate store; empty if it can.
fn reason(project: &AgentProject, authorities: &Path) -> String {
    let mut command = project.command(&["share", "status", "--json"]);
    command.env("SSL_CERT_FILE", authorities);
    command.envs([("AWS_ACCESS_KEY_ID", "access"), ("AWS_SECRET_ACCESS_KEY", "hunter2")]);
    let status = data(&run(command).out);
    assert_eq!(status["reachable"].as_bool(), Some(status["reason"].is_null()), "{status}");
    assert!(!status.to_string().contains("hunter2"), "{status}");
    status["reason"].as_str().unwrap_or_default().to_owned()
}

/// Queries a server with each certificate: `answered` is the message if the certificate is valid.
fn only_certificates_that_hold_are_believed(
    start: impl Fn(&Path, &str, u16) -> Option<Child>,
    url: impl Fn(u16) -> String,
    answered: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let project = project(&["Runs jobs."]);
    let team = keys(&project, &[])["team_key"].as_str().unwrap().to_owned();
    if !make_certificates(folder.path()) {
        report_skipped("no openssl to make certificates with");
        return;
    }
    // Another authority.
    let other = tempfile::tempdir().unwrap();
    assert!(make_certificates(other.path()));
    let (known, unknown) = (folder.path().join("ca.pem"), other.path().join("ca.pem"));
    for (certificate, authorities, expected) in [
        ("good.pem", &known, answered),
        ("good.pem", &unknown, "certificate"),
        ("elsewhere.pem", &known, "certificate"),
        ("expired.pem", &known, "certificate"),
    ] {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let Some(mut process) = start(folder.path(), certificate, port) else {
            report_skipped("no server that knows TLS");
            return;
        };
        configure_url(&project, &url(port), &team, "timeout_ms = 20000");
        let found = reason(&project, authorities);
        process.kill().unwrap();
        process.wait().unwrap();
        let is_expected = if expected.is_empty() { found.is_empty() } else { found.contains(expected) };
        assert!(is_expected, "{certificate}: {found}");
    }
}

#[test]
fn redis_is_used_only_if_its_certificate_is_valid() {
    only_certificates_that_hold_are_believed(
        start_redis,
        |port| format!("rediss://:hunter2@127.0.0.1:{port}"),
        "",
    );
}

#[test]
fn s3_is_used_only_if_its_certificate_is_valid() {
    only_certificates_that_hold_are_believed(
        start_moto,
        |port| format!("s3://team\"\nendpoint = \"https://127.0.0.1:{port}"),
        "NoSuchBucket",
    );
}
