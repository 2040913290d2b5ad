//! Z3's checks within a time.
//!
//! Z3 has a limit of time of its own, and may not have it here. It keeps a thread for each limit, and a handler that runs in every
//! `fork` of the process waits until these threads are idle: a compiler or a runner that the campaign starts meanwhile would wait for the end
//! of the check, and two that are started at once may wait for each other without end. So a thread of ours interrupts the
//! check, and Z3 has none to wait for.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, scope};
use std::time::Duration;

use z3::{Context, SatResult};

use super::Limits;
use crate::deadline;

/// What a question takes at most that has a limit of steps alone: rewriting is not counted in steps, and has taken minutes and
/// twenty gigabytes for the square of a square.
const LONGEST: Duration = Duration::from_secs(30);

/// Runs a check of the calling thread's context, and interrupts it when the time of `limits` or the thread's deadline is over.
/// Says whether it was interrupted.
pub fn timed(limits: &Limits, check: impl FnOnce() -> SatResult) -> (SatResult, bool) {
    let time = limits.time.unwrap_or(LONGEST);
    let time = deadline::left().map_or(time, |left| left.min(time));
    let context = Context::thread_local();
    let (ended, end) = channel::<()>();
    scope(|threads| {
        let handle = context.handle();
        let watch = move || {
            let is_late = end.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if is_late {
                handle.interrupt();
            }
            is_late
        };
        // Without a thread nothing would end the check.
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
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::sync_channel;
    use z3::Solver;
    use z3::ast::BV;

    /// A question that takes minutes: the factors of a prime number.
    fn factors() -> Solver {
        let solver = Solver::new();
        let [a, b] = ["a", "b"].map(|name| BV::new_const(name, 64));
        solver.assert(a.bvmul(&b).eq(BV::from_u64(18_446_744_073_709_551_557, 64)));
        for factor in [a, b] {
            solver.assert(factor.bvugt(BV::from_u64(1, 64)));
            solver.assert(factor.bvult(BV::from_u64(1 << 32, 64)));
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

    #[test]
    fn a_process_starts_while_a_question_is_asked() {
        let (begun, begin) = sync_channel(1);
        let (stop, stopped) = channel::<()>();
        let answered = AtomicBool::new(false);
        scope(|threads| {
            threads.spawn(|| {
                let hard = factors();
                let limits = within(Duration::from_secs(600));
                let context = Context::thread_local();
                scope(|inner| {
                    let handle = context.handle();
                    inner.spawn(move || {
                        let _ = stopped.recv();
                        handle.interrupt();
                    });
                    timed(&limits, || {
                        let _ = begun.send(());
                        let result = hard.check();
                        answered.store(true, Ordering::SeqCst);
                        result
                    })
                });
            });
            begin.recv().expect("the question is asked");
            std::thread::sleep(Duration::from_millis(200));
            let mut process = Command::new("true");
            // SAFETY: nothing is done between fork and exec; it makes the library fork.
            unsafe {
                process.pre_exec(|| Ok(()));
            }
            let status = process.status().expect("a process");
            let was_answered = answered.load(Ordering::SeqCst);
            drop(stop);
            assert!(status.success());
            assert!(!was_answered, "the process waited for the answer");
        });
    }
}
