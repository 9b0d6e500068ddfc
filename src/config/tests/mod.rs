//! The guarantees of this room, tested through its public API.

mod refused;

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
fn a_higher_layer_takes_precedence_and_is_the_origin() {
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
fn layers_leave_other_keys_unchanged() {
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
    assert_eq!((keys.len(), all), (106, 106));
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
fn folders_are_normalized() {
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
fn an_unknown_variable_causes_a_warning_and_foreign_ones_are_ignored() {
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
            unknown variable `SLOP_FILES_MAX_BYTES`, the nearest known is `SLOP_LIMITS_MAX_BYTES`
            unknown variable `SLOP_PROJET_NAME`, the nearest known is `SLOP_PROJECT_NAME`
            unknown variable `SLOP_TIERS_1_LANGUAGES_VIEW`, the nearest known is `SLOP_TIERS_1_FOCUS_VIEW`"]];
    expected.assert_eq(&loaded.warnings.join("\n"));
    assert!(loaded.values.iter().all(|value| value.origin == SettingOrigin::BuiltIn));
}

#[test]
fn a_flag_accepts_a_bare_string_or_a_value_in_toml() {
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
fn the_template_changes_nothing_and_uncommented_it_equals_the_defaults() {
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
        // `[trust]` follows it, and is not in a project's file either.
        [before, agent.split_once("\n# Tier 1").unwrap().1].concat()
    };
    let (before, show) = DEFAULT_TOML.split_once("# Where secrets in").unwrap();
    let without_show = [before, show.split_once("show = \"never\"\n").unwrap().1].concat();
    assert_eq!(without_agent(&uncommented), without_agent(&without_show));
    let repeated = load(&project(uncommented.as_bytes())).unwrap();
    assert_eq!((&repeated.settings, repeated.warnings.len()), (&built_in.settings, 0));
    // Of the sub-agent, only the settings that have an effect in a project's file are included.
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
    assert_eq!(page.matches("\n| `").count(), 106 + 4);
    assert_eq!(page.matches("| `languages` | `{}` |").count(), 4);
    assert!(page.contains("| `names` | `[\".env\", \".env.*\","));
}

#[test]
fn the_fingerprint_covers_all_sources_of_settings() {
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
