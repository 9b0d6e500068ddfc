//! Authentication on the page's port: one-time tickets, and the sessions that they open.
//!
//! A ticket is part of an address, and other users of the machine can read the command line of a browser. So a ticket
//! is valid once and for a short time; if it is used again, one of the two clients was not the user, and its session
//! ends.

use std::collections::VecDeque;
use std::io;
use std::sync::Mutex;
use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::model::{hex, lock};

/// How long a ticket is valid.
pub(super) const TICKET_LIFETIME: Duration = Duration::from_mins(1);

/// The most tickets, including used ones with their sessions; the oldest are forgotten, and their sessions end.
const MAX_TICKETS: usize = 64;

type Digest = [u8; 32];

/// The tickets and sessions of one daemon. They are kept as digests, only in memory.
#[derive(Debug, Default)]
pub(super) struct PageSessions {
    tickets: Mutex<VecDeque<Ticket>>,
}

#[derive(Debug)]
struct Ticket {
    digest: Digest,
    issued: Instant,
    state: TicketState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TicketState {
    Unused,
    /// The digest of the session's token.
    Used(Digest),
    /// It was used twice, and its session has ended.
    Revoked,
}

/// Why a ticket opens no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum RefusedTicket {
    #[error("ticket is unknown or has expired")]
    Unknown,
    #[error("ticket was used before, so its session has ended")]
    UsedBefore,
}

impl PageSessions {
    /// Returns a new ticket.
    pub(super) fn issue(&self, now: Instant) -> io::Result<String> {
        let ticket = random_token()?;
        let mut tickets = lock(&self.tickets);
        if tickets.len() == MAX_TICKETS {
            tickets.pop_front();
        }
        let digest = sha256(ticket.as_bytes());
        tickets.push_back(Ticket { digest, issued: now, state: TicketState::Unused });
        Ok(ticket)
    }

    /// Returns the token of a new session.
    pub(super) fn redeem(&self, ticket: &str, now: Instant) -> io::Result<Result<String, RefusedTicket>> {
        let token = random_token()?;
        let shown = sha256(ticket.as_bytes());
        let mut tickets = lock(&self.tickets);
        // Digests are compared, so the time reveals nothing about the ticket.
        let Some(known) = tickets.iter_mut().find(|ticket| ticket.digest == shown) else {
            return Ok(Err(RefusedTicket::Unknown));
        };
        if known.state != TicketState::Unused {
            known.state = TicketState::Revoked;
            return Ok(Err(RefusedTicket::UsedBefore));
        }
        if TICKET_LIFETIME <= now.duration_since(known.issued) {
            return Ok(Err(RefusedTicket::Unknown));
        }
        known.state = TicketState::Used(sha256(token.as_bytes()));
        Ok(Ok(token))
    }

    /// Returns whether a digest is that of a session's token.
    pub(super) fn has_session(&self, token: &Digest) -> bool {
        lock(&self.tickets).iter().any(|ticket| ticket.state == TicketState::Used(*token))
    }
}

/// Returns a random token of 256 bits in hex.
pub fn random_token() -> io::Result<String> {
    let mut bytes = [0_u8; 32];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| io::Error::other("the system provides no random numbers"))?;
    Ok(hex(&bytes))
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_session(sessions: &PageSessions, token: &str) -> bool {
        sessions.has_session(&sha256(token.as_bytes()))
    }

    #[test]
    fn a_ticket_is_valid_once_and_for_a_minute() {
        let (sessions, start) = (PageSessions::default(), Instant::now());
        let (first, late) = (sessions.issue(start).unwrap(), sessions.issue(start).unwrap());
        let last_moment = start + TICKET_LIFETIME - Duration::from_millis(1);
        let token = sessions.redeem(&first, last_moment).unwrap().unwrap();
        assert!(has_session(&sessions, &token));
        assert!(!has_session(&sessions, &first) && !has_session(&sessions, ""));
        assert_eq!(sessions.redeem(&late, start + TICKET_LIFETIME).unwrap(), Err(RefusedTicket::Unknown));
        assert!(has_session(&sessions, &token));
    }

    #[test]
    fn a_ticket_that_is_shown_twice_ends_its_session_and_no_other() {
        let sessions = PageSessions::default();
        let tickets = [sessions.issue(Instant::now()).unwrap(), sessions.issue(Instant::now()).unwrap()];
        let tokens =
            tickets.each_ref().map(|ticket| sessions.redeem(ticket, Instant::now()).unwrap().unwrap());
        for _ in 0..2 {
            assert_eq!(sessions.redeem(&tickets[0], Instant::now()).unwrap(), Err(RefusedTicket::UsedBefore));
        }
        assert!(!has_session(&sessions, &tokens[0]) && has_session(&sessions, &tokens[1]));
    }

    #[test]
    fn tickets_and_tokens_of_another_daemon_are_unknown() {
        let (ours, other) = (PageSessions::default(), PageSessions::default());
        let ticket = other.issue(Instant::now()).unwrap();
        assert_eq!(ours.redeem(&ticket, Instant::now()).unwrap(), Err(RefusedTicket::Unknown));
        let token = other.redeem(&ticket, Instant::now()).unwrap().unwrap();
        assert!(!has_session(&ours, &token));
    }

    #[test]
    fn the_oldest_session_is_evicted_for_a_new_one() {
        let sessions = PageSessions::default();
        let open =
            || sessions.redeem(&sessions.issue(Instant::now()).unwrap(), Instant::now()).unwrap().unwrap();
        let tokens: Vec<String> = (0..=MAX_TICKETS).map(|_| open()).collect();
        assert!(!has_session(&sessions, &tokens[0]));
        assert!(tokens[1..].iter().all(|token| has_session(&sessions, token)));
    }
}
