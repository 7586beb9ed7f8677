//! Why a question is not answered.

use std::fmt;
use trace_formats::slog2::{Slog2Error, Slog2ErrorKind};

/// Says what was expected, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// Status of HTTP: 400 for what cannot be read, 404 for what there is not, 413 for what is too much, 500 for a
    /// damaged file, 503 for what was given up.
    pub status: u16,
    /// Message for the user.
    pub message: String,
}

impl ApiError {
    /// The question cannot be read.
    pub fn bad_request(message: impl Into<String>) -> Self {
        ApiError {
            status: 400,
            message: message.into(),
        }
    }

    /// There is no such thing.
    pub fn not_found(message: impl Into<String>) -> Self {
        ApiError {
            status: 404,
            message: message.into(),
        }
    }

    /// The answer would be too large.
    pub fn too_large(message: impl Into<String>) -> Self {
        ApiError {
            status: 413,
            message: message.into(),
        }
    }

    /// Whoever asked is gone, or time is over.
    pub fn cancelled() -> Self {
        ApiError {
            status: 503,
            message: "stopped before the answer was complete".to_owned(),
        }
    }

    /// Whether it is that one.
    pub fn is_cancelled(&self) -> bool {
        self.status == 503
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

impl From<Slog2Error> for ApiError {
    fn from(error: Slog2Error) -> Self {
        let message = match error.kind {
            // Such a file may well be whole.
            Slog2ErrorKind::NotSlog2 | Slog2ErrorKind::Version { .. } => error.to_string(),
            _ => format!("the trace is damaged: {error}"),
        };
        ApiError {
            status: 500,
            message,
        }
    }
}
