//! Groups the frames of a text into traces.

use std::collections::hash_map::Entry;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::detect::{FrameOrder, layout, read_line};
use super::frame::{TraceFrame, TraceTool};
use super::lines::{FoundFrame, LineContext, LineReading, TraceHeading, TraceLine, split};
use super::project_names::ProjectNames;

/// The traces of a text.
#[derive(Debug, Default)]
pub struct FoundTraces {
    /// The frames, trace by trace, innermost first.
    pub frames: Vec<TraceFrame>,
    /// The lines that frames were parsed from, in order; also those of repeated frames, and of log entries whose
    /// locations are not frames.
    pub lines: Vec<Range<usize>>,
}

/// Finds the traces and diagnostics in a text, given the names of the files that they may be about.
///
/// A location that occurs several times in a trace, as in a recursion, is one frame.
pub fn find_traces(text: &str, project: &ProjectNames<'_>) -> FoundTraces {
    let lines = split(text);
    let mut heading = TraceHeading::default();
    let mut traces = TraceCollector::default();
    for at in 0..lines.len() {
        let line = |at: Option<usize>| at.and_then(|at| lines.get(at)).map_or("", |line| line.text);
        heading.read(line(Some(at)), project);
        let context = LineContext {
            line: line(Some(at)),
            previous: line(at.checked_sub(1)),
            next: [line(Some(at + 1)), line(Some(at + 2))],
            heading: &heading,
            project,
        };
        if !context.line.is_empty()
            && let Some(reading) = read_line(&context)
        {
            traces.add(reading, at, &lines[at]);
        }
    }
    traces.finish()
}

/// The traces that have been read so far.
#[derive(Default)]
struct TraceCollector {
    found: FoundTraces,
    traces: usize,
    open: Option<OpenTrace>,
}

/// The trace that the next frame may belong to.
struct OpenTrace {
    tool: TraceTool,
    last_line: usize,
    /// Frames with the rank of a diagnostic; those of a stack are ranked by their order.
    frames: Vec<(FoundFrame, Option<usize>, Range<usize>)>,
}

impl TraceCollector {
    fn add(&mut self, reading: LineReading, at: usize, line: &TraceLine<'_>) {
        let range = line.range.clone();
        if !matches!(reading, LineReading::Boundary(_)) {
            self.found.lines.push(range.clone());
        }
        match reading {
            LineReading::Boundary(tool) => {
                if self.open.as_ref().is_some_and(|open| open.tool == tool) {
                    self.close();
                }
            }
            LineReading::Progress => {}
            LineReading::First(frame) => self.start(frame, None, at, range),
            LineReading::Next(frame) => {
                let is_near = |open: &OpenTrace| at - open.last_line <= layout(open.tool).1 + 1;
                match &mut self.open {
                    Some(open) if open.tool == frame.tool && is_near(open) => {
                        open.last_line = at;
                        open.frames.push((frame, None, range));
                    }
                    _ => self.start(frame, None, at, range),
                }
            }
            LineReading::Diagnostic(frame, rank) => match &mut self.open {
                Some(open) if 1 < rank && open.tool == frame.tool => {
                    open.last_line = at;
                    open.frames.push((frame, Some(rank), range));
                }
                _ => self.start(frame, Some(rank), at, range),
            },
        }
    }

    fn start(&mut self, frame: FoundFrame, rank: Option<usize>, at: usize, range: Range<usize>) {
        self.close();
        self.open = Some(OpenTrace { tool: frame.tool, last_line: at, frames: vec![(frame, rank, range)] });
    }

    /// Ranks the frames of the open trace. Diagnostics already have their ranks.
    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        if layout(open.tool).0 == FrameOrder::InnermostLast {
            open.frames.reverse();
        }
        let mut seen = FxHashMap::default();
        for (frame, severity, range) in open.frames {
            let FoundFrame { path, line, column, function, tool } = frame;
            let count = seen.len();
            match seen.entry((path.clone(), line, column)) {
                // If several functions have the same location, as after inlining, the outermost is defined there.
                Entry::Occupied(entry) => {
                    let first: &mut TraceFrame = &mut self.found.frames[*entry.get()];
                    first.function = function.or_else(|| first.function.take());
                }
                Entry::Vacant(entry) => {
                    entry.insert(self.found.frames.len());
                    let rank = severity.unwrap_or(count);
                    let trace = self.traces;
                    self.found.frames.push(TraceFrame {
                        path,
                        line,
                        column,
                        function,
                        rank,
                        trace,
                        tool,
                        range,
                    });
                }
            }
        }
        self.traces += 1;
    }

    fn finish(mut self) -> FoundTraces {
        self.close();
        self.found
    }
}
