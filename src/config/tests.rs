//! The room's promises, each tried through its door.

use std::path::{Path, PathBuf};
use std::time::Duration;

use expect_test::expect;

use crate::aggregate::TokenCounter;
use crate::model::{AggregationStrategy, FileOrder, SummaryDetail, Tier, ViewMode};

use super::*;

fn nothing() -> ConfigInputs {
    ConfigInputs::default()
}

fn project(text: &[u8]) -> ConfigInputs {
    ConfigInputs { project_file: Some((PathBuf::from("slop.toml"), text.to_vec())), ..nothing() }
}

fn environment(variables: &[(&str, &str)]) -> ConfigInputs {
    ConfigInputs { environment: owned(variables), ..nothing() }
}

fn flags(flags: &[(&str, &str)]) -> ConfigInputs {
    ConfigInputs { flags: owned(flags), ..nothing() }
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
    pairs.iter().map(owned).collect()
}

fn value<'a>(loaded: &'a LoadedConfig, key: &str) -> &'a SettingValue {
    loaded.values.iter().find(|value| value.key == key).unwrap()
}

#[track_caller]
fn check_error(inputs: &ConfigInputs, expected: &str) {
    assert_eq!(load(inputs).unwrap_err().to_string(), expected);
}

#[test]
fn without_layers_the_defaults_hold() {
    let LoadedConfig { settings, warnings, .. } = load(&nothing()).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(settings.aggregation.default_mode, ViewMode::Summary);
    assert!(settings.aggregation.cache_enabled);
    assert_eq!(settings.aggregation.cache_dir.as_bytes(), b".slop_cache");
    assert_eq!(settings.aggregation.order, FileOrder::Stable);
    assert_eq!(settings.aggregation.window_lines, 40);
    assert_eq!(settings.aggregation.tokens, TokenCounter::O200kBase);
    assert_eq!(settings.project.name, "");
    assert_eq!(settings.project.output_dir, Path::new("slop_out"));
    assert_eq!(settings.project.aggregation_strategy, AggregationStrategy::Auto);
    assert_eq!(settings.project.execution_mode, ExecutionMode::Native);
    assert_eq!(settings.limits.max_bytes, 262_144);
    assert_eq!(settings.limits.structure_max_bytes, 8_388_608);
    assert_eq!(settings.limits.parse_timeout, Duration::from_millis(1200));
    assert!(settings.secrets.names.contains(&"id_ed25519".to_owned()));
    assert!(settings.secrets.allow.contains(&"*.example".to_owned()));
}

#[test]
fn the_tiers_have_their_views() {
    let settings = load(&nothing()).unwrap().settings;
    let views = |tier| {
        let tier: &TierSettings = settings.tier(tier);
        (tier.view, tier.focus_view, tier.summary, tier.summary_detail, tier.tree)
    };
    let (agent, heuristic) = (SummarySource::Agent, SummarySource::Heuristic);
    let (top_level, signatures) = (SummaryDetail::TopLevel, SummaryDetail::Signatures);
    let (full, summary) = (ViewMode::Full, ViewMode::Summary);
    assert_eq!(views(Tier::Orchestrator), (summary, full, agent, top_level, true));
    assert_eq!(views(Tier::TechLead), (summary, full, agent, signatures, false));
    let worker = (ViewMode::Skeleton, full, heuristic, signatures, false);
    assert_eq!(views(Tier::Worker), worker);
    let qa = (ViewMode::Outline, ViewMode::Window, heuristic, top_level, false);
    assert_eq!(views(Tier::Qa), qa);
    assert!(settings.tiers.iter().all(|tier| tier.languages.is_empty()));
}

#[test]
fn a_higher_layer_wins_and_its_origin_is_told() {
    let key = "project.name";
    let mut inputs = nothing();
    let seen = |inputs: &ConfigInputs| {
        let loaded = load(inputs).unwrap();
        (loaded.settings.project.name.clone(), value(&loaded, key).origin.to_string())
    };
    assert_eq!(seen(&inputs), (String::new(), "built-in".to_owned()));
    inputs.user_file = Some((PathBuf::from("user.toml"), b"\n[project]\nname = 'u'".to_vec()));
    assert_eq!(seen(&inputs), ("u".to_owned(), "user.toml:3".to_owned()));
    inputs.project_file = Some((PathBuf::from("slop.toml"), b"project.name = 'p'".to_vec()));
    assert_eq!(seen(&inputs), ("p".to_owned(), "slop.toml:1".to_owned()));
    inputs.environment = owned(&[("SLOP_PROJECT_NAME", "e")]);
    assert_eq!(seen(&inputs), ("e".to_owned(), "SLOP_PROJECT_NAME".to_owned()));
    inputs.flags = owned(&[(key, "f"), (key, "g")]);
    assert_eq!(seen(&inputs), ("g".to_owned(), "flag".to_owned()));
}

#[test]
fn layers_that_set_other_keys_leave_the_rest_alone() {
    let mut inputs = project(b"[limits]\nmax_bytes = 5\n[tiers.3]\ntree = true");
    inputs.user_file = Some((PathBuf::from("u"), b"[limits]\nparse_timeout_ms = 7".to_vec()));
    let settings = load(&inputs).unwrap().settings;
    assert_eq!(settings.limits.max_bytes, 5);
    assert_eq!(settings.limits.parse_timeout, Duration::from_millis(7));
    assert_eq!(settings.limits.structure_max_bytes, 8_388_608);
    assert!(settings.tier(Tier::Worker).tree);
    assert_eq!(settings.tier(Tier::Worker).role, "worker");
}

#[test]
fn every_setting_is_listed_once_in_the_order_of_the_defaults() {
    let loaded = load(&nothing()).unwrap();
    let mut keys: Vec<&str> = loaded.values.iter().map(|value| value.key.as_str()).collect();
    assert_eq!(keys[..2], ["aggregation.default_mode", "aggregation.cache_enabled"]);
    assert_eq!(keys.last(), Some(&"tiers.4.history"));
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!((keys.len(), all), (99, 99));
    for value in &loaded.values {
        assert_eq!(value.origin, SettingOrigin::BuiltIn);
        assert!(value.help.ends_with('.'), "{} has no sentence: {}", value.key, value.help);
        let assignment = format!("{} = {}", value.key, value.value);
        let again = load(&project(assignment.as_bytes())).unwrap();
        assert_eq!(again.settings, loaded.settings, "{assignment}");
    }
}

#[test]
fn languages_get_views_of_their_own() {
    let from_file = project(
        b"[tiers.3.languages]\nmarkdown.view = 'full'\nc-x = { view = 'none' }\nview.view = 'outline'",
    );
    let loaded = load(&from_file).unwrap();
    let languages: Vec<_> = loaded.settings.tiers[2].languages.iter().collect();
    let (markdown, c_x, view) = ("markdown".to_owned(), "c-x".to_owned(), "view".to_owned());
    let expected = [(&c_x, &ViewMode::None), (&markdown, &ViewMode::Full), (&view, &ViewMode::Outline)];
    assert_eq!(languages, expected);
    assert!(loaded.settings.tiers[3].languages.is_empty());
    assert_eq!(value(&loaded, "tiers.3.languages.c-x.view").origin.to_string(), "slop.toml:3");

    for inputs in [
        environment(&[("SLOP_TIERS_1_LANGUAGES_OBJECTIVE_C_VIEW", "none")]),
        flags(&[("tiers.1.languages.objective-c.view", "none")]),
    ] {
        let languages = load(&inputs).unwrap().settings.tiers[0].languages.clone();
        assert_eq!(languages.get("objective-c"), Some(&ViewMode::None));
    }
}

#[test]
fn summary_only_is_the_strategy_summarize() {
    let loaded = load(&project(b"[project]\nsummary_only = true")).unwrap();
    assert_eq!(loaded.settings.project.aggregation_strategy, AggregationStrategy::Summarize);
    assert!(loaded.warnings.is_empty());
    let loaded = load(&project(b"project = { summary_only = true, aggregation_strategy = 'full' }")).unwrap();
    assert_eq!(loaded.settings.project.aggregation_strategy, AggregationStrategy::Summarize);
    let warning =
        "project.aggregation_strategy (slop.toml:1) has no effect while project.summary_only is set";
    assert_eq!(loaded.warnings, [warning]);
}

#[test]
fn an_unknown_key_is_told_with_its_line_and_the_nearest() {
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
fn the_keys_of_later_issues_are_not_known_yet() {
    for text in ["[tokens]", "[tokens]\nx = 1"] {
        let error = load(&project(text.as_bytes())).unwrap_err();
        assert!(matches!(error, Error::UnknownKey { .. }), "{text}: {error}");
    }
}

#[test]
fn the_first_error_of_a_file_is_told() {
    let expected = "slop.toml:1: unknown key `nama`, the nearest known is `project.name`";
    check_error(&project(b"nama = 1\na = 1\n[limits]\nmax_bytes = true"), expected);
}

#[test]
fn a_value_of_the_wrong_type_is_told_with_what_is_allowed() {
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
fn a_value_that_makes_no_sense_is_refused() {
    let within = "not a folder within the project";
    let other = "not a folder other than the project's own, with `..` at its beginning alone";
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
fn a_word_must_be_one_of_those_that_its_sentence_names() {
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
fn folders_are_cleaned_of_parts_that_mean_nothing() {
    let text = b"aggregation.cache_dir = './a//b/./'\nproject.output_dir = './out/'";
    let settings = load(&project(text)).unwrap().settings;
    assert_eq!(settings.aggregation.cache_dir.as_bytes(), b"a/b");
    assert_eq!(settings.project.output_dir.as_os_str(), "out");
    for (given, expected) in [("/x/./y", "/x/y"), ("../out/", "../out")] {
        let settings = load(&flags(&[("project.output_dir", given)])).unwrap().settings;
        assert_eq!(settings.project.output_dir.as_os_str(), expected);
    }
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
        // The user's own choice is not the project's.
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
    // No project vouches for itself.
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
fn outputs_do_not_lie_in_the_cache() {
    let expected = "slop.toml:2: `project.output_dir` is \"./c/out\", \
                    not a folder outside of aggregation.cache_dir (c, slop.toml:1)";
    check_error(&project(b"aggregation.cache_dir = 'c'\nproject.output_dir = './c/out'"), expected);
    load(&project(b"aggregation.cache_dir = 'c'\nproject.output_dir = 'cc'")).unwrap();
}

#[test]
fn a_wrong_value_is_told_even_where_a_higher_layer_covers_it() {
    let mut inputs = project(b"[limits]\nmax_bytes = 0");
    inputs.flags = owned(&[("limits.max_bytes", "1")]);
    let expected = "slop.toml:2: `limits.max_bytes` is 0, not a whole number from 1 to 1073741824";
    check_error(&inputs, expected);
}

#[test]
fn limits_in_the_wrong_order_give_a_warning() {
    let loaded = load(&flags(&[("limits.max_bytes", "9000000")])).unwrap();
    let warning = "limits.max_bytes (flag) is over limits.structure_max_bytes, above which no file is read";
    assert_eq!(loaded.warnings, [warning]);
}

#[test]
fn variables_are_read_by_the_type_of_their_setting() {
    let loaded = load(&environment(&[
        ("SLOP_TIERS_3_VIEW", "full"),
        ("SLOP_PROJECT_NAME", "\"true\""),
        ("SLOP_AGGREGATION_CACHE_ENABLED", "false"),
        ("SLOP_LIMITS_MAX_BYTES", " 1_000 "),
        ("SLOP_SECRETS_NAMES", "['a', \"b\"]"),
        ("SLOP_PROJECT_OUTPUT_DIR", ""),
    ]))
    .unwrap();
    assert_eq!(loaded.settings.tiers[2].view, ViewMode::Full);
    assert_eq!(loaded.settings.project.name, "\"true\"");
    assert!(!loaded.settings.aggregation.cache_enabled);
    assert_eq!(loaded.settings.limits.max_bytes, 1000);
    assert_eq!(loaded.settings.secrets.names, ["a", "b"]);
    assert_eq!(loaded.settings.project.output_dir, Path::new("slop_out"));
    assert_eq!(value(&loaded, "secrets.names").value, "[\"a\", \"b\"]");
    assert_eq!(loaded.warnings, Vec::<String>::new());

    let cases = [
        ("SLOP_LIMITS_MAX_BYTES", "many", "`limits.max_bytes` is many, not a whole number"),
        ("SLOP_PROJECT_SUMMARY_ONLY", "1", "`project.summary_only` is 1, not true or false"),
        ("SLOP_SECRETS_NAMES", "a,b", "`secrets.names` is a,b, not a list of strings"),
    ];
    for (name, text, expected) in cases {
        check_error(&environment(&[(name, text)]), &format!("{name}: {expected}"));
    }
}

#[test]
fn an_unknown_variable_gives_a_warning_and_others_are_left_alone() {
    let loaded = load(&environment(&[
        ("SLOP_PROJET_NAME", "x"),
        ("SLOP_LOG", "debug"),
        ("SLOP_PROJECT", "/p"),
        ("SLOPPY_PROJECT_NAME", "x"),
        ("slop_project_name", "x"),
        ("SLOP_FILES_MAX_BYTES", "1"),
        ("SLOP_TIERS_1_LANGUAGES__VIEW", ""),
        ("SLOP_TIERS_1_LANGUAGES_VIEW", "x"),
        ("", ""),
    ]))
    .unwrap();
    let expected = expect![[r"
            unknown variable SLOP_FILES_MAX_BYTES, the nearest known is SLOP_LIMITS_MAX_BYTES
            unknown variable SLOP_PROJET_NAME, the nearest known is SLOP_PROJECT_NAME
            unknown variable SLOP_TIERS_1_LANGUAGES_VIEW, the nearest known is SLOP_TIERS_1_FOCUS_VIEW"]];
    expected.assert_eq(&loaded.warnings.join("\n"));
    assert!(loaded.values.iter().all(|value| value.origin == SettingOrigin::BuiltIn));
}

#[test]
fn a_flag_takes_a_bare_string_or_a_value_in_toml() {
    for (text, name) in
        [("a b", "a b"), ("'a'", "a"), ("\"a\"", "a"), ("true", "true"), ("'a", "'a"), ("", "")]
    {
        let loaded = load(&flags(&[("project.name", text)])).unwrap();
        assert_eq!(loaded.settings.project.name, name);
    }
    let loaded = load(&flags(&[("limits.max_bytes", "7"), ("secrets.allow", "[]")])).unwrap();
    assert_eq!(loaded.settings.limits.max_bytes, 7);
    assert!(loaded.settings.secrets.allow.is_empty());
    check_error(&flags(&[("project", "x")]), "flag: `project` is x, not a table of settings");
    check_error(
        &flags(&[("limits.max_bytes", "")]),
        "flag: `limits.max_bytes` is nothing, not a whole number",
    );
}

#[test]
fn what_is_no_toml_is_told_with_its_line() {
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
fn what_is_no_utf8_is_told_with_its_line() {
    check_error(&project(b"# fine\nx = '\xff'"), "slop.toml:2: not UTF-8");
    check_error(&project(b"\xff\xfe[\0p\0"), "slop.toml:1: not UTF-8");
    let name = load(&project(b"\xef\xbb\xbf[project]\r\nname = '\xc3\xbc'\r\n")).unwrap();
    assert_eq!(name.settings.project.name, "ü");
}

#[test]
fn a_hostile_file_is_an_error_and_no_more() {
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
fn any_small_damage_to_a_file_gives_settings_or_an_error() {
    let whole = DEFAULT_TOML.as_bytes();
    for at in (0..whole.len()).step_by(7) {
        let _ = load(&project(&whole[..at]));
        let mut damaged = whole.to_vec();
        damaged[at] = b"\xff\0\"[]={}.#\n"[at % 11];
        let _ = load(&project(&damaged));
    }
}

#[test]
fn the_template_changes_nothing_and_with_its_settings_it_repeats_the_defaults() {
    let template = commented_template();
    let fresh = load(&project(template.as_bytes())).unwrap();
    let built_in = load(&nothing()).unwrap();
    assert_eq!((&fresh.settings, &fresh.values), (&built_in.settings, &built_in.values));
    assert_eq!((&fresh.curation, &fresh.warnings), (&built_in.curation, &built_in.warnings));

    let is_setting =
        |line: &str| line.starts_with('#') && (line.starts_with("#  ") || !line.starts_with("# "));
    let settings = template.strip_suffix(super::pages::CURATION_TEMPLATE).unwrap();
    let uncommented = settings.lines().map(|line| match line.strip_prefix('#') {
        Some(setting) if line != "#" && is_setting(line) => setting,
        Some(_) | None => line,
    });
    let uncommented = uncommented.collect::<Vec<_>>().join("\n") + "\n";
    let without_agent = |page: &str| {
        let (before, agent) = page.split_once("[agent]\n").unwrap();
        // What the user trusts follows it, and is in no project's file either.
        [before, agent.split_once("\n# Tier 1").unwrap().1].concat()
    };
    let (before, show) = DEFAULT_TOML.split_once("# Where secrets in").unwrap();
    let without_show = [before, show.split_once("show = \"never\"\n").unwrap().1].concat();
    assert_eq!(without_agent(&uncommented), without_agent(&without_show));
    let repeated = load(&project(uncommented.as_bytes())).unwrap();
    assert_eq!((&repeated.settings, repeated.warnings.len()), (&built_in.settings, 0));
    // Of the sub-agent there is what a project's file may say, and no more: nobody should fill in what has no effect.
    let is_left = |key: &str| {
        (key.starts_with("agent.") && !["agent.background", "agent.exclude"].contains(&key))
            || key.starts_with("share.")
            || key.starts_with("trust.")
            || key == "secrets.show"
    };
    for value in &repeated.values {
        assert_eq!(value.origin == SettingOrigin::BuiltIn, is_left(&value.key), "{}", value.key);
    }
}

#[test]
fn the_curation_in_the_template_is_read_without_a_warning_once_it_is_uncommented() {
    let lines = super::pages::CURATION_TEMPLATE.lines().filter(|line| !line.starts_with("# "));
    let lines: Vec<&str> = lines.map(|line| line.trim_start_matches('#')).collect();
    let loaded = load(&project(lines.join("\n").as_bytes())).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let curation = &loaded.curation;
    assert_eq!((curation.files.len(), curation.presets.len(), curation.personas.len()), (1, 1, 1));
    assert_eq!(curation.presets[0].value.files.len(), 2);
}

#[test]
fn the_reference_names_every_setting() {
    let page = settings_reference();
    let row = "| `default_mode` | `\"summarize\"` | How a file is shown if no other rule applies: \
               \"full\", \"summarize\" or \"outline\". |\n";
    assert!(page.contains(row), "{page}");
    assert!(page.contains("\n\n## `[tiers.4]`\n\n| key | default | meaning |\n|---|---|---|\n| `role` |"));
    assert_eq!(page.matches("\n| `").count(), 99 + 4);
    assert_eq!(page.matches("| `languages` | `{}` |").count(), 4);
    assert!(page.contains("| `names` | `[\".env\", \".env.*\","));
}

#[test]
fn settings_are_known_again_by_all_that_they_were_read_from() {
    let fingerprint = |inputs: &ConfigInputs| load(inputs).unwrap().fingerprint();
    let variable = |name: &str, value: &str| ConfigInputs {
        environment: vec![(name.to_owned(), value.to_owned())],
        ..nothing()
    };
    let none = fingerprint(&nothing());
    assert_eq!(fingerprint(&project(b"")), none);
    for same in ["SLOP_NO_DAEMON", "SLOP_PROJECT", "HOME"] {
        assert_eq!(fingerprint(&variable(same, "1")), none, "{same}");
    }
    let text = b"[output]\nkeep = 3\n";
    let user = ConfigInputs { user_file: Some((PathBuf::from("config.toml"), text.to_vec())), ..nothing() };
    let others = [user, project(text), variable("SLOP_OUTPUT_KEEP", "3"), variable("SLOP_OUTPUT_KEEP", "4")];
    let mut all: Vec<String> = others.iter().map(fingerprint).chain([none]).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 5);
}
