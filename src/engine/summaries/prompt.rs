//! Makes prompts: what a model is to read, and nothing that must not be sent.

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

/// The encoding in which the rules for secrets look for them.
const SCANNED: &str = "UTF-8";

/// Words questions, on as many threads as there are. It needs no cache: what a file is, it looks up in the file.
pub struct PromptPreparer<'w> {
    files: MountedFiles<'w>,
    clock: &'w dyn Clock,
    max_bytes: u64,
    parse_timeout: Duration,
    policy: SummaryPolicy,
    children: BTreeMap<SummaryKey, Vec<FolderChild>>,
    large: Mutex<()>,
}

/// Returns who words the questions of these tasks, which were asked for by this policy.
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

/// Something that looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretLocation {
    pub rule: &'static str,
    /// In which line it begins, from 1.
    pub line: usize,
}

impl PromptPreparer<'_> {
    /// Words a question, with half as much material for each step of `shrink`.
    pub fn prepare(&self, task: &SummaryTask, shrink: u8) -> Result<PreparedPrompt, WithheldReason> {
        let most_bytes = self.policy.material_bytes.checked_shr(u32::from(shrink)).unwrap_or(0);
        let (material, redacted) = match &task.location {
            SubjectLocation::File(path) => self.file_material(task, path, most_bytes)?,
            SubjectLocation::Folder(_) | SubjectLocation::Root => {
                (self.material_of_folder(task, most_bytes)?, 0)
            }
        };
        let instructions = instructions(task.strategy, &task.tiers);
        // Once more, as it is sent: cutting and joining may have made a secret that was in no part.
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
        // Some block the whole text: a key of many lines is not harmless without the lines that were recognized.
        let withholds = !self.policy.redacts || found.matches.iter().any(|found| found.blocks_file);
        if !found.matches.is_empty() && withholds {
            return Err(WithheldReason::Secret { rules: rule_names(&found) });
        }
        let redacted = found.matches.len() as u64;
        let text = if redacted == 0 { text } else { secrets::redact(&text, &found) };
        // Of the text that is sent: an outline of the other could name what was taken out, and its lines would not fit.
        let outline = self.outline(file_type, &text);
        let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let source = summarize::SummaryInput { file_type, text: &text, lines, outline: outline.as_ref() };
        Ok((material(&source, task.strategy, &task.subject, most_bytes), redacted))
    }

    /// Returns what looks like a secret in the file that a task is about, by place.
    pub(super) fn secrets(&self, task: &SummaryTask) -> Vec<SecretLocation> {
        let SubjectLocation::File(path) = &task.location else { return Vec::new() };
        let Ok(text) = self.text(task, path) else { return Vec::new() };
        let found = scan(&text).map(|scan| scan.matches).unwrap_or_default();
        let (mut line, mut done) = (1, 0);
        let mut secrets = Vec::with_capacity(found.len());
        for found in found {
            // By place, so that no part of the text is looked at twice.
            let at = found.span.start.max(done);
            line += text[done..at].matches('\n').count();
            done = at;
            secrets.push(SecretLocation { rule: found.rule, line });
        }
        secrets
    }

    /// Reads the text that a task is about.
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
            // Processor time, so that the outline does not depend on how busy the machine is.
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

/// Reads a text in which the rules for secrets can look for some.
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

/// Returns whether a file holds nothing that looks like a secret; not if that cannot be found out.
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
