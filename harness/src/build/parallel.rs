//! Compiles many files in parallel.
//!
//! Each file of a library has its own flags, and `cc` compiles in parallel only files with the same
//! flags. Compiling a library of 150 files one by one takes minutes.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies `work` to each item, on as many threads as cargo (`NUM_JOBS`) or the machine allows. The
/// results have the order of the items.
pub(crate) fn parallel<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let told = std::env::var("NUM_JOBS").ok().and_then(|n| n.parse().ok());
    let threads = told
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get);
    let next = AtomicUsize::new(0);
    let one = || {
        let mut mine = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = all.get(i) else {
                return mine;
            };
            mine.push((i, work(item)));
        }
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads.min(all.len()))
            .map(|_| scope.spawn(one))
            .collect();
        let ended = running.into_iter().map(|thread| match thread.join() {
            Ok(mine) => mine,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ended.flatten().collect()
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order() {
        let all: Vec<u32> = (0..100).collect();
        let squares = parallel(&all, |n| n * n);
        assert_eq!(squares, all.iter().map(|n| n * n).collect::<Vec<_>>());
        assert!(parallel(&[] as &[u32], |n| *n).is_empty());
    }
}
