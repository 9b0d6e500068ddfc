//! The first page of help, which groups the commands by purpose.

use std::fmt::Write as _;

use clap::Command;
use clap::builder::StyledStr;

/// The most common commands, in the order in which a user needs them.
const COMMON: [&str; 10] =
    ["aggregate", "view", "symbol", "search", "explain", "item", "watch", "ui", "status", "install"];

/// All commands by purpose.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Context", &["aggregate", "explain", "given", "cache-replay", "hydrate", "simulate", "fragments"]),
    ("Code", &["outline", "view", "symbol", "search", "find", "refs", "callers", "callees", "impact"]),
    (
        "Curation",
        &[
            "item", "slice", "mask", "preset", "persona", "take", "curation", "link", "history", "undo",
            "redo", "jump",
        ],
    ),
    ("Cache", &["index", "watch", "daemon", "status", "audit", "cache"]),
    ("Models", &["summarize", "agent", "share"]),
    (
        "Setup",
        &["init", "config", "install", "uninstall", "doctor", "mcp", "lsp", "ui", "completions", "man"],
    ),
];

const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// Returns the command with its subcommands in groups instead of clap's list.
pub(super) fn with_groups(mut command: Command) -> Command {
    let (short, long) = (short_list(&command), long_list(&command));
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    for name in names {
        command = command.mut_subcommand(name, |below| below.hide(true));
    }
    command
        .override_usage("slop [OPTIONS] <COMMAND>")
        .help_template(TEMPLATE)
        .before_help(short)
        .before_long_help(long)
}

/// Describes the common commands, and names the others.
fn short_list(command: &Command) -> StyledStr {
    let mut text = heading(command, "Common commands");
    write_commands(command, &COMMON, &mut text);
    let _ = write!(text, "\n{}", heading(command, "More commands, described by `slop --help`"));
    let width = GROUPS.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, commands) in GROUPS {
        let rest: Vec<&str> = commands.iter().copied().filter(|name| !COMMON.contains(name)).collect();
        let _ = writeln!(text, "  {name:width$}  {}", rest.join(", "));
    }
    text.trim_end().to_owned().into()
}

/// Describes all commands.
fn long_list(command: &Command) -> StyledStr {
    let mut text = String::new();
    for (name, commands) in GROUPS {
        text += &heading(command, name);
        write_commands(command, commands, &mut text);
        text.push('\n');
    }
    text.trim_end().to_owned().into()
}

fn heading(command: &Command, words: &str) -> String {
    let style = command.get_styles().get_header();
    format!("{style}{words}:{style:#}\n")
}

fn write_commands(command: &Command, names: &[&str], text: &mut String) {
    let style = command.get_styles().get_literal();
    let width = names.iter().map(|name| name.len()).max().unwrap_or_default();
    for name in names {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        let about = about.map(StyledStr::to_string).unwrap_or_default();
        let _ = writeln!(text, "  {style}{name:width$}{style:#}  {about}");
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::CliArgs;

    #[test]
    fn every_visible_command_is_in_a_group() {
        let command = CliArgs::command();
        let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
        let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
        assert!(COMMON.iter().all(|name| grouped.contains(name)));
    }
}
