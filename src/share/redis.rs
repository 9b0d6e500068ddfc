//! The engine for a server that speaks the Redis protocol (Redis, Valkey, KeyDB): a string for each entry.
//!
//! A batch is one pipeline, so that it takes one round trip regardless of its size.

use std::error::Error as _;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use redis::{Client, Cmd, Connection, ErrorKind, Pipeline, RedisError};

use super::engine::{Engine, EngineOptions, Error, NewEntry, PutMode, RemoteEntry, RemoteKey, shorten};
use super::entry::MAX_ENTRY_BYTES;
use super::url::RedisAddress;
use crate::model::{hex, lock};

/// Prefix of the keys for this format of entries; later formats have their own, so that both can be used at once.
const PREFIX: &str = "slop-share-v1:";
/// Prefix of the keys of claims.
const CLAIM_PREFIX: &str = "slop-share-v1:claim:";

/// Entries in the strings of a server.
pub(super) struct RedisEngine {
    address: RedisAddress,
    options: EngineOptions,
    /// The idle connection. A user takes it out, so that a connection that hangs is not used again.
    connection: Mutex<Option<Connection>>,
}

impl RedisEngine {
    pub(super) const fn new(address: RedisAddress, options: EngineOptions) -> Self {
        Self { address, options, connection: Mutex::new(None) }
    }

    fn connect(&self) -> Result<Connection, RedisError> {
        let client = Client::open(self.address.with_password())?;
        let connection = client.get_connection_with_timeout(self.options.timeout)?;
        connection.set_read_timeout(Some(self.options.timeout))?;
        connection.set_write_timeout(Some(self.options.timeout))?;
        Ok(connection)
    }

    /// Sends a command on the existing connection, or else on a new one.
    fn ask<T>(&self, send: impl Fn(&mut Connection) -> Result<T, RedisError>) -> Result<T, Error> {
        let kept = lock(&self.connection).take();
        let answered = match kept {
            // The server may have closed it in the meantime. All commands are safe to repeat.
            Some(mut kept) => match send(&mut kept) {
                Err(error) if error.is_io_error() => self.ask_anew(&send),
                answer => answer.map(|answer| (answer, kept)),
            },
            None => self.ask_anew(&send),
        };
        let (answer, connection) = answered.map_err(|error| self.fault(&error))?;
        *lock(&self.connection) = Some(connection);
        Ok(answer)
    }

    /// Sends a command on a new connection, and repeats it if a signal interrupts it: a read with a timeout is never
    /// restarted after a signal, whatever its handler specifies (signal(7)).
    fn ask_anew<T>(
        &self,
        send: &impl Fn(&mut Connection) -> Result<T, RedisError>,
    ) -> Result<(T, Connection), RedisError> {
        let began = Instant::now();
        loop {
            let answered = self.connect().and_then(|mut connection| Ok((send(&mut connection)?, connection)));
            match answered {
                Err(error) if is_interrupted(&error) && began.elapsed() < self.options.timeout => {}
                answered => return answered,
            }
        }
    }

    /// Sends commands that set a key; returns for each whether it was set.
    fn query_set(&self, commands: &Pipeline) -> Result<Vec<bool>, Error> {
        let answers: Vec<Option<String>> = self.ask(|connection| commands.query(connection))?;
        Ok(answers.into_iter().map(|answer| answer.is_some()).collect())
    }

    fn fault(&self, error: &RedisError) -> Error {
        let host = self.address.host();
        // An interrupted command is repeated until the timeout.
        if error.is_timeout() || is_interrupted(error) {
            return Error::TimedOut(self.options.timeout);
        }
        if error.kind() == ErrorKind::AuthenticationFailed {
            // The library replaces the server's answer to a login with an error of its own.
            return Error::Refused { host, answer: "WRONGPASS the user or the password is wrong".to_owned() };
        }
        // The first rejected command determines the result of the whole batch.
        let refused = error.clone().into_server_errors();
        match refused.as_deref().and_then(|errors| errors.first()) {
            Some((_, refusal)) => {
                let answer = format!("{} {}", refusal.code(), refusal.details().unwrap_or_default());
                Error::Refused { host, answer: shorten(answer.trim_end()) }
            }
            None => Error::Unreachable { host, cause: shorten(&error.to_string()) },
        }
    }
}

fn is_interrupted(error: &RedisError) -> bool {
    // The source is not the wrapped error itself, but an `Arc` of it.
    let shared =
        error.source().and_then(|source| source.downcast_ref::<Arc<dyn std::error::Error + Send + Sync>>());
    let cause = shared.and_then(|shared| shared.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::Interrupted)
}

impl Engine for RedisEngine {
    fn check(&self) -> Result<(), Error> {
        self.ask(|connection| Cmd::new().arg("PING").exec(connection))
    }

    fn get(&self, keys: &[RemoteKey]) -> Result<Vec<RemoteEntry>, Error> {
        let mut asked = Pipeline::with_capacity(keys.len());
        for key in keys {
            // Unlike MGET, this never returns more than the maximum of an entry, however long the value is.
            asked.cmd("GETRANGE").arg(name(PREFIX, key)).arg(0).arg(MAX_ENTRY_BYTES);
        }
        let values: Vec<Vec<u8>> = self.ask(|connection| asked.query(connection))?;
        let entry = |value: Vec<u8>| match value.len() {
            0 => RemoteEntry::Missing,
            length if MAX_ENTRY_BYTES < length => RemoteEntry::TooLong,
            _ => RemoteEntry::Present(value),
        };
        Ok(values.into_iter().map(entry).collect())
    }

    fn put(&self, entries: &[NewEntry]) -> Result<Vec<bool>, Error> {
        let mut asked = Pipeline::with_capacity(entries.len());
        for entry in entries {
            let command = asked.cmd("SET").arg(name(PREFIX, &entry.key)).arg(&entry.bytes);
            if entry.mode == PutMode::IfAbsent {
                command.arg("NX");
            }
            if let Some(lifetime) = self.options.lifetime {
                command.arg("EX").arg(lifetime.as_secs());
            }
        }
        self.query_set(&asked)
    }

    fn has_claims(&self) -> bool {
        true
    }

    fn claim(&self, keys: &[RemoteKey], lifetime: Duration) -> Result<Vec<bool>, Error> {
        let mut asked = Pipeline::with_capacity(keys.len());
        for key in keys {
            let command = asked.cmd("SET").arg(name(CLAIM_PREFIX, key)).arg("");
            command.arg("NX").arg("EX").arg(lifetime.as_secs().max(1));
        }
        self.query_set(&asked)
    }

    fn release(&self, keys: &[RemoteKey]) -> Result<(), Error> {
        let mut asked = Pipeline::with_capacity(keys.len());
        for key in keys {
            asked.cmd("DEL").arg(name(CLAIM_PREFIX, key));
        }
        self.ask(|connection| asked.exec(connection))
    }
}

fn name(prefix: &str, key: &RemoteKey) -> String {
    format!("{prefix}{}", hex(key))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test runs a server")]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::process::{Child, Command, Stdio};
    use std::thread;

    use super::*;
    use crate::share::url::ShareUrl;

    const TIMEOUT: Duration = Duration::from_secs(20);

    /// A server that is stopped at the end of the test.
    struct TestServer {
        process: Child,
        port: u16,
        _folder: tempfile::TempDir,
    }

    impl TestServer {
        /// Starts a server; `None` if none is installed, which is reported.
        fn start(flags: &[&str]) -> Option<Self> {
            let folder = tempfile::tempdir().unwrap();
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut command = Command::new("redis-server");
            command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]).args(flags);
            command
                .current_dir(folder.path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            let Ok(process) = command.spawn() else {
                eprintln!("skipped: redis-server is not installed");
                return None;
            };
            let server = Self { process, port, _folder: folder };
            let began = Instant::now();
            while matches!(server.engine("").check(), Err(Error::Unreachable { .. })) {
                assert!(began.elapsed() < TIMEOUT, "the server does not start");
                thread::sleep(Duration::from_millis(10));
            }
            Some(server)
        }

        fn engine(&self, login: &str) -> RedisEngine {
            engine(&format!("redis://{login}127.0.0.1:{}/0", self.port), TIMEOUT)
        }

        fn set(&self, key: &RemoteKey, value: &[u8]) {
            let mut command = Cmd::new();
            command.arg("SET").arg(name(PREFIX, key)).arg(value);
            self.engine("").ask(|connection| command.exec(connection)).unwrap();
        }
    }

    impl Drop for TestServer {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }

    fn engine(url: &str, timeout: Duration) -> RedisEngine {
        let ShareUrl::Redis(address) = ShareUrl::parse(url).unwrap() else { panic!("{url}") };
        let lifetime = Some(Duration::from_secs(1_000));
        RedisEngine::new(address, EngineOptions { timeout, lifetime, claims: true, insecure: false })
    }

    fn entry(key: RemoteKey, bytes: &[u8], mode: PutMode) -> NewEntry {
        NewEntry { key, bytes: bytes.to_vec(), mode }
    }

    #[test]
    fn the_first_entry_stays_unless_it_is_replaced_and_expires_as_configured() {
        let Some(server) = TestServer::start(&[]) else { return };
        let engine = server.engine("");
        let (key, other) = ([1; 32], [2; 32]);
        let entries =
            [entry(key, b"\r\nfirst\0", PutMode::IfAbsent), entry(key, b"second", PutMode::IfAbsent)];
        assert_eq!(engine.put(&entries).unwrap(), [true, false]);
        let found = engine.get(&[other, key]).unwrap();
        assert_eq!(found, [RemoteEntry::Missing, RemoteEntry::Present(b"\r\nfirst\0".to_vec())]);
        let mut asked = Cmd::new();
        asked.arg("TTL").arg(name(PREFIX, &key));
        let seconds: u64 = engine.ask(|connection| asked.query(connection)).unwrap();
        assert!((900..=1_000).contains(&seconds), "{seconds}");
        assert_eq!(engine.put(&[entry(key, b"third", PutMode::Replace)]).unwrap(), [true]);
        assert_eq!(engine.get(&[key]).unwrap(), [RemoteEntry::Present(b"third".to_vec())]);
        server.set(&key, &vec![0; 10 << 20]);
        assert_eq!(engine.get(&[key]).unwrap(), [RemoteEntry::TooLong]);
    }

    #[test]
    fn a_claim_is_held_until_it_is_released_or_expires() {
        let Some(server) = TestServer::start(&[]) else { return };
        let (ours, theirs) = (server.engine(""), server.engine(""));
        let (key, other, hour) = ([1; 32], [2; 32], Duration::from_hours(1));
        assert_eq!(ours.claim(&[key], hour).unwrap(), [true]);
        assert_eq!(theirs.claim(&[key, other], Duration::from_secs(1)).unwrap(), [false, true]);
        ours.release(&[key]).unwrap();
        assert_eq!(theirs.claim(&[key], hour).unwrap(), [true]);
        let began = Instant::now();
        while ours.claim(&[other], hour).unwrap() == [false] {
            assert!(began.elapsed() < TIMEOUT);
            thread::sleep(Duration::from_millis(20));
        }
        // A claim is not an entry.
        assert_eq!(ours.get(&[key]).unwrap(), [RemoteEntry::Missing]);
    }

    #[test]
    fn a_connection_that_the_server_has_closed_is_replaced() {
        let Some(server) = TestServer::start(&[]) else { return };
        let engine = server.engine("");
        engine.check().unwrap();
        let mut kill = Cmd::new();
        kill.arg("CLIENT").arg("KILL").arg("TYPE").arg("normal");
        server.engine("").ask(|connection| kill.exec(connection)).unwrap();
        engine.check().unwrap();
    }

    #[test]
    fn an_error_has_the_servers_message_and_no_password() {
        let Some(server) = TestServer::start(&["--requirepass", "hunter2"]) else { return };
        server.engine(":hunter2@").check().unwrap();
        for login in ["", ":wrong9@", "me:wrong9@"] {
            let error = server.engine(login).check().unwrap_err().to_string();
            assert!(error.contains("127.0.0.1") && error.contains("refused a request"), "{error}");
            assert!(error.contains("NOAUTH") || error.contains("WRONGPASS"), "{error}");
            assert!(!error.contains("wrong9"), "{error}");
        }
        let full = TestServer::start(&["--maxmemory", "1", "--maxmemory-policy", "noeviction"]).unwrap();
        let error = full.engine("").put(&[entry([1; 32], b"x", PutMode::IfAbsent)]).unwrap_err();
        assert!(matches!(&error, Error::Refused { answer, .. } if answer.starts_with("OOM ")), "{error}");
    }

    #[test]
    fn errors_of_replicas_and_cluster_nodes_have_their_messages() {
        let Some(primary) = TestServer::start(&[]) else { return };
        let replica = TestServer::start(&["--replicaof", "127.0.0.1", &primary.port.to_string()]).unwrap();
        let store = |server: &TestServer, key| server.engine("").put(&[entry(key, b"x", PutMode::IfAbsent)]);
        let refusal = |error: Error| match error {
            Error::Refused { answer, .. } => answer,
            other => panic!("{other}"),
        };
        let answer = refusal(store(&replica, [1; 32]).unwrap_err());
        assert!(answer.starts_with("READONLY "), "{answer}");
        let nodes = [(); 2].map(|()| {
            let bus = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
            let server = TestServer::start(&["--cluster-enabled", "yes", "--cluster-port", &bus]).unwrap();
            (server, bus)
        });
        let ask = |node: &TestServer, words: &str| {
            let mut command = Cmd::new();
            for word in words.split(' ') {
                command.arg(word);
            }
            node.engine("").ask(|connection| command.exec(connection)).unwrap();
        };
        ask(&nodes[0].0, "CLUSTER ADDSLOTSRANGE 0 8191");
        ask(&nodes[1].0, "CLUSTER ADDSLOTSRANGE 8192 16383");
        ask(&nodes[0].0, &format!("CLUSTER MEET 127.0.0.1 {} {}", nodes[1].0.port, nodes[1].1));
        let keys: Vec<RemoteKey> = (0..50).map(|number| [number; 32]).collect();
        let began = Instant::now();
        loop {
            // Until the nodes know each other, the cluster is down.
            let answer = refusal(nodes[0].0.engine("").get(&keys).unwrap_err());
            if answer.starts_with("MOVED ") {
                break;
            }
            assert!(answer.starts_with("CLUSTERDOWN") && began.elapsed() < TIMEOUT, "{answer}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn a_signal_is_distinguished_from_other_errors() {
        let error = |kind| RedisError::from(io::Error::from(kind));
        assert!(is_interrupted(&error(io::ErrorKind::Interrupted)));
        assert!(!is_interrupted(&error(io::ErrorKind::TimedOut)));
        assert!(!is_interrupted(&RedisError::from((ErrorKind::Client, "interrupted"))));
    }

    #[test]
    fn a_server_that_is_silent_or_unreachable_is_an_error_within_the_timeout() {
        // One listener each: how often signals cause a repetition is not known.
        let [silent, chatter, gone] = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
        let server = format!("redis://127.0.0.1:{}", port(&silent));
        let error = engine(&server, Duration::from_millis(60)).check().unwrap_err();
        assert!(matches!(error, Error::TimedOut(_)), "{error:?}");
        let chatter_port = port(&chatter);
        thread::spawn(move || {
            for mut stream in chatter.incoming().flatten() {
                let _ = stream.read(&mut [0; 100]);
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n\x1b[31m");
            }
        });
        for scheme in ["redis", "rediss"] {
            let error = engine(&format!("{scheme}://127.0.0.1:{chatter_port}"), TIMEOUT).check().unwrap_err();
            assert!(matches!(error, Error::Unreachable { .. }), "{error}");
            assert!(!error.to_string().contains('\x1b'), "{error}");
        }
        let server = format!("redis://127.0.0.1:{}", port(&gone));
        drop(gone);
        let gone = engine(&server, TIMEOUT).check().unwrap_err();
        assert!(matches!(gone, Error::Unreachable { .. }), "{gone}");
    }
}
