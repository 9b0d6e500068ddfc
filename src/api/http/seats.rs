//! The limit of connections. If all slots are taken, an idle connection is closed to make room for the next.
//!
//! So a thousand connections that never send a whole request do not keep out one that does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The seats of a server.
#[derive(Debug)]
pub(super) struct ConnectionLimiter {
    limit: usize,
    table: Mutex<SlotTable>,
}

#[derive(Debug, Default)]
struct SlotTable {
    next: u64,
    taken: BTreeMap<u64, OccupiedSlot>,
}

#[derive(Debug)]
struct OccupiedSlot {
    is_busy: bool,
    evicted: Arc<Notify>,
}

/// A seat, until it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    seats: Arc<ConnectionLimiter>,
    number: u64,
    evicted: Arc<Notify>,
}

/// A seat whose holder is being answered, until it is dropped.
#[derive(Debug)]
pub(super) struct ActiveRequest(Arc<ConnectionSlot>);

impl ConnectionLimiter {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, table: Mutex::default() })
    }

    /// Returns a seat; none where every holder is being answered.
    pub(super) fn acquire(self: &Arc<Self>) -> Option<ConnectionSlot> {
        let mut table = self.table();
        if self.limit <= table.taken.len() {
            let idle = table.taken.iter().find(|(_, taken)| !taken.is_busy).map(|(number, _)| *number)?;
            if let Some(taken) = table.taken.remove(&idle) {
                taken.evicted.notify_one();
            }
        }
        let number = table.next;
        table.next += 1;
        let evicted = Arc::new(Notify::new());
        table.taken.insert(number, OccupiedSlot { is_busy: false, evicted: Arc::clone(&evicted) });
        drop(table);
        Some(ConnectionSlot { seats: Arc::clone(self), number, evicted })
    }

    fn table(&self) -> MutexGuard<'_, SlotTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionSlot {
    /// Waits until the seat is somebody else's.
    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    /// Keeps the seat until the answer was sent; none where it is somebody else's already.
    pub(super) fn begin_request(self: &Arc<Self>) -> Option<ActiveRequest> {
        self.seats.table().taken.get_mut(&self.number)?.is_busy = true;
        Some(ActiveRequest(Arc::clone(self)))
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.seats.table().taken.remove(&self.number);
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        if let Some(taken) = self.0.seats.table().taken.get_mut(&self.0.number) {
            taken.is_busy = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asks_keeps_the_seat_and_whoever_does_not_makes_room() {
        let seats = ConnectionLimiter::new(2);
        let asking = Arc::new(seats.acquire().unwrap());
        let busy = asking.begin_request().unwrap();
        let idle = Arc::new(seats.acquire().unwrap());
        let next = Arc::new(seats.acquire().unwrap());
        assert!(idle.begin_request().is_none());
        let next_busy = next.begin_request().unwrap();
        assert!(seats.acquire().is_none());
        drop(busy);
        assert!(seats.acquire().is_some());
        assert!(asking.begin_request().is_none());
        drop((next_busy, next, idle, asking));
        assert!(seats.table().taken.is_empty());
    }
}
