//! Names that a trace tells at few places: those of communicators and of files. A part of a trace is given them, since what tells them is mostly not in it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::base::error::ApiError;

/// A file, as an event names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedFile {
    /// Number that drawables have for it.
    pub number: i64,
    /// Path of the file; empty where the event has none.
    pub path: String,
    /// Whether it has the program's data; others belong to the MPI library.
    pub has_data: bool,
}

/// Names that a whole trace tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceNames {
    /// Names of communicators by their numbers.
    pub communicators: BTreeMap<i32, String>,
    /// All files that are named; nothing where they were too many to be looked up.
    pub files: Option<Vec<NamedFile>>,
}

impl TraceNames {
    /// Bytes for [`TraceNames::decode`]: JSON.
    ///
    /// # Errors
    /// None that can happen: numbers and texts have a form in JSON.
    pub fn encode(&self) -> Result<Vec<u8>, ApiError> {
        serde_json::to_vec(self).map_err(|error| ApiError {
            status: 500,
            message: error.to_string(),
        })
    }

    /// Reads what [`TraceNames::encode`] wrote.
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn decode(bytes: &[u8]) -> Result<TraceNames, ApiError> {
        serde_json::from_slice(bytes)
            .map_err(|error| ApiError::bad_request(format!("names of the trace: {error}")))
    }
}
