#![expect(clippy::disallowed_methods, reason = "a test sets the scene, and looks at what became of it")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use expect_test::expect;

use super::agents::{AGENTS, CodingAgent};
use super::entry::{EntryKind, FileFormat, InstallScope};
use super::error::Error;
use super::places::InstallPlaces;
use super::plan::{FileChange, plan_install, plan_uninstall};
use super::record::{apply, installed_files};

/// A temporary home folder and project.
struct Machine {
    folder: tempfile::TempDir,
    top: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["home", "project"] {
            fs::create_dir(top.join(name)).unwrap();
        }
        Self { folder, top }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).unwrap()).unwrap()
    }

    fn with<T>(&self, work: impl FnOnce(&InstallPlaces<'_>) -> T) -> T {
        let (project, home) = (self.path("project"), self.path("home"));
        let records = self.path("home/.local/state/slop/installed");
        work(&InstallPlaces { project: &project, home: Some(&home), variable: &|_| None, records: &records })
    }

    fn plan(&self, names: &[&str], scope: InstallScope) -> Result<Vec<FileChange>, Error> {
        self.with(|places| plan_install(&agents(names), scope, "/bin/slop", places))
    }

    fn install(&self, names: &[&str], scope: InstallScope) {
        self.apply_all(&self.plan(names, scope).unwrap());
    }

    fn uninstall(&self, names: &[&str]) {
        self.apply_all(&self.plan_uninstall(names));
    }

    fn plan_uninstall(&self, names: &[&str]) -> Vec<FileChange> {
        let planned = self.with(|places| plan_uninstall(&agents(names), None, places)).unwrap();
        planned.into_iter().map(Result::unwrap).collect()
    }

    fn apply_all(&self, changes: &[FileChange]) {
        self.with(|places| changes.iter().for_each(|change| apply(change, places).unwrap()));
    }

    /// Returns all files and their bytes, except the records.
    fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true if path.ends_with(".local") => {}
                    true => {
                        found.push((path.clone(), Vec::new()));
                        folders.push(path);
                    }
                    false => found.push((path.clone(), fs::read(&path).unwrap())),
                }
            }
        }
        found.sort();
        found
    }
}

fn agents(names: &[&str]) -> Vec<&'static CodingAgent> {
    names.iter().map(|name| CodingAgent::named(name).unwrap()).collect()
}

/// Returns possible texts of a settings file, with other servers under these keys.
fn samples(format: FileFormat, keys: &[String]) -> Vec<String> {
    if format == FileFormat::Toml {
        let key = &keys[0];
        let commented = format!(
            "# mine\nmodel='x' # note\n\n[{key}.other]\n  command = \"y\"\n  # of other\n\n[[list]]\na = 1"
        );
        let inline = format!("{key} = {{ other = {{ command = 'y' }} }} # note\n[a]\nb = 1\n");
        return vec![
            commented.clone(),
            commented.replace('\n', "\r\n"),
            format!("\u{feff}{commented}"),
            inline,
        ];
    }
    let nested = |inner: &str, open: &str, close: &str| {
        keys[..keys.len() - 1]
            .iter()
            .rev()
            .fold(inner.to_owned(), |inner, key| format!("\"{key}\":{open}{{{inner}}}{close}"))
    };
    let tabs =
        nested("\n\t\t// mine\n\t\t\"other\": { \"command\": \"x\" }, // note\n\n\t", " ", ", /* end */");
    let tabs = format!("// settings\n{{\n\t\"theme\": \"dark\",\n\n\t{tabs}\n}}\n// end");
    let odd = format!(
        "{{ \"a\" : [1,\n2] ,\n   {}\n   }}",
        nested("\"other\":\n{\"command\":\"x\"} // no comma\n", "  ", "")
    );
    vec![
        tabs.replace('\n', "\r\n"),
        format!("\u{feff}{tabs}"),
        tabs,
        odd,
        format!("{{{}}}", nested("\"other\":{\"command\":\"x\"}", "", "")),
        format!("{{\n    {}\n}}\n", nested(" ", " ", "")),
        "{}".to_owned(),
        "{ \n}\n".to_owned(),
        "// nothing yet\n".to_owned(),
        String::new(),
    ]
}

#[test]
fn every_agent_gets_its_bytes_back() {
    for agent in AGENTS {
        let entries = agent.entries("/bin/slop");
        let (files, server) = &entries[0];
        for scope in [InstallScope::Project, InstallScope::User] {
            // The form is that of the agent, whatever the scope.
            let most = if scope == InstallScope::User { 2 } else { usize::MAX };
            for sample in samples(server.format, &server.keys).into_iter().take(most) {
                let machine = Machine::new();
                let Some(path) = machine.with(|places| places.file(files, scope)).unwrap() else { continue };
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, &sample).unwrap();
                let before = machine.snapshot();
                machine.install(&[agent.name], scope);
                let installed = fs::read_to_string(&path).unwrap();
                assert!(installed.contains("/bin/slop") && installed != sample, "{}: {sample}", agent.name);
                let is_kept = |word: &str| installed.contains(word.trim_end_matches(['}', ',']));
                assert!(sample.split_whitespace().all(is_kept), "{}:\n{sample}\n{installed}", agent.name);
                machine.install(&[agent.name], scope);
                assert_eq!(fs::read_to_string(&path).unwrap(), installed, "a second time");
                machine.uninstall(&[]);
                assert_eq!(machine.snapshot(), before, "{}: {sample}", agent.name);
            }
        }
    }
}

#[test]
fn files_and_folders_that_did_not_exist_are_deleted() {
    let names: Vec<&str> = AGENTS.iter().filter(|agent| agent.is_current).map(|agent| agent.name).collect();
    let machine = Machine::new();
    let before = machine.snapshot();
    for scope in [InstallScope::Project, InstallScope::User] {
        machine.install(&names, scope);
    }
    let written = machine.snapshot().len() - before.len();
    assert!(40 < written, "{written}");
    machine.uninstall(&[]);
    assert_eq!(machine.snapshot(), before);
}

#[test]
fn entries_look_like_those_around_them() {
    let machine = Machine::new();
    machine.write("project/.mcp.json", "{\n\t\"mcpServers\": {\n\t\t\"a\": {} // one\n\t}\n}\n");
    machine.write("project/.codex/config.toml", "model = \"x\"\n");
    machine.write("project/opencode.jsonc", "{\"mcp\": {\"servers\": {\"a\": 1}}}");
    machine.install(&["claude-code", "codex", "opencode"], InstallScope::Project);
    let read = |name: &str| machine.read(&format!("project/{name}"));
    let found = [read(".mcp.json"), read(".codex/config.toml"), read("opencode.jsonc")].join("--\n");
    expect![[r#"
        {
        	"mcpServers": {
        		"a": {}, // one
        		"slop": {
        			"args": ["mcp"],
        			"command": "/bin/slop"
        		}
        	}
        }
        --
        model = "x"

        [mcp_servers.slop]
        args = ["mcp"]
        command = "/bin/slop"
        --
        {"mcp": {"servers": {"a": 1, "slop": {"command": ["/bin/slop", "mcp"], "type": "local"}}}}"#]]
    .assert_eq(&found);
}

/// An edit by hand after slop's own.
type FileEdit = fn(&str) -> String;

#[test]
fn later_edits_are_kept() {
    let json = "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}\n";
    let toml = "[mcp_servers.a]\ncommand = \"x\"\n";
    let cases: &[(&str, &str, &str, FileEdit)] = &[
        ("claude-code", ".mcp.json", json, |text| text.replace("\"x\"", "\"y\" /* mine */")),
        ("claude-code", ".mcp.json", json, |text| format!("// mine\r\n{text}\n\n")),
        ("claude-code", ".mcp.json", "{\n\"z\": 1\n}", |text| text.replace("\"z\"", "\"y\": 0,\"z\"")),
        ("gemini", ".gemini/settings.json", "", |text| text.to_owned() + "\n// mine\n"),
        ("codex", ".codex/config.toml", toml, |text| format!("# mine\n{text}\n# of b\n[b]\nc = 1\n")),
        ("codex", ".codex/config.toml", "", |text| format!("{text}\n[b]\n")),
    ];
    for (agent, file, before, edit) in cases {
        let machine = Machine::new();
        let file = format!("project/{file}");
        machine.write(&file, before);
        machine.install(&[agent], InstallScope::Project);
        let edited = edit(&machine.read(&file));
        machine.write(&file, &edited);
        machine.uninstall(&[]);
        let left = machine.read(&file);
        assert!(!left.contains("slop"), "{left}");
        assert_eq!(left.trim(), edit(before).trim(), "{agent}: {before}");
    }
}

#[test]
fn a_server_added_after_that_of_slop_is_kept() {
    let machine = Machine::new();
    machine.write("project/.mcp.json", "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n");
    machine.install(&["claude-code"], InstallScope::Project);
    let text = machine.read("project/.mcp.json");
    let edited = text.replace("\n    }\n  }\n}", "\n    },\n    \"b\": {} // mine\n  }\n}");
    assert_ne!(text, edited);
    machine.write("project/.mcp.json", edited);
    machine.uninstall(&[]);
    let expected = "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"b\": {} // mine\n  }\n}\n";
    assert_eq!(machine.read("project/.mcp.json"), expected);
}

#[test]
fn a_server_of_the_users_own_is_neither_replaced_nor_removed() {
    for own in [
        "{\"mcpServers\": {\"slop\": {\"command\": \"mine\"}}}",
        "{\"mcpServers\": {\"slop\": {\"command\": \"/bin/slop\", \"args\": [\"mcp\"]}}}",
    ] {
        let machine = Machine::new();
        machine.write("project/.mcp.json", own);
        let changes = machine.plan(&["claude-code"], InstallScope::Project).unwrap();
        let change = changes.iter().find(|change| change.path.ends_with(".mcp.json")).unwrap();
        assert_eq!(change.kept.is_empty(), own.contains("/bin/slop"));
        machine.apply_all(&changes);
        assert_eq!(machine.read("project/.mcp.json"), own);
        machine.uninstall(&[]);
        assert_eq!(machine.read("project/.mcp.json"), own);
    }
}

#[test]
fn a_broken_file_is_reported_with_its_line_and_not_written() {
    let cases: &[(&str, &[u8], &str)] = &[
        (".mcp.json", b"{\n  \"mcpServers\": {\n    \"a\": \n  }\n}\n", ".mcp.json:4: not JSON: "),
        (".mcp.json", b"{\"a\": 1}\n{}", ".mcp.json:2: not JSON: "),
        (".mcp.json", b"{\n\"a\": \"\xff\"}", ".mcp.json:2: not UTF-8"),
        (".mcp.json", b"[]", ".mcp.json has `the whole file`, but not as an object"),
        (".mcp.json", b"{\"mcpServers\": []}", ".mcp.json has `mcpServers`, but not as an object"),
        (".mcp.json", b"{\"mcpServers\": {}, \"mcpServers\": {}}", "not as one value"),
        (".codex/config.toml", b"a = 1\nb =\n", "config.toml:2: not TOML: "),
        (".codex/config.toml", b"mcp_servers = 1\n", "config.toml has `mcp_servers`, but not as a table"),
    ];
    for (file, bytes, message) in cases {
        let machine = Machine::new();
        machine.write(&format!("project/{file}"), bytes);
        let before = machine.snapshot();
        let planned = machine.plan(&["cursor", "claude-code", "codex", "gemini"], InstallScope::Project);
        let error = planned.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert_eq!(machine.snapshot(), before);
    }
}

#[test]
fn a_link_stays_a_link_and_may_not_lead_out_of_a_project() {
    let machine = Machine::new();
    let target = machine.write("home/dotfiles/claude.json", "{\"a\": 1}");
    let link = machine.path("home/.claude.json");
    symlink(&target, &link).unwrap();
    machine.install(&["claude-code"], InstallScope::User);
    assert!(link.is_symlink() && fs::read_to_string(&target).unwrap().contains("/bin/slop"));
    machine.uninstall(&[]);
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "{\"a\": 1}");

    symlink(&target, machine.path("project/.mcp.json")).unwrap();
    let refused = machine.plan(&["claude-code"], InstallScope::Project);
    assert!(matches!(refused, Err(Error::OutsideProject { .. })), "{refused:?}");
    symlink(machine.path("home"), machine.path("project/.cursor")).unwrap();
    assert!(matches!(machine.plan(&["cursor"], InstallScope::Project), Err(Error::OutsideProject { .. })));
    symlink("nowhere", machine.path("project/.gemini")).unwrap();
    assert!(matches!(machine.plan(&["gemini"], InstallScope::Project), Err(Error::DanglingLink { .. })));
}

#[test]
fn a_run_that_is_killed_between_two_files_can_be_undone() {
    let scope = InstallScope::Project;
    let machine = Machine::new();
    machine.write("project/.mcp.json", "{\"a\": 1}");
    let before = machine.snapshot();
    let changes = machine.plan(&["claude-code", "cursor"], scope).unwrap();
    machine.apply_all(&changes[..2]);
    // The third file already has its record, but not its entry.
    machine.apply_all(&changes[2..3]);
    let third = &changes[2];
    match &third.current {
        Some(bytes) => fs::write(&third.path, bytes).unwrap(),
        None => fs::remove_file(&third.path).unwrap(),
    }
    machine.uninstall(&[]);
    assert_eq!(machine.snapshot(), before);
    // And half of an uninstallation.
    machine.install(&["claude-code", "cursor"], scope);
    let changes = machine.plan_uninstall(&[]);
    machine.apply_all(&changes[..1]);
    machine.uninstall(&[]);
    assert_eq!(machine.snapshot(), before);
}

#[test]
fn a_file_that_changes_after_it_was_shown_is_not_written() {
    let machine = Machine::new();
    let changes = machine.plan(&["claude-code"], InstallScope::Project).unwrap();
    machine.write("project/.mcp.json", "{\"mine\": 1}");
    let servers = changes.iter().find(|change| change.path.ends_with(".mcp.json")).unwrap();
    let refused = machine.with(|places| apply(servers, places));
    assert!(matches!(refused, Err(Error::Changed { .. })));
    assert_eq!(machine.read("project/.mcp.json"), "{\"mine\": 1}");
}

#[test]
fn a_file_that_cannot_be_written_is_not_recorded() {
    let machine = Machine::new();
    let changes = machine.plan(&["claude-code"], InstallScope::Project).unwrap();
    // The file does not exist, and its folder cannot be created.
    fs::remove_dir_all(machine.path("project")).unwrap();
    symlink("nowhere", machine.path("project")).unwrap();
    let servers = changes.iter().find(|change| change.path.ends_with(".mcp.json")).unwrap();
    let failed = machine.with(|places| apply(servers, places));
    assert!(matches!(failed, Err(Error::Write { .. })), "{failed:?}");
    assert!(machine.with(|places| installed_files(places.records)).unwrap().is_empty());
}

#[test]
fn a_skill_stays_as_long_as_one_agent_reads_it() {
    let machine = Machine::new();
    let before = machine.snapshot();
    machine.install(&["codex", "zed"], InstallScope::User);
    let skill = machine.path("home/.agents/skills/slop/SKILL.md");
    machine.uninstall(&["codex"]);
    assert!(skill.exists() && !machine.path("home/.codex").exists());
    assert!(machine.path("home/.config/zed/settings.json").exists());
    machine.uninstall(&["zed"]);
    assert_eq!(machine.snapshot(), before);
    // An edited skill belongs to the user.
    machine.install(&["codex"], InstallScope::User);
    fs::write(&skill, "mine").unwrap();
    machine.uninstall(&[]);
    assert_eq!(fs::read_to_string(&skill).unwrap(), "mine");
}

#[test]
fn a_new_program_path_replaces_the_old_one() {
    let machine = Machine::new();
    machine.write("home/.claude.json", "{\"a\": 1}");
    let before = machine.snapshot();
    machine.install(&["claude-code"], InstallScope::User);
    let moved = machine
        .with(|places| plan_install(&agents(&["claude-code"]), InstallScope::User, "/opt/slop", places));
    machine.apply_all(&moved.unwrap());
    let text = machine.read("home/.claude.json");
    assert!(text.contains("/opt/slop") && !text.contains("/bin/slop"), "{text}");
    machine.uninstall(&[]);
    assert_eq!(machine.snapshot(), before);
}

#[test]
fn only_the_files_of_this_project_are_restored() {
    let machine = Machine::new();
    machine.install(&["claude-code"], InstallScope::Project);
    let elsewhere = machine.with(|places| {
        let project = Path::new("/elsewhere");
        plan_uninstall(&[], None, &InstallPlaces { project, ..*places })
    });
    assert!(elsewhere.unwrap().is_empty());
}

#[test]
fn every_agent_has_a_skill_and_a_server() {
    let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    assert!(names.is_sorted());
    for agent in AGENTS {
        assert!(agent.has_servers(InstallScope::User), "{}", agent.name);
        let kinds: Vec<EntryKind> = agent.entries("slop").iter().map(|(_, entry)| entry.kind).collect();
        assert!(kinds.starts_with(&[EntryKind::Property, EntryKind::WholeFile]), "{}", agent.name);
    }
}

#[test]
fn the_documentation_names_every_file() {
    let page = fs::read_to_string("docs/agents.md").unwrap();
    for agent in AGENTS {
        assert!(page.contains(&format!("`{}`", agent.name)), "{}", agent.name);
        for (files, _) in agent.entries("slop") {
            let user = files
                .user
                .iter()
                .map(|path| format!("~/{}", Path::new(path.folder).join(path.file).display()));
            let first = files.project.iter().take(1).map(|file| (*file).to_owned()).chain(user.take(1));
            for file in first {
                assert!(page.contains(&format!("`{file}`")), "{file}");
            }
        }
    }
}

#[test]
fn hooks_of_the_users_own_stay() {
    let machine = Machine::new();
    let own = "{\n  // mine\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": []}\n    ]\n  }\n}\n";
    machine.write("project/.claude/settings.json", own);
    machine.install(&["claude-code"], InstallScope::Project);
    let text = machine.read("project/.claude/settings.json");
    assert!(text.contains("/bin/slop hook read --agent claude-code") && text.contains("// mine"), "{text}");
    // A hook of the user is put into slop's group, and slop's own gets a different timeout.
    let ours = "\"timeout\": 10,";
    let grouped = text.replace(ours, "\"timeout\": 20,").replacen(
        "\"hooks\": [\n          {\n            \"command\": \"/bin/slop",
        "\"hooks\": [\n          {\"command\": \"mine\"},\n          {\n            \"command\": \"/bin/slop",
        1,
    );
    assert_ne!(grouped, text);
    machine.write("project/.claude/settings.json", &grouped);
    machine.uninstall(&[]);
    let left = machine.read("project/.claude/settings.json");
    assert!(!left.contains("slop") && left.contains("{\"command\": \"mine\"}"), "{left}");
    assert!(left.contains("{\"matcher\": \"Bash\", \"hooks\": []}") && left.contains("// mine"), "{left}");
}

#[test]
fn programs_with_spaces_are_quoted_for_a_shell() {
    let entries = CodingAgent::named("cursor").unwrap().entries("/my bin/slop");
    let commands: Vec<String> = entries
        .iter()
        .filter_map(|(_, entry)| entry.value.get("command")?.as_str().map(str::to_owned))
        .collect();
    assert_eq!(commands, ["/my bin/slop", "'/my bin/slop' hook session-start --agent cursor"]);
}
