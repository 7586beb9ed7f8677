//! An answer to a question, and how much it may take.

use serde::Serialize;

use crate::base::error::ApiError;

/// Counts up whenever answers change, so that pages of another version reload.
pub const VIEW_VERSION: u32 = 1;

/// Content type of the body of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerBody {
    /// JSON.
    Json,
    /// A frame, see [`crate::picture::frame`].
    Frame,
    /// Text of this MIME type.
    Text(&'static str),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Content type of the body.
    pub kind: AnswerBody,
    /// The body.
    pub body: Vec<u8>,
    /// Whether it is exact, so that it stays the same and can be kept.
    pub exact: bool,
}

impl Answer {
    /// An answer in JSON.
    ///
    /// # Errors
    /// None that can happen: what is serialized here has names for keys.
    pub fn json(value: &impl Serialize, exact: bool) -> Result<Self, ApiError> {
        let body = serde_json::to_vec(value).map_err(|error| ApiError {
            status: 500,
            message: error.to_string(),
        })?;
        Ok(Answer {
            kind: AnswerBody::Json,
            body,
            exact,
        })
    }
}

/// Limits of time and bytes for an answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerLimits {
    /// Bytes of the tree that are read at most.
    pub tree_bytes: u64,
    /// Bytes that are read at most for an answer that goes over the whole trace as long as there is time.
    pub whole_bytes: u64,
    /// Cells of a picture.
    pub cells: usize,
    /// Drawables that are given one by one.
    pub drawables: usize,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        AnswerLimits {
            tree_bytes: 150 << 20,
            whole_bytes: u64::MAX,
            cells: 16_000_000,
            drawables: 200_000,
        }
    }
}
