//! A program that reads the prompt on its standard input and writes the answer to its standard output.

use crate::llm::EncodedRequest;
use crate::llm::Model;
use crate::model::ModelPrompt;

/// The placeholder for the model's name in the program's arguments.
const MODEL: &str = "{model}";

/// Returns the program with its input.
pub(in crate::llm) fn encode_command(model: &Model, prompt: &ModelPrompt) -> EncodedRequest {
    let command = model.provider.command.iter().map(|word| word.replace(MODEL, &model.name)).collect();
    EncodedRequest::Command { command, input: input(prompt) }
}

/// Returns the program's input: both texts in one.
pub(super) fn input(prompt: &ModelPrompt) -> String {
    format!("{}\n\n{}\n", prompt.instructions, prompt.material)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::llm::testing::of_provider;
    use crate::llm::testing::prompt;

    #[test]
    fn the_program_reads_both_texts_and_is_told_the_model() {
        let mut model = of_provider("command", "opus");
        let mut provider = (*model.provider).clone();
        provider.command = ["ask", "--model={model}", "-p"].map(str::to_owned).to_vec();
        model.provider = Arc::new(provider);
        let EncodedRequest::Command { command, input } = encode_command(&model, &prompt("fn main() {}"))
        else {
            panic!()
        };
        assert_eq!(command, ["ask", "--model=opus", "-p"]);
        assert_eq!(input, "Say what it is for.\n\nfn main() {}\n");
    }
}
