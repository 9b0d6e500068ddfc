//! Makes prompts: the material for a model, without anything that must not be sent.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use super::task::{
    PreparedPrompt, SubjectLocation, SummaryPolicy, SummaryTask, SummaryTasks, WithheldReason,
};
use crate::engine::artifacts::LARGE_BYTES;
use crate::engine::mounts::MountedFiles;
use crate::engine::workspace::Workspace;
use crate::model::{ContentHash, FileType, ModelPrompt, Outline, RelPath, STACK_BYTES, SummaryKey, lock};
use crate::summarize::prompt::{FolderChild, PromptMaterial, folder_material, instructions, material};
use crate::summarize::secrets;
use crate::sys::{Clock, Files};
use crate::{discover, summarize, syntax};

/// The encoding that the rules for secrets require.
const SCANNED: &str = "UTF-8";

/// Writes prompts, on any number of threads. It needs no cache: all data comes from the file.
pub struct PromptPreparer<'w> {
    files: MountedFiles<'w>,
    clock: &'w dyn Clock,
    max_bytes: u64,
    parse_timeout: Duration,
    policy: SummaryPolicy,
    children: BTreeMap<SummaryKey, Vec<FolderChild>>,
    large: Mutex<()>,
}

/// Returns the preparer of prompts for these tasks, which were listed under this policy.
pub(in crate::engine) fn preparer<'w>(
    workspace: &Workspace<'w>,
    tasks: &SummaryTasks,
    policy: &SummaryPolicy,
) -> PromptPreparer<'w> {
    PromptPreparer {
        files: workspace.files.clone(),
        clock: workspace.world.clock,
        max_bytes: workspace.options.structure_max_bytes,
        parse_timeout: workspace.options.parse_timeout,
        policy: policy.clone(),
        children: tasks.children.clone(),
        large: Mutex::default(),
    }
}

/// Text that looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretLocation {
    pub rule: &'static str,
    /// The line in which it begins, from 1.
    pub line: usize,
}

impl PromptPreparer<'_> {
    /// Writes a prompt, with half as much material for each step of `shrink`.
    pub fn prepare(&self, task: &SummaryTask, shrink: u8) -> Result<PreparedPrompt, WithheldReason> {
        let most_bytes = self.policy.material_bytes.checked_shr(u32::from(shrink)).unwrap_or(0);
        let (material, redacted) = match &task.location {
            SubjectLocation::File(path) => self.file_material(task, path, most_bytes)?,
            SubjectLocation::Folder(_) | SubjectLocation::Root => {
                (self.material_of_folder(task, most_bytes)?, 0)
            }
        };
        let instructions = instructions(task.strategy, &task.tiers);
        // Scanned again as it is sent: cutting and joining may have created a secret that no part contained.
        let whole = format!("{instructions}\n{}", material.text);
        let found = scan(&whole)?;
        if !found.matches.is_empty() {
            return Err(WithheldReason::Secret { rules: rule_names(&found) });
        }
        let answer_tokens = self.policy.answer_tokens;
        let prompt = ModelPrompt { instructions, material: material.text, answer_tokens };
        let strategy = task.strategy.versioned();
        Ok(PreparedPrompt { prompt, strategy, redacted, is_cut: material.is_cut })
    }

    fn file_material(
        &self,
        task: &SummaryTask,
        path: &RelPath,
        most_bytes: usize,
    ) -> Result<(PromptMaterial, u64), WithheldReason> {
        let text = self.text(task, path)?;
        let file_type = discover::file_type_by_id(task.language).ok_or(WithheldReason::Changed)?;
        let found = scan(&text)?;
        // Some matches block the whole text: a multi-line key is not harmless without the recognized lines.
        let withholds = !self.policy.redacts || found.matches.iter().any(|found| found.blocks_file);
        if !found.matches.is_empty() && withholds {
            return Err(WithheldReason::Secret { rules: rule_names(&found) });
        }
        let redacted = found.matches.len() as u64;
        let text = if redacted == 0 { text } else { secrets::redact(&text, &found) };
        // From the text that is sent: an outline of the original could name what was removed, and its lines would not
        // match.
        let outline = self.outline(file_type, &text);
        let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let source = summarize::SummaryInput { file_type, text: &text, lines, outline: outline.as_ref() };
        Ok((material(&source, task.strategy, &task.subject, most_bytes), redacted))
    }

    /// Returns text that looks like a secret in the file of a task, by position.
    pub(super) fn secrets(&self, task: &SummaryTask) -> Vec<SecretLocation> {
        let SubjectLocation::File(path) = &task.location else { return Vec::new() };
        let Ok(text) = self.text(task, path) else { return Vec::new() };
        let found = scan(&text).map(|scan| scan.matches).unwrap_or_default();
        let (mut line, mut done) = (1, 0);
        let mut secrets = Vec::with_capacity(found.len());
        for found in found {
            // By position, so that no part of the text is counted twice.
            let at = found.span.start.max(done);
            line += text[done..at].matches('\n').count();
            done = at;
            secrets.push(SecretLocation { rule: found.rule, line });
        }
        secrets
    }

    /// Reads the text of a task's subject.
    fn text(&self, task: &SummaryTask, path: &RelPath) -> Result<String, WithheldReason> {
        text(&self.files, self.max_bytes, path, &task.subject)
    }

    fn material_of_folder(
        &self,
        task: &SummaryTask,
        most_bytes: usize,
    ) -> Result<PromptMaterial, WithheldReason> {
        let children = self.children.get(&task.id).ok_or(WithheldReason::Changed)?;
        Ok(folder_material(task.scope, &task.subject, children, most_bytes))
    }

    fn outline(&self, file_type: &'static FileType, text: &str) -> Option<Outline> {
        syntax::outline_producer(file_type.id)?;
        // The syntax tree of a large text takes many times its bytes, so such texts are parsed one at a time.
        let _alone = (LARGE_BYTES < text.len()).then(|| lock(&self.large));
        let parse = || {
            // Processor time, so that the outline does not depend on the load of the machine.
            let began = self.clock.thread_time();
            let mut give_up = || self.parse_timeout < self.clock.thread_time().saturating_sub(began);
            syntax::derive(file_type.id, text, &mut give_up).map(|structure| structure.outline)
        };
        // On a thread of its own: a parser may need a deep stack, and the caller's may be small.
        std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().name("outline".to_owned()).stack_size(STACK_BYTES);
            let parser = builder.spawn_scoped(scope, parse).ok()?;
            parser.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

/// Reads a text in an encoding that can be scanned for secrets.
fn text(
    files: &dyn Files,
    max_bytes: u64,
    path: &RelPath,
    subject: &ContentHash,
) -> Result<String, WithheldReason> {
    let reading = files.read(path, max_bytes).map_err(|_| WithheldReason::Changed)?;
    if ContentHash::digest(&reading.bytes) != *subject {
        return Err(WithheldReason::Changed);
    }
    let text = discover::read_as_text(&reading.bytes).map_err(|_| WithheldReason::Changed)?;
    if text.encoding != SCANNED {
        return Err(WithheldReason::Unscanned(format!("it is {}, not {SCANNED}", text.encoding)));
    }
    Ok(text.text.into_owned())
}

/// Returns whether a file contains nothing that looks like a secret; false if that cannot be determined.
pub(super) fn is_clean(files: &dyn Files, max_bytes: u64, path: &RelPath, subject: &ContentHash) -> bool {
    let found = text(files, max_bytes, path, subject).and_then(|text| scan(&text));
    found.is_ok_and(|found| found.is_clean())
}

fn scan(text: &str) -> Result<secrets::SecretScan, WithheldReason> {
    secrets::scan(text).map_err(|error| WithheldReason::Unscanned(error.to_string()))
}

fn rule_names(scan: &secrets::SecretScan) -> Vec<String> {
    let mut rules: Vec<String> = scan.matches.iter().map(|found| found.rule.to_owned()).collect();
    rules.sort();
    rules.dedup();
    rules
}
