//! What a daemon can be without for a while is made anew where somebody has deleted it.

use super::steady::Steady;
use super::told::Told;
use crate::model::with_causes;
use crate::sys::RealDisk;
use crate::sys::log_to;

impl Steady<'_> {
    /// Makes the socket anew where it is gone. What cannot be made now is tried at every tick.
    pub(super) fn keep_sockets(&mut self) {
        let Some(sockets) = self.sockets.as_mut().filter(|sockets| !sockets.are_there()) else {
            self.is_unreachable = false;
            return;
        };
        let renewed = sockets.renew();
        let was_told = std::mem::replace(&mut self.is_unreachable, renewed.is_err());
        if was_told {
            return;
        }
        (self.tell)(Told::Note("the socket was deleted, and is made anew"));
        if let Err(error) = renewed {
            (self.tell)(Told::Note(&with_causes(&error)));
        }
    }

    /// Begins the log anew where it is gone: what is said from now on would be lost with the old one.
    pub(super) fn keep_log(&self) {
        let log = &self.owner.places.log;
        if self.constants.is_detached && RealDisk.identity(log).is_none() {
            // Where it cannot be had the daemon works on, and is not heard.
            let _ = log_to(log);
        }
    }
}
