//! Linux's error numbers for tests: `.fails("write", errno::ENOSPC)`. Defined here, so that a test
//! needs no other crate.

macro_rules! errors {
    ($($name:ident = $number:literal;)*) => {
        /// All names with their numbers.
        pub const ALL: &[(&str, u8)] = &[$((stringify!($name), $number)),*];
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            pub const $name: u8 = $number;
        )*
    };
}

errors! {
    EPERM = 1;
    ENOENT = 2;
    ESRCH = 3;
    EINTR = 4;
    EIO = 5;
    ENXIO = 6;
    E2BIG = 7;
    ENOEXEC = 8;
    EBADF = 9;
    ECHILD = 10;
    EAGAIN = 11;
    ENOMEM = 12;
    EACCES = 13;
    EBUSY = 16;
    EEXIST = 17;
    EXDEV = 18;
    ENODEV = 19;
    ENOTDIR = 20;
    EISDIR = 21;
    EINVAL = 22;
    ENFILE = 23;
    EMFILE = 24;
    ENOTTY = 25;
    ETXTBSY = 26;
    EFBIG = 27;
    ENOSPC = 28;
    ESPIPE = 29;
    EROFS = 30;
    EMLINK = 31;
    EPIPE = 32;
    EDEADLK = 35;
    ENAMETOOLONG = 36;
    ENOLCK = 37;
    ENOSYS = 38;
    ENOTEMPTY = 39;
    ELOOP = 40;
    EOVERFLOW = 75;
    EDQUOT = 122;
}
