//! A separate project for each test, in which the program runs isolated from the user's environment.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use serde_json::Value;
use tempfile::TempDir;

/// The time after which a test counts as hanging.
const DEADLINE: Duration = Duration::from_mins(2);

/// The user's key for caches, so that tests can write to them as the program does.
pub(crate) const CACHE_KEY: [u8; 32] = [7; 32];

/// A project and a home folder that are deleted after the test.
pub(crate) struct Sandbox {
    folder: TempDir,
}

/// The result of a run of the program.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Sandbox {
    /// Returns an empty project outside of any checkout.
    pub(crate) fn new() -> Self {
        let sandbox = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["project", "home", "config"] {
            fs::create_dir(sandbox.outside(folder)).unwrap();
        }
        let key = sandbox.cache_key();
        fs::create_dir_all(key.parent().unwrap()).unwrap();
        fs::write(&key, CACHE_KEY).unwrap();
        fs::set_permissions(key, fs::Permissions::from_mode(0o600)).unwrap();
        sandbox
    }

    /// Returns the file of the user's key for caches.
    pub(crate) fn cache_key(&self) -> PathBuf {
        self.outside("home/.local/state/slop/cache.key")
    }

    /// Returns a git repository without commits.
    pub(crate) fn repo() -> Self {
        let sandbox = Self::new();
        sandbox.git(&["init", "-q", "-b", "main"]);
        sandbox
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.outside("project")
    }

    /// Returns a path outside of the project, next to it.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn path(&self, below: impl AsRef<[u8]>) -> PathBuf {
        self.root().join(OsStr::from_bytes(below.as_ref()))
    }

    /// Writes a file, keeping its inode if it exists, and creates its folders.
    pub(crate) fn write(&self, file: impl AsRef<[u8]>, bytes: impl AsRef<[u8]>) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Replaces a file's bytes by others of the same size and restores its modification time.
    #[track_caller]
    pub(crate) fn edit_keeping_mtime(&self, file: &str, text: &str) {
        let path = self.path(file);
        let before = fs::metadata(&path).unwrap();
        assert_eq!(before.len(), text.len() as u64);
        fs::write(&path, text).unwrap();
        let times = fs::FileTimes::new().set_modified(before.modified().unwrap());
        fs::File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
    }

    /// Writes the user's own settings file.
    pub(crate) fn write_user_settings(&self, text: &str) {
        let folder = self.outside("config/slop");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    pub(crate) fn commit_all(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// Runs git in the project and returns its output.
    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> Vec<u8> {
        self.git_in(&self.root(), arguments)
    }

    #[track_caller]
    pub(crate) fn git_in(&self, folder: &Path, arguments: &[&str]) -> Vec<u8> {
        let ran = self.prepare(Command::new("git")).args(arguments).current_dir(folder).output().unwrap();
        assert!(ran.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
        ran.stdout
    }

    /// Returns the command with these arguments, in the project's folder.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = self.prepare(Command::new(env!("CARGO_BIN_EXE_slop")));
        command.args(arguments).current_dir(self.root());
        command
    }

    /// Returns a shell script in the project's folder, in which `$SLOP` is the program.
    pub(crate) fn script(&self, script: &str) -> Command {
        let mut command = self.prepare(Command::new("sh"));
        command.args(["-c", script]).current_dir(self.root()).env("SLOP", env!("CARGO_BIN_EXE_slop"));
        command
    }

    /// Runs the program in the project's folder.
    #[track_caller]
    pub(crate) fn slop<S: AsRef<OsStr>>(&self, arguments: &[S]) -> CommandOutput {
        run(self.command(arguments))
    }

    /// Runs the program in a folder of the project.
    #[track_caller]
    pub(crate) fn slop_in(&self, folder: &str, arguments: &[&str]) -> CommandOutput {
        let mut command = self.command(arguments);
        command.current_dir(self.path(folder));
        run(command)
    }

    /// Runs the program, which must succeed, and returns its output.
    #[track_caller]
    pub(crate) fn stdout_of(&self, arguments: &[&str]) -> String {
        let ran = self.slop(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran.out
    }

    /// Runs the program with `--json`, which must succeed, and returns the data in the envelope.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        data(&self.stdout_of(&[arguments, &["--json"]].concat()))
    }

    /// Aggregates to standard output with these flags and returns the data in the envelope, including the receipt.
    #[track_caller]
    pub(crate) fn aggregate_json(&self, flags: &[&str]) -> Value {
        self.json(&[&["aggregate", "--stdout"], flags].concat())
    }

    /// Runs the program and returns its lines of JSON, one per file.
    #[track_caller]
    pub(crate) fn json_lines(&self, arguments: &[&str]) -> Vec<Value> {
        let out = self.stdout_of(&[arguments, &["--json"]].concat());
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns every file in `slop status`: path, and state or reason.
    #[track_caller]
    pub(crate) fn status(&self) -> Vec<(String, String)> {
        let data = self.json(&["status"]);
        let word = |file: &Value| file["reason"].as_str().or(file["state"].as_str()).unwrap().to_owned();
        list(&data["files"]).map(|file| (text(&file["path"]), word(file))).collect()
    }

    /// Returns all names in the project, with the bytes of each file, except git's own folder and
    /// the cache.
    pub(crate) fn tree(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        collect(&self.root(), &mut found);
        found.sort();
        found
    }

    fn prepare(&self, mut command: Command) -> Command {
        command.env_clear();
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.env("HOME", self.outside("home")).env("XDG_CONFIG_HOME", self.outside("config"));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.env("COLUMNS", "100").env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "a").env(format!("GIT_{role}_EMAIL"), "a@b");
            command.env(format!("GIT_{role}_DATE"), "2026-01-02T03:04:05Z");
        }
        // The tests' submodules are local folders, which git does not allow by default.
        command.env("GIT_CONFIG_COUNT", "1");
        command.env("GIT_CONFIG_KEY_0", "protocol.file.allow").env("GIT_CONFIG_VALUE_0", "always");
        command
    }
}

/// Runs a command to completion and fails the test if it hangs.
#[track_caller]
pub(crate) fn run(mut command: Command) -> CommandOutput {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let words = format!("{command:?}");
    let (sender, output) = mpsc::channel::<io::Result<Output>>();
    thread::spawn(move || sender.send(command.output()));
    let output = output.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("hangs: {words}")).unwrap();
    CommandOutput::from_output(&output)
}

/// Waits until a condition holds, and fails if it does not within a minute.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !condition() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reports that a test was skipped, bypassing the test runner's capture.
pub(crate) fn report_skipped(why: &str) {
    let _ = writeln!(io::stderr(), "SKIPPED: {why}");
}

impl CommandOutput {
    pub(crate) fn from_output(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout.clone()).expect("what slop prints is UTF-8"),
            err: String::from_utf8(output.stderr.clone()).expect("slop's messages are UTF-8"),
        }
    }

    /// Checks that the run failed with a code and printed each of these texts to standard error only.
    #[track_caller]
    pub(crate) fn assert_fails(&self, code: i32, words: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "no `{word}` in {}", self.err);
        }
    }
}

/// Returns the data in an envelope.
#[track_caller]
pub(crate) fn data(out: &str) -> Value {
    let mut envelope: Value = serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"));
    assert_eq!(envelope["schema_version"], 1);
    envelope["data"].take()
}

#[track_caller]
pub(crate) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}")).iter()
}

#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

#[track_caller]
pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// Returns the text under a key of each value.
#[track_caller]
pub(crate) fn texts(values: &Value, key: &str) -> Vec<String> {
    list(values).map(|value| text(&value[key])).collect()
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if name == ".git" || name == ".slop_cache" {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), found);
        }
        let bytes =
            if entry.file_type().unwrap().is_file() { fs::read(entry.path()).unwrap() } else { vec![] };
        found.push((entry.path(), bytes));
    }
}
