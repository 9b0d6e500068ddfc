//! `slop explain`

use super::desk::Desk;
use crate::api::Request;
use crate::api::Response;
use crate::api::Trust;
use crate::cli::args::ExplainArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::render::grouped;

pub(super) fn run(args: &ExplainArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let profile = desk.profile(&args.choice)?;
    let aggregation = desk.aggregation(&args.choice, &profile, Vec::new(), None, Trust::Stamps);
    let file = desk.place.words(std::slice::from_ref(&args.file)).remove(0);
    let response = desk.ask(Request::Explain { file, aggregation })?;
    if desk.output.json {
        desk.write_json(&response)?;
        return Ok(failure::DONE);
    }
    let Response::Explained(explanations) = &response else {
        unreachable!("an explanation is what was asked for")
    };
    for explanation in explanations {
        desk.output.line(&explanation.path.to_string())?;
        if let Some(reason) = explanation.left_out {
            desk.output.line(&format!("  left out     {reason}: {}", reason.words()))?;
            continue;
        }
        if let (Some((hash, size)), Some(file_type)) = (explanation.content, explanation.file_type) {
            let (name, size, hash) = (file_type.name, grouped(size), hash.short());
            desk.output.line(&format!("  type         {name}, {size} bytes, content {hash}"))?;
        }
        for remark in &explanation.remarks {
            desk.output.line(&format!("  remark       {remark}"))?;
        }
        for verdict in &explanation.verdicts {
            let view = verdict.view.map_or("does not match".to_owned(), |view| view.to_string());
            let decides = if verdict.rule == explanation.routed.rule { "  <- decides" } else { "" };
            desk.output.line(&format!("  rule         {}: {view}{decides}", verdict.rule.name()))?;
        }
        if let Some(why) = &explanation.why {
            desk.output.line(&format!("  instead      {}: {why}", explanation.view))?;
        }
        let (bytes, tokens) = (grouped(explanation.bytes), grouped(explanation.tokens));
        let (view, counter) = (explanation.view, explanation.counter);
        desk.output.line(&format!("  shown as     {view}, {bytes} bytes, {tokens} tokens ({counter})"))?;
    }
    Ok(failure::DONE)
}
