//! Collecting what nobody asks for any more.

use super::Error;
use super::Freed;
use super::Store;
use super::artifact;
use super::content;
use super::given;
use super::producer;
use super::token_count;
use crate::model::Producer;

impl Store {
    /// Deletes contents that no file has held since before `idle_before_s`, with all that was derived from them, and
    /// the artifacts of producers that are not in `current`.
    ///
    /// Counts of tokens that were made before `idle_before_s` go too: nothing tells whether their texts are still
    /// rendered, and to count again is cheap. So does what was given under names that were not used since then.
    ///
    /// What a file holds stays; so does what was left lately, for a branch that was switched away is switched back.
    pub fn collect(&mut self, idle_before_s: i64, current: &[Producer]) -> Result<Freed, Error> {
        let before = self.bytes_on_disk()?;
        let transaction = self.begin()?;
        let mut freed = Freed::default();
        for id in producer::others(&transaction, current)? {
            freed.artifacts += artifact::remove_of_producer(&transaction, id)?;
            producer::remove(&transaction, id)?;
        }
        for id in content::idle(&transaction, idle_before_s)? {
            freed.artifacts += artifact::remove_of_content(&transaction, id)?;
            freed.contents += content::remove(&transaction, id)?;
        }
        token_count::remove_older(&transaction, idle_before_s)?;
        given::remove_older(&transaction, idle_before_s)?;
        transaction.commit()?;
        self.shrink(before, freed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::Sandbox;
    use super::super::samples::batch;
    use super::super::samples::hash;
    use super::super::samples::producer;
    use super::super::samples::producers;
    use super::super::samples::removal;
    use crate::model::Artifact;

    #[test]
    fn what_a_file_holds_or_held_lately_stays() {
        let sandbox = Sandbox::new();
        let mut store = sandbox.open();
        let files = [("a.py", "held"), ("b.py", "idle long"), ("c.py", "idle lately")];
        store.save(&batch(&files, 1)).unwrap();
        store.save(&removal(&["b.py"], 10)).unwrap();
        store.save(&removal(&["c.py"], 20)).unwrap();
        let freed = store.collect(20, &producers()).unwrap();
        assert_eq!((freed.contents, freed.artifacts, freed.files), (1, 3, 0));
        assert!(store.has_all(&hash("held"), &producers()).unwrap());
        assert!(store.has_all(&hash("idle lately"), &producers()).unwrap());
        assert_eq!(store.facts(&hash("idle long")).unwrap(), None);
    }

    #[test]
    fn what_nobody_makes_any_more_goes() {
        let sandbox = Sandbox::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a")], 1)).unwrap();
        let current = [producer(Artifact::Outline), producer(Artifact::Summary)];
        let freed = store.collect(0, &current).unwrap();
        assert_eq!((freed.contents, freed.artifacts), (0, 1));
        assert!(store.has_all(&hash("a"), &current).unwrap());
        assert!(!store.has_all(&hash("a"), &producers()).unwrap());
        assert_eq!(store.files().unwrap().len(), 1);
    }
}
