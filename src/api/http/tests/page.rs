//! The web page's port: access control and security headers.

use super::*;
use std::borrow::Cow;

use crate::model::PageFile;

pub(super) const FILES: &[PageFile] = &[
    PageFile {
        name: "index.html",
        content_type: "text/html",
        text: Cow::Borrowed("<script src=\"./main.js\"></script>"),
    },
    PageFile {
        name: "main.js",
        content_type: "text/javascript",
        text: Cow::Borrowed("import \"./api.js\";"),
    },
];

/// A server with an open page, and a session on it.
struct PageTestServer {
    house: ApiTestServer,
    /// The host and port of the page.
    host: String,
    ticket: String,
}

impl PageTestServer {
    fn new() -> Self {
        let house = ApiTestServer::new();
        let (host, ticket) = new_ticket(&house);
        Self { house, host, ticket }
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> HttpExchange {
        let host = &self.host;
        self.send_as(host, method, path, headers, body)
    }

    fn send_as(&self, host: &str, method: &str, path: &str, headers: &str, body: &str) -> HttpExchange {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n\
             {headers}\r\n{body}"
        );
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        exchange(stream, &request)
    }

    fn redeem(&self, ticket: &str) -> HttpExchange {
        let body = json!({"ticket": ticket}).to_string();
        self.send("POST", "/ui/session", "content-type: application/json\r\n", &body)
    }

    fn authorization(&self) -> String {
        let token = self.redeem(&self.ticket).json()["data"]["token"].as_str().unwrap().to_owned();
        format!("authorization: Bearer {token}\r\n")
    }

    fn status(&self, headers: &str) -> u16 {
        self.send("GET", "/v1/status", headers, "").status
    }
}

fn new_ticket(house: &ApiTestServer) -> (String, String) {
    let answer = house.post("/v1/ui/ticket", "", "").json();
    assert_eq!(answer["data"]["expires_in_s"], 60);
    let url = answer["data"]["url"].as_str().unwrap().strip_prefix("http://").unwrap();
    let (host, ticket) = url.split_once("/#").unwrap();
    (host.to_owned(), ticket.to_owned())
}

#[test]
fn tickets_are_given_on_the_socket_alone_and_all_for_one_port() {
    let page = PageTestServer::new();
    let (host, ticket) = new_ticket(&page.house);
    assert_eq!((&host, ticket.len()), (&page.host, 64));
    assert_ne!(ticket, page.ticket);
    let ask = post("/v1/ui/ticket", &format!("authorization: Bearer {TOKEN}\r\n"), "");
    let refused = page.house.raw_tcp(&ask.replace("localhost", &format!("127.0.0.1:{}", page.house.port)));
    assert_eq!((refused.status, refused.code().as_str()), (403, "forbidden"));
    let refused = page.send("POST", "/v1/ui/ticket", &page.authorization(), "");
    assert_eq!((refused.status, refused.code().as_str()), (403, "forbidden"));
}

#[test]
fn a_ticket_opens_one_session_and_ends_it_when_it_is_shown_again() {
    let page = PageTestServer::new();
    assert_eq!(page.status(""), 401);
    let authorization = page.authorization();
    assert_eq!(page.status(&authorization), 200);
    // Neither the ticket nor the token of the API's port is accepted as a session token.
    for wrong in [&page.ticket, TOKEN] {
        assert_eq!(page.status(&format!("authorization: Bearer {wrong}\r\n")), 401);
    }
    let again = page.redeem(&page.ticket);
    assert_eq!((again.status, again.code().as_str()), (403, "used_ticket"));
    assert_eq!(page.status(&authorization), 401);
    assert_eq!((page.redeem("x").status, page.redeem("x").code().as_str()), (403, "unknown_ticket"));
    let other = PageTestServer::new();
    assert_eq!(page.redeem(&other.ticket).code(), "unknown_ticket");
}

#[test]
fn the_page_answers_no_page_but_itself() {
    let page = PageTestServer::new();
    let authorization = page.authorization();
    let ours = &page.host;
    let port = ours.rsplit_once(':').unwrap().1;
    for (origin, status) in [
        (format!("http://{ours}"), 200),
        (format!("https://{ours}"), 403),
        (format!("http://{ours}0"), 403),
        (format!("http://localhost:{port}"), 403),
        (format!("http://127.0.0.1:{}", page.house.port), 403),
        ("http://127.0.0.1".to_owned(), 403),
        ("http://evil.example".to_owned(), 403),
        ("null".to_owned(), 403),
        (String::new(), 403),
        (format!("http://{ours}\r\norigin: null"), 403),
    ] {
        assert_eq!(page.status(&format!("origin: {origin}\r\n{authorization}")), status, "{origin}");
    }
    for (site, status) in [("none", 200), ("same-origin", 200), ("same-site", 403), ("cross-site", 403)] {
        assert_eq!(page.status(&format!("sec-fetch-site: {site}\r\n{authorization}")), status, "{site}");
    }
    // A page whose name was rebound to this machine sends its own name, whatever it requests.
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1"] {
        for path in ["/", "/v1/status", "/ui/session"] {
            assert_eq!(page.send_as(host, "GET", path, &authorization, "").status, 421, "{host} {path}");
        }
    }
    assert_eq!(page.send("OPTIONS", "/v1/status", &authorization, "").status, 403);
    for path in ["/v1/stop", "/v1/index", "/ui/session"] {
        let form = format!("content-type: text/plain\r\n{authorization}");
        assert_eq!(page.send("POST", path, &form, "{}").status, 415, "{path}");
    }
    assert_eq!(page.house.fake.asked(), []);
}

#[test]
fn only_files_of_the_page_are_cached_forever() {
    let page = PageTestServer::new();
    let index = page.send("GET", "/", "", "");
    let (_, rest) = index.body.split_once("src=\"").unwrap();
    let main = rest.split_once('"').unwrap().0;
    assert!(main.starts_with("/ui/") && main.ends_with("/main.js"), "{main}");
    let script = page.send("GET", main, "", "");
    assert_eq!((script.status, script.body.as_str()), (200, &*FILES[1].text));
    assert!(script.head.contains("cache-control: public, max-age=31536000, immutable"), "{}", script.head);
    for answer in [&index, &page.send("GET", "/v1/status", &page.authorization(), "")] {
        assert!(answer.head.contains("cache-control: no-store"), "{}", answer.head);
    }
    // Responses without a token disclose nothing about the project and its settings.
    for open in [&index, &script, &page.redeem("x")] {
        assert!(!open.head.contains("slop-"), "{}", open.head);
    }
    for path in ["/main.js", "/ui/0000000000000000/main.js", "/index.html/", "/ui/", "/../Cargo.toml"] {
        assert_eq!(page.send("GET", path, "", "").status, 404, "{path}");
    }
    assert_eq!(page.send("POST", "/", "content-type: application/json\r\n", "").status, 405);
    assert_eq!(page.send("GET", "/ui/session", "", "").status, 405);
}

#[test]
fn every_answer_of_the_page_has_security_headers() {
    let page = PageTestServer::new();
    let authorization = page.authorization();
    for (path, headers, status) in
        [("/", "", 200), ("/nowhere", "", 404), ("/v1/status", &*authorization, 200), ("/v1/status", "", 401)]
    {
        let answer = page.send("GET", path, headers, "");
        assert_eq!(answer.status, status, "{path}");
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; worker-src 'self'; \
             connect-src 'self'; img-src 'self' blob:; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types worker",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
            "referrer-policy: no-referrer",
            "x-content-type-options: nosniff",
        ] {
            assert!(answer.head.contains(header), "{header}: {}", answer.head);
        }
        assert!(!answer.head.contains("access-control") && !answer.head.contains("set-cookie"), "{path}");
    }
}

#[test]
fn long_answers_are_compressed_if_accepted() {
    let page = PageTestServer::new();
    let headers = format!("content-type: application/json\r\n{}", page.authorization());
    let ask = |accept: &str, name: &str| {
        let body = json!({"name": name}).to_string();
        page.send("POST", "/v1/symbols", &format!("{accept}{headers}"), &body).head
    };
    // The body is not text, so only the head is read here; the browser tests read both.
    assert!(!ask("", &"x".repeat(2000)).contains("content-encoding"));
    assert!(!ask("accept-encoding: gzip;q=0, br\r\n", &"x".repeat(2000)).contains("content-encoding"));
    assert!(!ask("accept-encoding: gzip\r\n", "short").contains("content-encoding"));
}

#[test]
fn the_port_is_open_only_from_the_first_ticket_until_the_server_stops() {
    let page = PageTestServer::new();
    assert!(TcpStream::connect(&page.host).is_ok());
    page.house.server.stop();
    let end = std::time::Instant::now() + DEADLINE;
    while TcpStream::connect(&page.host).is_ok() {
        assert!(std::time::Instant::now() < end, "the port is still open");
        std::thread::sleep(Duration::from_millis(5));
    }
}
