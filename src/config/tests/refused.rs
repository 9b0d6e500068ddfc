//! Invalid settings files, and how they are reported.

use super::*;

#[test]
fn an_unknown_key_is_reported_with_its_line_and_the_nearest_key() {
    let cases = [
        (
            "[files]\nmax_bytes = 1",
            "2: unknown key `files.max_bytes`, the nearest known is `limits.max_bytes`",
        ),
        ("nama = 1", "1: unknown key `nama`, the nearest known is `project.name`"),
        ("\n[projct]\n", "2: unknown key `projct`, the nearest known is `project`"),
        ("[tiers.5]\nview='full'", "2: unknown key `tiers.5.view`, the nearest known is `tiers.1.view`"),
        ("tiers.3.veiw = 1", "1: unknown key `tiers.3.veiw`, the nearest known is `tiers.3.view`"),
        ("'project.name' = 'x'", "1: unknown key `\"project.name\"`, the nearest known is `project.name`"),
        ("[project.name]\nx = 1", "2: unknown key `project.name.x`, the nearest known is `project.name`"),
        (
            "[tiers.3.languages]\npython = 'full'",
            "2: unknown key `tiers.3.languages.python`, the nearest known is `tiers.3.languages.python.view`",
        ),
        (
            "[tiers.3.languages.python]\nmode = 'full'",
            "2: unknown key `tiers.3.languages.python.mode`, the nearest known is `tiers.3.languages.python.view`",
        ),
    ];
    for (text, expected) in cases {
        check_error(&project(text.as_bytes()), &format!("slop.toml:{expected}"));
    }
    let expected = "flag: unknown key `project.nam`, the nearest known is `project.name`";
    check_error(&flags(&[("project.nam", "x")]), expected);
}

#[test]
fn keys_that_do_not_exist_are_unknown() {
    for text in ["[tokens]", "[tokens]\nx = 1"] {
        let error = load(&project(text.as_bytes())).unwrap_err();
        assert!(matches!(error, Error::UnknownKey { .. }), "{text}: {error}");
    }
}

#[test]
fn the_first_error_of_a_file_is_reported() {
    let expected = "slop.toml:1: unknown key `nama`, the nearest known is `project.name`";
    check_error(&project(b"nama = 1\na = 1\n[limits]\nmax_bytes = true"), expected);
}

#[test]
fn a_value_of_the_wrong_type_is_reported_with_what_is_allowed() {
    let cases = [
        ("project.name = 3", "`project.name` is 3, not a string"),
        ("limits.max_bytes = 1_000.0", "`limits.max_bytes` is 1_000.0, not a whole number"),
        ("limits.max_bytes = '5'", "`limits.max_bytes` is '5', not a whole number"),
        (
            "limits.max_bytes = 99999999999999999999",
            "`limits.max_bytes` is 99999999999999999999, not a whole number",
        ),
        ("project.summary_only = 'yes'", "`project.summary_only` is 'yes', not true or false"),
        ("secrets.names = '.env'", "`secrets.names` is '.env', not a list of strings"),
        ("secrets.names = ['.env', 1]", "`secrets.names` is ['.env', 1], not a list of strings"),
        ("secrets.names = [['x']]", "`secrets.names` is [['x']], not a list of strings"),
        ("project.name = {}", "`project.name` is {}, not a string"),
        ("project.name = 1979-05-27", "`project.name` is 1979-05-27, not a string"),
        ("project = 3", "`project` is 3, not a table of settings"),
        ("tiers = []", "`tiers` is [], not a table of settings"),
        ("[[tiers]]", "`tiers` is [[tiers]], not a table of settings"),
        (
            "tiers.1.languages = 1",
            "`tiers.1.languages` is 1, not a table such as { markdown.view = \"full\" }",
        ),
    ];
    for (text, expected) in cases {
        check_error(&project(text.as_bytes()), &format!("slop.toml:1: {expected}"));
    }
}

#[test]
fn a_value_out_of_range_is_rejected() {
    let within = "not a folder within the project";
    let other = "not a folder other than the project's own, with `..` only at its beginning";
    let number = "not a whole number from 1 to 1073741824";
    let cases = [
        ("limits.max_bytes = 0", format!("`limits.max_bytes` is 0, {number}")),
        ("limits.max_bytes = -1", format!("`limits.max_bytes` is -1, {number}")),
        (
            "limits.structure_max_bytes = 0x1_0000_0000",
            format!("`limits.structure_max_bytes` is 4294967296, {number}"),
        ),
        (
            "limits.parse_timeout_ms = 600001",
            "`limits.parse_timeout_ms` is 600001, not a whole number from 1 to 600000".to_owned(),
        ),
        (
            "ui.listen = '0.0.0.0:80'",
            "`ui.listen` is \"0.0.0.0:80\", not an address of this machine with a port, as in \"127.0.0.1:0\""
                .to_owned(),
        ),
        ("aggregation.cache_dir = ''", format!("`aggregation.cache_dir` is \"\", {within}")),
        ("aggregation.cache_dir = './.'", format!("`aggregation.cache_dir` is \"./.\", {within}")),
        ("aggregation.cache_dir = '/tmp/c'", format!("`aggregation.cache_dir` is \"/tmp/c\", {within}")),
        ("aggregation.cache_dir = 'a/../..'", format!("`aggregation.cache_dir` is \"a/../..\", {within}")),
        (
            "aggregation.cache_dir = \"a\\u0000\"",
            format!("`aggregation.cache_dir` is \"a\\u0000\", {within}"),
        ),
        ("project.output_dir = ''", format!("`project.output_dir` is \"\", {other}")),
        ("project.output_dir = '.'", format!("`project.output_dir` is \".\", {other}")),
        ("project.output_dir = 'a/..'", format!("`project.output_dir` is \"a/..\", {other}")),
        (
            "project.name = 'a/b'",
            "`project.name` is \"a/b\", not a part of a file's name: at most 200 bytes, no `/`, one line"
                .to_owned(),
        ),
        (
            "discover.skip = ['build/']",
            "`discover.skip` is [\"build/\"], not a list of folder names, without `/` and without wildcards"
                .to_owned(),
        ),
        (
            "secrets.allow = ['a', ' ']",
            "`secrets.allow` is [\"a\", \" \"], not a list of strings that are not empty".to_owned(),
        ),
    ];
    for (text, expected) in cases {
        check_error(&project(text.as_bytes()), &format!("slop.toml:1: {expected}"));
    }
}

#[test]
fn an_enumerated_value_must_be_documented() {
    let loaded = load(&nothing()).unwrap();
    let free = [
        "aggregation.cache_dir",
        "project.name",
        "project.output_dir",
        "agent.persona",
        "agent.budget_day_usd",
        "agent.budget_total_usd",
        "agent.proxy",
        "share.url",
        "share.endpoint",
        "share.region",
        "share.team_key_file",
        "share.signing_key_file",
        "ui.listen",
    ];
    let is_word = |key: &str| !free.contains(&key) && !key.contains(".role") && !key.starts_with("formats.");
    let texts = loaded.values.iter().filter(|value| value.value.starts_with('"'));
    let mut tried = 0;
    for SettingValue { key, help, .. } in texts.filter(|value| is_word(&value.key)) {
        let Err(Error::BadValue { allowed, .. }) = load(&flags(&[(key, "nonsense")])) else {
            panic!("{key} takes nonsense");
        };
        for word in allowed.split('"').skip(1).step_by(2) {
            assert!(help.contains(&format!("\"{word}\"")), "{key} does not name {word}");
            load(&flags(&[(key, word)])).unwrap();
            tried += 1;
        }
    }
    assert_eq!(tried, 3 + 3 + 3 + 2 + 2 + 3 + 2 + 2 + 3 + 4 * (7 + 5 + 2 + 3));
    let expected = "flag: `project.execution_mode` is \"bead\", not \"native\" or \"beads\"";
    check_error(&flags(&[("project.execution_mode", "bead")]), expected);
    let expected = "slop.toml:1: `tiers.2.languages.c.view` is \"window\", \
                    not \"full\", \"skeleton\", \"outline\", \"summary\", \"ast_signatures\", \
                    \"ast_definitions\" or \"none\"";
    check_error(&project(b"tiers.2.languages.c.view = 'window'"), expected);
}

#[test]
fn a_project_names_no_folder_outside_of_itself_unless_the_user_trusts_it() {
    let load_with = |user: &str, project: &str| {
        let user_file = Some((PathBuf::from("/home/me/config.toml"), user.into()));
        let project_file = Some((PathBuf::from("/home/me/app/slop.toml"), project.into()));
        load(&ConfigInputs { user_file, project_file, ..nothing() })
    };
    let trusting = "trust.projects = ['/srv', '/home/me/app/']";
    for folder in ["/tmp/out", "../out", "../../.ssh"] {
        let text = format!("project.output_dir = '{folder}'");
        for user in ["", "trust.projects = ['/home/me/ap', '/home/me/app/sub']"] {
            let error = load_with(user, &text).unwrap_err().to_string();
            let expected = format!(
                "/home/me/app/slop.toml:1: `project.output_dir` is \"{folder}\", not a folder within the project: only \
                 your own settings and the environment may name another, or `trust.projects` allow it"
            );
            assert_eq!(error, expected);
        }
        load_with(trusting, &text).unwrap();
        // The user may choose what the project may not.
        load_with(&text, "").unwrap();
    }
    for text in [
        "project.output_dir = '.git/hooks'",
        "project.output_dir = 'a/.GIT'",
        "aggregation.cache_dir = '.git/x'",
    ] {
        let error = load_with(trusting, text).unwrap_err().to_string();
        assert!(error.ends_with(", not a folder outside of `.git`"), "{error}");
    }
    // A project cannot declare itself trusted.
    let text = "trust.projects = ['/']\nproject.output_dir = '../out'";
    assert!(load_with("", text).is_err());
    assert!(load_with("", "trust.projects = ['/']").unwrap().warnings[0].contains("trust.projects"));
    check_error(
        &flags(&[("trust.projects", "['app']")]),
        "flag: `trust.projects` is [\"app\"], not a list of absolute paths",
    );
}

#[test]
fn settings_behind_a_link_are_read_only_if_the_user_trusts_the_project() {
    let project = || ConfigInputs {
        project_link: Some(PathBuf::from("/etc/passwd")),
        ..project(b"this is no TOML, and none of the project's business")
    };
    check_error(&project(), "slop.toml is a link to /etc/passwd, outside of the project");
    let variable = ("SLOP_TRUST_PROJECTS".to_owned(), "['slop.toml']".to_owned());
    let trusted = load(&ConfigInputs { environment: vec![variable], ..project() });
    assert!(matches!(trusted, Err(Error::Syntax { .. })));
}

#[test]
fn the_output_folder_cannot_be_in_the_cache() {
    let expected = "slop.toml:2: `project.output_dir` is \"./c/out\", \
                    not a folder outside of aggregation.cache_dir (c, slop.toml:1)";
    check_error(&project(b"aggregation.cache_dir = 'c'\nproject.output_dir = './c/out'"), expected);
    load(&project(b"aggregation.cache_dir = 'c'\nproject.output_dir = 'cc'")).unwrap();
}

#[test]
fn an_invalid_value_is_reported_even_if_a_higher_layer_overrides_it() {
    let mut inputs = project(b"[limits]\nmax_bytes = 0");
    inputs.flags = owned(&[("limits.max_bytes", "1")]);
    let expected = "slop.toml:2: `limits.max_bytes` is 0, not a whole number from 1 to 1073741824";
    check_error(&inputs, expected);
}

#[test]
fn invalid_toml_is_reported_with_its_line() {
    let cases = [
        ("[project]\nname = \n", "2: not TOML: string values must be quoted, expected literal string"),
        ("a = 1\r\na = 2", "2: not TOML: duplicate key"),
        ("\n\n[project", "3: not TOML: unclosed table, expected `]`"),
        ("x", "1: not TOML: key with no value, expected `=`"),
        (
            "a = \"\0\"",
            "1: not TOML: invalid basic string, expected non-double-quote visible characters, `\\`",
        ),
    ];
    for (text, expected) in cases {
        check_error(&project(text.as_bytes()), &format!("slop.toml:{expected}"));
    }
}

#[test]
fn invalid_utf8_is_reported_with_its_line() {
    check_error(&project(b"# fine\nx = '\xff'"), "slop.toml:2: not UTF-8");
    check_error(&project(b"\xff\xfe[\0p\0"), "slop.toml:1: not UTF-8");
    let name = load(&project(b"\xef\xbb\xbf[project]\r\nname = '\xc3\xbc'\r\n")).unwrap();
    assert_eq!(name.settings.project.name, "ü");
}

#[test]
fn a_hostile_file_is_only_an_error() {
    let long = "k".repeat(1_000_000);
    let parts = vec!["a"; 79].join(".");
    let deep = format!("{}1{}", format!("{{{parts}=").repeat(79), "}".repeat(79));
    let deep_array = format!("{}1{}", format!("[{{{parts}=").repeat(39), "}]".repeat(39));
    let many: Vec<String> = (0..50_000).map(|key| format!("k{key} = 1")).collect();
    let texts = [
        format!("{long} = 1"),
        format!("project.{long} = '{long}'"),
        format!("project.name = '{long}'"),
        format!("project.execution_mode = '{long}'"),
        format!("tiers.1.languages.{long} = '{long}'"),
        format!("tiers.1.languages.{long}.view = 1"),
        format!("tiers.1.languages.{long}.view = '{long}'"),
        format!("{} = 1", vec!["a"; 100_000].join(".")),
        format!("[{}]", vec!["a"; 100_000].join(".")),
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}", "{a=".repeat(100_000)),
        format!("project.name = {}1{}", "[".repeat(70), "]".repeat(70)),
        format!("secrets.names = {deep_array}"),
        format!("[{parts}]\n{parts} = {deep}"),
        format!("[{parts}]\n{parts} = {deep}\n{parts} = {deep}\n"),
        format!("a = {deep}\n?"),
        many.join("\n"),
    ];
    for text in texts {
        let message = load(&project(text.as_bytes())).unwrap_err().to_string();
        assert!(message.len() < 400 && !message.contains('\n'), "{message}");
    }
    load(&flags(&[("limits.max_bytes", &deep)])).unwrap_err();
    load(&flags(&[(&long, &deep)])).unwrap_err();
    load(&environment(&[("SLOP_SECRETS_NAMES", &deep_array)])).unwrap_err();
}

#[test]
fn any_small_damage_to_a_file_yields_settings_or_an_error() {
    let whole = DEFAULT_TOML.as_bytes();
    for at in (0..whole.len()).step_by(53) {
        let _ = load(&project(&whole[..at]));
        let mut damaged = whole.to_vec();
        damaged[at] = b"\xff\0\"[]={}.#\n"[at % 11];
        let _ = load(&project(&damaged));
    }
}
