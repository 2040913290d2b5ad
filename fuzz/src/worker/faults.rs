//! What becomes of a run that fails or does not end: the handlers of signals, and the watchdog.
//!
//! They serve whatever target runs at the moment, and leave its run by a jump. Where nothing runs,
//! a signal has its usual effect.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use libloading::os::unix::Library;

use super::watch;

type Running = unsafe extern "C" fn() -> i32;
type Interrupt = unsafe extern "C" fn();
type Crashed = unsafe extern "C" fn(i32, u64, u64);

/// The functions that handlers need, of the target that is running.
pub(super) struct Hooks {
    running: Running,
    interrupt: Interrupt,
    crashed: Crashed,
    /// Where the target's code lies.
    code: Range<usize>,
}

impl Hooks {
    /// Of a loaded target.
    ///
    /// # Safety
    /// The library is a target of this crate's, whose functions have these types.
    pub(super) unsafe fn of(
        library: &Library,
        code: Range<usize>,
    ) -> Result<Hooks, libloading::Error> {
        // SAFETY: the caller says so.
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
/// Number of the present run; the watchdog compares it with what it saw last.
pub(super) static RUN: AtomicU64 = AtomicU64::new(0);
static SEEN: AtomicU64 = AtomicU64::new(0);
static TICKS: AtomicU32 = AtomicU32::new(0);
/// How often the watchdog looks within one time limit.
const TICKS_PER_LIMIT: u32 = 4;

/// Words of the stack that are looked at for the place in the target that a library's function was
/// called from.
const FRAME: usize = 16;
/// So near to the stack, an access was one of the stack's own end.
const NEAR: usize = 1 << 16;

/// Where a function of another object was called from that has failed: what copies bytes keeps next
/// to nothing on the stack. All calls of `memcpy` would be one place otherwise.
///
/// # Safety
/// `stack` is the stack pointer of a function that the target called.
unsafe fn called_at(code: &Range<usize>, stack: usize, address: usize) -> Option<usize> {
    if stack.abs_diff(address) < NEAR || !stack.is_multiple_of(size_of::<usize>()) {
        return None;
    }
    let words = (0..FRAME).map(|i| {
        // SAFETY: the target's frame, which is larger than that, lies above.
        unsafe { *(stack as *const usize).add(i) }
    });
    words.into_iter().find(|word| code.contains(word))
}

extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: called by the kernel with valid arguments; `crashed` jumps out of here if the program
    // runs.
    unsafe {
        if signal == libc::SIGSEGV && watch::opened((*info).si_addr() as usize) {
            return;
        }
        let hooks = ACTIVE.load(Ordering::Acquire);
        if !hooks.is_null() && ((*hooks).running)() != 0 {
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

extern "C" fn on_tick(_: i32) {
    let run = RUN.load(Ordering::Relaxed);
    if SEEN.swap(run, Ordering::Relaxed) != run {
        TICKS.store(0, Ordering::Relaxed);
        return;
    }
    if TICKS.fetch_add(1, Ordering::Relaxed) + 1 >= TICKS_PER_LIMIT {
        let hooks = ACTIVE.load(Ordering::Acquire);
        if !hooks.is_null() {
            // SAFETY: async-signal-safe by the runtime's contract; returns if no program runs.
            unsafe { ((*hooks).interrupt)() }
        }
    }
}

/// Installs the handlers and starts the watchdog. Call it on the thread that runs the target, with
/// the signals of [`block_signals`] blocked on all others.
pub(super) fn guard(limit_ms: u32) -> std::io::Result<()> {
    let check = |status: i32| {
        if status == 0 {
            Ok(())
        } else {
            Err(std::io::Error::last_os_error())
        }
    };
    let stack: &'static mut [u8] = Box::leak(vec![0; 1 << 17].into_boxed_slice());
    // SAFETY: structures are zeroed and filled as sigaction(2) and sigaltstack(2) want them; the
    // stack is never freed.
    unsafe {
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
/// does not run the target would be the end.
pub(super) fn block_signals() {
    // SAFETY: a zeroed set is initialised by sigemptyset.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGPROF);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}
