//! Pictures of numbers for the page: bars, time by use over time, phases, matrices.

use crate::report::words;
use analysis::performance::{RankTimes, SpanTimes, TimeByUse};
use maud::{Markup, html};
use trace_model::units::{duration, percent};

/// Width of a wide picture in pixels.
const WIDTH: f64 = 1000.0;
/// Room on the left of a wide picture for what stands at its axis.
const LEFT: f64 = 60.0;
/// Height of a wide picture without its axis.
const HEIGHT: f64 = 150.0;
/// Bars of phases; of more, several phases are one bar.
const MAX_BARS: usize = 400;
/// Width of a bar that a duration fits on, pixels.
const MIN_TEXT: f64 = 40.0;
/// Colours of ranks on the critical path, used again after the last one.
const RANK_COLORS: [&str; 8] = [
    "#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#8c8c8c",
];

/// What the colours stand for.
pub fn legend() -> Markup {
    html! {
        p.legend.faint {
            @for (name, class, _) in words::uses(&TimeByUse::default()) { span { span.key.(class) { } (name) } }
        }
    }
}

/// The time of a rank by use, of so many seconds.
pub fn times_of(rank: &RankTimes, seconds: f64) -> TimeByUse {
    TimeByUse {
        all: seconds,
        computing: rank.computing,
        waiting: rank.waiting,
        transfer: (seconds - rank.computing - rank.waiting - rank.files).max(0.0),
        files: rank.files,
    }
}

/// A number of pixels, to a tenth.
fn pixels(value: f64) -> String {
    format!("{:.1}", value)
}

/// A bar that is divided by use.
pub fn use_bar(time: &TimeByUse) -> Markup {
    let mut at = 0.0;
    let parts = words::uses(time).map(|(name, class, seconds)| {
        let (from, width) = (at, WIDTH * time.share(seconds));
        at += width;
        (name, class, seconds, from, width)
    });
    html! {
        svg viewBox={ "0 0 " (WIDTH) " 24" } preserveAspectRatio="none" width="100%" height="18" role="img"
            aria-label="time by use" {
            @for (name, class, seconds, from, width) in parts {
                rect.(class) x=(pixels(from)) y="0" width=(pixels(width)) height="24" {
                    title { (name) ": " (duration(seconds)) }
                }
            }
        }
    }
}

/// A bar of a part of 1.
pub fn share_bar(share: f64) -> Markup {
    html! {
        svg viewBox="0 0 100 10" width="120" height="10" aria-hidden="true" {
            rect x="0" y="0" width="100" height="10" fill="#eceff3" { }
            rect.files x="0" y="0" width=(pixels(100.0 * share.clamp(0.0, 1.0))) height="10" { }
        }
    }
}

/// A column of a picture over time that is divided by use, with the lowest part at `bottom`. `height` is that of all of it.
fn use_column(time: &TimeByUse, left: f64, width: f64, bottom: f64, height: f64) -> Markup {
    let mut at = bottom;
    let parts = words::uses(time).map(|(name, class, seconds)| {
        let part = height * time.share(seconds);
        at -= part;
        (name, class, seconds, at, part)
    });
    html! {
        @for (name, class, seconds, top, part) in parts {
            @if part > 0.05 {
                rect.(class) x=(pixels(left)) y=(pixels(top)) width=(pixels(width)) height=(pixels(part)) {
                    title { (name) ": " (duration(seconds)) ", " (percent(time.share(seconds))) }
                }
            }
        }
    }
}

/// Shares of time by use over time, and the rank that the critical path is on.
pub fn over_time(parts: &[SpanTimes]) -> Markup {
    let (from, to) = match (parts.first(), parts.last()) {
        (Some(first), Some(last)) => (first.from, last.to),
        _ => return html! {},
    };
    let scale = (WIDTH - LEFT) / (to - from).max(f64::MIN_POSITIVE);
    let x = |time: f64| LEFT + (time - from) * scale;
    let color = |rank: i32| RANK_COLORS[rank.unsigned_abs() as usize % RANK_COLORS.len()];
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT + 40.0) } width=(WIDTH) role="img"
            aria-label="share of the time by use, over time" {
            @for part in parts {
                (use_column(&part.time, x(part.from), part.seconds * scale + 0.3, HEIGHT, HEIGHT))
                @if let Some(rank) = part.path_rank {
                    rect x=(pixels(x(part.from))) y=(pixels(HEIGHT + 4.0)) width=(pixels(part.seconds * scale + 0.3))
                        height="12" fill=(color(rank)) {
                        title { "critical path on rank " (rank) ", at " (format!("{:.6}", part.from)) " s" }
                    }
                }
            }
            (percent_axis())
            text x=(LEFT - 6.0) y=(HEIGHT + 14.0) text-anchor="end" { "path" }
            (time_axis(from, to, HEIGHT + 32.0))
        }
    }
}

fn percent_axis() -> Markup {
    html! {
        @for (share, text) in [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")] {
            text x=(LEFT - 6.0) y=(pixels(HEIGHT * (1.0 - share) + if share == 1.0 { 10.0 } else { 0.0 })) text-anchor="end" { (text) }
        }
    }
}

fn time_axis(from: f64, to: f64, y: f64) -> Markup {
    html! {
        text x=(LEFT) y=(pixels(y)) { (format!("{from:.6} s")) }
        text x=(WIDTH) y=(pixels(y)) text-anchor="end" { (format!("{to:.6} s")) }
    }
}

/// Lengths of phases, divided by use, with their median.
pub fn phases(phases: &[SpanTimes], median: f64) -> Markup {
    let each = phases.len().div_ceil(MAX_BARS).max(1);
    let longest = phases.iter().map(|phase| phase.seconds).fold(0.0, f64::max);
    // One phase that takes very long would make all others flat.
    let top = longest.min(4.0 * median).max(f64::MIN_POSITIVE);
    let width = (WIDTH - LEFT) / phases.len().div_ceil(each) as f64;
    let height = |seconds: f64| HEIGHT * (seconds / top).min(1.0);
    // Of several phases the longest one stands for all.
    let bars = phases.chunks(each).enumerate().filter_map(|(nth, chunk)| {
        let longest = chunk.iter().enumerate();
        let (place, phase) = longest.max_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds))?;
        Some((nth, nth * each + place + 1, phase))
    });
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT + 24.0) } width=(WIDTH) role="img" aria-label="lengths of the phases" {
            @for (nth, number, phase) in bars {
                g {
                    title { "phase " (number) ": " (duration(phase.seconds)) }
                    (use_column(&phase.time, LEFT + nth as f64 * width, (width - 0.5).max(0.5), HEIGHT, height(phase.seconds)))
                    @if phase.seconds > top && width >= MIN_TEXT {
                        text x=(pixels(LEFT + nth as f64 * width)) y="10" { (duration(phase.seconds)) }
                    }
                }
            }
            line x1=(LEFT) x2=(WIDTH) y1=(pixels(HEIGHT - height(median))) y2=(pixels(HEIGHT - height(median)))
                stroke="#1d232b" stroke-dasharray="3 3" stroke-width="1" { }
            text x=(LEFT - 6.0) y=(HEIGHT) text-anchor="end" { "0" }
            text x=(LEFT - 6.0) y=(pixels(HEIGHT - height(median) + 4.0)) text-anchor="end" { (duration(median)) }
            text x=(LEFT) y=(HEIGHT + 16.0) { "phase 1" }
            text x=(WIDTH) y=(HEIGHT + 16.0) text-anchor="end" { "phase " (phases.len()) }
        }
    }
}

/// A matrix of numbers as a grid of shaded squares. `row` and `column` say what its ranks do.
pub fn matrix<T: Copy + Into<Number>>(
    ranks: &[i32],
    rows: &[Vec<T>],
    row: &str,
    column: &str,
    words: impl Fn(&T) -> String,
) -> Markup {
    let side = (420.0 / ranks.len().max(1) as f64).min(60.0);
    let size = side * ranks.len() as f64;
    let value = |value: &T| -> f64 { Into::<Number>::into(*value).0 };
    let largest = rows.iter().flatten().map(value).fold(0.0, f64::max);
    let every = ranks.len().div_ceil(8).max(1);
    html! {
        svg viewBox={ "0 0 " (size + 50.0) " " (size + 24.0) } width=(pixels(size + 50.0)) role="img"
            aria-label={ "matrix: a row " (row) ", a column " (column) } {
            rect x="49.5" y="15.5" width=(pixels(size)) height=(pixels(size)) fill="#f7f8fa" stroke="#d5dae1" { }
            @for (y, numbers) in rows.iter().enumerate() {
                @if y % every == 0 {
                    text x="44" y=(pixels(16.0 + side * (y as f64 + 0.5) + 4.0)) text-anchor="end" { (ranks[y]) }
                    text x=(pixels(50.0 + side * (y as f64 + 0.5))) y="11" text-anchor="middle" { (ranks[y]) }
                }
                @for (x, number) in numbers.iter().enumerate() {
                    @if value(number) > 0.0 {
                        rect x=(pixels(50.0 + side * x as f64)) y=(pixels(16.0 + side * y as f64)) width=(pixels(side))
                            height=(pixels(side)) fill="#7a1f3d" fill-opacity=(format!("{:.3}", 0.08 + 0.92 * value(number) / largest)) {
                            title { "rank " (ranks[y]) " " (row) ", rank " (ranks[x]) " " (column) ": " (words(number)) }
                        }
                    }
                }
            }
        }
    }
}

/// A number of a matrix.
pub struct Number(f64);

impl From<f64> for Number {
    fn from(value: f64) -> Number {
        Number(value)
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        Number(value as f64)
    }
}
