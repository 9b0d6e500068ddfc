//! What a daemon tells of changes.

use std::time::Duration;

use bytes::Bytes;
use bytes::BytesMut;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::Deserialize;

use super::connection::Client;
use super::error::ClientError;
use super::error::Unreachable;
use super::error::broken;
use crate::api::feed::Change;
use crate::api::feed::Event;
use crate::api::feed::EventKind;
use crate::api::feed::NoPosition;

/// How long a stream of events may be silent: it is told each 15 s that nothing has changed.
const EVENTS_SILENCE: Duration = Duration::from_secs(40);

/// What a daemon tells, one by one.
pub struct Events<'a> {
    pub(super) client: &'a Client,
    pub(super) body: Incoming,
    pub(super) buffer: BytesMut,
}

impl Iterator for Events<'_> {
    type Item = Result<Event, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(message) = take_message(&mut self.buffer) {
                match event_of(&message) {
                    // A comment: the daemon is there, and nothing has changed.
                    None => continue,
                    told => return told,
                }
            }
            let frame = self
                .client
                .runtime
                .block_on(async { tokio::time::timeout(EVENTS_SILENCE, self.body.frame()).await });
            match frame {
                Err(_) => return Some(Err(Unreachable::Silent(EVENTS_SILENCE).into())),
                Ok(None) => return None,
                Ok(Some(Err(error))) => return Some(Err(broken(error).into())),
                Ok(Some(Ok(frame))) => self.buffer.extend(frame.into_data().ok()),
            }
        }
    }
}

/// Takes what stands before the next empty line.
fn take_message(buffer: &mut BytesMut) -> Option<Bytes> {
    let end = memchr::memmem::find(buffer, b"\n\n")?;
    Some(buffer.split_to(end + 2).freeze())
}

/// Reads one message of a stream; none where it is a comment.
fn event_of(message: &[u8]) -> Option<Result<Event, ClientError>> {
    #[derive(Deserialize)]
    struct Data {
        clock: String,
        changes: Vec<Change>,
    }
    let field = |name: &[u8]| {
        message.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name)?.strip_prefix(b": "))
    };
    let (kind, data) = (field(b"event")?, field(b"data")?);
    let read = || {
        let kind = match kind {
            b"changed" => EventKind::Changed,
            b"fresh_instance" => EventKind::FreshInstance,
            b"lost_track" => EventKind::LostTrack,
            _ => return Err("an event of an unknown kind".to_owned()),
        };
        let data: Data = serde_json::from_slice(data).map_err(|error| error.to_string())?;
        let clock = data.clock.parse().map_err(|error: NoPosition| error.to_string())?;
        Ok(Event { kind, clock, changes: data.changes })
    };
    Some(read().map_err(ClientError::NotUnderstood))
}
