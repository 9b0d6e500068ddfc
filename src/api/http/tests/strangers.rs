//! Access control of the API.

use super::*;

#[test]
fn web_pages_and_strangers_are_refused() {
    let house = ApiTestServer::new();
    let port = house.port;
    let authorization = format!("authorization: Bearer {TOKEN}\r\n");
    let request = |method: &str, host: &str, rest: &str| {
        let host = if host.is_empty() { String::new() } else { format!("host: {host}\r\n") };
        format!("{method} /v1/status HTTP/1.1\r\n{host}connection: close\r\n{rest}\r\n")
    };
    let ours = format!("127.0.0.1:{port}");
    let mut cases = Vec::new();
    for host in
        [ours.clone(), format!("localhost:{port}"), format!("LOCALHOST:{port}"), format!("[::1]:{port}")]
    {
        cases.push((request("GET", &host, &authorization), 200));
        cases.push((request("GET", &host, ""), 401));
        cases.push((request("OPTIONS", &host, &authorization), 403));
    }
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("127.0.0.2:{port}"),
        format!("0.0.0.0:{port}"),
        format!("user@127.0.0.1:{port}"),
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1:0{port}"),
        format!("localhost.:{port}"),
        String::new(),
    ] {
        cases.push((request("GET", &host, &authorization), 421));
        cases.push((request("OPTIONS", &host, ""), 421));
    }
    cases.push((request("GET", &ours, &format!("host: {ours}\r\nhost: evil\r\n{authorization}")), 421));
    cases.push((get(&format!("http://evil.example:{port}/v1/status"), &authorization), 421));
    for origin in
        ["http://evil.example".to_owned(), "null".to_owned(), format!("http://{ours}"), String::new()]
    {
        let headers = format!("origin: {origin}\r\n{authorization}");
        cases.push((request("GET", &ours, &headers), 403));
        cases.push((request("OPTIONS", &ours, &headers), 403));
    }
    for (site, status) in
        [("none", 200), ("same-origin", 200), ("same-site", 403), ("cross-site", 403), ("x", 403)]
    {
        cases.push((request("GET", &ours, &format!("sec-fetch-site: {site}\r\n{authorization}")), status));
    }
    for wrong in [
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Bearer {TOKEN}x"),
        format!("Bearer {}", &TOKEN[1..]),
        format!("Basic {TOKEN}"),
        TOKEN.to_owned(),
        format!("Bearer {TOKEN}\r\nauthorization: Bearer x"),
    ] {
        cases.push((request("GET", &ours, &format!("authorization: {wrong}\r\n")), 401));
    }
    let form = "content-type: text/plain\r\n";
    cases.push((post("/v1/stop", "", "").replace("localhost", &ours), 401));
    cases.push((post("/v1/index", &format!("{form}{authorization}"), "{}").replace("localhost", &ours), 415));
    assert!(60 <= cases.len(), "{}", cases.len());
    for (request, status) in cases {
        let heard = house.raw_tcp(&request);
        assert_eq!(heard.status, status, "{request}\n{heard:?}");
        assert!(!heard.head.contains("access-control"), "{request}");
    }
    assert_eq!(house.fake.asked(), []);
    assert_eq!(*house.fake.seen.0.lock().unwrap(), [""; 0]);
}

#[test]
fn a_web_page_is_refused_on_the_socket_too() {
    let house = ApiTestServer::new();
    assert_eq!(house.raw(&get("/v1/status", "origin: http://evil.example\r\n")).status, 403);
    assert_eq!(house.raw(&get("/v1/status", "sec-fetch-site: cross-site\r\n")).status, 403);
    assert_eq!(house.raw(&get("/v1/status", "").replace("GET", "OPTIONS")).status, 403);
    assert_eq!(house.raw(&get("/v1/status", "")).status, 200);
}

#[test]
fn a_port_reachable_from_other_machines_is_not_served() {
    let house = ApiTestServer::new();
    for (address, token) in [("0.0.0.0:0", TOKEN), ("127.0.0.1:0", "")] {
        let listener = std::net::TcpListener::bind(address).unwrap();
        let served = house.runtime.block_on(house.server.serve_tcp(listener, token));
        assert_eq!(served.unwrap_err().kind(), std::io::ErrorKind::InvalidInput, "{address}");
    }
}

#[test]
fn a_socket_is_private_to_its_owner() {
    let house = ApiTestServer::new();
    let mode = std::fs::symlink_metadata(house.socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    assert!(matches!(bind_local(&house.socket()), Err(BindError::InUse(_))));
    assert_eq!(house.raw(&get("/v1/status", "")).status, 200);
}

#[test]
fn no_socket_is_made_where_others_could_put_theirs() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, is_safe) in [(0o777, false), (0o770, false), (0o757, false), (0o755, true), (0o700, true)] {
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        let bound = bind_local(&folder.path().join("socket"));
        assert_eq!(bound.is_ok(), is_safe, "{mode:o}: {bound:?}");
        assert!(is_safe || matches!(bound, Err(BindError::UnsafeFolder { .. })));
    }
    let link = folder.path().join("link");
    symlink(folder.path(), &link).unwrap();
    assert!(matches!(bind_local(&link.join("socket")), Err(BindError::UnsafeFolder { .. })));
    assert!(matches!(bind_local(&folder.path().join("no/socket")), Err(BindError::UnsafeFolder { .. })));
}

#[test]
fn only_a_stale_socket_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    drop(bind_local(&at("left")).unwrap());
    assert!(at("left").exists());
    drop(bind_local(&at("left")).unwrap());
    std::fs::write(at("file"), "precious").unwrap();
    symlink(at("left"), at("link")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    for name in ["file", "link", "dangling"] {
        assert!(matches!(bind_local(&at(name)), Err(BindError::Occupied(_))), "{name}");
    }
    assert_eq!(std::fs::read_to_string(at("file")).unwrap(), "precious");
    assert!(!at("nowhere").exists());
    assert!(matches!(bind_local(&at(&"x".repeat(120))), Err(BindError::TooLong(_))));
}
