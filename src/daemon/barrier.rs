//! Queries wait here until every earlier change has been reported.
//!
//! A cookie is a file that the watcher creates and deletes. When its event comes back from the system's queue, all
//! events of earlier changes have come before it. A query waits for a cookie that is created *after* it was received:
//! one that is already pending may have been created before the change that the query is about. One cookie serves all
//! queries that were received before it was created.

use std::time::Duration;

/// How long to wait for a cookie before falling back to checking the files themselves.
pub(super) const COOKIE_TIMEOUT: Duration = Duration::from_secs(1);

/// Queries that wait for a cookie.
#[derive(Debug)]
pub(super) struct Barrier<T> {
    /// The queries that were received since the last cookie was created.
    next: Vec<T>,
    /// The pending cookie, and the queries that wait for it.
    pending: Option<PendingCookie<T>>,
}

#[derive(Debug)]
struct PendingCookie<T> {
    cookie: u64,
    since: Duration,
    waiting: Vec<T>,
}

impl<T> Barrier<T> {
    pub(super) const fn new() -> Self {
        Self { next: Vec::new(), pending: None }
    }

    /// Adds a query. It waits for a cookie that is still to be created.
    pub(super) fn join(&mut self, question: T) {
        // Never to the pending one: its cookie may be older than the change that the query is about.
        self.next.push(question);
    }

    /// Returns whether to create a cookie now: a query waits for one, and none is pending.
    pub(super) const fn needs_cookie(&self) -> bool {
        !self.next.is_empty() && self.pending.is_none()
    }

    pub(super) fn cookie_sent(&mut self, cookie: u64, now: Duration) {
        // All that have joined so far, because this cookie was created after each of them was received.
        self.pending = Some(PendingCookie { cookie, since: now, waiting: std::mem::take(&mut self.next) });
    }

    /// Returns when a pending cookie was created.
    pub(super) fn sent_at(&self, cookie: u64) -> Option<Duration> {
        self.pending.as_ref().filter(|sent| sent.cookie == cookie).map(|sent| sent.since)
    }

    /// Records that a cookie came back; returns the queries that waited for it.
    pub(super) fn take_passed(&mut self, cookie: u64) -> Vec<T> {
        // A cookie may come back after its timeout, when no query waits for it anymore.
        match self.pending.take_if(|sent| sent.cookie == cookie) {
            Some(sent) => sent.waiting,
            None => Vec::new(),
        }
    }

    /// Returns all queries: there will be no cookie.
    pub(super) fn drain(&mut self) -> Vec<T> {
        let mut all = self.pending.take().map_or_else(Vec::new, |sent| sent.waiting);
        all.append(&mut self.next);
        all
    }

    /// Returns when the pending cookie will be overdue.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.pending.as_ref().map(|sent| sent.since.saturating_add(COOKIE_TIMEOUT))
    }

    /// Returns how many queries wait.
    pub(super) fn len(&self) -> usize {
        self.next.len() + self.pending.as_ref().map_or(0, |sent| sent.waiting.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::from_secs(100);

    #[test]
    fn a_question_waits_for_a_cookie_that_is_made_after_it() {
        let mut barrier = Barrier::new();
        barrier.join("first");
        assert!(barrier.needs_cookie());
        barrier.cookie_sent(1, START);
        // This query arrives while a cookie is pending that may be older than the change it is about.
        barrier.join("second");
        assert!(!barrier.needs_cookie());
        assert_eq!(barrier.take_passed(1), ["first"]);
        assert!(barrier.needs_cookie());
        barrier.cookie_sent(2, START);
        assert_eq!(barrier.take_passed(2), ["second"]);
        assert_eq!(barrier.len(), 0);
    }

    #[test]
    fn one_cookie_serves_all_queries_received_before_it() {
        let mut barrier = Barrier::new();
        barrier.join(1);
        barrier.cookie_sent(1, START);
        (2..100).for_each(|question| barrier.join(question));
        assert_eq!(barrier.take_passed(1), [1]);
        barrier.cookie_sent(2, START);
        assert_eq!(barrier.take_passed(2).len(), 98);
    }

    #[test]
    fn a_cookie_with_a_different_number_releases_no_query() {
        let mut barrier = Barrier::new();
        barrier.join("question");
        barrier.cookie_sent(7, START);
        assert!(barrier.take_passed(6).is_empty());
        assert!(barrier.take_passed(8).is_empty());
        assert_eq!(barrier.take_passed(7), ["question"]);
        assert!(barrier.take_passed(7).is_empty());
    }

    #[test]
    fn an_overdue_cookie_is_not_waited_for() {
        let mut barrier = Barrier::new();
        barrier.join("question");
        barrier.cookie_sent(1, START);
        assert_eq!(barrier.deadline(), Some(START + COOKIE_TIMEOUT));
        assert_eq!(barrier.drain(), ["question"]);
        // When it comes back after all, no query waits for it.
        assert!(barrier.take_passed(1).is_empty());
    }

    #[test]
    fn without_cookies_no_query_waits() {
        let mut barrier = Barrier::new();
        barrier.join(1);
        barrier.cookie_sent(1, START);
        barrier.join(2);
        assert_eq!(barrier.drain(), [1, 2]);
        assert_eq!(barrier.len(), 0);
    }
}
