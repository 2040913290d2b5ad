//! The embedded C sources.

/// One embedded file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    /// Its path below the folder that [`write_sources`](crate::write_sources) fills, such as
    /// `src/choice.c`.
    pub name: &'static str,
    /// Its content.
    pub text: &'static str,
    /// What it is used for.
    pub role: Role,
}

/// What an embedded file is used for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// A header; `include/crunner.h` is the one for harnesses.
    Header,
    /// Replacements, for the engine and for native builds.
    Stub,
    /// C implementations for the engine of functions that the platform's C library provides
    /// natively.
    EngineOnly,
    /// A driver; a program has exactly one.
    Entry(Entry),
    /// Part of both native runtimes.
    Runtime,
    /// Functions that native builds under AddressSanitizer call instead of the
    /// [`watched`](crate::watched) functions.
    RuntimeWatched,
    /// The native runtime that reads a tape per run, for many runs.
    RuntimeTape,
    /// The native runtime that reads one queue per channel, for a single run, and has its own
    /// `main`.
    RuntimeMock,
}

/// The kind of a program's entry function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// `main`, renamed to `cegar_user_main`; `-DCRUNNER_ARGV=n` allows up to n arguments.
    Main,
    /// `LLVMFuzzerTestOneInput`; `-DCRUNNER_FUZZER_INITIALIZE` if there is an
    /// `LLVMFuzzerInitialize`.
    Fuzzer,
    /// A function without parameters, renamed to `cegar_user_entry`; `-DCRUNNER_ENTRY_VOID` if it
    /// returns nothing.
    Function,
}

macro_rules! source {
    ($name:literal, $role:expr) => {
        Source {
            name: $name,
            text: include_str!(concat!("../", $name)),
            role: $role,
        }
    };
}

/// Every embedded file.
pub fn sources() -> &'static [Source] {
    SOURCES
}

const SOURCES: &[Source] = &[
    source!("include/crunner.h", Role::Header),
    source!("src/allocation.h", Role::Header),
    source!("src/crunner_rt.h", Role::Header),
    source!("src/engine.h", Role::Header),
    source!("src/file_store.h", Role::Header),
    source!("src/rt_heap.h", Role::Header),
    source!("src/rt_large.h", Role::Header),
    source!("src/rt_guarded.h", Role::Header),
    source!("src/scan.h", Role::Header),
    source!("src/stdio_stub.h", Role::Header),
    source!("src/stub.h", Role::Header),
    source!("src/aliases.c", Role::Stub),
    source!("src/allocation.c", Role::Stub),
    source!("src/allocated.c", Role::Stub),
    source!("src/atomic.c", Role::Stub),
    source!("src/choice.c", Role::Stub),
    source!("src/clock.c", Role::Stub),
    source!("src/engine_ctype.c", Role::EngineOnly),
    source!("src/engine_errno.c", Role::EngineOnly),
    source!("src/engine_format.c", Role::EngineOnly),
    source!("src/engine_memory.c", Role::EngineOnly),
    source!("src/engine_multibyte.c", Role::EngineOnly),
    source!("src/engine_network.c", Role::EngineOnly),
    source!("src/engine_number.c", Role::EngineOnly),
    source!("src/engine_scan.c", Role::EngineOnly),
    source!("src/engine_search.c", Role::EngineOnly),
    source!("src/engine_sort.c", Role::EngineOnly),
    source!("src/engine_string.c", Role::EngineOnly),
    source!("src/engine_wide.c", Role::EngineOnly),
    source!("src/entry_function.c", Role::Entry(Entry::Function)),
    source!("src/entry_fuzzer.c", Role::Entry(Entry::Fuzzer)),
    source!("src/entry_main.c", Role::Entry(Entry::Main)),
    source!("src/environment.c", Role::Stub),
    source!("src/fault.c", Role::Stub),
    source!("src/file_store.c", Role::Stub),
    source!("src/files.c", Role::Stub),
    source!("src/locks.c", Role::Stub),
    source!("src/mathematics.c", Role::Stub),
    source!("src/mock_pointer.c", Role::Stub),
    source!("src/options.c", Role::Stub),
    source!("src/posix_io.c", Role::Stub),
    source!("src/process.c", Role::Stub),
    source!("src/random.c", Role::Stub),
    source!("src/rt_heap.c", Role::Runtime),
    source!("src/rt_large.c", Role::Runtime),
    source!("src/rt_guarded.c", Role::Runtime),
    source!("src/rt_mock.c", Role::RuntimeMock),
    source!("src/rt_tape.c", Role::RuntimeTape),
    source!("src/rt_watched.c", Role::RuntimeWatched),
    source!("src/scan.c", Role::Stub),
    source!("src/signals.c", Role::Stub),
    source!("src/stdio_in.c", Role::Stub),
    source!("src/stdio_open.c", Role::Stub),
    source!("src/stdio_out.c", Role::Stub),
    source!("src/svcomp.c", Role::Stub),
    source!("src/system.c", Role::Stub),
];
