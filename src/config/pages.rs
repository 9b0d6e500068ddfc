//! The pages that are generated from the defaults: a first `slop.toml`, and the reference.

use std::fmt::Write as _;

use super::schema::{DEFAULT_TOML, SettingsSchema};

/// Returns a `slop.toml` in which every setting is commented out, so that it changes nothing.
///
/// Comments have a space after their `#`; a line without one is a setting that takes effect once its `#` is deleted.
pub fn commented_template() -> String {
    let mut template = String::new();
    // The page of defaults has every key of `[agent]`, most of which have no effect in a project's file. Tests cover
    // these `expect`s.
    let (before, agent) = DEFAULT_TOML.split_once("\n[agent]\n").expect("the sub-agent has a section");
    let (_, after) =
        agent.split_once("\nprojects = []\n\n").expect("the section after it is of the user's alone");
    let (before, show) = before.split_once("# Where secrets in").expect("secrets.show has a sentence");
    let (_, secrets) = show.split_once("\nshow = \"never\"\n").expect("secrets.show follows its sentence");
    let page = [before, secrets, "\n[agent]\n", PROJECT_AGENT_SECTION, "\n", after].concat();
    for line in page.lines() {
        // Headers are not commented out: an empty section sets nothing, and only the `#` of a setting has to be
        // deleted.
        let is_setting = !line.is_empty() && !line.starts_with(['#', '[']);
        template.push_str(if is_setting { "#" } else { "" });
        template.push_str(line);
        template.push('\n');
    }
    template + CURATION_TEMPLATE
}

/// The settings of the sub-agent that a project's file may contain; the others would have no effect.
const PROJECT_AGENT_SECTION: &str = "\
# Whether the daemon writes missing summaries automatically; a project can only turn this off.
background = false
# Patterns of files that are never sent to a model, in addition to those that the user excludes.
exclude = []
";

/// The curation, which has no defaults and so no line among the settings. Commands edit it and leave the rest
/// unchanged.
pub(super) const CURATION_TEMPLATE: &str = r#"
# Settings of single files; `slop slice` and `slop mask` write here too.
#[[files]]
#path = "src/engine/*.py"
#view_mode = "skeleton"
#ast_mask = { "Engine" = "sig", "Engine.run" = "def", "Engine._debug" = "hide" }

# Defaults for documents, unless a flag overrides them.
#[document]
#tier = 3
#focus = ["src/engine.py"]
#budget_tokens = 20000

# Named sets of files; `slop preset save` writes them.
#[presets.review]
#description = "what a reviewer sees"
#files = ["README.md", { path = "src", view_mode = "outline" }]

# Agent profiles. A project can only name providers and models here.
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

This page is generated from `config/default.toml`, the only place where defaults are defined.

Later sources override earlier ones: the built-in defaults, the user's settings file (`~/.config/slop/config.toml`, or
the file that `SLOP_CONFIG` names), the project's `slop.toml`, the environment, and command-line flags. The environment
variable of a setting is `SLOP_` followed by its key in upper case, with `_` for every other character:
`SLOP_AGGREGATION_CACHE_DIR` for `aggregation.cache_dir`. `slop config show --origin` shows where each value comes from.

Curation has no defaults and is therefore not listed here: `[[files]]`, `screenshots`, `[document]`, `[presets.NAME]` and
`[personas.NAME]` ([curation.md](curation.md)); `slop init` writes examples. Presets and personas in the user's settings
file are available in every project, and a project's presets and personas of the same name replace them. `[[files]]`,
`screenshots` and `[document]` belong in a project's `slop.toml`; elsewhere they have no effect, and a note says so.
Unknown keys within these tables are kept and reported, and have no effect.

An entry of `[[files]]`, a slice, a preset or a persona with an invalid value is ignored, and everything else takes
effect; a note, the receipts of documents and `slop status` report the file, the line and the reason. Any other invalid
value is an error: the command ends, or the daemon does not start, because with other settings it could show what a mask
hides, or send what is excluded. If the settings become invalid while a daemon runs, it answers with the last valid
ones, and says so in the notes of each answer and in `slop daemon status`. Older project files with
`[files] paths = […]` are still read; `slop init --from FILE` converts one to a `slop.toml` with `[[files]]`.

A cloned project may come from anyone. Its `slop.toml` therefore has little influence on which models are used, what is
sent and what that costs: it can only set `agent.background = false` and `share.mode = \"off\"`, and extend
`agent.exclude`. The rest of `[agent]` and `[share]`, and all of `[providers]` and `[prices]`, are read only from the
user's settings file (and `[agent]` and `[share]` from the environment); a note reports what was ignored. The user's
file can change the built-in providers, add others, and set prices:

```toml
[providers.work]                        # used as \"work/MODEL\"
wire = \"chat\"                           # anthropic, chat, responses, gemini, ollama or command
base_url = \"https://llm.example.com/v1\"
key_variables = [\"WORK_LLM_KEY\"]        # environment variables for the key; the first one that is set is used
key_file = \"work.key\"                   # used if none is set; relative to this file's folder
headers = { \"x-team\" = \"tools\" }        # additional headers, none of them secret
# needs_key, free, marks_cache, completion_tokens, batches: true or false; context_tokens: a number;
# base_variable: an environment variable that overrides base_url;
# command = [\"PROGRAM\", \"ARGUMENT\"] for the wire \"command\";
# quirks = [{ names = [\"MODEL\"], fields = { FIELD = VALUE }, output_tokens = NUMBER }]: for models whose names have
# this prefix, additional fields of the request body, and the output limit including reasoning tokens

[prices.\"work/fast-model\"]              # US dollars per million tokens
input = \"0.30\"
output = \"1.20\"
# cache_read and cache_write default to input; for more than long_from input tokens: long_input, long_output,
# long_cache_read and long_cache_write, which default to growing in proportion to the price of input
```

An API key is read from the environment variables listed for the provider, or from its `key_file`, never from the
settings. `ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL`, `GOOGLE_GEMINI_BASE_URL` and `OLLAMA_HOST` change the address of these
providers, unless the user's file sets `base_url`.
";

fn append(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("writing to memory does not fail");
}

/// Escapes `text` for a cell of a Markdown table.
fn table_cell(text: &str) -> String {
    text.replace('|', "\\|")
}
