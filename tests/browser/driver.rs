//! Starts a browser under the control of its driver, and has what each test does with a page.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use fantoccini::actions::{InputSource as _, KeyAction, KeyActions};
use fantoccini::elements::Element;
use fantoccini::error::{CmdError, ErrorStatus};
use fantoccini::key::Key;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The time after which something that a page should show counts as missing.
const DEADLINE: Duration = Duration::from_secs(20);

/// A browser with one window, and the driver that controls it. Both end with the value.
pub(crate) struct Browser {
    client: Client,
    _driver: Driver,
    _profile: TempDir,
}

fn is_click_intercepted(error: &CmdError) -> bool {
    matches!(error, CmdError::Standard(error) if error.error == ErrorStatus::ElementClickIntercepted)
}

/// The process of a driver, killed with its browser when it is dropped.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A kind of browser, with the program that drives it.
enum Kind {
    Chromium(PathBuf),
    Firefox(PathBuf),
}

impl Browser {
    /// Starts a headless browser with a large window.
    pub(crate) async fn start() -> Self {
        Self::start_with(Kind::of_environment(), None).await
    }

    /// Starts a headless browser whose page has this size in CSS pixels, also fewer than a window can have; `None` for
    /// Firefox, whose driver makes no page smaller than a window.
    pub(crate) async fn start_of_size(width: u32, height: u32) -> Option<Self> {
        match Kind::of_environment() {
            Kind::Firefox(_) => None,
            chromium @ Kind::Chromium(_) => Some(Self::start_with(chromium, Some((width, height))).await),
        }
    }

    async fn start_with(kind: Kind, size: Option<(u32, u32)>) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let (mut command, capabilities) = match kind {
            Kind::Chromium(driver) => {
                let mut command = Command::new(driver);
                command.args(["--port=0", "--log-level=SEVERE"]);
                (command, Self::chromium(size, &profile))
            }
            Kind::Firefox(driver) => {
                let mut command = Command::new(driver);
                command.args(["--port=0", "--profile-root"]).arg(profile.path());
                (command, Self::firefox())
            }
        };
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser's driver starts");
        let port = port_of(&mut child);
        let driver = Driver(child);
        let Value::Object(capabilities) = capabilities else { unreachable!("both are objects") };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("the driver starts a browser");
        Self { client, _driver: driver, _profile: profile }
    }

    fn chromium(size: Option<(u32, u32)>, profile: &TempDir) -> Value {
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1440,900",
            &format!("--user-data-dir={}", profile.path().display()),
        ]
        .map(str::to_owned);
        let mut options = json!({"args": arguments});
        if let Some((width, height)) = size {
            let metrics =
                json!({"width": width, "height": height, "pixelRatio": 1, "mobile": false, "touch": false});
            options["mobileEmulation"] = json!({"deviceMetrics": metrics});
        }
        json!({
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        })
    }

    fn firefox() -> Value {
        json!({
            "browserName": "firefox",
            "moz:firefoxOptions": {"args": ["-headless", "--width=1440", "--height=900"]},
        })
    }

    pub(crate) async fn open(&self, url: &str) {
        self.client.goto(url).await.unwrap();
    }

    /// Opens an address in another tab, and comes back to this one.
    pub(crate) async fn open_in_other_tab(&self, url: &str) {
        let here = self.client.window().await.unwrap();
        let other = self.client.new_window(true).await.unwrap();
        self.client.switch_to_window(other.handle).await.unwrap();
        self.open(url).await;
        self.find(".file").await;
        self.client.switch_to_window(here).await.unwrap();
    }

    /// Waits for an element, and returns it.
    pub(crate) async fn find(&self, selector: &str) -> Element {
        match self.client.wait().at_most(DEADLINE).for_element(Locator::Css(selector)).await {
            Ok(element) => element,
            Err(error) => panic!("{selector}: {error}\n{}", self.text("body").await),
        }
    }

    pub(crate) async fn click(&self, selector: &str) {
        let began = Instant::now();
        loop {
            match self.find(selector).await.click().await {
                Ok(()) => return,
                // The page has replaced it since it was found, or something else has moved to where it was.
                Err(error)
                    if began.elapsed() < DEADLINE
                        && (error.is_stale_element_reference() || is_click_intercepted(&error)) => {}
                Err(error) => panic!("{selector}: {error}"),
            }
        }
    }

    /// Replaces what a field has, and leaves it by Enter, as by typing.
    pub(crate) async fn fill(&self, selector: &str, text: &str) {
        self.click(selector).await;
        self.press_with(&[Key::Control], &['a']).await;
        self.press(&[char::from(Key::Delete)]).await;
        self.press(&text.chars().chain([char::from(Key::Enter)]).collect::<Vec<_>>()).await;
    }

    /// Returns the rendered text of an element.
    pub(crate) async fn text(&self, selector: &str) -> String {
        loop {
            let element = self.client.find(Locator::Css(selector)).await.unwrap();
            match element.text().await {
                Ok(text) => return text,
                Err(error) if error.is_stale_element_reference() => {}
                Err(error) => panic!("{selector}: {error}"),
            }
        }
    }

    /// Runs the body of a function in the page, and returns its value.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap()
    }

    /// Waits until an expression in the page is true; one that fails, as by an element that is not there yet, is not.
    pub(crate) async fn wait_until(&self, expression: &str) {
        let tries = DEADLINE.as_millis() / 50;
        for _ in 0..tries {
            let script = format!("try {{ return Boolean({expression}) }} catch {{ return false }}");
            if self.run(&script).await == json!(true) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("never true: {expression}\n{}", self.text("body").await);
    }

    /// Presses keys one after the other, wherever the focus is.
    pub(crate) async fn press(&self, keys: &[char]) {
        self.press_with(&[], keys).await;
    }

    /// Presses keys one after the other while others are held down.
    pub(crate) async fn press_with(&self, held: &[Key], keys: &[char]) {
        let mut actions = KeyActions::new("keyboard".to_owned());
        for key in held {
            actions = actions.then(KeyAction::Down { value: char::from(*key) });
        }
        for key in keys {
            actions = actions.then(KeyAction::Down { value: *key }).then(KeyAction::Up { value: *key });
        }
        for key in held {
            actions = actions.then(KeyAction::Up { value: char::from(*key) });
        }
        self.client.perform_actions(actions).await.unwrap();
    }

    /// Ends the browser.
    pub(crate) async fn close(&self) {
        self.client.clone().close().await.unwrap();
    }
}

impl Kind {
    /// Returns Firefox if its driver is named, and else Chromium.
    fn of_environment() -> Self {
        if let Some(named) = env::var_os("SLOP_GECKODRIVER") {
            return Self::Firefox(named.into());
        }
        if let Some(named) = env::var_os("SLOP_CHROMEDRIVER") {
            return Self::Chromium(named.into());
        }
        let folders = env::var_os("PATH").unwrap_or_default();
        let found =
            env::split_paths(&folders).map(|folder| folder.join("chromedriver")).find(|path| path.is_file());
        let missing = "no chromedriver: apt-get install chromium chromium-driver, or set SLOP_CHROMEDRIVER";
        Self::Chromium(found.expect(missing))
    }
}

/// Returns the port that a driver has chosen, as it prints it.
fn port_of(child: &mut Child) -> u16 {
    let mut lines = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
    let port = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| {
            let (_, end) = line
                .rsplit_once("started successfully on port ")
                .or_else(|| line.rsplit_once("Listening on 127.0.0.1:"))?;
            end.trim_end_matches('.').parse().ok()
        })
        .expect("a driver prints its port");
    // The rest is read, so that the driver never waits for a full pipe.
    thread::spawn(move || lines.for_each(drop));
    port
}
