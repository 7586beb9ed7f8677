//! Windows of time on the command line: two positions, each in seconds or as a part of the log.

use crate::failure::Failure;
use trace_formats::slog2::TimeBBox;

/// A position on the time axis of a log, as the command line gives it.
#[derive(Clone, Copy, Debug)]
pub enum TimePosition {
    /// Seconds from the zero of the log.
    Seconds(f64),
    /// Part of the log: 0 is its beginning, 1 its end.
    Part(f64),
}

/// Parses a position: seconds, or with % a part of the log.
///
/// # Errors
/// A message for the user if the text is neither.
pub fn time_position(text: &str) -> Result<TimePosition, String> {
    let (number, part) = match text.strip_suffix('%') {
        Some(number) => (number, true),
        None => (text, false),
    };
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() && part => Ok(TimePosition::Part(number / 100.0)),
        Ok(number) if number.is_finite() => Ok(TimePosition::Seconds(number)),
        _ => Err("expected seconds, or a part of the log such as 25%".into()),
    }
}

impl TimePosition {
    /// The position in seconds, in a log with these bounds.
    pub fn in_log(self, log: TimeBBox) -> f64 {
        match self {
            TimePosition::Seconds(seconds) => seconds,
            // The end itself, which is not always what the sum is.
            TimePosition::Part(1.0) => log.latest,
            TimePosition::Part(part) => log.earliest + part * log.duration(),
        }
    }
}

/// A time in seconds, rounded to ns as in all texts, without zeros at its end.
fn in_words(seconds: f64) -> String {
    let rounded = (seconds * 1e9).round() / 1e9;
    let shown = if rounded.is_finite() {
        rounded
    } else {
        seconds
    };
    match shown.abs() < 1e16 {
        true => shown.to_string(),
        false => format!("{shown:e}"),
    }
}

/// The window between two positions of a log.
///
/// # Errors
/// A failure of the call if the window ends before it begins, or does not touch the log.
pub fn in_log(from: TimePosition, to: TimePosition, log: TimeBBox) -> Result<TimeBBox, Failure> {
    let window = TimeBBox {
        earliest: from.in_log(log),
        latest: to.in_log(log),
    };
    let [earliest, latest] = [window.earliest, window.latest].map(in_words);
    if window.earliest > window.latest {
        return Err(Failure::Call(format!(
            "the window begins at {earliest} s and ends before that, at {latest} s"
        )));
    }
    if !window.overlaps(log) {
        return Err(Failure::Call(format!(
            "the window from {earliest} s to {latest} s is outside the log, which goes from {} s to {} s",
            in_words(log.earliest),
            in_words(log.latest)
        )));
    }
    Ok(window)
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn times_are_rounded_to_ns() {
        let shown = [1.5 * 0.295466316, 100.0, -1.0, 0.0, 1e300].map(in_words);
        assert_eq!(shown, ["0.443199474", "100", "-1", "0", "1e300"]);
    }
}
