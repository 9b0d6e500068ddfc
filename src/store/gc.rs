//! Collecting what nobody asks for any more.

use super::DeletedRows;
use super::Error;
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
    pub fn collect_garbage(
        &mut self,
        idle_before_s: i64,
        current: &[Producer],
    ) -> Result<DeletedRows, Error> {
        let before = self.bytes_on_disk()?;
        let transaction = self.begin()?;
        let mut freed = DeletedRows::default();
        for id in producer::select_stale(&transaction, current)? {
            freed.artifacts += artifact::delete_by_producer(&transaction, id)?;
            producer::delete(&transaction, id)?;
        }
        for id in content::select_idle(&transaction, idle_before_s)? {
            freed.artifacts += artifact::delete_by_content(&transaction, id)?;
            freed.contents += content::delete(&transaction, id)?;
        }
        token_count::delete_older(&transaction, idle_before_s)?;
        given::delete_older(&transaction, idle_before_s)?;
        transaction.commit()?;
        self.reclaim_space(before, freed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::TempStore;
    use super::super::samples::batch;
    use super::super::samples::hash;
    use super::super::samples::producer;
    use super::super::samples::producers;
    use super::super::samples::removal;
    use crate::model::ArtifactKind;

    #[test]
    fn what_a_file_holds_or_held_lately_stays() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let files = [("a.py", "held"), ("b.py", "idle long"), ("c.py", "idle lately")];
        store.save(&batch(&files, 1)).unwrap();
        store.save(&removal(&["b.py"], 10)).unwrap();
        store.save(&removal(&["c.py"], 20)).unwrap();
        let freed = store.collect_garbage(20, &producers()).unwrap();
        assert_eq!((freed.contents, freed.artifacts, freed.files), (1, 3, 0));
        assert!(store.has_artifacts(&hash("held"), &producers()).unwrap());
        assert!(store.has_artifacts(&hash("idle lately"), &producers()).unwrap());
        assert_eq!(store.facts(&hash("idle long")).unwrap(), None);
    }

    #[test]
    fn what_nobody_makes_any_more_goes() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a")], 1)).unwrap();
        let current = [producer(ArtifactKind::Outline), producer(ArtifactKind::Summary)];
        let freed = store.collect_garbage(0, &current).unwrap();
        assert_eq!((freed.contents, freed.artifacts), (0, 1));
        assert!(store.has_artifacts(&hash("a"), &current).unwrap());
        assert!(!store.has_artifacts(&hash("a"), &producers()).unwrap());
        assert_eq!(store.files().unwrap().len(), 1);
    }
}
