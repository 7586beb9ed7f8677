//! References: how a URL names a drawable.
//!
//! `LINE.KIND.START`, of an arrow `LINE.KIND.START~LINE.END`: the line as the file numbers it, the kind, and times in the
//! shortest digits that read back. Where several drawables are the same in all this, `!N` behind it says which of them.

use std::fmt;

use crate::base::error::ApiError;
use crate::trace::{OpenTrace, TraceItem};
use trace_formats::slog2::Topology;

/// A parsed reference to a drawable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawableReference {
    /// The line, as the file numbers it.
    pub line: i32,
    /// The kind.
    pub kind: u32,
    /// Start in seconds.
    pub start: f64,
    /// Arrows: line and time in seconds of the end. `None` for states and events.
    pub to: Option<(i32, f64)>,
    /// Number among the drawables that are equal in everything above.
    pub nth: u32,
}

impl DrawableReference {
    /// Reads a reference.
    ///
    /// # Errors
    /// The text is no reference.
    pub fn parse(text: &str) -> Result<Self, ApiError> {
        let parsed = || {
            let (rest, nth) = text.split_once('!').unwrap_or((text, "0"));
            let (rest, to) = match rest.split_once('~') {
                Some((rest, to)) => (rest, Some(to.split_once('.')?)),
                None => (rest, None),
            };
            let (line, rest) = rest.split_once('.')?;
            let (kind, start) = rest.split_once('.')?;
            let time = |text: &str| text.parse().ok().filter(|time: &f64| time.is_finite());
            Some(DrawableReference {
                line: line.parse().ok()?,
                kind: kind.parse().ok()?,
                start: time(start)?,
                to: match to {
                    Some((line, end)) => Some((line.parse().ok()?, time(end)?)),
                    None => None,
                },
                nth: nth.parse().ok()?,
            })
        };
        parsed().ok_or_else(|| {
            let text: String = text.chars().take(60).collect();
            let message = format!("{text:?} names no drawable: expected LINE.KIND.START, of an arrow with ~LINE.END behind");
            ApiError::bad_request(message)
        })
    }

    /// The reference of a drawable.
    pub fn of(trace: &OpenTrace<'_>, item: &TraceItem<'_>, nth: u32) -> Self {
        let id = |line: u32| trace.lines()[line as usize].line.id;
        DrawableReference {
            line: id(item.line),
            kind: item.kind,
            start: item.start,
            to: (item.topology == Topology::Arrow).then(|| (id(item.to_line), item.end)),
            nth,
        }
    }

    /// Whether it names this drawable, or one that is the same but for its number.
    pub fn names(&self, trace: &OpenTrace<'_>, item: &TraceItem<'_>) -> bool {
        DrawableReference::of(trace, item, self.nth) == *self
    }
}

impl fmt::Display for DrawableReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{:?}", self.line, self.kind, self.start)?;
        if let Some((line, end)) = self.to {
            write!(f, "~{line}.{end:?}")?;
        }
        if self.nth > 0 {
            write!(f, "!{}", self.nth)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for text in [
            "3.1.0.5",
            "-2.0.-1e-7!3",
            "7.12.1e22~-8.0.25",
            "0.0.3.0~1.4.0!1",
        ] {
            assert_eq!(DrawableReference::parse(text).unwrap().to_string(), text);
        }
        for wrong in [
            "", "1", "1.2", "1.2.x", "1.2.NaN", "1.2.3~4", "1.2.3!x", "a.b.c",
        ] {
            assert_eq!(
                DrawableReference::parse(wrong).unwrap_err().status,
                400,
                "{wrong}"
            );
        }
    }
}
