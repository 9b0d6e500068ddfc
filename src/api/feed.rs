//! The feed of changes: one ring of events that every subscriber reads at its own pace.
//!
//! The ring is bounded, so that slow subscribers cost nothing. A subscriber that falls behind receives
//! [`FeedEventKind::FreshInstance`], never a stream with a gap.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::wire::wire_path;
use crate::engine;
use crate::model::lock;

const MAX_EVENTS: usize = 1024;

/// The most changes that the ring holds, in all events together.
// Switching branches is one event with very many changes, so a limit on events would not bound the memory.
const MAX_CHANGES: usize = 65_536;

/// A position in the sequence of changes, written `epoch:sequence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClockPosition {
    /// Increases with every start and whenever events were lost.
    pub epoch: u64,
    /// The count of changes within the epoch.
    pub sequence: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a clock: expected `epoch:sequence`")]
pub struct InvalidClock;

impl fmt::Display for ClockPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.epoch, self.sequence)
    }
}

impl FromStr for ClockPosition {
    type Err = InvalidClock;

    fn from_str(text: &str) -> Result<Self, InvalidClock> {
        let (epoch, sequence) = text.split_once(':').ok_or(InvalidClock)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| InvalidClock);
        Ok(Self { epoch: number(epoch)?, sequence: number(sequence)? })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    /// Its kind.
    pub kind: FeedEventKind,
    /// The position after it.
    pub clock: ClockPosition,
    /// The changed files; empty if unknown.
    pub changes: Vec<Change>,
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeedEventKind {
    /// Exactly these files have changed.
    Changed,
    /// The changes since the requested position are unknown: everything has to be checked.
    FreshInstance,
    /// The daemon lost events, and checks everything itself.
    LostTrack,
}

impl FeedEventKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::FreshInstance => "fresh_instance",
            Self::LostTrack => "lost_track",
        }
    }

    /// Returns the kind with this name, as returned by [`Self::name`].
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Changed, Self::FreshInstance, Self::LostTrack].into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether a subscriber to `kinds` receives this one; without kinds it receives all.
    ///
    /// Interruptions of the sequence are always received, because a subscriber would otherwise miss changes without
    /// knowing.
    fn is_wanted(self, kinds: Option<&[Self]>) -> bool {
        match self {
            Self::FreshInstance | Self::LostTrack => true,
            Self::Changed => kinds.is_none_or(|kinds| kinds.contains(&self)),
        }
    }
}

/// One file that has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The path's bytes in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// How it changed.
    pub kind: ChangeKind,
    /// The SHA-256 of its bytes; null if there are none.
    pub sha256: Option<String>,
}

impl From<engine::FileChange> for Change {
    fn from(change: engine::FileChange) -> Self {
        let (path, path_hex) = wire_path(&change.path);
        let kind = match change.kind {
            engine::FileChangeKind::Added => ChangeKind::Added,
            engine::FileChangeKind::Modified => ChangeKind::Modified,
            engine::FileChangeKind::Removed => ChangeKind::Removed,
        };
        Self { path, path_hex, kind, sha256: change.content.map(|content| content.to_string()) }
    }
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was added.
    Added,
    /// Its content changed.
    Modified,
    /// It was removed.
    Removed,
}

impl ChangeKind {
    /// Combines this change with a later one of the same file.
    const fn followed_by(self, later: Self) -> Self {
        match (self, later) {
            (Self::Added, Self::Modified) => Self::Added,
            (Self::Removed, Self::Added) => Self::Modified,
            // A file that was added and removed is reported as removed, because a subscriber may have read it in
            // between.
            (_, later) => later,
        }
    }
}

/// The publishing end, which the daemon has.
#[derive(Debug)]
pub struct Feed {
    ring: Arc<Mutex<EventRing>>,
    newest: watch::Sender<ClockPosition>,
}

#[derive(Debug)]
struct EventRing {
    newest: ClockPosition,
    /// Everything after this position is in `events`.
    known_from: ClockPosition,
    changes: usize,
    events: VecDeque<Arc<FeedEvent>>,
}

impl Feed {
    /// Returns a feed without changes before `start`.
    pub fn new(start: ClockPosition) -> Self {
        let ring = EventRing { newest: start, known_from: start, changes: 0, events: VecDeque::new() };
        Self { ring: Arc::new(Mutex::new(ring)), newest: watch::Sender::new(start) }
    }

    /// Publishes an event to all subscribers. Its position has to be after that of the last one.
    ///
    /// An event with more changes than the ring can store becomes a [`FeedEventKind::FreshInstance`]: a subscriber that
    /// has missed it checks everything anyway.
    pub fn publish(&self, event: FeedEvent) {
        let clock = event.clock;
        let mut ring = lock(&self.ring);
        // A position is used only once, because a subscriber that has reached it would never see a second event there.
        if clock <= ring.newest {
            return;
        }
        ring.push(event);
        // Released before the subscribers are woken, because each of them takes this lock first.
        drop(ring);
        self.newest.send_replace(clock);
    }

    /// Subscribes to events from now on, or after a position.
    pub fn subscribe(&self, since: Option<ClockPosition>) -> Subscription {
        let newest = self.newest.subscribe();
        let now = lock(&self.ring).newest;
        // A future position was not issued by this daemon.
        let last = since.map_or(Some(now), |since| (since <= now).then_some(since));
        Subscription { ring: Arc::clone(&self.ring), newest, last }
    }
}

impl EventRing {
    fn push(&mut self, event: FeedEvent) {
        self.newest = event.clock;
        if MAX_CHANGES < event.changes.len() {
            self.events.clear();
            self.changes = 0;
            self.known_from = event.clock;
            return;
        }
        self.changes += event.changes.len();
        self.events.push_back(Arc::new(event));
        while MAX_EVENTS < self.events.len() || MAX_CHANGES < self.changes {
            let Some(oldest) = self.events.pop_front() else { break };
            self.changes -= oldest.changes.len();
            self.known_from = oldest.clock;
        }
    }

    fn next_after(&self, last: Option<ClockPosition>) -> Option<Arc<FeedEvent>> {
        // After a position before the ring's beginning, changes may be missing, so the subscriber has to check
        // everything.
        let Some(last) = last.filter(|last| self.known_from <= *last) else {
            let kind = FeedEventKind::FreshInstance;
            return Some(Arc::new(FeedEvent { kind, clock: self.newest, changes: Vec::new() }));
        };
        // The ring is sorted, because `publish` drops an event that is not later than the newest.
        let next = self.events.partition_point(|event| event.clock <= last);
        self.events.get(next).map(Arc::clone)
    }
}

/// The receiving end.
#[derive(Debug)]
pub struct Subscription {
    ring: Arc<Mutex<EventRing>>,
    newest: watch::Receiver<ClockPosition>,
    /// The position of the last event that was read; `None` if this feed does not know it.
    last: Option<ClockPosition>,
}

impl Subscription {
    fn try_next(&mut self) -> Option<Arc<FeedEvent>> {
        let event = self.peek()?;
        self.last = Some(event.clock);
        Some(event)
    }

    fn peek(&self) -> Option<Arc<FeedEvent>> {
        lock(&self.ring).next_after(self.last)
    }

    /// Returns the next event of these kinds, joined with those of the same kind that directly follow it.
    fn try_next_joined(&mut self, kinds: Option<&[FeedEventKind]>) -> Option<Arc<FeedEvent>> {
        let first = loop {
            let event = self.try_next()?;
            if event.kind.is_wanted(kinds) {
                break event;
            }
        };
        let mut events = vec![first];
        while let Some(event) = self.peek() {
            let is_wanted = event.kind.is_wanted(kinds);
            if is_wanted && event.kind != events[0].kind {
                break;
            }
            self.last = Some(event.clock);
            if is_wanted {
                events.push(event);
            }
        }
        Some(joined(events))
    }

    /// Waits for the next event of these kinds, joined with those of the same kind that directly follow it; nothing
    /// when the feed has ended.
    pub async fn next_joined(&mut self, kinds: Option<&[FeedEventKind]>) -> Option<Arc<FeedEvent>> {
        loop {
            // Marked before the ring is read: an event that is published in between wakes the wait below, and is not
            // lost.
            self.newest.mark_unchanged();
            if let Some(event) = self.try_next_joined(kinds) {
                return Some(event);
            }
            self.newest.changed().await.ok()?;
        }
    }
}

/// Joins events of one kind into one at the position of the last, in which each file occurs once.
fn joined(mut events: Vec<Arc<FeedEvent>>) -> Arc<FeedEvent> {
    let last = events.pop().expect("the caller has read at least one event");
    if events.is_empty() {
        return last;
    }
    let mut changes: Vec<Change> = Vec::new();
    let mut known: HashMap<(&str, Option<&str>), usize> = HashMap::new();
    for change in events.iter().chain([&last]).flat_map(|event| &event.changes) {
        match known.entry((&change.path, change.path_hex.as_deref())) {
            Entry::Occupied(at) => {
                let earlier = &mut changes[*at.get()];
                let kind = earlier.kind.followed_by(change.kind);
                *earlier = Change { kind, ..change.clone() };
            }
            Entry::Vacant(free) => {
                free.insert(changes.len());
                changes.push(change.clone());
            }
        }
    }
    Arc::new(FeedEvent { kind: last.kind, clock: last.clock, changes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(sequence: u64, files: usize) -> FeedEvent {
        let change =
            Change { path: "a".to_owned(), path_hex: None, kind: ChangeKind::Modified, sha256: None };
        let clock = ClockPosition { epoch: 1, sequence };
        FeedEvent { kind: FeedEventKind::Changed, clock, changes: vec![change; files] }
    }

    fn feed() -> Feed {
        Feed::new(ClockPosition { epoch: 1, sequence: 0 })
    }

    fn drain(subscription: &mut Subscription) -> Vec<(FeedEventKind, u64)> {
        std::iter::from_fn(|| subscription.try_next())
            .map(|event| (event.kind, event.clock.sequence))
            .collect()
    }

    #[test]
    fn a_subscriber_receives_only_later_events() {
        let feed = feed();
        feed.publish(changed(1, 1));
        let mut subscription = feed.subscribe(None);
        assert_eq!(drain(&mut subscription), []);
        feed.publish(changed(2, 1));
        feed.publish(changed(3, 1));
        assert_eq!(drain(&mut subscription), [(FeedEventKind::Changed, 2), (FeedEventKind::Changed, 3)]);
        assert_eq!(drain(&mut subscription), []);
    }

    #[test]
    fn a_known_position_is_resumed() {
        let feed = feed();
        (1..4).for_each(|sequence| feed.publish(changed(sequence, 1)));
        let mut subscription = feed.subscribe(Some(ClockPosition { epoch: 1, sequence: 2 }));
        assert_eq!(drain(&mut subscription), [(FeedEventKind::Changed, 3)]);
    }

    #[test]
    fn a_position_of_another_epoch_or_in_the_future_is_not_resumed() {
        let feed = feed();
        feed.publish(changed(1, 1));
        for (epoch, sequence) in [(0, 1), (1, 2), (2, 0)] {
            let mut subscription = feed.subscribe(Some(ClockPosition { epoch, sequence }));
            assert_eq!(drain(&mut subscription), [(FeedEventKind::FreshInstance, 1)], "{epoch}:{sequence}");
        }
    }

    #[test]
    fn a_subscriber_that_falls_behind_is_notified_instead_of_missing_events() {
        let feed = feed();
        let mut sleeper = feed.subscribe(None);
        (1..=5000).for_each(|sequence| feed.publish(changed(sequence, 1)));
        assert_eq!(drain(&mut sleeper), [(FeedEventKind::FreshInstance, 5000)]);
        feed.publish(changed(5001, 1));
        assert_eq!(drain(&mut sleeper), [(FeedEventKind::Changed, 5001)]);
        assert!(lock(&feed.ring).events.len() <= MAX_EVENTS);
    }

    #[test]
    fn too_many_changes_are_reported_as_everything() {
        let feed = feed();
        let mut subscription = feed.subscribe(None);
        feed.publish(changed(1, MAX_CHANGES + 1));
        assert_eq!(drain(&mut subscription), [(FeedEventKind::FreshInstance, 1)]);
        (2..6).for_each(|sequence| feed.publish(changed(sequence, MAX_CHANGES / 2)));
        assert_eq!(drain(&mut subscription), [(FeedEventKind::FreshInstance, 5)]);
        assert!(lock(&feed.ring).changes <= MAX_CHANGES);
    }

    #[test]
    fn pending_events_are_joined_with_each_file_once() {
        let feed = feed();
        let mut subscription = feed.subscribe(None);
        let steps = [
            (1, "new", ChangeKind::Added),
            (2, "old", ChangeKind::Modified),
            (3, "new", ChangeKind::Modified),
            (4, "old", ChangeKind::Removed),
            (5, "replaced", ChangeKind::Removed),
            (6, "replaced", ChangeKind::Added),
        ];
        for (sequence, path, kind) in steps {
            let sha256 = Some(sequence.to_string());
            let change = Change { path: path.to_owned(), path_hex: None, kind, sha256 };
            feed.publish(FeedEvent { changes: vec![change], ..changed(sequence, 0) });
        }
        let event = subscription.try_next_joined(None).unwrap();
        let changes: Vec<_> =
            event.changes.iter().map(|c| (&*c.path, c.kind, c.sha256.as_deref().unwrap())).collect();
        let expected = [
            ("new", ChangeKind::Added, "3"),
            ("old", ChangeKind::Removed, "4"),
            ("replaced", ChangeKind::Modified, "6"),
        ];
        assert_eq!((event.clock.sequence, changes), (6, expected.to_vec()));
        assert_eq!(subscription.try_next_joined(None), None);
    }

    #[test]
    fn an_interruption_is_not_joined_and_reaches_all_subscribers() {
        let feed = feed();
        let (mut all, mut few) = (feed.subscribe(None), feed.subscribe(None));
        feed.publish(changed(1, 1));
        let clock = ClockPosition { epoch: 2, sequence: 0 };
        feed.publish(FeedEvent { kind: FeedEventKind::LostTrack, clock, changes: Vec::new() });
        feed.publish(FeedEvent { clock: ClockPosition { epoch: 2, sequence: 1 }, ..changed(1, 1) });
        let kinds = |subscription: &mut Subscription, kinds: Option<&[FeedEventKind]>| {
            std::iter::from_fn(|| subscription.try_next_joined(kinds))
                .map(|event| event.kind)
                .collect::<Vec<_>>()
        };
        let (changed, lost) = (FeedEventKind::Changed, FeedEventKind::LostTrack);
        assert_eq!(kinds(&mut all, None), [changed, lost, changed]);
        assert_eq!(kinds(&mut few, Some(&[lost])), [lost]);
    }

    #[test]
    fn lost_events_are_reported_and_can_be_resumed_from() {
        let feed = feed();
        let mut subscription = feed.subscribe(None);
        let clock = ClockPosition { epoch: 2, sequence: 0 };
        feed.publish(FeedEvent { kind: FeedEventKind::LostTrack, clock, changes: Vec::new() });
        assert_eq!(drain(&mut subscription), [(FeedEventKind::LostTrack, 0)]);
        assert_eq!(drain(&mut feed.subscribe(Some(clock))), []);
    }

    #[test]
    fn a_position_round_trips() {
        let position = ClockPosition { epoch: 7, sequence: 42 };
        assert_eq!(position.to_string().parse(), Ok(position));
        for text in ["", "1", "1:", ":1", "a:1", "1:2:3", "-1:2"] {
            assert_eq!(text.parse::<ClockPosition>(), Err(InvalidClock), "{text}");
        }
    }
}
