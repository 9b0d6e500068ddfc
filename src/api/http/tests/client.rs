//! The client that the command line uses.

use super::*;

#[test]
fn the_client_receives_the_answer_of_the_service() {
    let house = ApiTestServer::new();
    let client = house.client();
    let options =
        CallOptions { require_fresh: true, settings: Some("ours".to_owned()), ..CallOptions::default() };
    let answered = client.ask(&AnyQuery::Files(FilesQuery {}), &options).unwrap();
    assert_eq!(json_of(&answered), "{\"fresh\":true,\"settings\":\"ours\"}");
    assert_eq!(options.job.take_notes(), ["a note"]);
    assert_eq!(answered.freshness.clock.as_deref(), Some("1:7"));
    let symbols = |name: &str| {
        AnyQuery::Symbols(SymbolsQuery { name: name.to_owned(), definition: true, ..SymbolsQuery::default() })
    };
    let large = client.ask(&symbols("large"), &CallOptions::default()).unwrap();
    assert_eq!(json_of(&large).len(), (32 << 20) + 2);
    let asks = [
        AnyQuery::Index(IndexQuery::default()),
        AnyQuery::Files(FilesQuery {}),
        AnyQuery::Outline(OutlineQuery { files: vec!["a \"b\"".to_owned()], verify: true }),
        AnyQuery::View(ViewQuery::default()),
        symbols("f"),
        AnyQuery::Aggregate(Box::default()),
        AnyQuery::Explain(Box::new(ExplainQuery { file: "a".to_owned(), ..ExplainQuery::default() })),
        AnyQuery::CacheStatus(CacheStatusQuery {}),
        AnyQuery::CacheClear(CacheClearQuery::default()),
        AnyQuery::CacheVerify(CacheVerifyQuery {}),
        AnyQuery::CacheGc(CacheGcQuery { days: 3 }),
        AnyQuery::Audit(AuditQuery {}),
    ];
    house.fake.asked();
    for ask in &asks {
        client.ask(ask, &CallOptions::default()).unwrap();
    }
    assert_eq!(house.fake.asked(), asks);
}

#[test]
fn the_client_receives_progress_and_errors() {
    let quick = Duration::from_millis(5);
    let house = ApiTestServer::with(Timeouts { progress: quick, sign: quick, ..TIMEOUTS });
    let client = house.client();
    let symbols =
        |name: &str| AnyQuery::Symbols(SymbolsQuery { name: name.to_owned(), ..SymbolsQuery::default() });
    let progress = Arc::new(Mutex::new(Vec::new()));
    let (fake, seen) = (Arc::clone(&house.fake), Arc::clone(&progress));
    let observer = Observer(move |done, total| {
        seen.lock().unwrap().push((done, total));
        // The first report may come before the work has begun.
        if done == 1 {
            fake.sees("released");
        }
    });
    let job = Arc::new(QueryJob::observed_by(Arc::new(observer)));
    let options = CallOptions { job, ..CallOptions::default() };
    let answered = client.ask(&symbols("slow"), &options).unwrap();
    assert_eq!(json_of(&answered), "{\"was\":\"slow\"}");
    assert!(progress.lock().unwrap().contains(&(1, 2)), "{progress:?}");
    for (name, code, kind) in [
        ("missing", "not_found", ApiErrorKind::User),
        ("broken", "list_failed", ApiErrorKind::Environment),
        ("slow fault", "list_failed", ApiErrorKind::Environment),
        ("panic", "bug", ApiErrorKind::Environment),
    ] {
        let error = client.ask(&symbols(name), &CallOptions::default()).unwrap_err();
        let ClientError::Fault(fault) = error else { panic!("{name}: {error}") };
        assert_eq!((&*fault.code, fault.kind), (code, kind), "{name}");
    }
    let options = CallOptions { settings: Some("other".to_owned()), ..CallOptions::default() };
    let error = client.ask(&AnyQuery::Files(FilesQuery {}), &options).unwrap_err();
    assert!(matches!(error, ClientError::Fault(fault) if fault.code == "other_settings"));
}

#[test]
fn cancelling_a_client_cancels_the_work() {
    let house = ApiTestServer::new();
    let job = Arc::new(QueryJob::default());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            house.fake.wait_for("begun");
            job.cancel();
        });
        let ask = AnyQuery::Symbols(SymbolsQuery { name: "wait".to_owned(), ..SymbolsQuery::default() });
        let options = CallOptions { job: Arc::clone(&job), ..CallOptions::default() };
        let answered = house.client().ask(&ask, &options);
        assert!(matches!(answered, Err(ClientError::Cancelled)), "{answered:?}");
    });
    house.fake.wait_for("cancelled");
}

#[test]
fn the_client_rejects_answers_of_another_version() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listener = bind_local(&socket).unwrap();
    let body = "{\"freshness\":\"fresh\",\"reason\":null,\"clock\":null,\"as_of_ms\":0,\"pending\":0,\"notes\":[],\"data\":[]}";
    let ours = format!("slop-version: {VERSION}\r\n");
    for (version, is_taken) in [("", false), ("slop-version: 0.0.0\r\n", false), (&*ours, true)] {
        let client = Client::connect(&socket).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let length = body.len();
        let answer = format!("HTTP/1.1 200 OK\r\n{version}content-length: {length}\r\n\r\n{body}");
        let answering = std::thread::spawn(move || {
            read_until(&mut stream, "\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
            stream
        });
        let answered = client.ask(&AnyQuery::Files(FilesQuery {}), &CallOptions::default());
        drop(answering.join().unwrap());
        assert_eq!(answered.is_ok(), is_taken, "{version}: {answered:?}");
        assert!(is_taken || matches!(answered, Err(ClientError::NotUnderstood(_))), "{version}");
    }
}

#[test]
fn the_client_detects_whether_a_daemon_can_be_asked() {
    let house = ApiTestServer::new();
    let client = house.client();
    assert_eq!(client.status().unwrap().project, "project");
    client.stop().unwrap();
    house.fake.wait_for("stopped");
    let nowhere = Client::connect(&house.folder.path().join("nowhere"));
    assert!(matches!(nowhere, Err(ConnectError::NotThere(_))));
    let left = house.folder.path().join("left");
    drop(bind_local(&left).unwrap());
    assert!(matches!(Client::connect(&left), Err(ConnectError::NobodyListens(_))));
}
