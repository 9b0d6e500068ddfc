//! Runs work on several cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::lock;

/// A parser may need a deep stack, and so may walking its result.
pub const STACK_BYTES: usize = 8 << 20;

/// Runs the work on each of the items, and returns the results in their order.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    on_all_cores_with(items, || (), |(), item| work(item))
}

/// As [`on_all_cores`], with a state for each thread, such as values to reuse from one item to the next.
pub fn on_all_cores_with<T: Sync, S, R: Send>(
    items: &[T],
    new_state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    // A shared counter rather than equal shares: files differ in size by orders of magnitude, and the thread with the
    // large ones would still be working when all others have finished. `Relaxed` suffices, because the counter only
    // hands out each index once; the join publishes the results.
    let next = AtomicUsize::new(0);
    let take = || {
        let (mut state, mut done) = (new_state(), Vec::new());
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(&mut state, item)));
        }
    };
    let helpers = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let mut done = std::thread::scope(|scope| {
        // If no thread can be started, the existing ones do the work, or this one alone.
        let spawn = |_| std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, take).ok();
        // One less than the number of cores, because this thread works too.
        let helpers: Vec<_> = (1..helpers).map_while(spawn).collect();
        let mut done = take();
        for helper in helpers {
            // A panic reaches the caller as it would without threads; no result is silently missing.
            done.extend(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    // Which thread took which item depends on timing; the order of the results must not.
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Runs `other` on a thread of its own while this one runs `own`, or before it if no thread can be started.
pub fn in_parallel<A: Send, B>(other: impl FnOnce() -> A + Send, own: impl FnOnce() -> B) -> (A, B) {
    // A thread that cannot be started would drop it.
    let other = Mutex::new(Some(other));
    let run_other = || {
        let other = lock(&other).take().expect("it is only run once");
        other()
    };
    std::thread::scope(|scope| match std::thread::Builder::new().spawn_scoped(scope, run_other) {
        Ok(thread) => {
            let own = own();
            (thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), own)
        }
        Err(_) => (run_other(), own()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1_000).collect();
        assert_eq!(
            on_all_cores(&items, |item| item * 2),
            items.iter().map(|item| item * 2).collect::<Vec<_>>()
        );
        assert_eq!(on_all_cores(&items[..0], |item| *item), [0; 0]);
    }

    #[test]
    fn each_thread_has_a_state_of_its_own() {
        let items = [(); 1_000];
        let mut counts = on_all_cores_with(
            &items,
            || 0,
            |count, ()| {
                *count += 1;
                *count
            },
        );
        counts.sort_unstable();
        let threads = counts.iter().filter(|count| **count == 1).count();
        assert!((1..=items.len()).contains(&threads));
        assert!(counts.windows(2).all(|pair| pair[1] - pair[0] <= 1), "{counts:?}");
    }
}
