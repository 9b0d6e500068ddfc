//! Which models the settings choose for the sub-agent, and the errors if none can be called.

#![expect(clippy::disallowed_methods, reason = "a test sets the scene")]

use std::path::PathBuf;

use secrecy::{ExposeSecret, SecretString};

use super::*;
use crate::api::ApiError;
use crate::config::{ConfigInputs, LoadedConfig, load};
use crate::model::Money;

fn loaded(user: &str) -> LoadedConfig {
    let user_file = Some((PathBuf::from("user.toml"), user.as_bytes().to_vec()));
    load(&ConfigInputs { user_file, ..ConfigInputs::default() }).unwrap()
}

#[track_caller]
fn options(user: &str) -> crate::agent::Options {
    agent_options(&loaded(user), AgentOverrides::default()).unwrap()
}

#[track_caller]
fn fault(user: &str) -> ApiError {
    agent_options(&loaded(user), AgentOverrides::default()).unwrap_err()
}

#[track_caller]
fn check_fault(user: &str, code: &str, message: &str) {
    let fault = fault(user);
    assert_eq!((fault.code.as_ref(), fault.message.as_str()), (code, message));
}

#[test]
fn refused_tasks_are_retried_if_the_chain_or_an_address_changes() {
    let asked = |user: &str| options(user).policy.provider_chain;
    let one = asked("agent.models = ['ollama/llama']\n");
    let added = asked("agent.models = ['ollama/llama', 'ollama/other']\n");
    let moved =
        asked("agent.models = ['ollama/llama']\n[providers.ollama]\nbase_url = 'http://127.0.0.1:9/v1'\n");
    assert_eq!(one, asked("agent.models = ['ollama/llama']\nagent.calls_per_day = 3\n"));
    assert!(one != added && one != moved, "{one} {added} {moved}");
}

#[test]
fn the_chain_follows_the_settings() {
    let options =
        options("agent.models = ['anthropic/claude-haiku-4-5', 'ollama/llama']\nagent.calls_per_day = 7\n");
    let names: Vec<_> = options.chain.iter().map(|model| model.full_name().to_string()).collect();
    assert_eq!(names, ["anthropic/claude-haiku-4-5", "ollama/llama"]);
    assert!(options.chain[0].price.unwrap().input > Money::ZERO);
    assert_eq!(options.chain[1].price, Some(crate::llm::TokenPrice::FREE));
    assert_eq!(options.caps.calls_a_day, 7);
    assert_eq!(options.policy.tiers.len(), 2);
}

#[test]
fn a_persona_chooses_models_and_their_parameters() {
    let user = "agent.persona = 'dev'\n[personas.dev]\npreferred_models = [\n\
                { provider = 'Google', model = 'gemini-3.8-flash', temperature = 0.5, max_output_tokens = 99 }]\n";
    let [model] = &options(user).chain[..] else { panic!("one model") };
    assert_eq!(model.full_name().to_string(), "gemini/gemini-3.8-flash");
    assert_eq!((model.temperature, model.top_p, model.max_output_tokens), (Some(0.5), None, Some(99)));
}

#[test]
fn quirks_of_a_provider_apply_however_its_model_is_chosen() {
    let options = options("agent.models = ['gemini/gemini-3.8-flash', 'anthropic/claude-haiku-4-5']");
    let most = [0, 1].map(|at| options.chain[at].max_output_tokens);
    assert_eq!(most, [Some(4_000), None]);
    let [thinker, plain] = &options.policy.models[..] else { panic!("two models") };
    assert_eq!(thinker.max_output_tokens, Some(4_000));
    assert_eq!(thinker.fields, r#"{"thinkingConfig":{"thinkingLevel":"low"}}"#);
    assert_eq!(*plain, crate::model::SummaryModel::plain(plain.name.clone()));
}

#[test]
fn a_reasoning_model_has_room_for_the_requested_answer() {
    let most = |tokens: u32| {
        let user = format!("agent.models = ['gemini/gemini-3.8-flash']\nagent.answer_tokens = {tokens}\n");
        options(&user).chain[0].max_output_tokens
    };
    assert_eq!([most(700), most(9_000)], [Some(4_000), Some(9_000)]);
}

#[test]
fn missing_configuration_is_reported() {
    check_fault("", "no_model", "no language model is configured");
    let message = "`antropic/m`: no provider named `antropic`, the nearest known is `anthropic`";
    check_fault("agent.models = ['antropic/m']", "no_such_provider", message);
    let unlike = fault("agent.models = ['mycompany/m']");
    assert!(!unlike.message.contains("nearest"), "{}", unlike.message);
    assert!(unlike.hint.contains("[providers.mycompany] wire"), "{}", unlike.hint);
    let unknown = fault("agent.models = ['anthropic/nobody-knows']");
    assert_eq!(unknown.code, "no_price");
    assert!(unknown.hint.contains("[prices.\"anthropic/nobody-knows\"]"), "{}", unknown.hint);
    let message = "no persona named `dav` in your own settings file, the nearest known is `dev`";
    check_fault("agent.persona = 'dav'\n[personas.dev]", "no_such_persona", message);
    let message = "persona `dev` has no preferred models";
    check_fault("agent.persona = 'dev'\n[personas.dev]", "no_model", message);
}

#[test]
fn a_project_that_moves_the_ledger_cannot_spend() {
    let with = |user: &str| {
        let file = |text: &str| Some((PathBuf::from("a.toml"), text.as_bytes().to_vec()));
        let project = "[aggregation]\ncache_dir = 'elsewhere/'\n";
        load(&ConfigInputs { user_file: file(user), project_file: file(project), ..ConfigInputs::default() })
            .unwrap()
    };
    let asked = |user: &str| agent_options(&with(user), AgentOverrides::default());
    let priced = "agent.models = ['ollama/llama', 'anthropic/claude-haiku-4-5']\n";
    let fault = asked(priced).unwrap_err();
    assert_eq!(fault.code, "ledger_moved");
    assert!(fault.message.contains("a.toml:2"), "{}", fault.message);
    assert!(asked(&format!("{priced}aggregation.cache_dir = 'elsewhere'\n")).is_ok());
    let free = asked("agent.models = ['ollama/llama']\nagent.background = true\n").unwrap();
    assert!(!free.is_background, "nothing is asked of its own accord either");
}

#[test]
fn a_model_of_unknown_price_can_be_called_once_the_user_sets_its_price() {
    let user = "agent.models = ['anthropic/new']\n[prices.'anthropic/new']\ninput = '3'\noutput = '4'\n";
    assert_eq!(options(user).chain[0].price.unwrap().output, Money::from_dollars("4").unwrap());
}

#[test]
fn a_key_is_read_only_from_the_places_that_the_provider_names() {
    let chain = options("agent.models = ['anthropic/claude-haiku-4-5', 'ollama/llama']").chain;
    let asked = std::cell::RefCell::new(Vec::new());
    let variable = |name: &str| {
        asked.borrow_mut().push(name.to_owned());
        (name == "ANTHROPIC_API_KEY").then(|| SecretString::from("k".to_owned()))
    };
    let keys = agent_keys(&chain, &variable).unwrap();
    assert_eq!(keys.keys().collect::<Vec<_>>(), ["anthropic"]);
    assert_eq!(keys["anthropic"].expose_secret(), "k");
    assert_eq!(asked.into_inner(), ["ANTHROPIC_API_KEY", "OLLAMA_API_KEY"]);
    let fault = agent_keys(&chain, &|_| None).unwrap_err();
    assert_eq!((fault.code.as_ref(), fault.message.as_str()), ("no_key", "no key for `anthropic`"));
    assert!(fault.hint.contains("ANTHROPIC_API_KEY"), "{}", fault.hint);
}

#[test]
fn a_malformed_key_is_reported_before_any_request() {
    let chain = options("agent.models = ['anthropic/claude-haiku-4-5']").chain;
    for key in ["two\nlines", " ", "k\u{e4}y"] {
        let fault = agent_keys(&chain, &|_| Some(SecretString::from(key.to_owned()))).unwrap_err();
        assert_eq!(fault.message, "key in ANTHROPIC_API_KEY is not one line of visible ASCII");
    }
    let keys = agent_keys(&chain, &|_| Some(SecretString::from("k\n".to_owned()))).unwrap();
    assert_eq!(keys["anthropic"].expose_secret(), "k");
}

#[test]
fn a_key_file_must_contain_only_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("work.key");
    let user = format!(
        "agent.models = ['work/m']\n[providers.work]\nwire = 'chat'\nbase_url = 'https://x'\nfree = true\n\
         key_file = '{}'\n",
        file.display()
    );
    let chain = options(&user).chain;
    let read = || agent_keys(&chain, &|_| None);
    assert!(read().unwrap_err().message.contains("no such file"));
    for (content, key) in
        [("k\n", Some("k")), ("  k  ", Some("k")), ("a b", None), ("", None), ("\u{e9}", None)]
    {
        std::fs::write(&file, content).unwrap();
        let keys = read();
        assert_eq!(keys.as_ref().ok().map(|keys| keys["work"].expose_secret()), key, "{content}");
        let message = keys.err().map(|fault| fault.message).unwrap_or_default();
        assert!(content.trim().is_empty() || !message.contains(content), "{message}");
    }
}
