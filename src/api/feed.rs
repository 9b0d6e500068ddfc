//! What has changed, for whoever wants to be told: one ring of events that every subscriber reads at its own pace.
//!
//! The ring is bounded, so that a subscriber who sleeps costs nothing. One that was overtaken is told
//! [`EventKind::FreshInstance`], never a stream with a gap in it.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;
use tokio::sync::watch;

/// Events that are remembered.
const EVENTS: usize = 1024;

/// Changes that are remembered, in all events together.
const CHANGES: usize = 65_536;

/// A moment by the daemon's count, written `epoch:sequence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The count of starts and of lost tracks: a later one is greater.
    pub epoch: u64,
    /// The count of changes within the epoch.
    pub sequence: u64,
}

/// The text is no position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read a clock, which is written `epoch:sequence`")]
pub struct NoPosition;

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.epoch, self.sequence)
    }
}

impl FromStr for Position {
    type Err = NoPosition;

    fn from_str(text: &str) -> Result<Self, NoPosition> {
        let (epoch, sequence) = text.split_once(':').ok_or(NoPosition)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| NoPosition);
        Ok(Self { epoch: number(epoch)?, sequence: number(sequence)? })
    }
}

/// What subscribers are told at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What sort of news it is.
    pub kind: EventKind,
    /// The daemon's count after it.
    pub clock: Position,
    /// What has changed; nothing where it is not known.
    pub changes: Vec<Change>,
}

/// What sort of news an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Files have changed: these, and no others.
    Changed,
    /// What happened since the position that was asked for is not known: everything is to be looked at.
    FreshInstance,
    /// The daemon lost track, and looks at everything itself.
    LostTrack,
}

impl EventKind {
    /// Returns the kind as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::FreshInstance => "fresh_instance",
            Self::LostTrack => "lost_track",
        }
    }
}

/// One file that has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The file, from the project's folder.
    pub path: String,
    /// The path's bytes in hex, where they are no UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// What happened to it.
    pub kind: ChangeKind,
    /// The SHA-256 of its bytes; none where there are none.
    pub sha256: Option<String>,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It came.
    Added,
    /// It is another.
    Modified,
    /// It went.
    Removed,
}

/// The end that the daemon holds: what is published here is told to all subscribers.
#[derive(Debug)]
pub struct Feed {
    ring: Arc<Mutex<Ring>>,
    newest: watch::Sender<Position>,
}

#[derive(Debug)]
struct Ring {
    newest: Position,
    /// Everything after this position is in `events`.
    known_from: Position,
    changes: usize,
    events: VecDeque<Arc<Event>>,
}

impl Feed {
    /// Returns a feed that knows nothing of what was before `start`.
    pub fn new(start: Position) -> Self {
        let ring = Ring { newest: start, known_from: start, changes: 0, events: VecDeque::new() };
        Self { ring: Arc::new(Mutex::new(ring)), newest: watch::Sender::new(start) }
    }

    /// Tells all subscribers. Each event's position has to be after the last one's.
    ///
    /// More changes than the ring holds are told as one [`EventKind::FreshInstance`]: whoever is told of so many looks
    /// at everything anyway.
    pub fn publish(&self, event: Event) {
        let clock = event.clock;
        let mut ring = locked(&self.ring);
        if clock <= ring.newest {
            return;
        }
        ring.push(event);
        drop(ring);
        self.newest.send_replace(clock);
    }

    /// Returns what is told from now on, or since a position.
    pub fn subscribe(&self, since: Option<Position>) -> Subscription {
        let newest = self.newest.subscribe();
        let now = locked(&self.ring).newest;
        // A position that is still to come was never given out by this daemon.
        let last = since.map_or(Some(now), |since| (since <= now).then_some(since));
        Subscription { ring: Arc::clone(&self.ring), newest, last }
    }
}

impl Ring {
    fn push(&mut self, event: Event) {
        self.newest = event.clock;
        if CHANGES < event.changes.len() {
            self.events.clear();
            self.changes = 0;
            self.known_from = event.clock;
            return;
        }
        self.changes += event.changes.len();
        self.events.push_back(Arc::new(event));
        while EVENTS < self.events.len() || CHANGES < self.changes {
            let Some(oldest) = self.events.pop_front() else { break };
            self.changes -= oldest.changes.len();
            self.known_from = oldest.clock;
        }
    }

    fn after(&self, last: Option<Position>) -> Option<Arc<Event>> {
        let Some(last) = last.filter(|last| self.known_from <= *last) else {
            let kind = EventKind::FreshInstance;
            return Some(Arc::new(Event { kind, clock: self.newest, changes: Vec::new() }));
        };
        let next = self.events.partition_point(|event| event.clock <= last);
        self.events.get(next).map(Arc::clone)
    }
}

/// The end that a subscriber holds.
#[derive(Debug)]
pub struct Subscription {
    ring: Arc<Mutex<Ring>>,
    newest: watch::Receiver<Position>,
    /// The position of what was told last; none where it is not known in this feed.
    last: Option<Position>,
}

impl Subscription {
    /// Returns the next event, if there is one.
    pub fn try_next(&mut self) -> Option<Arc<Event>> {
        let event = locked(&self.ring).after(self.last)?;
        self.last = Some(event.clock);
        Some(event)
    }

    /// Waits for the next event; nothing when the feed has ended.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        loop {
            self.newest.mark_unchanged();
            if let Some(event) = self.try_next() {
                return Some(event);
            }
            self.newest.changed().await.ok()?;
        }
    }
}

/// A panic elsewhere leaves a ring that is whole: nothing in it is changed by halves.
fn locked(ring: &Mutex<Ring>) -> MutexGuard<'_, Ring> {
    ring.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(sequence: u64, files: usize) -> Event {
        let change =
            Change { path: "a".to_owned(), path_hex: None, kind: ChangeKind::Modified, sha256: None };
        let clock = Position { epoch: 1, sequence };
        Event { kind: EventKind::Changed, clock, changes: vec![change; files] }
    }

    fn feed() -> Feed {
        Feed::new(Position { epoch: 1, sequence: 0 })
    }

    fn told(subscription: &mut Subscription) -> Vec<(EventKind, u64)> {
        std::iter::from_fn(|| subscription.try_next())
            .map(|event| (event.kind, event.clock.sequence))
            .collect()
    }

    #[test]
    fn a_subscriber_is_told_what_comes_after_it_and_nothing_before() {
        let feed = feed();
        feed.publish(changed(1, 1));
        let mut subscription = feed.subscribe(None);
        assert_eq!(told(&mut subscription), []);
        feed.publish(changed(2, 1));
        feed.publish(changed(3, 1));
        assert_eq!(told(&mut subscription), [(EventKind::Changed, 2), (EventKind::Changed, 3)]);
        assert_eq!(told(&mut subscription), []);
    }

    #[test]
    fn a_position_that_is_remembered_is_gone_on_from() {
        let feed = feed();
        (1..4).for_each(|sequence| feed.publish(changed(sequence, 1)));
        let mut subscription = feed.subscribe(Some(Position { epoch: 1, sequence: 2 }));
        assert_eq!(told(&mut subscription), [(EventKind::Changed, 3)]);
    }

    #[test]
    fn a_position_of_another_epoch_or_of_the_future_is_not_gone_on_from() {
        let feed = feed();
        feed.publish(changed(1, 1));
        for (epoch, sequence) in [(0, 1), (1, 2), (2, 0)] {
            let mut subscription = feed.subscribe(Some(Position { epoch, sequence }));
            assert_eq!(told(&mut subscription), [(EventKind::FreshInstance, 1)], "{epoch}:{sequence}");
        }
    }

    #[test]
    fn a_subscriber_that_was_overtaken_is_told_so_instead_of_a_gap() {
        let feed = feed();
        let mut sleeper = feed.subscribe(None);
        (1..=5000).for_each(|sequence| feed.publish(changed(sequence, 1)));
        assert_eq!(told(&mut sleeper), [(EventKind::FreshInstance, 5000)]);
        feed.publish(changed(5001, 1));
        assert_eq!(told(&mut sleeper), [(EventKind::Changed, 5001)]);
        assert!(locked(&feed.ring).events.len() <= EVENTS);
    }

    #[test]
    fn more_changes_than_are_remembered_are_told_as_everything() {
        let feed = feed();
        let mut subscription = feed.subscribe(None);
        feed.publish(changed(1, CHANGES + 1));
        assert_eq!(told(&mut subscription), [(EventKind::FreshInstance, 1)]);
        (2..6).for_each(|sequence| feed.publish(changed(sequence, CHANGES / 2)));
        assert_eq!(told(&mut subscription), [(EventKind::FreshInstance, 5)]);
        assert!(locked(&feed.ring).changes <= CHANGES);
    }

    #[test]
    fn a_lost_track_is_told_to_those_who_listen_and_gone_on_from() {
        let feed = feed();
        let mut subscription = feed.subscribe(None);
        let clock = Position { epoch: 2, sequence: 0 };
        feed.publish(Event { kind: EventKind::LostTrack, clock, changes: Vec::new() });
        assert_eq!(told(&mut subscription), [(EventKind::LostTrack, 0)]);
        assert_eq!(told(&mut feed.subscribe(Some(clock))), []);
    }

    #[test]
    fn a_position_is_read_as_it_is_written() {
        let position = Position { epoch: 7, sequence: 42 };
        assert_eq!(position.to_string().parse(), Ok(position));
        for text in ["", "1", "1:", ":1", "a:1", "1:2:3", "-1:2"] {
            assert_eq!(text.parse::<Position>(), Err(NoPosition), "{text}");
        }
    }
}
