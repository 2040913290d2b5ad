//! c-stubs
