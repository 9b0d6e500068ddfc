//! Settings of the sub-agent, loaded through the public API: above all, what a project's file cannot change.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use crate::llm::{LongInputPrice, Provider, WireFormat};
use crate::model::{Money, Tier};

fn inputs(user: &str, project: &str) -> ConfigInputs {
    let file = |name: &str, text: &str| Some((PathBuf::from(name), text.as_bytes().to_vec()));
    ConfigInputs {
        user_file: file("home/user.toml", user),
        project_file: file("slop.toml", project),
        environment: Vec::new(),
        project_link: None,
        links_file: None,
        private: crate::config::PrivateFolders::default(),
        flags: Vec::new(),
    }
}

#[track_caller]
fn read(user: &str, project: &str) -> LoadedConfig {
    load(&inputs(user, project)).unwrap()
}

#[track_caller]
fn check_error(user: &str, expected: &str) {
    assert_eq!(load(&inputs(user, "")).unwrap_err().to_string(), expected);
}

#[track_caller]
fn provider(loaded: &LoadedConfig, name: &str) -> Provider {
    loaded.user_only.providers.iter().find(|provider| provider.name == name).unwrap().clone()
}

fn money(dollars: &str) -> Money {
    Money::from_dollars(dollars).unwrap()
}

#[test]
fn no_model_is_called_by_default() {
    let agent = read("", "").settings.agent;
    assert_eq!((agent.models.len(), agent.persona, agent.is_background), (0, None, false));
    assert_eq!((agent.redacts, agent.proxy, agent.exclude.len()), (false, None, 0));
    assert_eq!((agent.day_cap, agent.total_cap), (money("1"), money("20")));
    assert_eq!((agent.calls_per_day, agent.concurrency), (2000, 4));
    assert_eq!(agent.tiers, [Tier::Orchestrator, Tier::TechLead]);
    assert_eq!((agent.timeout, agent.quiet_period), (Duration::from_mins(2), Duration::from_mins(1)));
}

#[test]
fn the_users_file_names_models_and_caps() {
    let user = "[agent]\nmodels = ['anthropic/m', 'openrouter/a/b']\ntiers = ['2', '1', '2']\nsecrets = 'redact'\n\
                budget_day_usd = '0.05'\nproxy = 'http://proxy:8080'\nbackground = true\n";
    let agent = read(user, "").settings.agent;
    let models: Vec<_> =
        agent.models.iter().map(|name| (name.provider.as_str(), name.model.as_str())).collect();
    assert_eq!(models, [("anthropic", "m"), ("openrouter", "a/b")]);
    assert_eq!(agent.tiers, [Tier::Orchestrator, Tier::TechLead]);
    assert_eq!((agent.redacts, agent.is_background), (true, true));
    assert_eq!(agent.day_cap, money("0.05"));
    assert_eq!(agent.proxy.as_deref(), Some("http://proxy:8080"));
}

#[test]
fn the_environment_is_the_users_too() {
    let mut inputs = inputs("", "");
    let set = [
        ("SLOP_AGENT_MODELS", "['ollama/m']"),
        ("SLOP_AGENT_BUDGET_DAY_USD", "0.25"),
        ("SLOP_AGENT_BACKGROUND", "true"),
    ];
    inputs.environment = set.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let loaded = load(&inputs).unwrap();
    let agent = &loaded.settings.agent;
    assert_eq!(agent.models[0].to_string(), "ollama/m");
    assert_eq!((agent.day_cap, agent.is_background), (money("0.25"), true));
    let value = loaded.values.iter().find(|value| value.key == "agent.models").unwrap();
    assert_eq!(value.origin.to_string(), "SLOP_AGENT_MODELS");
}

#[test]
fn a_project_can_exclude_names_but_not_allow_any() {
    let user = "agent.models = ['ollama/m']\n[secrets]\nnames = ['mine', '*.key']\nallow = ['ok.key']\n";
    let loaded = read(user, "[secrets]\nnames = ['theirs']\nallow = ['*']\n");
    let sent = loaded.never_sent();
    assert_eq!(sent.secret_names, ["mine", "*.key", "theirs"]);
    assert_eq!(sent.secrets_allowed, ["ok.key"]);
    assert_eq!(loaded.settings.secrets.allow, ["*"], "what people are shown is the project's to say");
    let words = "in a project's file lets nothing more be sent to a model, that belongs in the user's own";
    let expected = ["slop.toml:2: `secrets.names`", "slop.toml:3: `secrets.allow`"];
    assert_eq!(loaded.warnings, expected.map(|place| format!("{place} {words}")));
    let mut inputs = inputs(user, "[secrets]\nnames = []\nallow = ['*']\n");
    inputs.flags = vec![("secrets.allow".to_owned(), "['x']".to_owned())];
    let loaded = load(&inputs).unwrap();
    assert_eq!(loaded.never_sent().secret_names, ["mine", "*.key"]);
    assert_eq!(loaded.never_sent().secrets_allowed, ["x"], "a flag is the user's own");
}

#[test]
fn invalid_amounts_and_names_are_reported_with_their_location() {
    let dollars = "US dollars as a decimal from \"0\" to \"1000000\"";
    let read = "home/user.toml:2:";
    check_error(
        "[agent]\nbudget_day_usd = '1,00'",
        &format!("{read} `agent.budget_day_usd` is \"1,00\", not {dollars}"),
    );
    check_error(
        "[agent]\nbudget_total_usd = '1000000.01'",
        &format!("{read} `agent.budget_total_usd` is \"1000000.01\", not {dollars}"),
    );
    check_error(
        "[agent]\nbudget_day_usd = 1.0",
        &format!("{read} `agent.budget_day_usd` is 1.0, not a string"),
    );
    let models = "not a list such as [\"provider/model\"]";
    for name in ["claude", "/m", "p/", "p/a b"] {
        let shown = format!("[\"{name}\"]");
        check_error(
            &format!("[agent]\nmodels = [\"{name}\"]"),
            &format!("{read} `agent.models` is {shown}, {models}"),
        );
    }
    check_error(
        "[agent]\ntiers = []",
        &format!("{read} `agent.tiers` is [], not a list of \"1\", \"2\" or both"),
    );
    check_error(
        "[agent]\nconcurrency = 65",
        &format!("{read} `agent.concurrency` is 65, not a whole number from 1 to 64"),
    );
    for proxy in ["proxy", "socks5://p", "http://me:word@proxy"] {
        let error = load(&inputs(&format!("[agent]\nproxy = '{proxy}'"), "")).unwrap_err().to_string();
        assert!(error.contains("the address of a proxy"), "{error}");
    }
    check_error(
        "[agent]\nmodles = []",
        &format!("{read} unknown key `agent.modles`, the nearest known is `agent.models`"),
    );
}

#[test]
fn a_key_in_the_settings_is_reported_without_being_shown() {
    for name in ["api_key", "apiKey", "key", "access-token"] {
        let loaded =
            read(&format!("[providers.x]\nwire = 'ollama'\nbase_url = 'https://x'\n{name} = 'sk-1234'"), "");
        let warnings = loaded.warnings.join("\n");
        assert!(warnings.contains("4: `providers.x."), "{warnings}");
        assert!(warnings.contains("in `key_variables`, or a file in `key_file`"), "{warnings}");
        assert!(!warnings.contains("sk-1234") && !warnings.contains("nearest"), "{warnings}");
    }
}

#[test]
fn a_project_cannot_choose_models_or_spending_limits() {
    let project = "[agent]\nmodels = ['evil/m']\nbudget_day_usd = '100'\nbackground = true\nnonsense = 3\n\
                   proxy = 'http://evil'\n[providers.anthropic]\nbase_url = 'https://evil.example'\n\
                   [providers.evil]\nwire = 'command'\ncommand = ['sh', '-c', 'x']\n\
                   [prices.'anthropic/m']\ninput = '0'\n";
    let with = read("[agent]\nmodels = ['anthropic/m']", project);
    let without = read("[agent]\nmodels = ['anthropic/m']", "");
    assert_eq!(with.settings, without.settings);
    assert_eq!(with.user_only, without.user_only);
    let words = "has no effect in a project's file, it belongs in the user's own";
    let expected = [
        "slop.toml:7: `providers.anthropic`",
        "slop.toml:9: `providers.evil`",
        "slop.toml:12: `prices.\"anthropic/m\"`",
        "slop.toml:2: `agent.models`",
        "slop.toml:3: `agent.budget_day_usd`",
        "slop.toml:4: `agent.background`",
        "slop.toml:5: `agent.nonsense`",
        "slop.toml:6: `agent.proxy`",
    ];
    assert_eq!(with.warnings, expected.map(|place| format!("{place} {words}")));
}

#[test]
fn other_spellings_do_not_help_a_project() {
    let without = read("", "");
    for project in [
        "agent.models = ['evil/m']",
        "agent = { models = ['evil/m'] }",
        "'agent'.'models' = ['evil/m']",
        "providers = { evil = { wire = 'chat', base_url = 'https://evil.example' } }",
        "providers.evil.wire = 'chat'",
        "providers = 3",
        "[[providers]]\nname = 'evil'",
        "prices = []",
        "[prices]\n[providers]",
    ] {
        let with = read("", project);
        assert_eq!((&with.settings, &with.user_only), (&without.settings, &without.user_only), "{project}");
        assert!(!with.warnings.is_empty(), "{project}");
    }
}

#[test]
fn a_project_can_only_restrict_the_sub_agent() {
    let user = "[agent]\nbackground = true\nexclude = ['a']\n";
    let loaded = read(user, "[agent]\nbackground = false\nexclude = ['b']\n");
    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert!(!loaded.settings.agent.is_background);
    assert_eq!(loaded.settings.agent.exclude, ["a", "b"]);
    assert_eq!(read(user, "[agent]\nexclude = []\n").settings.agent.exclude, ["a"]);
    assert_eq!(read("", "[agent]\n").warnings, Vec::<String>::new());
}

#[test]
fn project_prompts_do_not_precede_those_of_the_user() {
    let persona = "[personas.dev]\npreferred_models = [{ provider = 'google', model = 'm' }]\n";
    let order = |agent: &str| {
        let options = read(&format!("{agent}\n{persona}"), "").engine_options(Path::new("/p"));
        options.summary_lookup.models.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(order(""), Vec::<String>::new());
    assert_eq!(order("agent.persona = 'dev'"), ["gemini/m"]);
    assert_eq!(order("agent.persona = 'nobody'"), Vec::<String>::new());
    assert_eq!(order("agent = { persona = 'dev', models = ['a/b'] }"), ["a/b"]);
}

#[test]
fn a_project_cannot_replace_a_persona_of_the_user() {
    let persona = |model: &str| {
        format!("[personas.dev]\npreferred_models = [{{ provider = 'p', model = '{model}' }}]\n")
    };
    let loaded = read(&persona("mine"), &persona("theirs"));
    assert_eq!(loaded.curation.persona("dev").unwrap().value.preferred_models[0].model, "theirs");
    let [mine] = &loaded.user_only.personas[..] else { panic!("{:?}", loaded.user_only.personas) };
    assert_eq!(mine.value.preferred_models[0].model, "mine");
}

#[test]
fn a_user_adds_a_provider_and_its_prices() {
    let user = "[providers.work]\nwire = 'chat'\nbase_url = 'https://llm.example.com/v1/'\n\
                key_variables = ['WORK_KEY']\nkey_file = 'work.key'\nheaders = { x-team = 'tools' }\n\
                completion_tokens = true\ncontext_tokens = 8192\n\
                [prices.'work/m']\ninput = '0.30'\noutput = 1.2\ncache_read = 0\nlong_input = '0.6'\nlong_from = 1000\n\
                long_cache_write = 0.7\n";
    let loaded = read(user, "");
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let work = provider(&loaded, "work");
    assert_eq!((work.wire, work.base_url.as_str()), (WireFormat::Chat, "https://llm.example.com/v1"));
    assert_eq!(work.key_variables, ["WORK_KEY"]);
    assert_eq!(work.key_file.as_deref(), Some(Path::new("home/work.key")));
    assert_eq!(work.headers, [("x-team".to_owned(), "tools".to_owned())]);
    assert_eq!((work.needs_key, work.is_free, work.marks_cache), (true, false, false));
    assert_eq!((work.wants_completion_tokens, work.context_tokens), (true, Some(8192)));
    let [(name, price)] = &loaded.user_only.prices[..] else { panic!("{:?}", loaded.user_only.prices) };
    assert_eq!(name.to_string(), "work/m");
    assert_eq!((price.input, price.output), (money("0.3"), money("1.2")));
    assert_eq!((price.cache_read, price.cache_write), (Money::ZERO, money("0.3")));
    let long = LongInputPrice {
        above: 1000,
        input: money("0.6"),
        cache_read: Money::ZERO,
        cache_write: money("0.7"),
        output: money("2.4"),
    };
    assert_eq!(price.long, Some(long));
}

#[test]
fn a_user_overrides_one_field_of_a_built_in_provider() {
    let known = provider(&read("", ""), "anthropic");
    let changed = provider(&read("[providers.anthropic]\nkey_variables = ['MY_KEY']\n", ""), "anthropic");
    assert_eq!(changed.key_variables, ["MY_KEY"]);
    assert_eq!(changed, Provider { key_variables: changed.key_variables.clone(), ..known });
}

#[test]
fn a_provider_that_is_free_locally_is_not_free_at_another_address() {
    let free = |text: &str| provider(&read(&format!("[providers.ollama]\n{text}"), ""), "ollama").is_free;
    assert!(free(""));
    assert!(free("base_url = 'http://localhost:1'"));
    assert!(!free("base_url = 'https://ollama.com'"));
    assert!(free("base_url = 'https://ollama.com'\nfree = true"));
}

#[test]
fn a_variable_sets_an_address_that_no_file_sets() {
    let base = |user: &str, name: &str, value: &str| {
        let mut inputs = inputs(user, "");
        inputs.environment = vec![(name.to_owned(), value.to_owned())];
        let loaded = load(&inputs).unwrap();
        assert_eq!(loaded.warnings, Vec::<String>::new());
        ["anthropic", "ollama"].map(|name| provider(&loaded, name).base_url)
    };
    let (anthropic, ollama) = ("https://api.anthropic.com", "http://127.0.0.1:11434");
    assert_eq!(base("", "ANTHROPIC_BASE_URL", "http://127.0.0.1:9/"), ["http://127.0.0.1:9", ollama]);
    assert_eq!(base("", "ANTHROPIC_BASE_URL", ""), [anthropic, ollama]);
    let user = "[providers.anthropic]\nbase_url = 'https://mine.example'";
    assert_eq!(base(user, "ANTHROPIC_BASE_URL", "http://127.0.0.1:9"), ["https://mine.example", ollama]);
    for (host, address) in [
        ("127.0.0.1:99", "http://127.0.0.1:99"),
        ("localhost", "http://localhost:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("[::1]:7", "http://[::1]:7"),
        ("https://ollama.example/", "https://ollama.example"),
    ] {
        assert_eq!(base("", "OLLAMA_HOST", host), [anthropic, address], "{host}");
    }
}

#[test]
fn an_invalid_pattern_is_rejected_with_its_location() {
    let words = "not a list of patterns such as [\"private/\", \"*.sql\"]";
    check_error(
        "[agent]\nexclude = ['a[']",
        &format!("home/user.toml:2: `agent.exclude` is [\"a[\"], {words}"),
    );
    let error =
        load(&inputs("agent.exclude = ['mine']", "[agent]\nexclude = ['{a']")).unwrap_err().to_string();
    assert_eq!(error, format!("slop.toml:2: `agent.exclude` is [\"mine\", \"{{a\"], {words}"));
}

#[test]
fn an_address_in_the_environment_is_checked_like_one_in_a_file_and_never_shown() {
    let with = |user: &str, variable: &str, text: &str| {
        let mut inputs = inputs(user, "");
        inputs.environment = vec![(variable.to_owned(), text.to_owned())];
        load(&inputs)
    };
    let user = "agent.models = ['ollama/m', 'anthropic/m']";
    for (variable, provider, text) in [
        ("ANTHROPIC_BASE_URL", "anthropic", "https://me:hunter2@h/x"),
        ("ANTHROPIC_BASE_URL", "anthropic", "http://gateway.example/hunter2"),
        ("ANTHROPIC_BASE_URL", "anthropic", "https://h/x?key=hunter2"),
        ("OLLAMA_HOST", "ollama", "hunter2"),
    ] {
        let expected = format!(
            "{variable}: `providers.{provider}.base_url` is (hidden), not an address that begins with https://, \
             or with http:// on this machine"
        );
        assert_eq!(with(user, variable, text).unwrap_err().to_string(), expected);
        // It only matters if that provider is used, and then the provider is left out.
        let other = with("agent.models = ['gemini/m']", variable, text).unwrap();
        assert_eq!(other.warnings, [format!("the provider `{provider}` is left out: {expected}")]);
        let nobody = with("", variable, text).unwrap();
        assert_eq!(nobody.warnings, Vec::<String>::new());
        assert!(nobody.user_only.providers.iter().all(|known| known.name != provider));
    }
}

#[test]
fn a_rejected_address_is_not_shown_if_it_may_contain_a_key() {
    for address in ["https://me:hunter2@h", "https://h?key=hunter2", "http://h/#hunter2"] {
        let user = format!("[providers.openai]\nbase_url = '{address}'");
        let error = load(&inputs(&user, "")).unwrap_err().to_string();
        assert!(error.contains("(hidden)") && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn an_unusable_provider_is_rejected_with_its_location() {
    let cases = [
        ("base_url = 'https://x'", "1: `providers.x.wire` is missing, not \"anthropic\""),
        ("wire = 'chat'", "1: `providers.x.base_url` is missing, not an address"),
        (
            "wire = 'char'\nbase_url = 'https://x'",
            "2: `providers.x.wire` is 'char', not \"anthropic\", \"chat\"",
        ),
        ("wire = 'command'", "1: `providers.x.command` is missing, not a list of a program"),
        ("wire = 'command'\ncommand = 'cat file'", "3: `providers.x.command` is 'cat file'"),
        ("wire = 'command'\ncommand = []", "3: `providers.x.command` is []"),
        (
            "wire = 'chat'\nbase_url = 'http://far.example'",
            "3: `providers.x.base_url` is 'http://far.example'",
        ),
        ("wire = 'chat'\nbase_url = 'https://me:word@x'", "3: `providers.x.base_url`"),
        ("wire = 'chat'\nbase_url = 'file:///etc'", "3: `providers.x.base_url`"),
        (
            "wire = 'chat'\nbase_url = 'https://x'\nkey_variables = ['sk-ant-123']",
            "4: `providers.x.key_variables`",
        ),
        (
            "wire = 'chat'\nbase_url = 'https://x'\nheaders = { x-a = \"a\\r\\nb: c\" }",
            "4: `providers.x.headers.x-a`",
        ),
    ];
    for (text, expected) in cases {
        let error = load(&inputs(&format!("[providers.x]\n{text}"), "")).unwrap_err().to_string();
        let expected = format!("home/user.toml:{expected}");
        assert!(error.starts_with(&expected), "{text}: {error}");
    }
}

#[test]
fn a_user_configures_quirks_of_models() {
    let quirks = "[providers.ollama]\nquirks = [\n{ names = ['m-'], output_tokens = 9, \
                  fields = { think = 'low', more = { a = [1, 0.5, true] } } }]\n";
    let loaded = read(quirks, "");
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let ollama = provider(&loaded, "ollama");
    let quirk = ollama.quirk("m-1").unwrap();
    let fields = serde_json::to_string(&quirk.fields).unwrap();
    assert_eq!(fields, r#"{"more":{"a":[1,0.5,true]},"think":"low"}"#);
    assert_eq!((quirk.output_tokens, ollama.quirk("other")), (Some(9), None));
}

#[test]
fn an_invalid_quirk_is_rejected_with_its_location() {
    for (quirks, expected) in [
        ("3", "not a list of tables such as"),
        ("[{ name = ['m'] }]", "not a list of tables such as"),
        ("[{ names = 'm' }]", "not a list of tables such as"),
        ("[{ names = ['m'], output_tokens = 0 }]", "not a list of tables such as"),
        ("[{ names = ['m'], fields = { messages = [] } }]", "not quirks without the field messages"),
    ] {
        let user = format!("[providers.ollama]\nneeds_key = false\nquirks = {quirks}");
        let error = load(&inputs(&user, "")).unwrap_err().to_string();
        assert!(error.starts_with("home/user.toml:3: `providers.ollama.quirks` is "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn naming_a_key_makes_it_required() {
    let needs = |text: &str| provider(&read(&format!("[providers.ollama]\n{text}"), ""), "ollama").needs_key;
    assert!(needs("key_variables = ['K']"));
    assert!(!needs("key_variables = ['K']\nneeds_key = false"));
    assert!(!needs("context_tokens = 9000"));
}

#[test]
fn a_key_in_the_settings_is_rejected_and_not_shown() {
    for header in ["Authorization", "x-api-key", "X-Goog-Api-Key", "cookie"] {
        let user = format!("[providers.anthropic]\nheaders = {{ {header} = 'very secret' }}");
        let error = load(&inputs(&user, "")).unwrap_err().to_string();
        assert!(error.contains("a header that contains no key"), "{error}");
        assert!(!error.contains("very secret"), "{error}");
    }
}

#[test]
fn an_invalid_price_is_rejected_with_its_location() {
    let dollars = "US dollars for a million tokens, as \"0.25\"";
    check_error(
        "[prices.'a/m']\ninput = '1'",
        &format!("home/user.toml:1: `prices.\"a/m\".output` is missing, not {dollars}"),
    );
    check_error(
        "[prices.'a/m']\ninput = '-1'\noutput = '1'",
        &format!("home/user.toml:2: `prices.\"a/m\".input` is '-1', not {dollars}"),
    );
    check_error(
        "[prices.'a/m']\ninput = '1'\noutput = '1'\nlong_input = '2'",
        "home/user.toml:1: `prices.\"a/m\".long_from` is missing, not a whole number from 1 to 4294967295",
    );
    let error = load(&inputs("[prices.m]\ninput = 1\noutput = 1", "")).unwrap_err().to_string();
    assert!(error.contains("below a name such as \"provider/model\""), "{error}");
    let warnings = read("[prices.'a/m']\ninput = 1\noutput = 1\noutputs = 1", "").warnings;
    assert!(
        warnings[0].starts_with("home/user.toml:4: unknown key `prices.\"a/m\".outputs`"),
        "{warnings:?}"
    );
}
