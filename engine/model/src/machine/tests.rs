//! Tests that compile C programs and run them here and natively.
//!
//! Each test is a C file with its own `cegar_entry`. The native half links the same file with a few
//! lines of C that read the tape from standard input and print the transcript.

mod differential;
mod speed;
mod symbolic;
mod violations;

use super::samples::*;
