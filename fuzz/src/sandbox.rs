//! Restricts what the C code may do to the machine that it runs on.
//!
//! The C code's input and output are stubs, so it needs no system calls. But inline assembly, or a
//! wild jump due to a bug, can make system calls nevertheless, thousands of times per second, with
//! whatever arguments the fuzzer tries. A process therefore gives up the rights that it does not
//! need before it runs any C code. Landlock forbids TCP and writing outside one folder. A seccomp
//! filter forbids what Landlock does not cover: all sockets, processes, tracing, owners and modes
//! of files, io_uring. Limits on memory, descriptors and the size of files complete the sandbox.
//! Reading is not restricted, since data that was read cannot leave the machine.
//!
//! A kernel without one of these features still runs the code, with a warning that names what is
//! missing.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// The newest version of Landlock that is requested; an older kernel applies what it supports.
const LANDLOCK: ABI = ABI::V5;
/// The size of the largest file that may be written, in bytes.
const FILE: u64 = 64 << 20;
/// The maximal number of open descriptors.
const DESCRIPTORS: u64 = 256;
/// The address space beyond what is already mapped, in bytes.
const MEMORY: u64 = 4 << 30;

/// System calls that no process needs to run a target: networking, and access to the system.
const NETWORK: &[libc::c_long] = &[
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
];
const SYSTEM: &[libc::c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_userfaultfd,
    libc::SYS_open_by_handle_at,
    // Landlock restricts truncation only since Linux 6.2.
    libc::SYS_truncate,
    libc::SYS_fchmodat,
    libc::SYS_fchownat,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_chmod,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_utimensat,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setpriority,
    libc::SYS_sched_setaffinity,
];
/// New processes. A flag of `clone` distinguishes threads from processes.
const PROCESSES: &[libc::c_long] = &[
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_execve,
    libc::SYS_execveat,
];

/// The kind of process in the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxedProcess {
    /// A worker: one process that loads the target and starts no other process. Its descriptors up
    /// to `kept` cannot be closed, since it reports through them.
    Worker {
        /// The last descriptor that stays open.
        kept: u32,
    },
    /// A runner: the sandbox is entered before it is executed, and it forks a process for each
    /// tape.
    Runner,
}

/// A sandbox that is ready to be entered. Memory is allocated when it is created, so that it can be
/// entered between fork and exec.
pub struct Sandbox {
    process: SandboxedProcess,
    ruleset: Option<RulesetCreated>,
    filters: Vec<BpfProgram>,
    memory: Option<u64>,
    missing: Vec<String>,
}

impl Sandbox {
    /// A sandbox in which only files below the folders `writable`, and `/dev/null`, can be written.
    pub fn new(process: SandboxedProcess, writable: &[&Path]) -> Sandbox {
        let mut missing = Vec::new();
        let ruleset = match ruleset(writable) {
            Ok(ruleset) => Some(ruleset),
            Err(why) => {
                missing.push(format!("writing files is not restricted: {why}"));
                None
            }
        };
        let filters = match filters(process) {
            Ok(filters) => filters,
            Err(why) => {
                missing.push(format!("system calls are not restricted: {why}"));
                Vec::new()
            }
        };
        Sandbox {
            process,
            ruleset,
            filters,
            // AddressSanitizer maps terabytes, so a runner's memory is limited only by its
            // allocator.
            memory: (process != SandboxedProcess::Runner).then(|| mapped() + MEMORY),
            missing,
        }
    }

    /// Enters the sandbox: from now on, the calling thread and everything that it starts are
    /// restricted. Returns the names of the restrictions that this kernel lacks.
    pub fn enter(&mut self) -> Vec<String> {
        let mut missing = std::mem::take(&mut self.missing);
        for (resource, most) in [
            (libc::RLIMIT_CORE, Some(0)),
            (libc::RLIMIT_FSIZE, Some(FILE)),
            (libc::RLIMIT_NOFILE, Some(DESCRIPTORS)),
            (libc::RLIMIT_AS, self.memory),
        ] {
            if let Some(most) = most
                && limit(resource, most).is_err()
            {
                missing.push("a limit cannot be set".to_owned());
            }
        }
        match self.ruleset.take().map(RulesetCreated::restrict_self) {
            Some(Ok(status)) if status.ruleset != RulesetStatus::NotEnforced => {}
            Some(Ok(_)) => missing.push("writing files is not restricted: no Landlock".to_owned()),
            Some(Err(_)) => {
                missing.push("writing files is not restricted: Landlock refused".to_owned());
            }
            None => {}
        }
        for filter in &self.filters {
            if seccompiler::apply_filter(filter).is_err() {
                missing.push("system calls are not restricted: no seccomp".to_owned());
                break;
            }
        }
        missing
    }

    /// The kind of process.
    pub fn process(&self) -> SandboxedProcess {
        self.process
    }
}

fn ruleset(writable: &[&Path]) -> Result<RulesetCreated, landlock::RulesetError> {
    let write = AccessFs::from_write(LANDLOCK);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)?
        .handle_access(AccessNet::from_all(LANDLOCK))?
        .create()?;
    for folder in writable {
        if let Ok(fd) = PathFd::new(folder) {
            ruleset = ruleset.add_rule(PathBeneath::new(fd, write))?;
        }
    }
    if let Ok(null) = PathFd::new("/dev/null") {
        ruleset = ruleset.add_rule(PathBeneath::new(null, AccessFs::WriteFile))?;
    }
    Ok(ruleset)
}

fn filters(process: SandboxedProcess) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    let own = u64::from(std::process::id());
    let mut denied: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let mut deny = |calls: &[libc::c_long]| {
        for call in calls {
            denied.insert(*call, Vec::new());
        }
    };
    deny(NETWORK);
    deny(SYSTEM);
    if let SandboxedProcess::Worker { kept } = process {
        deny(PROCESSES);
        deny(&[libc::SYS_close_range]);
        let condition = |number, op, value| {
            SeccompCondition::new(number, SeccompCmpArgLen::Dword, op, value)
                .and_then(|condition| SeccompRule::new(vec![condition]))
        };
        // The process dies by sending a signal to itself, and clone with this flag creates a
        // thread.
        denied.insert(libc::SYS_tgkill, vec![condition(0, SeccompCmpOp::Ne, own)?]);
        let thread = libc::CLONE_THREAD as u64;
        denied.insert(
            libc::SYS_clone,
            vec![condition(0, SeccompCmpOp::MaskedEq(thread), 0)?],
        );
        for (call, argument) in [
            (libc::SYS_close, 0),
            (libc::SYS_dup2, 1),
            (libc::SYS_dup3, 1),
        ] {
            let own = condition(argument, SeccompCmpOp::Le, kept.into())?;
            denied.insert(call, vec![own]);
        }
    }
    let program = |rules, errno: i32| -> Result<BpfProgram, seccompiler::BackendError> {
        SeccompFilter::new(
            rules,
            SeccompAction::Allow,
            SeccompAction::Errno(errno as u32),
            TargetArch::x86_64,
        )?
        .try_into()
    };
    let mut all = vec![program(denied, libc::EPERM)?];
    if process != SandboxedProcess::Runner {
        // The arguments of clone3 are in memory, which a filter cannot read. Without clone3 the C
        // library uses clone.
        let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
        all.push(program(rules, libc::ENOSYS)?);
    }
    Ok(all)
}

/// The size of this process's address space in bytes.
fn mapped() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = text.split(' ').next().and_then(|word| word.parse().ok());
    pages.unwrap_or(0) * 4096
}

fn limit(resource: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    // SAFETY: both calls get a valid rlimit, which the first call fills.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(resource, &mut limit) != 0 {
            return Err(io::Error::last_os_error());
        }
        limit.rlim_max = limit.rlim_max.min(most);
        limit.rlim_cur = limit.rlim_cur.min(limit.rlim_max);
        match libc::setrlimit(resource, &limit) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
