//! The curation, loaded through the public API.

use std::path::PathBuf;

use super::*;
use crate::model::{AggregationStrategy, ContentHash, FileItem, MaskMode, PersonaViews, Tier, ViewMode};

fn inputs(user: &str, project: &str) -> ConfigInputs {
    let file = |name: &str, text: &str| Some((PathBuf::from(name), text.as_bytes().to_vec()));
    ConfigInputs {
        user_file: file("user.toml", user),
        project_file: file("slop.toml", project),
        environment: Vec::new(),
        project_link: None,
        links_file: None,
        private: crate::config::PrivateFolders::default(),
        flags: Vec::new(),
    }
}

#[track_caller]
fn read(project: &str) -> Curation {
    let loaded = load(&inputs("", project)).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    loaded.curation
}

#[track_caller]
fn check_error(project: &str, expected: &str) {
    let expected = format!("slop.toml:{expected}; the entry is left out");
    assert_eq!(load(&inputs("", project)).unwrap().problems, [expected]);
}

#[track_caller]
fn check_warnings(user: &str, project: &str, expected: &[&str]) {
    assert_eq!(load(&inputs(user, project)).unwrap().warnings, expected);
}

#[test]
fn every_field_of_an_item_is_read() {
    let hash = ContentHash::digest(b"x");
    let curation = read(&format!(
        r#"[[files]]
path = "src/*.py"
auto_aggregate = false
force_full = true
view_mode = "skeleton"
selected = true
ast_signatures = true
ast_definitions = true
ast_mask = {{ "b::C" = "sig", a = "def", "b::C::d(int)" = "hide" }}
tier = 3
injected_at = 1767225600.5
[[files.custom_slices]]
start_line = 10
end_line = 25
tag = "hot loop"
comment = "why"
content_hash = "{hash}"
start_context = ["a", "b"]
end_context = ["c"]
line_hashes = ["0f"]
unique_lines = {{ before = ["p"], after = ["q", "r"] }}
copies = 2
"#
    ));
    let [item] = &curation.files[..] else { panic!("{curation:?}") };
    assert_eq!(item.path, "src/*.py");
    assert!(!item.auto_aggregate && item.force_full && item.selected);
    assert!(item.ast_signatures && item.ast_definitions);
    assert_eq!(item.view_mode, Some(ViewMode::Skeleton));
    let mask: Vec<_> = item.ast_mask.iter().map(|(name, mode)| (name.as_str(), *mode)).collect();
    let (hide, sig, def) = (MaskMode::Hide, MaskMode::Signature, MaskMode::Definition);
    assert_eq!(mask, [("b::C", sig), ("a", def), ("b::C::d(int)", hide)]);
    assert_eq!((item.tier, item.injected_at), (Some(Tier::Worker), Some(1_767_225_600.5)));
    let [slice] = &item.custom_slices[..] else { panic!("{item:?}") };
    assert_eq!((slice.start_line, slice.end_line), (10, 25));
    assert_eq!((slice.tag.as_str(), slice.comment.as_str()), ("hot loop", "why"));
    let anchors = &slice.anchors;
    assert_eq!((anchors.content_hash, anchors.copies), (Some(hash), 2));
    assert_eq!((&anchors.before[..], &anchors.after[..]), (&["a".into(), "b".into()][..], &["c".into()][..]));
    assert_eq!(anchors.line_hashes, ["0f"]);
    assert_eq!((anchors.unique_before.len(), anchors.unique_after.len()), (1, 2));
}

#[test]
fn missing_keys_of_an_item_have_defaults() {
    assert_eq!(read("[[files]]\npath = 'a'\n").files, [FileItem::plain("a")]);
    assert_eq!(read("files = [{path = 'a'}, {path = 'b'}]").files.len(), 2);
    assert_eq!(read("[[files]]\npath = 'a'\ninjected_at = 5\n").files[0].injected_at, Some(5.0));
    assert_eq!(read(""), Curation::default());
}

#[test]
fn the_older_spelling_of_anchors_is_read_and_the_newer_wins() {
    let slice = |anchors: &str| {
        let text =
            format!("[[files]]\npath='a'\n[[files.custom_slices]]\nstart_line=1\nend_line=1\n{anchors}");
        let anchors = read(&text).files[0].custom_slices[0].anchors.clone();
        (anchors.before.join(","), anchors.after.join(","))
    };
    let pair = |before: &str, after: &str| (before.to_owned(), after.to_owned());
    assert_eq!(slice("anchor_lines = ['a', 'b']"), pair("a,b", ""));
    assert_eq!(slice("anchor_lines = { before = ['a'], after = ['b'] }"), pair("a", "b"));
    assert_eq!(
        slice("anchor_lines = { before = ['a'], after = ['b'] }\nstart_context=['c']"),
        pair("c", "b")
    );
    assert_eq!(slice(""), pair("", ""));
}

#[test]
fn a_preset_holds_items_and_plain_paths() {
    let curation = read(
        "[presets.'a b']\ndescription = 'd'\nfiles = ['x.py', { path = 'y.py', view_mode = 'full' }]\n\
         screenshots = ['s.png']\n[[presets.c.files]]\npath = 'z.py'\n",
    );
    let preset = &curation.preset("a b").unwrap().value;
    assert_eq!((preset.description.as_str(), &preset.screenshots[..]), ("d", &["s.png".to_owned()][..]));
    let expected = FileItem { view_mode: Some(ViewMode::Full), ..FileItem::plain("y.py") };
    assert_eq!(preset.files, [FileItem::plain("x.py"), expected]);
    assert_eq!(curation.preset("c").unwrap().value.files, [FileItem::plain("z.py")]);
    assert_eq!(curation.preset("c").unwrap().origin.to_string(), "slop.toml:5");
}

#[test]
fn every_field_of_a_persona_is_read() {
    let curation = read(
        "[personas.dev]\ntier = 3\naggregation_strategy = 'full'\ncontext_preset = 'p'\nsystem_prompt = 's'\n\
         [[personas.dev.preferred_models]]\nprovider = 'anthropic'\nmodel = 'm'\ntemperature = 1\ntop_p = 0.5\n\
         max_output_tokens = 9\n[[personas.dev.preferred_models]]\nprovider = 'x'\nmodel = 'y'\n[personas.none]\n",
    );
    let persona = &curation.persona("dev").unwrap().value;
    assert_eq!(
        (persona.tier, persona.aggregation_strategy),
        (Some(Tier::Worker), Some(AggregationStrategy::Full))
    );
    assert_eq!((persona.context_preset.as_deref(), persona.system_prompt.as_str()), (Some("p"), "s"));
    let [first, second] = &persona.preferred_models[..] else { panic!("{persona:?}") };
    assert_eq!((first.provider.as_str(), first.model.as_str()), ("anthropic", "m"));
    assert_eq!((first.temperature, first.top_p, first.max_output_tokens), (Some(1.0), Some(0.5), Some(9)));
    assert_eq!((second.temperature, second.top_p, second.max_output_tokens), (None, None, None));
    assert!(curation.persona("none").unwrap().value.preferred_models.is_empty());
}

#[test]
fn a_persona_has_the_views_of_a_tier() {
    let text = "[personas.a]\ntier = 3\nbudget_tokens = 0\nfocus = ['src']\nview = 'outline'\nfocus_view = 'window'\n\
                languages.markdown.view = 'full'\n[personas.b]\nview = 'full'\n[personas.c]\nfocus_view = 'full'\n";
    let loaded = load(&inputs("", text)).unwrap();
    let persona = &loaded.curation.persona("a").unwrap().value;
    assert_eq!((persona.budget_tokens, &persona.focus), (Some(0), &vec!["src".to_owned()]));
    let languages = [("markdown".to_owned(), ViewMode::Full)].into();
    let views = PersonaViews { view: Some(ViewMode::Outline), focus_view: Some(ViewMode::Window), languages };
    assert_eq!(persona.views, views);
    assert_eq!(loaded.curation.persona("b").unwrap().value.views.view, Some(ViewMode::Full));
    // Without a tier, the view would have no effect.
    assert!(loaded.curation.persona("c").is_none());
    assert_eq!(
        loaded.problems,
        [
            "slop.toml:11: `personas.c.focus_view` is 'full', not with the tier that it requires; the entry is left out"
        ]
    );
}

#[test]
fn the_projects_presets_and_personas_win_by_name() {
    let user = "[presets.a]\ndescription='u'\n[presets.b]\ndescription='u'\n[personas.a]\ntier=1\n";
    let project = "[presets.a]\ndescription='p'\n[personas.a]\ntier=2\n";
    let curation = load(&inputs(user, project)).unwrap().curation;
    let descriptions: Vec<_> =
        curation.presets.iter().map(|preset| preset.value.description.as_str()).collect();
    assert_eq!(descriptions, ["p", "u"]);
    assert_eq!(curation.preset("b").unwrap().origin.to_string(), "user.toml:3");
    let [persona] = &curation.personas[..] else { panic!("{curation:?}") };
    assert_eq!(persona.value.tier, Some(Tier::TechLead));
}

#[test]
fn the_users_items_have_no_effect_and_cause_a_warning() {
    let loaded = load(&inputs("[[files]]\npath = 'a'\n", "[[files]]\npath = 'b'\n")).unwrap();
    assert_eq!(loaded.curation.files, [FileItem::plain("b")]);
    let expected = "user.toml: `files` has no effect here, it belongs in a project's slop.toml";
    assert_eq!(loaded.warnings, [expected]);
}

#[test]
fn an_unknown_key_is_only_a_warning() {
    let near = "has no effect, the nearest known is";
    check_warnings(
        "",
        "[[files]]\npath = 'a'\nveiw_mode = 'full'\n[[files.custom_slices]]\nstart_line=1\nend_line=2\ntaq=1\n\
         [presets.p]\ndesc = 1\n[personas.q]\n'a.b' = 1\n[[personas.q.preferred_models]]\nprovider = 'x'\n\
         model = 'y'\nendpoint = 'https://example.org'\n",
        &[
            &format!("slop.toml:3: unknown key `files.veiw_mode` {near} `files.view_mode`"),
            &format!("slop.toml:7: unknown key `files.custom_slices.taq` {near} `files.custom_slices.tag`"),
            "slop.toml:9: unknown key `presets.p.desc` has no effect; known: `presets.p.description`, `presets.p.files`, `presets.p.screenshots`",
            "slop.toml:11: unknown key `personas.q.\"a.b\"` has no effect",
            "slop.toml:15: unknown key `personas.q.preferred_models.endpoint` has no effect",
        ],
    );
    let many: Vec<String> = (0..1000).map(|key| format!("k{key} = 1")).collect();
    let many = many.join("\n");
    let warnings = load(&inputs("", &format!("[[files]]\npath = 'a'\n{many}"))).unwrap().warnings;
    assert_eq!(warnings.len(), 21);
    assert_eq!(warnings[20], "keys without effect that are not listed here: 980");
}

#[test]
fn an_invalid_value_is_reported_with_its_location_and_what_is_allowed() {
    check_error("\nfiles = 3", "2: `files` is 3, not a list of tables, each under [[files]]");
    check_error("[files]\n", "1: `files` is a table, not a list of tables, each under [[files]]");
    check_error("files = ['a']", "1: `files` is 'a', not a table with a path");
    check_error("\n[[files]]\n", "2: `files.path` is missing, not a path or a pattern");
    check_error("[[files]]\npath = ''", "2: `files.path` is '', not a path or a pattern");
    let cases = [
        ("tier = 5", "tier` is 5, not a whole number from 1 to 4"),
        ("tier = '3'", "tier` is '3', not a whole number from 1 to 4"),
        (
            "ast_mask = 'def'",
            "ast_mask` is 'def', not a table from symbols to \"full\", \"def\", \"sig\", \"agg\" or \"hide\"",
        ),
        (
            "ast_mask = { a = 'all' }",
            "ast_mask.a` is 'all', not \"full\", \"def\", \"sig\", \"agg\" or \"hide\"",
        ),
        (
            "ast_mask = { a.b = 'def' }",
            "ast_mask.a` is a table, not a mode; a name with a dot in it must be quoted",
        ),
    ];
    for (line, expected) in cases {
        check_error(&format!("[[files]]\npath = 'a'\n{line}"), &format!("3: `files.{expected}"));
    }
    let loaded = load(&inputs("", "[[files]]\npath='a'\nview_mode = 'window'")).unwrap();
    let error = &loaded.problems[0];
    assert!(error.starts_with("slop.toml:3: `files.view_mode` is 'window', not \"full\", "), "{error}");
}

#[test]
fn an_invalid_slice_is_reported_with_its_location() {
    let cases = [
        (
            "start_line = 2",
            "4: `files.custom_slices.end_line` is missing, not a whole number from 2 to 4294967295",
        ),
        (
            "start_line = 0\nend_line = 1",
            "5: `files.custom_slices.start_line` is 0, not a whole number from 1 to 4294967295",
        ),
        (
            "start_line = 3\nend_line = 2",
            "6: `files.custom_slices.end_line` is 2, not a whole number from 3 to 4294967295",
        ),
        (
            "start_line = 1\nend_line = 1\nanchor_lines = 1",
            "7: `files.custom_slices.anchor_lines` is 1, not a list of strings, or { before = […], after = […] }",
        ),
    ];
    for (lines, expected) in cases {
        check_error(&format!("[[files]]\npath = 'a'\n\n[[files.custom_slices]]\n{lines}"), expected);
    }
}

#[test]
fn a_preferred_model_is_rejected_with_values_that_no_provider_accepts() {
    let model = "[[personas.a.preferred_models]]\nprovider = 'x'\nmodel = 'y'\n";
    let key = "personas.a.preferred_models";
    for (line, expected) in [
        ("temperature = 2.1", "temperature` is 2.1, not a number from 0 to 2"),
        ("max_output_tokens = 0", "max_output_tokens` is 0, not a whole number from 1 to 1000000"),
        (
            "max_output_tokens = 1000001",
            "max_output_tokens` is 1000001, not a whole number from 1 to 1000000",
        ),
    ] {
        check_error(&format!("{model}{line}"), &format!("4: `{key}.{expected}"));
    }
    let most = format!("{model}temperature = 2\ntop_p = 1\nmax_output_tokens = 1_000_000");
    load(&inputs("", &most)).unwrap();
}

#[test]
fn an_invalid_preset_or_persona_is_reported_with_its_location() {
    check_error("presets = 1", "1: `presets` is 1, not a table of tables");
    check_error("[presets]\na = 1", "2: `presets.a` is 1, not a table");
    check_error("presets.a.files = 'x'", "1: `presets.a.files` is 'x', not a list of paths and tables");
    check_error("presets.a.files = [1]", "1: `presets.a.files` is 1, not a path or a table with a path");
    check_error("[personas.a]\ntier = 0", "2: `personas.a.tier` is 0, not a whole number from 1 to 4");
    check_error(
        "[personas.a]\npreferred_models = [{ provider = 'x' }]",
        "2: `personas.a.preferred_models.model` is missing, not the name of a model",
    );
    check_error(
        "[personas.a]\npreferred_models = [{ provider = 'x', model = 'y', top_p = 1.5 }]",
        "2: `personas.a.preferred_models.top_p` is 1.5, not a number from 0 to 1",
    );
    check_error(
        "[personas.a]\naggregation_strategy = 'most'",
        "2: `personas.a.aggregation_strategy` is 'most', not \"auto\", \"summarize\" or \"full\"",
    );
}

#[test]
fn hostile_curation_is_an_error_or_a_warning_on_short_lines() {
    let long = "k".repeat(1_000_000);
    for text in [
        format!("[presets.{long}]\n{long} = 1"),
        format!("[[files]]\npath = '{long}'\n{long} = '{long}'"),
        format!("presets.{long} = '{long}'"),
        format!("presets.a.files = {}1{}", "[".repeat(70), "]".repeat(70)),
        format!("presets.{} = 1", vec!["a"; 70].join(".")),
        format!("[[files]]\npath = 'a'\nast_mask = {{ {long} = '{long}' }}"),
    ] {
        let reported = match load(&inputs("", &text)) {
            Ok(loaded) => [loaded.warnings, loaded.problems].concat(),
            Err(error) => vec![error.to_string()],
        };
        assert!(reported.iter().all(|line| line.len() < 500 && !line.contains('\n')), "{reported:?}");
    }
}

#[test]
fn an_entry_that_another_one_replaces_is_reported() {
    let text = "[[files]]\npath = 'a'\n[[files]]\npath = 'b'\n[[files]]\nforce_full = true\npath = 'a'\n";
    let loaded = load(&inputs("", text)).unwrap();
    assert_eq!(loaded.curation.files.len(), 3);
    let [warning] = &loaded.warnings[..] else { panic!("{:?}", loaded.warnings) };
    assert!(warning.ends_with(":7: an earlier entry for `a` has no effect"), "{warning}");
}

#[test]
fn screenshots_of_a_wrong_type_affect_nothing_else() {
    let loaded = load(&inputs("", "screenshots = 3\n[project]\nname = 'n'\n")).unwrap();
    assert_eq!(loaded.settings.project.name, "n");
    let [problem] = &loaded.problems[..] else { panic!("{:?}", loaded.problems) };
    assert!(problem.contains(":1: `screenshots` is 3, not a list of strings"), "{problem}");
}

#[test]
fn an_invalid_value_affects_only_its_own_entry() {
    let text = "[project]\nname = 'n'\n[[files]]\npath = 'a'\ntier = 9\n[[files]]\npath = 'b'\n\
                [[files.custom_slices]]\nstart_line = 0\nend_line = 1\n\
                [[files.custom_slices]]\nstart_line = 1\nend_line = 1\n\
                [presets.p]\nfiles = ['x', 3]\n[presets.q]\nfiles = 1\n[personas.r]\ntier = 7\n[personas.s]\n";
    let loaded = load(&inputs("", text)).unwrap();
    let curation = &loaded.curation;
    assert_eq!(loaded.settings.project.name, "n");
    let [item] = &curation.files[..] else { panic!("{curation:?}") };
    assert_eq!((item.path.as_str(), item.custom_slices.len()), ("b", 1));
    assert_eq!(curation.preset("p").unwrap().value.files, [FileItem::plain("x")]);
    assert!(curation.preset("q").is_none() && curation.persona("r").is_none());
    assert!(curation.persona("s").is_some());
    let lines: Vec<&str> = loaded.problems.iter().filter_map(|line| line.split(':').nth(1)).collect();
    assert_eq!(lines, ["5", "9", "15", "17", "19"]);
    let many = format!("files = [{}]", "1, ".repeat(1000));
    assert_eq!(load(&inputs("", &many)).unwrap().problems.len(), 21);
}

#[test]
fn the_mask_states_and_hashes_of_other_programs_are_read() {
    let item = "[[files]]\npath = 'a'\nast_mask = { a = 'full', b = 'agg' }\n\
                [[files.custom_slices]]\nstart_line = 1\nend_line = 1\ncontent_hash = 'd41d8cd9'\n";
    let item = &read(item).files[0];
    let modes: Vec<_> = item.ast_mask.iter().map(|(_, mode)| *mode).collect();
    assert_eq!(modes, [MaskMode::Definition, MaskMode::Summary]);
    assert_eq!(item.custom_slices[0].anchors.content_hash, None);
}

#[test]
fn the_files_of_an_older_project_file_are_read() {
    let text = "[project]\nname = 'n'\ngit_dir = '.'\n[output]\noutput_dir = './gen'\n[files]\nbase_dir = 'src'\n\
                paths = ['a.py', { path = 'b.py', force_full = true }, { path = 'c.py', tier = 9 }, '/abs/d.py']\n\
                tier_assignments = { 'a.py' = 3 }\n[screenshots]\npaths = []\n";
    let loaded = load(&inputs("", text)).unwrap();
    let expected = [
        FileItem { tier: Some(Tier::Worker), ..FileItem::plain("src/a.py") },
        FileItem { force_full: true, ..FileItem::plain("src/b.py") },
        FileItem::plain("/abs/d.py"),
    ];
    assert_eq!(loaded.curation.files, expected);
    assert_eq!(loaded.problems.len(), 1);
    let words = "has no effect; `slop init --from` writes a file without it";
    let unknown = ["3: `project.git_dir`"];
    assert_eq!(loaded.warnings, unknown.map(|key| format!("slop.toml:{key} {words}")));
    assert_eq!(loaded.settings.project.output_dir, PathBuf::from("gen"));
}

#[test]
fn an_entry_hides_symbols_even_if_another_value_is_invalid() {
    let project = "[[files]]\npath = 'a.py'\nforce_full = true\nview_mode = 'skelton'\nast_mask = { key = 'hide', b = 'bogus' }\n\
                   [[files]]\npath = 'b.py'\nview_mode = 'skelton'\nast_mask = { b = 'sig' }\n\
                   [presets.p]\nfiles = [{ path = 'c.py', tier = 9, ast_mask = { key = 'hide' } }]\n";
    let loaded = load(&inputs("", project)).unwrap();
    let hiding =
        |path| FileItem { ast_mask: vec![("key".to_owned(), MaskMode::Hide)], ..FileItem::plain(path) };
    assert_eq!(loaded.curation.files, [hiding("a.py")]);
    assert_eq!(loaded.curation.preset("p").unwrap().value.files, [hiding("c.py")]);
    assert_eq!(loaded.problems.len(), 3, "{:?}", loaded.problems);
    // Also in an older file, under the wrong header, and with unquoted dots.
    for files in [
        "[files]\nbase_dir = 3\npaths = [{ path = 'a.py', ast_mask = { key = 'hide' }, tier = 7 }]\n",
        "[files]\npath = 'a.py'\nast_mask = { key = 'hide' }\n",
        "[[files]]\npath = ['a.py']\nast_mask = { key = 'hide' }\n",
    ] {
        assert_eq!(load(&inputs("", files)).unwrap().curation.files, [hiding("a.py")], "{files}");
    }
    let unquoted = "[[files]]\npath = 'a.py'\nast_mask = { A.b.key = 'hide' }\n";
    let [item] = &load(&inputs("", unquoted)).unwrap().curation.files[..] else { panic!("{unquoted}") };
    assert_eq!(item.ast_mask, [("A.b.key".to_owned(), MaskMode::Hide)]);
}

#[test]
fn an_entry_excludes_its_file_even_if_another_value_is_invalid() {
    let project = "[[files]]\npath = 'a.py'\nauto_aggregate = false\ntier = 7\n\
                   [[files]]\npath = 'b.py'\nview_mode = 'none'\nforce_full = 1\n\
                   [[files]]\npath = 'c.py'\nview_mode = 'outline'\nselected = 1\ninjected_at = '2026-01-01'\n";
    let loaded = load(&inputs("", project)).unwrap();
    let view = |path, view| FileItem { view_mode: Some(view), ..FileItem::plain(path) };
    let expected = [
        FileItem { auto_aggregate: false, ..FileItem::plain("a.py") },
        view("b.py", ViewMode::None),
        view("c.py", ViewMode::Outline),
    ];
    assert_eq!(loaded.curation.files, expected);
    assert_eq!(loaded.problems.len(), 2, "{:?}", loaded.problems);
}
