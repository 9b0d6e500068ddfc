//! Repositories from untrusted sources: programs in their settings are not run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::sandbox::Sandbox;

/// A partial clone without the contents of its only file, whose settings name a program that would fetch them.
fn partial_clone_with_a_program() -> Sandbox {
    let sandbox = Sandbox::repo();
    for (message, text) in [("one", "def f():\n    return 1\n"), ("two", "def f():\n    return 2\n")] {
        sandbox.write("a.py", text);
        sandbox.commit_all(message);
    }
    for revision in ["HEAD~1:a.py", "HEAD:a.py"] {
        let name = String::from_utf8(sandbox.git(&["rev-parse", revision])).unwrap();
        let (folder, file) = name.trim().split_at(2);
        fs::remove_file(sandbox.path(format!(".git/objects/{folder}/{file}"))).unwrap();
    }
    let program = format!("touch '{}'; false", sandbox.path(".git/ran").display());
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", sandbox.root().to_str().unwrap()),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", &program),
        ("protocol.allow", "always"),
        ("protocol.file.allow", "always"),
    ] {
        sandbox.git(&["config", key, value]);
    }
    sandbox
}

#[test]
fn no_command_makes_git_fetch_missing_contents_of_a_partial_clone() {
    let sandbox = partial_clone_with_a_program();
    for (arguments, code) in [
        (&["aggregate", "--tier", "2", "--budget", "300", "--stdout"][..], 0),
        (&["aggregate", "--tier", "3", "--task", "change f", "--stdout"], 0),
        (&["view", "--mode", "diff", "a.py"], 0),
        (&["cache-replay", "HEAD~1..HEAD"], 1),
    ] {
        let ran = sandbox.slop(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
        assert!(!sandbox.path(".git/ran").exists(), "{arguments:?} ran a program that the repository names");
    }
    // The repository is effective: git itself would run the program.
    let diff = sandbox.script("git diff HEAD~1 HEAD");
    super::sandbox::run(diff);
    assert!(sandbox.path(".git/ran").exists());
}

/// Settings of a repository that name a program. `.gitattributes` names the drivers `evil` and `plain`.
const PROGRAM_SETTINGS: &[&str] = &[
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.askPass",
    "core.sshCommand",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "sequence.editor",
    "pager.log",
    "pager.diff",
    "pager.ls-files",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.plain.textconv",
    "filter.evil.process",
    "filter.plain.clean",
    "filter.plain.smudge",
    "merge.evil.driver",
    "merge.plain.driver",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.x509.program",
    "gpg.ssh.defaultKeyCommand",
    "credential.helper",
    "credential.https://example.com.helper",
    "interactive.diffFilter",
    "trailer.evil.command",
    "trailer.evil.cmd",
    "uploadpack.packObjectsHook",
    "remote.origin.uploadpack",
    "remote.origin.receivepack",
    "remote.origin.proxy",
    "alias.ls-files",
    "alias.log",
    "alias.rev-parse",
    "alias.cat-file",
    "alias.diff",
    "browser.evil.cmd",
    "difftool.evil.cmd",
    "mergetool.evil.cmd",
    "guitool.evil.cmd",
    "imap.tunnel",
    "sendemail.smtpServer",
    "submodule.sub.update",
    "tar.tgz.command",
    "init.templateDir",
    "log.showSignature",
];

/// The place of the settings of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SettingsFile {
    Repository,
    Worktree,
    /// A file of the tree that the repository's settings include.
    Included,
}

/// A repository in which every setting that can name a program does so, and every hook exists. Each program creates a
/// file of its name in the folder `marks`, outside of the project.
fn repository_full_of_programs(place: SettingsFile) -> Sandbox {
    let sandbox = Sandbox::repo();
    for (message, number) in [("one", 1), ("two", 2)] {
        sandbox.write("a.py", format!("def f():\n    return {number}\n"));
        sandbox.write("b.txt", format!("text {number}\n"));
        sandbox.write("test_a.py", "from a import f\n\n\ndef test_f():\n    f()\n");
        sandbox.write("sub/.gitattributes", "* diff=evil\n");
        sandbox.commit_all(message);
    }
    let marks = sandbox.outside("marks");
    fs::create_dir_all(&marks).unwrap();
    let program = |name: &str| {
        let file = sandbox.outside("programs").join(name.replace('/', "_"));
        write_program(&file, &format!("touch '{}'", marks.join(name.replace('/', "_")).display()));
        file
    };
    let attributes = "*.py filter=evil diff=evil merge=evil\n*.txt filter=plain diff=plain merge=plain\n";
    sandbox.write(".gitattributes", attributes);
    sandbox.write(".git/info/attributes", attributes);
    let file = match place {
        SettingsFile::Repository => sandbox.path(".git/config"),
        SettingsFile::Worktree => {
            sandbox.git(&["config", "extensions.worktreeConfig", "true"]);
            sandbox.path(".git/config.worktree")
        }
        SettingsFile::Included => {
            sandbox.git(&["config", "include.path", "../shared.gitconfig"]);
            sandbox.path("shared.gitconfig")
        }
    };
    for key in PROGRAM_SETTINGS {
        let program = program(key);
        let value = match *key {
            "init.templateDir" => sandbox.path(".git").display().to_string(),
            "log.showSignature" => "true".to_owned(),
            key if key.starts_with("alias.")
                || key.starts_with("submodule.")
                || key.starts_with("credential.") =>
            {
                format!("!{}", program.display())
            }
            _ => program.display().to_string(),
        };
        sandbox.git(&["config", "--file", file.to_str().unwrap(), key, &value]);
    }
    for hook in
        ["post-index-change", "post-checkout", "reference-transaction", "pre-commit", "fsmonitor-watchman"]
    {
        fs::copy(program(&format!("hooks/{hook}")), sandbox.path(format!(".git/hooks/{hook}"))).unwrap();
    }
    sandbox
}

fn write_program(file: &Path, script: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

fn marks(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.outside("marks")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Commands that run git.
const COMMANDS: &[&[&str]] = &[
    &["index"],
    &["status"],
    &["aggregate", "--stdout", "--tier", "1"],
    &["aggregate", "--stdout", "--tier", "2", "--budget", "300"],
    &["aggregate", "--stdout", "--tier", "3", "--task", "change f in a.py"],
    &["aggregate", "--stdout", "--tier", "4", "--focus", "a.py"],
    &["aggregate", "--stdout", "--since-last", "--name", "x"],
    &["view", "--mode", "diff", "a.py", "b.txt"],
    &["view", "--mode", "diff", "--base", "HEAD~1", "a.py"],
    &["outline"],
    &["symbol", "f"],
    &["search", "f"],
    &["refs", "f"],
    &["impact", "f", "--tests"],
    &["impact", "--diff", "HEAD~1"],
    &["explain", "a.py", "--budget", "300"],
    &["cache", "verify"],
    &["audit"],
    &["cache-replay", "HEAD~1..HEAD"],
];

#[test]
fn no_command_runs_a_program_that_a_repository_names() {
    for place in [SettingsFile::Repository, SettingsFile::Worktree, SettingsFile::Included] {
        let sandbox = repository_full_of_programs(place);
        // All commands start git in the same way, wherever the settings are, so fewer of them are tried in other
        // places.
        let step = if place == SettingsFile::Repository { 1 } else { 4 };
        for arguments in COMMANDS.iter().step_by(step) {
            // Git's index is made outdated each time: to compare the files, git would run filters, and after writing
            // the index a hook.
            for file in ["a.py", "b.txt"] {
                let file = fs::File::options().append(true).open(sandbox.path(file)).unwrap();
                file.set_modified(SystemTime::now() - Duration::from_mins(1)).unwrap();
            }
            let ran = sandbox.slop(arguments);
            assert_eq!(ran.code, 0, "{place:?} {arguments:?}: {ran:?}");
            assert_eq!(marks(&sandbox), [""; 0], "{place:?} {arguments:?}");
        }
        // Git itself runs them. The filter `evil` fails, and with it each command that needs it. Whether adding another
        // file does depends on the time, so that command runs without it.
        let script = "echo >> a.py; echo >> b.txt; git status; unfiltered() { git -c filter.evil.process= \"$@\"; }; \
                      unfiltered diff; unfiltered diff --no-ext-diff; unfiltered add b.txt; git add a.py";
        super::sandbox::run(sandbox.script(script));
        let ran = marks(&sandbox);
        for key in [
            "core.fsmonitor",
            "diff.external",
            "diff.plain.textconv",
            "filter.plain.clean",
            "filter.evil.process",
        ] {
            assert!(ran.iter().any(|mark| mark == key), "{place:?} {key}: {ran:?}");
        }
        assert!(ran.contains(&"hooks_post-index-change".to_owned()), "{place:?}: {ran:?}");
    }
}

#[test]
fn programs_are_not_looked_up_in_the_project() {
    let sandbox = Sandbox::repo();
    sandbox.write_user_settings("project.execution_mode = 'beads'\n");
    sandbox.write("a.py", "x = 1\n");
    sandbox.commit_all("one");
    for name in ["git", "bd"] {
        write_program(
            &sandbox.path(format!("bin/{name}")),
            &format!("touch '{}'", sandbox.outside("ran").display()),
        );
        fs::copy(sandbox.path(format!("bin/{name}")), sandbox.path(name)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    for entry in [String::new(), ".".to_owned(), "bin".to_owned(), sandbox.path("bin").display().to_string()]
    {
        let mut command = sandbox.command(&["aggregate", "--stdout"]);
        command.env("PATH", format!("{entry}:{path}"));
        let ran = super::sandbox::run(command);
        assert_eq!(ran.code, 0, "{entry}: {ran:?}");
        assert!(!sandbox.outside("ran").exists(), "PATH={entry}:…");
    }
}
