//! The help of every command. `UPDATE_EXPECT=1 cargo test --test it` updates the golden files.

use std::path::Path;

use clap::CommandFactory;
use expect_test::expect_file;

use super::sandbox::Sandbox;

/// Returns every command and subcommand as a list of words.
fn commands() -> Vec<Vec<String>> {
    let mut found = vec![vec![]];
    collect(&slop::internals::cli::CliArgs::command(), &mut vec![], &mut found);
    found
}

fn collect(command: &clap::Command, words: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    for below in command.get_subcommands() {
        words.push(below.get_name().to_owned());
        found.push(words.clone());
        collect(below, words, found);
        words.pop();
    }
}

#[test]
fn the_help_of_every_command_matches_its_golden_file() {
    let sandbox = Sandbox::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd/help");
    for words in commands() {
        let name = [&["slop".to_owned()], &words[..]].concat().join("_");
        for (flag, end) in [("-h", "short"), ("--help", "long")] {
            let arguments: Vec<&str> = words.iter().map(String::as_str).chain([flag]).collect();
            let help = sandbox.stdout_of(&arguments);
            expect_file![folder.join(format!("{name}.{end}.txt"))].assert_eq(&help);
            assert!(help.lines().all(|line| line.chars().count() <= 100), "{name}: a line is too long");
            assert!(flag == "-h" || help.contains("Example") || words.is_empty(), "{name} has no example");
        }
    }
}

#[test]
fn the_short_help_fits_on_one_screen_and_begins_with_a_sentence() {
    let sandbox = Sandbox::new();
    for words in commands() {
        let arguments: Vec<&str> = words.iter().map(String::as_str).chain(["-h"]).collect();
        let help = sandbox.stdout_of(&arguments);
        assert!(help.lines().count() <= 40, "{words:?}");
        let first = help.lines().next().unwrap();
        assert!(first.starts_with(char::is_uppercase) && !first.ends_with('.'), "{first}");
    }
}

#[test]
fn there_is_no_golden_help_for_a_removed_command() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd/help");
    let files = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(files, commands().len() * 2);
}
