//! Tests of the web page in a real Chromium: `cargo test --features browser-tests --test browser`.
//!
//! They need chromedriver on the PATH or in `SLOP_CHROMEDRIVER`, and fail without it.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test looks at real files and may stop"
)]

mod driver;
#[path = "../it/sandbox.rs"]
#[expect(dead_code, reason = "shared with the end-to-end tests, which use all of it")]
mod sandbox;

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_starts() {
    let browser = driver::Browser::start().await;
    browser.open("data:text/html,<p id=a>hello").await;
    assert_eq!(browser.text("#a").await, "hello");
    browser.close().await;
}
