//! Why a floor is not accepted.

use cegar_model::domain::walk::Stop;

/// Why a floor is not accepted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FloorError {
    /// A statement is not possible.
    #[error("the floor is malformed: {0}")]
    Malformed(String),
    /// The deadline passed.
    #[error("the time was up before the floor was walked")]
    Late,
    /// A state arrives at a place where it is not stated.
    #[error("the floor does not hold: {0}")]
    Open(String),
}

impl From<Stop> for FloorError {
    fn from(stop: Stop) -> FloorError {
        match stop {
            Stop::Late => FloorError::Late,
            other => FloorError::Open(other.to_string()),
        }
    }
}
