//! Which symbols are redirected, modelled or unsupported.
//!
//! A name is in one of these lists or it is unknown. Unknown names are mocked or reported by name,
//! and nothing is silently linked to the real outside world. Each redirected name has its own
//! replacement, since objcopy cannot rename two symbols to the same name.

use std::sync::LazyLock;

/// A symbol and its replacement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Redirection {
    /// The name in the program.
    pub symbol: &'static str,
    /// The name in the stub library.
    pub replacement: &'static str,
    /// Whether it is a function or a variable.
    pub kind: SymbolKind,
}

/// The kind of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A variable, such as `stdin`.
    Data,
}

/// A function whose call is a violation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Failing {
    /// The name in the linked module, after redirection.
    pub name: &'static str,
    /// The kind that is passed to `crunner_violation`: 0 assertion, 1 abort, 2 reach_error, 3 fail.
    pub kind: u32,
    /// The index of the argument with the text (an assertion's expression), if any.
    pub text_argument: Option<usize>,
}

/// All redirections of functions and variables, without those of the heap.
pub fn redirections() -> &'static [Redirection] {
    static ALL: LazyLock<Vec<Redirection>> = LazyLock::new(|| {
        prefixed("CRUNNER_", FUNCTIONS, SymbolKind::Function)
            .chain(prefixed("CRUNNER_", DATA, SymbolKind::Data))
            .collect()
    });
    &ALL
}

/// Redirections of symbols to their names with a prefix.
fn prefixed(
    prefix: &'static str,
    names: &'static [&'static str],
    kind: SymbolKind,
) -> impl Iterator<Item = Redirection> {
    names.iter().map(move |symbol| Redirection {
        symbol,
        // This leaks once per name and process.
        replacement: Box::leak(format!("{prefix}{symbol}").into_boxed_str()),
        kind,
    })
}

/// A redirection of a function.
const fn function(symbol: &'static str, replacement: &'static str) -> Redirection {
    Redirection {
        symbol,
        replacement,
        kind: SymbolKind::Function,
    }
}

/// The heap functions and their names in the native runtime. In the engine they keep their names,
/// since the machine implements them; natively the program must not share the heap of the process
/// that runs it.
pub fn heap() -> &'static [Redirection] {
    const HEAP: &[Redirection] = &[
        function("malloc", "crunner_malloc"),
        function("calloc", "crunner_calloc"),
        function("realloc", "crunner_realloc"),
        function("reallocarray", "crunner_reallocarray"),
        function("free", "crunner_free"),
        function("aligned_alloc", "crunner_aligned_alloc"),
        function("posix_memalign", "crunner_posix_memalign"),
        function("memalign", "crunner_memalign"),
        function("valloc", "crunner_valloc"),
        function("malloc_usable_size", "crunner_malloc_usable_size"),
    ];
    HEAP
}

/// The functions that allocate memory, and the functions that first choose whether the environment
/// grants it. In bitcode, only uses of their addresses are redirected; the program's calls remain,
/// with a size that was checked before.
pub fn allocators() -> &'static [Redirection] {
    const ALL: &[Redirection] = &[
        function("malloc", "crunner_granted_malloc"),
        function("calloc", "crunner_granted_calloc"),
        function("realloc", "crunner_granted_realloc"),
        function("reallocarray", "crunner_granted_reallocarray"),
        function("aligned_alloc", "crunner_granted_aligned_alloc"),
        function("posix_memalign", "crunner_granted_posix_memalign"),
        function("memalign", "crunner_granted_memalign"),
        function("valloc", "crunner_granted_valloc"),
    ];
    ALL
}

/// Functions of the platform whose arguments AddressSanitizer does not check, and the functions
/// that check them, which generated tests call instead (`rt_watched.c`).
pub fn watched() -> &'static [Redirection] {
    static ALL: LazyLock<Vec<Redirection>> =
        LazyLock::new(|| prefixed("crunner_watched_", WATCHED, SymbolKind::Function).collect());
    &ALL
}

/// Names that the engine-only sources define; native builds use the platform's functions.
pub fn engine_only() -> &'static [&'static str] {
    ENGINE_ONLY
}

/// Functions that are not modelled and return memory of the platform's heap, or streams whose
/// closing frees it. Natively, the program's `free` and `fclose` cannot release what they return.
pub fn unmodelled_allocators() -> &'static [&'static str] {
    const ALL: &[&str] = &[
        "_obstack_begin",
        "_obstack_begin_1",
        "argz_add",
        "argz_append",
        "argz_create",
        "argz_create_sep",
        "argz_insert",
        "argz_replace",
        "envz_add",
        "fmemopen",
        "fopencookie",
        "glob",
        "open_memstream",
        "open_wmemstream",
        "scandir",
        "tempnam",
    ];
    ALL
}

/// The runtime's functions, which are the machine's intrinsics or are provided by one of the native
/// runtimes.
pub fn runtime() -> &'static [&'static str] {
    &[
        "crunner_choose",
        "crunner_remaining",
        "crunner_assume",
        "crunner_assumed",
        "crunner_unmodelled",
        "crunner_stop",
        "crunner_violation",
        "crunner_output",
        "crunner_object_size",
        "crunner_row",
        "crunner_format_float",
        "crunner_parse_float",
    ]
}

/// Functions of `<math.h>` for which both the engine and native builds use the host's C library.
/// Each also has an `f` variant, which is listed too. Those that set `errno` are also redirected,
/// to a stub that calls them.
pub fn math() -> &'static [&'static str] {
    MATH
}

/// Functions that are known but not modelled, each with the reason. After a call of one, everything
/// stays open.
pub fn unsupported() -> &'static [(&'static str, &'static str)] {
    static ALL: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
        let mathematics = UNSUPPORTED_MATHEMATICS.iter();
        let mathematics = mathematics.map(|name| (*name, MATHEMATICS));
        UNSUPPORTED.iter().copied().chain(mathematics).collect()
    });
    &ALL
}

/// The functions that report a violation.
pub fn failing_functions() -> &'static [Failing] {
    const fn failing(name: &'static str, kind: u32, text_argument: Option<usize>) -> Failing {
        Failing {
            name,
            kind,
            text_argument,
        }
    }
    const FAILING: &[Failing] = &[
        failing("CRUNNER___assert_fail", 0, Some(0)),
        failing("CRUNNER___assert", 0, Some(0)),
        failing("CRUNNER___assert_perror_fail", 0, None),
        failing("CRUNNER_abort", 1, None),
        failing("CRUNNER___chk_fail", 1, None),
        failing("CRUNNER___stack_chk_fail", 1, None),
        failing("reach_error", 2, None),
        failing("__VERIFIER_error", 2, None),
        failing("crunner_fail", 3, Some(0)),
        failing("crunner_fail_at", 3, Some(0)),
    ];
    FAILING
}

#[rustfmt::skip]
const MATH: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2",
    "log10", "log1p", "pow", "sqrt", "cbrt", "hypot", "fmod", "remainder", "floor", "ceil", "round", "trunc", "rint",
    "nearbyint", "fabs", "fmin", "fmax", "copysign", "fma", "ldexp", "lround", "llround", "lrint",
    "sinf", "cosf", "tanf", "asinf", "acosf", "atanf", "atan2f", "sinhf", "coshf", "tanhf", "expf", "exp2f", "expm1f",
    "logf", "log2f", "log10f", "log1pf", "powf", "sqrtf", "cbrtf", "hypotf", "fmodf", "remainderf", "floorf", "ceilf",
    "roundf", "truncf", "rintf", "nearbyintf", "fabsf", "fminf", "fmaxf", "copysignf", "fmaf", "ldexpf", "lroundf",
    "llroundf", "lrintf",
];

const THREADS: &str = "one thread only is modelled";
const JUMPS: &str = "jumps between frames are not modelled";
const MAPPING: &str = "memory mappings are not modelled";
const LOADING: &str = "loading code while running is not modelled";
const NETWORK: &str = "sockets are not modelled";
const CONTEXTS: &str = "switching stacks is not modelled";
const ROUNDING: &str = "other rounding modes are not modelled";
const PROCESSES: &str = "other processes are not modelled";
const FOLDERS: &str = "walking directories is not modelled";
const LOCALES: &str = "locales of threads are not modelled";
const MATHEMATICS: &str = "this function of the mathematics library is not modelled";
const WIDE: &str = "this function on wide characters is not modelled";
const LIBRARY: &str = "this function of the C library is not modelled";
const GENERATORS: &str = "the state of random() in the caller's memory is not modelled";

#[rustfmt::skip]
const UNSUPPORTED: &[(&str, &str)] = &[
    ("setjmp", JUMPS), ("_setjmp", JUMPS), ("__sigsetjmp", JUMPS), ("sigsetjmp", JUMPS), ("longjmp", JUMPS),
    ("_longjmp", JUMPS), ("siglongjmp", JUMPS), ("__longjmp_chk", JUMPS),
    ("getcontext", CONTEXTS), ("setcontext", CONTEXTS), ("makecontext", CONTEXTS), ("swapcontext", CONTEXTS),
    ("pthread_create", THREADS), ("pthread_join", THREADS), ("pthread_detach", THREADS), ("pthread_exit", THREADS),
    ("pthread_cancel", THREADS), ("pthread_cond_wait", THREADS), ("pthread_cond_timedwait", THREADS),
    ("pthread_barrier_wait", THREADS), ("thrd_create", THREADS), ("thrd_join", THREADS),
    ("cnd_wait", THREADS), ("sem_wait", THREADS), ("clone", THREADS), ("__clone", THREADS),
    // What these functions initialise is read by the functions above, so a mock must not stand in
    // for them.
    ("pthread_attr_init", THREADS), ("pthread_attr_destroy", THREADS), ("pthread_attr_setdetachstate", THREADS),
    ("pthread_attr_setstacksize", THREADS), ("pthread_attr_getstacksize", THREADS), ("pthread_attr_setguardsize", THREADS),
    ("pthread_attr_setscope", THREADS), ("pthread_attr_setschedpolicy", THREADS), ("pthread_attr_setschedparam", THREADS),
    ("pthread_barrier_init", THREADS), ("pthread_barrier_destroy", THREADS), ("sem_init", THREADS), ("sem_post", THREADS),
    ("sem_destroy", THREADS), ("freeaddrinfo", NETWORK),
    ("dlopen", LOADING), ("dlsym", LOADING), ("dlclose", LOADING), ("dladdr", LOADING), ("dladdr1", LOADING),
    ("dlvsym", LOADING), ("dlerror", LOADING),
    ("mmap", MAPPING), ("mmap64", MAPPING), ("munmap", MAPPING), ("mprotect", MAPPING), ("mremap", MAPPING),
    ("brk", MAPPING), ("sbrk", MAPPING), ("shmget", MAPPING), ("shmat", MAPPING),
    ("socket", NETWORK), ("connect", NETWORK), ("bind", NETWORK), ("listen", NETWORK), ("accept", NETWORK),
    ("accept4", NETWORK), ("send", NETWORK), ("sendto", NETWORK), ("sendmsg", NETWORK), ("recv", NETWORK),
    ("recvfrom", NETWORK), ("recvmsg", NETWORK), ("getaddrinfo", NETWORK), ("gethostbyname", NETWORK),
    ("epoll_create", NETWORK), ("epoll_create1", NETWORK), ("epoll_ctl", NETWORK), ("epoll_wait", NETWORK),
    ("feenableexcept", ROUNDING), ("fesetmode", ROUNDING), ("fesetround", ROUNDING), ("fesetenv", ROUNDING),
    ("feupdateenv", ROUNDING),
    ("ptrace", PROCESSES), ("wait4", PROCESSES), ("wait3", PROCESSES), ("_Fork", PROCESSES), ("daemon", PROCESSES),
    ("newlocale", LOCALES), ("uselocale", LOCALES), ("duplocale", LOCALES), ("freelocale", LOCALES),
    ("lcong48", GENERATORS), ("seed48", GENERATORS), ("posix_spawn", PROCESSES), ("posix_spawnp", PROCESSES),
    ("syscall", "raw system calls are not \
        modelled"), ("open_memstream", "streams over memory are not modelled"),
    ("fmemopen", "streams over memory are not \
        modelled"), ("fopencookie", "streams over memory are not modelled"),
    ("ftw", FOLDERS), ("nftw", FOLDERS),
    ("scandir", FOLDERS), ("fdopendir", FOLDERS),
    ("rewinddir", FOLDERS), ("seekdir", FOLDERS),
    ("telldir", FOLDERS), ("dirfd", FOLDERS),
    ("readdir_r", FOLDERS), ("glob", FOLDERS),
    ("regcomp", "POSIX regular expressions are not \
        modelled"), ("regexec", "POSIX regular expressions are not modelled"),
    ("initstate", GENERATORS), ("setstate", GENERATORS), ("initstate_r", GENERATORS), ("setstate_r", GENERATORS),
    ("wcstol", WIDE), ("wcstoul", WIDE), ("wcstoll", WIDE), ("wcstoull", WIDE), ("wcstod", WIDE), ("wcstof", WIDE),
    ("wcstold", WIDE), ("wcsftime", WIDE), ("wscanf", WIDE), ("fwscanf", WIDE), ("swscanf", WIDE), ("vwscanf", WIDE),
    ("vfwscanf", WIDE), ("vswscanf", WIDE), ("swprintf", WIDE), ("vswprintf", WIDE), ("fgetws", WIDE),
    ("wcsxfrm", WIDE), ("wcscoll", WIDE),
    ("open_wmemstream", LIBRARY), ("argz_create", LIBRARY), ("argz_create_sep", LIBRARY), ("argz_add", LIBRARY),
    ("argz_append", LIBRARY), ("argz_insert", LIBRARY), ("argz_delete", LIBRARY), ("argz_replace", LIBRARY),
    ("envz_add", LIBRARY), ("_obstack_begin", LIBRARY), ("_obstack_newchunk", LIBRARY), ("obstack_free", LIBRARY),
    ("_obstack_begin_1", LIBRARY), ("obstack_printf", LIBRARY),
    ("strverscmp", LIBRARY), ("strptime", LIBRARY), ("gcvt", LIBRARY), ("ecvt", LIBRARY), ("fcvt", LIBRARY),
    ("lfind", LIBRARY), ("lsearch", LIBRARY), ("hsearch", LIBRARY), ("hcreate", LIBRARY), ("tsearch", LIBRARY),
    ("tfind", LIBRARY), ("tdelete", LIBRARY), ("twalk", LIBRARY), ("insque", LIBRARY), ("remque", LIBRARY),
    ("a64l", LIBRARY), ("l64a", LIBRARY), ("fnmatch", LIBRARY), ("wordexp", LIBRARY), ("getsubopt", LIBRARY),
    ("getnameinfo", LIBRARY), ("getgroups", LIBRARY), ("socketpair", LIBRARY), ("tmpnam", LIBRARY),
    ("tempnam", LIBRARY),
    ("iconv_open", "character set conversion is not \
        modelled"), ("iconv", "character set conversion is not modelled"),
];

/// The unsupported functions of the mathematics library.
#[rustfmt::skip]
const UNSUPPORTED_MATHEMATICS: &[&str] = &[
    "acosh", "acoshf", "acoshl", "acosl", "asinh", "asinhf", "asinhl", "asinl", "atan2l", "atanh", "atanhf",
    "atanhl", "atanl", "cabs", "cabsf", "cabsl", "cacos", "cacosf", "cacosh", "cacoshf", "carg", "cargf", "cargl",
    "casin", "casinf", "casinh", "casinhf", "catan", "catanf", "catanh", "catanhf", "cbrtl", "ccos", "ccosf",
    "ccosh", "ccoshf", "ccosl", "cexp", "cexpf", "cexpl", "clog", "clog10", "clog10f", "clogf", "clogl", "coshl",
    "cosl", "cpow", "cpowf", "cpowl", "cproj", "cprojf", "cprojl", "csin", "csinf", "csinh", "csinhf", "csinl",
    "csqrt", "csqrtf", "csqrtl", "ctan", "ctanf", "ctanh", "ctanhf", "ctanl", "drem", "dremf", "dreml", "erf",
    "erfc", "erfcf", "erfcl", "erff", "erfl", "exp10", "exp10f", "exp10l", "exp2l", "expl", "expm1l", "fdiml",
    "fmodl", "frexpl", "gamma", "gammaf", "gammal", "hypotl", "ilogb", "ilogbf", "ilogbl", "j0", "j0f", "j0l", "j1",
    "j1f", "j1l", "jn", "jnf", "jnl", "ldexpl", "lgamma", "lgamma_r", "lgammaf", "lgammaf_r", "lgammal", "lgammal_r",
    "llogb", "llrintl", "llroundl", "log10l", "log1pl", "log2l", "logb", "logbf", "logbl", "logl", "lrintl",
    "lroundl", "modfl", "nanl", "nextafter", "nextafterf", "nextafterl", "nextdown", "nextdownf", "nexttoward",
    "nexttowardf", "nexttowardl", "nextup", "nextupf", "pow10", "powl", "remainderl", "remquo", "remquof", "remquol",
    "scalb", "scalbf", "scalbln", "scalblnf", "scalblnl", "scalbnl", "significand", "significandf", "significandl",
    "sincos", "sincosf", "sincosl", "sinhl", "sinl", "sqrtl", "tanhl", "tanl", "tgamma", "tgammaf", "tgammal", "y0",
    "y0f", "y0l", "y1", "y1f", "y1l", "yn", "ynf", "ynl",
];

// ---- generated from the symbols of the sources; the test `tables_match_sources` checks that they
// agree ----

/// Functions that are replaced by `CRUNNER_` and their name.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    // aliases.c
    "__fxstat64", "__isoc23_fscanf", "__isoc23_scanf", "__isoc23_vfscanf", "__isoc23_vscanf",
    "__isoc99_fscanf", "__isoc99_scanf", "__isoc99_vfscanf", "__isoc99_vscanf", "__lxstat64",
    "__open64_2", "__open_2", "__xstat64", "creat64", "fcntl64", "fgetpos64", "fopen64", "freopen64",
    "fseeko64", "fsetpos64", "fstat64", "ftello64", "ftruncate64", "getrlimit64", "lseek64", "lstat64",
    "mkstemp64", "open64", "openat64", "pread64", "pwrite64", "readdir64", "setrlimit64", "stat64",
    "tmpfile64",
    // allocated.c
    "__asprintf_chk", "__strdup", "__strndup", "__vasprintf_chk", "asprintf", "strdup", "strndup",
    "vasprintf", "wcsdup",
    // atomic.c
    "__atomic_compare_exchange", "__atomic_exchange", "__atomic_load", "__atomic_store",
    // clock.c
    "asctime", "asctime_r", "clock", "clock_getres", "clock_gettime", "clock_nanosleep", "ctime",
    "ctime_r", "difftime", "gettimeofday", "gmtime", "gmtime_r", "localtime", "localtime_r", "mktime",
    "nanosleep", "sched_yield", "sleep", "strftime", "time", "timegm", "timespec_get", "tzset",
    "usleep",
    // environment.c
    "__secure_getenv", "clearenv", "getenv", "putenv", "secure_getenv", "setenv", "unsetenv",
    // files.c
    "chdir", "chmod", "chown", "closedir", "fchmod", "getcwd", "link", "mkdir", "opendir", "readdir",
    "readlink", "realpath", "remove", "rename", "rmdir", "symlink", "umask", "unlink", "unlinkat",
    "utime", "utimes",
    // locks.c
    "pthread_cond_broadcast", "pthread_cond_destroy", "pthread_cond_init", "pthread_cond_signal",
    "pthread_equal", "pthread_getspecific", "pthread_key_create", "pthread_key_delete",
    "pthread_mutex_destroy", "pthread_mutex_init", "pthread_mutex_lock", "pthread_mutex_timedlock",
    "pthread_mutex_trylock", "pthread_mutex_unlock", "pthread_mutexattr_destroy",
    "pthread_mutexattr_gettype", "pthread_mutexattr_init", "pthread_mutexattr_settype", "pthread_once",
    "pthread_rwlock_destroy", "pthread_rwlock_init", "pthread_rwlock_rdlock",
    "pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock", "pthread_rwlock_unlock",
    "pthread_rwlock_wrlock", "pthread_self", "pthread_setspecific", "pthread_spin_destroy",
    "pthread_spin_init", "pthread_spin_lock", "pthread_spin_trylock", "pthread_spin_unlock",
    // mathematics.c
    "acos", "acosf", "asin", "asinf", "atan", "atanf", "cos", "cosf", "cosh", "coshf", "exp",
    "exp2", "exp2f", "expf", "expm1", "expm1f", "fdim", "fdimf", "fmod", "fmodf", "frexp", "frexpf",
    "hypot", "hypotf", "ldexp", "ldexpf", "llrint", "llrintf", "log", "log10", "log10f", "log1p",
    "log1pf", "log2", "log2f", "logf", "modf", "modff", "nan", "nanf", "pow", "powf", "remainder",
    "remainderf", "scalbn", "scalbnf", "sin", "sinf", "sinh", "sinhf", "sqrt", "sqrtf", "tan",
    "tanf", "tanh", "tanhf",
    // options.c
    "getopt", "getopt_long", "getopt_long_only",
    // posix_io.c
    "__fxstat", "__lxstat", "__read_chk", "__xstat", "access", "close", "creat", "dup", "dup2",
    "faccessat", "fcntl", "fdatasync", "flock", "fstat", "fsync", "ftruncate", "ioctl", "isatty",
    "lockf", "lseek", "lstat", "mkstemp", "open", "openat", "pipe", "poll", "pread", "pwrite", "read",
    "readv", "select", "stat", "sync", "write", "writev",
    // process.c
    "_Exit", "__assert", "__assert_fail", "__assert_perror_fail", "__chk_fail", "__stack_chk_fail",
    "_exit", "abort", "at_quick_exit", "atexit", "execl", "execle", "execlp", "execv", "execve",
    "execvp", "exit", "fork", "pclose", "popen", "quick_exit", "system", "vfork", "wait", "waitpid",
    // random.c
    "arc4random", "arc4random_buf", "arc4random_uniform", "drand48", "erand48", "getentropy",
    "getrandom", "jrand48", "lrand48", "mrand48", "nrand48", "rand", "rand_r", "random", "srand",
    "srand48", "srandom",
    // scan.c
    "fscanf", "scanf", "vfscanf", "vscanf",
    // signals.c
    "alarm", "kill", "pause", "pthread_sigmask", "raise", "sigaction", "sigaddset", "sigdelset",
    "sigemptyset", "sigfillset", "siginterrupt", "sigismember", "signal", "sigpending", "sigprocmask",
    "sigsuspend",
    // stdio_in.c
    "_IO_getc", "__fgets_chk", "__fread_chk", "__getdelim", "__uflow", "fgetc", "fgetc_unlocked",
    "fgets", "fgets_unlocked", "fread", "fread_unlocked", "getc", "getc_unlocked", "getchar",
    "getchar_unlocked", "getdelim", "getline", "gets", "getw", "ungetc",
    // stdio_open.c
    "clearerr", "clearerr_unlocked", "fclose", "fdopen", "feof", "feof_unlocked", "ferror",
    "ferror_unlocked", "fflush", "fflush_unlocked", "fgetpos", "fileno", "fileno_unlocked", "flockfile",
    "fopen", "freopen", "fseek", "fseeko", "fsetpos", "ftell", "ftello", "ftrylockfile", "funlockfile",
    "rewind", "setbuf", "setbuffer", "setlinebuf", "setvbuf", "tmpfile",
    // stdio_out.c
    "_IO_putc", "__dprintf_chk", "__fprintf_chk", "__overflow", "__printf_chk", "__vdprintf_chk",
    "__vfprintf_chk", "__vprintf_chk", "dprintf", "fprintf", "fputc", "fputc_unlocked", "fputs",
    "fputs_unlocked", "fwrite", "fwrite_unlocked", "perror", "printf", "putc", "putc_unlocked",
    "putchar", "putchar_unlocked", "puts", "putw", "vdprintf", "vfprintf", "vprintf",
    // system.c
    "__syslog_chk", "__vsyslog_chk", "closelog", "getegid", "geteuid", "getgid", "gethostname",
    "getpagesize", "getpgrp", "getpid", "getppid", "getrlimit", "getrusage", "gettid", "getuid",
    "localeconv", "nl_langinfo", "openlog", "setlocale", "setlogmask", "setrlimit", "setsid", "sysconf",
    "syslog", "uname", "vsyslog",
];

/// Variables that are replaced by `CRUNNER_` and their name.
#[rustfmt::skip]
const DATA: &[&str] = &[
    // clock.c
    "daylight", "timezone", "tzname",
    // environment.c
    "__environ", "__progname", "__progname_full", "_environ", "environ", "program_invocation_name",
    "program_invocation_short_name",
    // options.c
    "optarg", "opterr", "optind", "optopt",
    // stdio_open.c
    "stderr", "stdin", "stdout",
];

/// Functions that are replaced by `crunner_watched_` and their name.
#[rustfmt::skip]
const WATCHED: &[&str] = &[
    "__isoc23_strtoul", "__isoc23_strtoull", "__isoc23_strtoumax", "atof", "memccpy", "stpcpy", "stpncpy", "strsep", "strtod", "strtof",
    "strtold", "strtoul", "strtoull", "strtoumax", "strtouq", "swab", "wcpcpy", "wcscat", "wcschr", "wcscmp", "wcscpy",
    "wcsncat", "wcsncmp", "wcsncpy", "wcsrchr", "wmemchr", "wmemcmp", "wmemcpy", "wmemmove", "wmemset",
];

/// The functions that the engine-only sources define.
#[rustfmt::skip]
const ENGINE_ONLY: &[&str] = &[
    // engine_ctype.c
    "__ctype_b_loc", "__ctype_get_mb_cur_max", "__ctype_tolower_loc", "__ctype_toupper_loc", "isalnum",
    "isalpha", "isascii", "isblank", "iscntrl", "isdigit", "isgraph", "islower", "isprint", "ispunct",
    "isspace", "isupper", "isxdigit", "toascii", "tolower", "toupper",
    // engine_errno.c
    "__errno_location", "__xpg_strerror_r", "gai_strerror", "strerror", "strerror_l", "strerror_r", "strsignal",
    // engine_format.c
    "__snprintf_chk", "__sprintf_chk", "__vsnprintf_chk", "__vsprintf_chk", "snprintf", "sprintf",
    "vsnprintf", "vsprintf",
    // engine_memory.c
    "__memcpy_chk", "__memmove_chk", "__mempcpy_chk", "__memset_chk", "bcmp", "bcopy", "bzero",
    "explicit_bzero", "memccpy", "memchr", "memcmp", "memcpy", "memmem", "memmove", "mempcpy",
    "memrchr", "memset", "rawmemchr", "swab",
    // engine_multibyte.c
    "btowc", "iswalnum", "iswalpha", "iswblank", "iswcntrl", "iswdigit", "iswgraph", "iswlower", "iswprint", "iswpunct",
    "iswspace", "iswupper", "iswxdigit", "mblen", "mbrlen", "mbrtowc", "mbsinit", "mbsrtowcs", "mbstowcs", "mbtowc",
    "towlower", "towupper", "wcrtomb", "wcscasecmp", "wcsncasecmp", "wcsrtombs", "wcstombs", "wctob", "wctomb",
    // engine_network.c
    "inet_addr", "inet_aton", "inet_ntoa", "inet_ntop", "inet_pton",
    // engine_number.c
    "__isoc23_strtoimax", "__isoc23_strtol", "__isoc23_strtoll", "__isoc23_strtoul", "__isoc23_strtoull", "__isoc23_strtoumax", "abs", "atof",
    "atoi", "atol", "atoll", "div", "ffs", "ffsl", "ffsll", "htonl", "htons", "imaxabs", "labs", "ldiv",
    "llabs", "lldiv", "ntohl", "ntohs", "strtod", "strtof", "strtoimax", "strtol", "strtold", "strtoll",
    "strtoq", "strtoul", "strtoull", "strtoumax", "strtouq",
    // engine_scan.c
    "__isoc23_sscanf", "__isoc23_vsscanf", "__isoc99_sscanf", "__isoc99_vsscanf", "sscanf", "vsscanf",
    // engine_search.c
    "__strtok_r", "__xpg_basename", "basename", "dirname", "index", "rindex", "strcasestr", "strchr", "strchrnul", "strcspn",
    "strnstr", "strpbrk", "strrchr", "strsep", "strspn", "strstr", "strtok", "strtok_r",
    // engine_sort.c
    "bsearch", "qsort", "qsort_r",
    // engine_string.c
    "__stpcpy_chk", "__stpncpy_chk", "__strcat_chk", "__strcpy_chk", "__strncat_chk", "__strncpy_chk",
    "stpcpy", "stpncpy", "strcasecmp", "strcat", "strcmp", "strcoll", "strcpy", "strlcat", "strlcpy",
    "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strnlen", "strxfrm",
    // engine_wide.c
    "wcpcpy", "wcpncpy", "wcscat", "wcschr", "wcscmp", "wcscpy", "wcscspn", "wcslen", "wcsncat", "wcsncmp", "wcsncpy",
    "wcsnlen", "wcspbrk", "wcsrchr", "wcsspn", "wcsstr", "wcstok", "wmemchr", "wmemcmp", "wmemcpy", "wmemmove",
    "wmempcpy", "wmemset",
];
