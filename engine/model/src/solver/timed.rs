//! Runs Z3's checks within a limit of time.
//!
//! Z3's own limit of time cannot be used here. Z3 keeps a thread for each such limit, and a handler
//! that runs at every `fork` of the process waits until these threads are idle. So a compiler or
//! runner that the campaign starts during a check would have to wait for the end of the check, and
//! two processes that start at the same time may deadlock. Instead, a thread of this module
//! interrupts the check.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

use z3::{Context, SatResult};

use super::Limits;
use crate::deadline;

/// The limit of time for questions that have only a limit of steps. Z3's rewriting is not counted
/// in steps, and has taken minutes and twenty gigabytes for the square of a square.
const LONGEST: Duration = Duration::from_secs(30);

/// The interval at which raised alarms are looked for.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a check in the calling thread's context. Interrupts it when the time of `limits` or the
/// thread's deadline has passed, or when an alarm of the thread is raised
/// ([`deadline::interruptible`]). Also returns whether the check was interrupted.
pub fn timed(limits: &Limits, check: impl FnOnce() -> SatResult) -> (SatResult, bool) {
    let time = limits.time.unwrap_or(LONGEST);
    let time = deadline::left().map_or(time, |left| left.min(time));
    let context = Context::thread_local();
    let alarm = deadline::alarm();
    let (ended, end) = channel::<()>();
    scope(|threads| {
        let handle = context.handle();
        let watch = move || {
            let begin = Instant::now();
            let mut is_over = false;
            loop {
                let left = time.saturating_sub(begin.elapsed());
                let wait = match (is_over, alarm.is_empty()) {
                    (true, _) => LOOK,
                    (false, true) => left,
                    (false, false) => left.min(LOOK),
                };
                if end.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                    return is_over;
                }
                is_over |= begin.elapsed() >= time || deadline::is_raised(&alarm);
                if is_over {
                    // The interrupt is repeated because Z3 may lose one that arrives between two of
                    // its steps.
                    handle.interrupt();
                }
            }
        };
        // Without a watching thread nothing would end the check.
        let Ok(watch) = Builder::new().spawn_scoped(threads, watch) else {
            return (SatResult::Unknown, true);
        };
        let result = check();
        drop(ended);
        (result, watch.join().unwrap_or(true))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::z3::params;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;
    use z3::Solver;
    use z3::ast::BV;

    /// A question that takes longer than any limit here: two factors of a prime number of 127 bits.
    fn factors() -> Solver {
        let solver = Solver::new_for_logic("QF_BV").expect("Z3 has bit-vectors");
        let prime = BV::from_str(128, "170141183460469231731687303715884105727");
        let [a, b] = ["a", "b"].map(|name| BV::new_const(name, 128));
        solver.assert(a.bvmul(&b).eq(prime.expect("a number")));
        for factor in [a, b] {
            solver.assert(factor.bvugt(BV::from_u64(1, 128)));
            solver.assert(factor.bvult(BV::from_u64(u64::MAX, 128)));
        }
        solver
    }

    fn within(time: Duration) -> Limits {
        Limits {
            time: Some(time),
            ..Limits::default()
        }
    }

    #[test]
    fn a_raised_alarm_breaks_a_check_off() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicBool, Ordering};

        let flag = Arc::new(AtomicBool::new(false));
        let limits = within(Duration::from_secs(600));
        let solver = factors();
        let raised = Arc::clone(&flag);
        let raise = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            raised.store(true, Ordering::Relaxed);
        });
        let work = || timed(&limits, || solver.check());
        let (result, interrupted) = deadline::interruptible(vec![flag], work);
        raise.join().expect("the flag is set");
        assert!(result == SatResult::Unknown && interrupted);
        assert!(deadline::alarm().is_empty());
    }

    #[test]
    fn a_check_is_interrupted_and_the_next_one_is_answered() {
        for _ in 0..3 {
            let hard = factors();
            let limits = within(Duration::from_millis(50));
            assert_eq!(timed(&limits, || hard.check()), (SatResult::Unknown, true));
            let easy = Solver::new();
            easy.assert(BV::new_const("a", 64).bvugt(BV::from_u64(1, 64)));
            let limits = within(Duration::from_secs(600));
            assert_eq!(timed(&limits, || easy.check()), (SatResult::Sat, false));
        }
    }

    /// With Z3's own limit of time, the process would start only when the check ends.
    #[test]
    fn a_process_starts_while_a_question_is_asked() {
        let limit = Duration::from_secs(20);
        let (begun, begin) = channel();
        let (stop, stopped) = channel::<()>();
        scope(|threads| {
            threads.spawn(move || {
                let hard = factors();
                let limits = within(limit);
                hard.set_params(&params(&limits));
                let context = Context::thread_local();
                scope(|inner| {
                    let handle = context.handle();
                    inner.spawn(move || {
                        let _ = stopped.recv();
                        handle.interrupt();
                    });
                    timed(&limits, || {
                        let _ = begun.send(());
                        hard.check()
                    })
                });
            });
            begin.recv().expect("the question is asked");
            std::thread::sleep(Duration::from_millis(200));
            let start = Instant::now();
            let mut process = Command::new("true");
            // SAFETY: the closure does nothing between fork and exec; it makes the library use
            // `fork`.
            unsafe {
                process.pre_exec(|| Ok(()));
            }
            let status = process.status().expect("a process");
            let waited = start.elapsed();
            drop(stop);
            assert!(status.success());
            assert!(waited < limit / 2, "the process waited for {waited:?}");
        });
    }
}
