//! Stretches of time.

use trace_formats::slog2::TimeBBox;

/// A stretch of time without length, for a trace without drawables.
pub const EMPTY: TimeBBox = TimeBBox {
    earliest: 0.0,
    latest: 0.0,
};

/// The window, made so long that times in it differ as numbers.
pub(crate) fn with_length(window: TimeBBox) -> TimeBBox {
    let finite = |time: f64, otherwise: f64| if time.is_finite() { time } else { otherwise };
    let earliest = finite(window.earliest, 0.0).clamp(-1e300, 1e300);
    let latest = finite(window.latest, earliest).clamp(-1e300, 1e300);
    let least = 1e-9_f64.max(earliest.abs() * 1e-12);
    if latest - earliest >= least {
        return TimeBBox { earliest, latest };
    }
    let middle = earliest / 2.0 + latest / 2.0;
    TimeBBox {
        earliest: middle - 500.0 * least,
        latest: middle + 500.0 * least,
    }
}

/// Whether a window has all of a stretch of time in it.
pub(crate) fn holds(window: TimeBBox, all: TimeBBox) -> bool {
    window.earliest <= all.earliest && all.latest <= window.latest
}

/// Whether a drawable takes part in a window, as statistics have it.
pub(crate) fn takes_part(bounds: TimeBBox, window: TimeBBox) -> bool {
    covers_time(window, bounds.earliest, bounds.latest)
}

/// Whether a state has some of its time in a window; one without any, whether it lies there.
#[inline]
pub(crate) fn covers_time(window: TimeBBox, start: f64, end: f64) -> bool {
    if start == end {
        return window.earliest <= start && end <= window.latest;
    }
    start < window.latest && window.earliest < end
}
