//! How a model of a provider is to be asked.

/// What stands in a request body beside the document. What is `None` is not sent.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyOptions {
    /// Name of the model, as the provider spells it.
    pub model: String,
    /// What the model is told before anything else.
    pub system: Option<String>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// The most tokens of an answer.
    pub max_output_tokens: u32,
}
