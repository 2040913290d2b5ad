//! Certificates: why a proof is one, in a form that is checked without the search that found it.
