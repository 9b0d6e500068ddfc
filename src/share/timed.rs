//! An engine with a timeout for each batch.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use super::engine::{
    BATCH, Engine, EngineAccess, EngineOptions, Error, NewEntry, PackName, RemoteEntry, RemoteKey,
};
use super::folder::FolderEngine;
use super::pack::pack_timeouts;
#[cfg(feature = "share-redis")]
use super::redis::RedisEngine;
#[cfg(feature = "share-s3")]
use super::s3::S3Engine;
use super::url::ShareUrl;

/// The maximum number of threads: those that are abandoned may hang for as long as the process runs.
const MAX_THREADS: usize = 8;

/// An engine with a timeout for each batch.
pub(super) struct TimedEngine {
    engine: Arc<dyn Engine>,
    /// The maximum number of entries in a batch.
    batch: usize,
    timeout: Duration,
}

impl TimedEngine {
    /// Returns the engine of an address, without connecting to it.
    pub(super) fn open(url: &ShareUrl, options: EngineOptions, access: EngineAccess) -> Result<Self, Error> {
        let (engine, batch): (Arc<dyn Engine>, usize) = match url {
            // Each entry is a file, and on a network disk each file is a request.
            ShareUrl::Folder(folder) => (Arc::new(FolderEngine::new(folder.clone())), 50),
            #[cfg(feature = "share-redis")]
            ShareUrl::Redis(address) => (Arc::new(RedisEngine::new(address.clone(), options)), BATCH),
            // Each entry is a request, several of which run concurrently.
            #[cfg(feature = "share-s3")]
            ShareUrl::S3(bucket) => (Arc::new(S3Engine::new(bucket.clone(), options, access)?), 100),
        };
        #[cfg(not(feature = "share-s3"))]
        drop(access);
        Ok(Self { engine, batch, timeout: options.timeout })
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        self.within(|engine| engine.check())
    }

    pub(super) fn get(&self, keys: &[RemoteKey]) -> Result<Vec<RemoteEntry>, Error> {
        let mut found = Vec::with_capacity(keys.len());
        for batch in keys.chunks(self.batch) {
            let batch = batch.to_vec();
            found.extend(self.within(move |engine| engine.get(&batch))?);
        }
        Ok(found)
    }

    pub(super) fn put(&self, entries: &[NewEntry]) -> Result<Vec<bool>, Error> {
        let mut stored = Vec::with_capacity(entries.len());
        for batch in entries.chunks(self.batch) {
            let batch = batch.to_vec();
            stored.extend(self.within(move |engine| engine.put(&batch))?);
        }
        Ok(stored)
    }

    pub(super) fn has_claims(&self) -> bool {
        self.engine.has_claims()
    }

    pub(super) fn claim(&self, keys: Vec<RemoteKey>, lifetime: Duration) -> Result<Vec<bool>, Error> {
        self.within(move |engine| engine.claim(&keys, lifetime))
    }

    pub(super) fn release(&self, keys: Vec<RemoteKey>) -> Result<(), Error> {
        self.within(move |engine| engine.release(&keys))
    }

    pub(super) fn has_packs(&self) -> bool {
        self.engine.has_packs()
    }

    pub(super) fn packs(&self) -> Result<Vec<PackName>, Error> {
        self.within(|engine| engine.packs())
    }

    pub(super) fn read_pack(&self, pack: &PackName, start: u64, length: usize) -> Result<Vec<u8>, Error> {
        let pack = pack.clone();
        self.within(move |engine| engine.read_pack(&pack, start, length))
    }

    pub(super) fn put_pack(&self, pack: PackName, bytes: Vec<u8>) -> Result<(), Error> {
        let timeout = self.timeout * pack_timeouts(bytes.len());
        self.within_time(timeout, move |engine| engine.put_pack(&pack, bytes))
    }

    /// Runs work within the timeout of a batch.
    fn within<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Engine) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.within_time(self.timeout, work)
    }

    /// Runs work in a thread of its own, and waits for it until the timeout. A disk that hangs cannot be interrupted,
    /// and a server may send a byte a second: such work is abandoned, and its result is lost. Nothing more is asked of an
    /// engine while too many threads hang.
    fn within_time<T: Send + 'static>(
        &self,
        timeout: Duration,
        work: impl FnOnce(&dyn Engine) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        // Each thread has a reference.
        if MAX_THREADS < Arc::strong_count(&self.engine) {
            return Err(Error::TimedOut(timeout));
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        let engine = Arc::clone(&self.engine);
        let worker = thread::Builder::new().name("slop-share".to_owned());
        let started = worker.spawn(move || {
            let result = work(&*engine);
            drop(engine);
            // The receiver may have stopped waiting.
            let _ = sender.send(result);
        });
        started.map_err(|source| Error::Io { done: "asked", source })?;
        receiver.recv_timeout(timeout).unwrap_or(Err(Error::TimedOut(timeout)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::engine::PutMode;

    struct HangingEngine;

    impl Engine for HangingEngine {
        fn check(&self) -> Result<(), Error> {
            Ok(())
        }

        fn get(&self, _: &[RemoteKey]) -> Result<Vec<RemoteEntry>, Error> {
            loop {
                thread::park();
            }
        }

        fn put(&self, entries: &[NewEntry]) -> Result<Vec<bool>, Error> {
            Ok(vec![true; entries.len()])
        }
    }

    #[test]
    fn an_engine_that_hangs_is_abandoned_after_the_timeout() {
        let timeout = Duration::from_millis(50);
        let engine = TimedEngine { engine: Arc::new(HangingEngine), batch: 2, timeout };
        assert!(matches!(engine.get(&[[1; 32]]), Err(Error::TimedOut(after)) if after == timeout));
        let entry = NewEntry { key: [1; 32], bytes: Vec::new(), mode: PutMode::IfAbsent };
        assert_eq!(engine.put(&vec![entry; 5]).unwrap(), [true; 5]);
        engine.check().unwrap();
    }

    #[test]
    fn an_engine_that_keeps_hanging_does_not_gather_threads() {
        let timeout = Duration::from_millis(1);
        let engine = TimedEngine { engine: Arc::new(HangingEngine), batch: 2, timeout };
        for _ in 0..2 * MAX_THREADS {
            assert!(matches!(engine.get(&[[1; 32]]), Err(Error::TimedOut(_))));
        }
        assert_eq!(Arc::strong_count(&engine.engine), 1 + MAX_THREADS);
    }
}
