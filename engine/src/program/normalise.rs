//! Links, renames, mocks and normalises bitcode.
