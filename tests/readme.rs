//! Checks the documentation against the program.
//!
//! `UPDATE_EXPECT=1 cargo test --test readme` updates the outputs on all pages with commands, the picture
//! docs/terminal.svg and the page docs/settings.md; read the diff afterwards.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test runs the program on real files and may stop"
)]

#[path = "readme/links.rs"]
mod links;
#[path = "readme/terminal.rs"]
mod terminal;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use expect_test::expect_file;
use tempfile::TempDir;

/// The pages whose commands are run. The page on the API uses curl, that on orchestrators Python.
const PAGES: [&str; 9] = [
    "README.md",
    "docs/agent.md",
    "docs/api.md",
    "docs/commands.md",
    "docs/curation.md",
    "docs/documents.md",
    "docs/freshness.md",
    "docs/linked-folders.md",
    "docs/orchestrator.md",
];

/// The commands in the picture of a terminal that README.md shows.
const SESSION: [&str; 4] = [
    "slop outline weather/report.py",
    "slop view weather/report.py --mode skeleton | tail -n 13",
    "slop symbol to_json",
    "slop explain src/ring.c --tier 3 --focus report.py | tail -n 3",
];

#[test]
fn every_command_on_a_page_prints_the_output_below_it() {
    for name in PAGES {
        let sandbox = ReaderSandbox::new();
        let is_missing = |program: &&&str| {
            page(name).contains(&format!("$ {program} "))
                && sandbox.run(&format!("command -v {program}")).is_empty()
        };
        if let Some(program) = ["curl", "python3"].iter().find(is_missing) {
            // Written directly to standard error, because the test runner captures the output of passing tests.
            let _ = writeln!(io::stderr(), "SKIPPED: no {program} to run the commands of {name} with");
            continue;
        }
        let rebuilt = with_outputs(&page(name), |command| sandbox.run(command));
        expect_file![root().join(name)].assert_eq(&rebuilt);
    }
}

#[test]
fn no_other_page_has_commands() {
    for name in documentation() {
        assert!(PAGES.contains(&&*name) || !page(&name).contains("```console\n"), "{name}");
    }
}

#[test]
fn the_picture_of_a_terminal_shows_what_the_commands_print() {
    let sandbox = ReaderSandbox::new();
    let session = SESSION.map(|command| {
        let (program, rest) = command.split_once(' ').unwrap();
        (command, sandbox.run(&format!("{program} --color always {rest}")))
    });
    let picture = terminal::svg("slop in a terminal", &session);
    expect_file![root().join("docs/terminal.svg")].assert_eq(&picture);
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    for name in documentation() {
        let folder = Path::new(&name).parent().unwrap();
        for link in links::internal(&page(&name)) {
            let (path, heading) = link.split_once('#').map_or((&*link, None), |(path, id)| (path, Some(id)));
            let path = if path.is_empty() { root().join(&name) } else { root().join(folder).join(path) };
            assert!(path.exists(), "{name}: {link}");
            let Some(heading) = heading else { continue };
            let ids = links::heading_ids(&fs::read_to_string(path).unwrap());
            assert!(ids.iter().any(|id| id == heading), "{name}: {link}");
        }
    }
}

#[test]
fn the_index_of_the_documentation_links_every_page() {
    let linked = links::internal(&page("docs/README.md"));
    for name in documentation() {
        if let Some(name) = name.strip_prefix("docs/").filter(|name| *name != "README.md") {
            assert!(linked.iter().any(|link| link == name), "docs/README.md does not link {name}");
        }
    }
}

/// Keeps the tables of docs/reliability.md and docs/security.md from naming tests that no longer exist.
#[test]
fn the_pages_on_reliability_and_security_name_existing_tests() {
    let page = page("docs/reliability.md") + &page("docs/security.md");
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let named: BTreeSet<&str> =
        rows.flat_map(|row| row.split('`')).filter(|word| word.contains("::")).collect();
    assert!(50 < named.len());
    let tests = TestSources::read();
    let missing: Vec<&str> = named.into_iter().filter(|name| !tests.have(name)).collect();
    assert_eq!(missing, [""; 0]);
}

/// The patches are applied only at night; this keeps them from rotting until then.
#[test]
fn every_mutant_applies_and_names_existing_tests() {
    let tests = TestSources::read();
    let entries = fs::read_dir(root().join("tests/mutants")).unwrap().map(|entry| entry.unwrap().path());
    let patches: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "patch")).collect();
    assert!(10 < patches.len());
    for patch in patches {
        let output =
            Command::new("git").args(["apply", "--check"]).arg(&patch).current_dir(root()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for line in fs::read_to_string(&patch).unwrap().lines().filter(|line| line.starts_with("Killed-by: "))
        {
            let name = line.rsplit(' ').next().unwrap();
            assert!(tests.have(name), "there is no `{name}`");
        }
    }
}

/// The sources that have tests, by the paths of their modules.
struct TestSources(Vec<(String, String)>);

impl TestSources {
    fn read() -> Self {
        let mut found = Self(Vec::new());
        for folder in ["src", "tests/it", "tests/browser"] {
            found.collect(&root().join(folder), "");
        }
        found
    }

    fn collect(&mut self, folder: &Path, module: &str) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let inner = format!("{module}::{}", path.file_stem().unwrap().to_str().unwrap());
            if path.is_dir() {
                self.collect(&path, &inner);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let module = inner.strip_suffix("::mod").unwrap_or(&inner).to_owned();
                self.0.push((module, fs::read_to_string(path).unwrap()));
            }
        }
    }

    /// Returns whether there is a test of that name in its module, whose path may lack its beginning.
    fn have(&self, name: &str) -> bool {
        let (module, test) = name.rsplit_once("::").unwrap();
        // The module of tests may be within the file that it tests.
        let outer = module.rsplit_once("::").filter(|(_, inner)| inner.ends_with("tests"));
        let modules = [Some(module), outer.map(|(outer, _)| outer)];
        let is_its_module =
            |path: &str| modules.iter().flatten().any(|module| path.ends_with(&format!("::{module}")));
        self.0.iter().any(|(path, text)| is_its_module(path) && text.contains(&format!("fn {test}(")))
    }
}

#[test]
fn ci_runs_the_first_commands_of_the_readme() {
    let ci = page(".ci/run");
    let first = shell_lines(&page("README.md"), "`cargo install");
    assert_eq!(first.len(), 2);
    for command in first {
        assert!(ci.lines().any(|line| line.starts_with(&command)), "`{command}` is not in .ci/run");
    }
}

#[test]
fn contributing_lists_the_commands_of_ci() {
    let said = shell_lines(&page("CONTRIBUTING.md"), "## Recipes");
    let ci = page(".ci/run");
    let run: Vec<&str> =
        ci.lines().filter(|line| line.contains("cargo ") && !line.starts_with(' ')).collect();
    assert!(4 <= run.len());
    for line in run {
        assert!(said.iter().any(|command| line.starts_with(command.as_str())), "`{line}` is not said");
    }
}

#[test]
fn the_page_of_settings_is_generated_from_the_defaults() {
    expect_file![root().join("docs/settings.md")].assert_eq(&slop::internals::config::settings_reference());
}

/// The paths of all Markdown files at the top of the repository and in `docs`.
fn documentation() -> Vec<String> {
    let mut names = Vec::new();
    for folder in ["", "docs/"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if Path::new(&name).extension().is_some_and(|extension| extension == "md") {
                names.push(format!("{folder}{name}"));
            }
        }
    }
    assert!(10 < names.len());
    names
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// Returns a page with the output of each command replaced by what `run` returns.
fn with_outputs(page: &str, run: impl Fn(&str) -> String) -> String {
    let mut rebuilt = String::new();
    let mut lines = page.split_inclusive('\n').peekable();
    let mut fence = None;
    while let Some(line) = lines.next() {
        rebuilt.push_str(line);
        match (&fence, line.strip_prefix("$ ")) {
            // A document contains fences, so the fence around it may be longer.
            (None, _) => fence = line.strip_suffix("console\n").filter(|fence| fence.starts_with("```")),
            (Some(end), _) if line.trim_end() == *end => fence = None,
            (Some(_), None) => {}
            (Some(end), Some(command)) => {
                let mut written = String::new();
                while let Some(line) =
                    lines.next_if(|line| line.trim_end() != *end && !line.starts_with("$ "))
                {
                    written.push_str(line);
                }
                let printed = run(command.trim_end());
                let is_same = without_times(&printed) == without_times(&written);
                rebuilt.push_str(if is_same { &written } else { &printed });
            }
        }
    }
    rebuilt
}

/// Removes what differs between runs: durations, as in `; 12 ms` at the end of a line, and before it the number of
/// files that `slop index` read, because files that were written a moment ago are read once more.
fn without_times(output: &str) -> String {
    let without = |line: &str| match line.rsplit_once("; ") {
        Some((before, time)) if time.ends_with(" ms") || time.ends_with(" s") => {
            let read = before.rsplit_once("; ").filter(|(_, counts)| counts.contains(" read, "));
            read.map_or(before, |(before, _)| before).to_owned()
        }
        Some(_) | None => line.to_owned(),
    };
    output.lines().map(without).collect::<Vec<_>>().join("\n")
}

/// Returns the commands in the `sh` blocks before `heading`, without comments.
fn shell_lines(page: &str, heading: &str) -> Vec<String> {
    let before = page.split_once(heading).unwrap().0;
    let blocks = before.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let lines = blocks.flat_map(|(block, _)| block.lines());
    lines.map(|line| line.split(" #").next().unwrap().trim_end().to_owned()).collect()
}

/// A home folder with a copy of the sample project.
struct ReaderSandbox {
    home: TempDir,
}

impl ReaderSandbox {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        copy(&root().join("tests/fixtures/sample"), &home.path().join("station"));
        copy(&root().join("examples"), &home.path().join("examples"));
        Self { home }
    }

    /// Runs a command in a shell as a reader would, and returns its output.
    fn run(&self, command: &str) -> String {
        let programs = Path::new(env!("CARGO_BIN_EXE_slop")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let home = self.home.path().canonicalize().unwrap();
        let finished = Command::new("sh")
            .args(["-c", command])
            .current_dir(home.join("station"))
            .env_clear()
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("HOME", &home)
            .env("COLUMNS", "100")
            // The temporary folder may be inside a checkout.
            .env("GIT_CEILING_DIRECTORIES", &home)
            .output()
            .unwrap();
        let printed = [finished.stdout, finished.stderr].concat();
        String::from_utf8(printed).unwrap().replace(home.to_str().unwrap(), "/home/you")
    }
}

impl Drop for ReaderSandbox {
    /// Stops a daemon that a page started and did not stop.
    fn drop(&mut self) {
        if self.home.path().join("station/.slop_cache/daemon.sock").exists() {
            self.run("slop daemon stop");
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let from: PathBuf = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}
