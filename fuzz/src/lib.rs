//! fuzz
use libafl as _; use inkwell as _; use libafl_bolts as _;
