//! Providers of language models, as rows of data.

use std::path::PathBuf;

use serde_json::Map;
use serde_json::Value;

/// How a provider wants to be spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireFormat {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's chat completions, and whoever speaks them too.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Google's generateContent.
    Gemini,
    /// Ollama's own chat.
    Ollama,
    /// A program that reads the prompt and writes the answer.
    Command,
}

impl WireFormat {
    /// Every wire there is.
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

    /// Returns the wire of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.name() == name)
    }
}

/// Where models are asked.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the provider's row")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its name in settings.
    pub name: String,
    /// How it is spoken to.
    pub wire: WireFormat,
    /// The address that the wire's path is appended to; empty for a command.
    pub base_url: String,
    /// Name of the environment variable that may hold another such address.
    pub base_variable: Option<String>,
    /// Names of environment variables that may hold the key; the first that is set counts.
    pub key_variables: Vec<String>,
    /// A file that holds the key, where no variable does.
    pub key_file: Option<PathBuf>,
    /// Whether it answers only with a key.
    pub needs_key: bool,
    /// Further headers, none of them secret.
    pub headers: Vec<(String, String)>,
    /// The program and its arguments; empty but for a command.
    pub command: Vec<String>,
    /// Whether its calls cost no money.
    pub is_free: bool,
    /// Whether the end of the instructions may be marked for its cache, where they are long enough.
    pub marks_cache: bool,
    /// Whether it knows `max_completion_tokens`; else it is sent `max_tokens`.
    pub wants_completion_tokens: bool,
    /// Whether it takes many questions at once for half the price.
    pub has_batches: bool,
    /// How many tokens a model of it is to have room for, where that has to be said (Ollama).
    pub context_tokens: Option<u32>,
    /// What some of its models want beside that.
    pub quirks: Vec<ModelQuirk>,
}

impl Provider {
    /// Returns what this model wants beside what all do: the quirk that knows most of its name.
    pub fn quirk(&self, model: &str) -> Option<&ModelQuirk> {
        let known = |quirk: &ModelQuirk| {
            quirk.names.iter().filter(|name| model.starts_with(*name)).map(String::len).max()
        };
        let quirks = self.quirks.iter().filter_map(|quirk| Some((known(quirk)?, quirk)));
        quirks.max_by_key(|(length, _)| *length).map(|(_, quirk)| quirk)
    }
}

/// What some models want beside what all do. Most of it says that they are not to think long: they would eat up the
/// tokens of their answers, and summaries are no riddles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelQuirk {
    /// Beginnings of the models' names; an empty one begins all.
    pub names: Vec<String>,
    /// Fields of the body, as they are sent; with Gemini, of its `generationConfig`.
    pub fields: Map<String, Value>,
    /// The most tokens of an answer with what is thought, where they think in any case.
    pub output_tokens: Option<u32>,
}
