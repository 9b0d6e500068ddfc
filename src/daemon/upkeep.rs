//! What a daemon can be without for a while is made anew where somebody has deleted it.

use super::steady::EventLoop;
use super::told::Notice;
use crate::model::error_chain;
use crate::sys::RealDisk;
use crate::sys::redirect_output;

impl EventLoop<'_> {
    /// Makes the socket anew where it is gone. What cannot be made now is tried at every tick.
    pub(super) fn restore_sockets(&mut self) {
        let Some(sockets) = self.sockets.as_mut().filter(|sockets| !sockets.are_intact()) else {
            self.is_unreachable = false;
            return;
        };
        let renewed = sockets.reopen();
        let was_told = std::mem::replace(&mut self.is_unreachable, renewed.is_err());
        if was_told {
            return;
        }
        (self.notify)(Notice::Note("the socket was deleted, and is made anew"));
        if let Err(error) = renewed {
            (self.notify)(Notice::Note(&error_chain(&error)));
        }
    }

    /// Begins the log anew where it is gone: what is said from now on would be lost with the old one.
    pub(super) fn restore_log(&self) {
        let log = &self.instance.places.log;
        if self.constants.is_detached && RealDisk.identity(log).is_none() {
            // Where it cannot be had the daemon works on, and is not heard.
            let _ = redirect_output(log);
        }
    }
}
