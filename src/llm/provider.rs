//! Providers of language models, as rows of data: the built-in ones, and what a user configures over them.

use std::path::PathBuf;

use serde_json::Map;
use serde_json::Value;

/// The wire format of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireFormat {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions API and compatible ones.
    Chat,
    /// OpenAI's Responses API.
    Responses,
    /// Google's generateContent.
    Gemini,
    /// Ollama's own chat API.
    Ollama,
    /// A program that reads the prompt and writes the answer.
    Command,
}

impl WireFormat {
    /// All wire formats.
    pub const ALL: [Self; 6] =
        [Self::Anthropic, Self::Chat, Self::Responses, Self::Gemini, Self::Ollama, Self::Command];

    /// Returns the stable name, as in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Command => "command",
        }
    }

    /// Returns the wire format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.name() == name)
    }
}

/// A provider of language models.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the provider's row")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its name in settings.
    pub name: String,
    /// Its wire format.
    pub wire: WireFormat,
    /// The base URL, to which the path of the wire format is appended; empty for a command.
    pub base_url: String,
    /// Name of the environment variable that may hold another base URL.
    pub base_variable: Option<String>,
    /// Names of environment variables that may hold the key; the first that is set counts.
    pub key_variables: Vec<String>,
    /// A file that holds the key if no variable does.
    pub key_file: Option<PathBuf>,
    /// Whether it requires a key.
    pub needs_key: bool,
    /// Additional headers, none of them secret.
    pub headers: Vec<(String, String)>,
    /// The program and its arguments; empty except for a command.
    pub command: Vec<String>,
    /// Whether its calls are free.
    pub is_free: bool,
    /// Whether the end of the instructions may be marked for caching, if they are long enough.
    pub marks_cache: bool,
    /// Whether it knows `max_completion_tokens`; otherwise it is sent `max_tokens`.
    pub wants_completion_tokens: bool,
    /// Whether it supports batches at half the price.
    pub has_batches: bool,
    /// The context length to request, if it must be requested (Ollama).
    pub context_tokens: Option<u32>,
    /// What some of its models require in addition.
    pub quirks: Vec<ModelQuirk>,
}

impl Provider {
    /// Returns what this model requires in addition: the quirk with the longest matching prefix.
    pub fn quirk(&self, model: &str) -> Option<&ModelQuirk> {
        let known = |quirk: &ModelQuirk| {
            quirk.names.iter().filter(|name| model.starts_with(*name)).map(String::len).max()
        };
        let quirks = self.quirks.iter().filter_map(|quirk| Some((known(quirk)?, quirk)));
        quirks.max_by_key(|(length, _)| *length).map(|(_, quirk)| quirk)
    }
}

/// What some models require in addition. Most quirks limit reasoning, which would use up the tokens of the answer; a
/// summary needs little of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelQuirk {
    /// Prefixes of the models' names; an empty one matches all.
    pub names: Vec<String>,
    /// Fields of the body, as they are sent; for Gemini, of its `generationConfig`.
    pub fields: Map<String, Value>,
    /// The most tokens of an answer with its reasoning, if the models always reason.
    pub output_tokens: Option<u32>,
}
