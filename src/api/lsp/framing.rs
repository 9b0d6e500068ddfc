//! Reads and writes the framing of messages: a header with the length, an empty line, and the content.

use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::num::ParseIntError;

/// A longer line of a header ends the connection, because the client does not speak the protocol.
const MAX_HEADER_LINE: u64 = 8 << 10;
/// Longer content is skipped.
const MAX_CONTENT: u64 = 256 << 20;

/// A received message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Content(Vec<u8>),
    /// It is unreadable for this reason; the next one may be readable.
    Unreadable(&'static str),
}

/// Reads the next message; `None` at the end of the input.
pub(super) fn read_frame(input: &mut impl BufRead) -> io::Result<Option<Frame>> {
    let (mut length, mut is_named) = (None, false);
    loop {
        let mut line = Vec::new();
        let read = (&mut *input).take(MAX_HEADER_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        if !line.ends_with(b"\n") && read as u64 == MAX_HEADER_LINE {
            return Err(io::Error::new(ErrorKind::InvalidData, "line of a header is too long"));
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            break;
        }
        let named = content_length(line);
        is_named |= named.is_some();
        length = length.or(named.and_then(Result::ok));
    }
    let Some(length) = length else {
        let reason =
            if is_named { "Content-Length is not a number of bytes" } else { "header has no Content-Length" };
        return Ok(Some(Frame::Unreadable(reason)));
    };
    let mut content = (&mut *input).take(length);
    if MAX_CONTENT < length {
        io::copy(&mut content, &mut io::sink())?;
        return Ok(Some(Frame::Unreadable("message is too long")));
    }
    let mut bytes = Vec::new();
    content.read_to_end(&mut bytes)?;
    // The client ended within a message.
    Ok((bytes.len() as u64 == length).then_some(Frame::Content(bytes)))
}

/// Returns the length in a line of a header; `None` if the line has a different field.
///
/// After a message with a wrong length, the rest of its content precedes the next header on the same line. So the name
/// need not be at the beginning, or everything that follows would be unreadable.
fn content_length(line: &[u8]) -> Option<Result<u64, ParseIntError>> {
    const NAME: &[u8] = b"content-length";
    let at = line.windows(NAME.len()).rposition(|name| name.eq_ignore_ascii_case(NAME))?;
    let value = std::str::from_utf8(&line[at + NAME.len()..]).ok()?.trim_start().strip_prefix(':')?;
    Some(value.trim().parse())
}

/// Writes one message with a single call.
pub(super) fn write_frame(output: &mut dyn Write, content: &[u8]) -> io::Result<()> {
    let mut bytes = format!("Content-Length: {}\r\n\r\n", content.len()).into_bytes();
    bytes.extend_from_slice(content);
    output.write_all(&bytes)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(mut input: &[u8]) -> Vec<Frame> {
        std::iter::from_fn(|| read_frame(&mut input).unwrap()).collect()
    }

    #[test]
    fn messages_are_read_in_sequence() {
        let content = |text: &str| Frame::Content(text.as_bytes().to_vec());
        let input = b"Content-Length: 2\r\n\r\n{}content-type: x\r\ncontent-length:3\n\n[1]";
        assert_eq!(frames(input), [content("{}"), content("[1]")]);
        let input = b"Content-Type: x\r\n\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(frames(input), [Frame::Unreadable("header has no Content-Length"), content("{}")]);
        for length in ["-2", "x", "99999999999999999999"] {
            let input = format!("Content-Length: {length}\r\n\r\n{{}}Content-Length: 2\r\n\r\n{{}}");
            let unreadable = Frame::Unreadable("Content-Length is not a number of bytes");
            assert_eq!(frames(input.as_bytes()), [unreadable, content("{}")]);
        }
        let input = b"Content-Length: 1\r\n\r\n{}Content-Length: 2\r\n\r\n[]";
        assert_eq!(frames(input), [content("{"), content("[]")]);
        assert_eq!(frames(b"Content-Length: 9\r\n\r\n{}"), []);
        assert!(read_frame(&mut [b'x'; 9 << 10].as_slice()).is_err());
    }

    #[test]
    fn written_messages_can_be_read() {
        let mut written = Vec::new();
        write_frame(&mut written, "\"é\"".as_bytes()).unwrap();
        assert_eq!(frames(&written), [Frame::Content("\"é\"".as_bytes().to_vec())]);
    }
}
