//! Handles runs that fail or do not end: the signal handlers and the watchdog.
//!
//! They act on the target that is running, and leave its run by a long jump. If no target is
//! running, a signal has its default effect. The jump is possible only on the thread that runs the
//! target: a tick that the kernel delivers to a thread of the C code is sent on to that thread, and
//! a fault on a thread of the C code ends the process, whose parent reports the tape.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use libloading::os::unix::Library;

use super::watch;

type Running = unsafe extern "C" fn() -> i32;
type Interrupt = unsafe extern "C" fn();
type Crashed = unsafe extern "C" fn(i32, u64, u64);

/// The functions of the running target that the handlers need.
pub(super) struct Hooks {
    running: Running,
    interrupt: Interrupt,
    crashed: Crashed,
    /// The address range of the target's code.
    code: Range<usize>,
}

impl Hooks {
    /// The hooks of a loaded target.
    ///
    /// # Safety
    /// The library is a target of this crate, whose functions have these types.
    pub(super) unsafe fn of(
        library: &Library,
        code: Range<usize>,
    ) -> Result<Hooks, libloading::Error> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            Ok(Hooks {
                running: *library.get(b"crunner_rt_running")?,
                interrupt: *library.get(b"crunner_rt_interrupt")?,
                crashed: *library.get(b"crunner_rt_crashed")?,
                code,
            })
        }
    }
}

pub(super) static ACTIVE: AtomicPtr<Hooks> = AtomicPtr::new(std::ptr::null_mut());
/// The number of the current run; the watchdog compares it with the number that it saw last.
pub(super) static RUN: AtomicU64 = AtomicU64::new(0);
/// The thread that runs the target.
static RUNNER: AtomicI32 = AtomicI32::new(0);
static SEEN: AtomicU64 = AtomicU64::new(0);
static TICKS: AtomicU32 = AtomicU32::new(0);
/// How often the watchdog checks within one time limit.
const TICKS_PER_LIMIT: u32 = 4;

/// The number of stack words that are searched for the return address into the target when a
/// library's function fails.
const FRAME: usize = 16;
/// An access this near to the stack pointer is a stack overflow.
const NEAR: usize = 1 << 16;

/// The address in the target from which a failing function of another object was called. Functions
/// that copy bytes have nearly empty stack frames, so the return address is close. Without this,
/// all failing calls of `memcpy` would count as the same place.
///
/// # Safety
/// `stack` is the stack pointer of a function that the target called.
unsafe fn called_at(code: &Range<usize>, stack: usize, address: usize) -> Option<usize> {
    if stack.abs_diff(address) < NEAR || !stack.is_multiple_of(size_of::<usize>()) {
        return None;
    }
    let words = (0..FRAME).map(|i| {
        // SAFETY: the target's frame, which is larger than this, lies above.
        unsafe { *(stack as *const usize).add(i) }
    });
    words.into_iter().find(|word| code.contains(word))
}

/// Whether the calling thread runs the target.
fn is_runner() -> bool {
    // SAFETY: the call has no preconditions.
    unsafe { libc::gettid() == RUNNER.load(Ordering::Relaxed) }
}

extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: called by the kernel with valid arguments. If the program is running, `crashed`
    // leaves this function by a jump.
    unsafe {
        if signal == libc::SIGSEGV && watch::opened((*info).si_addr() as usize) {
            return;
        }
        let hooks = ACTIVE.load(Ordering::Acquire);
        if !hooks.is_null() && is_runner() && ((*hooks).running)() != 0 {
            let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext;
            let [pc, stack] = [libc::REG_RIP, libc::REG_RSP]
                .map(|register| registers.gregs[register as usize] as usize);
            let address = if signal == libc::SIGABRT {
                0
            } else {
                (*info).si_addr() as u64
            };
            let pc = match (*hooks).code.contains(&pc) {
                true => pc,
                false => called_at(&(*hooks).code, stack, address as usize).unwrap_or(pc),
            };
            ((*hooks).crashed)(signal, address, pc as u64);
        }
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

extern "C" fn on_tick(signal: i32) {
    if !is_runner() {
        // SAFETY: the thread runs as long as the process.
        unsafe {
            let runner = RUNNER.load(Ordering::Relaxed);
            libc::syscall(libc::SYS_tgkill, libc::getpid(), runner, signal);
        }
        return;
    }
    let run = RUN.load(Ordering::Relaxed);
    if SEEN.swap(run, Ordering::Relaxed) != run {
        TICKS.store(0, Ordering::Relaxed);
        return;
    }
    if TICKS.fetch_add(1, Ordering::Relaxed) + 1 >= TICKS_PER_LIMIT {
        let hooks = ACTIVE.load(Ordering::Acquire);
        if !hooks.is_null() {
            // SAFETY: async-signal-safe by the runtime's contract; returns if no program is
            // running.
            unsafe { ((*hooks).interrupt)() }
        }
    }
}

/// Installs the handlers and starts the watchdog. Must be called on the thread that runs the
/// target, with the watchdog's signal blocked on all other threads by [`block_signals`].
pub(super) fn guard(limit_ms: u32) -> std::io::Result<()> {
    let check = |status: i32| {
        if status == 0 {
            Ok(())
        } else {
            Err(std::io::Error::last_os_error())
        }
    };
    let stack: &'static mut [u8] = Box::leak(vec![0; 1 << 17].into_boxed_slice());
    // SAFETY: the structures are zeroed and filled as sigaction(2) and sigaltstack(2) require; the
    // stack is never freed.
    unsafe {
        RUNNER.store(libc::gettid(), Ordering::Relaxed);
        let alternate = libc::stack_t {
            ss_sp: stack.as_mut_ptr().cast(),
            ss_flags: 0,
            ss_size: stack.len(),
        };
        check(libc::sigaltstack(&alternate, std::ptr::null_mut()))?;
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        for signal in FAULTS {
            check(libc::sigaction(signal, &action, std::ptr::null_mut()))?;
        }
        action.sa_sigaction = on_tick as *const () as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_NODEFER | libc::SA_RESTART;
        check(libc::sigaction(
            libc::SIGPROF,
            &action,
            std::ptr::null_mut(),
        ))?;
        let period = u64::from(limit_ms.max(4)) * 1000 / u64::from(TICKS_PER_LIMIT);
        let interval = libc::timeval {
            tv_sec: (period / 1_000_000) as i64,
            tv_usec: (period % 1_000_000) as i64,
        };
        let timer = libc::itimerval {
            it_interval: interval,
            it_value: interval,
        };
        check(libc::setitimer(
            libc::ITIMER_PROF,
            &timer,
            std::ptr::null_mut(),
        ))
    }
}

const FAULTS: [i32; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
    libc::SIGTRAP,
];

/// Blocks the watchdog's signal on the calling thread: a jump out of its handler on a thread that
/// does not run the target would be fatal.
pub(super) fn block_signals() {
    // SAFETY: a zeroed set is initialised by sigemptyset.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGPROF);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}
