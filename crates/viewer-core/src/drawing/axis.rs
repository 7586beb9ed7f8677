//! The time axis: where its ticks are and what they are called.

use trace_formats::slog2::TimeBBox;

/// A tick.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisTick {
    /// Seconds.
    pub time: f64,
    /// Number at the tick, in the unit of the axis.
    pub label: String,
}

/// The ticks of a window.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeAxis {
    /// `s`, `ms`, `us` or `ns`.
    pub unit: &'static str,
    /// Origin of the labels, if their numbers would be too long otherwise: seconds, and the text of the origin.
    pub origin: Option<(f64, String)>,
    /// Ticks by time.
    pub ticks: Vec<AxisTick>,
}

/// Digits of a label before ticks are counted from the window's begin.
const MAX_DIGITS: i32 = 7;

impl TimeAxis {
    /// Ticks at round numbers, about `most` of them and never more than that.
    pub fn new(window: TimeBBox, most: usize) -> Self {
        let span = window.duration();
        let step = round_above(span / most.max(1) as f64);
        let (unit, factor) = match step {
            step if step >= 0.1 => ("s", 1.0),
            step if step >= 1e-4 => ("ms", 1e3),
            step if step >= 1e-7 => ("us", 1e6),
            _ => ("ns", 1e9),
        };
        let decimals = (-(step * factor * 1.000_001).log10().floor()).clamp(0.0, 9.0) as usize;
        let largest = window.earliest.abs().max(window.latest.abs()) * factor;
        let digits = largest.max(1.0).log10().floor() as i32 + 1 + decimals as i32;
        let origin = (digits > MAX_DIGITS).then(|| {
            // Rounded so that it can be said in few digits; exactly as it is said.
            let text = origin_text(window.earliest, span);
            let time = text.parse().unwrap_or(window.earliest);
            (time, format!("{text} s"))
        });
        let zero = origin.as_ref().map_or(0.0, |(time, _)| *time);
        let first = ((window.earliest - zero) / step - 1e-9).ceil();
        let mut ticks = Vec::new();
        for nth in 0..=most {
            let from_zero = (first + nth as f64) * step;
            let time = zero + from_zero;
            if time > window.latest + span * 1e-9 || !time.is_finite() {
                break;
            }
            let number = format!("{:.decimals$}", from_zero * factor);
            let label = match &origin {
                Some(_) if from_zero >= 0.0 => format!("+{number}"),
                _ => number,
            };
            ticks.push(AxisTick { time, label });
        }
        TimeAxis {
            unit,
            origin,
            ticks,
        }
    }
}

/// A time that ticks are counted from, with as many decimals as the window's length calls for.
fn origin_text(time: f64, span: f64) -> String {
    let decimals = (2.0 - span.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{time:.decimals$}")
}

/// The least 1, 2 or 5 times a power of ten that is not below this.
fn round_above(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let rounded = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power);
    let above = rounded
        .into_iter()
        .find(|step| *step >= least * (1.0 - 1e-9));
    above.unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(earliest: f64, latest: f64) -> (Vec<String>, &'static str, Option<String>) {
        let axis = TimeAxis::new(TimeBBox { earliest, latest }, 6);
        let labels = axis.ticks.iter().map(|tick| tick.label.clone());
        (
            labels.collect(),
            axis.unit,
            axis.origin.map(|(_, text)| text),
        )
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn ticks_are_at_round_numbers_in_a_unit_that_suits() {
        assert_eq!(
            axis(0.0, 1.0),
            (
                texts(&["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
                "s",
                None
            )
        );
        assert_eq!(axis(0.0011, 0.0042), (texts(&["2", "3", "4"]), "ms", None));
        let (labels, unit, origin) = axis(12.031_25, 12.031_26);
        assert_eq!(labels[..2], ["+0", "+2"]);
        assert_eq!((unit, origin.as_deref()), ("us", Some("12.03125000 s")));
        assert_eq!(axis(-2.0, 4.0).0, ["-2", "-1", "0", "1", "2", "3", "4"]);
    }

    #[test]
    fn there_are_some_ticks_whatever_the_window() {
        for exponent in -9..9 {
            for start in [0.0, 0.3, 1e3, -1e6, 1.234_567_89] {
                for factor in [1.0, 1.7, 3.3, 9.99] {
                    let span = factor * 10f64.powi(exponent);
                    let latest = start + span;
                    if latest - start < span / 2.0 {
                        continue;
                    }
                    let window = TimeBBox {
                        earliest: start,
                        latest,
                    };
                    let axis = TimeAxis::new(window, 8);
                    let ticks = axis.ticks.len();
                    assert!((2..=9).contains(&ticks), "{start} {span}: {axis:?}");
                    for pair in axis.ticks.windows(2) {
                        assert!(pair[0].time < pair[1].time);
                        assert_ne!(pair[0].label, pair[1].label, "{start} {span}");
                    }
                }
            }
        }
    }
}
