//! Reads a normalised module into a Program.
