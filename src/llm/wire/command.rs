//! A program that reads the question on its standard input and writes the answer on its standard output.

use crate::llm::Model;
use crate::llm::Sending;
use crate::model::Prompt;

/// Stands for the model's name in the program's arguments.
const MODEL: &str = "{model}";

/// Returns what the program is started with.
pub(in crate::llm) fn sending(model: &Model, prompt: &Prompt) -> Sending {
    let command = model.provider.command.iter().map(|word| word.replace(MODEL, &model.name)).collect();
    Sending::Command { command, input: input(prompt) }
}

/// Returns what the program reads: it has one place for both texts.
pub(super) fn input(prompt: &Prompt) -> String {
    format!("{}\n\n{}\n", prompt.instructions, prompt.material)
}
