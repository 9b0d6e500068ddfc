//! Runs over what is between `{` and `}`.

use super::bytes::begins_line;
use super::bytes::comment_end;
use super::bytes::directive_end;
use super::bytes::quote_end;
use super::scan::CScanner;
use super::scan::Unsupported;

/// Which bytes matter in the inside of a function.
const SIGNIFICANT: [bool; 256] = {
    let mut matters = [false; 256];
    let signs = *b"{}\"'/#";
    let mut at = 0;
    while at < signs.len() {
        matters[signs[at] as usize] = true;
        at += 1;
    }
    matters
};

impl CScanner<'_> {
    /// Returns where the block ends that is opened at `open`. Conditions in it are followed; one that is still open
    /// when the block ends stays so.
    pub(super) fn matching_brace(&mut self, open: usize) -> Result<usize, Unsupported> {
        let item = self.at;
        let mut depth = 0_usize;
        let mut at = open;
        loop {
            let rest = self.bytes.get(at..).unwrap_or_default();
            let Some(step) = rest.iter().position(|byte| SIGNIFICANT[usize::from(*byte)]) else {
                return Err(Unsupported);
            };
            at += step;
            match self.bytes[at] {
                b'{' => depth += 1,
                b'}' => {
                    depth = depth.checked_sub(1).ok_or(Unsupported)?;
                    if depth == 0 {
                        self.at = item;
                        return Ok(at + 1);
                    }
                }
                b'/' => {
                    if matches!(self.bytes.get(at + 1), Some(b'/' | b'*')) {
                        at = comment_end(self.bytes, at).ok_or(Unsupported)?;
                        continue;
                    }
                }
                b'#' => {
                    if begins_line(self.bytes, at) {
                        let end = directive_end(self.bytes, at);
                        self.follow_condition(self.condition_directive(at), end, depth)?;
                        at = self.at;
                        continue;
                    }
                }
                _ => {
                    at = quote_end(self.bytes, at, &mut self.unended);
                    continue;
                }
            }
            at += 1;
        }
    }
}
