//! Tests of the web page in a real browser:
//! `cargo test --features browser-tests --test browser`.
//!
//! They run in Chromium, and need chromedriver on the PATH or in `SLOP_CHROMEDRIVER`; or in Firefox, if
//! `SLOP_GECKODRIVER` names a geckodriver. Without a driver they fail. Each test is what a person does with the page;
//! what it wrote is then read from the project's files.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test looks at real files and may stop"
)]

mod curating;
mod driver;
mod looking;
#[path = "../it/sandbox.rs"]
#[expect(dead_code, reason = "shared with the end-to-end tests, which use all of it")]
mod sandbox;
mod walking;

use std::net::TcpListener;

use driver::Browser;
use sandbox::Sandbox;

/// A project whose page is open in a browser. The daemon is stopped at the end.
struct OpenPage {
    sandbox: Sandbox,
    browser: Browser,
}

impl OpenPage {
    /// Opens the page of a small project.
    async fn new() -> Self {
        Self::with_settings("").await
    }

    /// Opens the page of a small project, whose user has these settings; `PORT` is a free port.
    async fn with_settings(settings: &str) -> Self {
        let sandbox = Sandbox::repo();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        sandbox.write_user_settings(&settings.replace("PORT", &port.to_string()));
        sandbox.write("a.py", "def one():\n    return 1\n");
        sandbox.write(
            "src/b.py",
            "class Two:\n    def run(self):\n        return 2\n\n    def stop(self):\n        pass\n",
        );
        sandbox.write("src/c.py", "def three():\n    return 3\n");
        sandbox.write("src/deep/d.py", "def four():\n    return 4\n");
        let page = Self::of(sandbox).await;
        page.browser.wait_until("document.querySelectorAll('.file').length === 4").await;
        page
    }

    /// Opens the page of a project, whose files are committed.
    async fn of(sandbox: Sandbox) -> Self {
        Self::of_in(sandbox, Browser::start().await).await
    }

    /// Opens the page of a project in a browser.
    async fn of_in(sandbox: Sandbox, browser: Browser) -> Self {
        sandbox.commit_all("one");
        let page = Self { sandbox, browser };
        page.browser.open(&page.ticket()).await;
        page.browser.find(".file").await;
        page
    }

    /// Returns an address that opens the page once.
    fn ticket(&self) -> String {
        self.sandbox.stdout_of(&["ui", "--print"]).trim().to_owned()
    }

    /// Returns the settings of the project; empty if there are none.
    fn settings(&self) -> String {
        std::fs::read_to_string(self.sandbox.path("slop.toml")).unwrap_or_default()
    }

    /// Waits until the settings of the project are as they should be: the page shows an edit before it is written.
    async fn settings_until(&self, is_right: impl Fn(&str) -> bool) -> String {
        for _ in 0..200 {
            let settings = self.settings();
            if is_right(&settings) {
                return settings;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("slop.toml stays {}", self.settings());
    }

    /// Ends the session, and checks that the browser had nothing to complain about.
    async fn close(self) {
        let complaints = self.browser.run("return window.complaints ?? []").await;
        assert_eq!(complaints, serde_json::json!([]));
        self.browser.close().await;
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        let _ = self.sandbox.slop(&["daemon", "stop"]);
    }
}
