//! Linux's error numbers, as the tests say them: `.fails("write", errno::ENOSPC)`. A test needs no other crate for them.

/// The names, with the numbers.
pub const ALL: &[(&str, u8)] = &[
    ("EPERM", 1),
    ("ENOENT", 2),
    ("ESRCH", 3),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("E2BIG", 7),
    ("ENOEXEC", 8),
    ("EBADF", 9),
    ("ECHILD", 10),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("EXDEV", 18),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("ENOTTY", 25),
    ("ETXTBSY", 26),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("ESPIPE", 29),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("EPIPE", 32),
    ("EDEADLK", 35),
    ("ENAMETOOLONG", 36),
    ("ENOLCK", 37),
    ("ENOSYS", 38),
    ("ENOTEMPTY", 39),
    ("ELOOP", 40),
    ("EOVERFLOW", 75),
    ("EDQUOT", 122),
];

/// `EPERM`
pub const EPERM: u8 = 1;

/// `ENOENT`
pub const ENOENT: u8 = 2;

/// `ESRCH`
pub const ESRCH: u8 = 3;

/// `EINTR`
pub const EINTR: u8 = 4;

/// `EIO`
pub const EIO: u8 = 5;

/// `ENXIO`
pub const ENXIO: u8 = 6;

/// `E2BIG`
pub const E2BIG: u8 = 7;

/// `ENOEXEC`
pub const ENOEXEC: u8 = 8;

/// `EBADF`
pub const EBADF: u8 = 9;

/// `ECHILD`
pub const ECHILD: u8 = 10;

/// `EAGAIN`
pub const EAGAIN: u8 = 11;

/// `ENOMEM`
pub const ENOMEM: u8 = 12;

/// `EACCES`
pub const EACCES: u8 = 13;

/// `EBUSY`
pub const EBUSY: u8 = 16;

/// `EEXIST`
pub const EEXIST: u8 = 17;

/// `EXDEV`
pub const EXDEV: u8 = 18;

/// `ENODEV`
pub const ENODEV: u8 = 19;

/// `ENOTDIR`
pub const ENOTDIR: u8 = 20;

/// `EISDIR`
pub const EISDIR: u8 = 21;

/// `EINVAL`
pub const EINVAL: u8 = 22;

/// `ENFILE`
pub const ENFILE: u8 = 23;

/// `EMFILE`
pub const EMFILE: u8 = 24;

/// `ENOTTY`
pub const ENOTTY: u8 = 25;

/// `ETXTBSY`
pub const ETXTBSY: u8 = 26;

/// `EFBIG`
pub const EFBIG: u8 = 27;

/// `ENOSPC`
pub const ENOSPC: u8 = 28;

/// `ESPIPE`
pub const ESPIPE: u8 = 29;

/// `EROFS`
pub const EROFS: u8 = 30;

/// `EMLINK`
pub const EMLINK: u8 = 31;

/// `EPIPE`
pub const EPIPE: u8 = 32;

/// `EDEADLK`
pub const EDEADLK: u8 = 35;

/// `ENAMETOOLONG`
pub const ENAMETOOLONG: u8 = 36;

/// `ENOLCK`
pub const ENOLCK: u8 = 37;

/// `ENOSYS`
pub const ENOSYS: u8 = 38;

/// `ENOTEMPTY`
pub const ENOTEMPTY: u8 = 39;

/// `ELOOP`
pub const ELOOP: u8 = 40;

/// `EOVERFLOW`
pub const EOVERFLOW: u8 = 75;

/// `EDQUOT`
pub const EDQUOT: u8 = 122;
