//! The time at which a thread's work has to end.
//!
//! A deadline that is passed from function to function is only checked where somebody thought of
//! it, and long-running work turns up where nobody did: translating terms, rewriting them, growing
//! a forest. So each thread has one deadline: the code that starts the work sets it ([`within`]),
//! and every loop that may be long checks it ([`passed`]). A solver query never gets more time than
//! is left. Where steps are counted instead of seconds, no thread has a deadline, so that results
//! do not depend on the clock.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::LocalKey;
use std::time::{Duration, Instant};

/// The conditions under which work has to end.
#[derive(Clone, Debug, Default)]
pub struct Deadline {
    /// The time at which the work ends. `None`: there is no time limit.
    pub at: Option<Instant>,
    /// A flag that ends the work as soon as it is set. `None`: no other thread can end it.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Deadline {
    /// A deadline at `at` and without a flag; `None` means no time limit.
    pub fn at(at: Option<Instant>) -> Deadline {
        Deadline { at, stop: None }
    }

    /// Whether the time has passed or the flag is set.
    pub fn has_passed(&self) -> bool {
        let stopped = |stop: &Arc<AtomicBool>| stop.load(Ordering::Relaxed);
        self.stop.as_ref().is_some_and(stopped) || self.at.is_some_and(|at| Instant::now() >= at)
    }

    /// The time that is left. `None`: no limit.
    pub fn left(&self) -> Option<Duration> {
        if self.has_passed() {
            return Some(Duration::ZERO);
        }
        self.at
            .map(|at| at.saturating_duration_since(Instant::now()))
    }
}

/// Flags that interrupt a solver query when any of them is set, without ending the work around it.
pub type Alarm = Vec<Arc<AtomicBool>>;

thread_local! {
    static ALARM: RefCell<Alarm> = const { RefCell::new(Vec::new()) };
    static CURRENT: RefCell<Deadline> = const { RefCell::new(Deadline { at: None, stop: None }) };
    /// The number of calls of [`seldom_passed`].
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// Runs `work` while a thread-local variable has the given value, and restores the earlier value
/// afterwards.
fn with<V: Default, T>(
    variable: &'static LocalKey<RefCell<V>>,
    value: V,
    work: impl FnOnce() -> T,
) -> T {
    /// Restores the earlier value, even if the work panics.
    struct Restore<V: Default + 'static>(&'static LocalKey<RefCell<V>>, V);
    impl<V: Default> Drop for Restore<V> {
        fn drop(&mut self) {
            self.0.set(std::mem::take(&mut self.1));
        }
    }
    let _restore = Restore(variable, variable.replace(value));
    work()
}

/// Runs `work` under a deadline.
pub fn within<T>(deadline: Deadline, work: impl FnOnce() -> T) -> T {
    with(&CURRENT, deadline, work)
}

/// Runs `work`; its solver queries are interrupted as soon as a flag of `alarm` is set.
pub fn interruptible<T>(alarm: Alarm, work: impl FnOnce() -> T) -> T {
    with(&ALARM, alarm, work)
}

/// The flags that interrupt the calling thread's solver queries.
pub fn alarm() -> Alarm {
    ALARM.with_borrow(Clone::clone)
}

/// Whether one of the flags is set.
pub fn is_raised(alarm: &Alarm) -> bool {
    alarm.iter().any(|flag| flag.load(Ordering::Relaxed))
}

/// Whether the calling thread's deadline has passed.
pub fn passed() -> bool {
    CURRENT.with_borrow(Deadline::has_passed)
}

/// As [`passed`], but checks the clock only once in `INTERVAL` calls: for loops whose iterations
/// cost less than reading the clock.
pub fn seldom_passed() -> bool {
    let asked = ASKED.get().wrapping_add(1);
    ASKED.set(asked);
    asked.is_multiple_of(INTERVAL) && passed()
}

/// The number of calls of [`seldom_passed`] between two readings of the clock.
const INTERVAL: u32 = 64;

/// The time that the calling thread has left. `None`: no limit.
pub fn left() -> Option<Duration> {
    CURRENT.with_borrow(Deadline::left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_deadline_holds_until_its_work_ends() {
        assert!(!passed() && left().is_none());
        let over = Deadline::at(Some(Instant::now()));
        let far = Deadline::at(Some(Instant::now() + Duration::from_secs(3600)));
        within(far, || {
            assert!(!passed() && left().is_some());
            within(over, || {
                assert!(passed());
                assert_eq!(left(), Some(Duration::ZERO));
            });
            assert!(!passed());
        });
        assert!(!passed() && left().is_none());
    }

    #[test]
    fn whoever_has_the_flag_ends_the_work() {
        let stop = Arc::new(AtomicBool::new(false));
        let deadline = Deadline {
            at: None,
            stop: Some(Arc::clone(&stop)),
        };
        within(deadline, || {
            assert!(!passed());
            stop.store(true, Ordering::Relaxed);
            assert!(passed());
            assert!((0..=INTERVAL).any(|_| seldom_passed()));
        });
    }
}
