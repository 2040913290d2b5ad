//! When a thread's work has to end.
//!
//! A deadline that is handed from function to function is heeded where somebody thought of it, and
//! the work that takes a minute is found where nobody did: translating terms, rewriting them,
//! growing a forest. So a thread has one deadline, whoever starts the work sets it ([`within`]),
//! and every loop that may be long looks at it ([`passed`]). A question to a solver never gets more
//! time than is left. Where steps are counted instead of seconds no thread has a deadline, so that
//! the clock decides nothing.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::LocalKey;
use std::time::{Duration, Instant};

/// When work has to end.
#[derive(Clone, Debug, Default)]
pub struct Deadline {
    /// At this time. None: the clock does not matter.
    pub at: Option<Instant>,
    /// Or as soon as this is set. `None`: no other thread can ask for the end.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Deadline {
    /// At a time, if there is one.
    pub fn at(at: Option<Instant>) -> Deadline {
        Deadline { at, stop: None }
    }

    /// Whether it has passed.
    pub fn has_passed(&self) -> bool {
        let stopped = |stop: &Arc<AtomicBool>| stop.load(Ordering::Relaxed);
        self.stop.as_ref().is_some_and(stopped) || self.at.is_some_and(|at| Instant::now() >= at)
    }

    /// How long until then. None: no limit.
    pub fn left(&self) -> Option<Duration> {
        if self.has_passed() {
            return Some(Duration::ZERO);
        }
        self.at
            .map(|at| at.saturating_duration_since(Instant::now()))
    }
}

/// Flags of which any asks for the end of a question to a solver, but not of the work around it.
pub type Alarm = Vec<Arc<AtomicBool>>;

thread_local! {
    static ALARM: RefCell<Alarm> = const { RefCell::new(Vec::new()) };
    static CURRENT: RefCell<Deadline> = const { RefCell::new(Deadline { at: None, stop: None }) };
    /// How often [`seldom_passed`] was asked.
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// Does something while one of the thread's variables has a value. The value of the work around it
/// is in force again afterwards.
fn with<V: Default, T>(
    variable: &'static LocalKey<RefCell<V>>,
    value: V,
    work: impl FnOnce() -> T,
) -> T {
    /// Puts the earlier value back, also where the work panics.
    struct Restore<V: Default + 'static>(&'static LocalKey<RefCell<V>>, V);
    impl<V: Default> Drop for Restore<V> {
        fn drop(&mut self) {
            self.0.set(std::mem::take(&mut self.1));
        }
    }
    let _restore = Restore(variable, variable.replace(value));
    work()
}

/// Does something under a deadline.
pub fn within<T>(deadline: Deadline, work: impl FnOnce() -> T) -> T {
    with(&CURRENT, deadline, work)
}

/// Does something whose questions to a solver are broken off as soon as a flag is set.
pub fn interruptible<T>(alarm: Alarm, work: impl FnOnce() -> T) -> T {
    with(&ALARM, alarm, work)
}

/// What may break off the calling thread's questions.
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

/// As [`passed`], but looks at the clock only now and then: for loops whose turns take less than
/// that costs.
pub fn seldom_passed() -> bool {
    let asked = ASKED.get().wrapping_add(1);
    ASKED.set(asked);
    asked.is_multiple_of(INTERVAL) && passed()
}

/// Turns of a short loop between two looks at the clock.
const INTERVAL: u32 = 64;

/// How long the calling thread may go on. None: no limit.
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
