//! The interpreter that a text's first line names.

/// A first line longer than this names no interpreter; systems read far less of it.
const LINE_MAX_BYTES: usize = 512;

/// Returns the name of the program that `#!` names, without folder and version: `python` for
/// `#!/usr/bin/env -S python3.12 -u`.
pub(super) fn interpreter(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?;
    let line = line.split(['\n', '\r']).next()?;
    if LINE_MAX_BYTES < line.len() {
        return None;
    }
    let mut words = line.split_ascii_whitespace();
    let program = base_name(words.next()?);
    let program = match program {
        "env" => base_name(program_after_env(words)?),
        _ => program,
    };
    Some(without_version(program))
}

/// Returns the program that `env` is to start, behind its options and assignments.
fn program_after_env<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    loop {
        let word = words.next()?;
        match word {
            "-u" | "-C" | "--unset" | "--chdir" => {
                words.next()?;
            }
            _ if word.starts_with("--split-string=") => return Some(&word["--split-string=".len()..]),
            // `-Sprogram`; the word `-S` alone is an option like any other.
            _ if word.starts_with("-S") && 2 < word.len() => return Some(&word[2..]),
            _ if word.starts_with('-') || word.contains('=') => {}
            _ => return Some(word),
        }
    }
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn without_version(program: &str) -> &str {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let name = name.strip_suffix('-').unwrap_or(name);
    if name.is_empty() { program } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: Option<&str>) {
        assert_eq!(interpreter(text), wanted, "{text:?}");
    }

    #[test]
    fn the_program_is_named_by_its_path() {
        check("#!/bin/sh\n", Some("sh"));
        check("#! /bin/sh -e", Some("sh"));
        check("#!/usr/local/bin/python3.12\r\n", Some("python"));
        check("#!perl", Some("perl"));
        check("#!/usr/bin/lua-5.4", Some("lua"));
    }

    #[test]
    fn env_starts_the_program_behind_its_options() {
        check("#!/usr/bin/env python3", Some("python"));
        check("#!/usr/bin/env -S python -u", Some("python"));
        check("#!/usr/bin/env -Spython3 -u", Some("python"));
        check("#!/usr/bin/env -i -u HOME LANG=C ruby", Some("ruby"));
        check("#!/usr/bin/env --split-string=/opt/node x", Some("node"));
    }

    #[test]
    fn what_names_no_program_is_no_shebang() {
        check("", None);
        check("#!", None);
        check("#! \n/bin/sh", None);
        check("#!/usr/bin/env", None);
        check("#!/usr/bin/env -u", None);
        check(" #!/bin/sh", None);
        check(&format!("#!/bin/sh {}", "x".repeat(600)), None);
    }

    #[test]
    fn a_program_of_digits_keeps_its_name() {
        check("#!/bin/7", Some("7"));
    }
}
