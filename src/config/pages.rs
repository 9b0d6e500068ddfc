//! What is written out of the page of defaults: a first `slop.toml` and the reference.

use std::fmt::Write as _;

use super::schema::DEFAULT_TOML;
use super::schema::SettingsSchema;

/// Returns a `slop.toml` that holds every setting as a comment, and so changes nothing.
///
/// Sentences keep the space after their `#`; a line without one is a setting that waits for its `#` to be deleted.
pub fn commented_template() -> String {
    let mut template = String::new();
    let (before, agent) = DEFAULT_TOML.split_once("\n[agent]\n").expect("the sub-agent has a section");
    let (_, after) = agent.split_once("\n\n").expect("the sub-agent's section is not the last");
    let page = [before, "\n[agent]\n", PROJECT_AGENT_SECTION, "\n", after].concat();
    for line in page.lines() {
        let is_setting = !line.is_empty() && !line.starts_with(['#', '[']);
        template.push_str(if is_setting { "#" } else { "" });
        template.push_str(line);
        template.push('\n');
    }
    template + CURATION_TEMPLATE
}

/// What a project's file may say of the sub-agent; the rest of the section has no effect in the file that is begun here.
const PROJECT_AGENT_SECTION: &str = "\
# Whether the daemon asks of its own accord for what lacks a summary; a project can only forbid it.
background = false
# Patterns of files that no model is asked about, beside those that the user excludes.
exclude = []
";

/// What has no default, and so no line among the settings. Commands write it too, and leave the rest as it is.
pub(super) const CURATION_TEMPLATE: &str = r#"
# What is said of single files; `slop slice` and `slop mask` write here too.
#[[files]]
#path = "src/engine/*.py"
#view_mode = "skeleton"
#ast_mask = { "Engine" = "sig", "Engine.run" = "def", "Engine._debug" = "hide" }

# Sets of files under a name; `slop preset save` writes them.
#[presets.review]
#description = "what a reviewer sees"
#files = ["README.md", { path = "src", view_mode = "outline" }]

# Agent profiles. A project names providers and models and nothing else of them.
#[personas.reviewer]
#tier = 2
#context_preset = "review"
#system_prompt = "You review code."
#preferred_models = [{ provider = "…", model = "…" }]
"#;

/// Returns the reference of all settings as a page of Markdown.
pub fn settings_reference() -> String {
    let mut page = String::from(INTRODUCTION);
    let mut section = "";
    let schema = SettingsSchema::built_in();
    for known in &schema.keys {
        if known.section() != section {
            section = known.section();
            append(
                &mut page,
                format_args!("\n## `[{section}]`\n\n| key | default | meaning |\n|---|---|---|\n"),
            );
        }
        let name = &known.key[section.len() + 1..];
        let default = table_cell(&known.default.to_string());
        append(&mut page, format_args!("| `{name}` | `{default}` | {} |\n", table_cell(&known.help)));
    }
    page
}

const INTRODUCTION: &str = "\
# Settings

Generated from `config/default.toml`, the only place where a default is written.

A value is taken from the last of these that sets it: the built-in defaults, the user's own file
(`~/.config/slop/config.toml`, or what `SLOP_CONFIG` names), the project's `slop.toml`, the environment, the flags of a
command. The environment variable of a setting is its key in upper case
with `SLOP_` before it and `_` for all that is no letter or digit: `SLOP_AGGREGATION_CACHE_DIR` for
`aggregation.cache_dir`. `slop config show --origin` says where each value came from.

What people curate has no defaults, and so no row here: `[[files]]`, `[presets.NAME]` and `[personas.NAME]`; `slop init`
writes an example of each. Presets and personas of the user's own file serve every project, and a project's take their
place by name. `[[files]]` belongs in a project's `slop.toml`: elsewhere it has no effect, and a note says so. A key
within these tables that slop does not know is kept and told, and has no effect.

A project that was checked out may come from anyone. Of what decides who is asked, what is sent and what that costs, its
`slop.toml` may say `agent.background = false` and add to `agent.exclude`; everything else in `[agent]`, and all of
`[providers]` and `[prices]`, is heeded in the user's own file (and `[agent]` in the environment) alone, and a note tells
what has no effect. There the providers that slop knows can be changed and others added, and prices set:

```toml
[providers.work]                        # asked as \"work/MODEL\"
wire = \"chat\"                           # anthropic, chat, responses, gemini, ollama or command
base_url = \"https://llm.example.com/v1\"
key_variables = [\"WORK_LLM_KEY\"]        # variables that may hold the key: the first that is set counts
key_file = \"work.key\"                   # where none is; from this file's folder
headers = { \"x-team\" = \"tools\" }        # further headers, none of them secret
# needs_key, free, marks_cache, completion_tokens, batches: true or false; context_tokens: a number;
# base_variable: a variable that may hold another base_url;
# command = [\"PROGRAM\", \"ARGUMENT\"] for the wire \"command\";
# quirks = [{ names = [\"MODEL\"], fields = { FIELD = VALUE }, output_tokens = NUMBER }]: for models whose names begin so,
# further fields of the body, and the most tokens of an answer with what the model thinks

[prices.\"work/fast-model\"]              # US dollars for a million tokens
input = \"0.30\"
output = \"1.20\"
# cache_read and cache_write, else as input; where input has more than long_from tokens: long_input, and long_output,
# long_cache_read and long_cache_write, else grown as the input has
```

A key is read from the variables that a provider's row names, or from its `key_file`: never from settings.
`ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL`, `GOOGLE_GEMINI_BASE_URL` and `OLLAMA_HOST` move those providers, where the user's
file does not say `base_url`.
";

fn append(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("writing to memory does not fail");
}

/// Returns `text` fit for a cell of a Markdown table.
fn table_cell(text: &str) -> String {
    text.replace('|', "\\|")
}
